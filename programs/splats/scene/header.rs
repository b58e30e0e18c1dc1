//! Headers of PLY files, and the checks of what they announce.

use std::collections::HashSet;
use std::io::{BufRead, Read};

use anyhow::{Context, Result, anyhow, bail, ensure};
use glam::Vec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{DefaultElement, ElementDef, Header, PropertyType, ScalarType};

use super::Scene;
use super::rows::Body;

/// A header is some kilobytes; a file without line breaks is not read to its end in search of one.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// Reads the header of a file of so many bytes, which have room for the entries that it announces.
///
/// The parser takes neither comments in other encodings than UTF-8, nor blank lines, nor lines that end with a carriage
/// return, and keeps the last of two things of one name. So the lines are tidied and checked before it sees them.
pub fn read<File: BufRead>(mut file: File, given: u64, scene: &mut Scene) -> Result<(Header, Body<File>)> {
    let start = file.fill_buf()?;
    let end = match start.iter().position(|byte| b"\r\n".contains(byte)) {
        Some(place) if start[place] == b'\r' && start.get(place + 1) != Some(&b'\n') => b'\r',
        _ => b'\n',
    };
    let (mut text, mut bytes, mut element, mut names) = (String::new(), 0, String::new(), HashSet::new());
    while !text.ends_with("\nend_header\n") {
        let mut line = Vec::new();
        (&mut file).take(MAX_HEADER_BYTES - bytes).read_until(end, &mut line)?;
        bytes += line.len() as u64;
        ensure!(line.last() == Some(&end), "no PLY header in the first {bytes} bytes: end_header is missing");
        let line = String::from_utf8_lossy(&line);
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let name = match words[..] {
            ["element", name, ..] => {
                element = name.to_string();
                format!("element {name}")
            }
            ["property", .., name] => format!("property {name} of element {element}"),
            _ => String::new(),
        };
        ensure!(name.is_empty() || names.insert(name.clone()), "{name:.100} is named twice, allowed is once");
        text += &if words.is_empty() { "comment".into() } else { words.join(" ") };
        text.push('\n');
    }
    let header = Parser::<DefaultElement>::new().read_header(&mut Reader::new(text.as_bytes())).map_err(|error| {
        let (reason, line) = (error.to_string(), error.line().and_then(|line| text.lines().nth(line - 1)));
        let reason = reason.lines().next().unwrap_or_default();
        anyhow!("the PLY header is malformed: {reason} {:.60}", line.unwrap_or_default())
    })?;
    for ElementDef { name, count, properties } in header.elements.values() {
        // Each property takes a byte at least, and nothing would end the reading of none.
        let needed = properties.len().saturating_mul(*count) as u64;
        ensure!(*count == 0 || needed > 0, "element {name:.60} has {count} entries without properties");
        ensure!(needed <= given, "element {name:.60} has {count} entries, which {given} bytes cannot hold");
    }
    read_comments(&header, scene);
    let encoding = header.encoding;
    Ok((header, Body { file, encoding, end }))
}

/// Takes from comments what trainers of splats write there: where up is, and whether the splats are antialiased.
fn read_comments(header: &Header, scene: &mut Scene) {
    for comment in &header.comments {
        let comment = comment.to_ascii_lowercase();
        match comment.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            // Who writes y has the axes of cameras in mind, of which it points down.
            ["vertical", "axis:", "y"] => scene.up = Some(Vec3::NEG_Y),
            ["vertical", "axis:", "x"] => scene.up = Some(Vec3::X),
            ["vertical", "axis:", "z"] => scene.up = Some(Vec3::Z),
            ["vertical", "axis:", x, y, z] => {
                scene.up = Vec3::from([x, y, z].map(|number| number.parse().unwrap_or(0.0))).try_normalize();
            }
            ["splatrendermode:", mode] => scene.antialiased = mode == "mip",
            ["antialiased", flag] => scene.antialiased = flag == "1",
            _ => {}
        }
    }
}

/// The element of a name.
pub fn find<'a>(header: &'a Header, name: &str) -> Result<&'a ElementDef> {
    header.elements.get(name).with_context(|| format!("element {name} is missing, which a scene needs"))
}

/// Checks that an element has properties of one of some types.
pub fn check_properties(element: &ElementDef, names: &[&str], allowed: &[ScalarType]) -> Result<()> {
    for name in names {
        let Some(property) = element.properties.get(*name) else {
            bail!("element {} has no property {name}, which a scene needs", element.name);
        };
        let is_allowed = allowed.iter().any(|scalar| property.data_type == PropertyType::Scalar(scalar.clone()));
        let is_half = property.data_type == PropertyType::Scalar(ScalarType::UShort);
        let hint = if is_half { "; half floats in integers are not read, export the scene with floats" } else { "" };
        let (element, given) = (&element.name, &property.data_type);
        ensure!(is_allowed, "property {name} of element {element} is {given:?}, allowed are {allowed:?}{hint}");
    }
    Ok(())
}
