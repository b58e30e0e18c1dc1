//! Tables on stdout and in summary.md.

use clap::ValueEnum;
use comfy_table::Table;
use vksort_profiles::Quartiles;

use crate::case::Suite;
use crate::problems::{RECORDED, Way};
use crate::row::Row;
use crate::stats::{Found, Pattern, Ratio};
use vksort_lab::bench::lost::{self, Lost};
use vksort_lab::bench::versus::{Clock, Versus, by_suite};
use vksort_programs::common;

/// Rows of one suite, as a table.
pub fn table(rows: &[&Row], markdown: bool) -> String {
    let header = ["case", "n", "device time", "25 % .. 75 %", "host time", "recording", "rate", "floor"];
    let cells = rows.iter().map(|row| {
        let spread = row.time().map(|(_, low, high)| format!("{} .. {}", duration(low), duration(high)));
        vec![
            row.label(),
            size(row.n),
            row.gpu_ns_median.map(duration).unwrap_or_else(|| "-".into()),
            spread.unwrap_or_default(),
            row.wall_ns_median.map(duration).unwrap_or_else(|| "-".into()),
            row.record_ns.map(duration).unwrap_or_else(|| "-".into()),
            rate(row.elements_per_s),
            row.floor_share.map(|share| format!("{:.0} %", 100.0 * share)).unwrap_or_else(|| "-".into()),
        ]
    });
    build(&header, cells, markdown)
}

/// How many times as fast one case is as another.
pub fn ratio_table(ratios: &[Ratio], markdown: bool) -> String {
    let header = ["ratio of elements/s", "n", "median", "25 %", "75 %"];
    let cells = ratios.iter().map(|ratio| over(&ratio.what, ratio.n, &ratio.over));
    build(&header, cells, markdown)
}

/// How many times as long each pattern takes as uniform keys, and which takes longest.
pub fn pattern_table(patterns: &[Pattern], markdown: bool) -> String {
    let header = ["time over that of uniform", "n", "median", "25 %", "75 %"];
    let cells = patterns.iter().map(|pattern| over(&pattern.name, pattern.n, &pattern.over));
    let table = build(&header, cells, markdown);
    let Some(worst) = patterns.first() else { return table };
    let Quartiles { q25, median, q75 } = worst.over;
    format!("{table}\n\nworst pattern: {}, {median:.2} times uniform ({q25:.2} to {q75:.2})", worst.name)
}

/// OneSweep with words lost beside reduce-then-scan, and where it breaks even, for each request and size.
pub fn lost(rows: &[Lost], markdown: bool) -> String {
    let found = lost::by_size(rows);
    let header = ["OneSweep", "n", "words lost", "time", "over reduce-then-scan", "25 % .. 75 %"];
    let cells = found.iter().flat_map(|(rows, _)| rows).map(|row| {
        vec![
            row.request.clone(),
            size(row.n),
            format!("{} of {}", row.lost, row.tiles),
            duration(row.onesweep_ns),
            format!("{:.2}", row.over_median),
            format!("{:.2} .. {:.2}", row.over_q25, row.over_q75),
        ]
    });
    let mut text = build(&header, cells, markdown);
    for (rows, sentence) in &found {
        text += &format!("\n\n{}, {}: {sentence}", rows[0].request, size(rows[0].n));
    }
    text
}

/// Each way to solve a problem beside the others, and a copy of the same bytes as a share of its time. Times are those of a device: CPU
/// time is worth a ratio alone.
pub fn versus(rows: &[&Versus], markdown: bool) -> String {
    let timed = rows.iter().all(|row| row.clock == Clock::Device);
    let mut header = vec!["case", "n", "segments", "over", "ratio of times", "25 % .. 75 %", "copy"];
    if timed {
        header.extend(["time", "of the other"]);
    }
    let copy = |row: &Versus| rows.iter().copied().find(|other| other.is_copy() && other.is_of(row));
    let cells = rows.iter().filter(|row| !row.is_copy()).map(|row| {
        let copy = copy(row).map(|copy| 100.0 / copy.over_median.max(f64::MIN_POSITIVE));
        let mut cells = vec![
            row.case.clone(),
            size(row.n),
            size(row.segments.into()),
            row.against.clone(),
            share(row.over_median),
            format!("{} .. {}", share(row.over_q25), share(row.over_q75)),
            copy.map_or("-".into(), |copy| format!("{copy:.0} %")),
        ];
        if timed {
            cells.extend([row.ns, row.against_ns].map(duration));
        }
        cells
    });
    let table = build(&header, cells, markdown);
    let clock = match rows.first().map(|row| row.clock) {
        Some(Clock::Cpu) => "CPU time of the process",
        Some(Clock::Device) => "device time",
        Some(Clock::Wall) | None => "host time",
    };
    let recorded = match rows.iter().any(|row| row.against == Way::Recorded.name()) {
        true => format!(" Of more than {RECORDED} recorded sorts, so many are measured."),
        false => String::new(),
    };
    format!(
        "{table}\n\nRatios of {clock}, round by round. Copy is the share that a copy of the same bytes takes.{recorded}"
    )
}

/// A ratio with two digits that count.
pub fn share(ratio: f64) -> String {
    if ratio < 0.0995 { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}

fn over(what: &str, n: u32, over: &Quartiles) -> Vec<String> {
    let [median, low, high] = [over.median, over.q25, over.q75].map(|x| format!("{x:.2}"));
    vec![what.into(), size(n.into()), median, low, high]
}

/// A table whose first column is text, and the others numbers.
pub fn build(header: &[&str], cells: impl Iterator<Item = Vec<String>>, markdown: bool) -> String {
    let mut table = Table::new();
    table.set_header(header);
    for row in cells {
        table.add_row(row);
    }
    common::table_text(table, markdown)
}

/// All of a run, with what it takes to repeat it.
pub fn summary(rows: &[Row], found: &Found, command: &str, figures: &[&str]) -> String {
    let Found { ratios, patterns, lost, versus } = found;
    let mut text = format!("# Measurements\n\n`{command}`\n\n");
    let own = rows.iter().find(|row| row.gpu_ns_median.is_some() || !row.driver.is_empty());
    if let Some(row) = own {
        let subgroup = row.subgroup.map(|size| format!(", subgroups of {size}")).unwrap_or_default();
        text += &format!(
            "{}, {}{subgroup}; vksort {}, {}. Medians of {} runs, with all cases of a size in turns and every result \
             verified. Recording is what putting the sort into a command buffer costs the host, as its lower quartile. The \
             floor is the least traffic of a radix sort with these digits, at the bandwidth of copies before, among and \
             after the sorts of the largest size; a share above 100 % is noise.\n",
            row.device, row.driver, row.vksort_version, row.date, row.runs
        );
    }
    if !ratios.is_empty() {
        text += &format!("\n## ratios\n\n{}\n", ratio_table(ratios, true));
    }
    if !patterns.is_empty() {
        text += &format!("\n## patterns over uniform\n\n{}\n", pattern_table(patterns, true));
    }
    if !lost.is_empty() {
        text += &format!("\n## lost look-back words\n\n{}\n", self::lost(lost, true));
    }
    for (suite, rows) in by_suite(versus) {
        text += &format!("\n## {suite}\n\n{}\n", self::versus(&rows, true));
    }
    for suite in suites(rows).into_iter().filter(|suite| !of_problems(suite)) {
        let of_suite: Vec<&Row> = rows.iter().filter(|row| row.suite == suite).collect();
        text += &format!("\n## {suite}\n\n{}\n", table(&of_suite, true));
    }
    for figure in figures {
        text += &format!("\n![{figure}]({figure}.svg)\n");
    }
    text
}

/// Whether the cases of a suite, of vksort or of CUB, are ways to solve problems.
pub fn of_problems(suite: &str) -> bool {
    let suite = suite.strip_prefix("cub ").unwrap_or(suite);
    Suite::from_str(suite, false).is_ok_and(Suite::has_problems)
}

/// Names of suites in the order of their first rows.
pub fn suites(rows: &[Row]) -> Vec<&str> {
    let mut suites: Vec<&str> = Vec::new();
    for row in rows {
        if !suites.contains(&row.suite.as_str()) {
            suites.push(&row.suite);
        }
    }
    suites
}

/// A count, as a power of two where it is one.
pub fn size(n: u64) -> String {
    if n.is_power_of_two() && n >= 1024 { format!("2^{}", n.trailing_zeros()) } else { n.to_string() }
}

/// A rate, short.
pub fn rate(elements_per_s: f64) -> String {
    match elements_per_s {
        rate if rate < 1e3 => format!("{rate:.0}/s"),
        rate if rate < 1e6 => format!("{:.1} k/s", rate / 1e3),
        rate if rate < 1e9 => format!("{:.1} M/s", rate / 1e6),
        rate => format!("{:.2} G/s", rate / 1e9),
    }
}

/// Bytes per second.
pub fn bandwidth(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e9 => format!("{:.1} MB/s", bytes / 1e6),
        bytes => format!("{:.1} GB/s", bytes / 1e9),
    }
}

pub fn duration(nanoseconds: f64) -> String {
    common::duration(nanoseconds)
}
