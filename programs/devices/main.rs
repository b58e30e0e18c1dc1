//! Lists the system's Vulkan devices and what vksort would do on each.

mod selftest;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Parser;
use comfy_table::{ContentArrangement, Table, presets};
use vksort::__private::{Shape, ShapeDesc};
use vksort::standalone::{DeviceChoice, DeviceInfo, Gpu, GpuOptions};
use vksort::{Algorithm, DeviceProfile, KeyType, Order, RankMethod, SortRequest};
use vksort_programs::common::device_report::{self, DeviceReport, Verdict};
use vksort_programs::common::files::{self, Output};
use vksort_programs::common::{self, Common, Working};

const ABOUT: &str = "Lists the system's Vulkan devices and what vksort would do on each and why.

With --device only the one it names; with --algorithm as if that were asked for; with --validate
each of them also sorts 10,000 pairs under the validation layer.";

const HELP: &str = "\
--selftest takes seconds on a GPU and up to minutes on a CPU, mostly for compiling pipelines.
It prints a report to paste into a bug. The exit code is 0 if all kinds of sorts are right, 1 if
any sort is wrong, and 3 if all are right so far, but --seconds left out kinds.

--report writes what is known of the device, with --selftest also its result, to a file to send:
it has no names of users, machines and files.";

/// The exit code of a self-test without faults that did not run all kinds.
const RIGHT_SO_FAR: u8 = 3;

const DEVICE: &str = "\"best\", an index or part of a name [default: all devices]";

#[derive(Parser)]
#[command(about = ABOUT, after_help = HELP, mut_arg("device", |arg| arg.help(DEVICE)))]
struct Args {
    #[command(flatten)]
    common: Common,
    /// Sort data of every kind on each device, and check it in full
    #[arg(long, conflicts_with = "algorithm")]
    selftest: bool,
    /// Seed of the self-test's keys and the order of kinds [default: a new one]
    #[arg(long, value_name = "N", requires = "selftest")]
    seed: Option<u64>,
    /// Seconds of CPU and device after which no kind begins [default: none]
    #[arg(long, value_name = "N", requires = "selftest", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// File for a report to send about one device
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Overwrite a report
    #[arg(long, requires = "report")]
    force: bool,
    /// Kind of sort one of whose keys another command changes, for tests
    #[arg(long, value_name = "KIND", requires = "selftest", hide = true)]
    spoil: Option<usize>,
}

fn main() -> ExitCode {
    common::run(list)
}

fn list() -> anyhow::Result<ExitCode> {
    let args: Args = common::parse()?;
    let Args { common: flags, selftest, .. } = &args;
    let mut devices = Gpu::devices()?;
    ensure!(!devices.is_empty(), "no Vulkan device was found; is a driver installed?");
    if let Some(choice) = &flags.device {
        let chosen = Gpu::index_of(choice)?;
        devices.retain(|device| device.index == chosen);
    }
    if let Some(path) = &args.report {
        check_report(path, args.force, &devices)?;
    }
    if !*selftest {
        let blocks: Vec<String> = devices.iter().map(|device| describe(device, flags.algorithm)).collect();
        common::say(blocks.join("\n\n"));
    }
    let (mut tested, mut wrong, mut ended) = (0, Vec::new(), ExitCode::SUCCESS);
    for device in devices.iter().filter(|device| device.profile.is_ok()) {
        if *selftest {
            tested += 1;
            match test(device, &args).with_context(|| format!("device {}", device.name))? {
                Verdict::Right => {}
                Verdict::SoFar(_) => ended = RIGHT_SO_FAR.into(),
                Verdict::Wrong => wrong.push(format!("{} ({})", device.index, device.name)),
            }
        } else if flags.validate {
            validate(device, flags.algorithm).with_context(|| format!("device {}", device.name))?;
            common::say(format!("\n{}: validated", device.index));
        }
        if let Some(path) = args.report.as_deref().filter(|_| !selftest) {
            write(path, &DeviceReport::of(&open(device, false)?, "devices".into()))?;
        }
    }
    ensure!(
        !selftest || tested > 0,
        "no device can sort, so none was tested; without --selftest they are listed with the reasons"
    );
    ensure!(
        wrong.is_empty(),
        "the self-test found faults on {} of {tested} devices: {}",
        wrong.len(),
        wrong.join(", ")
    );
    Ok(ended)
}

/// Checks that a report can be written here, of the one device that can sort, before anything runs.
fn check_report(path: &Path, force: bool, devices: &[DeviceInfo]) -> anyhow::Result<()> {
    let able = devices.iter().filter(|device| device.profile.is_ok()).count();
    let given = path.display();
    ensure!(able == 1, "--report is {given}, for {able} devices that can sort; allowed is one, which --device names");
    Output::new("--report", path, force)?.check_writable()
}

/// Opens a device.
fn open(device: &DeviceInfo, validation: bool) -> anyhow::Result<Gpu> {
    let chosen = Some(DeviceChoice::Index(device.index));
    Ok(Gpu::new(&GpuOptions::default().device(chosen).validation(validation))?)
}

/// Runs the self-test on a device, prints its report, and writes the one to send.
fn test(device: &DeviceInfo, args: &Args) -> anyhow::Result<Verdict> {
    let gpu = open(device, args.common.validate)?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let options = selftest::Options { seed, limit: args.seconds.map(Duration::from_secs), spoiled: args.spoil };
    let limit = args.seconds.map(|seconds| format!(" --seconds {seconds}")).unwrap_or_default();
    let mut sent = DeviceReport::of(&gpu, format!("devices --selftest --seed {seed}{limit}"));
    let mut written = Ok(());
    let working = Working::new("self-test", options.limit);
    let report = selftest::run(&gpu, &options, &mut |done, so_far| {
        working.is_at(format!("self-test, {done} of {} kinds", so_far.kinds.len()));
        // A file is there also if the driver ends the program. What is in a pipe cannot be replaced.
        if let Some(path) = args.report.as_deref().filter(|path| !files::is_stream(path)) {
            sent.selftest = Some(so_far.record());
            written = std::mem::replace(&mut written, Ok(())).and_then(|()| write(path, &sent));
        }
    });
    drop(working);
    let verdict = report.verdict();
    common::say(format!("# device {}: {verdict}\n\n{report}", device.index));
    written?;
    if let Some(path) = &args.report {
        sent.selftest = Some(report.record());
        write(path, &sent)?;
    }
    common::check_validation(&gpu.validation_errors())?;
    Ok(verdict)
}

/// Writes the report to send.
fn write(path: &Path, report: &DeviceReport) -> anyhow::Result<()> {
    Output::write_all(&[(Output::new("--report", path, true)?, report.to_json().into_bytes())])
}

/// Sorts a little under the validation layer.
fn validate(device: &DeviceInfo, algorithm: Option<Algorithm>) -> anyhow::Result<()> {
    let gpu = open(device, true)?;
    let request = pairs().algorithm(algorithm);
    let sorter = gpu.sorter(&request, &Default::default())?;
    let count = sorter.max_count().min(10_000);
    let mut keys: Vec<u32> = (0..count).map(|index| index.wrapping_mul(0x9E37_79B9)).collect();
    let sort = sorter.prepare(count)?;
    sort.write_keys(&keys)?;
    sort.write_values(&keys)?;
    sort.run(count)?;
    let mut sorted = vec![0u32; keys.len()];
    sort.read_values(&mut sorted)?;
    keys.sort_unstable();
    ensure!(sorted == keys, "the sorted values differ from those sorted on the CPU");
    common::check_validation(&gpu.validation_errors())
}

fn pairs() -> SortRequest {
    SortRequest::new(KeyType::U32).value(vksort::ValueType::U32).order(Order::Ascending)
}

/// One device: a line to choose it by, and a table of what it can do.
fn describe(device: &DeviceInfo, asked: Option<Algorithm>) -> String {
    let mut rows = vec![("kind", device.kind.to_string())];
    match &device.profile {
        Ok(profile) => rows.extend(capabilities(profile)),
        Err(error) => rows.push(("unsuitable", error.to_string())),
    }
    if let (Some((tuning, automatic)), Ok(profile)) = (&device.plan, &device.profile) {
        let algorithm = asked.unwrap_or(*automatic);
        let fit = |request| Shape::fit(&ShapeDesc::new(profile, tuning, &request, algorithm));
        match (fit(SortRequest::new(KeyType::U32)), fit(pairs())) {
            (Ok(keys), Ok(pairs)) => rows.push(("sorts with", format!("{algorithm}, {}", shapes(&keys, &pairs)))),
            (Err(error), _) | (_, Err(error)) => rows.push(("unsuitable", error.to_string())),
        }
        let reason = match (asked, tuning.look_back) {
            (Some(_), _) => "as asked",
            (None, true) => "look-back is known to work here",
            (None, false) => "look-back is not known to work here",
        };
        rows.push(("because", format!("{reason}; tuning {}: {}", tuning.name, tuning.evidence)));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(120);
    for (name, text) in rows {
        table.add_row([format!("  {name}"), text]);
    }
    format!("{}: {}\n{}", device.index, device.name, table.trim_fmt())
}

fn capabilities(profile: &DeviceProfile) -> Vec<(&'static str, String)> {
    let subgroups = match profile.subgroup_range {
        (least, most) if least < most => format!("{}, {least} to {most} on request", profile.subgroup_size),
        _ => profile.subgroup_size.to_string(),
    };
    let operations = if profile.subgroup_operations { "with" } else { "without" };
    let bytes = profile.max_storage_range_bytes;
    let elements = (bytes / 4).min(vksort::MAX_COUNT.into());
    let has = |there| if there { "yes" } else { "no" };
    let timestamps = match profile.timestamp_period_ns {
        0.0 => "none".into(),
        period => format!("one tick is {period} ns"),
    };
    vec![
        ("driver", profile.driver.clone()),
        ("Vulkan", device_report::vulkan(profile.api_version)),
        ("subgroup size", format!("{subgroups}, {operations} ballots and shuffles")),
        (
            "workgroup",
            format!(
                "at most {} invocations with {} KiB of shared memory",
                profile.max_workgroup_invocations,
                profile.max_shared_bytes >> 10
            ),
        ),
        ("8/16-bit storage", has(profile.small_storage).into()),
        ("buffer addresses", has(profile.buffer_addresses).into()),
        (
            "most elements",
            format!("{elements} of 4 bytes by descriptor (maxStorageBufferRange is {} MiB)", bytes >> 20),
        ),
        ("memory", format!("{} MiB in its largest heap", profile.memory_bytes >> 20)),
        ("timestamps", timestamps),
    ]
}

/// Shapes of the kernels for keys and for pairs.
fn shapes(keys: &Shape, pairs: &Shape) -> String {
    let rank = match keys.ranking.method {
        RankMethod::Ballot => "ballots",
        RankMethod::Match => "match masks",
        RankMethod::Compare => "comparisons",
        RankMethod::Private => "counters of each invocation's own",
        other => &format!("{other:?}"),
    };
    let subgroups = if keys.ranking.subgroup.emulated { "emulated subgroups" } else { "subgroups" };
    format!(
        "{} invocations x {} keys or {} x {} pairs, ranked with {rank} in {subgroups} of {}",
        keys.tile.invocations, keys.tile.items, pairs.tile.invocations, pairs.tile.items, keys.ranking.subgroup.size
    )
}
