//! The guide's chapter about errors has every variant of `vksort::Error`, with its message.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The parts of a message outside its braces.
fn fixed(message: &str) -> Vec<String> {
    message.split(['{', '}']).step_by(2).map(String::from).collect()
}

/// The items of a file.
fn items(path: &str) -> Vec<syn::Item> {
    syn::parse_file(&read(path)).unwrap_or_else(|error| panic!("{path} is Rust: {error}")).items
}

/// The message of each variant of an enumeration, as the code has it.
fn messages(path: &str, name: &str) -> BTreeMap<String, Vec<String>> {
    let errors = items(path).into_iter().find_map(|item| match item {
        syn::Item::Enum(item) if item.ident == name => Some(item),
        _ => None,
    });
    let variants = errors.unwrap_or_else(|| panic!("{path} has the enumeration {name}")).variants.into_iter();
    variants
        .map(|variant| {
            let attribute = variant.attrs.iter().find(|attribute| attribute.path().is_ident("error"));
            let attribute = attribute.unwrap_or_else(|| panic!("{} has a message", variant.ident));
            let message: syn::LitStr = attribute.parse_args().expect("a message is one string");
            (variant.ident.to_string(), fixed(&message.value()))
        })
        .collect()
}

/// The code in C of each variant that the arms of a file's matches name.
fn codes(path: &str) -> BTreeMap<String, String> {
    #[derive(Default)]
    struct Arms(BTreeMap<String, String>);
    impl<'ast> syn::visit::Visit<'ast> for Arms {
        fn visit_arm(&mut self, arm: &'ast syn::Arm) {
            let syn::Expr::Path(code) = &*arm.body else { return syn::visit::visit_arm(self, arm) };
            let code = code.path.segments.last().unwrap().ident.to_string();
            let mut patterns = vec![&arm.pat];
            while let Some(pattern) = patterns.pop() {
                let path = match pattern {
                    syn::Pat::Or(any) => {
                        patterns.extend(&any.cases);
                        continue;
                    }
                    syn::Pat::Struct(of) => &of.path,
                    syn::Pat::TupleStruct(of) => &of.path,
                    syn::Pat::Path(of) => &of.path,
                    _ => continue,
                };
                self.0.insert(path.segments.last().unwrap().ident.to_string(), code.clone());
            }
        }
    }
    let mut arms = Arms::default();
    items(path).iter().for_each(|item| syn::visit::Visit::visit_item(&mut arms, item));
    arms.0.retain(|_, code| code.starts_with("VKSORT_ERROR_"));
    arms.0
}

/// The number of each code in C.
fn numbers() -> BTreeMap<String, String> {
    let source = read("crates/capi/src/types.rs");
    let constants = source.lines().filter_map(|line| line.strip_prefix("pub const VKSORT_ERROR_"));
    let parts = constants.map(|line| line.split_once(": VksortResult = ").expect("a code is a result"));
    parts.map(|(name, number)| (format!("VKSORT_ERROR_{name}"), number.trim_end_matches(';').to_string())).collect()
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

const CHAPTER: &str = "docs/guide/src/errors.md";

#[test]
fn every_error_is_in_the_guide() {
    let mut code = messages("src/error.rs", "Error");
    for (name, message) in messages("crates/capi/src/fault.rs", "Fault") {
        assert!(code.insert(name.clone(), message).is_none(), "{name} is a name of both enumerations");
    }
    let chapter = explained(&read(CHAPTER));
    for (name, message) in &code {
        let found = chapter.get(name).unwrap_or_else(|| panic!("the chapter lacks {name}"));
        assert_eq!(found, message, "the message of {name} in the chapter is not the code's");
    }
    for name in chapter.keys() {
        assert!(code.contains_key(name), "the chapter has {name}, which the code lacks");
    }
    assert_eq!(read(CHAPTER).matches("\n### ").count(), code.len(), "a variant has two headings");
}

/// Each row of the table of codes has the number, and leads to the messages that come with the code.
#[test]
fn every_code_of_c_is_in_the_guide() {
    let mut code = codes("crates/capi/src/outcome.rs");
    code.extend(codes("crates/capi/src/fault.rs"));
    assert!(code.len() >= 25, "{} variants have codes", code.len());
    let (chapter, numbers) = (read(CHAPTER), numbers());
    let rows: Vec<Vec<&str>> = chapter
        .lines()
        .filter(|line| line.starts_with("| `VKSORT_ERROR_"))
        .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect();
    assert_eq!(rows.len(), numbers.len(), "the table has a row for each code");
    for row in rows {
        let [_, name, number, links, _] = row[..] else { panic!("{row:?} has three cells") };
        assert_eq!(Some(number), numbers.get(name).map(String::as_str), "{name}");
        let listed: Vec<_> = links.split(", ").collect();
        let variants = code.iter().filter(|(_, code)| *code == name).map(|(variant, _)| variant);
        let mut expected: Vec<_> = variants.map(|name| format!("[{name}](#{})", name.to_lowercase())).collect();
        // What no arm names, and is a fault of vksort.
        if name == "VKSORT_ERROR_INTERNAL" {
            expected.push("[Module](#module)".into());
        }
        let mut sorted = listed.clone();
        sorted.sort();
        expected.sort();
        assert_eq!(sorted, expected, "{name}");
    }
}

/// The page about reliability names a test for every promise, and each of them is there.
#[test]
fn promises_name_tests_that_exist() {
    let page = read("docs/RELIABILITY.md");
    let (_, table) = page.split_once("| promise |").expect("there is a table of promises");
    let mut tests = 0;
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let column = row.trim_end_matches(['|', ' ']).rsplit(" | ").next().expect("there are three columns");
        // Between quotes are a file, and then what it holds.
        let mut text = String::new();
        for name in column.split('`').skip(1).step_by(2) {
            match name.contains('/') {
                true => (text, tests) = (read(name), tests + 1),
                false => assert!(text.contains(name), "no file in front of {name} has it: {row}"),
            }
        }
        assert!(!text.is_empty(), "no test is named: {row}");
    }
    assert!(tests >= 20, "{tests} tests are named");
}
