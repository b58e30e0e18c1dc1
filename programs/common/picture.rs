//! Pictures as PNG.

use anyhow::{Context, Result};

/// Encodes rows of pixels, three bytes each.
pub fn encode(rgb: &[u8], width: u32, height: u32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().context("encoding a picture")?;
    writer.write_image_data(rgb).context("encoding a picture")?;
    writer.finish().context("encoding a picture")?;
    Ok(bytes)
}
