//! Searches for the tuning that sorts fastest on a device, and keeps it in a file: tune --seconds 60

mod plot;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use vksort::standalone::{DeviceChoice, Gpu, GpuOptions};
use vksort_lab::awake::Awake;
use vksort_lab::tune::search::Progress;
use vksort_lab::tune::search::device::{self, Options};
use vksort_profiles::SortKind;
use vksort_programs::common::canvas;
use vksort_programs::common::files::{self, Output};
use vksort_programs::common::{self, Working};

/// Search for the tuning that sorts fastest on a device, and write it to a file.
#[derive(Parser)]
#[command(name = "tune", after_help = HELP)]
struct Args {
    /// "best", an index or part of a name [default: $VKSORT_DEVICE, else best]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
    /// File of the profile [default: vksort-DEVICE.json]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Seconds for the search
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Elements to sort [default: 2^24, on CPUs 2^18, or as memory and time allow]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = common::count::parse_some)]
    count: Option<u32>,
    /// Measure only keys alone, without pairs
    #[arg(long)]
    keys_only: bool,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

const HELP: &str = "\
The search starts from the built-in row of the device. It compares the result of every candidate
with a stable sort on the CPU, and measures it against the best so far. It ends after its seconds,
or later by the time that the driver takes to compile one kernel. It also draws two
pictures beside the profile, with its name but the extensions svg and png. A search whose time is
over before a candidate was tried fails, and writes nothing.

The profile is valid for this device with this driver:
  sort --tuning FILE
  splats --tuning FILE
  bench --tuning FILE";

fn main() -> ExitCode {
    common::run(tune)
}

fn tune() -> Result<()> {
    let args: Args = common::parse()?;
    // A place that was named is looked at before the device is, which may take long to answer.
    let mut files = args.out.as_deref().map(|out| Files::new(out, args.force)).transpose()?;
    let gpu = Gpu::new(&GpuOptions::default().device(args.device.clone()))?;
    if files.is_none() {
        let out = PathBuf::from(format!("vksort-{}.json", slug(&gpu.profile().name)));
        files = Some(Files::new(&out, args.force)?);
    }
    let files = files.expect("it was just made");

    let kinds = if args.keys_only { vec![SortKind::Keys] } else { SortKind::ALL.to_vec() };
    let options = Options { time: Duration::from_secs(args.seconds), count: args.count, kinds };
    common::say(format!("device     {}, driver {}", gpu.profile().name, gpu.profile().driver));
    common::say(format!("built-in   row {:?}: {}", gpu.tuning().name, gpu.tuning().evidence));
    let working = Working::new("the built-in row", Some(options.time));
    let awake = Awake::new(&gpu, args.device.as_ref())?;
    let tuned = device::tune(&gpu, awake, &options, &common::calendar::today(), &mut |at: &Progress| {
        working.is_at(format!("{:.2} x, trial {}: {}", at.ratio, at.trials + 1, at.trying));
    });
    drop(working);
    let tuned = tuned?;

    common::say(format!("\n{}", report::text(&tuned, gpu.tuning())));
    tuned.profile.save(&files.profile)?;
    let figure = plot::Figure::new(&tuned, gpu.tuning());
    let path = files.profile.display();
    common::say(format!(
        "\nwritten    {path}; sort with it by --tuning {path}, or by vksort_profiles::TuningProfile::load"
    ));
    Output::write_and_say(&[(files.svg, canvas::svg(&figure)?), (files.png, canvas::png(&figure)?)])?;
    Ok(())
}

/// What is written.
struct Files {
    profile: PathBuf,
    svg: Output,
    png: Output,
}

impl Files {
    /// Checks that all of them can be written, before anything is measured for them.
    fn new(profile: &Path, force: bool) -> Result<Files> {
        let given = profile.display();
        let output = |path: &Path| Output::new("--out", path, true);
        let json = output(profile)?;
        let [svg, png] = ["svg", "png"].map(|extension| profile.with_extension(extension));
        ensure!(
            !files::is_stream(profile),
            "--out is {given}, allowed is a file, because the pictures are written beside it"
        );
        ensure!(
            profile != svg && profile != png,
            "--out is {given}, allowed is a file with another extension than svg and png, which are those of the pictures \
             beside it"
        );
        for path in [profile, &svg, &png] {
            ensure!(force || !path.exists(), "--out is {given}, but {} exists; allowed with --force", path.display());
        }
        let (svg, png) = (output(&svg)?, output(&png)?);
        Output::check_distinct(&[&json, &svg, &png])?;
        json.check_writable()?;
        Ok(Files { profile: profile.into(), svg, png })
    }
}

/// A device's name as part of a file's name.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}
