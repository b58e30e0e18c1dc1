//! Reports as text: JSON with a line for each element of a list, so that a faulty one is found by its line.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;

use super::{DeviceReport, FORMAT};

/// The longest file that is read.
const MAX_BYTES: u64 = 4 << 20;

/// Begins the field of the digest. Within a string, the first quotation mark would have a backslash before it.
const DIGEST: &str = "\"digest\":";

impl DeviceReport {
    /// The report as text, with its digest.
    pub fn to_json(&self) -> String {
        let without = DeviceReport { digest: String::new(), ..self.clone() };
        let digest = digest(&lines(&without)).expect("the text has the field");
        lines(&DeviceReport { digest, ..without })
    }

    /// Reads a report; an error names the file, the line and the field.
    pub fn load(path: &Path) -> Result<DeviceReport> {
        let mut bytes = Vec::new();
        let file = fs::File::open(path).with_context(|| path.display().to_string())?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).with_context(|| path.display().to_string())?;
        let read = || {
            ensure!(bytes.len() as u64 <= MAX_BYTES, "more than {MAX_BYTES} bytes, allowed are at most {MAX_BYTES}");
            let text = str::from_utf8(&bytes).map_err(|error| {
                let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
                anyhow!("line {line}: not a report, which is JSON: {error}")
            })?;
            DeviceReport::from_json(text)
        };
        read().with_context(|| path.display().to_string())
    }

    /// A report from its text.
    pub fn from_json(text: &str) -> Result<DeviceReport> {
        // Another version may have other fields, so the version comes first.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let Version { format } = parse(text)?;
        let line = line_of(text, text.find("\"format\":").unwrap_or_default());
        ensure!(
            format == FORMAT,
            "line {line}: format is {format}, allowed is {FORMAT}, that of this version of vksort"
        );
        let report: DeviceReport = parse(text)?;
        let line = line_of(text, text.rfind(DIGEST).unwrap_or_default());
        let (given, needed) = (&report.digest, digest(text).unwrap_or_default());
        ensure!(
            *given == needed,
            "line {line}: digest is {given:?}, but what is before it gives {needed:?}: the report was changed"
        );
        Ok(report)
    }
}

/// The digest of a report's text. Blanks and the ends of lines do not count, which mail and web forms change.
fn digest(text: &str) -> Option<String> {
    let before = &text[..text.rfind(DIGEST)?];
    let bytes: Vec<u8> = before.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    Some(format!("crc32 {:08x}", crc32fast::hash(&bytes)))
}

/// The line of a byte, from 1 on.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text[..byte].matches('\n').count()
}

/// Parses JSON; an error names the line and the field.
fn parse<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let refuse = |field: &str, error: &serde_json::Error| {
        let (message, line) = (error.to_string(), error.line());
        let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
        let cut = if error.is_eof() { "cut off, " } else { "" };
        // The names of fields are the file's.
        let field = match field {
            "." | "?" => "the report".into(),
            field => field.escape_debug().to_string(),
        };
        anyhow!("line {line}: {field}: {cut}{}", reason.escape_debug().to_string().replace("\\\"", "\""))
    };
    let parsed = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| refuse(&error.path().to_string(), error.inner()))?;
    deserializer.end().map_err(|error| refuse(".", &error))?;
    Ok(parsed)
}

/// A report as JSON. The fields of its parts have a line each, and so have the elements of lists.
fn lines(report: &DeviceReport) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Lines::default());
    report.serialize(&mut serializer).expect("every field has a form in JSON");
    String::from_utf8(bytes).expect("JSON is UTF-8") + "\n"
}

/// What is open at a place of the text: whether each is a list.
#[derive(Default)]
struct Lines {
    open: Vec<bool>,
    is_empty: bool,
}

impl Lines {
    fn has_lines(&self) -> bool {
        match self.open.len() {
            0..=2 => true,
            3 => self.open[2],
            _ => false,
        }
    }

    fn begin<W: Write + ?Sized>(&mut self, writer: &mut W, is_list: bool) -> io::Result<()> {
        self.open.push(is_list);
        self.is_empty = true;
        writer.write_all(if is_list { b"[" } else { b"{" })
    }

    fn next<W: Write + ?Sized>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.is_empty = false;
        if !is_first {
            writer.write_all(b",")?;
        }
        match (self.has_lines(), is_first) {
            (true, _) => write!(writer, "\n{:1$}", "", 2 * self.open.len()),
            (false, true) => Ok(()),
            (false, false) => writer.write_all(b" "),
        }
    }

    fn end<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let had_lines = self.has_lines() && !self.is_empty;
        self.open.pop();
        self.is_empty = false;
        if had_lines {
            write!(writer, "\n{:1$}", "", 2 * self.open.len())?;
        }
        writer.write_all(bracket)
    }
}

impl Formatter for Lines {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, true)
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, false)
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
