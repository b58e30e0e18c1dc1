//! Finding the programs and running them, for the suites that test them.
#![allow(dead_code, reason = "no suite uses all of it")]

#[path = "../../../tests/common/process.rs"]
mod process;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use process::run_within;

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
    rgb: Vec<u8>,
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

    /// Whether all pixels are white.
    pub fn is_blank(&self) -> bool {
        self.rgb.iter().all(|channel| *channel == 255)
    }
}
