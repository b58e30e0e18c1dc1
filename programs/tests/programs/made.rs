//! Scenes in every format, written for tests.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// How the rows of a .ply are written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Encoding {
    Text,
    Little,
    Big,
}

pub const ENCODINGS: [Encoding; 3] = [Encoding::Text, Encoding::Little, Encoding::Big];

/// The properties of a splat in a .ply as trained.
pub const TRAINED: [&str; 14] = [
    "x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2",
    "rot_3",
];

/// A splat of these properties, which differ with its number.
pub fn trained(index: usize) -> [f64; 14] {
    let at = index as f64 / 8.0;
    [at, -2.0 - at, 3.5, 0.0, 1.0, -1.0, 0.5, -1.0, -2.0, -3.0, 0.5, 0.5, -0.5, 0.25 + at]
}

/// An element of a .ply: its lines of the header, and its rows.
#[derive(Clone, Default)]
pub struct Element {
    pub name: &'static str,
    /// Type and name of each property.
    pub properties: Vec<(&'static str, String)>,
    pub rows: Vec<Vec<f64>>,
}

impl Element {
    /// The element of splats as trained, all of one type.
    pub fn trained(kind: &'static str, count: usize) -> Element {
        let properties = TRAINED.iter().map(|name| (kind, name.to_string())).collect();
        Element { name: "vertex", properties, rows: (0..count).map(|index| trained(index).to_vec()).collect() }
    }

    /// Replaces a property of a row.
    pub fn set(mut self, row: usize, name: &str, number: f64) -> Element {
        let place = self.properties.iter().position(|(_, other)| other == name).unwrap();
        self.rows[row][place] = number;
        self
    }

    /// Adds a property at the end, with the same numbers in all rows: those of a list after their count.
    pub fn with(mut self, kind: &'static str, name: &str, numbers: &[f64]) -> Element {
        self.properties.push((kind, name.into()));
        self.rows.iter_mut().for_each(|row| row.extend(numbers));
        self
    }

    /// Takes a property away.
    pub fn without(mut self, name: &str) -> Element {
        let place = self.properties.iter().position(|(_, other)| other == name).unwrap();
        self.properties.remove(place);
        for row in &mut self.rows {
            row.remove(place);
        }
        self
    }
}

/// A .ply of elements. `comments` are further lines of the header.
pub fn ply(encoding: Encoding, comments: &[&str], elements: &[Element]) -> Vec<u8> {
    let format = match encoding {
        Encoding::Text => "ascii",
        Encoding::Little => "binary_little_endian",
        Encoding::Big => "binary_big_endian",
    };
    let mut lines = vec!["ply".to_string(), format!("format {format} 1.0")];
    lines.extend(comments.iter().map(|comment| comment.to_string()));
    for element in elements {
        lines.push(format!("element {} {}", element.name, element.rows.len()));
        lines.extend(element.properties.iter().map(|(kind, name)| format!("property {kind} {name}")));
    }
    let mut bytes = format!("{}\nend_header\n", lines.join("\n")).into_bytes();
    for (element, row) in elements.iter().flat_map(|element| element.rows.iter().map(move |row| (element, row))) {
        if encoding == Encoding::Text {
            let words: Vec<String> = row.iter().map(f64::to_string).collect();
            bytes.extend(format!("{}\n", words.join(" ")).into_bytes());
            continue;
        }
        let mut numbers = row.iter();
        for (kind, _) in &element.properties {
            let kinds: Vec<&str> = kind.split(' ').collect();
            let count = match kinds[..] {
                ["list", of_count, _] => {
                    let count = *numbers.next().unwrap();
                    bytes.extend(number(of_count, count, encoding));
                    count as usize
                }
                _ => 1,
            };
            for value in numbers.by_ref().take(count) {
                bytes.extend(number(kinds[kinds.len() - 1], *value, encoding));
            }
        }
    }
    bytes
}

fn number(kind: &str, value: f64, encoding: Encoding) -> Vec<u8> {
    let mut bytes = match kind {
        "char" | "int8" => (value as i8).to_le_bytes().to_vec(),
        "uchar" | "uint8" => (value as u8).to_le_bytes().to_vec(),
        "short" | "int16" => (value as i16).to_le_bytes().to_vec(),
        "ushort" | "uint16" => (value as u16).to_le_bytes().to_vec(),
        "int" | "int32" => (value as i32).to_le_bytes().to_vec(),
        "uint" | "uint32" => (value as u32).to_le_bytes().to_vec(),
        "float" | "float32" => (value as f32).to_le_bytes().to_vec(),
        "double" | "float64" => value.to_le_bytes().to_vec(),
        _ => panic!("{kind} is no type"),
    };
    if encoding == Encoding::Big {
        bytes.reverse();
    }
    bytes
}

/// A compressed scene: the ranges of each chunk, and four words for each splat.
pub fn compressed(encoding: Encoding, chunks: &[[f64; 18]], words: &[[u32; 4]]) -> Vec<u8> {
    let ranges = ["min_", "max_", "min_scale_", "max_scale_"]
        .iter()
        .flat_map(|range| "xyz".chars().map(move |axis| format!("{range}{axis}")));
    let colors = ["min_", "max_"].iter().flat_map(|range| "rgb".chars().map(move |color| format!("{range}{color}")));
    let properties = ranges.chain(colors).map(|name| ("float", name)).collect();
    let chunk = Element { name: "chunk", properties, rows: chunks.iter().map(|chunk| chunk.to_vec()).collect() };
    let names = ["position", "rotation", "scale", "color"];
    let properties = names.iter().map(|name| ("uint", format!("packed_{name}"))).collect();
    let rows = words.iter().map(|words| words.map(f64::from).to_vec()).collect();
    ply(encoding, &[], &[chunk, Element { name: "vertex", properties, rows }])
}

/// What is within gzip in an .spz file of a version, of so many splats that differ: positions with 12 bits after the binary point.
pub fn spz_content(version: u32, count: u32, degree: u8, flags: u8) -> Vec<u8> {
    let header =
        [b"NGSP".to_vec(), version.to_le_bytes().to_vec(), count.to_le_bytes().to_vec(), vec![degree, 12, flags, 0]];
    let coordinates = (0..3 * count as i32).map(|index| (index % 300 - 100) * 512);
    let positions: Vec<u8> = match version {
        1 => coordinates.flat_map(|at| half::f16::from_f32(at as f32 / 4096.0).to_le_bytes()).collect(),
        _ => coordinates.flat_map(|at| at.to_le_bytes()[..3].to_vec()).collect(),
    };
    let bytes = |each: usize, first: usize| (0..each * count as usize).map(|index| (first + 7 * index) as u8).collect();
    let rotations = if version == 3 { bytes(4, 3) } else { bytes(3, 90) };
    let harmonics = bytes([0, 9, 24, 45, 72][usize::from(degree.min(4))], 5);
    [header.concat(), positions, bytes(1, 100), bytes(3, 120), bytes(3, 80), rotations, harmonics].concat()
}

/// An .spz file of version 4 with the splats of a content of version 3, and these records of extensions.
pub fn spz_streams(content: &[u8], flags: u8, extensions: &[u8]) -> Vec<u8> {
    let (header, mut rest) = content.split_at(16);
    let count = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
    let harmonics = [0, 9, 24, 45, 72][usize::from(header[12])];
    let streams = [9, 1, 3, 3, 4, harmonics].map(|bytes| rest.split_off(..bytes * count).unwrap());
    let streams: Vec<&[u8]> = streams.into_iter().filter(|stream| !stream.is_empty()).collect();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed: Vec<Vec<u8>> = streams.iter().map(|stream| ruzstd::encoding::compress_to_vec(*stream, level)).collect();
    let list = 32 + extensions.len() as u32;
    let mut file =
        [&b"NGSP\x04\0\0\0"[..], &header[8..14], &[flags, streams.len() as u8], &list.to_le_bytes(), &[0; 12]].concat();
    file.extend_from_slice(extensions);
    for (stream, packed) in streams.iter().zip(&packed) {
        file.extend([packed.len() as u64, stream.len() as u64].iter().flat_map(|length| length.to_le_bytes()));
    }
    [file, packed.concat()].concat()
}

/// A record that says that the axes of an .spz file are those of a number.
pub fn spz_axes(number: u32) -> Vec<u8> {
    [0xADBE_0003u32, 4, number].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The rotation of an .spz file of version 3, from a quaternion in its axes, w last.
pub fn spz_rotation(quaternion: [f32; 4]) -> u32 {
    let largest = (0..4).max_by(|a, b| quaternion[*a].abs().total_cmp(&quaternion[*b].abs())).unwrap();
    let sign = quaternion[largest].signum();
    (0..4).filter(|part| *part != largest).fold(largest as u32, |word, part| {
        let value = sign * quaternion[part];
        let size = (value.abs() * std::f32::consts::SQRT_2 * 511.0).round().min(511.0) as u32;
        word << 10 | u32::from(value < 0.0) << 9 | size
    })
}

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

/// What is within gzip, as far as it can be read.
pub fn unzip(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let _ = GzDecoder::new(bytes).take(1 << 20).read_to_end(&mut content);
    content
}
