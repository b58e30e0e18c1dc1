//! What the ways to solve a problem take, each beside the others.

use serde::{Deserialize, Serialize};

/// How long one way takes, as a share of another one on the same problem. The quartiles are of the shares of single rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Versus {
    pub suite: String,
    /// The problem, with the way if the problem has several.
    pub case: String,
    pub n: u64,
    /// Segments, or rows; 1 for the whole array.
    pub segments: u32,
    /// The other way.
    pub against: String,
    /// What measured both times: the device, the CPU time of the process, or the wall.
    pub clock: Clock,
    pub ns: f64,
    pub against_ns: f64,
    pub over_q25: f64,
    pub over_median: f64,
    pub over_q75: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    Device,
    Cpu,
    Wall,
}

/// The way that every problem is compared with: the bytes of its elements are copied.
pub const COPY: &str = "copy";

impl Versus {
    /// Whether both are about the same way to solve a problem.
    pub fn is_of(&self, other: &Versus) -> bool {
        (&self.suite, &self.case, self.n) == (&other.suite, &other.case, other.n)
    }

    pub fn is_copy(&self) -> bool {
        self.against == COPY
    }
}

/// Rows by their suites, in the order of the first of each.
pub fn by_suite(rows: &[Versus]) -> Vec<(&str, Vec<&Versus>)> {
    let mut suites: Vec<(&str, Vec<&Versus>)> = Vec::new();
    for row in rows {
        match suites.iter_mut().find(|(suite, _)| *suite == row.suite) {
            Some((_, of_suite)) => of_suite.push(row),
            None => suites.push((&row.suite, vec![row])),
        }
    }
    suites
}
