//! Scenes of Gaussian splats: from files of three formats, or made up.

mod compressed;
mod gaussian;
mod header;
mod ply;
mod splat;
pub mod synthetic;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};
pub use gaussian::Splat;
use indicatif::ProgressBar;

/// The formats of files.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// Compressed or as trained; the header says which.
    Ply,
    Splat,
}

impl Format {
    /// The format of a file of this name.
    pub fn of(path: &Path) -> Format {
        let is_splat = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("splat"));
        if is_splat { Format::Splat } else { Format::Ply }
    }
}

/// Reads a file.
pub fn load(path: &Path) -> Result<Vec<Splat>> {
    let open = || {
        let metadata = fs::metadata(path)?;
        ensure!(metadata.is_file(), "this is not a file");
        let progress = ProgressBar::new(metadata.len());
        let file = BufReader::new(progress.wrap_read(File::open(path)?));
        let splats = read(Format::of(path), file, metadata.len());
        progress.finish_and_clear();
        splats
    };
    open().with_context(|| path.display().to_string())
}

/// Reads the content of a file of so many bytes.
pub fn read(format: Format, file: impl BufRead, given: u64) -> Result<Vec<Splat>> {
    if let Format::Splat = format {
        return splat::read(file, given);
    }
    let (header, mut body) = header::read(file, given)?;
    if compressed::is_announced(&header) { compressed::read(&header, &mut body) } else { ply::read(&header, &mut body) }
}
