//! The search on a device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use vksort::__private::ShapeDesc;
use vksort::__private::steps::{self, HostStep};
use vksort::standalone::{DeviceBuffer, Gpu, PreparedSort, SortRanges, Sorter};
use vksort::{Count, DeviceProfile, Error, KeyType, SortRequest, SorterOptions, Tuning};
use vksort_profiles::{Clock, MeasuredSort, Quartiles, SortKind, TuningProfile};
use vksort_programs::common::memory::Memory;

use crate::awake::Awake;

use super::{Failure, Found, Measure, Progress, Trial, ratio, search, too_short};

/// Default elements on GPUs, where they make the start of kernels negligible, and on CPUs, where more candidates should fit
/// into the time.
const COUNT: (u32, u32) = (1 << 24, 1 << 18);
/// The fewest elements that are tried if memory or time is short.
const MIN_COUNT: u32 = 1 << 16;
/// Elements of the input that tells how long others take to make.
const SAMPLE: u32 = 1 << 14;

/// Elements of `FewKeys` on GPUs and on CPUs: few enough for a single workgroup, on most GPUs and on every CPU.
const FEW: (u32, u32) = (1 << 13, 1 << 12);

/// Options of a search.
pub struct Options {
    /// Time for the search. It may take longer by the time to build and check one candidate.
    pub time: Duration,
    /// Elements to sort; `None` for 2^24, on CPUs 2^18, or for fewer if memory or time is short.
    pub count: Option<u32>,
    /// Kinds of sorts to measure. A tuning that is slower for one of them is not taken.
    pub kinds: Vec<SortKind>,
}

/// The result of a search.
pub struct Tuned {
    /// The best tuning with its measurements; the built-in row if nothing was faster.
    pub profile: TuningProfile,
    /// How many times as fast as the built-in row the best tuning was, if it did not win the final comparison.
    pub refused: Option<Quartiles>,
    /// Every candidate, in order.
    pub trials: Vec<Trial>,
}

/// Searches for the tuning that sorts fastest on a device, from the built-in row on.
///
/// It varies one field of [`Tuning`] after the other. Every candidate's result is first compared in full with a stable sort on
/// the CPU; a candidate that fails is dropped. Candidates run in turns with the best tuning so far, and must be faster beyond
/// noise. At the end the best tuning is measured against the built-in row again. If it does not win, the profile holds the
/// built-in row. The profile is dated by `date`; `watch` is called before each candidate.
pub fn tune(gpu: &Gpu, awake: Awake, options: &Options, date: &str, watch: &mut dyn FnMut(&Progress)) -> Result<Tuned> {
    let built_in = Tuning::for_device(gpu.profile());
    let mut bench = DeviceBench::new(gpu, options, awake)?;
    let found = search(&mut bench, gpu.profile(), &built_in, options.time, watch)?;
    Ok(bench.report(found, date))
}

/// Measures tunings on a device.
struct DeviceBench<'a> {
    gpu: &'a Gpu,
    started: Instant,
    kinds: Vec<Kind>,
    keys: DeviceBuffer,
    values: DeviceBuffer,
    /// Large enough for every contender.
    scratch: DeviceBuffer,
    contenders: Vec<Contender>,
    clock: Clock,
    awake: Awake,
}

/// A kind of sort that is measured.
#[derive(Clone)]
struct Kind {
    kind: SortKind,
    request: SortRequest,
    /// Elements.
    count: u32,
    /// Uniform keys, which are timed.
    uniform: Arc<Input>,
    /// Many equal keys, which are only checked; no block divides their count.
    clustered: Arc<Input>,
}

/// Keys with values, and both in sorted order.
#[derive(Debug)]
pub struct Input {
    /// Words of the keys.
    pub keys: Vec<u32>,
    /// A value for each key.
    pub values: Vec<u32>,
    /// The keys in sorted order.
    pub sorted_keys: Vec<u32>,
    /// The values in sorted order.
    pub sorted_values: Vec<u32>,
}

/// What a sort of `count` elements records; `None` if the device does not support it with this tuning. Of two tunings that record the same,
/// only one has to be measured.
pub fn recorded(tuning: &Tuning, device: &DeviceProfile, request: &SortRequest, count: u32) -> Option<Vec<HostStep>> {
    let algorithm = request.algorithm.unwrap_or_else(|| tuning.algorithm());
    let desc = ShapeDesc { capacity: Some(count), ..ShapeDesc::new(device, tuning, request, algorithm) };
    steps::of(&desc, count, Count::Host(count)).ok().map(|sort| sort.steps)
}

struct Contender {
    kind: usize,
    recorded: Vec<HostStep>,
    sorter: Sorter,
}

/// Bytes of the buffers of keys and values, and of scratch, which holds both and a little more.
fn sizes(options: &Options, count: u32) -> [u64; 3] {
    let key_bytes = options.kinds.iter().map(|kind| kind.request().key.size_bytes()).max().unwrap_or_default();
    let (keys, values) = (key_bytes * u64::from(count), 4 * u64::from(count));
    [keys, values, keys + values + values / 4 + (1 << 20)]
}

/// Memory for so many elements of all kinds of sorts.
fn needed(options: &Options, count: u32) -> Memory {
    let [keys, values, scratch] = sizes(options, count);
    // Two inputs of the widest keys in both orders, with half as much for narrow ones, and what making one takes.
    Memory { device: keys + values + scratch, host: 6 * (keys + values) + 16 * u64::from(count) }
}

impl<'a> DeviceBench<'a> {
    fn new(gpu: &'a Gpu, options: &Options, awake: Awake) -> Result<DeviceBench<'a>> {
        let started = Instant::now();
        let largest = if gpu.profile().is_cpu { COUNT.1 } else { COUNT.0 };
        let mut count = options.count.unwrap_or(largest);
        let buffers = |count: u32| {
            let [keys, values, scratch] = sizes(options, count).map(|bytes| gpu.buffer(bytes));
            Ok((keys?, values?, scratch?))
        };
        if let Some(why) = options.count.and_then(|count| needed(options, count).lacking(gpu, u64::MAX)) {
            bail!("--count is {count}: {why}");
        }
        inputs_of(KeyType::U64, SAMPLE, SAMPLE);
        let sample = started.elapsed();
        // There are keys of two types, unless those of one are all.
        let inputs = |count: u32| sample * (count / SAMPLE) * options.kinds.len().min(2) as u32;
        while options.count.is_none() && count > MIN_COUNT && inputs(count) > options.time / 2 {
            count /= 2;
        }
        ensure!(
            inputs(count) <= options.time / 2,
            too_short(
                options.time,
                &format!("making {count} elements to sort would take {:.1} s", inputs(count).as_secs_f64())
            )
        );
        let (keys, values, scratch) = loop {
            match buffers(count) {
                Err(Error::Allocation { .. }) if options.count.is_none() && count > MIN_COUNT => count /= 2,
                allocated => break allocated?,
            }
        };
        let few = if gpu.profile().is_cpu { FEW.1 } else { FEW.0 };
        let mut kinds: Vec<Kind> = Vec::new();
        for &kind in &options.kinds {
            let count = if kind == SortKind::FewKeys { count.min(few) } else { count };
            let request = kind.request();
            let same = kinds.iter().find(|other| other.request.key == request.key && other.count == count);
            kinds.push(match same {
                Some(same) => Kind { kind, request, ..same.clone() },
                None => {
                    // An odd share of the count is in the middle of a block.
                    let fewer = ((count - count / 9) | 1).min(count);
                    let [uniform, clustered] = inputs_of(request.key, count, fewer).map(Arc::new);
                    Kind { kind, request, count, uniform, clustered }
                }
            });
        }
        Ok(DeviceBench {
            gpu,
            started,
            kinds,
            keys,
            values,
            scratch,
            contenders: Vec::new(),
            awake,
            clock: Clock::Host,
        })
    }

    fn contender(&self, tuning: &Tuning, kind: usize) -> Option<&Contender> {
        let recorded = self.recorded(tuning)?;
        self.contenders.iter().find(|known| known.kind == kind && known.recorded == recorded[kind])
    }

    /// A kind's sort by an admitted tuning on the common buffers, which hold the input.
    fn prepare(&mut self, sorter: &Sorter, kind: usize, input: &Input) -> Result<PreparedSort, Error> {
        let capacity = self.kinds[kind].count;
        let scratch = sorter.scratch_size(capacity)?;
        if scratch > self.scratch.size() {
            self.scratch = self.gpu.buffer(scratch)?;
        }
        let (count, request) = (u64::from(capacity), sorter.request());
        let is_read = request.value.is_read();
        let keys = self.keys.range(0, request.key.size_bytes() * count);
        let values = is_read.then(|| self.values.range(0, 4 * count));
        let scratch = (scratch > 0).then(|| self.scratch.range(0, scratch));
        let sort = sorter.prepare_on(SortRanges::new(capacity).keys(keys).values(values).scratch(scratch))?;
        sort.write_keys(&input.keys)?;
        if is_read {
            sort.write_values(&input.values)?;
        }
        Ok(sort)
    }

    /// Sorts an input and compares every key and value with those of a stable sort on the CPU.
    fn check(&mut self, sorter: &Sorter, kind: usize, input: &Input) -> Result<(), Failure> {
        let sort = self.prepare(sorter, kind, input).map_err(failure)?;
        sort.run(input.values.len() as u32).map_err(failure)?;
        let mut found = vec![0u32; input.keys.len()];
        sort.read_keys(&mut found).map_err(failure)?;
        compare("word of keys", &found, &input.sorted_keys)?;
        if sorter.request().value.is_read() {
            found.truncate(input.values.len());
            sort.read_values(&mut found).map_err(failure)?;
            compare("value", &found, &input.sorted_values)?;
        }
        Ok(())
    }

    /// The result as a profile.
    fn report(&self, found: Found, date: &str) -> Tuned {
        let Found { mut tuning, times, refused, trials } = found;
        let device = self.gpu.profile();
        let built_in = Tuning::for_device(device);
        let rows = self.kinds.iter().zip(&times).map(|(kind, (built_in, tuned))| MeasuredSort {
            kind: kind.kind,
            count: kind.count,
            rounds: built_in.len() as u32,
            clock: self.clock,
            built_in_ns: rounded(Quartiles::of(built_in), 10.0),
            tuned_ns: rounded(Quartiles::of(tuned), 10.0),
            ratio: rounded(ratio(built_in, tuned), 1e4),
        });
        let measured: Vec<MeasuredSort> = rows.collect();
        let mut profile = TuningProfile::new(device, tuning.clone(), measured, date);
        if tuning != built_in {
            let gains = profile.measured.iter().map(|row| {
                let Quartiles { q25, median, q75 } = row.ratio;
                format!("{} {} {median:.2} ({q25:.2} to {q75:.2})", row.count, row.kind.name())
            });
            let gains: Vec<String> = gains.collect();
            let (row, gains) = (&built_in.name, gains.join(", "));
            tuning.evidence = format!("measured {date}: {gains} times as fast as row {row}").into();
            tuning.name = format!("{row}, tuned");
            profile.tuning = tuning;
        }
        Tuned { profile, refused, trials }
    }
}

impl Measure for DeviceBench<'_> {
    type Recorded = Vec<HostStep>;

    fn recorded(&self, tuning: &Tuning) -> Option<Vec<Vec<HostStep>>> {
        let device = self.gpu.profile();
        self.kinds.iter().map(|kind| recorded(tuning, device, &kind.request, kind.count)).collect()
    }

    fn admit(&mut self, tuning: &Tuning, kind: usize) -> Result<(), Failure> {
        let Kind { request, count, uniform, clustered, .. } = self.kinds[kind].clone();
        let sorter = match self.contender(tuning, kind) {
            Some(contender) => contender.sorter.clone(),
            None => {
                let recorded = recorded(tuning, self.gpu.profile(), &request, count);
                let recorded = recorded.ok_or_else(|| Failure::Tuning("it does not fit".into()))?;
                let options = SorterOptions::default().tuning(tuning.clone()).capacity(count);
                let sorter = self.gpu.sorter(&request, &options).map_err(failure)?;
                self.contenders.push(Contender { kind, recorded, sorter: sorter.clone() });
                sorter
            }
        };
        self.check(&sorter, kind, &clustered)?;
        self.check(&sorter, kind, &uniform)
    }

    fn time(&mut self, tuning: &Tuning, kind: usize) -> Result<f64, Failure> {
        let contender = self.contender(tuning, kind).expect("it was admitted");
        let sorter = contender.sorter.clone();
        let Kind { uniform, count, .. } = self.kinds[kind].clone();
        let sort = self.prepare(&sorter, kind, &uniform).map_err(failure)?;
        let alone = self.awake.pause();
        let start = Instant::now();
        let steps = sort.run(count).map_err(failure)?;
        let wall = start.elapsed().as_nanos() as f64;
        drop(alone);
        if steps.is_empty() {
            return Ok(wall);
        }
        self.clock = Clock::Device;
        Ok(steps.iter().map(|step| step.nanoseconds).sum())
    }

    fn keep(&mut self, tunings: &[&Tuning]) {
        let kept: Vec<Vec<Vec<HostStep>>> = tunings.iter().filter_map(|tuning| self.recorded(tuning)).collect();
        self.contenders.retain(|known| kept.iter().any(|recorded| recorded[known.kind] == known.recorded));
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Input {
    /// Of keys of so many words.
    pub fn new(keys: Vec<u64>, words: usize) -> Input {
        let mut order: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
        order.sort_by_key(|(key, _)| *key);
        let value = |index: u32| !index;
        let split = |key: u64| [key as u32, (key >> 32) as u32].into_iter().take(words);
        Input {
            values: (0..keys.len() as u32).map(value).collect(),
            sorted_keys: order.iter().flat_map(|(key, _)| split(*key)).collect(),
            sorted_values: order.iter().map(|(_, index)| value(*index)).collect(),
            keys: keys.into_iter().flat_map(split).collect(),
        }
    }
}

/// Uniform keys of a type, and fewer clustered ones.
pub fn inputs_of(key: KeyType, count: u32, fewer: u32) -> [Input; 2] {
    let clustered = |index: u32| word(index) & word(!index) & 0x0F3F_70FF;
    // The upper half of a wide key is a narrow key.
    let wide = |top: u32, index: u32| u64::from(top) << 32 | u64::from(word(index ^ 0x5555_5555));
    let make = |count: u32, word: &dyn Fn(u32) -> u32| -> Input {
        let narrow = key.bits() == 32;
        let key = |index| if narrow { word(index).into() } else { wide(word(index), index) };
        Input::new((0..count).map(key).collect(), if narrow { 1 } else { 2 })
    };
    [make(count, &word), make(fewer, &clustered)]
}

/// A random word for an index, the same in every search (the finalizer of MurmurHash3).
fn word(index: u32) -> u32 {
    let mut word = index.wrapping_add(0x9E37_79B9);
    word = (word ^ word >> 16).wrapping_mul(0x85EB_CA6B);
    word = (word ^ word >> 13).wrapping_mul(0xC2B2_AE35);
    word ^ word >> 16
}

/// Fails with the first difference.
pub fn compare(what: &str, found: &[u32], needed: &[u32]) -> Result<(), Failure> {
    match found.iter().zip(needed).position(|(found, needed)| found != needed) {
        None => Ok(()),
        Some(place) => {
            let (found, needed) = (found[place], needed[place]);
            Err(Failure::Tuning(format!("{what} {place} is {found:#x}, needed is {needed:#x}")))
        }
    }
}

/// Whether the tuning or the device has failed.
pub fn failure(error: Error) -> Failure {
    match error {
        Error::Timeout { .. } => Failure::Device(error),
        error if error.is_device_lost() => Failure::Device(error),
        error => Failure::Refused(error),
    }
}

/// Quartiles with their significant digits.
fn rounded(quartiles: Quartiles, by: f64) -> Quartiles {
    let round = |number: f64| (number * by).round() / by;
    Quartiles { q25: round(quartiles.q25), median: round(quartiles.median), q75: round(quartiles.q75) }
}
