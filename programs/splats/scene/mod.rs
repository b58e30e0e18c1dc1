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
pub use gaussian::{MIN_ALPHA, Splat, check_count};
use glam::Vec3;
use indicatif::ProgressBar;

/// Splats that can be drawn, and what their file says of them.
#[derive(Default)]
pub struct Scene {
    pub splats: Vec<Splat>,
    /// Where up is, if the file says so.
    pub up: Option<Vec3>,
    /// Whether the splats were trained to lose opacity as the low pass of the picture widens them.
    pub antialiased: bool,
}

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

/// Reads a file of at most so many splats.
pub fn load(path: &Path, most: u64) -> Result<Scene> {
    let open = || {
        let metadata = fs::metadata(path)?;
        ensure!(metadata.is_file(), "this is not a file");
        let progress = ProgressBar::new(metadata.len());
        let file = BufReader::new(progress.wrap_read(File::open(path)?));
        let scene = read(Format::of(path), file, metadata.len(), most);
        progress.finish_and_clear();
        scene
    };
    open().with_context(|| path.display().to_string())
}

/// Reads the content of a file of so many bytes, which has at most so many splats.
pub fn read(format: Format, file: impl BufRead, given: u64, most: u64) -> Result<Scene> {
    if let Format::Splat = format {
        check_count(given / splat::SPLAT_BYTES, most)?;
        return Ok(Scene { splats: splat::read(file, given)?, ..Scene::default() });
    }
    let (header, mut body) = header::read(file, given)?;
    check_count(header::find(&header, "vertex")?.count as u64, most)?;
    let splats = match compressed::is_announced(&header) {
        true => compressed::read(&header, &mut body)?,
        false => ply::read(&header, &mut body)?,
    };
    Ok(Scene { splats, ..Scene::default() })
}
