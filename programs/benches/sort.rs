//! A few sorts and what they cost the host, to be measured again and again: cargo bench
//!
//! Criterion compares each run with the one before. The device is the one that the examples choose (`VKSORT_DEVICE`);
//! `examples/bench` measures more, with cases beside each other.

#[path = "../bench/data.rs"]
#[allow(dead_code, reason = "all keys here are uniform")]
mod data;
#[path = "../common/verify.rs"]
#[allow(dead_code, reason = "all sorts here are stable")]
mod verify;

/// What the examples share, as far as `data` needs it.
mod common {
    pub(crate) use crate::verify;
}

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use data::{Data, Inputs};
use vksort::standalone::{Gpu, PreparedSort};
use vksort::{Count, Error, KeyOutput, KeyType, SortRequest, SorterOptions, ValueType};

const SEED: u64 = 1;

/// Name, request and powers of two of elements.
fn cases() -> Vec<(&'static str, SortRequest, &'static [u32])> {
    let keys = SortRequest::new;
    let u32s = keys(KeyType::U32);
    vec![
        ("u32 keys", u32s, &[12, 16, 20]),
        ("u32 pairs", SortRequest { value: ValueType::U32, ..u32s }, &[12, 16, 20]),
        ("u32 argsort", argsort(u32s), &[12, 16, 20]),
        ("u16 keys", keys(KeyType::U16), &[18]),
        ("u64 keys", keys(KeyType::U64), &[18]),
    ]
}

fn argsort(request: SortRequest) -> SortRequest {
    SortRequest { value: ValueType::Index, key_output: KeyOutput::Discarded, ..request }
}

/// The bytes that a sort starts from.
struct Input {
    keys: Vec<u8>,
    values: Vec<u8>,
}

impl Input {
    /// Writes them to the device again.
    fn restore(&self, sort: &PreparedSort) -> Result<(), Error> {
        sort.write_keys(&self.keys)?;
        if self.values.is_empty() { Ok(()) } else { sort.write_values(&self.values) }
    }
}

/// Sorts once and compares the result with a stable sort on the CPU.
fn verify(request: &SortRequest, sort: &PreparedSort, n: u32, inputs: &mut Inputs) -> Result<Input> {
    let bytes = |size: u64, wanted: bool| vec![0; if wanted { n as usize * size as usize } else { 0 }];
    let value_bytes = request.value.size_bytes();
    let values = if request.value.is_read() { inputs.values(value_bytes).to_vec() } else { Vec::new() };
    let input = Input { keys: inputs.keys(Data::Uniform, request.key).to_vec(), values };
    input.restore(sort)?;
    sort.run(n)?;
    let mut keys = bytes(request.key.size_bytes(), request.key_output == KeyOutput::Sorted);
    let mut values = bytes(value_bytes, request.value != ValueType::None);
    if !keys.is_empty() {
        sort.read_keys(&mut keys)?;
    }
    if !values.is_empty() {
        sort.read_values(&mut values)?;
    }
    inputs.verify(request, Data::Uniform, &keys, &values).context("verification failed")?;
    Ok(input)
}

/// Time on the device where it has timestamps, else on the host, of so many sorts, each from the restored input.
fn time(sort: &PreparedSort, input: &Input, n: u32, times: u64) -> Result<Duration, Error> {
    let mut total = Duration::ZERO;
    for _ in 0..times {
        input.restore(sort)?;
        let start = Instant::now();
        let steps = sort.run(n)?;
        let wall = start.elapsed();
        let device = Duration::from_nanos(steps.iter().map(|step| step.nanoseconds).sum::<f64>() as u64);
        total += if device.is_zero() { wall } else { device };
    }
    Ok(total)
}

fn sorts(gpu: &Gpu, criterion: &mut Criterion) -> Result<()> {
    for (name, request, sizes) in cases() {
        let sorter = gpu.sorter(&request, &SorterOptions::default())?;
        let mut group = criterion.benchmark_group(name);
        group.sampling_mode(SamplingMode::Flat);
        for n in sizes.iter().map(|log2| 1u32 << log2) {
            let context = || format!("{name}, {n} elements");
            let sort = sorter.prepare(n).with_context(context)?;
            let mut inputs = Inputs::new(n as usize, SEED, request.key.size_bytes(), request.value.size_bytes());
            let input = verify(&request, &sort, n, &mut inputs).with_context(context)?;
            group.throughput(Throughput::Elements(n.into()));
            group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
                bencher.iter_custom(|times| time(&sort, &input, n, times).expect("it ran before"));
            });
        }
    }
    Ok(())
}

/// What a sort costs the host: planning it once, and recording it each time.
fn host(gpu: &Gpu, criterion: &mut Criterion) -> Result<()> {
    let u32s = SortRequest::new(KeyType::U32);
    let (count, pairs) = (1 << 20, SortRequest { value: ValueType::U32, ..u32s });
    let mut group = criterion.benchmark_group("host");
    for (name, request) in [("keys", u32s), ("pairs", pairs), ("argsort", argsort(u32s))] {
        let sorter = gpu.sorter(&request, &SorterOptions::default())?;
        let sort = sorter.prepare(count)?;
        group.bench_function(BenchmarkId::new("plan", name), |bencher| {
            bencher.iter(|| sorter.scratch_size(std::hint::black_box(count)));
        });
        for (what, count) in [("record", Count::Host(count)), ("record counted", Count::Device)] {
            group.bench_function(BenchmarkId::new(what, name), |bencher| {
                bencher.iter_custom(|times| {
                    sort.time_recording(count, times as usize).expect("it was bound").into_iter().sum()
                });
            });
        }
    }
    Ok(())
}

fn run() -> Result<()> {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let gpu = Gpu::best()?;
    println!("device {}, driver {}", gpu.profile().name, gpu.profile().driver);
    sorts(&gpu, &mut criterion)?;
    host(&gpu, &mut criterion)?;
    criterion.final_summary();
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
