//! Embeds the kernels: those kept in `spirv/`, or with the feature `compile-kernels` what `glsl/` compiles to.
//!
//! Only a build with the feature in the repository writes to `spirv/`, and only with the variable `VKSORT_WRITE_SPIRV=1`. With
//! `VKSORT_WRITE_SPIRV=check` it fails where it would write.

use std::path::Path;
use std::{env, fs};

#[allow(dead_code, reason = "what compiles kernels needs its text only")]
#[path = "src/abi.rs"]
mod abi;
#[cfg(feature = "compile-kernels")]
#[path = "build/compile.rs"]
mod compile;
#[path = "build/digest.rs"]
mod digest;
#[allow(dead_code, reason = "only the modules are embedded here")]
#[path = "src/kernels.rs"]
mod kernels;
#[cfg_attr(feature = "compile-kernels", path = "build/compiled.rs")]
#[cfg_attr(not(feature = "compile-kernels"), path = "build/kept.rs")]
mod origin;
#[path = "build/pack.rs"]
mod pack;

/// What is embedded.
struct Kernels {
    /// A module for each of [`kernels::modules`].
    modules: Vec<Vec<u32>>,
    /// Whether those kept in the repository were compiled from other GLSL than it has now.
    stale: bool,
}

/// What happens to files in the repository that are not what the GLSL compiles to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stale {
    Stays,
    Written,
    Refused,
}

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let (root, out) = (Path::new(&root), Path::new(&out));
    for input in ["build.rs", "build", "src/abi.rs", "src/kernels.rs", "spirv"] {
        println!("cargo::rerun-if-changed={input}");
    }
    // cargo would take a folder that does not exist for a changed one.
    if root.join("glsl").is_dir() {
        println!("cargo::rerun-if-changed=glsl");
    }
    println!("cargo::rerun-if-env-changed={WRITE}");
    if let Err(message) =
        asked().and_then(|asked| origin::kernels(root, asked)).and_then(|kernels| embed(&kernels, out))
    {
        message.lines().for_each(|line| println!("cargo::error={line}"));
    }
    if cfg!(feature = "__compile") {
        match sources(&root.join("glsl")) {
            Ok(text) => fs::write(out.join("sources.rs"), text).expect("OUT_DIR is writable"),
            Err(error) => println!("cargo::error=glsl/: {error}"),
        }
    }
}

/// The variable that decides.
const WRITE: &str = "VKSORT_WRITE_SPIRV";

fn asked() -> Result<Stale, String> {
    match env::var_os(WRITE) {
        None => Ok(Stale::Stays),
        Some(value) if value == "1" => Ok(Stale::Written),
        Some(value) if value == "check" => Ok(Stale::Refused),
        Some(value) => Err(format!("{WRITE} is {value:?}, allowed are 1 and check")),
    }
}

/// Writes the source that `src/modules.rs` includes, and the packed modules beside it.
fn embed(kernels: &Kernels, out: &Path) -> Result<(), String> {
    let (mut hash, mut entries, mut constants) = (0, String::new(), String::new());
    let modules = kernels::modules();
    for row in kernels::KERNELS {
        let mut embedded = Vec::new();
        for (module, words) in modules.iter().zip(&kernels.modules).filter(|(module, _)| module.kernel == row.kernel) {
            hash = digest::add(hash, &bytes(words));
            constants += &format!("    {:#x},\n", specialized(words));
            if module.missing_feature().is_none() {
                embedded.push(words.clone());
            }
        }
        let packed = out.join(row.kernel.name());
        fs::write(&packed, pack::pack(&embedded)).map_err(|error| format!("{}: {error}", packed.display()))?;
        entries += &format!("    include_bytes!({:?}),\n", packed.display().to_string());
    }
    let text = format!(
        "const PACKED: [&[u8]; {}] = [\n{entries}];\n\
         const SPECIALIZED: [u64; {}] = [\n{constants}];\n\
         const DIGEST: u64 = {hash};\n\
         #[allow(dead_code, reason = \"for a test\")]\nconst STALE: bool = {};\n",
        kernels::KERNELS.len(),
        modules.len(),
        kernels.stale
    );
    fs::write(out.join("modules.rs"), text).map_err(|error| format!("OUT_DIR: {error}"))
}

/// A module as its file has it.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().copied().flat_map(u32::to_le_bytes).collect()
}

/// Rust source with all GLSL files by their names, for `vksort-visitors`.
fn sources(glsl: &Path) -> std::io::Result<String> {
    let mut entries = String::new();
    for file in digest::files(glsl)? {
        let name = digest::name(glsl, &file);
        entries += &format!("    ({name:?}, include_str!({:?})),\n", file.display().to_string());
    }
    Ok(format!("/// The files of `glsl/`, by name.\npub const SOURCES: &[(&str, &str)] = &[\n{entries}];\n"))
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
