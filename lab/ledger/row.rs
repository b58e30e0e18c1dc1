//! The record of a run: a line of a CSV file.

use std::fs::OpenOptions;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

/// A run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub date: String,
    /// The version of vksort, and the digest of its kernels.
    pub vksort: String,
    pub kernels: String,
    pub device: String,
    pub driver: String,
    /// The subgroup size of the device.
    pub subgroup: u32,
    pub seed: u64,
    /// Requests that were compiled, and those that the device does not support.
    pub requests: u64,
    pub unsupported: u64,
    /// Data sets by kind.
    pub arrays: u64,
    pub segments: u64,
    pub first_elements: u64,
    pub records: u64,
    /// Elements of all data sets.
    pub elements: u64,
    /// Data sets whose result was wrong, and requests that ended with an error.
    pub wrong: u64,
    /// The first of them, as request and data set.
    pub first_wrong: String,
    pub cpu_seconds: f64,
    pub seconds: f64,
    pub sorts_per_second: f64,
}

impl Row {
    pub fn sorts(&self) -> u64 {
        self.arrays + self.segments + self.first_elements + self.records
    }
}

/// Checks that a line can be written to a file, before the work.
pub fn check(path: &Path) -> Result<()> {
    open(path).map(drop)
}

/// Writes a line behind those of a file, with names above the first.
pub fn append(path: &Path, row: &Row) -> Result<()> {
    let file = open(path)?;
    let is_new = file.metadata().is_ok_and(|file| file.len() == 0);
    let mut writer = csv::WriterBuilder::new().has_headers(is_new).from_writer(file);
    let written = writer.serialize(row).map_err(anyhow::Error::from).and_then(|()| Ok(writer.flush()?));
    written.with_context(|| format!("--out: writing {}", path.display()))
}

fn open(path: &Path) -> Result<std::fs::File> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.with_context(|| format!("--out is {}, allowed is a file to write to", path.display()))
}
