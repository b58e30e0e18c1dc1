//! .spz scenes of versions 1 to 4 (Niantic): a header, and then each property of all splats in turn. Up to version 3 all of it is within
//! gzip; in version 4 each property is within zstd, behind a header and a list of lengths.

use std::error::Error;
use std::io::{self, BufRead, Read};

use anyhow::{Context, Result, anyhow, bail, ensure};
use flate2::bufread::MultiGzDecoder;
use glam::{Vec3, vec3};
use half::f16;
use ruzstd::decoding::StreamingDecoder;

use super::axes::Axes;
use super::gaussian::{Scene, Splat, check_count, color, rotation, smallest_three};

/// What files of versions 1 to 3 begin with.
pub const GZIP: &[u8] = &[0x1F, 0x8B];
/// What files of version 4 begin with, and those before it within gzip.
pub const MARK: &[u8] = b"NGSP";

/// No packing makes more of a byte than this, but for what is made up of equal bytes.
const MOST_INFLATED: u64 = 1032;
/// The most bytes of extensions, which are records of a few.
const MOST_EXTENSIONS: u64 = 1 << 16;
/// Bytes of harmonics by their degree.
const HARMONICS: [u64; 5] = [0, 9, 24, 45, 72];
/// The most bits behind the point of a position, which has 24 in all.
const MOST_FRACTION: u8 = 23;

const ANTIALIASED: u8 = 1;
const EXTENDED: u8 = 2;

/// The number at a byte.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]))
}

/// What a header says.
struct Header {
    version: u32,
    count: usize,
    degree: u8,
    fraction: u8,
    flags: u8,
}

impl Header {
    /// Reads the words that all versions have, of a file of so many bytes, which may have at most so many splats.
    fn new(words: &[u8; 16], given: u64, most: u64) -> Result<Header> {
        let (version, count) = (word(words, 4), word(words, 8) as usize);
        let [degree, fraction, flags, _] = word(words, 12).to_le_bytes();
        ensure!((1..=4).contains(&version), "the version of .spz is {version}, allowed are 1 to 4");
        check_count(count as u64, most)?;
        let most_degree = HARMONICS.len() - 1;
        ensure!(
            usize::from(degree) <= most_degree,
            "the degree of harmonics is {degree}, allowed are 0 to {most_degree}"
        );
        ensure!(
            version == 1 || fraction <= MOST_FRACTION,
            "positions have {fraction} bits behind the point, allowed are at most {MOST_FRACTION} of their 24"
        );
        let header = Header { version, count, degree, fraction, flags };
        let needed = header.sizes().iter().sum::<u64>();
        let is_possible = needed <= MOST_INFLATED.saturating_mul(given);
        ensure!(is_possible, "the header announces {count} splats, which a file of {given} bytes cannot hold");
        Ok(header)
    }

    /// Bytes of a position and of a rotation.
    fn widths(&self) -> [usize; 2] {
        [if self.version == 1 { 6 } else { 9 }, if self.version >= 3 { 4 } else { 3 }]
    }

    /// Bytes of positions, opacities, colours, scales, rotations and harmonics.
    fn sizes(&self) -> [u64; 6] {
        let [position, rotation] = self.widths().map(|bytes| bytes as u64);
        [position, 1, 3, 3, rotation, HARMONICS[self.degree as usize]].map(|bytes| bytes * self.count as u64)
    }
}

/// Reads the splats of a file of so many bytes, which are at most so many.
pub fn read(mut file: impl BufRead, given: u64, most: u64, scene: &mut Scene) -> Result<()> {
    let is_plain = file.fill_buf()?.starts_with(MARK);
    if is_plain { read_streams(file, given, most, scene) } else { read_gzip(file, given, most, scene) }
}

/// Versions 1 to 3.
fn read_gzip(file: impl BufRead, given: u64, most: u64, scene: &mut Scene) -> Result<()> {
    let mut body = MultiGzDecoder::new(file);
    let mut words = [0; 16];
    let is_whole = body.read_exact(&mut words).is_ok();
    ensure!(is_whole && words.starts_with(MARK), "this is gzip, but not .spz; unpack it first");
    let header = Header::new(&words, given, most)?;
    ensure!(header.version < 4, "the version of .spz within gzip is {}, allowed are 1 to 3", header.version);
    let [properties @ .., harmonics] = header.sizes();
    let (count, needed) = (header.count, properties.iter().sum::<u64>());
    let mut bytes = Vec::new();
    body.by_ref().take(needed).read_to_end(&mut bytes).context("unpacking")?;
    ensure!(bytes.len() as u64 == needed, "unpacked are {} bytes, needed are {needed} for {count} splats", bytes.len());
    let found = io::copy(&mut body.by_ref().take(harmonics), &mut io::sink()).context("unpacking")?;
    ensure!(found == harmonics, "unpacked are {found} bytes of harmonics, needed are {harmonics} for {count} splats");
    // The check sum comes last, which shows damage.
    let mut rest = Vec::new();
    body.take(MOST_EXTENSIONS + 1).read_to_end(&mut rest).context("unpacking")?;
    let axes = axes(&header, &rest)?;
    let mut at = 0;
    let parts = properties.map(|size| {
        at += size as usize;
        &bytes[at - size as usize..at]
    });
    decode(&header, parts, axes, scene);
    Ok(())
}

/// Version 4.
fn read_streams(mut file: impl BufRead, given: u64, most: u64, scene: &mut Scene) -> Result<()> {
    let mut words = [0; 32];
    file.read_exact(&mut words).context("the header is cut off")?;
    let header = Header::new(words.first_chunk().expect("there are 32"), given, most)?;
    ensure!(header.version == 4, "the version of .spz without gzip is {}, allowed is 4", header.version);
    let (streams, list) = (words[15], word(&words, 16));
    let between = u64::from(list).checked_sub(words.len() as u64).filter(|bytes| *bytes <= MOST_EXTENSIONS);
    let between = between.with_context(|| {
        format!("the list of streams begins at byte {list}, allowed are 32 to {}", 32 + MOST_EXTENSIONS)
    })?;
    let mut extensions = Vec::new();
    file.by_ref().take(between).read_to_end(&mut extensions)?;
    ensure!(extensions.len() as u64 == between, "the file ends before its list of streams");
    let axes = axes(&header, &extensions)?;
    let sizes = header.sizes();
    let wanted = sizes.iter().filter(|size| **size > 0).count();
    ensure!(usize::from(streams) == wanted, "there are {streams} streams, needed are {wanted}");
    let mut lengths = vec![[[0; 8]; 2]; wanted];
    file.read_exact(lengths.as_flattened_mut().as_flattened_mut()).context("the file ends in its list of streams")?;
    let mut lengths = lengths.into_iter();
    let mut parts = [const { Vec::new() }; 6];
    for (index, (part, size)) in parts.iter_mut().zip(sizes).enumerate().filter(|(_, (_, size))| *size > 0) {
        let [packed, unpacked] = lengths.next().expect("there is one for each").map(u64::from_le_bytes);
        ensure!(unpacked == size, "stream {index} is announced with {unpacked} bytes, needed are {size}");
        let mut packed = file.by_ref().take(packed);
        // The causes say each other's texts again.
        let damaged = |error: &dyn Error| anyhow!("stream {index} is damaged: {error}");
        {
            let mut stream = StreamingDecoder::new(&mut packed).map_err(|error| damaged(&error))?;
            // Harmonics are not read, but have to be there.
            let found = match index {
                5 => io::copy(&mut stream.by_ref().take(size + 1), &mut io::sink()),
                _ => stream.by_ref().take(size + 1).read_to_end(part).map(|bytes| bytes as u64),
            };
            let found = found.map_err(|error| damaged(&error))?;
            ensure!(found == size, "stream {index} has {found} bytes or more, needed are {size}");
        }
        let rest = io::copy(&mut packed, &mut io::sink())?;
        ensure!(rest == 0, "stream {index} ends {rest} bytes before its length");
    }
    let ends = file.fill_buf()?.is_empty();
    ensure!(ends, "the file goes on after its streams");
    let [positions, alphas, colors, scales, rotations, _] = &parts;
    decode(&header, [positions, alphas, colors, scales, rotations], axes, scene);
    Ok(())
}

/// The record with a coordinate system (Adobe).
const COORDINATE_SYSTEM: u32 = 0xADBE_0003;

/// The axes of a file, which records may say; without them it has none.
fn axes(header: &Header, mut records: &[u8]) -> Result<Axes> {
    let mut axes = Axes::RUB;
    if header.flags & EXTENDED == 0 {
        ensure!(records.is_empty(), "the file goes on after its {} splats", header.count);
    }
    while !records.is_empty() {
        let [kind, length] =
            records.split_off(..8).map(|head| [word(head, 0), word(head, 4)]).context("an extension is cut off")?;
        let value = records.split_off(..length as usize).context("an extension is cut off")?;
        if kind == COORDINATE_SYSTEM {
            let Ok(number) = <[u8; 4]>::try_from(value).map(u32::from_le_bytes) else {
                bail!("the coordinate system has {length} bytes, allowed are 4");
            };
            axes = Axes::numbered(number).with_context(|| {
                format!("the coordinate system has the number {number}, allowed are 0 to {}", Axes::MOST)
            })?;
        }
    }
    Ok(axes)
}

fn decode(header: &Header, [positions, alphas, colors, scales, rotations]: [&[u8]; 5], axes: Axes, scene: &mut Scene) {
    let [of_position, _] = header.widths();
    let three = |of: &[u8], index: usize| Vec3::from([0, 1, 2].map(|part| of[3 * index + part].into()));
    scene.splats.reserve_exact(header.count);
    for index in 0..header.count {
        let position = &positions[index * of_position..];
        let [x, y, z] = [0, 1, 2].map(|part| match header.version {
            1 => f16::from_le_bytes([position[2 * part], position[2 * part + 1]]).to_f32(),
            _ => {
                let [low, middle, high] = [0, 1, 2].map(|byte| position[3 * part + byte]);
                (i32::from_le_bytes([0, low, middle, high]) >> 8) as f32 / 2f32.powi(header.fraction.into())
            }
        });
        let [i, j, k, w] = match header.version {
            1 | 2 => first_three(three(rotations, index)),
            _ => smallest_three(word(rotations, 4 * index), signed),
        };
        scene.add(rotation(i, j, k, w).map(|rotation| Splat {
            position: axes.position(vec3(x, y, z)),
            rotation: axes.rotation(rotation),
            scale: (three(scales, index) / 16.0 - 10.0).exp(),
            color: color((three(colors, index) / 255.0 - 0.5) / 0.15),
            opacity: f32::from(alphas[index]) / 255.0,
        }));
    }
    scene.antialiased = header.flags & ANTIALIASED != 0;
    scene.has_harmonics = header.degree > 0;
}

/// A component of at most half the square root of 2, as a sign and nine bits.
fn signed(bits: u32) -> f32 {
    let size = (bits & 511) as f32 / 511.0 * std::f32::consts::FRAC_1_SQRT_2;
    if bits > 511 { -size } else { size }
}

/// A unit quaternion, w last, of which w is left out and is not negative.
fn first_three(bytes: Vec3) -> [f32; 4] {
    let vector = bytes / 127.5 - 1.0;
    let [x, y, z] = vector.to_array();
    [x, y, z, (1.0 - vector.length_squared()).max(0.0).sqrt()]
}
