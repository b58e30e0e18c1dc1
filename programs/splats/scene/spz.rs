//! .spz scenes of versions 1 to 3 (Niantic): within gzip a header, and then each property of all splats in turn.

use std::f32::consts::FRAC_1_SQRT_2;
use std::io::{self, BufRead, Read};

use anyhow::{Context, Result, ensure};
use flate2::bufread::GzDecoder;
use glam::{Vec3, vec3};
use half::f16;

use super::gaussian::{Scene, Splat, check_count, color, rotation, smallest_three};

/// What the files begin with.
pub const GZIP: &[u8] = &[0x1F, 0x8B];
/// Deflate makes no more of a byte than this.
const MOST_INFLATED: u64 = 1032;

/// Reads the splats of a file of so many bytes, which are at most so many.
pub fn read(file: impl BufRead, given: u64, most: u64, scene: &mut Scene) -> Result<()> {
    let mut body = GzDecoder::new(file);
    let mut header = [0; 16];
    let is_whole = body.read_exact(&mut header).is_ok();
    ensure!(is_whole && header.starts_with(b"NGSP"), "this is gzip, but not .spz; unpack it first");
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[at + byte]));
    let (version, count, [degree, point, flags, _]) = (word(4), word(8) as usize, word(12).to_le_bytes());
    ensure!((1..=3).contains(&version), "the version of .spz is {version}, allowed are 1 to 3");
    check_count(count as u64, most)?;
    let (of_position, of_rotation) = (if version == 1 { 6 } else { 9 }, if version == 3 { 4 } else { 3 });
    let needed = count as u64 * (of_position + 1 + 3 + 3 + of_rotation);
    let is_possible = needed <= MOST_INFLATED.saturating_mul(given);
    ensure!(is_possible, "the header announces {count} splats, which a file of {given} bytes cannot hold");
    let mut bytes = Vec::new();
    body.by_ref().take(needed).read_to_end(&mut bytes).context("unpacking")?;
    ensure!(bytes.len() as u64 == needed, "unpacked are {} bytes, needed are {needed} for {count} splats", bytes.len());
    // A check sum shows damage; up to 72 bytes of harmonics for each splat come before it, and small extensions.
    io::copy(&mut body.take(72 * count as u64 + (1 << 20)), &mut io::sink()).context("unpacking")?;

    let (positions, rest) = bytes.split_at(count * of_position as usize);
    let (alphas, rest) = rest.split_at(count);
    let (colors, rest) = rest.split_at(3 * count);
    let (scales, rotations) = rest.split_at(3 * count);
    let three = |of: &[u8], index: usize| Vec3::from([0, 1, 2].map(|part| of[3 * index + part].into()));
    scene.splats.reserve_exact(count);
    for index in 0..count {
        let position = &positions[index * of_position as usize..];
        let [x, y, z] = [0, 1, 2].map(|part| match version {
            1 => f16::from_le_bytes([position[2 * part], position[2 * part + 1]]).to_f32(),
            _ => {
                let [low, middle, high] = [0, 1, 2].map(|byte| position[3 * part + byte]);
                (i32::from_le_bytes([0, low, middle, high]) >> 8) as f32 / 2f32.powi(point.into())
            }
        });
        let [i, j, k, w] = match version {
            3 => smallest_three(u32::from_le_bytes([0, 1, 2, 3].map(|byte| rotations[4 * index + byte])), signed),
            _ => first_three(three(rotations, index)),
        };
        // y points up and z to the viewer, unlike in the other formats.
        scene.add(rotation(i, -j, -k, w).map(|rotation| Splat {
            position: vec3(x, -y, -z),
            rotation,
            scale: (three(scales, index) / 16.0 - 10.0).exp(),
            color: color((three(colors, index) / 255.0 - 0.5) / 0.15),
            opacity: f32::from(alphas[index]) / 255.0,
        }));
    }
    scene.antialiased = flags & 1 == 1;
    scene.has_harmonics = degree > 0;
    Ok(())
}

/// A component of at most half the square root of 2, as a sign and nine bits.
fn signed(bits: u32) -> f32 {
    let size = (bits & 511) as f32 / 511.0 * FRAC_1_SQRT_2;
    if bits > 511 { -size } else { size }
}

/// A unit quaternion, w last, of which w is left out and is not negative.
fn first_three(bytes: Vec3) -> [f32; 4] {
    let vector = bytes / 127.5 - 1.0;
    let [x, y, z] = vector.to_array();
    [x, y, z, (1.0 - vector.length_squared()).max(0.0).sqrt()]
}
