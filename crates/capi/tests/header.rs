//! `include/vksort.h` and `include/vksort_vrdx_calls.h` are what the extern functions of `src` say.

use std::fs;
use std::path::Path;

/// A header of `include/`.
struct Header {
    name: &'static str,
    beginning: &'static str,
    /// The files of `src/` that it is made from, in its order.
    sources: &'static [&'static str],
    /// What it includes.
    includes: &'static [&'static str],
}

const HEADERS: [Header; 2] = [
    Header {
        name: "vksort.h",
        beginning: BEGINNING,
        sources: &[
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
        ],
        includes: &["<stddef.h>", "<stdint.h>", "<vulkan/vulkan_core.h>"],
    },
    Header {
        name: "vksort_vrdx_calls.h",
        beginning: BEGINNING_OF_VRDX,
        sources: &["types/vk_radix_sort", "vrdx"],
        includes: &["\"vksort.h\""],
    },
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
 *
 * docs/RELIABILITY.md of the repository names a test for each of these promises.
 */";

const BEGINNING_OF_VRDX: &str = "\
/*
 * What vksort_vrdx.h calls. Programs include that file.
 *
 * Generated from crates/capi/src/ by scripts/header.sh: change it there.
 */";

/// How functions are exported and called. Programs may define both macros.
const DECORATIONS: &str = "
// In front of each function. A program that links the DLL may define it as __declspec(dllimport), which saves a jump for each call.
#ifndef VKSORT_API
#define VKSORT_API
#endif

// How functions are called, and the callback: as C functions are where Vulkan's have a convention of their own.
#ifndef VKSORT_CALL
#ifdef _WIN32
#define VKSORT_CALL __cdecl
#else
#define VKSORT_CALL
#endif
#endif
";

impl Header {
    fn text(&self) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let includes: Vec<String> = self.includes.iter().map(|file| format!("#include {file}")).collect();
        let decorations = if self.name == "vksort.h" { DECORATIONS } else { "" };
        let mut config = cbindgen::Config {
            language: cbindgen::Language::C,
            cpp_compat: true,
            header: Some(self.beginning.into()),
            include_guard: Some(self.name.to_uppercase().replace('.', "_")),
            no_includes: true,
            after_includes: Some(includes.join("\n") + "\n" + decorations),
            usize_is_size_t: true,
            line_length: 120,
            documentation_style: cbindgen::DocumentationStyle::C99,
            style: cbindgen::Style::Both,
            ..Default::default()
        };
        config.structure.rename_fields = cbindgen::RenameRule::CamelCase;
        config.function.rename_args = cbindgen::RenameRule::CamelCase;
        // The device writes it, and no function takes it.
        config.export.include = vec!["VksortInspection".into()];
        config.export.exclude = ["PFN_vkGetInstanceProcAddr", "VkDeviceSize", "VkFlags"].map(String::from).to_vec();
        let mut builder = cbindgen::Builder::new().with_config(config);
        for source in self.sources {
            builder = builder.with_src(root.join(format!("src/{source}.rs")));
        }
        let mut text = Vec::new();
        builder.generate().expect("src can be read").write(&mut text);
        decorated(&for_c(&String::from_utf8(text).expect("cbindgen writes UTF-8")))
    }
}

/// Functions with the macros that say how they are exported and called; their arguments stay below each other.
fn decorated(text: &str) -> String {
    let (mut lines, mut shift) = (Vec::new(), 0);
    for line in text.lines() {
        let is_function = line.starts_with(|first: char| first.is_alphabetic()) && line.contains("vksort");
        let line = match line.split('(').next().and_then(|before| before.rfind("vksort")) {
            Some(at) if is_function && line.contains('(') => {
                let decorated = format!("VKSORT_API {}VKSORT_CALL {}", &line[..at], &line[at..]);
                shift = decorated.len() - line.len();
                decorated
            }
            _ if line.starts_with("typedef") => line.replacen("(*", "(VKSORT_CALL *", 1),
            _ if line.starts_with(' ') => " ".repeat(shift) + line,
            _ => line.into(),
        };
        if line.ends_with(';') {
            shift = 0;
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
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
fn the_headers_are_made_from_the_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    for header in HEADERS {
        let (name, made) = (header.name, header.text());
        if std::env::var_os("VKSORT_WRITE_HEADER").is_some() {
            fs::write(folder.join(name), made).expect("include/ can be written to");
            continue;
        }
        let kept = fs::read_to_string(folder.join(name)).expect("the header can be read");
        for (index, (kept, made)) in kept.lines().zip(made.lines()).enumerate() {
            assert_eq!(kept, made, "line {} of include/{name} is not what src makes: run scripts/header.sh", index + 1);
        }
        assert_eq!(kept.len(), made.len(), "include/{name} is longer or shorter than what src makes");
    }
}

/// A header as compilers see it: without comments and empty lines.
fn code(header: &str) -> String {
    let (_, code) = header.split_once("*/\n").expect("it begins with a comment");
    code.lines()
        .filter(|line| !line.is_empty() && !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Each version keeps its headers, by which programs were compiled that later libraries serve: `scripts/c.sh` runs such programs.
#[test]
fn the_headers_of_a_version_stay() {
    let version = env!("CARGO_PKG_VERSION");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = folder.join("tests/c/headers").join(version);
    // What vksort_vrdx.h does becomes a part of programs.
    let vrdx = fs::read_to_string(folder.join("include/vksort_vrdx.h")).expect("the header can be read");
    let made = HEADERS.map(|header| (header.name, code(&header.text())));
    for (name, now) in made.into_iter().chain([("vksort_vrdx.h", vrdx)]) {
        let path = kept.join(name);
        if std::env::var_os("VKSORT_KEEP_HEADER").is_some() {
            fs::create_dir_all(&kept).expect("tests/c/ can be written to");
            fs::write(&path, now).expect("tests/c/ can be written to");
        } else {
            assert!(
                fs::read_to_string(&path).unwrap_or_default() == now,
                "{name} is not that of version {version}: raise the version, or if it is not released yet, run scripts/header.sh --keep"
            );
        }
    }
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

/// Parsers of headers for other languages know no other macros, but for those in front of functions.
#[test]
fn macros_are_numbers() {
    let header = HEADERS[0].text();
    let others = ["H", "API", "CALL", "CALL __cdecl"];
    let defined = header.lines().filter_map(|line| line.strip_prefix("#define VKSORT_"));
    let mut numbers = 0;
    for line in defined.filter(|line| !others.contains(line)) {
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
    let functions = HEADERS.map(|header| functions(&header.text())).concat();
    assert!(functions.len() >= 28, "{} functions are found", functions.len());
    for (name, comment) in functions {
        assert!(
            comment.contains("Any thread may call it"),
            "the comment of {name} does not speak of threads: {comment}"
        );
    }
}
