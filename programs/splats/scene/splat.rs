//! .splat scenes, as viewers on the web read them: 32 bytes a splat, without a header.

use std::io::Read;

use anyhow::{Context, Result, ensure};
use glam::{Vec3, Vec4};

use super::gaussian::{Splat, rotation};

pub const SPLAT_BYTES: u64 = 32;

/// Reads the splats of a file of so many bytes.
pub fn read(mut file: impl Read, given: u64) -> Result<Vec<Splat>> {
    ensure!(given.is_multiple_of(SPLAT_BYTES), "the file has {given} bytes, allowed are multiples of {SPLAT_BYTES}");
    let mut entry = [0; SPLAT_BYTES as usize];
    let mut splats = Vec::new();
    for index in 0..given / SPLAT_BYTES {
        file.read_exact(&mut entry)?;
        splats.push(decode(&entry, index)?);
    }
    Ok(splats)
}

fn decode(entry: &[u8; SPLAT_BYTES as usize], index: u64) -> Result<Splat> {
    let number = |place: usize| f32::from_le_bytes([0, 1, 2, 3].map(|byte| entry[4 * place + byte]));
    let vector = |first: usize| Vec3::new(number(first), number(first + 1), number(first + 2));
    let bytes = |first: usize| Vec4::from_array([0, 1, 2, 3].map(|byte| entry[first + byte].into()));
    let color = bytes(24) / 255.0;
    let [w, x, y, z] = ((bytes(28) - 128.0) / 128.0).to_array();
    let rotation = rotation(x, y, z, w);
    let rotation = rotation.with_context(|| format!("rotation of splat {index} is zero, allowed are others"))?;
    let splat = Splat { position: vector(0), rotation, scale: vector(3), color: color.truncate(), opacity: color.w };
    splat.check(format_args!("splat {index}"))?;
    Ok(splat)
}
