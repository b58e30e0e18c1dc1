//! The kernels kept in `spirv/`.

use std::fs;
use std::path::Path;

use crate::{Kernels, Stale, WRITE, digest, kernels};

/// Reads the kernels, and warns if they are older than the GLSL. This is a warning and no error, as they still sort; a test of
/// the library fails.
pub fn kernels(root: &Path, asked: Stale) -> Result<Kernels, String> {
    if asked != Stale::Stays {
        println!(
            "cargo::warning={WRITE} needs the feature compile-kernels, which compiles glsl/: spirv/ stays as it is"
        );
    }
    let spirv = root.join("spirv");
    let read = |name: String| {
        let kept = spirv.join(name);
        fs::read(&kept).map_err(|error| format!("{}: {error}; run scripts/spirv.sh", kept.display()))
    };
    let words = |module: kernels::Module| {
        let bytes = read(module.name() + ".spv")?;
        Ok(bytes.as_chunks().0.iter().copied().map(u32::from_le_bytes).collect())
    };
    let modules = kernels::modules().into_iter().map(words).collect::<Result<_, String>>()?;
    let sources = String::from_utf8_lossy(&read(digest::FILE.into())?).into_owned();
    let glsl = root.join("glsl");
    let mut stale = false;
    if glsl.is_dir() {
        let now = digest::of_sources(&glsl).map_err(|error| format!("{}: {error}", glsl.display()))?;
        if sources.trim() != now {
            println!(
                "cargo::warning=spirv/ was compiled from other GLSL than is in glsl/ now: run scripts/spirv.sh, or build with \
                 the feature compile-kernels"
            );
            stale = true;
        }
    }
    Ok(Kernels { modules, stale })
}
