//! Ratios, taken round by round.

use vksort::ValueType;
use vksort_profiles::Quartiles;

use anyhow::Result;
use vksort_lab::bench::lost::Lost;
use vksort_lab::bench::versus::{Clock, Versus};

use crate::case::{COPY, How, Suite, Tweak, finish_side, lost_sides};
use crate::data::Data;
use crate::measure::{Bench, Measured};
use crate::row::Row;

/// What the suites of a run have to say beyond the times of their cases.
pub struct Found {
    pub ratios: Vec<Ratio>,
    pub patterns: Vec<Pattern>,
    pub lost: Vec<Lost>,
    pub versus: Vec<Versus>,
}

impl Found {
    pub fn of(bench: &Bench<'_>, all: &[Measured], peers: &[Row]) -> Result<Found> {
        Ok(Found {
            ratios: ratios(all),
            patterns: patterns(all),
            lost: lost(bench, all)?,
            versus: versus(all, peers, &bench.gpu.profile().name),
        })
    }
}

/// How many times as fast one case is as another, in elements per second.
pub struct Ratio {
    pub what: String,
    pub n: u32,
    pub over: Quartiles,
}

/// Name of the ratio, the case above and the case below.
const RATIOS: [(&str, &str, &str); 18] = [
    ("u8 over u32", "u8 keys", "u32 keys"),
    ("u16 over u32", "u16 keys", "u32 keys"),
    ("u64 over u32", "u64 keys", "u32 keys"),
    ("u64 over u32, out of place", "u64 keys out of place", "u32 keys out of place"),
    ("argsort, keys discarded, over pairs", "u32 argsort", "u32 pairs"),
    ("argsort over pairs, out of place", "u32 argsort out of place", "u32 pairs out of place"),
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

/// The ratios of the features suite, and of sorts with a finish over those without, each taken round by round.
fn ratios(all: &[Measured]) -> Vec<Ratio> {
    let find = |name: &str| all.iter().find(|m| m.case.suite == Suite::Features && m.case.name == name);
    let ratio = |what: String, above: &Measured, below: &Measured| {
        let times = above.times().iter().zip(below.times());
        let rounds: Vec<f64> = times.map(|(above, below)| below / above.max(1.0)).collect();
        Ratio { what, n: above.n, over: Quartiles::of(&rounds) }
    };
    let features =
        RATIOS.into_iter().filter_map(|(what, above, below)| Some(ratio(what.into(), find(above)?, find(below)?)));
    let finishes = all.iter().filter_map(|with| {
        let what = with.case.name.strip_suffix(&finish_side("", true))?;
        let below = finish_side(what, false);
        let without = all.iter().find(|m| m.case.suite == Suite::Finish && m.n == with.n && m.case.name == below)?;
        Some(ratio(format!("{what}: a finish over all passes"), with, without))
    });
    features.chain(finishes).collect()
}

/// How many times as long one pattern takes as uniform keys.
pub struct Pattern {
    pub name: String,
    pub n: u32,
    pub over: Quartiles,
}

/// The patterns suite beside its uniform keys, each taken round by round; the slowest first.
fn patterns(all: &[Measured]) -> Vec<Pattern> {
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
fn lost(bench: &Bench<'_>, all: &[Measured]) -> Result<Vec<Lost>> {
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

/// The suites of problems: each way of vksort beside the others, round by round, and beside rows of CUB by their medians.
fn versus(all: &[Measured], peers: &[Row], device: &str) -> Vec<Versus> {
    let mut rows = Vec::new();
    for m in all {
        let How::Problem { name, way, segments, .. } = m.case.how else { continue };
        let ours = Quartiles::of(m.times());
        let row = |against: String, against_ns: f64, over: Quartiles| Versus {
            suite: m.case.suite.name(),
            case: m.case.name.clone(),
            n: m.n.into(),
            segments,
            against,
            clock: m.clock(),
            ns: ours.median,
            against_ns,
            over_q25: over.q25,
            over_median: over.median,
            over_q75: over.q75,
        };
        for against in way.against() {
            let is_other = |other: &&Measured| match other.case.how {
                How::Problem { name: of, way, .. } => {
                    (other.case.suite, of, way, other.n) == (m.case.suite, name, *against, m.n)
                }
                _ => false,
            };
            let Some(other) = all.iter().find(is_other) else { continue };
            let rounds: Vec<f64> = m.times().iter().zip(other.times()).map(|(a, b)| a / b.max(1.0)).collect();
            let median = Quartiles::of(other.times()).median;
            rows.push(row(against.name().into(), median, Quartiles::of(&rounds)));
        }
        // Of another program there are no rounds: these are the quartiles of vksort's times over its median.
        let suite = format!("cub {}", m.case.suite.name());
        let prefix = format!("{name}: ");
        let same =
            |peer: &&Row| peer.suite == suite && peer.n == u64::from(m.n) && is_same_device(&peer.device, device);
        for peer in peers.iter().filter(same).filter(|_| m.clock() == Clock::Device && !way.against().is_empty()) {
            let Some((sorter, median)) = peer.case.strip_prefix(&prefix).zip(peer.gpu_ns_median) else { continue };
            let over = |ns: f64| ns / median.max(1.0);
            let over = Quartiles { q25: over(ours.q25), median: over(ours.median), q75: over(ours.q75) };
            rows.push(row(format!("CUB's {sorter}"), median, over));
        }
    }
    rows
}

/// Some drivers put the vendor before the name under one interface alone.
pub fn is_same_device(one: &str, other: &str) -> bool {
    one.contains(other) || other.contains(one)
}
