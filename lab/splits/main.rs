//! CPU time of segments beyond a block on a software driver, against sorts of all elements in the same process: the medians of five runs
//! behind one that compiles. Results are compared with those of a sort on the host.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};
use vksort::standalone::Gpu;
use vksort::{
    Count, IndexFrom, KeyOutput, KeyType, Placement, SegmentBuffers, SegmentedRequest, SegmentedSorter, Segments,
    SortBuffers, SortRequest, Sorter, SorterOptions, ValueType,
};
use vksort_lab::cpu_time::{median, range};

/// What is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One segment of u32 pairs among tiny ones, against the same elements in one sort by the key alone
    One,
    /// An argsort of rows of f32 keys, against one by row and key
    Rows,
    /// One segment of u64 keys, against one sort
    Wide,
}

/// Sorts segments of which some are longer than a block.
#[derive(Parser)]
struct Args {
    #[arg(value_enum)]
    kind: Kind,
    /// Elements of the long segment, or of a row
    #[arg(long, default_value_t = 1 << 23)]
    length: u32,
    /// Tiny segments of 0 to 8 elements, or rows
    #[arg(long, default_value_t = 1 << 17)]
    count: u32,
    /// Keys of a normal distribution, if they are f32; else all bits are random
    #[arg(long)]
    normal: bool,
    /// Bits that all keys have in common, from the top
    #[arg(long, default_value_t = 0)]
    shared: u32,
}

/// A number that ascends in total order.
fn code(key: u32) -> u32 {
    if key >> 31 == 1 { !key } else { key | 1 << 31 }
}

/// One sort: its buffers and the time that it takes.
struct Sorted {
    milliseconds: f64,
    keys: Vec<u8>,
    values: Vec<u32>,
    scratch_bytes: u64,
}

/// Sorts out of place, whole or in segments with these offsets.
fn sort(
    gpu: &Gpu,
    request: &SortRequest,
    keys: &[u8],
    segments: Option<(&SegmentedRequest, &[u32], u32)>,
) -> Result<Sorted> {
    let (device, options) = (gpu.device(), SorterOptions::default());
    let n = (keys.len() as u64 / request.key.size_bytes()) as u32;
    let bytes = 4 * u64::from(n);
    let (given, given_bytes) = (gpu.buffer(keys.len() as u64)?, keys.len() as u64);
    given.write(0, keys)?;
    let numbers: Vec<u32> = (0..n).collect();
    let reads = matches!(request.value, ValueType::Bytes(_));
    let values = gpu.buffer(bytes)?;
    values.write(0, &numbers)?;
    let (keys_out, values_out) = (gpu.buffer(given_bytes)?, gpu.buffer(bytes)?);
    let keeps = request.key_output == KeyOutput::Sorted;
    let elements = |scratch| SortBuffers {
        values: reads.then(|| range(&values, bytes)),
        keys_out: keeps.then(|| range(&keys_out, given_bytes)),
        values_out: (request.value != ValueType::None).then(|| range(&values_out, bytes)),
        scratch,
        ..SortBuffers::in_place(range(&given, given_bytes), n)
    };
    let (milliseconds, scratch_bytes) = match segments {
        Some((request, words, count)) => {
            // SAFETY: the device was created with its requirements, and outlives the sorter.
            let sorter = unsafe { SegmentedSorter::new(&device.raw, &device.requirements, request, &options)? };
            let scratch_bytes = sorter.scratch_size(n, count)?;
            let (scratch, offsets) = (gpu.buffer(scratch_bytes.max(4))?, gpu.buffer(4 * words.len().max(1) as u64)?);
            offsets.write(0, words)?;
            let buffers = SegmentBuffers {
                elements: elements((scratch_bytes > 0).then(|| range(&scratch, scratch_bytes))),
                segments: (!words.is_empty()).then(|| range(&offsets, 4 * words.len() as u64)),
                segment_capacity: count,
            };
            // SAFETY: the buffers are of the device, have every usage, and outlive the sort.
            let bound = unsafe { sorter.bind(&buffers)? };
            // SAFETY: one run after the other.
            (median(gpu, |commands| unsafe { bound.record(commands, Count::Host(count), None) })?, scratch_bytes)
        }
        None => {
            // SAFETY: as above.
            let sorter = unsafe { Sorter::new(&device.raw, &device.requirements, request, &options)? };
            let scratch_bytes = sorter.scratch_size(n)?;
            let scratch = gpu.buffer(scratch_bytes.max(4))?;
            // SAFETY: as above.
            let bound = unsafe { sorter.bind(&elements((scratch_bytes > 0).then(|| range(&scratch, scratch_bytes))))? };
            // SAFETY: one run after the other.
            (median(gpu, |commands| unsafe { bound.record(commands, n, None) })?, scratch_bytes)
        }
    };
    let (mut keys, mut order) = (vec![0u8; if keeps { keys.len() } else { 0 }], vec![0u32; n as usize]);
    if keeps {
        keys_out.read(0, &mut keys)?;
    }
    if request.value != ValueType::None {
        values_out.read(0, &mut order)?;
    }
    Ok(Sorted { milliseconds, keys, values: order, scratch_bytes })
}

fn main() -> Result<()> {
    let args = Args::parse();
    let gpu = Gpu::best()?;
    let mut random = fastrand::Rng::with_seed(7);
    let tiny: Vec<u32> = (0..args.count).map(|_| random.u32(0..9)).collect();
    let lengths: Vec<u32> = match args.kind {
        Kind::One => [&tiny[..tiny.len() / 2], &[args.length], &tiny[tiny.len() / 2..]].concat(),
        Kind::Rows => vec![args.length; args.count as usize],
        Kind::Wide => vec![args.length],
    };
    let n: u32 = lengths.iter().sum();
    let ends = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
    let normal = |random: &mut fastrand::Rng| ((0..12).map(|_| random.f32()).sum::<f32>() - 6.0).to_bits();
    let narrow: Vec<u32> =
        (0..n).map(|_| if args.normal { normal(&mut random) } else { random.u32(..) >> args.shared.min(31) }).collect();
    let out = SortRequest { placement: Placement::OutOfPlace, ..SortRequest::new(KeyType::U32) };
    let segments = |sort, segments| SegmentedRequest::new(sort, segments);
    let (segmented, whole, order): (Sorted, Sorted, Vec<u64>) = match args.kind {
        Kind::One => {
            let pairs = SortRequest { value: ValueType::U32, ..out };
            let request = segments(pairs, Segments::Offsets);
            let keys = bytemuck::cast_slice(&narrow);
            let segmented = sort(&gpu, &pairs, keys, Some((&request, &offsets, lengths.len() as u32)))?;
            let order = narrow.iter().map(|key| u64::from(*key)).collect();
            (segmented, sort(&gpu, &pairs, keys, None)?, order)
        }
        Kind::Rows => {
            let argsort = SortRequest {
                key: KeyType::F32,
                bits: SortRequest::new(KeyType::F32).bits,
                value: ValueType::Index,
                key_output: KeyOutput::Discarded,
                ..out
            };
            let request = segments(argsort, Segments::Rows { stride: args.length }).indices_from(IndexFrom::Array);
            let segmented = sort(&gpu, &argsort, bytemuck::cast_slice(&narrow), Some((&request, &[], args.count)))?;
            // All elements by row and key, with as many bits as these have.
            let wide: Vec<u64> = (0u64..)
                .zip(&narrow)
                .map(|(at, key)| (at / u64::from(args.length)) << 32 | u64::from(code(*key)))
                .collect();
            let bits = 32 + args.count.next_power_of_two().ilog2();
            let full = SortRequest { key: KeyType::U64, bits: (0..bits).into(), ..argsort };
            let order = narrow.iter().map(|key| u64::from(code(*key))).collect();
            (segmented, sort(&gpu, &full, bytemuck::cast_slice(&wide), None)?, order)
        }
        Kind::Wide => {
            let wide: Vec<u64> = (0..n).map(|_| random.u64(..) >> args.shared.min(63)).collect();
            let keys = SortRequest { key: KeyType::U64, bits: SortRequest::new(KeyType::U64).bits, ..out };
            let request = segments(keys, Segments::Offsets);
            let segmented = sort(&gpu, &keys, bytemuck::cast_slice(&wide), Some((&request, &offsets, 1)))?;
            (segmented, sort(&gpu, &keys, bytemuck::cast_slice(&wide), None)?, wide)
        }
    };

    for pair in offsets.windows(2) {
        let (first, end) = (pair[0] as usize, pair[1] as usize);
        let mut expected: Vec<(u64, u32)> = (first..end).map(|at| (order[at], at as u32)).collect();
        expected.sort();
        if args.kind == Kind::Wide {
            let found: &[u64] = bytemuck::cast_slice(&segmented.keys);
            ensure!(
                expected.iter().zip(&found[first..end]).all(|(expected, found)| expected.0 == *found),
                "wrong order"
            );
        } else {
            let right =
                expected.iter().zip(&segmented.values[first..end]).all(|(expected, found)| expected.1 == *found);
            ensure!(right, "the segment from {first} to {end} is wrong");
        }
    }
    let (name, ratio) = (&gpu.profile().name, segmented.milliseconds / whole.milliseconds);
    println!(
        "{name}: {:?}, {} segments, {n} elements: {:.1} ms of CPU time, all sorted {:.1} ms, ratio {ratio:.3}; {:.3} bytes of scratch \
         an element, {:.3}",
        args.kind,
        lengths.len(),
        segmented.milliseconds,
        whole.milliseconds,
        segmented.scratch_bytes as f64 / f64::from(n),
        whole.scratch_bytes as f64 / f64::from(n)
    );
    Ok(())
}
