//! Measurements of the record that are older than the format of reports. No report is made up of them: the page has a row with what
//! their tables say.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A device of the record.
pub struct Recorded {
    pub about: About,
    /// Its folders of the record.
    pub folders: &'static [&'static str],
    /// Nanoseconds of keys and of pairs, at each of the page's sizes.
    pub ns: Vec<Option<f64>>,
}

/// What a results.csv says of all its rows.
#[derive(Deserialize)]
pub struct About {
    pub device: String,
    pub driver: String,
    pub date: String,
    pub tuning: String,
    pub vksort_version: String,
}

/// Tables of sorts by the library's own kernels: elements as they name them, with log2 of their count.
const H100: [(&str, &str, u32); 4] = [
    ("h100-queue/small.csv", "u32", 20),
    ("h100-queue/keys.csv", "u32", 24),
    ("h100-shapes/smallpairs.csv", "u32+u32", 20),
    ("h100-queue/pairs.csv", "u32+u32", 24),
];

/// The rows of all devices of the record.
pub fn rows(record: &Path) -> Result<Vec<Recorded>> {
    let path = record.join("h100-queue/bench-features.csv");
    let read =
        || Ok::<_, anyhow::Error>(csv::Reader::from_path(&path)?.deserialize().next().context("it has no row")??);
    let about = read().with_context(|| path.display().to_string())?;
    let ns = |(table, elements, log2): (&str, &str, u32)| {
        let path = record.join(table);
        median(&path, elements, log2).with_context(|| path.display().to_string())
    };
    let ns = H100.into_iter().map(ns).collect::<Result<_>>()?;
    Ok(vec![Recorded { about, folders: &["h100-queue", "h100-shapes"], ns }])
}

/// The median of a table whose rows are kind, elements, log2 of the count, case, and microseconds.
fn median(path: &Path, elements: &str, log2: u32) -> Result<Option<f64>> {
    let log2 = log2.to_string();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).comment(Some(b'#')).flexible(true).from_path(path)?;
    for row in reader.records() {
        let row = row?;
        let fields: Vec<&str> = row.iter().take(5).collect();
        if let ["sorts", given, size, "main", median] = fields[..]
            && (given, size) == (elements, log2.as_str())
        {
            let microseconds: f64 = median.parse().with_context(|| format!("the median is {median:?}"))?;
            return Ok(Some(1e3 * microseconds));
        }
    }
    Ok(None)
}
