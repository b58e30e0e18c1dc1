//! The summary of a session, on one page.

use crate::case::finish_side;
use crate::report::{build, duration, lost, size, versus};
use crate::row::Row;
use crate::session::{Session, State, Step, find};
use vksort_lab::bench::versus::Versus;

/// Stands where there is no number, so that none is ever taken for one.
const NOT_MEASURED: &str = "not measured";

/// Sizes that are also shown by the time they take.
const SMALL: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 17;

/// All of it, as Markdown, with the plot if there is one.
pub fn sheet(session: &Session, plot: Option<&str>) -> String {
    let mut text = format!("# vksort on {}\n\n", session.device.name);
    text += &facts(session);
    text += &format!("\n\n## Tests\n\n{}\n", tests(session));
    for case in ["u32 keys", "u32 pairs"] {
        text += &format!("\n## {case}: G elements/s, median (25 % .. 75 %)\n\n{}\n", rates(session, case));
    }
    text += "\nRatios are those of medians, of runs one after the other. The floor is the least traffic of a radix sort \
             with these digits, at the bandwidth of a copy; the share is that of the untuned sort.\n";
    if let Some(plot) = plot {
        text += &format!("\n![Elements per second over the number of elements]({plot})\n");
    }
    text += &format!("\n## Small sorts: device time, median\n\n{}\n", small(session, |row| row.gpu_ns_median));
    text +=
        "\nFrom the first step's start to the last one's end. The host's time, submitting and waiting included:\n\n";
    text += &format!("{}\n", small(session, |row| row.wall_ns_median));
    text += &format!("\n## Patterns\n\n{}\n", patterns(session));
    text += &format!("\n## Splat depths, top digit constant\n\n{}\n", splats(session));
    text += &format!("\n## Narrow and wide keys\n\n{}\n", other_keys(session));
    text += &format!("\n## Ranking methods in the row's shape\n\n{}\n", methods(session));
    text += &format!("\n## A finish, beside all passes\n\n{}\n", finishes(session));
    let lost = if session.lost.is_empty() { NOT_MEASURED.into() } else { lost(&session.lost, true) };
    text += &format!("\n## Lost look-back words, beside reduce-then-scan\n\n{lost}\n");
    for (title, suite) in [("Many segments", "segments"), ("First elements", "top"), ("Records", "records")] {
        let rows: Vec<&Versus> = session.versus.iter().filter(|row| row.suite == suite).collect();
        let table = if rows.is_empty() { NOT_MEASURED.into() } else { versus(&rows, true) };
        text += &format!("\n## {title}, beside other ways\n\n{table}\n");
    }
    text += &format!("\n## Skipped, stopped and failed\n\n{}\n", left_out(session));
    text
}

fn facts(session: &Session) -> String {
    let cub = match (session.cub.first(), session.foreign_cub()) {
        (None, _) => NOT_MEASURED.into(),
        (Some(_), Some(other)) => format!("left out: it ran on {other}"),
        (Some(row), None) => format!("same device and run, {}; always out of place", row.driver),
    };
    let of_own = session.sizes.first().or(session.features.first()).or(session.patterns.first());
    let runs = of_own.map(|row| format!("{}; every result verified", row.runs));
    let complete = match session.steps.iter().all(|step| step.state == State::Done) {
        true => "yes",
        false => "no, see the end",
    };
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NOT_MEASURED.into());
    let lines = [
        ("driver", session.device.driver.clone()),
        ("subgroup size", session.device.subgroup.clone()),
        ("date", or_none(session.date().map(String::from))),
        ("command", format!("`{}`", session.command)),
        ("build", session.build.clone()),
        ("runs of each case", or_none(runs)),
        ("CUB", cub),
        ("complete", complete.into()),
    ];
    lines.map(|(name, value)| format!("* {name}: {value}")).join("\n")
}

/// Counts of the suites that ran.
fn tests(session: &Session) -> String {
    let suites: Vec<&Step> = session.steps.iter().filter(|step| step.is_suite()).collect();
    if suites.is_empty() {
        return NOT_MEASURED.into();
    }
    let cells = suites.iter().map(|step| {
        let counts = [step.passed, step.failed].map(|count| count.to_string());
        [vec![step.step.clone(), step.state.to_string()], counts.into(), vec![format!("{} s", step.seconds)]].concat()
    });
    let sum = |count: fn(&Step) -> u32| suites.iter().map(|step| count(step)).sum::<u32>();
    let (passed, failed) = (sum(|step| step.passed), sum(|step| step.failed));
    let table = build(&["suite", "state", "passed", "failed", "time"], cells, true);
    format!("{table}\n\n{passed} passed, {failed} failed.")
}

/// Rates of a case over its sizes, with those of the tuned sort and of CUB.
fn rates(session: &Session, case: &str) -> String {
    let sizes = session.sizes_of(case);
    if sizes.is_empty() {
        return NOT_MEASURED.into();
    }
    let header = ["n", "vksort", "tuned", "CUB", "vksort / CUB", "tuned / CUB", "tuned / vksort", "share of floor"];
    let cells = sizes.into_iter().map(|n| {
        let (own, tuned) = (find(&session.sizes, case, n), find(&session.tuned, case, n));
        let cub = session.cub(case, n);
        let share = own.and_then(|row| session.floor_share(row));
        vec![
            size(n),
            rate(own),
            rate(tuned),
            rate(cub),
            ratio(own, cub),
            ratio(tuned, cub),
            ratio(tuned, own),
            share.map_or(NOT_MEASURED.into(), |share| format!("{:.0} %", 100.0 * share)),
        ]
    });
    build(&header, cells, true)
}

/// What small sorts take, by one of the times of a row.
fn small(session: &Session, time: fn(&Row) -> Option<f64>) -> String {
    let mut sizes = session.sizes_of("u32 keys");
    sizes.retain(|n| SMALL.contains(n));
    if sizes.is_empty() {
        return NOT_MEASURED.into();
    }
    let header = ["n", "keys", "keys, CUB", "vksort / CUB", "pairs", "pairs, CUB", "vksort / CUB"];
    let cells = sizes.into_iter().map(|n| {
        let columns = ["u32 keys", "u32 pairs"].map(|case| {
            let own = find(&session.sizes, case, n).and_then(time);
            let cub = session.cub(case, n).and_then(time);
            let text = |time: Option<f64>| time.map_or(NOT_MEASURED.into(), duration);
            // Rates, as everywhere: more than 1 is faster than CUB.
            let ratio = own.zip(cub).map_or(NOT_MEASURED.into(), |(own, cub)| format!("{:.2}", cub / own.max(1.0)));
            vec![text(own), text(cub), ratio]
        });
        [vec![size(n)], columns.concat()].concat()
    });
    build(&header, cells, true)
}

fn patterns(session: &Session) -> String {
    let rows: Vec<&Row> = session.patterns.iter().filter(|row| !row.is_copy()).collect();
    let Some(uniform) = rows.iter().find(|row| row.data == "uniform") else { return NOT_MEASURED.into() };
    let cells = rows.iter().map(|row| vec![row.data.clone(), rate(Some(row)), ratio(Some(row), Some(uniform))]);
    let table = build(&["32-bit keys", "G keys/s", "over uniform"], cells, true);
    let slowest = rows.iter().min_by(|a, b| a.elements_per_s.total_cmp(&b.elements_per_s)).expect("uniform is there");
    let worst = ratio(Some(slowest), Some(uniform));
    format!("{table}\n\n{} keys. Worst over uniform: {worst} ({}).", size(uniform.n), slowest.data)
}

/// Depths whose top digit vksort finds to be constant, beside CUB that is told to leave it out.
fn splats(session: &Session) -> String {
    let rows = [
        ("keys, in place", "splat keys", "splat keys"),
        ("keys, out of place", "splat keys out of place", "splat keys"),
        ("pairs, out of place", "splat pairs out of place", "splat pairs"),
    ];
    let header = ["splat depths", "G/s", "CUB, told to sort bits 0..24", "vksort / CUB"];
    let Some((table, n)) = features(session, &header, &rows) else { return NOT_MEASURED.into() };
    format!("{table}\n\n{} elements. vksort sorts all 32 bits and skips the digit by itself.", size(n))
}

fn other_keys(session: &Session) -> String {
    let rows = [
        ("u16, in place", "u16 keys", "u16 keys"),
        ("u64, in place", "u64 keys", "u64 keys"),
        ("u64, out of place", "u64 keys out of place", "u64 keys"),
    ];
    let table = features(session, &["keys", "G/s", "CUB", "vksort / CUB"], &rows);
    table.map_or(NOT_MEASURED.into(), |(table, n)| format!("{table}\n\n{} keys.", size(n)))
}

/// Cases of the features suite under a name, beside CUB's case of the same size, with that size; if any was measured.
fn features(session: &Session, header: &[&str; 4], rows: &[(&str, &str, &str)]) -> Option<(String, u64)> {
    let find_own = |case: &str| session.features.iter().find(|row| row.case == case);
    let n = rows.iter().find_map(|row| find_own(row.1))?.n;
    let cells = rows.iter().map(|(name, case, peer)| {
        let (own, cub) = (find_own(case), session.cub(peer, n));
        vec![name.to_string(), rate(own), rate(cub), ratio(own, cub)]
    });
    Some((build(header, cells, true), n))
}

/// Ranking methods beside the row's own, for keys and for pairs.
fn methods(session: &Session) -> String {
    let find_own = |case: &str| session.methods.iter().find(|row| row.case == case);
    let ranked = session.methods.iter().filter_map(|row| {
        let name = row.case.strip_prefix("rank ")?;
        let base = find_own(if name.contains("u32 keys") { "u32 keys" } else { "u32 pairs" });
        Some(vec![name.into(), rate(Some(row)), ratio(Some(row), base)])
    });
    let cells: Vec<Vec<String>> = ranked.collect();
    let Some(first) = session.methods.first().filter(|_| !cells.is_empty()) else { return NOT_MEASURED.into() };
    let table = build(&["method", "G/s", "over the row"], cells.into_iter(), true);
    format!("{table}\n\n{} elements.", size(first.n))
}

/// Sorts with a finish beside those without, and CUB's of the same elements.
fn finishes(session: &Session) -> String {
    let cells = session.finish.iter().filter_map(|with| {
        let what = with.case.strip_suffix(&finish_side("", true))?;
        let without = find(&session.finish, &finish_side(what, false), with.n);
        let cub = session.cub(what, with.n);
        Some(vec![what.into(), size(with.n), rate(Some(with)), ratio(Some(with), without), ratio(Some(with), cub)])
    });
    let cells: Vec<Vec<String>> = cells.collect();
    if cells.is_empty() {
        return NOT_MEASURED.into();
    }
    build(&["sort", "n", "G/s with a finish", "over all passes", "over CUB"], cells.into_iter(), true)
}

fn left_out(session: &Session) -> String {
    let lines: Vec<String> = session
        .steps
        .iter()
        .filter(|step| step.state != State::Done || step.failed > 0 || !step.note.is_empty())
        .map(|step| {
            let after = if step.state == State::Skipped { String::new() } else { format!(" after {} s", step.seconds) };
            let note = if step.note.is_empty() { String::new() } else { format!(": {}", step.note) };
            format!("* {}: {}{after}{note}", step.step, step.state)
        })
        .collect();
    if lines.is_empty() { "Nothing.".into() } else { lines.join("\n") }
}

impl Step {
    /// Whether it is a suite of tests that ran.
    fn is_suite(&self) -> bool {
        self.step.starts_with("test-") && self.state != State::Skipped
    }
}

/// Billions of elements per second, with quartiles.
fn rate(row: Option<&Row>) -> String {
    let of = |row: &Row| {
        let (median, low, high) = row.time()?;
        let giga = |ns: f64| row.n as f64 / ns.max(1.0);
        // Software drivers sort millions.
        let digits = if giga(median) < 1.0 { 4 } else { 2 };
        Some(format!("{:.digits$} ({:.digits$} .. {:.digits$})", giga(median), giga(high), giga(low)))
    };
    row.and_then(of).unwrap_or_else(|| NOT_MEASURED.into())
}

/// How many times as fast the first is as the second, by their medians.
fn ratio(above: Option<&Row>, below: Option<&Row>) -> String {
    // Different clocks cannot be compared.
    let median = |row: &Row, other: &Row| {
        let on_device = row.gpu_ns_median.is_some() && other.gpu_ns_median.is_some();
        if on_device { row.gpu_ns_median } else { row.wall_ns_median }
    };
    let of = |(above, below): (&Row, &Row)| {
        let times = median(below, above)? / median(above, below)?.max(1.0);
        Some(format!("{times:.2}"))
    };
    above.zip(below).and_then(of).unwrap_or_else(|| NOT_MEASURED.into())
}
