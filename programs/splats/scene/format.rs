//! What files that are no scenes begin with.

use std::path::Path;

use anyhow::{Result, bail, ensure};

/// Formats that people have and that are not read, with what to do.
const OTHERS: [(&[u8], &str); 4] = [
    (b"PK\x03\x04", "a ZIP archive, as .sog is; splat-transform or superspl.at/convert makes .ply of that"),
    (b"\x00\x01\x00\x00", ".ksplat; splat-transform or superspl.at/convert makes .ply of it"),
    (b"glTF", "glTF; export .ply from the program that made it"),
    (b"{", "JSON, as .gltf and unpacked .sog are; export .ply, or convert meta.json by splat-transform"),
];

/// Checks that a file of this name, which begins with these bytes, may be .splat. That has no mark.
pub fn check_splat(name: &Path, start: &[u8]) -> Result<()> {
    ensure!(!start.is_empty(), "the file is empty");
    let start = &start[..start.len().min(64)];
    let is_text = start.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    // A .splat may begin with any byte, but not with a text.
    let is_of = |mark: &[u8]| start.starts_with(mark) && (mark.len() > 1 || is_text);
    if let Some((_, what)) = OTHERS.iter().find(|(mark, _)| is_of(mark)) {
        bail!("this is {what}");
    }
    let is_splat = name.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("splat"));
    let start = start[..start.len().min(24)].escape_ascii();
    ensure!(is_splat && !is_text, "the file begins with {start}, allowed are .ply, .spz, and .splat by its name");
    Ok(())
}
