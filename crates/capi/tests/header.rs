//! `include/vksort.h` is what the extern functions of `src` say.

use std::fs;
use std::path::Path;

/// The order of the header.
const SOURCES: [&str; 17] = [
    "types/range",
    "types",
    "types/request",
    "types/visited",
    "types/segments",
    "types/inspection",
    "outcome",
    "log",
    "names",
    "device",
    "sorter",
    "record",
    "segmented",
    "verify",
    "inspect",
    "visitor",
    "vrdx",
];

const BEGINNING: &str = "\
/*
 * vksort: a radix sort for data that already lives in Vulkan buffers, recorded into your own command buffer.
 *
 * Generated from crates/capi/src/ by scripts/header.sh: change it there.
 *
 * All Vulkan functions come from the vkGetInstanceProcAddr that the caller passes: the loader's, volk's, or any other.
 * vksort links to no Vulkan library and opens none. It passes no VkAllocationCallbacks to any of them, and takes none.
 *
 * This file includes vulkan/vulkan_core.h. With volk, include volk.h before it, or define VK_NO_PROTOTYPES: volk's pointers have
 * the names of the prototypes.
 *
 * Functions return 0 or VKSORT_INCOMPLETE, which is positive, or a negative code and a text: vksortGetLastErrorText. Handles of
 * vksort that are null, destroyed or of another kind, structures of a size that this version does not know, and numbers outside
 * an enumeration are refused, and crash nothing. Handles of Vulkan, pointers to memory and the sizes of that memory are not
 * checked.
 *
 * Every structure that has a structSize begins with it. Set it to the sizeof of the structure, and all fields that you do not
 * need to zero. Later versions add fields at the end, and accept structures of an earlier version. A structure of a later version
 * is accepted if what this version does not know is zero; up to 4096 bytes are read.
 *
 * Handles belong to the caller. A call on a handle that another thread destroys at the same time either finishes or fails.
 */";

fn header() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        header: Some(BEGINNING.into()),
        include_guard: Some("VKSORT_H".into()),
        no_includes: true,
        sys_includes: vec!["stddef.h".into(), "stdint.h".into(), "vulkan/vulkan_core.h".into()],
        usize_is_size_t: true,
        line_length: 120,
        documentation_style: cbindgen::DocumentationStyle::C99,
        style: cbindgen::Style::Type,
        ..Default::default()
    };
    config.structure.rename_fields = cbindgen::RenameRule::CamelCase;
    config.function.rename_args = cbindgen::RenameRule::CamelCase;
    // The device writes it, and no function takes it.
    config.export.include = vec!["VksortInspection".into()];
    config.export.exclude = ["PFN_vkGetInstanceProcAddr", "VkDeviceSize", "VkFlags"].map(String::from).to_vec();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root.join(format!("src/{source}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().expect("src can be read").write(&mut text);
    for_c(&String::from_utf8(text).expect("cbindgen writes UTF-8"))
}

/// Comments as C has them: names of arguments are those of C, and Rust's heading for what a caller must see to is a line.
fn for_c(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        if !line.trim_start().starts_with("//") {
            // Without a suffix it would have 64 bits in C, and be signed.
            let large = line
                .rsplit(' ')
                .next()
                .and_then(|number| number.parse::<u32>().ok())
                .is_some_and(|number| number >> 31 == 1);
            lines.push(format!("{line}{}", if large { "u" } else { "" }));
            continue;
        }
        let line = line.replace("# Safety", "Duties of the caller:").replace("// * ", "// - ");
        // Between quotes are names.
        let parts =
            line.split('`').enumerate().map(|(part, text)| if part % 2 == 1 { camel(text) } else { text.into() });
        lines.push(parts.collect());
    }
    lines.join("\n") + "\n"
}

/// A name of Rust as that of an argument in C.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_string();
    if name.starts_with(char::is_uppercase) {
        return name.into();
    }
    words.fold(first, |all, word| all + &word[..1].to_uppercase() + &word[1..])
}

#[test]
fn the_header_is_made_from_the_functions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/vksort.h");
    if !path.parent().is_some_and(Path::is_dir) {
        println!("skipped: there is no folder for {}", path.display());
        return;
    }
    let made = header();
    if std::env::var_os("VKSORT_WRITE_HEADER").is_some() {
        fs::write(&path, made).expect("include/ can be written to");
        return;
    }
    let kept = fs::read_to_string(&path).expect("include/vksort.h can be read");
    for (index, (kept, made)) in kept.lines().zip(made.lines()).enumerate() {
        assert_eq!(kept, made, "line {} of include/vksort.h is not what src makes: run scripts/header.sh", index + 1);
    }
    assert_eq!(kept.len(), made.len(), "include/vksort.h is longer or shorter than what src makes");
}

/// The comment above each function of a header, with the function's name.
fn functions(header: &str) -> Vec<(String, String)> {
    let (mut comment, mut found) = (String::new(), Vec::new());
    for line in header.lines() {
        if let Some(text) = line.strip_prefix("//") {
            comment.push_str(text);
            continue;
        }
        let named = line.split('(').next().and_then(|before| before.split([' ', '*']).next_back());
        if let Some(name) = named.filter(|name| name.starts_with("vksort") && !line.starts_with(' ')) {
            found.push((name.to_string(), comment.clone()));
        }
        comment.clear();
    }
    found
}

/// Parsers of headers for other languages know no other macros.
#[test]
fn macros_are_numbers() {
    let header = header();
    let defined = header.lines().filter_map(|line| line.strip_prefix("#define VKSORT_")).filter(|line| *line != "H");
    let mut numbers = 0;
    for line in defined {
        let (name, number) = line.split_once(' ').unwrap_or((line, ""));
        // A number of 32 bits that is not negative has the type int, or is unsigned.
        let fits = match number.split_at(number.find('u').unwrap_or(number.len())) {
            (digits, "ull") => digits.parse::<u64>().is_ok(),
            (digits, "u") => digits.parse::<u32>().is_ok(),
            (digits, suffix) => suffix.is_empty() && digits.parse::<i32>().is_ok(),
        };
        assert!(fits, "VKSORT_{name} is {number:?}");
        numbers += 1;
    }
    assert!(numbers >= 60, "{numbers} macros are found");
    let count = vksort_capi::types::VKSORT_COUNT_ON_DEVICE;
    assert!(header.contains(&format!("#define VKSORT_COUNT_ON_DEVICE {count}ull\n")), "it is not {count} and unsigned");
}

#[test]
fn every_function_says_which_threads_may_call_it() {
    let functions = functions(&header());
    assert!(functions.len() >= 24, "{} functions are found", functions.len());
    for (name, comment) in functions {
        assert!(
            comment.contains("Any thread may call it"),
            "the comment of {name} does not speak of threads: {comment}"
        );
    }
}
