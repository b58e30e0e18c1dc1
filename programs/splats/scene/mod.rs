//! Scenes of Gaussian splats: from files, or made up.

mod axes;
mod compressed;
mod format;
mod gaussian;
mod header;
mod ply;
mod rows;
mod splat;
mod spz;
pub mod synthetic;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
pub use gaussian::{MIN_ALPHA, Scene, Splat, check_count};

/// Reads a file or a pipe, of at most so many splats.
pub fn load(path: &Path, most: u64) -> Result<Scene> {
    let open = || {
        let metadata = fs::metadata(path)?;
        ensure!(!metadata.is_dir(), "this is a directory, not a file");
        // Nobody knows the size of a pipe. Nothing is allocated by a size that is only announced.
        let given = if metadata.is_file() { metadata.len() } else { u64::MAX };
        read(path, BufReader::new(File::open(path)?), given, most)
    };
    open().with_context(|| path.display().to_string())
}

/// Reads the content of a file of so many bytes, which has at most so many splats. The format follows from the content; the name
/// decides only for .splat, which has no mark.
pub fn read(name: &Path, mut file: impl BufRead, given: u64, most: u64) -> Result<Scene> {
    let mut scene = Scene::default();
    let start = file.fill_buf()?;
    if start.starts_with(b"ply") {
        let (header, mut body) = header::read(file, &mut scene)?;
        let vertex = header::find(&header, "vertex")?;
        check_count(vertex.count as u64, most)?;
        match vertex.properties.contains_key(compressed::WORDS[0]) {
            true => compressed::read(&header, &mut body, &mut scene)?,
            false => ply::read(&header, &mut body, &mut scene)?,
        }
    } else if start.starts_with(spz::GZIP) || start.starts_with(spz::MARK) {
        spz::read(file, given, most, &mut scene)?;
    } else {
        format::check_splat(name, start)?;
        splat::read(file, given, most, &mut scene)?;
    }
    if scene.splats.is_empty() && scene.skipped > 0 {
        bail!("none of {} splats can be drawn; {}", scene.skipped, scene.first_skipped);
    }
    Ok(scene)
}
