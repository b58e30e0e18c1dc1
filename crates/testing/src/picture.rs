//! Pictures that programs write.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A picture of three bytes a pixel.
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The bytes of all rows, from the top.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// Reads a .png.
    pub fn read(path: &Path) -> Picture {
        let file = BufReader::new(File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        Picture { width: info.width as usize, height: info.height as usize, rgb }
    }

    /// The bytes of one pixel.
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
