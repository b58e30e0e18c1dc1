//! Compressed .ply scenes, as SuperSplat and PlayCanvas write them: 16 bytes a splat, in fractions of the ranges of its chunk.

use std::f32::consts::SQRT_2;
use std::io::BufRead;

use anyhow::{Result, ensure};
use glam::{Quat, Vec3, vec3};
use ply_rs_bw::ply::{Header, ScalarType};

use super::gaussian::{Scene, Splat, smallest_three};
use super::header::{check_properties, find};
use super::rows::Body;

/// Splats that share the ranges of one chunk.
const CHUNK_SPLATS: usize = 256;

/// Least and greatest position, logarithm of the scale, and colour of a chunk.
#[rustfmt::skip]
const RANGES: [&str; 18] = [
    "min_x", "min_y", "min_z", "max_x", "max_y", "max_z",
    "min_scale_x", "min_scale_y", "min_scale_z", "max_scale_x", "max_scale_y", "max_scale_z",
    "min_r", "min_g", "min_b", "max_r", "max_g", "max_b",
];
/// A splat as it is stored.
pub const WORDS: [&str; 4] = ["packed_position", "packed_rotation", "packed_scale", "packed_color"];

/// Reads the splats after a header.
pub fn read(header: &Header, body: &mut Body<impl BufRead>, scene: &mut Scene) -> Result<()> {
    let (chunk, vertex) = (find(header, "chunk")?, find(header, "vertex")?);
    // Older files have no colour range: their fractions are the colours.
    let has_colors = chunk.properties.keys().any(|name| RANGES[12..].contains(&name.as_str()));
    let ranges = if has_colors { &RANGES[..] } else { &RANGES[..12] };
    check_properties(chunk, ranges, &[ScalarType::Float, ScalarType::Double])?;
    check_properties(vertex, &WORDS, &[ScalarType::UInt])?;
    let (given, needed, splats) = (chunk.count, vertex.count.div_ceil(CHUNK_SPLATS), vertex.count);
    ensure!(given >= needed, "element chunk has {given} entries, needed are {needed} for {splats} splats");

    let (mut chunks, mut packed) = (Vec::new(), Vec::new());
    // Harmonics come last, and are not read.
    let last = header.elements.get_index_of("chunk").max(header.elements.get_index_of("vertex"));
    for element in header.elements.values().take(last.map_or(0, |last| last + 1)) {
        match element.name.as_str() {
            "chunk" => body.rows(element, RANGES, |ranges| chunks.push(ranges.map(|number| number as f32)))?,
            "vertex" => body.rows(element, WORDS, |words| packed.push(words.map(|word| word as u32)))?,
            _ => body.rows(element, [], |[]| ())?,
        }
    }
    if !has_colors {
        chunks.iter_mut().for_each(|ranges| ranges[15..].fill(1.0));
    }
    scene.has_harmonics = header.elements.contains_key("sh");
    scene.splats.reserve_exact(splats);
    for (index, words) in packed.into_iter().enumerate() {
        scene.add(Ok(decode(words, &chunks[index / CHUNK_SPLATS])));
    }
    Ok(())
}

fn decode([position, rotation, scale, color]: [u32; 4], chunk: &[f32; 18]) -> Splat {
    // No component but the largest can be greater than half the square root of 2.
    let [w, x, y, z] = smallest_three(rotation, |bits| (fraction(bits, 0, 10) - 0.5) * SQRT_2);
    Splat {
        position: within(&chunk[..6], fractions_11_10_11(position)),
        rotation: Quat::from_xyzw(x, y, z, w).normalize(),
        scale: within(&chunk[6..12], fractions_11_10_11(scale)).exp(),
        color: within(&chunk[12..], vec3(fraction(color, 24, 8), fraction(color, 16, 8), fraction(color, 8, 8))),
        opacity: fraction(color, 0, 8),
    }
}

/// A place in a range from the first three numbers to the others.
fn within(range: &[f32], fraction: Vec3) -> Vec3 {
    Vec3::from([0, 1, 2].map(|axis| match (range[axis], range[3 + axis], fraction[axis]) {
        // The logarithm of a scale of zero. Interpolating with it would give NaN.
        (f32::NEG_INFINITY, max, 1.0) => max,
        (f32::NEG_INFINITY, ..) => f32::NEG_INFINITY,
        (min, max, fraction) => min + (max - min) * fraction,
    }))
}

/// The bits from `shift` on as a fraction of the greatest number they can hold.
fn fraction(word: u32, shift: u32, bits: u32) -> f32 {
    let max = (1 << bits) - 1;
    (word >> shift & max) as f32 / max as f32
}

fn fractions_11_10_11(word: u32) -> Vec3 {
    vec3(fraction(word, 21, 11), fraction(word, 11, 10), fraction(word, 0, 11))
}
