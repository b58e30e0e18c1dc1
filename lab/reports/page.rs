//! The page of devices.

use comfy_table::Table;
use vksort_programs::common;
use vksort_programs::common::device_report::{Clock, DeviceReport, Figure, State, Verdict};

use crate::propose::gains;
use crate::recorded::Recorded;

/// The sorts whose speed the table has.
const CASES: [(&str, u32); 4] = [("u32 keys", 20), ("u32 keys", 24), ("u32 pairs", 20), ("u32 pairs", 24)];

const HEADER: [&str; 11] = [
    "device",
    "driver",
    "self-test",
    "tests",
    "keys, 2^20",
    "keys, 2^24",
    "pairs, 2^20",
    "pairs, 2^24",
    "row",
    "vksort",
    "date",
];

const ABOUT: &str = "\
# Devices

What vksort was run on, by the reports that [`devices --report` and `measure.sh` write](guide/src/right.md).
`cargo run --release --bin reports` makes this page of [them](../lab/record/reports), and a test compares it with them.

Speeds are elements in a second, from the median of interleaved runs by the device's timestamps or, where it says so, by another
clock; in brackets how many times as fast as CUB in the same run. A device that is a CPU shares its cores with
other programs, which may take most of its speed: [PERFORMANCE.md](PERFORMANCE.md) has figures of software drivers to go by.
A dash is for what was not run. The row is that of `src/tuning.rs`, with what it rests on.
";

/// The page of these reports, and of what is older than their format.
pub fn text(reports: &[(String, DeviceReport)], recorded: &[Recorded]) -> String {
    let mut table = Table::new();
    table.set_header(HEADER);
    for row in recorded {
        table.add_row(of_record(row));
    }
    for (_, report) in reports {
        table.add_row(of_report(report));
    }
    let notes = recorded.iter().map(note_of_record).chain(reports.iter().map(|(file, report)| note(file, report)));
    format!("{ABOUT}\n{}\n\n{}", common::table_text(table, true), notes.collect::<String>())
}

fn of_record(row: &Recorded) -> Vec<String> {
    let about = &row.about;
    let mut cells = vec![cell(&about.device), cell(&about.driver), "-".into(), "-".into()];
    let speed = |((_, log2), ns): (&(&str, u32), &Option<f64>)| ns.map_or("-".into(), |ns| rate(1 << log2, ns));
    cells.extend(CASES.iter().zip(&row.ns).map(speed));
    cells.extend([&about.tuning, &about.vksort_version, &about.date].map(|text| cell(text)));
    cells
}

fn of_report(report: &DeviceReport) -> Vec<String> {
    let identity = &report.device.identity;
    let mut cells = vec![cell(&identity.name), cell(&identity.driver), selftest(report), tests(report)];
    cells.extend(CASES.map(|(case, log2)| speed(report, case, 1 << log2)));
    let rests_on = report.row.evidence.split(':').next().unwrap_or_default();
    cells.push(cell(&format!("{}, {rests_on}", report.row.name)));
    cells.extend([&report.vksort.version, &report.date].map(|text| cell(text)));
    cells
}

fn selftest(report: &DeviceReport) -> String {
    let Some(selftest) = &report.selftest else { return "-".into() };
    let (right, wrong) = selftest.sorts();
    match selftest.verdict() {
        Verdict::Wrong => format!("WRONG: {wrong} sorts, {right} right"),
        Verdict::Right | Verdict::SoFar(_) => {
            let ran = selftest.kinds.iter().filter(|kind| kind.state == State::Ran).count();
            format!("{right} sorts right, {ran} of {} kinds", selftest.kinds.len())
        }
    }
}

fn tests(report: &DeviceReport) -> String {
    let steps = || report.steps.iter().filter(|step| step.passed + step.failed > 0);
    let sum = |count: fn(u32, u32) -> u32| steps().map(|step| u64::from(count(step.passed, step.failed))).sum::<u64>();
    match steps().count() {
        0 => "-".into(),
        _ => format!("{} passed, {} failed", sum(|passed, _| passed), sum(|_, failed| failed)),
    }
}

/// The speed of a sort with the built-in row.
fn speed(report: &DeviceReport, case: &str, elements: u64) -> String {
    let is_wanted = |figure: &&Figure| figure.suite != "tuned" && figure.case == case && figure.elements == elements;
    let Some(figure) = report.figures.iter().find(is_wanted) else { return "-".into() };
    let clock = match figure.clock {
        Clock::Device => "",
        Clock::Cpu => " by CPU time",
        Clock::Host => " by the host's clock",
    };
    let over = figure.over.as_ref().map(|over| format!(" ({:.2})", over.speed)).unwrap_or_default();
    format!("{}{clock}{over}", rate(elements as u32, figure.ns.median))
}

fn rate(count: u32, ns: f64) -> String {
    common::rate(count, ns).replace(" elements/s", "/s")
}

fn note_of_record(row: &Recorded) -> String {
    let folders: Vec<String> =
        row.folders.iter().map(|folder| format!("[{folder}](../lab/record/{folder}/README.md)")).collect();
    format!(
        "* **{}**: measured before there were reports. The speeds are those of the kernels at that time, in the record ({}); \
         [PERFORMANCE.md](PERFORMANCE.md#on-an-nvidia-h100) has them beside CUB.\n",
        cell(&row.about.device),
        folders.join(", ")
    )
}

/// What was run, and what was found.
fn note(file: &str, report: &DeviceReport) -> String {
    let (name, command, system) =
        (&report.device.identity.name, report.command.replace('`', "'"), &report.vksort.system);
    let mut text = format!(
        "* **{}**: `{}` on {}, kernels {} ([report](../lab/record/reports/{file}))",
        cell(name),
        plain(&command),
        cell(system),
        cell(&report.vksort.kernels)
    );
    let mut failures: Vec<String> = Vec::new();
    for step in report.steps.iter().filter(|step| step.state == "failed") {
        // A crash names no test.
        let names = if step.failures.is_empty() { std::slice::from_ref(&step.step) } else { &step.failures };
        failures.extend(names.iter().map(|name| cell(name)));
    }
    if !failures.is_empty() {
        text += &format!("; failed: {}", failures.join(", "));
    }
    let faults = report.selftest.iter().flat_map(|selftest| &selftest.kinds);
    for (kind, fault) in faults.filter_map(|kind| Some((kind, kind.fault.as_ref()?))) {
        text += &format!("; {}: {}", cell(&kind.request), cell(fault));
    }
    let began = report.selftest.iter().flat_map(|selftest| &selftest.kinds).find(|kind| kind.state == State::Began);
    if let Some(kind) = began {
        text += &format!("; the self-test was ended within {}", cell(&kind.request));
    }
    if let Some(best) = &report.best {
        let found = match best.tuning.knobs == report.row.knobs {
            true => "`tune` found nothing faster than the row".into(),
            false => format!("`tune` found a tuning that is {}", gains(best).join(", ")),
        };
        text += &format!("; {found}");
    }
    text + ".\n"
}

/// A text of a report in Markdown, as it is: reports come from anyone.
fn cell(text: &str) -> String {
    let escaped = |character: char| match character {
        '\\' | '|' | '<' | '>' | '[' | ']' | '*' | '_' | '`' | '#' => format!("\\{character}"),
        character => character.to_string(),
    };
    plain(text).chars().map(escaped).collect()
}

/// A text in one line.
fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
