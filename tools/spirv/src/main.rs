//! Compiles `glsl/*.comp` to the modules kept in `spirv/`, and shaders that are no part of the library to modules beside them:
//! vksort-spirv [--check]
//!
//! With `--check` it changes nothing, and fails where a module is not byte for byte what the GLSL compiles to.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Error, Result, bail, ensure};
use shaderc::{Compiler, ShaderKind};

#[allow(dead_code)]
#[path = "../../../src/abi.rs"]
mod abi;
#[path = "../../../src/compile.rs"]
mod compile;
#[allow(dead_code, reason = "the sum of other bytes is for build.rs")]
#[path = "../../../build/digest.rs"]
mod digest;
#[allow(dead_code)]
#[path = "../../../src/kernels.rs"]
mod kernels;

/// Shaders of programs, without macros and includes.
const OTHERS: [&str; 6] = [
    "programs/bench/bitonic.comp",
    "programs/splats/shaders/cull.comp",
    "programs/splats/shaders/keys.comp",
    "programs/splats/shaders/quad.vert",
    "programs/splats/shaders/scan.comp",
    "programs/splats/shaders/splat.frag",
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match &arguments[..] {
        [] => false,
        [flag] if flag == "--check" => true,
        other => bail!("arguments are {other:?}, allowed is --check"),
    };
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let (glsl, spirv) = (root.join("glsl"), root.join("spirv"));
    let made = compile_all(&glsl)?;
    let kept = read(&spirv)?;

    for other in OTHERS {
        keep_other(&root.join(other), other, check)?;
    }
    let changed: Vec<&String> =
        made.iter().filter(|(name, bytes)| kept.get(*name) != Some(bytes)).map(|(name, _)| name).collect();
    let gone: Vec<&String> = kept.keys().filter(|name| !made.contains_key(*name)).collect();
    for name in &changed {
        eprintln!("spirv/{name} {}", if kept.contains_key(*name) { "differs" } else { "is new" });
    }
    gone.iter().for_each(|name| eprintln!("spirv/{name} is no module"));
    let modules = made.len() - 1;
    if check {
        ensure!(
            changed.is_empty() && gone.is_empty(),
            "spirv/ is not what glsl/ compiles to: {} of {modules} modules; run scripts/spirv.sh",
            changed.len() + gone.len()
        );
        eprintln!("spirv/ is what glsl/ compiles to: {modules} modules");
        return Ok(());
    }
    fs::create_dir_all(&spirv)?;
    for name in &changed {
        let file = spirv.join(name);
        fs::write(&file, &made[*name]).with_context(|| format!("writing {}", file.display()))?;
    }
    for name in &gone {
        fs::remove_file(spirv.join(name))?;
    }
    eprintln!("spirv/ is now what glsl/ compiles to: {modules} modules, {} changed", changed.len() + gone.len());
    Ok(())
}

/// Compiles a shader to the module beside it, or checks that this was done.
fn keep_other(source: &Path, name: &str, check: bool) -> Result<()> {
    let kind = match source.extension().and_then(OsStr::to_str) {
        Some("vert") => ShaderKind::Vertex,
        Some("frag") => ShaderKind::Fragment,
        _ => ShaderKind::Compute,
    };
    let module = source.with_extension("spv");
    let text = fs::read_to_string(source).with_context(|| format!("reading {}", source.display()))?;
    let options = compile::options(true)?;
    let binary = Compiler::new()?.compile_into_spirv(&text, kind, name, "main", Some(&options))?;
    if fs::read(&module).is_ok_and(|kept| kept == binary.as_binary_u8()) {
        return Ok(());
    }
    let kept = module.file_name().unwrap_or_default().display();
    ensure!(!check, "{kept} is not what {name} compiles to; run scripts/spirv.sh");
    eprintln!("{kept} is now what {name} compiles to");
    fs::write(&module, binary.as_binary_u8()).with_context(|| format!("writing {}", module.display()))
}

/// The files of a folder by name.
fn read(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    if !folder.exists() {
        return Ok(BTreeMap::new());
    }
    let context = || format!("reading {}", folder.display());
    let entries = fs::read_dir(folder).with_context(context)?;
    entries
        .map(|entry| {
            let entry = entry?;
            Ok((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?))
        })
        .collect::<Result<_>>()
        .with_context(context)
}

/// Every module by its file's name, and the digest of what they were compiled from.
fn compile_all(glsl: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let contract = abi::glsl(None);
    let modules = kernels::modules();
    let named = |compiler: &Compiler, module: &kernels::Module| {
        Ok((module.name() + ".spv", one(compiler, glsl, &contract, module)?))
    };
    let files = compile::on_all_cores(&modules, Error::from, named)?;
    let mut files: BTreeMap<_, _> = files.into_iter().collect();
    files.insert(digest::FILE.into(), format!("{}\n", digest::of_sources(glsl)?).into_bytes());
    Ok(files)
}

fn one(compiler: &Compiler, glsl: &Path, contract: &str, module: &kernels::Module) -> Result<Vec<u8>> {
    let find = |name: &str, includer: &str| match name {
        "abi.glsl" => Ok((format!("glsl/{name}"), contract.to_string())),
        _ => match fs::read_to_string(glsl.join(name)) {
            Ok(text) => Ok((format!("glsl/{name}"), text)),
            Err(error) => Err(format!("{name}, included by {includer}: {error}")),
        },
    };
    let sources = compile::Sources { macros: &[], strict: true, folder: "glsl/", find: &find };
    let words = compile::compile(compiler, module, &sources).with_context(|| format!("module {}", module.name()))?;
    Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
}
