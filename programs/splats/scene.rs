//! Scenes of Gaussian splats: from a compressed .ply file, or made up.

use std::f32::consts::{SQRT_2, TAU};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use glam::{Mat3, Quat, Vec3, vec3};
use indicatif::{ProgressBar, ProgressIterator};
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{ElementDef, Encoding, Header, PropertyAccess, PropertyAccessResult, PropertyType, ScalarType};

/// A 3-D Gaussian with a colour.
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

/// Splats that share the ranges of one chunk.
const CHUNK_SPLATS: usize = 256;

/// A header is a few hundred bytes; a file without line breaks is not read to its end in search of one.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// Reads a compressed .ply.
pub fn load(path: &Path) -> Result<Vec<Splat>> {
    let open = || {
        let metadata = fs::metadata(path)?;
        ensure!(metadata.is_file(), "this is not a file");
        let progress = ProgressBar::new(metadata.len());
        let splats = read(progress.wrap_read(File::open(path)?), metadata.len());
        progress.finish_and_clear();
        splats
    };
    open().with_context(|| path.display().to_string())
}

/// Reads a compressed .ply of so many bytes.
pub fn read(file: impl Read, given: u64) -> Result<Vec<Splat>> {
    let mut reader = Reader::new(BufReader::new(file).take(MAX_HEADER_BYTES));
    let header = Parser::<Chunk>::new().read_header(&mut reader).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_end_matches('.');
        anyhow!("no PLY header in the first {MAX_HEADER_BYTES} bytes: {first}")
    })?;
    let header_bytes = MAX_HEADER_BYTES - reader.get_ref().limit();
    let (chunk_def, vertex_def) = check(&header)?;
    let needed = file_bytes(&header, header_bytes)?;
    ensure!(given >= needed, "the file has {given} bytes, needed are {needed} bytes for what its header announces");

    reader.get_mut().set_limit(u64::MAX);
    let (mut chunks, mut packed) = (Vec::new(), Vec::new());
    for element in header.elements.values() {
        match element.name.as_str() {
            "chunk" => chunks = Parser::<Chunk>::new().read_payload_for_element(&mut reader, chunk_def, &header)?,
            "vertex" => packed = Parser::<Packed>::new().read_payload_for_element(&mut reader, vertex_def, &header)?,
            _ => {
                let bytes = element_bytes(element)? * element.count as u64;
                io::copy(&mut reader.get_mut().by_ref().take(bytes), &mut io::sink())?;
            }
        }
    }
    packed.iter().enumerate().map(|(index, packed)| packed.decode(index, &chunks[index / CHUNK_SPLATS])).collect()
}

/// Finds the elements of a compressed scene, and checks that they are what [`Packed::decode`] expects.
fn check(header: &Header) -> Result<(&ElementDef, &ElementDef)> {
    let encoding = header.encoding;
    ensure!(
        encoding == Encoding::BinaryLittleEndian,
        "format is {encoding}, allowed is {}",
        Encoding::BinaryLittleEndian
    );
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

fn find<'a>(header: &'a Header, name: &str) -> Result<&'a ElementDef> {
    header.elements.get(name).with_context(|| {
        let names: Vec<&str> = header.elements.keys().map(String::as_str).collect();
        format!("element {name} is missing, which a compressed scene needs; there are [{}]", names.join(", "))
    })
}

fn check_properties(element: &ElementDef, names: &[&str], scalar: ScalarType) -> Result<()> {
    let needed = PropertyType::Scalar(scalar);
    for name in names {
        let Some(property) = element.properties.get(*name) else {
            bail!("element {} has no property {name}, which a compressed scene needs", element.name);
        };
        ensure!(
            property.data_type == needed,
            "property {name} of element {} is {:?}, needed is {needed:?}",
            element.name,
            property.data_type
        );
    }
    Ok(())
}

/// Size of the file that a header announces.
fn file_bytes(header: &Header, header_bytes: u64) -> Result<u64> {
    header.elements.values().try_fold(header_bytes, |sum, element| {
        let bytes = element_bytes(element)?.checked_mul(element.count as u64);
        bytes.and_then(|bytes| sum.checked_add(bytes)).with_context(|| {
            format!("element {} has {} entries, which is more than any file can hold", element.name, element.count)
        })
    })
}

/// Size of one entry of an element.
fn element_bytes(element: &ElementDef) -> Result<u64> {
    let sizes = element.properties.values().map(|property| match property.data_type {
        PropertyType::Scalar(ref scalar) => Ok(match scalar {
            ScalarType::Char | ScalarType::UChar => 1,
            ScalarType::Short | ScalarType::UShort => 2,
            ScalarType::Int | ScalarType::UInt | ScalarType::Float => 4,
            ScalarType::Double => 8,
        }),
        PropertyType::List(..) => {
            bail!("property {} of element {} is a list, allowed are scalars", property.name, element.name)
        }
    });
    sizes.sum()
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
        let named = [("position", splat.position), ("scale", splat.scale), ("color", splat.color)];
        for (name, value) in named {
            let chunk = index / CHUNK_SPLATS;
            ensure!(
                value.is_finite(),
                "{name} of splat {index}, in chunk {chunk}, is {value}, allowed are finite numbers"
            );
        }
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

/// Makes a knotted tube of splats, in random order.
pub fn synthetic(count: u32, seed: u64) -> Vec<Splat> {
    let mut rng = fastrand::Rng::with_seed(seed);
    // Wide enough to close the surface, however many there are.
    let width = 4.0 / (count.max(1) as f32).sqrt();
    let splat = |_| {
        let (along, around) = (rng.f32() * TAU, rng.f32() * TAU);
        let (center, next) = (trefoil(along), trefoil(along + 1e-3));
        let tangent = (next - center).normalize();
        let side = tangent.cross(Vec3::Y).normalize();
        let normal = side * around.cos() + side.cross(tangent) * around.sin();
        let stripe = (6.0 * around + 24.0 * along).sin() * 0.5 + 0.5;
        let hue = vec3(along.cos(), (along - TAU / 3.0).cos(), (along + TAU / 3.0).cos()) * 0.4 + 0.5;
        Splat {
            position: center + normal * (0.26 - 0.02 * rng.f32() * rng.f32()),
            rotation: Quat::from_mat3(&Mat3::from_cols(tangent, normal.cross(tangent), normal)),
            scale: vec3(width, width, 0.2 * width) * (0.5 + rng.f32()),
            color: hue.lerp(Vec3::ONE, 0.4 * stripe) * (0.75 - 0.25 * normal.y),
            opacity: 0.4 + 0.6 * rng.f32(),
        }
    };
    (0..count).progress().map(splat).collect()
}

/// The middle of the tube: a trefoil knot, with y down as in the scenes that are loaded.
fn trefoil(at: f32) -> Vec3 {
    let plane = vec3(at.sin() + 2.0 * (2.0 * at).sin(), 2.0 * (2.0 * at).cos() - at.cos(), -(3.0 * at).sin());
    plane * 0.4
}
