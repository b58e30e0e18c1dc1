//! Packs the SPIR-V in `spirv/`, and warns if it is older than the GLSL.

use std::path::Path;
use std::{env, fs};

#[allow(dead_code, reason = "only its text is hashed here")]
#[path = "src/abi.rs"]
mod abi;
#[path = "build/digest.rs"]
mod digest;
#[allow(dead_code, reason = "only the modules are embedded here")]
#[path = "src/kernels.rs"]
mod kernels;
#[path = "src/modules/pack.rs"]
mod pack;

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let (root, out) = (Path::new(&root), Path::new(&out));
    for input in ["build.rs", "build", "src/abi.rs", "src/kernels.rs", "src/modules/pack.rs", "spirv"] {
        println!("cargo::rerun-if-changed={input}");
    }
    match embed(root, out) {
        Ok(text) => fs::write(out.join("modules.rs"), text).expect("OUT_DIR is writable"),
        Err(message) => println!("cargo::error={message}"),
    }
    if env::var_os("CARGO_FEATURE_RUNTIME_SHADERS").is_some() {
        match sources(&root.join("glsl")) {
            Ok(text) => fs::write(out.join("sources.rs"), text).expect("OUT_DIR is writable"),
            Err(error) => println!("cargo::error=glsl/: {error}"),
        }
    }
}

/// The source that `src/modules.rs` includes. The packed modules are in `out`.
fn embed(root: &Path, out: &Path) -> Result<String, String> {
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let most_words = if has("KEYS_128") {
        4
    } else if has("WIDE_KEYS") {
        2
    } else {
        1
    };
    let (mut hash, mut entries, mut constants) = (0, String::new(), String::new());
    let modules = kernels::modules();
    for row in kernels::KERNELS {
        let mut embedded = Vec::new();
        for module in modules.iter().filter(|module| module.kernel == row.kernel) {
            let kept = root.join("spirv").join(format!("{}.spv", module.name()));
            let bytes =
                fs::read(&kept).map_err(|error| format!("{}: {error}; run scripts/spirv.sh", kept.display()))?;
            hash = digest::add(hash, &bytes);
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
            constants += &format!("    {:#x},\n", specialized(&words));
            if module.key_words <= most_words {
                embedded.push(words);
            }
        }
        let packed = out.join(row.kernel.name());
        fs::write(&packed, pack::pack(&embedded)).map_err(|error| format!("{}: {error}", packed.display()))?;
        entries += &format!("    include_bytes!({:?}),\n", packed.display().to_string());
    }
    let stale = is_stale(root)?;
    // What the modules were compiled from, which visitors are compiled into.
    let kept = root.join("spirv").join(digest::FILE);
    let sources = digest::add(0, &fs::read(&kept).map_err(|error| format!("{}: {error}", kept.display()))?);
    Ok(format!(
        "const PACKED: [&[u8]; {}] = [\n{entries}];\n\
         const SPECIALIZED: [u64; {}] = [\n{constants}];\n\
         #[allow(dead_code, reason = \"for profiles\")]\nconst DIGEST: u64 = {hash};\n\
         pub(crate) const SOURCES_DIGEST: u64 = {sources};\n\
         #[allow(dead_code, reason = \"for a test\")]\nconst STALE: bool = {stale};\n",
        kernels::KERNELS.len(),
        modules.len()
    ))
}

/// Rust source with all GLSL files by their names, for programs that compile visitors.
fn sources(glsl: &Path) -> std::io::Result<String> {
    println!("cargo::rerun-if-changed=glsl");
    let mut entries = String::new();
    for file in digest::files(glsl)? {
        let name = digest::name(glsl, &file);
        entries += &format!("    ({name:?}, include_str!({:?})),\n", file.display().to_string());
    }
    Ok(format!("const SOURCES: &[(&str, &str)] = &[\n{entries}];\n"))
}

/// Whether the GLSL exists and has changed since the modules were compiled. This is a warning and no error, as the modules
/// still sort; a test of the library fails.
fn is_stale(root: &Path) -> Result<bool, String> {
    let glsl = root.join("glsl");
    if !glsl.is_dir() {
        return Ok(false);
    }
    println!("cargo::rerun-if-changed=glsl");
    let now = digest::of_sources(&glsl).map_err(|error| format!("{}: {error}", glsl.display()))?;
    let kept = fs::read_to_string(root.join("spirv").join(digest::FILE)).unwrap_or_default();
    let stale = kept.trim() != now;
    if stale {
        println!("cargo::warning=spirv/ was compiled from other GLSL than is in glsl/ now: run scripts/spirv.sh");
    }
    Ok(stale)
}

/// A bit for each specialization constant that a module has, by its id.
fn specialized(words: &[u32]) -> u64 {
    const HEADER_WORDS: usize = 5;
    const OP_DECORATE: u32 = 71;
    const SPEC_ID: u32 = 1;
    let (mut mask, mut at) = (0, HEADER_WORDS);
    while at < words.len() {
        // The first word of an instruction has its length above its opcode.
        let (length, opcode) = ((words[at] >> 16).max(1) as usize, words[at] & 0xFFFF);
        if opcode == OP_DECORATE && words[at + 2] == SPEC_ID {
            mask |= 1 << words[at + 3];
        }
        at += length;
    }
    mask
}
