//! Sorts .npy arrays on a Vulkan device.

#[path = "../common/mod.rs"]
mod common;
mod job;
mod npy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use common::files::Output;
use job::{Job, Sorted};
use npy::Array;
use vksort::{MAX_COUNT, Order};

/// Sorts .npy arrays on a Vulkan device, stably. Without --keys it sorts and verifies generated pairs.
#[derive(Parser)]
#[command(after_help = "\
Arrays have one dimension and dtype uint32, int32 or float32; floats sort in IEEE 754 total order.

Examples:
  sort --keys depth.npy --descending --argsort order.npy
  sort --keys k.npy --values v.npy --out-keys sorted-k.npy --out-values sorted-v.npy --verify")]
struct Args {
    /// Keys to sort
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Values to reorder with the keys, into --out-values
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
    /// Elements to generate without --keys [default: 1048576]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_COUNT)))]
    count: Option<u32>,
    /// Generate keys without values
    #[arg(long)]
    keys_only: bool,
    /// Seed to generate them with [default: a new one, printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write the sorted keys
    #[arg(long, value_name = "FILE")]
    out_keys: Option<PathBuf>,
    /// Write the values in the order of their keys
    #[arg(long, value_name = "FILE")]
    out_values: Option<PathBuf>,
    /// Write the sorting permutation: uint32 indices into the keys
    #[arg(long, value_name = "FILE")]
    argsort: Option<PathBuf>,
    /// Largest key first; equal keys keep their order all the same
    #[arg(long)]
    descending: bool,
    /// Sort so often, each time from the input, and print medians
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Compare every element of the result with a stable sort on the CPU
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    common: common::Common,
}

fn main() -> ExitCode {
    common::run(sort)
}

fn sort() -> Result<()> {
    let args: Args = common::parse()?;
    args.check()?;
    let output = |flag, path: &Option<PathBuf>| path.as_ref().map(|path| Output::new(flag, path)).transpose();
    let out_keys = output("--out-keys", &args.out_keys)?;
    let out_values = output("--out-values", &args.out_values)?;
    let argsort = output("--argsort", &args.argsort)?;
    Output::check_distinct(&[&out_keys, &out_values, &argsort].into_iter().flatten().collect::<Vec<_>>())?;

    let job = args.job()?;
    let gpu = args.common.open()?;
    let sorted = common::during("sorting", || job.run(&gpu, args.common.algorithm, args.repeat))?;
    args.common.print_device(gpu.profile(), sorted.algorithm);
    common::say(format!("input      {}", job.describe()));
    common::say(format!("\n{}", report(&sorted, job.count())));
    if args.verify || args.keys.is_none() {
        common::during("verifying", || job.verify(&sorted))?;
        common::say("\nverified   every element equals that of a stable sort on the CPU");
    }
    common::check_validation(&gpu.validation_errors())?;

    let files = [(out_keys, Some(sorted.keys)), (out_values, sorted.values), (argsort, sorted.indices)];
    let wanted = files.into_iter().filter_map(|(output, array)| output.zip(array));
    let contents = wanted.map(|(output, array)| Ok((output, array.to_file()?))).collect::<Result<Vec<_>>>()?;
    common::during("writing", || Output::write_all(&contents))
}

impl Args {
    /// Flags that need each other, or exclude each other.
    fn check(&self) -> Result<()> {
        let (keys, values) = (self.keys.is_some(), self.values.is_some());
        let needs = [
            ("--values", values, "--keys", keys),
            ("--out-keys", self.out_keys.is_some(), "--keys", keys),
            ("--argsort", self.argsort.is_some(), "--keys", keys),
            ("--out-values", self.out_values.is_some(), "--values", values),
            ("--values", values, "--out-values", self.out_values.is_some()),
        ];
        for (flag, given, other, there) in needs {
            ensure!(!given || there, "{flag} is given without {other}, allowed is {flag} with {other}");
        }
        for (flag, given) in
            [("--count", self.count.is_some()), ("--keys-only", self.keys_only), ("--seed", self.seed.is_some())]
        {
            ensure!(!given || !keys, "{flag} is given with --keys, allowed is {flag} without --keys");
        }
        Ok(())
    }

    fn job(&self) -> Result<Job> {
        let order = if self.descending { Order::Descending } else { Order::Ascending };
        let Some(keys) = &self.keys else {
            let seed = self.seed.unwrap_or_else(|| fastrand::u64(..));
            return Ok(Job::generate(self.count.unwrap_or(1 << 20), !self.keys_only, seed, order));
        };
        let keys = common::during("reading keys", || Array::read("--keys", keys))?;
        let read = |path| common::during("reading values", || Array::read("--values", path));
        let values = self.values.as_deref().map(read).transpose()?;
        Job::new(keys, values, self.argsort.is_some(), order)
    }
}

/// The time of each step on the device where it has timestamps, and of the whole as the host sees it.
fn report(sorted: &Sorted, count: u32) -> String {
    if count == 0 {
        return "nothing to sort".into();
    }
    let nanoseconds = |wall: &std::time::Duration| wall.as_nanos() as f64;
    let walls: Vec<f64> = sorted.walls.iter().map(nanoseconds).collect();
    let (least, median, most) = (walls[0], walls[walls.len() / 2], walls[walls.len() - 1]);
    let host = match walls.len() {
        1 => format!("host sees {}, {}", common::duration(median), common::rate(count, median)),
        runs => format!(
            "host sees {}, {}, median of {runs} runs between {} and {}",
            common::duration(median),
            common::rate(count, median),
            common::duration(least),
            common::duration(most)
        ),
    };
    match sorted.steps.is_empty() {
        true => format!("{host} (the device has no timestamps)"),
        false => format!("{}\n\n{host}", common::step_table(&sorted.steps, count)),
    }
}
