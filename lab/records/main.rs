//! CPU time of sorting records of 32 bytes by 40 bits on a software driver, against moving all their bytes in each pass: pairs of a
//! key of 128 bits, of which a window of 40 is sorted, with a value of 16 bytes. All ways run in turns within a round, and every result
//! is compared with that of a sort on the host.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use anyhow::{Result, ensure};
use clap::Parser;
use cpu_time::ProcessTime;
use vksort::ash::vk;
use vksort::standalone::{DeviceBuffer, Gpu};
use vksort::{
    BoundSort, BufferRange, KeyField, KeyType, Placement, RecordOutput, RecordRequest, SortBuffers, SortRequest,
    Sorter, SorterOptions, ValueType,
};

/// Sorts records by a u32 and a u8.
#[derive(Parser)]
struct Args {
    /// The number of records, as a power of two
    #[arg(long, default_value_t = 22)]
    log2: u32,
    /// Rounds behind one that compiles
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

const STRIDE: usize = 32;
const BITS: u32 = 40;

/// A way to sort: its name, its bound sort, and what it should leave in the input, in place, or in the output.
struct Way {
    name: &'static str,
    sort: BoundSort,
    in_place: bool,
    given: Vec<u8>,
    expected: Vec<u8>,
}

/// Parts of each element, in another order.
fn gather(bytes: &[u8], size: usize, order: &[u32]) -> Vec<u8> {
    order.iter().flat_map(|index| &bytes[*index as usize * size..][..size]).copied().collect()
}

fn part(buffer: &DeviceBuffer, offset: u64, size: u64) -> BufferRange {
    BufferRange { buffer: buffer.raw(), offset, size, usage: None }
}

fn median(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    format!("{:.2} ({:.2} to {:.2})", values[values.len() / 2], values[0], values[values.len() - 1])
}

fn main() -> Result<()> {
    let args = Args::parse();
    let gpu = Gpu::best()?;
    let device = gpu.device();
    let n = 1u32 << args.log2;
    let bytes = STRIDE * n as usize;
    let mut random = fastrand::Rng::with_seed(1);
    let mut records = vec![0; bytes];
    random.fill(&mut records);
    let mut order: Vec<u32> = (0..n).collect();
    let field = |index: &u32| {
        let record = &records[*index as usize * STRIDE..][..STRIDE];
        (u32::from_le_bytes(record[4..8].try_into().expect("four bytes")), record[0])
    };
    order.sort_by_key(field);
    let (input, output) = (gpu.buffer(bytes as u64)?, gpu.buffer(bytes as u64)?);

    let fields = [KeyField::new(4, KeyType::U32), KeyField::new(0, KeyType::U8)];
    // Pairs that are sorted by as many bits, which the first 16 bytes of each have lowest.
    let pairs: Vec<u8> = records
        .chunks(STRIDE)
        .flat_map(|record| [&record[..1], &record[4..8], &record[1..4], &record[8..16]].concat())
        .chain(records.chunks(STRIDE).flat_map(|record| record[16..].to_vec()))
        .collect();
    let half = bytes / 2;
    let sorted_pairs = [gather(&pairs[..half], 16, &order), gather(&pairs[half..], 16, &order)].concat();
    let sorted = gather(&records, STRIDE, &order);
    let options = SorterOptions::default();
    let mut sorters = Vec::new();
    for placement in [Placement::InPlace, Placement::OutOfPlace] {
        let (value, bits) = (ValueType::Bytes(16), (0..BITS).into());
        let request = SortRequest { value, bits, placement, ..SortRequest::new(KeyType::U128) };
        // SAFETY: the device was created with its requirements, and outlives the sorter.
        sorters.push(unsafe { Sorter::new(&device.raw, &device.requirements, &request, &options)? });
    }
    for output in [RecordOutput::InPlace, RecordOutput::OutOfPlace, RecordOutput::Permutation] {
        let request = RecordRequest::new(STRIDE as u32, fields).with_output(output);
        // SAFETY: as above.
        sorters.push(unsafe { Sorter::of_records(&device.raw, &device.requirements, &request, &options)? });
    }
    let names = ["moved, in place", "moved, out of place", "in place", "out of place", "permutation"];
    let mut scratch_bytes = 0;
    for (name, sorter) in names.iter().zip(&sorters) {
        let size = sorter.scratch_size(n)?;
        println!("{name}: {:.1} bytes of scratch a record", size as f64 / f64::from(n));
        scratch_bytes = scratch_bytes.max(size);
    }
    let scratch = gpu.buffer(scratch_bytes)?;
    let mut ways = Vec::new();
    for (at, (name, sorter)) in names.into_iter().zip(&sorters).enumerate() {
        let sizes = sorter.buffers(n);
        let buffers = SortBuffers {
            values: sizes.values.map(|size| part(&input, half as u64, size)),
            keys_out: sizes.keys_out.map(|size| part(&output, 0, size)),
            values_out: sizes.values_out.map(|size| part(&output, if at < 2 { half as u64 } else { 0 }, size)),
            scratch: Some(part(&scratch, 0, scratch_bytes)),
            ..SortBuffers::in_place(part(&input, 0, sizes.keys), n)
        };
        // SAFETY: the buffers are of the device, have every usage, and outlive the sort.
        let sort = unsafe { sorter.bind(&buffers)? };
        let (given, expected) = match at {
            0 | 1 => (&pairs, sorted_pairs.clone()),
            2 | 3 => (&records, sorted.clone()),
            _ => (&records, order.iter().flat_map(|index| index.to_le_bytes()).collect()),
        };
        ways.push(Way { name, sort, in_place: at % 2 == 0 && at < 4, given: given.clone(), expected });
    }

    let mut times = vec![Vec::new(); ways.len()];
    for round in 0..=args.rounds {
        for (way, times) in ways.iter().zip(&mut times) {
            input.write(0, &way.given)?;
            let before = ProcessTime::now();
            let record = |commands: vk::CommandBuffer| {
                // SAFETY: one run after the other, on buffers that outlive it.
                unsafe { way.sort.record(commands, n, None) }
            };
            // SAFETY: as above.
            unsafe { device.execute("a run", record)? };
            if round > 0 {
                times.push(before.elapsed().as_secs_f64());
            }
            let mut found = vec![0u8; way.expected.len()];
            if way.in_place { &input } else { &output }.read(0, &mut found)?;
            ensure!(found == way.expected, "{}: the result is wrong", way.name);
        }
    }
    println!("{}: {n} records, seconds of CPU time", gpu.profile().name);
    for (at, (way, of_way)) in ways.iter().zip(&times).enumerate() {
        let moved = &times[if at == 4 { 1 } else { at % 2 }];
        let ratios = of_way.iter().zip(moved).map(|(time, moved)| time / moved).collect();
        println!("{}: {}; of moved in each pass {}", way.name, median(of_way.clone()), median(ratios));
    }
    Ok(())
}
