//! Whether sorts are right on a device: sorts of every kind, each compared in full with a stable sort on the host and checked by
//! a [`Verifier`](crate::Verifier), with guard bytes around every range.
//!
//! ```no_run
//! # fn main() -> Result<(), vksort::Error> {
//! use vksort::standalone::{Gpu, selftest};
//!
//! let gpu = Gpu::best()?;
//! let report = selftest::run(&gpu, &selftest::Options::default(), &mut |_done, _all| ());
//! println!("{report}");
//! assert!(report.is_right());
//! # Ok(()) }
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::buffer::{DeviceBuffer, DeviceRange};
use super::gpu::Gpu;
use super::prepared::{PreparedSort, SortRanges, StandaloneSorter};
use crate::error::Error;
use crate::key::{KeyType, Order};
use crate::profile::DeviceProfile;
use crate::record::{Access, SorterOptions, Verifier};
use crate::request::{Algorithm, Count, KeyOutput, Placement, SortRequest, ValueType};

/// Options of a self-test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The seed of the keys. The same seed on the same device repeats every sort.
    pub seed: u64,
    /// No kind of sort begins after this time. The report names those that did not run. A sort of most kinds takes less than a
    /// second, and compiling its pipelines up to a few.
    pub limit: Duration,
    /// The kind, by its place in the report, one of whose keys another command changes.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub spoiled: Option<usize>,
}

impl Default for Options {
    /// Seed 1, and 50 seconds.
    fn default() -> Self {
        Options {
            seed: 1,
            limit: Duration::from_secs(50),
            // Programs that are tested have no other way to see a wrong sort.
            #[cfg(feature = "testing")]
            spoiled: std::env::var("VKSORT_SELFTEST_SPOILED").ok().and_then(|kind| kind.parse().ok()),
        }
    }
}

/// What the sorts of one kind came to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kind {
    /// The request.
    pub request: SortRequest,
    /// Whether keys and values are accessed by address.
    pub addressed: bool,
    /// The launch configuration, in words.
    pub shape: String,
    /// Sorts that were right.
    pub right: u32,
    /// Sorts that were wrong.
    pub wrong: u32,
    /// The first fault: what was wrong with a sort, or the error that ended the kind.
    pub fault: Option<String>,
    /// Whether it ran: not if the time was over, or the device does not support it.
    pub ran: bool,
}

/// The result of a self-test. As text it is a report to paste into a bug.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Every kind.
    pub kinds: Vec<Kind>,
    /// The seed of the keys.
    pub seed: u64,
    /// How long it took.
    pub took: Duration,
    /// Device, driver, and what vksort chose, in lines.
    about: String,
}

/// What the keys look like.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Uniform,
    FewDistinct,
    AllEqual,
    Descending,
}

/// The bytes around each range, and in scratch before the sort.
const GUARD: u8 = 0xA7;

/// Runs sorts of every kind on a device, with its own tuning and algorithms. `progress` is called with the kinds that are done and
/// all of them.
///
/// It takes some seconds on a GPU, and most of a minute where a driver compiles slowly. Other threads may use the device
/// meanwhile, and wait.
pub fn run(gpu: &Gpu, options: &Options, progress: &mut dyn FnMut(usize, usize)) -> Report {
    let (started, kinds) = (Instant::now(), kinds());
    // Later kinds use the pipelines of earlier ones.
    let (mut done, mut sorters) = (Vec::new(), Vec::new());
    for (index, (request, access)) in kinds.iter().enumerate() {
        progress(index, kinds.len());
        let (fault, shape) = (None, String::new());
        let addressed = *access == Access::Addresses;
        let mut kind = Kind { request: *request, addressed, shape, right: 0, wrong: 0, fault, ran: false };
        let supported = request.key.is_built() && (!addressed || gpu.profile().buffer_addresses);
        if supported && started.elapsed() < options.limit {
            let sorter = gpu.sorter(request, &SorterOptions { access: *access, ..SorterOptions::default() });
            kind.ran = !matches!(sorter, Err(Error::UnsuitableDevice { .. }));
            let ended = sorter.and_then(|sorter| {
                sorters.push(Arc::clone(&sorter));
                run_kind(gpu, options, index, &sorter, &mut kind)
            });
            if let Err(error) = ended
                && kind.ran
            {
                kind.fault.get_or_insert(error.to_string());
            }
        }
        done.push(kind);
    }
    progress(kinds.len(), kinds.len());
    Report { kinds: done, seed: options.seed, took: started.elapsed(), about: about(gpu) }
}

/// Every key type, kind of value, algorithm, direction, placement and window, the usual ones first. OneSweep takes drivers longest to
/// compile, so what is seldom asked for is sorted by other algorithms.
fn kinds() -> Vec<(SortRequest, Access)> {
    use Algorithm::{OneSweep, ReduceThenScan, SingleWorkgroup};
    use KeyOutput::Discarded;
    use Order::Descending;
    use Placement::OutOfPlace;
    use ValueType::{Bytes, Index};
    let with = |key, value| SortRequest { value, ..SortRequest::new(key) };
    let by = |algorithm, request| SortRequest { algorithm: Some(algorithm), ..request };
    let pairs = with(KeyType::U32, ValueType::U32);
    let depths = SortRequest { order: Descending, placement: OutOfPlace, ..with(KeyType::F32, ValueType::U32) };
    let index = with(KeyType::F32, Index);
    let mut kinds = vec![
        SortRequest::new(KeyType::U32),
        pairs,
        depths,
        SortRequest { key_output: Discarded, placement: OutOfPlace, ..index },
        SortRequest { bits: (5..21).into(), ..pairs },
        SortRequest { stable: false, placement: OutOfPlace, ..pairs },
        by(OneSweep, pairs),
        by(ReduceThenScan, pairs),
        by(SingleWorkgroup, pairs),
        by(ReduceThenScan, SortRequest { key_output: Discarded, order: Descending, ..pairs }),
        by(SingleWorkgroup, SortRequest { order: Descending, ..index }),
    ];
    // Signed types have the pipelines of unsigned ones.
    for (turn, key) in KeyType::ALL.iter().enumerate() {
        let order = if turn % 2 == 0 { Order::Ascending } else { Descending };
        let value = if key.bits() > 32 { ValueType::U32 } else { ValueType::None };
        let request = SortRequest { order, ..with(*key, value) };
        kinds.push(match (key.is_float(), key.bits()) {
            (true, 32) => SortRequest { order: Order::Ascending, ..depths },
            (true, _) => by(ReduceThenScan, request),
            (false, _) => request,
        });
    }
    kinds.extend([
        SortRequest { placement: OutOfPlace, ..with(KeyType::U16, Bytes(2)) },
        by(SingleWorkgroup, with(KeyType::U16, Bytes(8))),
        SortRequest { placement: OutOfPlace, ..with(KeyType::U32, Bytes(16)) },
        by(ReduceThenScan, with(KeyType::U32, Bytes(20))),
        SortRequest { bits: (9..9).into(), placement: OutOfPlace, ..pairs },
    ]);
    let mut kinds: Vec<_> = kinds.into_iter().map(|request| (request, Access::Auto)).collect();
    kinds.push((by(ReduceThenScan, pairs), Access::Addresses));
    kinds
}

/// Runs the sorts of a kind: a single workgroup and many tiles, with counts at the edges of both.
fn run_kind(
    gpu: &Gpu,
    options: &Options,
    index: usize,
    sorter: &StandaloneSorter,
    kind: &mut Kind,
) -> Result<(), Error> {
    let shape = sorter.shape();
    kind.shape = format!(
        "{} x {}, {} subgroups of {}, {:?}",
        shape.tile.invocations,
        shape.tile.items,
        if shape.ranking.subgroup.emulated { "emulated" } else { "native" },
        shape.ranking.subgroup.size,
        shape.ranking.method
    );
    let single = shape.single.elements();
    let few = single.min(sorter.max_count());
    let tile = sorter.tile_size(sorter.max_count().min(single.saturating_mul(4)))?;
    let many = (3 * tile + 1).max(single + 1).min(sorter.max_count());
    // Whether the count is on the device: there it may be more than the capacity.
    let sizes = [
        (few, vec![(0, false), (1, false), (2, true), (few - 1, false), (few, true)]),
        (many, vec![(tile - 1, true), (tile, false), (tile + 1, true), (many, false), (u32::MAX, true)]),
    ];
    let mut case = 0;
    for (capacity, counts) in sizes {
        let memory = Memory::new(gpu, sorter, capacity)?;
        for (count, on_device) in counts {
            let pattern = [Pattern::Uniform, Pattern::FewDistinct, Pattern::AllEqual, Pattern::Descending][case % 4];
            let seed = mixed(options.seed ^ mixed((index * 100 + case) as u64));
            #[cfg(feature = "testing")]
            let spoils = options.spoiled == Some(index);
            #[cfg(not(feature = "testing"))]
            let spoils = false;
            match memory.sort(
                count.min(if on_device { count } else { capacity }),
                on_device,
                (pattern, seed),
                spoils,
            )? {
                None => kind.right += 1,
                Some(what) => {
                    let place = if on_device { "on the device" } else { "from the host" };
                    let text = format!("count {count} {place}, capacity {capacity}, keys {pattern:?}: {what}");
                    kind.wrong += 1;
                    kind.fault.get_or_insert(text);
                }
            }
            case += 1;
        }
    }
    Ok(())
}

/// A range of the memory in bytes.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    len: usize,
}

/// The memory of a sort: all its ranges in one buffer, apart from each other.
struct Memory {
    request: SortRequest,
    capacity: u32,
    buffer: DeviceBuffer,
    sort: PreparedSort,
    keys: Part,
    values: Option<Part>,
    keys_out: Option<Part>,
    values_out: Option<Part>,
    scratch: Part,
    count: Part,
}

impl Memory {
    fn new(gpu: &Gpu, sorter: &StandaloneSorter, capacity: u32) -> Result<Memory, Error> {
        let request = *sorter.request();
        let alignment = gpu.profile().storage_alignment_bytes.max(256) as usize;
        let mut bytes = 0;
        let mut part = |len: u64| {
            let part = Part { start: bytes + alignment, len: len as usize };
            bytes = (part.start + part.len).next_multiple_of(alignment);
            part
        };
        let sizes = request.buffers(capacity);
        let keys = part(sizes.keys);
        let [values, keys_out, values_out] =
            [sizes.values, sizes.keys_out, sizes.values_out].map(|size| size.map(&mut part));
        let (scratch, count) = (part(sorter.scratch_size(capacity)?), part(4));
        let buffer = gpu.buffer((bytes + alignment) as u64)?;
        let range = |part: Part| -> DeviceRange { buffer.range(part.start as u64, part.len as u64) };
        let ranges = SortRanges {
            values: values.map(range),
            keys_out: keys_out.map(range),
            values_out: values_out.map(range),
            scratch: (scratch.len > 0).then(|| range(scratch)),
            count: Some(range(count)),
            ..SortRanges::in_place(range(keys), capacity)
        };
        let sort = sorter.prepare_on(ranges)?;
        Ok(Memory { request, capacity, buffer, sort, keys, values, keys_out, values_out, scratch, count })
    }

    /// Sorts so many elements; says what is wrong with the result.
    fn sort(&self, count: u32, on_device: bool, data: (Pattern, u64), spoils: bool) -> Result<Option<String>, Error> {
        let request = &self.request;
        let (key_size, value_size) = (request.key.size_bytes() as usize, request.value.size_bytes() as usize);
        let sorted = count.min(self.capacity);
        let keys: Vec<u128> = keys(request.key, self.capacity, data);
        let mut before = vec![GUARD; self.buffer.size() as usize];
        for (index, key) in keys.iter().enumerate() {
            before[self.keys.start + index * key_size..][..key_size].copy_from_slice(&key.to_le_bytes()[..key_size]);
        }
        if let Some(part) = self.values.filter(|_| request.value.is_read()) {
            for index in 0..self.capacity {
                let at = part.start + index as usize * value_size;
                before[at..][..value_size].copy_from_slice(&value(index, value_size));
            }
        }
        before[self.count.start..][..4].copy_from_slice(&count.to_le_bytes());
        self.buffer.write(0, &before)?;
        let recorded = if on_device { Count::Device } else { Count::Host(sorted) };
        let answer = self.sort.run_verified(recorded)?;
        if spoils {
            // Another command of a program, whose barrier is missing.
            self.buffer.write(self.keys_out.unwrap_or(self.keys).start as u64, &[!GUARD; 4])?;
        }
        let mut after = vec![0u8; before.len()];
        self.buffer.read(0, &mut after)?;

        let keys_target = self.keys_out.or(request.in_place().then_some(self.keys));
        let values_target = self.values_out.or(self.values);
        let element = |part: Option<Part>, size: usize, index: u32| {
            part.map(|part| &after[part.start + index as usize * size..][..size])
        };
        let code = |index: u32| {
            let mask = if request.bits.is_empty() { 0 } else { u128::MAX >> (128 - request.bits.len()) };
            let code = request.key.sortable(keys[index as usize], request.order);
            code.checked_shr(request.bits.low).unwrap_or(0) & mask
        };
        let mut order: Vec<u32> = (0..sorted).collect();
        order.sort_by_cached_key(|index| code(*index));
        if !request.stable {
            // Equal keys come in any order, which their values tell: each begins with its index.
            let mut rest = (0..sorted).map(|place| element(values_target, value_size, place).map_or(0, index_in));
            for run in order.chunk_by_mut(|one, other| code(*one) == code(*other)) {
                let found: Vec<u32> = rest.by_ref().take(run.len()).collect();
                let mut ascending = found.clone();
                ascending.sort_unstable();
                if ascending == run {
                    run.copy_from_slice(&found);
                }
            }
        }
        let wanted_keys = keys_target.filter(|_| !request.discards_keys());
        for (place, &index) in (0..).zip(&order) {
            let key = &keys[index as usize].to_le_bytes()[..key_size];
            if element(wanted_keys, key_size, place).is_some_and(|found| found != key) {
                return Ok(Some(self.wrong("key", place, answer)));
            }
            if element(values_target, value_size, place).is_some_and(|found| found != value(index, value_size)) {
                return Ok(Some(self.wrong("value", place, answer)));
            }
        }
        // All but the results and the scratch is as it was.
        let results = [(keys_target, sorted as usize * key_size), (values_target, sorted as usize * value_size)];
        for (part, len) in results.into_iter().chain([(Some(self.scratch), self.scratch.len)]) {
            if let Some(part) = part {
                after[part.start..][..len].copy_from_slice(&before[part.start..][..len]);
            }
        }
        Ok(match (0..before.len()).find(|byte| before[*byte] != after[*byte]) {
            Some(byte) => Some(self.wrong("byte outside the sort's ranges", byte as u32, answer)),
            None if answer != 0 => Some(format!("right, but the verifier says: {}", Verifier::explain(answer))),
            None => None,
        })
    }

    fn wrong(&self, what: &str, place: u32, answer: u32) -> String {
        let passes = match self.sort.passes() {
            Ok(Some(passes)) => format!("; {} passes ran, {} were skipped", passes.ran, passes.skipped),
            _ => String::new(),
        };
        format!("{what} {place} is wrong; the verifier says: {}{passes}", Verifier::explain(answer))
    }
}

/// A number whose bits all depend on all bits of another (Steele, Lea and Flood, SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

/// The bits of so many keys.
fn keys(key: KeyType, count: u32, (pattern, seed): (Pattern, u64)) -> Vec<u128> {
    let ones = u128::MAX >> (128 - key.bits());
    let random = |index: u64| {
        let low = mixed(seed.wrapping_add(2 * index));
        (u128::from(mixed(low)) << 64 | u128::from(low)) & ones
    };
    let bits = |index: u32| match pattern {
        Pattern::Uniform => random(index.into()),
        Pattern::FewDistinct => random(mixed(seed ^ u64::from(index)) % 7),
        Pattern::AllEqual => random(0),
        Pattern::Descending => ones - (u128::from(index) & ones),
    };
    (0..count).map(bits).collect()
}

/// The value of an element: its index as far as it fits, then something that follows from it.
fn value(index: u32, size: usize) -> Vec<u8> {
    let words = (0..size.div_ceil(4) as u64)
        .map(|word| if word == 0 { index } else { mixed(word << 32 | u64::from(index)) as u32 });
    let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    bytes.truncate(size);
    bytes
}

/// The index in a value of at least four bytes.
fn index_in(value: &[u8]) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| value.get(byte).copied().unwrap_or_default()))
}

impl Report {
    /// Whether every sort was right, and there was one.
    pub fn is_right(&self) -> bool {
        let clean = |kind: &Kind| kind.wrong == 0 && kind.fault.is_none();
        self.kinds.iter().all(clean) && self.kinds.iter().any(|kind| kind.right > 0)
    }
}

/// Versions, device, driver, and what vksort makes of them.
fn about(gpu: &Gpu) -> String {
    let (profile, tuning) = (gpu.profile(), gpu.tuning());
    let DeviceProfile { name, driver, vendor_id, device_id, driver_id, driver_version, .. } = profile;
    let (major, minor, patch) = profile.api_version;
    let (least, most) = profile.subgroup_range;
    let yes = |there| if there { "yes" } else { "no" };
    let rows = [
        ("vksort", format!("{}, kernels {}", crate::VERSION, crate::modules::digest())),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("device", format!("{name}, vendor {vendor_id:#x}, device {device_id:#x}")),
        ("driver", format!("{driver}, id {driver_id}, version {driver_version:#x}, Vulkan {major}.{minor}.{patch}")),
        (
            "subgroups",
            format!(
                "{}, {least} to {most} on request, full ones {}, operations {}, partition {}",
                profile.subgroup_size,
                yes(profile.full_subgroups),
                yes(profile.subgroup_operations),
                yes(profile.subgroup_partition)
            ),
        ),
        (
            "limits",
            format!(
                "{} invocations, {} bytes of shared memory, {} storage buffers of {} bytes at multiples of {}",
                profile.max_workgroup_invocations,
                profile.max_shared_bytes,
                profile.max_storage_buffers,
                profile.max_storage_range_bytes,
                profile.storage_alignment_bytes
            ),
        ),
        (
            "features",
            format!("8/16-bit storage {}, addresses {}", yes(profile.small_storage), yes(profile.buffer_addresses)),
        ),
        ("tuning", format!("{:?} ({}), {}", tuning.name, tuning.evidence, gpu.algorithm())),
    ];
    rows.into_iter().map(|(name, text)| format!("{name:<10} {text}\n")).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |of: fn(&Kind) -> u32| self.kinds.iter().map(of).sum::<u32>();
        let ran = self.kinds.iter().filter(|kind| kind.ran).count();
        write!(f, "{}", self.about)?;
        let (seed, seconds, all) = (self.seed, self.took.as_secs_f64(), self.kinds.len());
        writeln!(f, "{:<10} {seed}", "seed")?;
        let (right, wrong) = (sum(|kind| kind.right), sum(|kind| kind.wrong));
        writeln!(f, "{:<10} {right} sorts right, {wrong} wrong, {ran} of {all} kinds in {seconds:.1} s", "result")?;
        writeln!(f, "\nkind  right  wrong  request; launch configuration")?;
        for (index, kind) in self.kinds.iter().enumerate() {
            let Kind { request, right, wrong, shape, .. } = kind;
            let addressed = if kind.addressed { ", by address" } else { "" };
            let algorithm = request.algorithm.map(|algorithm| format!(", {algorithm}")).unwrap_or_default();
            let shape = if kind.ran { shape } else { "did not run" };
            writeln!(f, "{index:>4}  {right:>5}  {wrong:>5}  {request}{algorithm}{addressed}; {shape}")?;
            if let Some(fault) = &kind.fault {
                writeln!(f, "      first fault: {fault}")?;
            }
        }
        Ok(())
    }
}
