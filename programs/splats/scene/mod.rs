//! Scenes of Gaussian splats: from files of three formats, or made up.

mod compressed;
mod header;
mod ply;
mod splat;
pub mod synthetic;

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use glam::{Mat3, Quat, Vec3};
use indicatif::ProgressBar;

/// A 3-D Gaussian with a colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Splat {
    pub position: Vec3,
    /// Turns the Gaussian's own axes into the scene's.
    pub rotation: Quat,
    /// Standard deviations along its own axes.
    pub scale: Vec3,
    /// Red, green and blue as shown, about 0 to 1.
    pub color: Vec3,
    /// Greatest alpha, 0 to 1.
    pub opacity: f32,
}

impl Splat {
    /// How the splat extends along the axes of the scene, as a covariance.
    pub fn covariance(&self) -> Mat3 {
        let axes = Mat3::from_quat(self.rotation) * Mat3::from_diagonal(self.scale);
        axes * axes.transpose()
    }

    /// Refuses numbers that are not finite, with the splat's name.
    fn check(&self, name: impl Display) -> Result<()> {
        let named = [("position", self.position), ("scale", self.scale), ("color", self.color)];
        for (property, value) in named {
            ensure!(value.is_finite(), "{property} of {name} is {value}, allowed are finite numbers");
        }
        ensure!((0.0..=1.0).contains(&self.opacity), "opacity of {name} is {}, allowed is 0 to 1", self.opacity);
        Ok(())
    }
}

/// A quaternion of any length as a rotation, unless it is zero or not finite.
fn rotation(x: f32, y: f32, z: f32, w: f32) -> Option<Quat> {
    let parts = [x, y, z, w].map(f64::from);
    // Squares of the largest and the smallest numbers are none of f32.
    let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    let [x, y, z, w] = parts.map(|part| (part / length) as f32);
    (length > 0.0 && length.is_finite()).then(|| Quat::from_xyzw(x, y, z, w).normalize())
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
