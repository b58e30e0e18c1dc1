//! The order of candidate rows that a model predicts beside the one that was measured.

use serde::{Deserialize, Serialize};

/// A candidate of which both are known: a line of order.csv.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ordered {
    /// The GPU of the model.
    pub gpu: String,
    pub request: String,
    pub n: u64,
    pub candidate: String,
    pub built_in: u8,
    /// Cycles of a core for 32 elements: see lab/GPU-COMPILERS.md.
    pub issue: f64,
    pub shared: f64,
    pub spill: f64,
    pub bytes: f64,
    pub latency: f64,
    pub bound: String,
    pub cycles: f64,
    /// Nanoseconds of a sort, median.
    pub measured_ns: f64,
}

/// Candidates of one request at one size.
pub struct Comparison<'a> {
    /// Spearman's; nothing where there is nothing to order.
    pub correlation: Option<f64>,
    /// Each candidate with its predicted and its measured place, from 1 on; those first that differ most.
    pub places: Vec<(&'a Ordered, usize, usize)>,
    /// How far each term of the model goes with what it gets wrong: above 0 where candidates that have much of it take longer
    /// than predicted, below 0 where they take less long. The largest first.
    pub terms: Vec<(&'static str, f64)>,
}

impl Ordered {
    fn terms(&self) -> [(&'static str, f64); 5] {
        let &Ordered { issue, shared, spill, bytes, latency, .. } = self;
        [("issue", issue), ("shared", shared), ("spill", spill), ("bytes", bytes), ("latency", latency)]
    }
}

/// Compares them.
pub fn compare(rows: &[Ordered]) -> Comparison<'_> {
    let [predicted, measured] = [|row: &Ordered| row.cycles, |row: &Ordered| row.measured_ns]
        .map(|of| rows.iter().map(of).collect::<Vec<f64>>());
    let place = |of: &[f64], at: usize| 1 + of.iter().enumerate().filter(|(i, x)| (**x, *i) < (of[at], at)).count();
    let mut places: Vec<_> =
        rows.iter().enumerate().map(|(at, row)| (row, place(&predicted, at), place(&measured, at))).collect();
    places.sort_by_key(|(_, predicted, measured)| std::cmp::Reverse(predicted.abs_diff(*measured)));
    // By how much longer than predicted each takes, beside the others.
    let wrong: Vec<f64> = measured.iter().zip(&predicted).map(|(measured, predicted)| measured / predicted).collect();
    let mut terms = Vec::new();
    for (index, (name, _)) in rows.first().map(Ordered::terms).into_iter().flatten().enumerate() {
        let share: Vec<f64> = rows.iter().map(|row| row.terms()[index].1 / row.cycles).collect();
        terms.extend(spearman(&share, &wrong).map(|found| (name, found)));
    }
    terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    Comparison { correlation: spearman(&predicted, &measured), places, terms }
}

/// Spearman's rank correlation; nothing where one of them is the same everywhere.
fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

/// Ranks from 1 on; equal numbers share the mean of theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let below = numbers.iter().filter(|y| *y < x).count();
        let equal = numbers.iter().filter(|y| *y == x).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    numbers.iter().map(rank).collect()
}
