//! Rows of results.csv: what was measured, where, and how.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use vksort::standalone::Gpu;
use vksort::{Order, Placement, SortRequest};
use vksort_profiles::Quartiles;

use crate::case::{COPY, Case, How, Tweak};
use crate::measure::Measured;
use crate::problems::Way;

/// One case at one size. Other programs that write these columns can be merged with `--peer-csv`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub suite: String,
    pub case: String,
    pub device: String,
    pub driver: String,
    pub subgroup: Option<u32>,
    pub vksort_version: String,
    pub date: String,
    pub key: String,
    pub value_bytes: u64,
    pub order: String,
    pub bits: String,
    pub placement: String,
    pub algorithm: String,
    pub rank: String,
    pub tuning: String,
    pub data: String,
    pub seed: Option<u64>,
    pub n: u64,
    pub runs: u32,
    pub gpu_ns_median: Option<f64>,
    pub gpu_ns_q25: Option<f64>,
    pub gpu_ns_q75: Option<f64>,
    pub gpu_ns_min: Option<f64>,
    pub wall_ns_median: Option<f64>,
    pub wall_ns_q25: Option<f64>,
    pub wall_ns_q75: Option<f64>,
    /// CPU time of the process, on drivers that compute on the CPU. Suites of single sorts, and other programs, have none.
    #[serde(default)]
    pub cpu_ns_median: Option<f64>,
    #[serde(default)]
    pub cpu_ns_q25: Option<f64>,
    #[serde(default)]
    pub cpu_ns_q75: Option<f64>,
    pub elements_per_s: f64,
    pub floor_bytes: u64,
    pub floor_share: Option<f64>,
    /// What recording the sort costs the host: the lower quartile. Other programs need not have the column.
    #[serde(default)]
    pub record_ns: Option<f64>,
}

/// The largest number of a row.
const LARGEST: f64 = 1e30;

/// What all rows of a run have in common.
pub struct Run<'a> {
    pub gpu: &'a Gpu,
    pub date: String,
    pub seed: u64,
    pub runs: u32,
}

impl Row {
    /// The name in tables and plots.
    pub fn label(&self) -> String {
        match self.vksort_version.is_empty() {
            true => format!("{}: {}", self.suite, self.case),
            false => self.case.clone(),
        }
    }

    /// Refuses numbers that nothing can be drawn of.
    fn check(&self) -> Result<()> {
        ensure!(self.n > 0, "n is 0, allowed is 1 or more");
        let numbers = [
            ("gpu_ns_median", self.gpu_ns_median),
            ("gpu_ns_q25", self.gpu_ns_q25),
            ("gpu_ns_q75", self.gpu_ns_q75),
            ("gpu_ns_min", self.gpu_ns_min),
            ("wall_ns_median", self.wall_ns_median),
            ("wall_ns_q25", self.wall_ns_q25),
            ("wall_ns_q75", self.wall_ns_q75),
            ("cpu_ns_median", self.cpu_ns_median),
            ("cpu_ns_q25", self.cpu_ns_q25),
            ("cpu_ns_q75", self.cpu_ns_q75),
            ("elements_per_s", Some(self.elements_per_s)),
            ("floor_share", self.floor_share),
            ("record_ns", self.record_ns),
        ];
        for (column, number) in numbers {
            let number = number.unwrap_or(0.0);
            ensure!((0.0..=LARGEST).contains(&number), "{column} is {number:?}, allowed are 0 to {LARGEST:?}");
        }
        Ok(())
    }

    /// Median and quartiles of what the row is compared by: CPU time if it was taken, else the time on the device where there is one.
    pub fn time(&self) -> Option<(f64, f64, f64)> {
        let gpu = (self.gpu_ns_median, self.gpu_ns_q25, self.gpu_ns_q75);
        let wall = (self.wall_ns_median, self.wall_ns_q25, self.wall_ns_q75);
        let cpu = (self.cpu_ns_median, self.cpu_ns_q25, self.cpu_ns_q75);
        let all = |(median, low, high): (Option<f64>, Option<f64>, Option<f64>)| Some((median?, low?, high?));
        all(cpu).or(all(gpu)).or(all(wall))
    }

    pub fn is_copy(&self) -> bool {
        self.case == COPY
    }
}

/// The rows of a run. The share of the floor is that of the suite's copy bandwidth at its largest size, or of the problem's own copy.
pub fn rows(run: &Run<'_>, measured: &[Measured]) -> Vec<Row> {
    let bandwidth = |case: &Case| {
        let is_copy = |other: &Case| match (case.how, other.how) {
            (How::Problem { name, .. }, How::Problem { name: of, way, .. }) => (of, way) == (name, Way::Copy),
            _ => other.name == COPY,
        };
        let copies = measured.iter().filter(|m| m.case.suite == case.suite && is_copy(&m.case));
        let largest = copies.max_by_key(|m| m.n)?;
        Some(largest.floor_bytes as f64 * f64::from(largest.n) / Quartiles::of(largest.times()).median.max(1.0))
    };
    measured.iter().map(|measured| row(run, measured, bandwidth(&measured.case))).collect()
}

fn row(run: &Run<'_>, measured: &Measured, bandwidth: Option<f64>) -> Row {
    let Measured { case, n, floor_bytes, .. } = measured;
    let profile = run.gpu.profile();
    let median = Quartiles::of(measured.times()).median.max(1.0);
    let gpu = (!measured.gpu.is_empty()).then(|| Quartiles::of(&measured.gpu));
    let cpu = (!measured.cpu.is_empty()).then(|| Quartiles::of(&measured.cpu));
    let wall = Quartiles::of(&measured.wall);
    let tenths = |ns: f64| (ns * 10.0).round() / 10.0;
    let on_device = !matches!(case.how, How::Cpu { .. });
    let share = |bandwidth: f64| (*floor_bytes as f64 * f64::from(*n) / median / bandwidth * 1e4).round() / 1e4;
    let (request, tuning) = match case.how {
        How::Device { request, tweak } => (request, tweak.label(run.gpu)),
        How::Problem { request, .. } => (request, Tweak::None.label(run.gpu)),
        How::Cpu { .. } | How::Bitonic { .. } => (SortRequest::new(case.key()), String::new()),
    };
    let algorithm = match case.how {
        How::Device { .. } | How::Problem { .. } | How::Bitonic { .. } => measured.algorithm.clone(),
        How::Cpu { peer, .. } => peer.name().into(),
    };
    Row {
        suite: case.suite.name(),
        case: case.name.clone(),
        device: if on_device { profile.name.clone() } else { cpu_name() },
        driver: if on_device { profile.driver.clone() } else { format!("{} threads", rayon::current_num_threads()) },
        subgroup: measured.shape.map(|shape| shape.ranking.subgroup.size),
        vksort_version: vksort::VERSION.into(),
        date: run.date.clone(),
        key: case.key().name().into(),
        value_bytes: case.value_bytes(),
        order: if on_device { request.order } else { Order::Ascending }.to_string(),
        bits: request.bits.to_string(),
        placement: if request.placement == Placement::InPlace { "in place" } else { "out of place" }.into(),
        algorithm,
        rank: measured.shape.map(|shape| format!("{:?}", shape.ranking.method).to_lowercase()).unwrap_or_default(),
        tuning,
        data: case.data.name(),
        seed: Some(run.seed),
        n: u64::from(*n),
        runs: run.runs,
        gpu_ns_median: gpu.map(|gpu| tenths(gpu.median)),
        gpu_ns_q25: gpu.map(|gpu| tenths(gpu.q25)),
        gpu_ns_q75: gpu.map(|gpu| tenths(gpu.q75)),
        gpu_ns_min: measured.gpu.iter().copied().reduce(f64::min).map(tenths),
        wall_ns_median: Some(tenths(wall.median)),
        wall_ns_q25: Some(tenths(wall.q25)),
        wall_ns_q75: Some(tenths(wall.q75)),
        cpu_ns_median: cpu.map(|cpu| tenths(cpu.median)),
        cpu_ns_q25: cpu.map(|cpu| tenths(cpu.q25)),
        cpu_ns_q75: cpu.map(|cpu| tenths(cpu.q75)),
        elements_per_s: (f64::from(*n) / median * 1e9).round(),
        floor_bytes: *floor_bytes,
        floor_share: bandwidth.filter(|_| on_device).map(share),
        record_ns: (!measured.recording.is_empty()).then(|| tenths(Quartiles::of(&measured.recording).q25)),
    }
}

/// The name that Linux has for the processor.
fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    line.map_or("CPU".into(), |(_, name)| name.trim().into())
}

/// Reads rows of results.
pub fn read_results(path: &Path) -> Result<Vec<Row>> {
    let rows: Vec<Row> = read(path)?;
    for (index, row) in rows.iter().enumerate() {
        row.check().with_context(|| format!("row {}", index + 1))?;
    }
    Ok(rows)
}

/// A row of step-times.csv: what one step of a case took on the device.
#[derive(Serialize)]
pub struct StepRow {
    suite: String,
    case: String,
    n: u32,
    step: String,
    gpu_ns_median: f64,
    gpu_ns_q25: f64,
    gpu_ns_q75: f64,
}

/// The steps of all cases, in order; none of those that a device without timestamps ran.
pub fn steps(measured: &[Measured]) -> Vec<StepRow> {
    let of_case = |measured: &Measured| -> Vec<StepRow> {
        let row = |(step, times): &(String, Vec<f64>)| {
            let Quartiles { q25, median, q75 } = Quartiles::of(times);
            StepRow {
                suite: measured.case.suite.name(),
                case: measured.case.name.clone(),
                n: measured.n,
                step: step.clone(),
                gpu_ns_median: median,
                gpu_ns_q25: q25,
                gpu_ns_q75: q75,
            }
        };
        measured.steps.iter().map(row).collect()
    };
    measured.iter().flat_map(of_case).collect()
}

/// Reads rows that another program, or another run, has written.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let mut reader = csv::Reader::from_path(path)?;
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}

/// Rows as a file.
pub fn to_csv<T: Serialize>(rows: &[T]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    Ok(writer.into_inner()?)
}

/// Checks that a text is a day.
pub fn parse_date(text: &str) -> Result<String, String> {
    let is_day = text.len() == 10 && humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok();
    if is_day { Ok(text.into()) } else { Err("allowed is a day from 1970 on, as YYYY-MM-DD".into()) }
}
