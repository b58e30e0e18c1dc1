//! Ratios, taken round by round.

use vksort::ValueType;
use vksort_profiles::Quartiles;

use anyhow::Result;
use vksort_lab::bench::lost::Lost;

use crate::case::{COPY, How, Suite, Tweak, lost_sides};
use crate::data::Data;
use crate::measure::{Bench, Measured};

/// How many times as fast one case is as another, in elements per second.
pub struct Ratio {
    pub what: &'static str,
    pub n: u32,
    pub over: Quartiles,
}

/// Name of the ratio, the case above and the case below.
const RATIOS: [(&str, &str, &str); 19] = [
    ("u8 over u32", "u8 keys", "u32 keys"),
    ("u16 over u32", "u16 keys", "u32 keys"),
    ("u64 over u32", "u64 keys", "u32 keys"),
    ("u64 over u32, out of place", "u64 keys out of place", "u32 keys out of place"),
    ("argsort, keys discarded, over pairs", "u32 argsort", "u32 pairs"),
    ("argsort over pairs, out of place", "u32 argsort out of place", "u32 pairs out of place"),
    ("argsort: joined with the last digit over not", "u32 argsort", "u32 argsort apart"),
    ("splat keys over uniform", "splat keys", "f32 keys"),
    ("splat keys out of place over uniform", "splat keys out of place", "f32 keys out of place"),
    ("splat pairs out of place over uniform", "splat pairs out of place", "f32 pairs out of place"),
    ("splat argsort over uniform", "splat argsort", "f32 argsort"),
    ("first pass out of order over in order", "u32 keys out of order", "u32 keys in order"),
    ("9 bits: digits of 9 over 8", "9 bits by digits of 9", "9 bits by digits of 8"),
    ("17 bits: digits of 9 over 8", "17 bits by digits of 9", "17 bits by digits of 8"),
    ("keys: in place over out of place", "u32 keys", "u32 keys out of place"),
    ("pairs: in place over out of place", "u32 pairs", "u32 pairs out of place"),
    ("24 bits over 32", "u32 keys 24 bits", "u32 keys"),
    ("keys over pairs", "u32 keys", "u32 pairs"),
    ("f32 over u32, uniform keys", "f32 keys", "u32 keys"),
];

/// The ratios of the features suite, each taken round by round.
pub fn ratios(all: &[Measured]) -> Vec<Ratio> {
    let find = |name: &str| all.iter().find(|m| m.case.suite == Suite::Features && m.case.name == name);
    let ratio = |(what, above, below): (&'static str, &str, &str)| {
        let (above, below) = (find(above)?, find(below)?);
        let times = above.times().iter().zip(below.times());
        let rounds: Vec<f64> = times.map(|(above, below)| below / above.max(1.0)).collect();
        Some(Ratio { what, n: above.n, over: Quartiles::of(&rounds) })
    };
    RATIOS.into_iter().filter_map(ratio).collect()
}

/// How many times as long one pattern takes as uniform keys.
pub struct Pattern {
    pub name: String,
    pub n: u32,
    pub over: Quartiles,
}

/// The patterns suite beside its uniform keys, each taken round by round; the slowest first.
pub fn patterns(all: &[Measured]) -> Vec<Pattern> {
    let of_suite = |m: &&Measured| m.case.suite == Suite::Patterns && m.case.name != COPY;
    let uniform = |n: u32| all.iter().filter(of_suite).find(|m| m.n == n && m.case.data == Data::Uniform);
    let pattern = |m: &Measured| {
        let times = m.times().iter().zip(uniform(m.n)?.times());
        let rounds: Vec<f64> = times.map(|(time, uniform)| time / uniform.max(1.0)).collect();
        Some(Pattern { name: m.case.name.clone(), n: m.n, over: Quartiles::of(&rounds) })
    };
    let others = all.iter().filter(of_suite).filter(|m| m.case.data != Data::Uniform);
    let mut patterns: Vec<Pattern> = others.filter_map(pattern).collect();
    patterns.sort_by(|a, b| b.over.median.total_cmp(&a.over.median));
    patterns
}

/// The suite of lost words: each share beside reduce-then-scan, round by round.
pub fn lost(bench: &Bench<'_>, all: &[Measured]) -> Result<Vec<Lost>> {
    let of_suite = || all.iter().filter(|m| m.case.suite == Suite::Lost);
    let mut rows = Vec::new();
    for (name, onesweep, reduce_then_scan) in [ValueType::None, ValueType::U32].map(lost_sides) {
        for m in of_suite().filter(|m| m.case.name.starts_with(&onesweep)) {
            let How::Device { request, tweak } = m.case.how else { continue };
            let Some(other) = of_suite().find(|o| o.n == m.n && o.case.name == reduce_then_scan) else { continue };
            let (tiles, _) = bench.tiles(&request, m.n)?;
            // Tiles are counted from 0, which is a multiple of every number.
            let lost = if let Tweak::Silent(every) = tweak { tiles.div_ceil(every) } else { 0 };
            let rounds: Vec<f64> = m.times().iter().zip(other.times()).map(|(a, b)| a / b.max(1.0)).collect();
            let Quartiles { q25, median, q75 } = Quartiles::of(&rounds);
            rows.push(Lost {
                request: name.into(),
                n: m.n.into(),
                tiles,
                lost,
                onesweep_ns: Quartiles::of(m.times()).median,
                reduce_then_scan_ns: Quartiles::of(other.times()).median,
                over_q25: q25,
                over_median: median,
                over_q75: q75,
            });
        }
    }
    // With few tiles, two of the shares may be the same tiles.
    rows.dedup_by(|a, b| (&a.request, a.n, a.lost) == (&b.request, b.n, b.lost));
    Ok(rows)
}
