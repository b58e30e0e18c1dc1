//! CPU time of finding the first elements on a software driver, against a sort of all elements in the same process: a line for each
//! case, and the medians of five runs behind one that compiles. Results are compared with those of a sort on the host.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use anyhow::{Result, ensure};
use clap::Parser;
use vksort::standalone::Gpu;
use vksort::{
    Count, IndexFrom, KeyOutput, KeyType, Order, Placement, SegmentBuffers, SegmentedRequest, SegmentedSorter,
    Segments, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType,
};
use vksort_lab::cpu_time::{median, range};

/// Finds the first elements of f32 keys, and sorts all of them.
#[derive(Parser)]
struct Args {
    /// Rows; one is the whole array
    #[arg(long, default_value_t = 1)]
    rows: u32,
    /// Elements of each
    #[arg(long, default_value_t = 1 << 24)]
    length: u32,
    /// How many of the first elements are wanted
    #[arg(long, default_value_t = 100)]
    top: u32,
    /// Keys of a normal distribution; else all bits are random
    #[arg(long)]
    normal: bool,
}

fn keys(args: &Args) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut key = || match args.normal {
        true => (0..12).map(|_| random.f32()).sum::<f32>() - 6.0,
        false => f32::from_bits(random.u32(..)),
    };
    (0..args.rows * args.length).map(|_| key()).collect()
}

/// A number that ascends in total order.
fn code(key: f32) -> u32 {
    let bits = key.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let gpu = Gpu::best()?;
    let keys = keys(&args);
    let (n, results) = (keys.len() as u32, args.rows * args.top);
    let options = SorterOptions::default();
    let sort = SortRequest {
        order: Order::Descending,
        value: ValueType::Index,
        placement: Placement::OutOfPlace,
        ..SortRequest::new(KeyType::F32)
    };
    let segments = if args.rows == 1 { Segments::Whole } else { Segments::Rows { stride: args.length } };
    let request = SegmentedRequest::new(sort, segments).indices_from(IndexFrom::Segment).top(args.top);
    // SAFETY: the device was created with its requirements, and outlives the sorter.
    let sorter = unsafe { SegmentedSorter::new(&gpu.device().raw, &gpu.device().requirements, &request, &options)? };
    let scratch_bytes = sorter.scratch_size(n, args.rows)?;
    let given = gpu.buffer(4 * u64::from(n))?;
    given.write(0, &keys)?;
    let [found, indices] = [gpu.buffer(4 * u64::from(results))?, gpu.buffer(4 * u64::from(results))?];
    let scratch = gpu.buffer(scratch_bytes)?;
    let elements = SortBuffers {
        values_out: Some(range(&indices, 4 * u64::from(results))),
        keys_out: Some(range(&found, 4 * u64::from(results))),
        scratch: Some(range(&scratch, scratch_bytes)),
        ..SortBuffers::in_place(range(&given, 4 * u64::from(n)), n)
    };
    // SAFETY: the buffers are of the device, have every usage, and outlive the sort.
    let bound = unsafe { sorter.bind(&SegmentBuffers { elements, segments: None, segment_capacity: args.rows })? };
    let count = Count::Host(if args.rows == 1 { n } else { args.rows });
    // SAFETY: one run after the other.
    let top = median(&gpu, |commands| unsafe { bound.record(commands, count, None) })?;
    let (mut top_keys, mut top_indices) = (vec![0f32; results as usize], vec![0u32; results as usize]);
    found.read(0, &mut top_keys)?;
    indices.read(0, &mut top_indices)?;

    // All elements by row and key, with as many bits as these have.
    let wide: Vec<u64> =
        (0u64..).zip(&keys).map(|(at, key)| (at / u64::from(args.length)) << 32 | u64::from(!code(*key))).collect();
    let bits = 32 + args.rows.next_power_of_two().ilog2();
    let (bytes, full) = match args.rows {
        1 => (4, sort),
        _ => (8, SortRequest { key: KeyType::U64, bits: (0..bits).into(), order: Order::Ascending, ..sort }),
    };
    let full = SortRequest { key_output: KeyOutput::Discarded, ..full };
    // SAFETY: as above.
    let sorter = unsafe { Sorter::new(&gpu.device().raw, &gpu.device().requirements, &full, &options)? };
    let (all, scratch_bytes) = (u64::from(n) * bytes, sorter.scratch_size(n)?);
    let source = gpu.buffer(all)?;
    if args.rows == 1 {
        source.write(0, &keys)?;
    } else {
        source.write(0, &wide)?;
    }
    let values_out = gpu.buffer(4 * u64::from(n))?;
    let scratch = gpu.buffer(scratch_bytes.max(4))?;
    let buffers = SortBuffers {
        values_out: Some(range(&values_out, 4 * u64::from(n))),
        scratch: Some(range(&scratch, scratch_bytes.max(4))),
        ..SortBuffers::in_place(range(&source, all), n)
    };
    // SAFETY: as above.
    let bound = unsafe { sorter.bind(&buffers)? };
    // SAFETY: one run after the other.
    let whole = median(&gpu, |commands| unsafe { bound.record(commands, n, None) })?;
    let mut order = vec![0u32; n as usize];
    values_out.read(0, &mut order)?;

    for row in 0..args.rows as usize {
        let (length, top) = (args.length as usize, args.top as usize);
        let mut expected: Vec<u64> =
            (0u64..).zip(&keys[row * length..][..length]).map(|(at, key)| u64::from(!code(*key)) << 32 | at).collect();
        expected.sort_unstable();
        let found = &top_indices[row * top..][..top];
        let right = expected.iter().zip(found).all(|(expected, found)| *expected as u32 == *found);
        ensure!(right, "the first elements of row {row} are wrong");
        let sorted = order[row * length..][..length].iter().zip(&expected);
        ensure!(sorted.clone().all(|(at, expected)| at % args.length == *expected as u32), "row {row} is not sorted");
        let same = found
            .iter()
            .zip(&top_keys[row * top..])
            .all(|(at, key)| keys[row * length + *at as usize].to_bits() == key.to_bits());
        ensure!(same, "the keys of row {row} are not those at the indices");
    }
    let name = &gpu.profile().name;
    let (Args { rows, length, top: wanted, .. }, ratio) = (args, top / whole);
    println!(
        "{name}: top {wanted} of {rows} x {length}: {top:.1} ms of CPU time, all sorted {whole:.1} ms, ratio {ratio:.3}"
    );
    Ok(())
}
