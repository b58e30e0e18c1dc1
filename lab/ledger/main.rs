//! A ledger of random sorts: drawn requests with a thousand data sets each, compared in full with stable sorts on the CPU.

mod draw;
mod row;

use std::mem;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use cpu_time::ProcessTime;
use vksort::Error;
use vksort::standalone::{DeviceChoice, Gpu, GpuOptions, Sorter};

use vksort_programs::common::{self, Working, calendar};
use vksort_testing::batch::{self, Sort};

use draw::{Drawn, Kind};
use row::Row;

/// Sorts random data by random requests, and compares each result in full with a stable sort on the CPU
#[derive(Parser)]
#[command(name = "ledger", after_help = HELP)]
struct Args {
    /// "best", an index or part of a name [default: $VKSORT_DEVICE, else best]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
    /// Data sets after which no request begins [default: 10000, or none with --seconds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sorts: Option<u64>,
    /// Seconds after which no request begins [default: none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// Seed of all that is drawn [default: $VKSORT_SEED, else a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The most data sets of each request
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    sets: u64,
    /// Sort the data sets of this request alone
    #[arg(long, value_name = "K", conflicts_with_all = ["sorts", "seconds"])]
    request: Option<u64>,
    /// Sort this data set of the request alone
    #[arg(long, value_name = "N", requires = "request")]
    only: Option<u64>,
    /// Append the run to this CSV file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Data set of each request whose result another command changes, for tests
    #[arg(long, value_name = "N", hide = true)]
    spoil: Option<u64>,
}

const HELP: &str = "\
Each request is compiled once. Its data sets have from 0 to 40,000 elements, most of them fewer than 600, with guard
bytes around every buffer. What is wrong is printed with the command that repeats it, and the exit code is then 1.
With RUST_LOG=ledger=info there is a line for each submission, of a hundred sorts, and one for what the device does
not support. lab/record/ledger.csv has the runs so far.";

/// Data sets, and about so many elements, that are sorted in one submission.
const BATCH: (usize, u64) = (100, 1 << 18);

/// CPU time for each data set of a request, after which no batch of it begins. The first batch does not count, which waits for
/// compilers. On a CPU, passes over small tiles of wide keys take 20 times as long as most sorts.
const SLOW: Duration = Duration::from_millis(1);

/// Wrong data sets of a request that are printed.
const PRINTED: u64 = 3;

fn main() -> ExitCode {
    common::run(keep)
}

fn keep() -> Result<()> {
    let args: Args = common::parse()?;
    if let Some(path) = &args.out {
        row::check(path)?;
    }
    let seed = args.seed.map_or_else(seed_of_environment, Ok)?;
    let gpu = Gpu::new(&GpuOptions::default().device(args.device.clone()))?;
    let profile = gpu.profile();
    common::say(format!(
        "device     {}, driver {}, subgroups of {}",
        profile.name, profile.driver, profile.subgroup_size
    ));
    common::say(format!("vksort     {}, kernels {}", vksort::VERSION, vksort::__private::kernels_digest()));
    common::say(format!("seed       {seed}"));
    let mut ledger = Ledger { gpu: &gpu, seed, args: &args, row: Row::default(), printed: (None, 0) };
    let (started, cpu) = (Instant::now(), ProcessTime::now());
    ledger.run(started);
    let (took, spent) = (started.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let rounded = |number: f64| (1_000.0 * number).round() / 1_000.0;
    let row = Row {
        date: calendar::today(),
        vksort: vksort::VERSION.into(),
        kernels: vksort::__private::kernels_digest().to_string(),
        device: profile.name.clone(),
        driver: profile.driver.clone(),
        subgroup: profile.subgroup_size,
        seed,
        cpu_seconds: rounded(spent),
        seconds: rounded(took),
        sorts_per_second: rounded(ledger.row.sorts() as f64 / took),
        ..ledger.row
    };
    common::say(format!("requests   {}, and {} that the device does not support", row.requests, row.unsupported));
    let Row { arrays, segments, first_elements, records, elements, wrong, .. } = row;
    common::say(format!(
        "data sets  {}: {arrays} arrays, {segments} of segments, {first_elements} of first elements, {records} of records; {elements} elements",
        row.sorts()
    ));
    common::say(format!("time       {took:.1} s, {spent:.1} s of the CPU, {:.0} sorts/s", row.sorts_per_second));
    common::say(format!("wrong      {wrong}"));
    if let Some(path) = &args.out {
        row::append(path, &row)?;
    }
    ensure!(wrong == 0, "wrong are {wrong} of {} data sets, the first: {}", row.sorts(), row.first_wrong);
    Ok(())
}

/// The seed of `VKSORT_SEED`, else a new one.
fn seed_of_environment() -> Result<u64> {
    match std::env::var("VKSORT_SEED") {
        Ok(text) => text.parse().with_context(|| format!("VKSORT_SEED is {text:?}, allowed is a number")),
        Err(_) => Ok(fastrand::u64(..)),
    }
}

/// A run.
struct Ledger<'a> {
    gpu: &'a Gpu,
    seed: u64,
    args: &'a Args,
    row: Row,
    /// What was wrong with which request last, how often.
    printed: (Option<u64>, u64),
}

impl Ledger<'_> {
    fn run(&mut self, started: Instant) {
        let limit = self.args.seconds.map(Duration::from_secs);
        let most = self.args.sorts.unwrap_or(if limit.is_some() { u64::MAX } else { 10_000 });
        let working = Working::new("ledger", limit);
        let requests = self.args.request.map_or(0..=u64::MAX, |only| only..=only);
        for request in requests {
            let (sorts, wrong) = (self.row.sorts(), self.row.wrong);
            if sorts >= most || limit.is_some_and(|limit| started.elapsed() >= limit) {
                break;
            }
            working.is_at(format!("ledger, request {request}, {sorts} data sets, {wrong} wrong"));
            // A run makes thousands of pipelines.
            let sorted = self.request(request).and_then(|()| self.gpu.clear_pipelines());
            if let Err(error) = sorted {
                // The device may be lost.
                self.alarm(request, None, &error.to_string());
                break;
            }
        }
    }

    /// Sorts the data sets of a request.
    fn request(&mut self, number: u64) -> Result<(), Error> {
        let mut drawn = Drawn::new(self.gpu, self.seed, number);
        let sorter = match drawn.sorter(self.gpu) {
            Err(error @ (Error::UnsuitableDevice { .. } | Error::Unsupported { .. })) => {
                log::info!("request {number} is not supported: {}, {:?}: {error}", drawn.request, drawn.options);
                self.row.unsupported += 1;
                return Ok(());
            }
            built => built?,
        };
        self.row.requests += 1;
        let sets = self.args.only.map_or(0..self.args.sets, |only| only..only + 1);
        let longest = SLOW.saturating_mul(self.args.sets as u32);
        let (mut batch, mut elements, mut began) = (Vec::new(), 0, None);
        for set in sets.clone() {
            let sort = drawn.sort(&sorter, (self.seed, number, set));
            elements += u64::from(sort.data.capacity().elements);
            batch.push((set, Sort { spoiled: self.args.spoil == Some(set), ..sort }));
            if batch.len() == BATCH.0 || elements >= BATCH.1 || set + 1 == sets.end {
                self.row.elements += mem::take(&mut elements);
                self.batch(number, &drawn, &sorter, mem::take(&mut batch))?;
                if began.get_or_insert_with(ProcessTime::now).elapsed() > longest {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Sorts some data sets in one submission.
    fn batch(&mut self, request: u64, drawn: &Drawn, sorter: &Sorter, batch: Vec<(u64, Sort)>) -> Result<(), Error> {
        let (sets, sorts): (Vec<u64>, Vec<Sort>) = batch.into_iter().unzip();
        let started = Instant::now();
        let found = batch::run(self.gpu, sorter.recording(), &sorts)?;
        // Drivers on CPUs compile at the first dispatch of a request.
        let ms = started.elapsed().as_millis();
        log::info!("request {request}, from data set {}: {ms} ms, {}, {:?}", sets[0], drawn.request, drawn.options);
        let counted = match drawn.kind {
            Kind::Array => &mut self.row.arrays,
            Kind::Segments => &mut self.row.segments,
            Kind::First => &mut self.row.first_elements,
            Kind::Records => &mut self.row.records,
        };
        *counted += sets.len() as u64;
        for ((set, sort), found) in sets.into_iter().zip(&sorts).zip(found) {
            if let Err(what) = found {
                let (capacity, count) = (sort.data.capacity(), sort.data.count());
                let what = format!("{what}; {capacity:?}, {count:?}, {:?}", drawn.options);
                self.alarm(request, Some(set), &what);
            }
        }
        Ok(())
    }

    /// Counts what is wrong with a request, or with a data set of it, and prints the first of them.
    fn alarm(&mut self, request: u64, set: Option<u64>, what: &str) {
        let command = self.command(request, set);
        if self.printed.0 != Some(request) {
            self.printed = (Some(request), 0);
        }
        if self.printed.1 < PRINTED {
            common::say(format!("WRONG      {command}: {what}"));
        }
        self.printed.1 += 1;
        if self.row.wrong == 0 {
            self.row.first_wrong = command;
        }
        self.row.wrong += 1;
    }

    /// The command that repeats a request, or a data set of it.
    fn command(&self, request: u64, set: Option<u64>) -> String {
        let only = set.map_or(String::new(), |set| format!(" --only {set}"));
        format!("ledger --seed {} --request {request}{only}", self.seed)
    }
}
