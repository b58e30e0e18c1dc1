//! Headers of PLY files, and the checks of what they announce.

use std::io::{BufRead, Read};

use anyhow::{Context, Result, anyhow, bail, ensure};
use glam::Vec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{DefaultElement, ElementDef, Header, PropertyType, ScalarType};

use super::gaussian::Scene;
use super::rows::Body;

/// A header is some kilobytes; a file without line breaks is not read to its end in search of one.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// Reads the header of a file.
///
/// The parser takes neither comments in other encodings than UTF-8, nor blank lines, nor lines that end with a carriage
/// return. So the lines are tidied before it sees them.
pub fn read<File: BufRead>(mut file: File, scene: &mut Scene) -> Result<(Header, Body<File>)> {
    let start = file.fill_buf()?;
    let end = if start.starts_with(b"ply\r") && !start.starts_with(b"ply\r\n") { b'\r' } else { b'\n' };
    let (mut text, mut bytes) = (String::new(), 0);
    while !text.ends_with("\nend_header\n") {
        let mut line = Vec::new();
        (&mut file).take(MAX_HEADER_BYTES - bytes).read_until(end, &mut line)?;
        bytes += line.len() as u64;
        ensure!(line.last() == Some(&end), "no PLY header in the first {bytes} bytes: end_header is missing");
        let line = String::from_utf8_lossy(&line);
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        text += &if words.is_empty() { "comment".into() } else { words.join(" ") };
        text.push('\n');
    }
    let header = Parser::<DefaultElement>::new().read_header(&mut Reader::new(text.as_bytes())).map_err(|error| {
        let (reason, line) = (error.to_string(), error.line().and_then(|line| text.lines().nth(line - 1)));
        let reason = reason.lines().next().unwrap_or_default();
        anyhow!("the PLY header is malformed: {reason} {:.60}", line.unwrap_or_default())
    })?;
    // Of two things of one name, the parser keeps the last.
    let named = |kind: &str| text.matches(&format!("\n{kind} ")).count();
    let properties: usize = header.elements.values().map(|element| element.properties.len()).sum();
    let is_clear = named("element") == header.elements.len() && named("property") == properties;
    ensure!(is_clear, "two elements of the PLY header, or two properties of an element, have the same name");
    for ElementDef { name, count, properties } in header.elements.values() {
        // Nothing would end the reading of these.
        let is_endless = *count > 0 && properties.is_empty();
        ensure!(!is_endless, "element {name:.60} has {count} entries without properties");
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
            // Files that say y mean the axes of a camera, where y points down.
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
    header.elements.get(name).with_context(|| format!("element {name} is missing, which a scene of splats needs"))
}

/// Checks that an element has properties of one of some types.
pub fn check_properties(element: &ElementDef, names: &[&str], allowed: &[ScalarType]) -> Result<()> {
    for name in names {
        let Some(property) = element.properties.get(*name) else {
            bail!("element {} has no property {name}, which a scene of splats needs", element.name);
        };
        let is_allowed = allowed.iter().any(|scalar| property.data_type == PropertyType::Scalar(scalar.clone()));
        let is_half = property.data_type == PropertyType::Scalar(ScalarType::UShort);
        let hint = if is_half { "; half floats in integers are not read, export the scene with floats" } else { "" };
        let (element, given) = (&element.name, &property.data_type);
        ensure!(is_allowed, "property {name} of element {element} is {given:?}, allowed are {allowed:?}{hint}");
    }
    Ok(())
}
