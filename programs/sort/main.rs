//! Sorts .npy arrays on a Vulkan device.

mod job;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use job::{How, Job, Sorted, What};
use vksort::standalone::Gpu;
use vksort::{BitRange, KeyType, Order, ValueType};
use vksort_profiles::Quartiles;
use vksort_programs::common;
use vksort_programs::common::files::Output;
use vksort_programs::common::tuning::{self, TuningFlag};
use vksort_programs::sort::fields::By;
use vksort_programs::sort::npy::Array;
use vksort_programs::sort::parts::Parts;

/// Sorts .npy arrays on a Vulkan device, stably. Without --keys it sorts and verifies generated pairs.
#[derive(Parser)]
#[command(after_help = HELP)]
struct Args {
    /// Keys to sort: an array of one dimension
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Values to move with their keys, into --out-values: a row for each key
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
    /// Keys are structures to sort by these fields, descending after a minus
    #[arg(long, value_name = "NAME,-NAME", allow_hyphen_values = true, requires = "keys")]
    #[arg(conflicts_with_all = ["key_type", "descending", "bits", "top"])]
    by: Option<By>,
    /// Type of the keys, if the dtype does not give it or keys are generated
    #[arg(long, value_name = "NAME")]
    key_type: Option<KeyType>,
    /// Elements to generate without --keys [default: 1048576]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = common::count::parse)]
    count: Option<u32>,
    /// Generate keys without values
    #[arg(long)]
    keys_only: bool,
    /// Seed of generated keys [default: a new one, printed]
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
    /// Sort each segment by itself: where each begins, and the last ends
    #[arg(long, value_name = "FILE", conflicts_with = "rows")]
    segments: Option<PathBuf>,
    /// Sort each row of so many keys by itself
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = common::count::parse_some)]
    rows: Option<u32>,
    /// Only the first K keys in order, or those of each segment or row
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = common::count::parse_some)]
    top: Option<u32>,
    /// Largest key first; equal keys keep their order
    #[arg(long)]
    descending: bool,
    /// Let equal keys come in any order, which some devices sort faster
    #[arg(long)]
    unstable: bool,
    /// Sort only by bits LO to HI - 1 of the keys; LO..LO changes no order
    #[arg(long, value_name = "LO..HI")]
    bits: Option<BitRange>,
    /// Number of sorts, each from the input; medians are printed
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Overwrite existing outputs
    #[arg(long)]
    force: bool,
    /// Compare every byte of the result with a stable sort on the CPU
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    tuning: TuningFlag,
    #[command(flatten)]
    common: common::Common,
}

const HELP: &str = "\
Keys are of dtype bool, uint8, 16, 32, 64, int8, 16, 32, 64, float16, 32, 64, datetime64 or
timedelta64, in any byte order, which outputs keep. They are sorted as numpy sorts them: -0 equals
+0, and NaN and NaT are last, with --descending first.
--key-type takes other dtypes of the right size for u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64,
i64, f64, u128 or i128. bf16 is for uint16, and for bfloat16 as ml_dtypes writes it; u128 and i128
are for uint64 of shape (N, 2), the lower half first.
--by takes structures, and up to four of their fields of the dtypes above, together of 128 bits.
The first decides first. Structures that are equal in all of them keep their order. Not with --top.
Values have any dtype and shape with rows of 1, 2 or 4 n bytes: structured, text, shape (N, 3).
Rows have at most 65536 bytes, and with one of --argsort, --by and --top as many as memory takes.
--segments takes M + 1 integers of any size for M segments, such as [0, *numpy.cumsum(lengths)].
Keys in no segment stay where they are. --rows takes the rows of a flat array: array.ravel().
With both, --argsort counts from the first key of all. With --top the results of all segments
come one after the other: K rows of each, or as many as it has. K is at most a block of the device,
some 500 or more; segments may have any length.
Keys of several dimensions are sorted in rows along the last one, as by numpy: outputs have their
shape, and --argsort counts from the row.
--bits counts from the lowest bit of the key. Signed and float keys are first made unsigned numbers
that sort like them, in which the sign is the highest bit and is set for positive keys. NaT is the
least time then, and floats are in IEEE 754 total order: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN.

Examples:
  sort --keys depth.npy --descending --argsort order.npy
  sort --keys k.npy --values v.npy --out-keys sorted-k.npy --out-values sorted-v.npy --verify
  sort --keys morton.npy --bits 32..64 --out-keys by-cell.npy
  sort --keys logits.npy --rows 128256 --top 40 --descending --argsort best.npy
  sort --keys depth.npy --segments tiles.npy --argsort order.npy --verify
  sort --keys table.npy --by material,-depth --out-keys sorted.npy
  sort --count 4000000 --key-type f64 --keys-only --repeat 10";

/// Most bytes of a row that follows a permutation.
const LARGEST_GATHERED: u32 = u32::MAX - 3;

fn main() -> ExitCode {
    common::run(sort)
}

fn sort() -> Result<()> {
    let args: Args = common::parse()?;
    args.check()?;
    let output =
        |flag, path: &Option<PathBuf>| path.as_ref().map(|path| Output::new(flag, path, args.force)).transpose();
    let out_keys = output("--out-keys", &args.out_keys)?;
    let out_values = output("--out-values", &args.out_values)?;
    let argsort = output("--argsort", &args.argsort)?;
    Output::check_distinct(&[&out_keys, &out_values, &argsort].into_iter().flatten().collect::<Vec<_>>())?;

    let profile = args.tuning.load()?;
    // Files are read before a device is opened, and keys are generated after it has been asked for room.
    let read = args.read()?;
    let gpu = tuning::apply(profile, args.common.open()?)?;
    let job = match read {
        Some(job) => job,
        None => args.generate(&gpu)?,
    };
    let sorted = common::during("sorting", || job.run(&gpu, args.repeat))?;
    match sorted.algorithm {
        Some(algorithm) => args.common.print_device(gpu.profile(), gpu.tuning(), algorithm),
        None => common::Common::print_device_alone(gpu.profile(), gpu.tuning()),
    }
    common::say(format!("input      {}", job.describe()));
    common::say(format!("\n{}", report(&sorted, job.count())));
    if args.verify || args.keys.is_none() {
        common::during("verifying", || job.verify(&sorted))?;
        common::say(match args.unstable {
            false => "\nverified   every byte equals that of a stable sort on the CPU",
            true => "\nverified   each run of equal keys has the elements that a sort on the CPU has there",
        });
    }
    common::check_validation(&gpu.validation_errors())?;

    let files = [(out_keys, sorted.keys), (out_values, sorted.values), (argsort, sorted.indices)];
    let wanted = files.into_iter().filter_map(|(output, array)| output.zip(array));
    let contents: Vec<_> = wanted.map(|(output, array)| (output, array.into_file())).collect();
    if !contents.is_empty() {
        common::say("");
    }
    common::during("writing", || Output::write_and_say(&contents))
}

impl Args {
    /// Flags that need each other, or exclude each other.
    fn check(&self) -> Result<()> {
        let (keys, values) = (self.keys.is_some(), self.values.is_some());
        let needs = [
            ("--values", values, "--keys", keys),
            ("--segments", self.segments.is_some(), "--keys", keys),
            ("--rows", self.rows.is_some(), "--keys", keys),
            ("--top", self.top.is_some(), "--keys", keys),
            ("--out-keys", self.out_keys.is_some(), "--keys", keys),
            ("--argsort", self.argsort.is_some(), "--keys", keys),
            ("--out-values", self.out_values.is_some(), "--values", values),
            ("--values", values, "--out-values", self.out_values.is_some()),
        ];
        for (flag, given, other, there) in needs {
            ensure!(!given || there, "{flag} is given without {other}, allowed is {flag} with {other}");
        }
        let outputs = [&self.out_keys, &self.out_values, &self.argsort];
        ensure!(
            !keys || self.verify || outputs.iter().any(|output| output.is_some()),
            "--keys is given without an output, allowed is --keys with --out-keys, --argsort, or --verify to throw the \
             result away once it is checked"
        );
        for (flag, given) in
            [("--count", self.count.is_some()), ("--keys-only", self.keys_only), ("--seed", self.seed.is_some())]
        {
            ensure!(!given || !keys, "{flag} is given with --keys, allowed is {flag} without --keys");
        }
        let parts =
            [("--segments", self.segments.is_some()), ("--rows", self.rows.is_some()), ("--top", self.top.is_some())];
        for (flag, given) in [("--unstable", self.unstable), ("--algorithm", self.common.algorithm.is_some())] {
            if let Some((other, _)) = parts.iter().find(|(_, there)| given && *there) {
                bail!("{flag} is given with {other}, allowed is {flag} without {other}");
            }
        }
        Ok(())
    }

    fn how(&self) -> How {
        // Keys are what is verified if nothing is written.
        let others = self.out_values.is_some() || self.argsort.is_some();
        How {
            order: if self.descending { Order::Descending } else { Order::Ascending },
            bits: self.bits,
            algorithm: self.common.algorithm,
            top: self.top,
            stable: !self.unstable,
            keys: self.out_keys.is_some() || !others,
            indices: self.argsort.is_some(),
        }
    }

    /// The job that the files are, if there are any.
    fn read(&self) -> Result<Option<Job>> {
        let Some(keys) = &self.keys else {
            Job::check_generated(self.key_type(), !self.keys_only, &self.how())?;
            return Ok(None);
        };
        let (keys, what, shape) = common::during("reading keys", || match &self.by {
            None => Array::read_keys(keys, self.key_type).map(|(keys, key, shape)| (keys, What::Numbers(key), shape)),
            Some(by) => by.read(keys).map(|(records, fields)| {
                let shape = vec![records.count() as u64];
                (records, What::Records(fields, by.clone()), shape)
            }),
        })?;
        // A permutation is sorted in place of values, which then follow it on the host.
        let gathers = self.argsort.is_some() || self.top.is_some() || self.by.is_some();
        let most = if gathers { LARGEST_GATHERED } else { ValueType::MAX_BYTES };
        let read = |path| common::during("reading values", || Array::read_values(path, most.into(), &shape));
        let values = self.values.as_deref().map(read).transpose()?;
        let flags = [
            ("--segments", self.segments.is_some()),
            ("--rows", self.rows.is_some()),
            ("--unstable", self.unstable),
            ("--algorithm", self.common.algorithm.is_some()),
        ];
        if let Some((flag, _)) = flags.iter().find(|(_, given)| *given && shape.len() > 1) {
            bail!(
                "{flag} is given with keys of shape {shape:?}, whose rows are sorted each by itself; allowed with it is shape [N], \
                 as array.ravel() has it"
            );
        }
        let parts = match (&self.segments, self.rows) {
            (None, None) if shape.len() > 1 => Parts::Rows(shape[shape.len() - 1] as u32),
            (Some(path), _) => common::during("reading segments", || Parts::read(path, keys.count()))?,
            (None, Some(stride)) => Parts::rows(stride, keys.count())?,
            (None, None) => Parts::Whole,
        };
        let job = Job::new((keys, shape), what, values, parts, self.how())?;
        match &self.by {
            None => job.check()?,
            Some(by) => job.check().with_context(|| format!("--by {by}"))?,
        }
        Ok(Some(job))
    }

    /// The type of generated keys.
    fn key_type(&self) -> KeyType {
        self.key_type.unwrap_or(KeyType::U32)
    }

    fn generate(&self, gpu: &Gpu) -> Result<Job> {
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..));
        let (count, key) = (self.count.unwrap_or(1 << 20), self.key_type());
        Job::check_room(gpu, count, key, !self.keys_only, &self.how())?;
        Ok(common::during("generating", || Job::generate(count, key, !self.keys_only, seed, self.how())))
    }
}

/// The time of each step on the device where it has timestamps, and of the whole as the host sees it.
fn report(sorted: &Sorted, count: u32) -> String {
    if count == 0 {
        return "nothing to sort".into();
    }
    let nanoseconds = |wall: &std::time::Duration| wall.as_nanos() as f64;
    let walls: Vec<f64> = sorted.walls.iter().map(nanoseconds).collect();
    let (least, median, most) = (walls[0], Quartiles::of(&walls).median, walls[walls.len() - 1]);
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
    let passes = common::passes_line(&[sorted.passes]).map_or(String::new(), |line| format!("{line}\n"));
    match sorted.steps.is_empty() {
        true => format!("{passes}{host} (the device has no timestamps)"),
        false => format!("{}\n\n{passes}{host}", common::step_table(&sorted.steps, count)),
    }
}
