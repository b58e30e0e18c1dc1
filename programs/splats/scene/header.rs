//! Headers of PLY files, and the checks of what they announce.

use std::io::{self, BufRead, Read};

use anyhow::{Context, Result, anyhow, bail, ensure};
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{DefaultElement, ElementDef, Encoding, Header, PropertyDef, PropertyType, ScalarType};

/// A header is some kilobytes; a file without line breaks is not read to its end in search of one.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// A file behind its header.
pub type Body<File> = Reader<File>;

/// Reads the header of a file of so many bytes. The file holds what the header announces.
pub fn read<File: BufRead>(file: File, given: u64) -> Result<(Header, Body<File>)> {
    let mut file = file.take(MAX_HEADER_BYTES);
    let mut text = Vec::new();
    let mut line = 0..0;
    while text[line].trim_ascii() != b"end_header" {
        let start = text.len();
        if file.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        line = start..text.len();
    }
    let header = Parser::<DefaultElement>::new().read_header(&mut Reader::new(&text[..])).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_end_matches('.');
        anyhow!("no PLY header in the first {MAX_HEADER_BYTES} bytes: {first}")
    })?;
    let encoding = header.encoding;
    ensure!(
        encoding == Encoding::BinaryLittleEndian,
        "format is {encoding}, allowed is {}",
        Encoding::BinaryLittleEndian
    );
    check_names(&String::from_utf8_lossy(&text))?;
    let needed = file_bytes(&header, text.len() as u64)?;
    ensure!(given >= needed, "the file has {given} bytes, needed are {needed} bytes for what its header announces");
    Ok((header, Reader::new(file.into_inner())))
}

/// Refuses names that are there twice, of which the parser would keep one.
fn check_names(header: &str) -> Result<()> {
    let (mut elements, mut properties) = (Vec::new(), Vec::new());
    for line in header.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["element", name, ..] => {
                ensure!(!elements.contains(&name), "element {name} is named twice, allowed is once");
                elements.push(name);
                properties.clear();
            }
            ["property", .., name] => {
                let element = elements.last().copied().unwrap_or_default();
                ensure!(
                    !properties.contains(&name),
                    "property {name} of element {element} is named twice, allowed is once"
                );
                properties.push(name);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Passes over the entries of an element.
pub fn skip(body: &mut Body<impl BufRead>, element: &ElementDef) -> Result<()> {
    let bytes = element_bytes(element)? * element.count as u64;
    io::copy(&mut body.get_mut().by_ref().take(bytes), &mut io::sink())?;
    Ok(())
}

/// The element of a name.
pub fn find<'a>(header: &'a Header, name: &str) -> Result<&'a ElementDef> {
    header.elements.get(name).with_context(|| {
        let names: Vec<&str> = header.elements.keys().map(String::as_str).collect();
        format!("element {name} is missing, which a scene needs; there are [{}]", names.join(", "))
    })
}

/// Checks that an element has properties of a type.
pub fn check_properties(element: &ElementDef, names: &[&str], scalar: ScalarType) -> Result<()> {
    let needed = PropertyType::Scalar(scalar);
    for name in names {
        let Some(property) = element.properties.get(*name) else {
            bail!("element {} has no property {name}, which a scene needs", element.name);
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

/// Size of a property, which is no list.
fn property_bytes(element: &ElementDef, property: &PropertyDef) -> Result<u64> {
    match property.data_type {
        PropertyType::Scalar(ref scalar) => Ok(match scalar {
            ScalarType::Char | ScalarType::UChar => 1,
            ScalarType::Short | ScalarType::UShort => 2,
            ScalarType::Int | ScalarType::UInt | ScalarType::Float => 4,
            ScalarType::Double => 8,
        }),
        PropertyType::List(..) => {
            bail!("property {} of element {} is a list, allowed are scalars", property.name, element.name)
        }
    }
}

/// Size of one entry of an element.
pub fn element_bytes(element: &ElementDef) -> Result<u64> {
    element.properties.values().map(|property| property_bytes(element, property)).sum()
}

/// Where a property begins within an entry of its element.
pub fn property_offset(element: &ElementDef, name: &str) -> Result<u64> {
    let before = element.properties.values().take_while(|property| property.name != name);
    before.map(|property| property_bytes(element, property)).sum()
}
