//! Finding the programs and running them, for the suites that test them.
#![allow(dead_code, unused_imports, reason = "no suite uses all of it")]

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use vksort_testing::process::run_within;

/// A program as a command: the one that was built for this test, or the one in `VKSORT_EXAMPLES`.
pub fn program(name: &str) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_sort")).parent().expect("programs are in a folder");
    let folder = std::env::var_os("VKSORT_EXAMPLES").map_or_else(|| built.to_path_buf(), PathBuf::from);
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is missing", path.display());
    Command::new(path)
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the programs are in a folder of the repository")
}

/// A picture of three bytes a pixel.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

impl Picture {
    pub fn read(path: &Path) -> Picture {
        let file = BufReader::new(File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        Picture { width: info.width as usize, height: info.height as usize, rgb }
    }

    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        self.rgb[3 * (y * self.width + x)..][..3].try_into().unwrap()
    }

    /// Peak signal-to-noise ratio against a picture of the same size, in decibels.
    pub fn psnr(&self, other: &Picture) -> f64 {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let squares = self.rgb.iter().zip(&other.rgb).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2));
        10.0 * (255.0 * 255.0 * self.rgb.len() as f64 / squares.sum::<f64>()).log10()
    }

    /// Whether all pixels are white.
    pub fn is_blank(&self) -> bool {
        self.rgb.iter().all(|channel| *channel == 255)
    }
}

/// The header of a .ply as the training of splats writes it, without the properties that nobody reads.
pub fn trained_header(splats: usize) -> String {
    let mut text = format!("ply\nformat binary_little_endian 1.0\nelement vertex {splats}\n");
    for name in ["x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity", "scale_0", "scale_1", "scale_2"] {
        text += &format!("property float {name}\n");
    }
    for index in 0..4 {
        text += &format!("property float rot_{index}\n");
    }
    text + "end_header\n"
}
