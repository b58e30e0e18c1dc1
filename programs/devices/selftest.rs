//! Whether sorts are right on a device: sorts of every kind, each compared in full with a stable sort on the host and checked by
//! a [`Verifier`](vksort::Verifier), with guard bytes around every range.

mod memory;

use std::fmt;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use memory::{Memory, Pattern, Record};
use vksort::standalone::{Gpu, Sorter};
use vksort::{
    Access, Algorithm, Capacity, DeviceProfile, Error, IndexFrom, KeyField, KeyOutput, KeyType, Order, Placement,
    SegmentOptions, Segments, SortRequest, SorterOptions, ValueType,
};
use vksort_programs::common::device_report::{self, SelfTest, State, Verdict};

/// Options of a self-test.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed of the keys, and of the order of kinds. The same seed on the same device repeats every sort.
    pub seed: u64,
    /// No kind of sort begins after this time, of the CPU and the device together; without a limit all kinds run. The kinds then run in
    /// an order that follows from the seed, so that no kind is left out each time. Compiling the pipelines of a kind may take seconds.
    pub limit: Option<Duration>,
    /// The kind, by its place in the report, one of whose keys another command changes: tests have no other way to see a wrong sort.
    pub spoiled: Option<usize>,
}

/// What the sorts of one kind came to.
#[derive(Clone, Debug)]
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
    /// Whether it ran.
    pub state: State,
    /// How long the host waited for the device.
    waited: Duration,
}

/// The result of a self-test. As text it is a report to paste into a bug.
#[derive(Clone, Debug)]
pub struct Report {
    /// Every kind.
    pub kinds: Vec<Kind>,
    /// The seed of the keys.
    pub seed: u64,
    /// How long it took.
    pub took: Duration,
    /// The time of the CPU and the device.
    pub spent: Duration,
    /// Device, driver, and what vksort chose, in lines.
    about: String,
}

/// Runs sorts of every kind on a device, with its own tuning and algorithms. `progress` is called before each kind with how many are
/// done, and with the report so far, in which that kind has begun: a driver may end the program within it.
///
/// It takes some seconds on a GPU, and minutes where a driver compiles slowly. Other threads may use the device meanwhile, and wait.
pub fn run(gpu: &Gpu, options: &Options, progress: &mut dyn FnMut(usize, &Report)) -> Report {
    // Other programs take time on the clock, but none of this process's.
    let (started, cpu, planned) = (Instant::now(), ProcessTime::now(), kinds());
    let mut order: Vec<usize> = (0..planned.len()).collect();
    if options.limit.is_some() {
        fastrand::Rng::with_seed(options.seed).shuffle(&mut order);
        order.sort_by_key(|index| options.spoiled != Some(*index));
    }
    let kinds = planned.iter().map(|planned| planned.kind(gpu)).collect();
    let (seed, about) = (options.seed, about(gpu));
    let mut report = Report { kinds, seed, took: Duration::ZERO, spent: Duration::ZERO, about };
    // Later kinds use the pipelines of earlier ones.
    let (mut sorters, mut waited) = (Vec::new(), Duration::ZERO);
    for (place, index) in order.into_iter().enumerate() {
        let Planned { request, access, record } = &planned[index];
        let in_time = options.limit.is_none_or(|limit| cpu.elapsed() + waited < limit);
        if report.kinds[index].state == State::Unsupported || !in_time {
            continue;
        }
        report.kinds[index].state = State::Began;
        progress(place, &report);
        let kind = &mut report.kinds[index];
        let sorter = gpu.sorter(request, &SorterOptions::default().access(*access));
        let unsuitable = matches!(sorter, Err(Error::UnsuitableDevice { .. }));
        let ended = sorter.and_then(|sorter| {
            sorters.push(sorter.clone());
            run_kind(gpu, options, (index, *record), &sorter, kind)
        });
        kind.state = if unsuitable { State::Unsupported } else { State::Ran };
        if let Err(error) = ended
            && kind.state == State::Ran
        {
            kind.fault.get_or_insert(error.to_string());
        }
        // The work of a device that is the CPU is the process's.
        waited += if gpu.profile().is_cpu { Duration::ZERO } else { kind.waited };
    }
    (report.took, report.spent) = (started.elapsed(), cpu.elapsed() + waited);
    report
}

/// A kind that is to be sorted.
struct Planned {
    request: SortRequest,
    access: Access,
    /// Of records, their structure.
    record: Option<Record>,
}

impl Planned {
    /// The kind before it runs.
    fn kind(&self, gpu: &Gpu) -> Kind {
        let Planned { request, access, .. } = *self;
        let addressed = access == Access::Addresses;
        let supported = request.key.is_built() && (!addressed || gpu.profile().buffer_addresses);
        let state = if supported { State::NoTime } else { State::Unsupported };
        let shape = String::new();
        Kind { request, addressed, shape, right: 0, wrong: 0, fault: None, state, waited: Duration::ZERO }
    }
}

/// Records with a number, and one that descends beside it; many of them have equal numbers.
const RECORD: Record =
    Record { bytes: 12, fields: &[KeyField::new(4, KeyType::I16), KeyField::new(8, KeyType::U8).descending()] };

/// Every key type, kind of value, algorithm, direction, placement and window, the usual ones first; then segments in each layout, first
/// elements, and records. OneSweep takes drivers longest to compile, so what is seldom asked for is sorted by other algorithms.
fn kinds() -> Vec<Planned> {
    use Algorithm::{OneSweep, ReduceThenScan, SingleWorkgroup};
    use KeyOutput::Discarded;
    use Order::Descending;
    use Placement::OutOfPlace;
    use ValueType::{Bytes, Index};
    let with = |key, value| SortRequest::new(key).value(value);
    let by = |algorithm: Algorithm, request: SortRequest| request.algorithm(algorithm);
    let pairs = with(KeyType::U32, ValueType::U32);
    let depths = with(KeyType::F32, ValueType::U32).order(Descending).placement(OutOfPlace);
    let index = with(KeyType::F32, Index);
    let mut kinds = vec![
        SortRequest::new(KeyType::U32),
        pairs,
        depths,
        index.key_output(Discarded).placement(OutOfPlace),
        pairs.bits(5..21),
        pairs.stable(false).placement(OutOfPlace),
        by(OneSweep, pairs),
        by(ReduceThenScan, pairs),
        by(SingleWorkgroup, pairs),
        by(ReduceThenScan, pairs.key_output(Discarded).order(Descending)),
        by(SingleWorkgroup, index.order(Descending)),
    ];
    // Signed types have the pipelines of unsigned ones.
    for (turn, key) in KeyType::ALL.iter().enumerate() {
        let order = if turn % 2 == 0 { Order::Ascending } else { Descending };
        let value = if key.bits() > 32 { ValueType::U32 } else { ValueType::None };
        let request = with(*key, value).order(order);
        kinds.push(match (key.is_float(), key.bits()) {
            (true, 32) => depths.order(Order::Ascending),
            (true, _) => by(ReduceThenScan, request),
            (false, _) => request,
        });
    }
    kinds.extend([
        with(KeyType::U16, Bytes(2)).placement(OutOfPlace),
        by(SingleWorkgroup, with(KeyType::U16, Bytes(8))),
        with(KeyType::U32, Bytes(16)).placement(OutOfPlace),
        by(ReduceThenScan, with(KeyType::U32, Bytes(20))),
        pairs.bits(9..9).placement(OutOfPlace),
    ]);
    let first = index.order(Descending).placement(OutOfPlace).indices_from(IndexFrom::Segment);
    let records = SortRequest::records(RECORD.bytes, RECORD.fields);
    kinds.extend([
        pairs.segments(Segments::Offsets),
        pairs.segments(Segments::Ranges).up_to(20),
        pairs.segments(Segments::Offsets).up_to(200),
        index.segments(Segments::RowsOf { stride: 90 }).indices_from(IndexFrom::Segment),
        with(KeyType::U64, Bytes(16)).placement(OutOfPlace).segments(Segments::Rows { stride: 50 }),
        first.segments(Segments::Offsets).top(20),
        index.placement(OutOfPlace).top(100),
    ]);
    let of_keys = kinds.into_iter().map(|request| Planned { request, access: Access::Auto, record: None });
    let mut kinds: Vec<Planned> = of_keys.collect();
    let of_records = [records, records.value(Index), records.segments(Segments::Offsets)];
    kinds.extend(of_records.map(|request| Planned { request, access: Access::Auto, record: Some(RECORD) }));
    let addressed = Planned { request: by(ReduceThenScan, pairs), access: Access::Addresses, record: None };
    kinds.push(addressed);
    kinds
}

/// Runs the sorts of a kind: a single workgroup and many tiles, with counts at the edges of both.
fn run_kind(
    gpu: &Gpu,
    options: &Options,
    (index, record): (usize, Option<Record>),
    sorter: &Sorter,
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
    let single = shape.single.elements().max(shape.windows.map_or(0, |windows| windows.block.elements()));
    let few = single.min(sorter.max_count());
    let tile = sorter.tile_size(sorter.max_count().min(single.saturating_mul(4)))?;
    let many = (3 * tile + 1).max(single + 1).min(sorter.max_count());
    // Whether the count is on the device: there it may be more than the capacity.
    let sizes = [
        (few, [(0, false), (1, false), (2, true), (few - 1, false), (few, true)]),
        (many, [(tile - 1, true), (tile, false), (tile + 1, true), (many, false), (u32::MAX, true)]),
    ];
    let mut case = 0;
    for (capacity, mut counts) in sizes {
        let segments = sorter.request().segments.map_or(0, |of| capacity / most_of(of).max(40));
        let memory = Memory::new(gpu, sorter, record, Capacity::new(capacity).segments(segments))?;
        let most = memory.most();
        if most != capacity {
            counts = [(0, true), (1, false), (most / 2, true), (most, false), (u32::MAX, true)];
        }
        for (count, on_device) in counts {
            let pattern = [Pattern::Uniform, Pattern::FewDistinct, Pattern::AllEqual, Pattern::Descending][case % 4];
            let (seed, spoils) =
                (options.seed.wrapping_add((index * 100 + case) as u64), options.spoiled == Some(index));
            match memory.sort(count.min(if on_device { count } else { most }), on_device, (pattern, seed), spoils)? {
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
        kind.waited += memory.waited.get();
    }
    Ok(())
}

/// The most elements of a segment, as far as the request says.
fn most_of(of: SegmentOptions) -> u32 {
    match of.layout {
        Segments::Rows { stride } | Segments::RowsOf { stride } => stride,
        _ => 2 * of.up_to.unwrap_or(0),
    }
}

impl Kind {
    /// The request in full.
    fn describe(&self) -> String {
        let Kind { request, .. } = self;
        let addressed = if self.addressed { ", by address" } else { "" };
        let promised = request.segments.and_then(|of| of.up_to);
        let promised = promised.map(|most| format!(", up to {most} each")).unwrap_or_default();
        let algorithm = request.algorithm.map(|algorithm| format!(", {algorithm}")).unwrap_or_default();
        format!("{request}{promised}{algorithm}{addressed}")
    }
}

impl Report {
    /// Whether every sort was right, and whether all ran.
    pub fn verdict(&self) -> Verdict {
        self.record().verdict()
    }

    /// As it is sent.
    pub fn record(&self) -> SelfTest {
        let of = |kind: &Kind| device_report::Kind {
            request: kind.describe(),
            shape: kind.shape.clone(),
            state: kind.state,
            right: kind.right,
            wrong: kind.wrong,
            fault: kind.fault.clone(),
        };
        SelfTest { seed: self.seed, kinds: self.kinds.iter().map(of).collect() }
    }
}

/// Versions, device, driver, and what vksort makes of them.
fn about(gpu: &Gpu) -> String {
    let (profile, tuning) = (gpu.profile(), gpu.tuning());
    let DeviceProfile { name, driver, vendor_id, device_id, driver_id, driver_version, .. } = profile;
    let vulkan = device_report::vulkan(profile.api_version);
    let (least, most) = profile.subgroup_range;
    let yes = |there| if there { "yes" } else { "no" };
    let rows = [
        ("vksort", format!("{}, kernels {}", vksort::VERSION, vksort::__private::kernels_digest())),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("device", format!("{name}, vendor {vendor_id:#x}, device {device_id:#x}")),
        ("driver", format!("{driver}, id {}, version {driver_version:#x}, Vulkan {vulkan}", driver_id.as_raw())),
        (
            "subgroups",
            format!(
                "{}, {least} to {most} on request, full ones {}, operations {}",
                profile.subgroup_size,
                yes(profile.full_subgroups),
                yes(profile.subgroup_operations)
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
        let ran = self.kinds.iter().filter(|kind| kind.state == State::Ran).count();
        write!(f, "{}", self.about)?;
        let (seed, all) = (self.seed, self.kinds.len());
        let (seconds, spent) = (self.took.as_secs_f64(), self.spent.as_secs_f64());
        writeln!(f, "{:<10} {seed}", "seed")?;
        let (right, wrong) = self.record().sorts();
        writeln!(f, "{:<10} {right} sorts right, {wrong} wrong, {ran} of {all} kinds", "result")?;
        writeln!(f, "{:<10} {seconds:.1} s, {spent:.1} s of the CPU and the device", "time")?;
        writeln!(f, "\nkind  right  wrong  request; launch configuration")?;
        for (index, kind) in self.kinds.iter().enumerate() {
            let Kind { right, wrong, shape, .. } = kind;
            let shape = match kind.state {
                State::Ran => shape,
                State::Unsupported => "not supported by the device",
                State::NoTime | State::Began => "did not run",
            };
            writeln!(f, "{index:>4}  {right:>5}  {wrong:>5}  {}; {shape}", kind.describe())?;
            if let Some(fault) = &kind.fault {
                writeln!(f, "      first fault: {fault}")?;
            }
        }
        write!(f, "\n{}", self.verdict())
    }
}
