//! The kernels as `glsl/` has them now, compiled.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use shader_compiler::{Compiler, ShaderKind};

use crate::compile::{self, Sources, reason};
use crate::{Kernels, Stale, WRITE, abi, bytes, digest, kernels};

/// A file that only the repository has. A package is built as it is, and nothing is written to it.
const OF_REPOSITORY: &str = "scripts/spirv.sh";

/// Folders of the repository with shaders that are no kernels. Each has its module beside it.
const PROGRAMS: [&str; 2] = ["programs", "lab/bench"];

/// Compiles the kernels, and holds what the repository keeps against them.
pub fn kernels(root: &Path, asked: Stale) -> Result<Kernels, String> {
    let glsl = root.join("glsl");
    let modules = modules(&glsl)?;
    let sources = digest::of_sources(&glsl).map_err(|error| format!("{}: {error}", glsl.display()))? + "\n";
    let mut kernels = Kernels { modules, stale: false };
    if !root.join(OF_REPOSITORY).is_file() {
        if asked != Stale::Stays {
            println!("cargo::warning={WRITE} needs the repository of vksort: this package stays as it is");
        }
        return Ok(kernels);
    }
    let files = files(root, &kernels.modules, sources)?;
    let stale = stale(root, &files).map_err(|error| format!("spirv/: {error}"))?;
    match asked {
        Stale::Stays => kernels.stale = !stale.is_empty(),
        Stale::Refused if !stale.is_empty() => {
            return Err(format!("{}: not what the GLSL compiles to; run scripts/spirv.sh", stale.join(", ")));
        }
        Stale::Refused => {}
        Stale::Written => {
            keep(root, &files, &stale)?;
            let changed = stale.len();
            println!("cargo::warning=spirv/ is now what glsl/ compiles to: {changed} of {} files changed", files.len());
        }
    }
    Ok(kernels)
}

/// A module for each of [`kernels::modules`].
fn modules(glsl: &Path) -> Result<Vec<Vec<u32>>, String> {
    let contract = abi::glsl(None);
    let find = |name: &str, includer: &str| {
        let text = match name {
            "abi.glsl" => Ok(contract.clone()),
            _ => fs::read_to_string(glsl.join(name)),
        };
        let text = text.map_err(|error| format!("{name}, needed by {includer}: {error}"))?;
        Ok((format!("glsl/{name}"), text))
    };
    compile::on_all_cores(&kernels::modules(), |compiler, module| {
        let sources = Sources { macros: &[], strict: true, folder: "glsl/", find: &find };
        compile::compile(compiler, module, &sources).map_err(|error| format!("module {}: {error}", module.name()))
    })
}

/// What the repository keeps, by its path there.
fn files(root: &Path, modules: &[Vec<u32>], sources: String) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut files = BTreeMap::from([(format!("spirv/{}", digest::FILE), sources.into_bytes())]);
    for (module, words) in kernels::modules().iter().zip(modules) {
        files.insert(format!("spirv/{}.spv", module.name()), bytes(words));
    }
    let compiler = Compiler::new().map_err(reason)?;
    for folder in PROGRAMS.map(|folder| root.join(folder)).iter().filter(|folder| folder.is_dir()) {
        for source in digest::files(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let kind = match source.extension().and_then(OsStr::to_str) {
                Some("comp") => ShaderKind::Compute,
                Some("vert") => ShaderKind::Vertex,
                Some("frag") => ShaderKind::Fragment,
                _ => continue,
            };
            let module = source.with_extension("spv");
            println!("cargo::rerun-if-changed={}\ncargo::rerun-if-changed={}", source.display(), module.display());
            let name = digest::name(root, &source);
            let text = fs::read_to_string(&source).map_err(|error| format!("{name}: {error}"))?;
            let binary = compiler.compile_into_spirv(&text, kind, &name, "main", Some(&compile::options(true)?));
            files.insert(digest::name(root, &module), binary.map_err(reason)?.as_binary_u8().to_vec());
        }
    }
    Ok(files)
}

/// The files that differ from those in the repository, and those in `spirv/` that are none of them.
fn stale(root: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<Vec<String>> {
    let differs = files.iter().filter(|(name, bytes)| fs::read(root.join(name)).ok().as_ref() != Some(bytes));
    let mut stale: Vec<String> = differs.map(|(name, _)| name.clone()).collect();
    let spirv = root.join("spirv");
    if spirv.is_dir() {
        let kept = digest::files(&spirv)?.into_iter().map(|file| digest::name(root, &file));
        stale.extend(kept.filter(|name| !files.contains_key(name)));
    }
    Ok(stale)
}

/// Brings stale files up to date.
fn keep(root: &Path, files: &BTreeMap<String, Vec<u8>>, stale: &[String]) -> Result<(), String> {
    for name in stale {
        let file = root.join(name);
        let done = match files.get(name) {
            Some(bytes) => fs::create_dir_all(file.parent().unwrap_or(root)).and_then(|()| fs::write(&file, bytes)),
            None => fs::remove_file(&file),
        };
        done.map_err(|error| format!("writing {}: {error}", file.display()))?;
    }
    Ok(())
}
