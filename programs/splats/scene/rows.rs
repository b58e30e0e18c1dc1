//! Rows of PLY files: the entries of an element, as text or in either order of bytes.

use std::io::{BufRead, ErrorKind, Read};

use anyhow::{Context, Result, anyhow, ensure};
use ply_rs_bw::parser::{ParseError, Parser};
use ply_rs_bw::ply::{ElementDef, Encoding, Property, PropertyAccess, PropertyAccessResult, PropertyType};

/// An entry has no more text than this.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// A file after its header.
pub struct Body<File> {
    pub file: File,
    pub encoding: Encoding,
    /// What a line ends with.
    pub end: u8,
}

impl<File: BufRead> Body<File> {
    /// Reads the entries of the next element, and hands over the named numbers of each; 0 for those that it does not have.
    pub fn rows<const N: usize>(
        &mut self,
        element: &ElementDef,
        names: [&str; N],
        mut take: impl FnMut([f64; N]),
    ) -> Result<()> {
        let (parser, places) = (Parser::new(), names.map(|name| element.properties.get_index_of(name)));
        let reason = |error: ParseError| match error.kind() {
            ErrorKind::UnexpectedEof => anyhow!("the file ends"),
            _ => error.into(),
        };
        for index in 0..element.count {
            let row = match self.encoding {
                Encoding::BinaryLittleEndian => {
                    parser.read_little_endian_element(&mut self.file, element).map_err(reason)
                }
                Encoding::BinaryBigEndian => parser.read_big_endian_element(&mut self.file, element).map_err(reason),
                Encoding::Ascii => self.text_row(element),
            };
            let place = || format!("entry {index} of element {:.60}", element.name);
            let Row(numbers) = row.with_context(place)?;
            take(places.map(|place| place.map_or(0.0, |place| numbers[place])));
        }
        Ok(())
    }

    /// Reads an entry from the next line that is not blank. The parser's own text has no NaN and no infinity.
    fn text_row(&mut self, element: &ElementDef) -> Result<Row> {
        let mut line = Vec::new();
        while line.trim_ascii().is_empty() {
            line.clear();
            let bytes = (&mut self.file).take(MAX_LINE_BYTES).read_until(self.end, &mut line)?;
            ensure!(bytes > 0, "the file ends");
        }
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split_ascii_whitespace();
        let mut number = || {
            let word = words.next().context("the line has fewer numbers than the element")?;
            number_of(word).with_context(|| format!("{word:.60} is not a number"))
        };
        let mut row = Row::new();
        for property in element.properties.values() {
            row.0.push(number()?);
            if let (PropertyType::List(..), Some(length)) = (&property.data_type, row.0.last()) {
                (0..*length as u64).try_for_each(|_| number().map(drop))?;
            }
        }
        ensure!(words.next().is_none(), "the line has more numbers than the element");
        Ok(row)
    }
}

/// A number as the C libraries of any system print it: `-nan(ind)`, `1.#QNAN` and `-1.#INF` are those of Windows.
fn number_of(word: &str) -> Option<f64> {
    word.parse().ok().or_else(|| {
        let small = word.to_ascii_lowercase();
        let unsigned = small.trim_start_matches(['+', '-']);
        let marked = unsigned.strip_prefix("1.#");
        match marked {
            Some(mark) if mark.starts_with("inf") => {
                Some(if small.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY })
            }
            Some(mark) => ["qnan", "snan", "nan", "ind"].iter().any(|name| mark.starts_with(name)).then_some(f64::NAN),
            None => (unsigned.starts_with("nan(") && unsigned.ends_with(')')).then_some(f64::NAN),
        }
    })
}

/// The numbers of one entry, a number for each property.
struct Row(Vec<f64>);

impl PropertyAccess for Row {
    fn new() -> Self {
        Row(Vec::with_capacity(64))
    }

    fn set_property(&mut self, _: &str, property: Property) -> PropertyAccessResult {
        self.0.push(match property {
            Property::Float(number) => number.into(),
            Property::Double(number) => number,
            Property::UInt(number) => number.into(),
            Property::UShort(number) => number.into(),
            Property::UChar(number) => number.into(),
            // No reader asks for others.
            _ => 0.0,
        });
        PropertyAccessResult::Set
    }
}
