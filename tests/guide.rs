//! The guide's chapter about errors has every variant of `vksort::Error`, with its message.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The parts of a message outside its braces.
fn fixed(message: &str) -> Vec<String> {
    message.split(['{', '}']).step_by(2).map(String::from).collect()
}

/// The message of each variant, as the code has it.
fn messages(source: &str) -> BTreeMap<String, Vec<String>> {
    let items = syn::parse_file(source).expect("src/error.rs is Rust").items;
    let errors = items.into_iter().find_map(|item| match item {
        syn::Item::Enum(item) if item.ident == "Error" => Some(item),
        _ => None,
    });
    let variants = errors.expect("src/error.rs has the enumeration").variants.into_iter();
    variants
        .map(|variant| {
            let attribute = variant.attrs.iter().find(|attribute| attribute.path().is_ident("error"));
            let attribute = attribute.unwrap_or_else(|| panic!("{} has a message", variant.ident));
            let message: syn::LitStr = attribute.parse_args().expect("a message is one string");
            (variant.ident.to_string(), fixed(&message.value()))
        })
        .collect()
}

/// The message under each heading of a variant, as the chapter has it. A cause and a remedy follow.
fn explained(chapter: &str) -> BTreeMap<String, Vec<String>> {
    let sections = chapter.split("\n### ").skip(1).map(|section| {
        let (name, rest) = section.split_once("\n\n```text\n").expect("a heading is followed by a message");
        let (message, rest) = rest.split_once("\n```\n\n").unwrap_or_else(|| panic!("the message of {name} ends"));
        for part in ["* **Cause**: ", "* **Remedy**: "] {
            assert!(rest.contains(part), "{name} has no line {part:?}");
        }
        (name.to_string(), fixed(message))
    });
    sections.collect()
}

#[test]
fn every_error_is_in_the_guide() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (code, chapter) = (messages(&read("src/error.rs")), explained(&read("docs/guide/src/errors.md")));
    for (name, message) in &code {
        let found = chapter.get(name).unwrap_or_else(|| panic!("the chapter lacks Error::{name}"));
        assert_eq!(found, message, "the message of Error::{name} in the chapter is not the code's");
    }
    for name in chapter.keys() {
        assert!(code.contains_key(name), "the chapter has Error::{name}, which the code lacks");
    }
    assert_eq!(read("docs/guide/src/errors.md").matches("\n### ").count(), code.len(), "a variant has two headings");
}
