//! .splat scenes, as viewers on the web read them: 32 bytes a splat, without a header.

use std::io::Read;

use anyhow::{Result, ensure};
use glam::{Vec3, Vec4};

use super::gaussian::{Scene, Splat, check_count, rotation};

const SPLAT_BYTES: u64 = 32;

/// Reads the splats of a file of so many bytes, which are at most so many.
pub fn read(mut file: impl Read, given: u64, most: u64, scene: &mut Scene) -> Result<()> {
    ensure!(given < u64::MAX, "a .splat does not say how long it is, so it has to be a file, not a pipe");
    ensure!(given.is_multiple_of(SPLAT_BYTES), "the file has {given} bytes, allowed are multiples of {SPLAT_BYTES}");
    check_count(given / SPLAT_BYTES, most)?;
    let mut entry = [0; SPLAT_BYTES as usize];
    scene.splats.reserve_exact((given / SPLAT_BYTES) as usize);
    for _ in 0..given / SPLAT_BYTES {
        file.read_exact(&mut entry)?;
        scene.add(decode(&entry));
    }
    Ok(())
}

fn decode(entry: &[u8; SPLAT_BYTES as usize]) -> Result<Splat, String> {
    let number = |place: usize| f32::from_le_bytes([0, 1, 2, 3].map(|byte| entry[4 * place + byte]));
    let vector = |first: usize| Vec3::new(number(first), number(first + 1), number(first + 2));
    let bytes = |first: usize| Vec4::from_array([0, 1, 2, 3].map(|byte| entry[first + byte].into()));
    let color = bytes(24) / 255.0;
    let [w, x, y, z] = ((bytes(28) - 128.0) / 128.0).to_array();
    let rotation = rotation(x, y, z, w)?;
    Ok(Splat { position: vector(0), rotation, scale: vector(3), color: color.truncate(), opacity: color.w })
}
