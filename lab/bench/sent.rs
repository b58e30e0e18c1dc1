//! The report of a session that users send.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use vksort_profiles::{Quartiles, TuningProfile};
use vksort_programs::common::device_report::{Clock, DeviceReport, Figure, Over, Step};

use crate::row::Row;
use crate::session::Session;

/// What `devices --report` wrote first.
const DEVICE: &str = "device.json";

/// The report, if the directory has what is known of the device. Its tests are named by the logs, and no other text of these is
/// in it, because that may have paths.
pub fn report(directory: &Path, session: &Session) -> Result<Option<DeviceReport>> {
    let device = directory.join(DEVICE);
    if !device.exists() {
        return Ok(None);
    }
    let mut report = DeviceReport::load(&device)?;
    report.command.clone_from(&session.command);
    report.vksort.build = Some(session.build.clone());
    report.steps = session.steps.iter().map(|step| step_of(directory, step)).collect::<Result<_>>()?;
    let own =
        [&session.sizes, &session.features, &session.methods, &session.patterns, &session.finish, &session.others];
    let own = own.into_iter().flatten();
    let own = own.filter_map(|row| figure(session, row, &row.suite));
    report.figures = own.chain(session.tuned.iter().filter_map(|row| figure(session, row, "tuned"))).collect();
    let profile = directory.join("profile.json");
    if profile.exists() {
        report.best = Some((&TuningProfile::load(&profile)?).into());
    }
    Ok(Some(report))
}

fn step_of(directory: &Path, step: &crate::session::Step) -> Result<Step> {
    let mut failures = Vec::new();
    if step.failed > 0 {
        let log = directory.join("logs").join(format!("{}.log", step.step));
        let text = fs::read(&log).with_context(|| log.display().to_string())?;
        let name = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix("... FAILED")?.trim_end().to_string());
        failures.extend(String::from_utf8_lossy(&text).lines().filter_map(name));
    }
    Ok(Step {
        step: step.step.clone(),
        state: step.state.to_string(),
        seconds: step.seconds,
        passed: step.passed,
        failed: step.failed,
        failures,
    })
}

fn figure(session: &Session, row: &Row, suite: &str) -> Option<Figure> {
    let clock = match (row.cpu_ns_median, row.gpu_ns_median) {
        (Some(_), _) => Clock::Cpu,
        (None, Some(_)) => Clock::Device,
        (None, None) => Clock::Host,
    };
    let (median, q25, q75) = row.time()?;
    let peer = session.cub(&row.case, row.n).filter(|_| clock == Clock::Device);
    let over = peer.and_then(|peer| {
        let speed = peer.gpu_ns_median? / median.max(1.0);
        Some(Over { peer: format!("CUB, {}", peer.driver), speed: (speed * 1e4).round() / 1e4 })
    });
    Some(Figure {
        suite: suite.into(),
        case: row.case.clone(),
        request: format!(
            "{} keys, values of {} bytes, {}, bits {}, {}",
            row.key, row.value_bytes, row.order, row.bits, row.placement
        ),
        data: row.data.clone(),
        algorithm: row.algorithm.clone(),
        tuning: row.tuning.clone(),
        elements: row.n,
        runs: row.runs,
        clock,
        ns: Quartiles { q25, median, q75 },
        over,
    })
}
