//! Which plots a run has.

use crate::measure::Measured;
use crate::plot::{Bar, Figure, Line, Stack, Unit};
use crate::problems::Way;
use crate::report::{self, bandwidth, rate, size};
use crate::row::Row;
use crate::session::Session;
use crate::stats::{Found, Ratio};
use vksort_lab::bench::lost::{self, Lost};
use vksort_lab::bench::versus::Versus;

/// Names of all plots there can be.
pub const NAMES: [&str; 10] =
    ["throughput", "roofline", "rates", "steps", "floor", "ratios", "lost", "segments", "top", "records"];

/// The plots that these results have, by name.
pub fn all(rows: &[Row], found: &Found, measured: &[Measured]) -> Vec<(&'static str, Figure)> {
    let device = device(rows);
    // Ways to solve problems have plots of their own.
    let rows: Vec<Row> = rows.iter().filter(|row| !report::of_problems(&row.suite)).cloned().collect();
    let rows = &rows[..];
    let [segments, top, records] =
        ["segments", "top", "records"].map(|suite| versus_bars(suite, &found.versus, &device));
    let figures = [
        throughput(rows),
        roofline(rows),
        rates(rows),
        steps(measured),
        floor(rows),
        ratio_bars(&found.ratios),
        lost_bars(rows, &found.lost),
        segments,
        top,
        records,
    ];
    NAMES.into_iter().zip(figures).filter_map(|(name, figure)| Some((name, figure?))).collect()
}

/// A line per case that was measured at several sizes.
fn over_sizes<'a>(rows: impl Iterator<Item = &'a Row> + Clone, value: fn(&Row) -> f64) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let others = has_others(rows.clone());
    for row in rows {
        let label = named(row, others);
        let point = (row.n as f64, value(row));
        match lines.iter_mut().find(|line| line.label == label) {
            // Two suites may have measured the same case.
            Some(line) if line.points.iter().any(|known| known.0 == point.0) => {}
            Some(line) => line.points.push(point),
            None => lines.push(Line { label, points: vec![point] }),
        }
    }
    lines.retain(|line| line.points.len() > 1);
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    lines
}

fn throughput(rows: &[Row]) -> Option<Figure> {
    let lines = over_sizes(rows.iter().filter(|row| !row.is_copy()), |row| row.elements_per_s);
    let title = format!("Throughput over size\n{}", device(rows));
    (!lines.is_empty()).then_some(Figure::Lines { title, unit: Unit::Elements, lines })
}

/// The least traffic of each case, at the speed at which it was sorted, below the bandwidth of the largest copy.
fn roofline(rows: &[Row]) -> Option<Figure> {
    let moved = |row: &Row| row.floor_bytes as f64 * row.elements_per_s;
    let mut lines = over_sizes(rows.iter().filter(|row| row.is_copy() || row.floor_share.is_some()), moved);
    let sizes = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (least, most) = (sizes().fold(f64::MAX, f64::min), sizes().fold(f64::MIN, f64::max));
    let largest = rows.iter().filter(|row| row.is_copy()).max_by_key(|row| row.n)?;
    let (low, high) = spread(largest)?;
    let (low, high) = (bandwidth(moved(largest) * low), bandwidth(moved(largest) * high));
    let label = format!("roof: copy of {} ({low} .. {high})", size(largest.n));
    // Copies may be, as smaller ones are in a cache.
    let above = rows.iter().any(|row| !row.is_copy() && row.floor_share.is_some() && moved(row) > moved(largest));
    let noise = if above { "; a sort above the roof is noise" } else { "" };
    let title = format!("Bytes that a radix sort has to move, per second\n{}{noise}", device(rows));
    (lines.len() > 1).then(|| {
        lines.push(Line { label, points: [least, most].map(|n| (n, moved(largest))).into() });
        Figure::Lines { title, unit: Unit::Bytes, lines }
    })
}

/// Keys and pairs of a session over their sizes, with those of the tuned sort and of CUB.
pub fn session(session: &Session) -> Option<Figure> {
    let mut lines = Vec::new();
    for (name, case) in [("keys", "u32 keys"), ("pairs", "u32 pairs")] {
        for (who, rows) in [("vksort", &session.sizes), ("vksort, tuned", &session.tuned), ("CUB", &session.cub)] {
            if who == "CUB" && session.foreign_cub().is_some() {
                continue;
            }
            let of_case = rows.iter().filter(|row| row.case == case);
            let mut points: Vec<_> = of_case.map(|row| (row.n as f64, row.elements_per_s)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if points.len() > 1 {
                lines.push(Line { label: format!("{name}: {who}"), points });
            }
        }
    }
    let title = format!("u32 keys and pairs\n{}", session.device.name);
    (!lines.is_empty()).then_some(Figure::Lines { title, unit: Unit::Elements, lines })
}

/// A bar per case at the largest size of its suite.
fn rates(rows: &[Row]) -> Option<Figure> {
    let label = labels(rows);
    let bar = |row: &Row| {
        let n = row.n as f64 * 1e9;
        let (_, low, high) = row.time()?;
        let text = rate(row.elements_per_s);
        Some(Bar { label: label(row), value: row.elements_per_s, range: (n / high, n / low), part: None, text })
    };
    let bars: Vec<Bar> = largest(rows).filter(|row| !row.is_copy()).filter_map(bar).collect();
    let title = format!("Elements per second\n{}", device(rows));
    (!bars.is_empty()).then_some(Figure::Bars { title, bars, mark: None })
}

/// How near each case comes to moving no more than a radix sort has to.
fn floor(rows: &[Row]) -> Option<Figure> {
    let label = labels(rows);
    let bar = |row: &Row| {
        let (value, (low, high)) = (row.floor_share?, spread(row)?);
        Some(Bar {
            label: label(row),
            value,
            range: (value * low, value * high),
            part: None,
            text: format!("{:.0} %", 100.0 * value),
        })
    };
    let bars: Vec<Bar> = largest(rows).filter(|row| !row.is_copy()).filter_map(bar).collect();
    let noise = if bars.iter().any(|bar| bar.value > 1.0) { "; more is noise" } else { "" };
    let copies = largest(rows).filter(|row| row.is_copy()).filter_map(spread);
    let (low, high) = copies.fold((1.0, 1.0), |(low, high): (f64, f64), copy| (low.min(copy.0), high.max(copy.1)));
    let title = format!(
        "Speed, as a share of what memory allows\n100 % (line): the least traffic of a radix sort, moved as fast as a \
         copy ({:.0} to {:.0} %){noise}; {}",
        100.0 * low,
        100.0 * high,
        device(rows)
    );
    (!bars.is_empty()).then_some(Figure::Bars { title, bars, mark: Some(1.0) })
}

fn ratio_bars(ratios: &[Ratio]) -> Option<Figure> {
    let bar = |ratio: &Ratio| {
        let over = ratio.over;
        let (label, text) = (format!("{}, {}", ratio.what, size(ratio.n.into())), format!("{:.2}", over.median));
        Bar { label, value: over.median, range: (over.q25, over.q75), part: None, text }
    };
    let bars: Vec<Bar> = ratios.iter().map(bar).collect();
    let title = "Ratios of elements per second\nMedians with quartiles; the line is at 1".to_string();
    (!bars.is_empty()).then_some(Figure::Bars { title, bars, mark: Some(1.0) })
}

/// What lost look-back words cost OneSweep. Beyond the line it takes longer than reduce-then-scan.
fn lost_bars(rows: &[Row], lost: &[Lost]) -> Option<Figure> {
    let bar = |row: &&Lost| Bar {
        label: format!("{}, {}: {} of {} tiles lost", row.request, size(row.n), row.lost, row.tiles),
        value: row.over_median,
        range: (row.over_q25, row.over_q75),
        part: None,
        text: format!("{:.2}", row.over_median),
    };
    let bars: Vec<Bar> = lost::by_size(lost).iter().flat_map(|(rows, _)| rows.iter().map(bar)).collect();
    let title =
        format!("Time of OneSweep over that of reduce-then-scan (line), with look-back words lost\n{}", device(rows));
    (!bars.is_empty()).then_some(Figure::Bars { title, bars, mark: Some(1.0) })
}

/// What each way of vksort takes beside others, with a copy of the same bytes as the dark part of its bar.
fn versus_bars(suite: &str, versus: &[Versus], device: &str) -> Option<Figure> {
    let (title, usual) = match suite {
        "segments" => {
            ("Time of segments in one recording, over that of a full sort by segment and key", Way::Full.name())
        }
        "top" => ("Time of finding the first elements, over that of a full sort by row and key", Way::Full.name()),
        _ => ("Time of sorting records, over that of moving them in each pass", Way::MovedOutOfPlace.name()),
    };
    let bar = |row: &&Versus| {
        let copy = versus.iter().find(|other| other.is_copy() && other.is_of(row));
        let copy = copy.map(|copy| copy.against_ns / row.against_ns.max(1.0));
        let other = if row.against.starts_with(usual) { String::new() } else { format!(", over {}", row.against) };
        Bar {
            label: format!("{}{other}", row.case),
            value: row.over_median,
            range: (row.over_q25, row.over_q75),
            part: copy.filter(|copy| *copy < row.over_median),
            text: report::share(row.over_median),
        }
    };
    let bars: Vec<Bar> =
        versus.iter().filter(|row| row.suite == suite && !row.is_copy()).map(|row| bar(&row)).collect();
    let title =
        format!("{title}\nTimes are equal at the line; the dark part is what a copy of the same bytes takes. {device}");
    (!bars.is_empty()).then_some(Figure::Bars { title, bars, mark: Some(1.0) })
}

/// Where the time of u32 keys and pairs goes.
fn steps(measured: &[Measured]) -> Option<Figure> {
    let mut stacks = Vec::new();
    for name in ["u32 keys", "u32 pairs"] {
        let first = measured.iter().find(|m| m.case.name == name && !m.steps.is_empty())?.case.suite;
        for m in measured.iter().filter(|m| m.case.name == name && m.case.suite == first) {
            stacks.push(Stack { label: format!("{name}, {}", size(m.n.into())), parts: m.step_medians() });
        }
    }
    let title = "Device time by step, and its sum".to_string();
    (!stacks.is_empty()).then_some(Figure::Stacks { title, stacks })
}

/// Rows at the largest size of their suite.
fn largest(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let of = |suite: &str| rows.iter().filter(|row| row.suite == suite).map(|row| row.n).max();
    rows.iter().filter(move |row| Some(row.n) == of(&row.suite))
}

/// The quartiles of a row's speed, over its median.
fn spread(row: &Row) -> Option<(f64, f64)> {
    let (median, low, high) = row.time()?;
    Some((median / high.max(1.0), median / low.max(1.0)))
}

/// Whether there are sorts of other programs, which have no subgroups.
fn has_others<'a>(mut rows: impl Iterator<Item = &'a Row>) -> bool {
    rows.any(|row| row.subgroup.is_none())
}

/// The case, with vksort's name beside others.
fn named(row: &Row, others: bool) -> String {
    let ours = others && row.subgroup.is_some() && !row.is_copy();
    format!("{}{}", if ours { "vksort: " } else { "" }, row.label())
}

/// What names a row: the case and its size, with the suite where there are several.
fn labels(rows: &[Row]) -> impl Fn(&Row) -> String {
    let (several, others) = (report::suites(rows).len() > 1, has_others(rows.iter()));
    move |row| {
        // Rows of other programs have it already.
        let of_suite = several && !row.vksort_version.is_empty();
        let suite = if of_suite { format!("{}: ", row.suite) } else { String::new() };
        format!("{suite}{}, {}", named(row, others), size(row.n))
    }
}

fn device(rows: &[Row]) -> String {
    let own = rows.iter().find(|row| !row.driver.is_empty());
    own.map(|row| row.device.clone()).unwrap_or_default()
}
