//! A hash of the sources of the SPIR-V. `build.rs` and the compiler of the kernels share this file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{abi, kernels};

/// The file in `spirv/` that holds the digest of the modules' sources.
pub const FILE: &str = "sources.digest";

const START: u64 = 0xCBF2_9CE4_8422_2325;

/// The digest of `glsl/`, of `abi.glsl`, and of the macros of every module, in hexadecimal.
pub fn of_sources(glsl: &Path) -> io::Result<String> {
    let mut hash = add(START, abi::glsl(None).as_bytes());
    for file in files(glsl)? {
        hash = add(add(hash, name(glsl, &file).as_bytes()), &fs::read(file)?);
    }
    for module in kernels::modules() {
        hash = add(hash, format!("{} {:?}", module.name(), module.macros()).as_bytes());
    }
    Ok(format!("{hash:016x}"))
}

/// The digest of bytes (FNV-1a), continued from another digest. It ignores carriage returns, as a checkout may add them.
pub fn add(hash: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = bytes.iter().filter(|byte| **byte != b'\r').fold(hash, step);
    // The digest includes the end of a file, so that text moved from one file to the next changes it.
    step(hash, &0xFF)
}

/// The files below a folder, in order.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.sort();
    Ok(files)
}

/// The name of a file in the folder that it is below.
pub fn name(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder).expect("listed below this folder").to_string_lossy().replace('\\', "/")
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => list(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
