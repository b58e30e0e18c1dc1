//! Makes the pipelines of requests on a device, for tools that look at what the driver's compiler makes of them.

mod plot;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use serde_json::value::Serializer as Json;
use vksort::standalone::{DeviceChoice, Gpu, GpuOptions};
use vksort::{KeyField, KeyOutput, KeyType, Placement, Segments, SortRequest, SorterOptions, Tuning, ValueType};
use vksort_profiles::tuning;
use vksort_programs::common;
use vksort_programs::common::canvas;
use vksort_programs::common::files::Output;

/// Creates the pipelines of requests on a device, and prints the time for each request.
#[derive(Parser)]
#[command(name = "pipelines", after_help = HELP)]
struct Args {
    /// "best", an index or part of a name [default: $VKSORT_DEVICE, else best]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
    /// The requests [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    requests: Vec<Request>,
    /// Require subgroups of this size
    #[arg(long, value_name = "N")]
    subgroup: Option<u32>,
    /// Items per invocation to subtract from the built-in row of the device
    #[arg(long, value_name = "N", default_value_t = 0)]
    fewer_items: u32,
    /// Change a field of the built-in row, such as items_keys=12; may be repeated
    #[arg(long, value_name = "FIELD=VALUE")]
    tuning: Vec<String>,
    /// Create no pipelines, but print the built-in row of the device, with these changes, as JSON
    #[arg(long, conflicts_with_all = ["plot", "requests"])]
    row: bool,
    /// Create no pipelines, but plot this record of compilers' figures
    #[arg(long, value_name = "CSV", requires = "out", conflicts_with_all = ["device", "requests", "subgroup", "fewer_items", "tuning"])]
    plot: Option<PathBuf>,
    /// The picture, which is overwritten: SVG for the extension svg, else PNG
    #[arg(long, value_name = "FILE", requires = "plot")]
    out: Option<PathBuf>,
}

const HELP: &str = "\
Nothing is sorted. Each request opens the device anew, so that its pipelines are shared with no other.
scripts/gpu-compilers.sh runs this program with compilers for GPUs, without a GPU.";

/// A request, by the name that tables give it.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Request {
    /// u32 keys
    Keys,
    /// u32 keys with u32 values
    Pairs,
    /// the sorting permutation of u32 keys
    Argsort,
    /// u16 keys
    U16,
    /// u64 keys
    U64,
    /// u64 keys with u32 values
    U64Pairs,
    /// u128 keys
    U128,
    /// segments of up to 100 u32 keys with u32 values
    Segments,
    /// rows of 32 u32 keys
    Rows,
    /// segments of up to 8 u32 keys with u32 values
    Short,
    /// the indices of the first 100 f32 keys of long rows
    Top,
    /// segments of up to 100 records of 32 bytes by 40 bits
    Records,
    /// segments of any length of u32 keys with u32 values
    Split,
    /// u32 keys with u32 values, in sorts that may end with a finish
    Finish,
}

impl Request {
    fn request(self) -> SortRequest {
        let keys = SortRequest::new;
        let (u32s, u64s) = (keys(KeyType::U32), keys(KeyType::U64));
        let split = u32s.value(ValueType::U32).segments(Segments::Offsets);
        match self {
            Request::Keys => u32s,
            Request::Pairs => u32s.value(ValueType::U32),
            Request::Argsort => u32s.value(ValueType::Index).key_output(KeyOutput::Discarded),
            Request::U16 => keys(KeyType::U16),
            Request::U64 => u64s,
            Request::U64Pairs => u64s.value(ValueType::U32),
            Request::U128 => keys(KeyType::U128),
            Request::Segments => split.up_to(100),
            Request::Rows => u32s.segments(Segments::Rows { stride: 32 }),
            Request::Short => split.up_to(8),
            Request::Top => {
                let indices = keys(KeyType::F32).value(ValueType::Index).key_output(KeyOutput::Discarded);
                indices.placement(Placement::OutOfPlace).segments(Segments::Rows { stride: 1 << 17 }).top(100)
            }
            Request::Records => {
                let fields = [KeyField::new(4, KeyType::U32), KeyField::new(0, KeyType::U8)];
                SortRequest::records(32, fields).segments(Segments::Offsets).up_to(100)
            }
            Request::Split => split,
            Request::Finish => Request::Pairs.request(),
        }
    }
}

fn main() -> ExitCode {
    common::run(make)
}

fn make() -> Result<()> {
    let args: Args = common::parse()?;
    if let (Some(record), Some(out)) = (&args.plot, &args.out) {
        let (output, figure) = (Output::new("--out", out, true)?, plot::Figure::read(record)?);
        let drawn = match out.extension().is_some_and(|extension| extension == "svg") {
            true => canvas::svg(&figure)?,
            false => canvas::png(&figure)?,
        };
        return Output::write_and_say(&[(output, drawn)]);
    }
    if args.row {
        common::say(tuning::serialize(&args.tuning(&args.open()?)?, Json)?.to_string());
        return Ok(());
    }
    let requests = match args.requests.as_slice() {
        [] => Request::value_variants(),
        some => some,
    };
    for request in requests {
        let name = request.to_possible_value().expect("no request is hidden");
        let milliseconds = args.time(*request).with_context(|| format!("request {}", name.get_name()))?;
        common::say(format!("{}: {milliseconds:.0} ms", name.get_name()));
    }
    Ok(())
}

impl Args {
    fn open(&self) -> Result<Gpu> {
        Ok(Gpu::new(&GpuOptions::default().device(self.device.clone()))?)
    }

    /// The built-in row of a device with the changes that the flags ask for.
    fn tuning(&self, gpu: &Gpu) -> Result<Tuning> {
        let row = changed(gpu.tuning(), &self.tuning)?;
        if let Some(size) = self.subgroup {
            let (least, most) = gpu.profile().subgroup_range;
            ensure!(
                size.is_power_of_two() && (least..=most).contains(&size),
                "--subgroup is {size}, allowed on this device are powers of two from {least} to {most}"
            );
        }
        let fewer = |items: u32| items.saturating_sub(self.fewer_items).max(1);
        Ok(Tuning {
            subgroup_size: self.subgroup.or(row.subgroup_size),
            items_keys: fewer(row.items_keys),
            items_pairs: fewer(row.items_pairs),
            single_items: fewer(row.single_items),
            segment_items: fewer(row.segment_items),
            ..row
        })
    }

    /// Makes the pipelines of a request, and says how many milliseconds that took.
    fn time(&self, request: Request) -> Result<f64> {
        let gpu = self.open()?;
        let row = self.tuning(&gpu)?;
        let finish_tiles = if request == Request::Finish { Some(1) } else { row.finish_tiles };
        let tuning = Tuning { finish_tiles, ..row };
        let started = Instant::now();
        drop(gpu.sorter(&request.request(), &SorterOptions::default().tuning(tuning))?);
        Ok(1e3 * started.elapsed().as_secs_f64())
    }
}

/// The tuning with some fields changed.
fn changed(row: &Tuning, changes: &[String]) -> Result<Tuning> {
    let mut fields = tuning::serialize(row, Json)?;
    for change in changes {
        let (field, value) = change.split_once('=').with_context(|| format!("--tuning {change}: not FIELD=VALUE"))?;
        let old = fields.get_mut(field).with_context(|| format!("--tuning {change}: no such field"))?;
        *old = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    }
    let tuning: Tuning = tuning::deserialize(fields).context("--tuning")?;
    tuning.check()?;
    Ok(tuning)
}
