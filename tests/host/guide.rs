//! The guide's chapter about errors has every variant of `vksort::Error`, with its message; and the chapters with snippets in
//! Rust are documentation tests.

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

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn chapters_with_rust_are_documentation_tests() {
    let (listed, folder) = (read("src/guide.rs"), Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/src"));
    let chapters: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let with_rust = chapters.iter().filter(|path| path.is_file() && read(path).contains("```rust"));
    let names: Vec<_> = with_rust.map(|path| format!("{:?}", path.file_stem().unwrap())).collect();
    assert!(!names.is_empty());
    for name in names {
        assert!(listed.contains(&name), "src/guide.rs lacks the chapter {name}");
    }
}

#[test]
fn every_error_is_in_the_guide() {
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
