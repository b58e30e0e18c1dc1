//! A row for src/tuning.rs from a report, with its evidence.

use anyhow::{Context, Result, bail, ensure};
use vksort::__private::{common_values, vendor};
use vksort::ash::vk::DriverId;
use vksort::{Knob, Scale, Tuning};
use vksort_programs::common::device_report::{Best, DeviceReport, State, Verdict};

/// Where the page of devices has the figures.
const EVIDENCE: &str = "measured: docs/DEVICES.md";

/// The source of the row.
pub fn row(report: &DeviceReport) -> Result<String> {
    let best = report.best.as_ref().context("best is missing: it takes a report of measure.sh, which runs `tune`")?;
    let selftest =
        report.selftest.as_ref().context("selftest is missing: no row is for a device that was not tested")?;
    let verdict = selftest.verdict();
    ensure!(verdict != Verdict::Wrong, "selftest is {verdict}: no row is for a device that does not sort right");
    // Something ended the program in the middle of one.
    if let Some(kind) = selftest.kinds.iter().find(|kind| kind.state == State::Began) {
        bail!("selftest began {:?} and did not end it: no row is for a device that fails", kind.request);
    }
    let failed: u32 = report.steps.iter().map(|step| step.failed).sum();
    ensure!(failed == 0, "failed tests are {failed}, allowed are 0: no row is for a device that does not sort right");

    let identity = &report.device.identity;
    let (name, driver, of_today) =
        (&identity.name, &identity.driver, Tuning::for_device(&report.device.profile()).name);
    let about = format!("{name:?} with driver {driver:?}, vksort {}, {}", report.vksort.version, best.date);
    if best.tuning.knobs == report.row.knobs {
        return Ok(format!(
            "// {about}: `tune` found nothing faster than the row {:?}, which keeps its numbers. Its evidence becomes\n{EVIDENCE:?}",
            report.row.name
        ));
    }
    let tuning = best.tuning.tuning().context("best.tuning.knobs")?;
    let common = common_values();
    let differs = |knob: &&Knob| knob.get(&tuning) != knob.get(&common);
    let fields: String = Tuning::KNOBS.iter().filter(differs).map(|knob| source(knob, &tuning)).collect();
    let gains: String = gains(best).iter().map(|gain| format!("// * {gain}\n")).collect();
    Ok(format!(
        "// {about}, beside the row {:?}:\n{gains}// It goes before the row {of_today:?}, with a class in \
         tests/host/profiles.rs. `applies` may be widened.\n\
         Row {{\n    applies: |p| {} && p.device_id == {:#x} && {},\n    tuning: || Tuning {{\n{fields}        ..gpu({:?}, {EVIDENCE:?})\n    }},\n}},",
        report.row.name,
        vendor_is(identity.vendor_id),
        identity.device_id,
        driver_is(identity.driver_id),
        slug(name),
    ))
}

/// How many times as fast as the row the best tuning is, for each kind of sort.
pub fn gains(best: &Best) -> Vec<String> {
    let gain = |sort: &vksort_profiles::MeasuredSort| {
        let ratio = sort.ratio;
        format!(
            "{:.2} ({:.2} to {:.2}) times as fast for {} {}",
            ratio.median,
            ratio.q25,
            ratio.q75,
            sort.count,
            sort.kind.name()
        )
    };
    best.measured.iter().map(gain).collect()
}

/// A field of the row in Rust.
fn source(knob: &Knob, tuning: &Tuning) -> String {
    let value = match (knob.get(tuning), knob.scale) {
        (None, _) => "None".into(),
        (Some(number), Scale::Switch) => (number != 0).to_string(),
        (Some(_), Scale::Methods(_)) if knob.name == "ballot" => format!("Ballot::{:?}", tuning.ballot),
        (Some(_), Scale::Methods(_)) => format!("RankMethod::{:?}", tuning.rank),
        (Some(number), _) if knob.optional => format!("Some({number})"),
        (Some(number), _) => number.to_string(),
    };
    format!("        {}: {value},\n", knob.name)
}

fn vendor_is(id: u32) -> String {
    let names = [
        (vendor::NVIDIA, "NVIDIA"),
        (vendor::AMD, "AMD"),
        (vendor::INTEL, "INTEL"),
        (vendor::APPLE, "APPLE"),
        (vendor::QUALCOMM, "QUALCOMM"),
        (vendor::ARM, "ARM"),
    ];
    match names.iter().find(|(number, _)| *number == id) {
        Some((_, name)) => format!("p.vendor_id == vendor::{name}"),
        None => format!("p.vendor_id == {id:#x}"),
    }
}

/// By ash's name of the driver, if it has one.
fn driver_is(id: i32) -> String {
    let name = format!("{:?}", DriverId::from_raw(id));
    match name.parse::<i32>() {
        Ok(_) => format!("p.driver_id.as_raw() == {id}"),
        Err(_) => format!("p.driver_id == ash::vk::DriverId::{name}"),
    }
}

/// A device's name as that of a row.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}
