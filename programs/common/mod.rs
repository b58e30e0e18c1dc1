//! What the programs share: flags, opening a device, reports, and how they end.

pub mod calendar;
pub mod canvas;
pub mod count;
pub mod device_report;
mod file_size;
pub mod files;
mod letters;
pub mod memory;
pub mod picture;
pub mod tuning;
pub mod verify;
pub mod vk;
mod working;

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::{ExitCode, Termination};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{anyhow, bail};
use clap::Args;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use comfy_table::{CellAlignment, Table, presets};
use vksort::standalone::{DeviceChoice, Gpu, GpuOptions, Passes};
use vksort::{Algorithm, DeviceProfile, StepTime, Tuning};

pub use working::{Working, during};

/// Flags of every program.
#[derive(Args)]
pub struct Common {
    /// "best", an index or part of a name [default: $VKSORT_DEVICE, else best]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceChoice>,
    /// onesweep|reduce-then-scan|single-workgroup [auto]
    #[arg(long, value_name = "NAME")]
    pub algorithm: Option<Algorithm>,
    /// Check with the Vulkan validation layer, including synchronization
    #[arg(long)]
    pub validate: bool,
}

impl Common {
    /// Opens the device that the flags ask for.
    pub fn open(&self) -> anyhow::Result<Gpu> {
        Ok(Gpu::new(&GpuOptions::default().device(self.device.clone()).validation(self.validate))?)
    }

    /// Prints where the sort runs, and with which algorithm.
    pub fn print_device(&self, profile: &DeviceProfile, tuning: &Tuning, algorithm: Algorithm) {
        let why = if self.algorithm.is_some() { "as asked" } else { "automatic" };
        self.print_device_with(profile, tuning, &format!("{algorithm} ({why}"));
    }

    /// The same where several sorts run, each of them with the algorithm that is asked for if it has that.
    pub fn print_device_of_all(&self, profile: &DeviceProfile, tuning: &Tuning, automatic: Algorithm) {
        let algorithm = match self.algorithm {
            None => format!("{automatic} (automatic, where a case names no other"),
            Some(asked) => format!("{asked} (as asked, where it serves a case that names no other"),
        };
        self.print_device_with(profile, tuning, &algorithm);
    }

    /// The same where no algorithm is chosen.
    pub fn print_device_alone(profile: &DeviceProfile, tuning: &Tuning) {
        say(format!("device     {}, driver {}", profile.name, profile.driver));
        say(format!("tuning     {:?}", tuning.name));
    }

    fn print_device_with(&self, profile: &DeviceProfile, tuning: &Tuning, algorithm: &str) {
        say(format!("device     {}, driver {}", profile.name, profile.driver));
        say(format!("algorithm  {algorithm}, tuning {:?})", tuning.name));
    }
}

/// Parses the command line. An error has one line, without the advice that clap adds; `--help` ends the program here.
pub fn parse<Flags: clap::Parser>() -> anyhow::Result<Flags> {
    parse_from(env::args_os(), &[])
}

/// The same from given arguments, the first of them the program's name. Flags that need a cargo feature come with that feature.
pub fn parse_from<Flags: clap::Parser>(
    arguments: impl IntoIterator<Item = OsString>,
    features: &[(&str, &str)],
) -> anyhow::Result<Flags> {
    Flags::try_parse_from(arguments).map_err(|error| usage(error, features))
}

fn usage(error: clap::Error, features: &[(&str, &str)]) -> anyhow::Error {
    if !error.use_stderr() {
        error.exit();
    }
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some((flag, feature)) = features.iter().find(|(flag, _)| flag == given)
    {
        return anyhow!("{flag} needs the cargo feature {feature}, which this program was built without");
    }
    let text = error.to_string();
    let message: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).collect();
    anyhow!("{}", message.join("\n").trim_start_matches("error: "))
}

/// Fails when the validation layer has reported errors, with their number and the first.
pub fn check_validation(errors: &[String]) -> anyhow::Result<()> {
    match errors {
        [] => Ok(()),
        [first, ..] => bail!("errors of the validation layer are {}, allowed are 0; the first: {first}", errors.len()),
    }
}

/// The first error of printing.
static PRINTING: OnceLock<io::Error> = OnceLock::new();
/// Whether stdout is for an output.
static STDOUT_IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// From now on all lines go to stderr.
pub fn say_all_on_stderr() {
    STDOUT_IS_TAKEN.store(true, Ordering::Relaxed);
}

/// Prints a line on stdout, unless an output goes there. A reader that has gone away, as in `sort | head`, stops no work; the
/// program fails at its end after any other error.
pub fn say(line: impl Display) {
    if STDOUT_IS_TAKEN.load(Ordering::Relaxed) {
        return say_on_stderr(line);
    }
    let printed = writeln!(io::stdout(), "{line}").and_then(|()| io::stdout().flush());
    if let Err(error) = printed
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = PRINTING.set(error);
    }
}

/// Prints a line on stderr. There is nobody to tell where that fails.
pub fn say_on_stderr(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A table as text, plain or as Markdown. Its first column is text, and the others are numbers.
pub fn table_text(mut table: Table, markdown: bool) -> String {
    table.load_style(if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
    for (index, column) in table.column_iter_mut().enumerate() {
        if !markdown {
            column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        }
        column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.trim_fmt()
}

/// Time and share of each step, then the total and the elements per second.
pub fn step_table(times: &[StepTime], count: u32) -> String {
    let total: f64 = times.iter().map(|step| step.nanoseconds).sum();
    let mut table = Table::new();
    table.set_header(["step", "device time", "share"]);
    for step in times {
        let share = format!("{:.1} %", 100.0 * step.nanoseconds / total.max(1.0));
        table.add_row([step.name.to_string(), duration(step.nanoseconds), share]);
    }
    table.add_row(["total".into(), duration(total), rate(count, total)]);
    table_text(table, false)
}

/// The passes of some sorts in one line, if they had any.
pub fn passes_line(passes: &[Option<Passes>]) -> Option<String> {
    let of = |count: fn(&Passes) -> u32| passes.iter().flatten().map(count);
    let (least, most) = (of(|passes| passes.ran).min()?, of(|passes| passes.ran).max()?);
    let ran = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let all = of(|passes| passes.ran + passes.skipped).max()?;
    let why = if least < all { "; a pass is skipped if its digit is the same in all keys" } else { "" };
    Some(format!("passes     {ran} of {all} moved elements{why}"))
}

/// A time in the unit that suits it.
pub fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// Elements per second.
pub fn rate(count: u32, nanoseconds: f64) -> String {
    match f64::from(count) / nanoseconds.max(1.0) * 1e9 {
        rate if rate < 1e6 => format!("{:.2} k elements/s", rate / 1e3),
        rate if rate < 1e9 => format!("{:.2} M elements/s", rate / 1e6),
        rate => format!("{:.2} G elements/s", rate / 1e9),
    }
}

/// Runs a program, which may end with an exit code of its own: errors end as one line on stderr and exit code 1. `RUST_LOG=info`
/// tells more.
pub fn run<T: Termination>(main: fn() -> anyhow::Result<T>) -> ExitCode {
    file_size::fail_beyond_the_limit();
    // Errors are reported once, at the end.
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
    let ended = main().and_then(|ended| match PRINTING.get() {
        Some(error) => Err(anyhow!("writing to stdout: {error}")),
        None => Ok(ended),
    });
    match ended {
        Ok(ended) => ended.report(),
        Err(error) => {
            let text = format!("{error:#}");
            let line: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            say_on_stderr(format!("error: {}", line.join(" ")));
            ExitCode::FAILURE
        }
    }
}
