//! Texts of the crate `vksort` as C has them: with the names of C's fields, flags and functions in place of Rust's.

use ash::vk;
use vksort::Error;

/// What Rust calls something, and what C calls it.
const WORDS: [(&str, &str); 10] = [
    ("or take `Requirements` without them", "or set deviceCreateInfo of VksortRequirementsInfo, to do without them"),
    ("Requirements::with_buffer_addresses", "VKSORT_REQUIREMENTS_BUFFER_ADDRESSES"),
    ("SortRequest::up_to", "longest of VksortSegmentsInfo"),
    ("RowsOf", "VKSORT_SEGMENTS_ROWS_OF"),
    ("Visitor::with_dynamic_indexing", "VKSORT_VISITOR_DYNAMIC_INDEXING"),
    ("VisitorSource::compile or ", ""),
    ("keys_out", "keysOut"),
    ("values_out", "valuesOut"),
    ("the cargo feature ", "the library's feature "),
    (" of vksort, which is off", ", which it was built without"),
];

/// A text of an error or of the log.
pub(super) fn in_c(text: String) -> String {
    WORDS.iter().fold(text, |text, (rust, c)| text.replace(rust, c))
}

/// The text of an error. Names of Vulkan are those of its headers.
pub(super) fn of_error(error: &Error) -> String {
    in_c(match error {
        Error::Vulkan { call, result } => format!("{call} failed: VK_{result:?}"),
        Error::MissingUsage { buffer, given, needed } => {
            format!("buffer {buffer} has usage {}, needed is {}", usage(*given), usage(*needed))
        }
        other => other.to_string(),
    })
}

/// For example `VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT`.
fn usage(flags: vk::BufferUsageFlags) -> String {
    let text = format!("{flags:?}");
    let name = |flag: &str| match flag.rsplit_once('_') {
        Some((name, vendor @ ("EXT" | "KHR"))) => format!("VK_BUFFER_USAGE_{name}_BIT_{vendor}"),
        // Bits without a name are a number.
        _ if flag.starts_with(|first: char| first.is_ascii_uppercase()) => format!("VK_BUFFER_USAGE_{flag}_BIT"),
        _ => flag.into(),
    };
    text.split(" | ").map(name).collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Appends the texts between quotes of the files in a folder: of code, without comments and tests.
    fn quoted(folder: &Path, texts: &mut Vec<String>) {
        // C has remedies of its own, and no devices that vksort owns. The others have GLSL, names of files, or reasons for numbers.
        const NO_MESSAGES: [&str; 6] = ["remedies.rs", "standalone", "abi", "abi.rs", "kernels.rs", "tuning.rs"];
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if NO_MESSAGES.iter().any(|name| path.ends_with(name)) {
                continue;
            } else if path.is_dir() {
                quoted(&path, texts);
                continue;
            }
            let code = fs::read_to_string(&path).unwrap();
            let code = code.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "").replace("\\\"", "'");
            texts.extend(code.split('"').skip(1).step_by(2).map(str::to_string));
        }
    }

    /// Whether a text has a name of Rust: a path, code, a name with underscores, a type, or a feature of cargo.
    fn speaks_rust(text: &str) -> bool {
        let is_type = |word: &str| {
            let humps = word.as_bytes().windows(2);
            word.starts_with(|first: char| first.is_ascii_uppercase())
                && humps.into_iter().any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
                && !["Vk", "MoltenVK"].iter().any(|of| word.starts_with(of))
        };
        let is_name = |word: &str| word.contains('_') && !word.contains(|letter: char| letter.is_ascii_uppercase());
        // What is filled in has a name in the code alone.
        let shown: String = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect();
        let mut words = shown.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        shown.contains("::")
            || shown.contains('`')
            || shown.contains("cargo")
            || words.any(|word| is_type(word) || is_name(word))
    }

    #[test]
    fn no_message_of_the_library_speaks_rust_in_c() {
        let mut texts = Vec::new();
        quoted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src"), &mut texts);
        // A text with a space is one for people.
        let messages: Vec<_> = texts.into_iter().filter(|text| text.contains(' ')).collect();
        let rust = messages.iter().filter(|text| speaks_rust(text)).count();
        assert!(messages.len() > 150 && rust > 5, "{} messages, {rust} of them with names of Rust", messages.len());
        let left: Vec<_> = messages.into_iter().map(in_c).filter(|text| speaks_rust(text)).collect();
        assert!(left.is_empty(), "names of Rust, for which `WORDS` has none of C: {left:#?}");
    }

    #[test]
    fn names_of_vulkan_are_those_of_its_headers() {
        type Usage = vk::BufferUsageFlags;
        let lost = Error::Vulkan { call: "vkCreateBuffer", result: vk::Result::ERROR_DEVICE_LOST };
        assert_eq!(of_error(&lost), "vkCreateBuffer failed: VK_ERROR_DEVICE_LOST");
        let given = Usage::SHADER_BINDING_TABLE_KHR | Usage::TRANSFER_SRC;
        let error = Error::MissingUsage { buffer: "keys_out", given, needed: Usage::STORAGE_BUFFER };
        let text = of_error(&error);
        assert!(text.starts_with("buffer keysOut has usage VK_BUFFER_USAGE_"), "{text}");
        for part in ["VK_BUFFER_USAGE_TRANSFER_SRC_BIT", "VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.ends_with("needed is VK_BUFFER_USAGE_STORAGE_BUFFER_BIT"), "{text}");
    }
}
