//! Compressed .ply scenes, as SuperSplat and PlayCanvas write them: 16 bytes a splat, in fractions of the ranges of its chunk.

use std::f32::consts::SQRT_2;
use std::io::BufRead;

use anyhow::{Result, ensure};
use glam::{Quat, Vec3, vec3};
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{ElementDef, Header, PropertyAccess, PropertyAccessResult, ScalarType};

use super::gaussian::Splat;
use super::header::{self, Body, check_properties, find};

/// Splats that share the ranges of one chunk.
const CHUNK_SPLATS: usize = 256;

/// Whether a header is that of a compressed scene.
pub fn is_announced(header: &Header) -> bool {
    let packed = |element: &ElementDef| element.properties.contains_key(Packed::WORDS[0]);
    header.elements.contains_key("chunk") || header.elements.get("vertex").is_some_and(packed)
}

/// Reads the splats behind a header.
pub fn read(header: &Header, body: &mut Body<impl BufRead>) -> Result<Vec<Splat>> {
    let (chunk_def, vertex_def) = check(header)?;
    let (mut chunks, mut packed) = (Vec::new(), Vec::new());
    for element in header.elements.values() {
        match element.name.as_str() {
            "chunk" => chunks = Parser::<Chunk>::new().read_payload_for_element(body, chunk_def, header)?,
            "vertex" => packed = Parser::<Packed>::new().read_payload_for_element(body, vertex_def, header)?,
            _ => header::skip(body, element)?,
        }
    }
    packed.iter().enumerate().map(|(index, packed)| packed.decode(index, &chunks[index / CHUNK_SPLATS])).collect()
}

/// Finds the elements of a compressed scene, and checks that they are what [`Packed::decode`] expects.
fn check(header: &Header) -> Result<(&ElementDef, &ElementDef)> {
    let chunk = find(header, "chunk")?;
    // Older files have no colour range: their fractions are the colours.
    let has_colors = chunk.properties.keys().any(|name| Chunk::COLORS.contains(&name.as_str()));
    let ranges = if has_colors { &Chunk::RANGES[..] } else { &Chunk::RANGES[..12] };
    check_properties(chunk, ranges, ScalarType::Float)?;
    let vertex = find(header, "vertex")?;
    check_properties(vertex, &Packed::WORDS, ScalarType::UInt)?;

    let needed = vertex.count.div_ceil(CHUNK_SPLATS);
    ensure!(
        chunk.count >= needed,
        "element chunk has {} entries, needed are {needed} for the {} of element vertex",
        chunk.count,
        vertex.count
    );
    Ok((chunk, vertex))
}

/// The ranges of up to 256 splats: least and greatest position, logarithm of the scale, and colour.
struct Chunk([f32; 18]);

impl Chunk {
    const RANGES: [&str; 18] = [
        "min_x",
        "min_y",
        "min_z",
        "max_x",
        "max_y",
        "max_z",
        "min_scale_x",
        "min_scale_y",
        "min_scale_z",
        "max_scale_x",
        "max_scale_y",
        "max_scale_z",
        Self::COLORS[0],
        Self::COLORS[1],
        Self::COLORS[2],
        Self::COLORS[3],
        Self::COLORS[4],
        Self::COLORS[5],
    ];
    const COLORS: [&str; 6] = ["min_r", "min_g", "min_b", "max_r", "max_g", "max_b"];

    fn position(&self, fraction: Vec3) -> Vec3 {
        self.within(0, fraction)
    }

    fn scale(&self, fraction: Vec3) -> Vec3 {
        self.within(6, fraction).exp()
    }

    fn color(&self, fraction: Vec3) -> Vec3 {
        self.within(12, fraction)
    }

    fn within(&self, first: usize, fraction: Vec3) -> Vec3 {
        let (min, max) = (Vec3::from_slice(&self.0[first..]), Vec3::from_slice(&self.0[first + 3..]));
        min + (max - min) * fraction
    }
}

impl PropertyAccess for Chunk {
    fn new() -> Self {
        let mut ranges = [0.0; 18];
        ranges[15..].fill(1.0);
        Chunk(ranges)
    }

    fn set_float(&mut self, name: &str, value: f32) -> PropertyAccessResult {
        match Self::RANGES.iter().position(|range| *range == name) {
            Some(index) => {
                self.0[index] = value;
                PropertyAccessResult::Set
            }
            None => PropertyAccessResult::Ignored,
        }
    }
}

/// A splat as it is stored, in four words.
struct Packed([u32; 4]);

impl PropertyAccess for Packed {
    fn new() -> Self {
        Packed([0; 4])
    }

    fn set_uint(&mut self, name: &str, value: u32) -> PropertyAccessResult {
        match Self::WORDS.iter().position(|word| *word == name) {
            Some(index) => {
                self.0[index] = value;
                PropertyAccessResult::Set
            }
            None => PropertyAccessResult::Ignored,
        }
    }
}

impl Packed {
    const WORDS: [&str; 4] = ["packed_position", "packed_rotation", "packed_scale", "packed_color"];

    fn decode(&self, index: usize, chunk: &Chunk) -> Result<Splat> {
        let [position, rotation, scale, color] = self.0;
        let splat = Splat {
            position: chunk.position(fractions_11_10_11(position)),
            rotation: smallest_three(rotation),
            scale: chunk.scale(fractions_11_10_11(scale)),
            color: chunk.color(vec3(fraction(color, 24, 8), fraction(color, 16, 8), fraction(color, 8, 8))),
            opacity: fraction(color, 0, 8),
        };
        splat.check(format_args!("splat {index}, in chunk {},", index / CHUNK_SPLATS))?;
        Ok(splat)
    }
}

/// The bits from `shift` on as a fraction of the greatest number they can hold.
fn fraction(word: u32, shift: u32, bits: u32) -> f32 {
    let max = (1 << bits) - 1;
    (word >> shift & max) as f32 / max as f32
}

fn fractions_11_10_11(word: u32) -> Vec3 {
    vec3(fraction(word, 21, 11), fraction(word, 11, 10), fraction(word, 0, 11))
}

/// A unit quaternion of which the largest component is left out, as it follows from the three others.
fn smallest_three(word: u32) -> Quat {
    // No component but the largest can be greater than half the square root of 2.
    let others = [20, 10, 0].map(|shift| (fraction(word, shift, 10) - 0.5) * SQRT_2);
    let largest = (1.0 - others.iter().map(|value| value * value).sum::<f32>()).max(0.0).sqrt();
    let [a, b, c] = others;
    let [w, x, y, z] = match word >> 30 {
        0 => [largest, a, b, c],
        1 => [a, largest, b, c],
        2 => [a, b, largest, c],
        _ => [a, b, c, largest],
    };
    Quat::from_xyzw(x, y, z, w).normalize()
}
