//! OneSweep with a share of its look-back words lost, beside reduce-then-scan, which has none to lose: the share at which both
//! take as long decides which one insures against lost words at the lower price.

use serde::{Deserialize, Serialize};

/// One share at one size: a line of lost.csv.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lost {
    pub request: String,
    pub n: u64,
    pub tiles: u32,
    /// Tiles that publish nothing, so that others recount them.
    pub lost: u32,
    /// Nanoseconds of a sort, medians.
    pub onesweep_ns: f64,
    pub reduce_then_scan_ns: f64,
    /// OneSweep's time over that of reduce-then-scan, round by round.
    pub over_q25: f64,
    pub over_median: f64,
    pub over_q75: f64,
}

impl Lost {
    pub fn share(&self) -> f64 {
        f64::from(self.lost) / f64::from(self.tiles.max(1))
    }
}

/// Where the time of OneSweep reaches that of reduce-then-scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BreakEven {
    /// Also without a lost word it is not less.
    Always,
    /// At this share of lost words.
    At(f64),
    /// Not up to this share, the largest.
    Above(f64),
}

/// The break-even of points with a share and a ratio of times each, on straight lines between them.
pub fn break_even(points: impl Iterator<Item = (f64, f64)>) -> Option<BreakEven> {
    let mut points: Vec<(f64, f64)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let &(last, _) = points.last()?;
    let Some(at) = points.iter().position(|(_, ratio)| *ratio >= 1.0) else { return Some(BreakEven::Above(last)) };
    let Some(before) = at.checked_sub(1) else { return Some(BreakEven::Always) };
    let ((low, below), (high, above)) = (points[before], points[at]);
    Some(BreakEven::At(low + (high - low) * (1.0 - below) / (above - below)))
}

impl BreakEven {
    fn text(self) -> String {
        let percent = |share: f64| format!("{:.*} %", if share < 0.1 { 1 } else { 0 }, 100.0 * share);
        match self {
            BreakEven::Always => "0 %".into(),
            BreakEven::At(share) => percent(share),
            BreakEven::Above(share) => format!("none up to {}", percent(share)),
        }
    }
}

/// Lines of one request and size each, with the share at which OneSweep breaks even, as a sentence.
pub fn by_size(rows: &[Lost]) -> Vec<(Vec<&Lost>, String)> {
    let mut all: Vec<&Lost> = rows.iter().collect();
    let key = |row: &Lost| (row.request.clone(), row.n);
    all.sort_by(|a, b| key(a).cmp(&key(b)).then(a.lost.cmp(&b.lost)));
    let sentence = |rows: &[&Lost]| {
        let of = |ratio: fn(&Lost) -> f64| break_even(rows.iter().map(|row| (row.share(), ratio(row))));
        let [median, low, high] = [of(|row| row.over_median), of(|row| row.over_q75), of(|row| row.over_q25)]
            .map(|found| found.map_or_else(String::new, BreakEven::text));
        format!("break-even with words lost: {median} ({low} .. {high} by quartiles)")
    };
    all.chunk_by(|a, b| key(a) == key(b)).map(|rows| (rows.to_vec(), sentence(rows))).collect()
}
