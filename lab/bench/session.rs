//! The directory that scripts/pack/measure.sh leaves, read back for its summary.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::row::{self, Row};
use crate::stats::is_same_device;
use vksort_lab::bench::lost::Lost;
use vksort_lab::bench::versus::Versus;

/// What was found in the directory. Runs that were skipped, or stopped before their first size was done, have no rows.
pub struct Session {
    /// The command that measured all of it, and the version it is of.
    pub command: String,
    pub build: String,
    pub device: Device,
    pub steps: Vec<Step>,
    /// Keys, pairs and argsort at many sizes.
    pub sizes: Vec<Row>,
    /// The same with the profile of the tuner.
    pub tuned: Vec<Row>,
    pub features: Vec<Row>,
    pub methods: Vec<Row>,
    pub patterns: Vec<Row>,
    /// With a finish and without.
    pub finish: Vec<Row>,
    /// Rows that the page shows otherwise, or not.
    pub others: Vec<Row>,
    pub cub: Vec<Row>,
    /// OneSweep with look-back words lost.
    pub lost: Vec<Lost>,
    /// Problems of segments, first elements and records, each beside others.
    pub versus: Vec<Versus>,
}

/// The device as the example `devices` prints it.
pub struct Device {
    pub name: String,
    pub driver: String,
    pub subgroup: String,
}

/// A row of steps.csv: one step of the script.
#[derive(Deserialize)]
pub struct Step {
    pub step: String,
    pub state: State,
    pub seconds: u64,
    /// Tests; 0 where the step runs none.
    pub passed: u32,
    pub failed: u32,
    /// Why it was skipped or failed, which tests failed, which sizes were left out.
    pub note: String,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Done,
    Failed,
    /// Its share of the time was over.
    Stopped,
    Skipped,
    /// By the user.
    Interrupted,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Done => "done",
            State::Failed => "failed",
            State::Stopped => "stopped",
            State::Skipped => "skipped",
            State::Interrupted => "interrupted",
        })
    }
}

impl Session {
    pub fn read(directory: &Path) -> Result<Session> {
        let text = |name: &str| fs::read_to_string(directory.join(name)).with_context(|| name.to_string());
        // Each run has a directory of its own, and rows of other suites only by `--peer-csv`.
        let rows = |run: &str, suite: &str| -> Result<Vec<Row>> {
            let path = directory.join(run).join("results.csv");
            if !path.exists() {
                return Ok(Vec::new());
            }
            let rows: Vec<Row> = row::read_results(&path).with_context(|| format!("{run}/results.csv"))?;
            Ok(rows.into_iter().filter(|row| row.suite == suite).collect())
        };
        let lost = table(directory, "lost/lost.csv")?;
        let mut versus = Vec::new();
        let mut others = Vec::new();
        for suite in ["segments", "top", "records", "few", "lost"] {
            versus.extend(table::<Versus>(directory, &format!("{suite}/versus.csv"))?);
            others.extend(rows(suite, suite)?);
        }
        let steps = text("steps.csv")?;
        let steps = csv::Reader::from_reader(steps.as_bytes()).deserialize().collect::<Result<_, _>>();
        Ok(Session {
            command: text("command.txt")?.trim().into(),
            build: text("BUILD")?.trim().replace('\n', "; "),
            device: Device::parse(&text("device.txt")?).context("device.txt")?,
            steps: steps.context("steps.csv")?,
            sizes: [rows("sizes", "sizes")?, rows("small", "sizes")?].concat(),
            tuned: rows("tuned", "sizes")?,
            features: rows("features", "features")?,
            methods: rows("methods", "methods")?,
            patterns: rows("patterns", "patterns")?,
            finish: rows("finish", "finish")?,
            others,
            cub: rows("cub", "cub")?,
            lost,
            versus,
        })
    }

    /// The date of the rows.
    pub fn date(&self) -> Option<&str> {
        let all = [&self.sizes, &self.tuned, &self.features, &self.patterns, &self.cub];
        all.into_iter().flatten().map(|row| row.date.as_str()).next()
    }

    /// The name of CUB's device where it is another one, so that no ratio means anything.
    pub fn foreign_cub(&self) -> Option<&str> {
        let other = self.cub.first()?.device.as_str();
        (!is_same_device(other, &self.device.name)).then_some(other)
    }

    /// The sizes at which anybody sorted a case.
    pub fn sizes_of(&self, case: &str) -> Vec<u64> {
        let cub = self.cub.iter().filter(|_| self.foreign_cub().is_none());
        let all = self.sizes.iter().chain(&self.tuned).chain(cub);
        let sizes: BTreeSet<u64> = all.filter(|row| row.case == case).map(|row| row.n).collect();
        sizes.into_iter().collect()
    }

    /// The share of the floor at the bandwidth of the largest copy of all, as runs of their own have their own.
    pub fn floor_share(&self, row: &Row) -> Option<f64> {
        let rate = |row: &Row| Some(row.floor_bytes as f64 * row.n as f64 / row.time()?.0.max(1.0));
        let copy = self.sizes.iter().filter(|row| row.is_copy()).max_by_key(|row| row.n)?;
        Some(rate(row)? / rate(copy)?)
    }

    /// CUB's row of a case, where it ran on the same device.
    pub fn cub(&self, case: &str, n: u64) -> Option<&Row> {
        find(&self.cub, case, n).filter(|_| self.foreign_cub().is_none())
    }
}

impl Device {
    fn parse(text: &str) -> Result<Device> {
        let line = |name: &str| {
            let value = text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
            value.map(String::from).with_context(|| format!("no line {name:?}"))
        };
        let first = text.lines().next().unwrap_or_default();
        let name =
            first.split_once(": ").with_context(|| format!("the first line is {first:?}, needed is a device"))?.1;
        Ok(Device { name: name.into(), driver: line("driver")?, subgroup: line("subgroup size")? })
    }
}

/// A table of a directory, if it is there.
fn table<T: DeserializeOwned>(directory: &Path, name: &str) -> Result<Vec<T>> {
    let path = directory.join(name);
    if path.exists() { row::read(&path).with_context(|| name.to_string()) } else { Ok(Vec::new()) }
}

/// The row of a case at a size.
pub fn find<'a>(rows: &'a [Row], case: &str, n: u64) -> Option<&'a Row> {
    rows.iter().find(|row| row.case == case && row.n == n)
}
