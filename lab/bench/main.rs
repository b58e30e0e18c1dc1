//! Measures sorts on a device, every one of them verified: bench --suite features --out results
//!
//! All cases of one size run in turns, so that what the machine does besides touches them alike; the input is restored
//! between runs by a write that is not timed.

mod bitonic;
mod case;
mod data;
mod estimate;
mod figures;
mod measure;
mod peers;
mod plot;
mod problems;
mod report;
mod row;
mod sent;
mod session;
mod sheet;
mod stats;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use vksort::Error;
use vksort::standalone::{DeviceChoice, Gpu};
use vksort_programs::common::canvas;
use vksort_programs::common::{self, Working};

use case::{Case, Suite};
use measure::{Bench, Measured, Rounds};
use problems::{Problem, Unfit};
use row::{Row, Run};
use stats::Found;
use vksort_lab::bench::versus::by_suite;
use vksort_programs::common::files::Output;
use vksort_programs::common::tuning::{self, TuningFlag};

/// Measure sorts on a device, each verified against a stable sort on the CPU.
#[derive(Parser)]
#[command(name = "bench")]
struct Args {
    /// The suite to measure
    #[arg(long, value_enum, default_value_t = Suite::Features)]
    suite: Suite,
    /// Measure only this size [default: up to 2^28, on CPUs 2^18, as far as memory reaches]
    #[arg(long, value_name = "N", conflicts_with = "max_log2", allow_hyphen_values = true, value_parser = common::count::parse_some)]
    count: Option<u32>,
    /// Measure at sizes up to 2^N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=31))]
    max_log2: Option<u32>,
    /// Omit sizes below 2^N, in suites of many sizes [default: 10, or 11 if the largest is odd]
    #[arg(long, value_name = "N", conflicts_with = "count", value_parser = clap::value_parser!(u32).range(10..=31))]
    min_log2: Option<u32>,
    /// Of problems of segments, first elements and records, only those whose names contain this
    #[arg(long, value_name = "TEXT")]
    problem: Option<String>,
    /// Measured runs of each case, after two warm-up runs
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Seed of keys and values
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Most memory to use, on device and host together
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    memory_mib: u64,
    /// Directory for results.csv, summary.md and plots
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite results of an earlier run
    #[arg(long, requires = "out")]
    force: bool,
    /// Rows of another program, to show beside these; may be repeated
    #[arg(long, value_name = "FILE")]
    peer_csv: Vec<PathBuf>,
    /// Date for the rows [default: today, in UTC]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = row::parse_date)]
    date: Option<String>,
    /// Measure nothing: write summary.md, report.json and a plot of the results of scripts/pack/measure.sh in a directory
    #[arg(long, value_name = "DIR", exclusive = true)]
    summarize: Option<PathBuf>,
    #[command(flatten)]
    tuning: TuningFlag,
    #[command(flatten)]
    common: common::Common,
}

const LARGEST_LOG2: u32 = 28;
const LARGEST_LOG2_ON_CPU: u32 = 18;
const LARGEST_PROBLEM_LOG2: u32 = 24;
const SMALLEST_LOG2: u32 = 10;
/// What counts as few elements.
const LARGEST_FEW_LOG2: u32 = 17;

fn main() -> ExitCode {
    common::run(bench)
}

fn bench() -> Result<()> {
    let args: Args = common::parse()?;
    if let Some(directory) = &args.summarize {
        return summarize(directory);
    }
    args.check_extent()?;
    if let Some(out) = &args.out {
        check_out(out, args.force)?;
    }
    let read = |path: &PathBuf| {
        let rows = row::read_results(path).with_context(|| format!("--peer-csv {}", path.display()))?;
        ensure!(!rows.is_empty(), "--peer-csv {} has 0 rows, allowed are 1 or more", path.display());
        Ok(rows)
    };
    let peers: Vec<Row> = args.peer_csv.iter().map(read).collect::<Result<Vec<_>>>()?.concat();
    let profile = args.tuning.load()?;
    let gpu = tuning::apply(profile, args.common.open()?)?;
    args.common.print_device_of_all(gpu.profile(), gpu.tuning(), gpu.algorithm());

    if let Some(out) = &args.out {
        make_out(out)?;
    }
    let date = args.date.clone().unwrap_or_else(common::calendar::today);
    let run = Run { gpu: &gpu, date, seed: args.seed, runs: args.runs };
    let choice = args.common.device.clone().map_or_else(DeviceChoice::from_env, Ok)?;
    let mut bench = Bench::new(&gpu, choice)?;
    bench.working = Some(Working::new("a sample of the run", None));
    let expected = args.expected(&mut bench)?;
    bench.working = None;
    common::say(format!("time       about {} s", expected.as_secs().max(1)));
    bench.working = Some(Working::new("the first case", Some(expected)));
    let (mut measured, mut skipped) = (Vec::new(), Vec::new());
    for suite in args.suite.parts() {
        args.measure(&mut bench, suite, &mut measured, &mut skipped, |bench, measured| {
            common::check_validation(&gpu.validation_errors())?;
            let Some(out) = &args.out else { return Ok(()) };
            // A run that is stopped leaves the sizes that it has finished.
            let rows = with(&peers, row::rows(&run, measured));
            write(out, tables(&rows, &Found::of(bench, measured, &peers)?)?)
        })?;
    }
    bench.working = None;
    if measured.is_empty() {
        bail!("no size fits, of {}; {}", args.asked(), skipped.first().map_or("there is none", String::as_str));
    }
    skipped.iter().for_each(|skipped| common::say_on_stderr(format!("skipped: {skipped}")));

    let rows = with(&peers, row::rows(&run, &measured));
    let found = Found::of(&bench, &measured, &peers)?;
    for (suite, rows) in by_suite(&found.versus) {
        common::say(format!("\n{suite}\n{}", report::versus(&rows, false)));
    }
    for suite in report::suites(&rows).into_iter().filter(|suite| !report::of_problems(suite)) {
        let of_suite: Vec<&Row> = rows.iter().filter(|row| row.suite == suite).collect();
        common::say(format!("\n{suite}\n{}", report::table(&of_suite, false)));
    }
    if !found.ratios.is_empty() {
        common::say(format!("\n{}", report::ratio_table(&found.ratios, false)));
    }
    if !found.patterns.is_empty() {
        common::say(format!("\n{}", report::pattern_table(&found.patterns, false)));
    }
    if !found.lost.is_empty() {
        common::say(format!("\n{}", report::lost(&found.lost, false)));
    }
    common::say(format!("\nverified   every case, each byte against a stable sort on the CPU, seed {}", args.seed));
    let Some(out) = &args.out else { return Ok(()) };

    let mut files = tables(&rows, &found)?;
    files.push(("step-times.csv".to_string(), row::to_csv(&row::steps(&measured))?));
    let mut names = Vec::new();
    for (name, figure) in figures::all(&rows, &found, &measured) {
        files.push((format!("{name}.svg"), canvas::svg(&figure)?));
        files.push((format!("{name}.png"), canvas::png(&figure)?));
        names.push(name);
    }
    let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let summary = report::summary(&rows, &found, &format!("bench {command}"), &names);
    files.push(("summary.md".to_string(), summary.into_bytes()));
    write(out, files)?;
    common::say(format!("written    {}", out.display()));
    Ok(())
}

/// The tables of a run as files; of those of one suite, those that it has.
fn tables(rows: &[Row], found: &Found) -> Result<Vec<(String, Vec<u8>)>> {
    let Found { lost, versus, .. } = found;
    let mut files = vec![("results.csv".to_string(), row::to_csv(rows)?)];
    if !lost.is_empty() {
        files.push(("lost.csv".to_string(), row::to_csv(lost)?));
    }
    if !versus.is_empty() {
        files.push(("versus.csv".to_string(), row::to_csv(versus)?));
    }
    Ok(files)
}

/// Own rows, then those of other programs.
fn with(peers: &[Row], own: Vec<Row>) -> Vec<Row> {
    [own, peers.to_vec()].concat()
}

impl Args {
    /// Checks sizes and problems, as far as they are known before the device is.
    fn check_extent(&self) -> Result<()> {
        if let Some(text) = &self.problem {
            let problems: Vec<Problem> = self.suite.parts().into_iter().flat_map(Problem::all).collect();
            let names: Vec<String> = problems.iter().map(|problem| format!("{:?}", problem.name)).collect();
            ensure!(
                problems.iter().any(|problem| problem.name.contains(text)),
                "--problem is {text:?}, --suite {} allows parts of {}",
                self.suite.name(),
                if names.is_empty() { "none".into() } else { names.join(", ") }
            );
        }
        let Some(given) = self.min_log2 else { return Ok(()) };
        let suite = self.suite.name();
        ensure!(
            self.suite.parts().into_iter().any(Suite::is_ladder),
            "--min-log2 is given with --suite {suite}, which is measured at one size; allowed are suites of many sizes"
        );
        let most = self.max_log2.unwrap_or(31);
        ensure!(given <= most, "--min-log2 is {given}, allowed are {SMALLEST_LOG2} to {most}, which is --max-log2");
        Ok(())
    }

    /// Measures a suite at each of its sizes; those that are too large are skipped. All that is measured is handed to
    /// `keep` after each size.
    fn measure(
        &self,
        bench: &mut Bench<'_>,
        suite: Suite,
        measured: &mut Vec<Measured>,
        skipped: &mut Vec<String>,
        keep: impl Fn(&Bench<'_>, &[Measured]) -> Result<()>,
    ) -> Result<()> {
        if suite.has_problems() {
            return self.measure_problems(bench, suite, measured, skipped, keep);
        }
        let all = suite.cases(self.common.algorithm);
        for n in self.sizes(bench, suite, &all)? {
            let mut cases = all.clone();
            for case in &all {
                if !bench.fits(case, n)? {
                    cases.retain(|other| other.name != case.name);
                }
            }
            let result = match self.lacking(bench, &cases, n) {
                Ok(None) => bench.measure(&cases, n, self.seed, Rounds::of(self.runs)),
                Ok(Some(why)) => {
                    skipped.push(format!("{} at {n} elements: {why}", suite.name()));
                    continue;
                }
                Err(error) => Err(error),
            };
            match result {
                Ok(more) => {
                    measured.extend(more);
                    keep(bench, measured)?;
                }
                Err(error) if is_too_much(&error) => {
                    skipped.push(format!("{} at {n} elements: {error:#}", suite.name()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The problems of a suite that are wanted, each with as many elements as were asked for, or as fit.
    fn problems(&self, gpu: &Gpu, suite: Suite) -> Vec<(Problem, u32)> {
        let largest = if gpu.profile().is_cpu { LARGEST_LOG2_ON_CPU } else { LARGEST_PROBLEM_LOG2 };
        let is_wanted = |problem: &Problem| self.problem.as_ref().is_none_or(|text| problem.name.contains(text));
        let is_given = self.count.is_some() || self.max_log2.is_some();
        let sized = |problem: Problem| {
            let mut n = self.count.unwrap_or(1 << self.max_log2.unwrap_or(largest));
            let lacking = |n: u32| problem.lacking(gpu, problem.count(n), self.memory_mib).is_some();
            while !is_given && n > 1 << SMALLEST_LOG2 && lacking(n) {
                n /= 2;
            }
            (problem, n)
        };
        Problem::all(suite).into_iter().filter(is_wanted).map(sized).collect()
    }

    /// Measures the problems of a suite, each of as many elements as were asked for, or as fit.
    fn measure_problems(
        &self,
        bench: &mut Bench<'_>,
        suite: Suite,
        measured: &mut Vec<Measured>,
        skipped: &mut Vec<String>,
        keep: impl Fn(&Bench<'_>, &[Measured]) -> Result<()>,
    ) -> Result<()> {
        for (problem, n) in self.problems(bench.gpu, suite) {
            let result = match problem.lacking(bench.gpu, problem.count(n), self.memory_mib) {
                None => problems::measure(bench, &problem, n, self.seed, Rounds::of(self.runs)),
                Some(why) => Err(Unfit(why).into()),
            };
            match result {
                Ok(more) => {
                    measured.extend(more);
                    keep(bench, measured)?;
                }
                Err(error) if is_too_much(&error) => {
                    skipped.push(format!("{}: {} at {n} elements: {error:#}", suite.name(), problem.name));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Why there is not enough memory for these cases, if there is not.
    fn lacking(&self, bench: &mut Bench<'_>, cases: &[Case], n: u32) -> Result<Option<String>> {
        Ok(bench.memory(cases, n)?.lacking(bench.gpu, self.memory_mib))
    }

    /// The sizes of a suite. Those that nobody asked for are no larger than memory.
    fn sizes(&self, bench: &mut Bench<'_>, suite: Suite, cases: &[Case]) -> Result<Vec<u32>> {
        if let Some(count) = self.count {
            return Ok(vec![count]);
        }
        let on_cpu = bench.gpu.profile().is_cpu;
        let largest = match self.max_log2 {
            Some(log2) => log2,
            None if suite == Suite::Few => LARGEST_FEW_LOG2,
            None => {
                let mut log2 = if on_cpu { LARGEST_LOG2_ON_CPU } else { LARGEST_LOG2 };
                while log2 > SMALLEST_LOG2 && !matches!(self.lacking(bench, cases, 1 << log2), Ok(None)) {
                    log2 -= 1;
                }
                log2
            }
        };
        let step = match suite {
            // Among few elements, every size may have another winner.
            Suite::Few => 1,
            // Two sizes, unless more are asked for.
            Suite::Lost => 4,
            _ => 2,
        };
        // Steps end at the largest.
        let first_from = |log2: u32| log2 + (largest - log2.min(largest)) % step;
        let smallest = match self.min_log2 {
            _ if !suite.is_ladder() => largest,
            Some(log2) => first_from(log2),
            None if suite == Suite::Lost => first_from(SMALLEST_LOG2.max(largest - step)),
            None => first_from(SMALLEST_LOG2),
        };
        let given = self.min_log2.unwrap_or(smallest);
        ensure!(smallest <= largest, "--min-log2 is {given}, allowed are {SMALLEST_LOG2} to {largest}");
        Ok((smallest..=largest).step_by(step as usize).map(|log2| 1 << log2).collect())
    }

    fn asked(&self) -> String {
        match (self.count, self.max_log2) {
            (Some(count), _) => format!("--count {count}"),
            (None, Some(log2)) => format!("--max-log2 {log2}"),
            (None, None) => format!("--memory-mib {}", self.memory_mib),
        }
    }
}

/// Writes the summary of a session, and the report to send.
fn summarize(directory: &Path) -> Result<()> {
    let session = session::Session::read(directory).with_context(|| format!("--summarize {}", directory.display()))?;
    let figure = figures::session(&session);
    let sheet = sheet::sheet(&session, figure.as_ref().map(|_| "throughput.svg"));
    let sent = sent::report(directory, &session).with_context(|| format!("--summarize {}", directory.display()))?;
    let mut files = vec![("summary.md", sheet.into_bytes())];
    files.extend(sent.map(|report| ("report.json", report.to_json().into_bytes())));
    if let Some(figure) = figure {
        files.push(("throughput.svg", canvas::svg(&figure)?));
        files.push(("throughput.png", canvas::png(&figure)?));
    }
    let output = |(name, bytes)| Ok((Output::new("--summarize", &directory.join(name), true)?, bytes));
    Output::write_and_say(&files.into_iter().map(output).collect::<Result<Vec<_>>>()?)
}

/// Whether a smaller size, or another device, would do.
fn is_too_much(error: &anyhow::Error) -> bool {
    let is_unfit = error.chain().any(|cause| cause.is::<Unfit>());
    let cause = error.chain().find_map(|cause| cause.downcast_ref::<Error>());
    is_unfit || matches!(cause, Some(Error::Allocation { .. } | Error::TooManyElements { .. }))
}

/// Every file that a run may write.
fn file_names() -> impl Iterator<Item = String> {
    let plots = figures::NAMES.iter().flat_map(|name| [format!("{name}.svg"), format!("{name}.png")]);
    ["results.csv", "step-times.csv", "summary.md", "lost.csv", "versus.csv"].map(String::from).into_iter().chain(plots)
}

/// Checks that results can be written here, before they are measured.
fn check_out(out: &Path, force: bool) -> Result<()> {
    let given = out.display();
    ensure!(!out.exists() || out.is_dir(), "--out is {given}, which is not a directory");
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(parent.is_dir(), "--out is {given}, but {} is not a directory", parent.display());
    match file_names().find(|name| out.join(name).exists()) {
        Some(name) if !force => bail!("--out is {given}, which holds {name}; allowed with --force"),
        _ => Ok(()),
    }
}

/// Makes the directory of the results, and checks that it takes files, before anything is measured for it.
fn make_out(out: &Path) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("--out is {}, which cannot be made", out.display()))?;
    Output::new("--out", &out.join("results.csv"), true)?.check_writable()
}

/// Writes all files or none; what an earlier run left and this one did not make is removed, as it would mislead.
fn write(out: &Path, files: Vec<(String, Vec<u8>)>) -> Result<()> {
    let stale: Vec<String> = file_names().filter(|name| !files.iter().any(|(new, _)| new == name)).collect();
    let outputs: Result<Vec<_>> =
        files.into_iter().map(|(name, bytes)| Ok((Output::new("--out", &out.join(name), true)?, bytes))).collect();
    Output::write_all(&outputs?)?;
    for name in stale.iter().map(|name| out.join(name)).filter(|path| path.exists()) {
        std::fs::remove_file(name)?;
    }
    Ok(())
}
