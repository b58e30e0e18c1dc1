//! What a process does while calls of Vulkan fail: operations of vksort, each tried again after an error.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use std::path::PathBuf;
use std::sync::Arc;

use vksort::ash::vk;
use vksort::standalone::{Device, DeviceBuffer, DeviceChoice, Gpu, GpuOptions, SegmentsOf};
use vksort::{
    Algorithm, BoundSort, BufferRange, Capacity, Count, Error, IndexFrom, Inspection, Inspector, KeyField, KeyType,
    Order, Placement, QueryRange, Segments, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType,
};
use vksort_testing::seed;

/// What an operation came to, if it has no result to check.
pub enum Trouble {
    Refused(Error),
    Wrong(&'static str),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Refused(error)
    }
}

type Outcome<T> = Result<T, Trouble>;

/// The parts of vksort whose calls fail.
pub const SCENARIOS: [(&str, fn()); 5] = [
    ("opening", opening),
    ("slices", slices),
    ("segments", segments),
    ("prepared", prepared),
    ("recording", recording),
];

/// Elements of most sorts: several tiles.
const MANY: usize = 20_000;

/// Does something, and does it again after an error. Prints a line for each time.
fn attempt<T>(name: &str, mut operation: impl FnMut() -> Outcome<T>) -> Option<T> {
    for _ in 0..2 {
        match operation() {
            Ok(result) => {
                println!("right {name}");
                return Some(result);
            }
            Err(Trouble::Refused(error)) => println!("refused {name}: {error}"),
            Err(Trouble::Wrong(what)) => {
                println!("wrong {name}: {what}");
                return None;
            }
        }
    }
    None
}

fn check(right: bool, what: &'static str) -> Outcome<()> {
    if right { Ok(()) } else { Err(Trouble::Wrong(what)) }
}

fn random(count: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed());
    std::iter::repeat_with(|| random.u32(..)).take(count).collect()
}

fn sorted(mut keys: Vec<u32>) -> Vec<u32> {
    keys.sort_unstable();
    keys
}

/// The indices of keys in their order.
fn order_of(keys: &[u32]) -> Vec<u32> {
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    indices.sort_by_key(|index| keys[*index as usize]);
    indices
}

/// Sorts a copy of a slice in its place, which an error has to leave as it was.
fn in_place<T: Clone + PartialEq>(
    before: &[T],
    expected: &[T],
    sort: impl FnOnce(&mut [T]) -> Result<(), Error>,
) -> Outcome<()> {
    let mut slice = before.to_vec();
    match sort(&mut slice) {
        Ok(()) => check(slice == expected, "the order"),
        Err(error) => check(slice == before, "the slice was changed by a call that failed").and(Err(error.into())),
    }
}

/// A device, if it can be opened.
fn gpu(options: &GpuOptions) -> Option<Gpu> {
    attempt("Gpu::new", || Ok(Gpu::new(options)?))
}

fn opening() {
    let Some(file) = std::env::var_os("VKSORT_FAULT_CACHE").map(PathBuf::from) else { return };
    attempt("Gpu::devices", || {
        let devices = Gpu::devices()?;
        check(!devices.is_empty(), "no devices")?;
        devices.into_iter().try_for_each(|device| Ok(device.profile.map(drop)?))
    });
    attempt("Gpu::index_of", || check(Gpu::index_of(&DeviceChoice::Best)? == 0, "the index"));
    let keys = random(100);
    // The second time there is a file with pipelines.
    for _ in 0..2 {
        let Some(gpu) = gpu(&GpuOptions::default().pipeline_cache(file.clone())) else { return };
        attempt("Gpu::warm_up", || Ok(gpu.warm_up(&SortRequest::new(KeyType::U32), 100)?));
        let made = attempt("Gpu::buffer", || Ok([gpu.buffer(4_000)?, gpu.buffer(400)?]));
        if let Some([long, short]) = made {
            attempt("DeviceBuffer", || {
                let mut read = vec![0u32; 100];
                long.write(800, &keys)?;
                short.copy_from(0, &long, 800, 400)?;
                short.read(0, &mut read)?;
                check(read == keys, "the bytes")
            });
        }
        attempt("Gpu::clear_pipelines", || Ok(gpu.clear_pipelines()?));
        attempt("Gpu::sort", || in_place(&keys, &sorted(keys.clone()), |slice| gpu.sort(slice, Order::Ascending)));
        // The layer follows one device at a time, and one that was given up stays.
        if gpu.device().is_lost() {
            return;
        }
    }
}

fn slices() {
    let keys = random(MANY);
    let (in_order, indices) = (sorted(keys.clone()), order_of(&keys));
    let pairs: Vec<[u32; 2]> = keys.iter().zip(0..).map(|(key, index)| [*key, index]).collect();
    let sorted_pairs: Vec<[u32; 2]> = indices.iter().map(|index| pairs[*index as usize]).collect();
    let Some(gpu) = gpu(&GpuOptions::default()) else { return };
    for _ in 0..2 {
        attempt("Gpu::sort", || in_place(&keys, &in_order, |slice| gpu.sort(slice, Order::Ascending)));
        attempt("Gpu::sort_pairs", || {
            in_place(&pairs, &sorted_pairs, |slice| {
                let (mut keys, mut values): (Vec<u32>, Vec<u32>) = slice.iter().map(|pair| (pair[0], pair[1])).unzip();
                let result = gpu.sort_pairs(&mut keys, &mut values, Order::Ascending);
                slice.iter_mut().zip(keys.iter().zip(&values)).for_each(|(pair, (key, value))| *pair = [*key, *value]);
                result
            })
        });
        attempt("Gpu::argsort", || check(gpu.argsort(&keys, Order::Ascending)? == indices, "the permutation"));
        let fields = [KeyField::new(0, KeyType::U32)];
        attempt("Gpu::sort_by_fields", || in_place(&pairs, &sorted_pairs, |slice| gpu.sort_by_fields(slice, fields)));
        attempt("Gpu::clear_pipelines", || Ok(gpu.clear_pipelines()?));
    }
}

fn segments() {
    const ROW: usize = 2_500;
    let keys = random(MANY);
    let in_order: Vec<u32> = keys.chunks(ROW).flat_map(|row| sorted(row.to_vec())).collect();
    let columns: Vec<u32> = keys.chunks(ROW).flat_map(order_of).collect();
    let offsets: Vec<u32> = (0..=MANY as u32).step_by(ROW).collect();
    let first = |count: usize, keys: &[u32]| -> (Vec<u32>, Vec<u32>) {
        order_of(keys).into_iter().take(count).map(|index| (keys[index as usize], index)).unzip()
    };
    let Some(gpu) = gpu(&GpuOptions::default()) else { return };
    attempt("Gpu::sort_segments", || {
        let sort = |slice: &mut [u32]| gpu.sort_segments(slice, SegmentsOf::Offsets(&offsets), Order::Ascending);
        in_place(&keys, &in_order, sort)
    });
    attempt("Gpu::argsort_segments", || {
        let rows = SegmentsOf::Rows(ROW as u32);
        check(gpu.argsort_segments(&keys, rows, IndexFrom::Segment, Order::Ascending)? == columns, "the permutation")
    });
    attempt("Gpu::top_k", || check(gpu.top_k(&keys, 9, Order::Ascending)? == first(9, &keys), "the first keys"));
    attempt("Gpu::top_k_of_segments", || {
        let expected: (Vec<Vec<u32>>, Vec<Vec<u32>>) = keys.chunks(ROW).map(|row| first(9, row)).unzip();
        let found = gpu.top_k_of_segments(&keys, SegmentsOf::Rows(ROW as u32), 9, Order::Ascending)?;
        check(found == (expected.0.concat(), expected.1.concat()), "the first keys")
    });
}

fn prepared() {
    let keys = random(MANY);
    let (in_order, indices) = (sorted(keys.clone()), order_of(&keys));
    let Some(gpu) = gpu(&GpuOptions::default()) else { return };
    for (algorithm, value) in [(Algorithm::OneSweep, ValueType::U32), (Algorithm::ReduceThenScan, ValueType::Index)] {
        let request = SortRequest::new(KeyType::U32).algorithm(algorithm).value(value);
        let made = attempt("Sorter::prepare", || {
            let sorter = gpu.sorter(&request, &SorterOptions::default())?;
            Ok(sorter.prepare(MANY as u32)?)
        });
        let Some(sort) = made else { continue };
        let write = || -> Outcome<()> {
            sort.write_keys(&keys)?;
            if value == ValueType::U32 {
                sort.write_values(&(0..MANY as u32).collect::<Vec<_>>())?;
            }
            Ok(sort.write_count(MANY as u32)?)
        };
        let read = || -> Outcome<()> {
            let mut read = [vec![0u32; MANY], vec![0; MANY]];
            sort.read_keys(&mut read[0])?;
            sort.read_values(&mut read[1])?;
            check(read[0] == in_order && read[1] == indices, "the order")
        };
        attempt("PreparedSort::run", || {
            write()?;
            sort.run(Count::Device)?;
            let passes = sort.passes()?;
            check(passes.is_none_or(|passes| passes.ran + passes.skipped == 4), "the passes")?;
            read()
        });
        attempt("PreparedSort::time", || {
            write()?;
            sort.time(MANY as u32)?;
            read()
        });
        attempt("PreparedSort::run_verified", || {
            write()?;
            check(sort.run_verified(MANY as u32)? == 0, "what the verifier says")?;
            read()
        });
    }
}

/// Buffers of a recorded sort, with a report and a count.
struct Buffers {
    keys: DeviceBuffer,
    values: Option<DeviceBuffer>,
    keys_out: Option<DeviceBuffer>,
    values_out: Option<DeviceBuffer>,
    segments: Option<DeviceBuffer>,
    count: DeviceBuffer,
    scratch: DeviceBuffer,
    report: DeviceBuffer,
}

impl Buffers {
    fn allocate(gpu: &Gpu, sorter: &Sorter, capacity: Capacity) -> Result<Buffers, Error> {
        let sizes = sorter.buffer_sizes(capacity);
        let some = |size: Option<u64>| size.map(|size| gpu.buffer(size)).transpose();
        Ok(Buffers {
            keys: gpu.buffer(sizes.keys.unwrap_or(4))?,
            values: some(sizes.values)?,
            keys_out: some(sizes.keys_out)?,
            values_out: some(sizes.values_out)?,
            segments: some(sizes.segments)?,
            count: gpu.buffer(4)?,
            scratch: gpu.buffer(sorter.scratch_size(capacity)?.max(4))?,
            // More than any report here takes.
            report: gpu.buffer(1 << 16)?,
        })
    }

    fn ranges(&self, capacity: Capacity) -> SortBuffers {
        let some = |buffer: &Option<DeviceBuffer>| buffer.as_ref().map(range);
        SortBuffers::new(capacity)
            .keys(range(&self.keys))
            .values(some(&self.values))
            .keys_out(some(&self.keys_out))
            .values_out(some(&self.values_out))
            .segments(some(&self.segments))
            .count(range(&self.count))
            .scratch(range(&self.scratch))
    }
}

fn range(buffer: &DeviceBuffer) -> BufferRange {
    BufferRange::new(buffer.raw(), buffer.size())
}

/// A pool of timestamps, which goes when it is dropped.
struct Timestamps<'a>(&'a Arc<Device>, QueryRange);

impl<'a> Timestamps<'a> {
    fn new(device: &'a Arc<Device>, count: u32) -> Result<Timestamps<'a>, Error> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the device is alive; `Drop` destroys the pool, once.
        let pool = unsafe { device.raw.create_query_pool(&info, None) };
        let pool = pool.map_err(|result| Error::Vulkan { call: "vkCreateQueryPool", result })?;
        Ok(Timestamps(device, QueryRange::new(pool, 0, count)))
    }
}

impl Drop for Timestamps<'_> {
    fn drop(&mut self) {
        // SAFETY: what used the pool was waited for; after a wait that failed, the pool is forgotten.
        unsafe { self.0.raw.destroy_query_pool(self.1.pool, None) };
    }
}

/// A sort that is recorded: words of its elements, and of what it has to come to.
struct Case<'a> {
    name: &'static str,
    request: SortRequest,
    words: &'a [u32],
    expected: Vec<u32>,
    verifies: bool,
}

/// Sorts recorded into a command buffer, as a renderer records them.
fn recording() {
    const ROW: usize = 2_500;
    let keys = random(MANY);
    let rows: Vec<u32> = keys.chunks(ROW).flat_map(|row| sorted(row.to_vec())).collect();
    let first: Vec<u32> = rows.chunks(ROW).flat_map(|row| row[..9].to_vec()).collect();
    let offsets: Vec<u32> = (0..=MANY as u32).step_by(ROW).collect();
    let records: Vec<u32> = keys.iter().zip(0..).flat_map(|(key, index)| [*key, index]).collect();
    let in_order = order_of(&keys).into_iter().flat_map(|index| [keys[index as usize], index]).collect();
    let one = SortRequest::new(KeyType::U32);
    let top = one.placement(Placement::OutOfPlace).segments(Segments::Offsets).top(9);
    let of = |name, request, words, expected, verifies| Case { name, request, words, expected, verifies };
    let Some(gpu) = gpu(&GpuOptions::default()) else { return };
    for case in [
        of("one array", one, &keys[..], sorted(keys.clone()), true),
        of("records", SortRequest::records(8, [KeyField::new(0, KeyType::U32)]), &records, in_order, false),
        of("segments", one.segments(Segments::Offsets), &keys, rows, false),
        of("first elements", top, &keys, first, false),
    ] {
        record(&gpu, &case, &offsets);
        // Nothing of a device may go that may still be at work.
        if gpu.device().is_lost() {
            return;
        }
    }
}

/// Records a sort with everything that goes with it, and reads its result.
fn record(gpu: &Gpu, case: &Case<'_>, offsets: &[u32]) {
    let Case { name, request, words, expected, verifies } = case;
    let device = gpu.device();
    let capacity = match request.segments.is_some() {
        true => Capacity::new(MANY as u32).segments(offsets.len() as u32 - 1),
        false => Capacity::new(MANY as u32),
    };
    let count = if request.segments.is_some() { capacity.segments } else { capacity.elements };
    let made = attempt(&format!("{name}: Sorter::new"), || {
        // SAFETY: the device was created with its requirements, and outlives the sorter.
        let sorter = unsafe { Sorter::new(&device.raw, &device.requirements, request, &SorterOptions::default())? };
        let buffers = Buffers::allocate(gpu, &sorter, capacity)?;
        Ok((sorter, buffers))
    });
    let Some((sorter, buffers)) = made else { return };
    let bound = attempt(&format!("{name}: Sorter::bind"), || {
        let report = range(&buffers.report);
        // SAFETY: the buffers are the device's, with every usage, and outlive the sort and what goes with it.
        unsafe {
            let sort = sorter.bind(&buffers.ranges(capacity))?;
            let inspector = sort.inspector(report)?;
            let verifier = verifies.then(|| sort.verifier(report)).transpose()?;
            let timestamps = Timestamps::new(device, sort.query_count(Count::Device))?;
            Ok((sort, inspector, verifier, timestamps))
        }
    });
    let Some((sort, inspector, verifier, timestamps)) = bound else { return };
    let any = BoundSort::INPUT_SCOPE | BoundSort::OUTPUT_SCOPE;
    let execute = |what, record: &dyn Fn(vk::CommandBuffer) -> Result<(), Error>| {
        // SAFETY: the commands are complete; they use the objects above, which live until the device is done with them.
        unsafe { device.execute(what, record) }
    };
    attempt(&format!("{name}: record_warm_up"), || {
        // SAFETY: here and below, the command buffer is recording on a compute queue, after earlier work was waited for.
        Ok(execute("a warm-up", &|commands| unsafe { sort.record_warm_up(commands, None) })?)
    });
    attempt(&format!("{name}: record_timed"), || {
        buffers.keys.write(0, words)?;
        buffers.count.write(0, &[count])?;
        buffers.segments.iter().try_for_each(|segments| segments.write(0, offsets))?;
        // SAFETY: as above; barriers order the halves of the verifier and the sort.
        execute("a sort", &|commands| unsafe {
            verifier.iter().try_for_each(|verifier| verifier.record_before(commands, count))?;
            any.record_barrier(any, &device.raw, commands);
            sort.record_timed(commands, Count::Device, timestamps.1)?;
            any.record_barrier(any, &device.raw, commands);
            verifier.iter().try_for_each(|verifier| verifier.record_after(commands, count))
        })?;
        if verifier.is_some() {
            let mut answer = [0u32];
            buffers.report.read(0, &mut answer)?;
            check(answer == [0], "what the verifier says")?;
        }
        let mut found = vec![0u32; expected.len()];
        buffers.keys_out.as_ref().unwrap_or(&buffers.keys).read(0, &mut found)?;
        check(found == *expected, "the order")
    });
    attempt(&format!("{name}: inspect"), || {
        // SAFETY: as above.
        execute("an inspection", &|commands| unsafe { inspector.record(commands, Count::Device) })?;
        let mut report = [0u32; Inspector::WORDS];
        buffers.report.read(0, &mut report)?;
        let inspection = Inspection::from(report);
        check(inspection.count == count && inspection.is_complete(), "the inspection")
    });
    if device.is_lost() {
        std::mem::forget((sorter, buffers, sort, inspector, verifier, timestamps));
    }
}
