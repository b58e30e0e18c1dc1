//! Candidate rows of a model: what `scripts/gpu-compilers.sh --sweep` has kept of them.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use vksort::{Ballot, DeviceProfile, RankMethod, SortRequest, ValueType};
use vksort_profiles::Quartiles;

use crate::candidate::{Candidate, named};
use crate::case::{Case, How, Suite, Tweak};
use crate::data::Data;
use crate::measure::Measured;
use vksort_lab::bench::order::Ordered;

/// Candidates of a request that are measured.
const MEASURED: usize = 12;

/// Models' names of GPUs: vendor, and what names of devices have in them. The first that fits; else the first of the vendor.
const GPUS: [(&str, u32, &[&str]); 13] = [
    ("h100", 0x10DE, &["H100", "H200", "H800", "A100", "B200"]),
    ("rtx2080ti", 0x10DE, &["RTX 20", "GTX 16", "T4", "Quadro RTX"]),
    ("rtx4090", 0x10DE, &["RTX", "L4", "A10"]),
    ("navi21", 0x1002, &["NAVI2", "RX 6"]),
    ("gfx1201", 0x1002, &["GFX12", "RX 9"]),
    ("vega20", 0x1002, &["VEGA", "Vega", "POLARIS", "Radeon VII"]),
    ("navi31", 0x1002, &["NAVI3", "RX 7"]),
    ("bmg", 0x8086, &["BMG", "LNL", "B570", "B580", "140V"]),
    ("dg2", 0x8086, &["DG2", "Arc", "MTL"]),
    ("tgl", 0x8086, &["Xe", "TGL", "ADL", "RPL"]),
    ("skl", 0x8086, &["HD Graphics", "SKL", "KBL", "CFL"]),
    ("adreno660", 0x5143, &["(TM) 6"]),
    ("adreno740", 0x5143, &["(TM) 7"]),
];

/// A line of the file. Columns that nobody reads here are left out.
#[derive(Clone, Debug, Deserialize)]
struct Line {
    gpu: String,
    request: String,
    built_in: u8,
    workgroup_size: u32,
    items: u32,
    subgroup_size: u32,
    #[serde(deserialize_with = "named")]
    rank: RankMethod,
    #[serde(deserialize_with = "named")]
    ballot: Ballot,
    few_registers: bool,
    issue: f64,
    shared: f64,
    spill: f64,
    bytes: f64,
    latency: f64,
    bound: String,
    cycles: f64,
}

impl Line {
    fn candidate(&self) -> Candidate {
        let &Line { workgroup_size, items, subgroup_size, rank, ballot, few_registers, .. } = self;
        Candidate { workgroup_size, items, subgroup_size, rank, ballot, few_registers }
    }

    fn case(&self) -> String {
        format!("{}: {}", self.request, self.candidate().name())
    }
}

/// Candidates for a device.
#[derive(Default)]
pub struct Model {
    lines: Vec<Line>,
}

impl Model {
    /// Those of a GPU that are measured: the built-in row, and others from the first to the last in the model's order.
    pub fn read(path: &Path, gpu: Option<&str>, device: &DeviceProfile) -> Result<Model> {
        let all: Vec<Line> = csv::Reader::from_path(path)?.deserialize().collect::<Result<_, _>>()?;
        let of_vendor = || GPUS.iter().filter(|(_, vendor, _)| *vendor == device.vendor_id);
        let named = || of_vendor().find(|(_, _, parts)| parts.iter().any(|part| device.name.contains(part)));
        let nearest = || named().or_else(|| of_vendor().next()).map(|(gpu, ..)| *gpu);
        let gpu = gpu.or_else(nearest).with_context(|| {
            format!("the model has no GPU like {:?}; allowed is one of its own, by --model-gpu", device.name)
        })?;
        let mut lines = Vec::new();
        for request in ["keys", "pairs"] {
            let mut of_request: Vec<&Line> =
                all.iter().filter(|line| line.gpu == gpu && line.request == request).collect();
            of_request.sort_by(|a, b| a.cycles.total_cmp(&b.cycles));
            let (last, count) = (of_request.len().saturating_sub(1), of_request.len().min(MEASURED));
            let spread = |index: usize| index * last / count.saturating_sub(1).max(1);
            let chosen: Vec<usize> = (0..count).map(spread).collect();
            let keep = |(at, line): &(usize, &&Line)| chosen.contains(at) || line.built_in == 1;
            lines.extend(of_request.iter().enumerate().filter(keep).map(|(_, line)| (*line).clone()));
        }
        ensure!(!lines.is_empty(), "there is no candidate of {gpu:?}");
        Ok(Model { lines })
    }

    pub fn cases(&self, u32s: SortRequest) -> Vec<Case> {
        let case = |line: &Line| {
            let value = if line.request == "pairs" { ValueType::U32 } else { ValueType::None };
            let (request, tweak) = (SortRequest { value, ..u32s }, Tweak::Row(line.candidate()));
            Case { suite: Suite::Model, name: line.case(), how: How::Device { request, tweak }, data: Data::Uniform }
        };
        self.lines.iter().map(case).collect()
    }

    /// What was measured beside what was predicted.
    pub fn ordered(&self, measured: &[Measured]) -> Vec<Ordered> {
        let order = |measured: &Measured| {
            let line = self.lines.iter().find(|line| line.case() == measured.case.name)?.clone();
            Some(Ordered {
                candidate: line.candidate().name(),
                gpu: line.gpu,
                request: line.request,
                n: measured.n.into(),
                built_in: line.built_in,
                issue: line.issue,
                shared: line.shared,
                spill: line.spill,
                bytes: line.bytes,
                latency: line.latency,
                bound: line.bound,
                cycles: line.cycles,
                measured_ns: Quartiles::of(measured.times()).median,
            })
        };
        measured.iter().filter(|m| m.case.suite == Suite::Model).filter_map(order).collect()
    }
}
