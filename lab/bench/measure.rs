//! Measuring all cases of a suite at one size, in turns.

use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use vksort::__private::steps;
use vksort::__private::{Shape, ShapeDesc};
use vksort::standalone::{DeviceBuffer, DeviceChoice, DeviceRange, Gpu, PreparedSort, SortRanges, Sorter};
use vksort::{Algorithm, Count, KeyOutput, KeyType, Order, SortRequest, StepTime, ValueType};
use vksort_profiles::Quartiles;

use crate::bitonic::Bitonic;
use crate::case::{COPY, Case, How, Tweak};
use crate::data::{Data, Inputs};
use vksort_lab::awake::Awake;
use vksort_lab::bench::versus::Clock;
use vksort_programs::common::Working;
use vksort_programs::common::memory::Memory;

/// Rounds before those that count.
pub const WARM_UP: u32 = 2;
/// Rounds behind them with a timestamp after each step. Those that count have none between steps, as it takes time.
pub const STEPPED: u32 = 5;

/// Rounds of a run: those to warm up, those that count, and those with timestamps after each step.
#[derive(Clone, Copy)]
pub struct Rounds {
    pub runs: u32,
    pub stepped: u32,
}

impl Rounds {
    /// Rounds of which so many count.
    pub fn of(runs: u32) -> Rounds {
        Rounds { runs, stepped: STEPPED }
    }

    pub fn all(self) -> u32 {
        WARM_UP + self.runs + self.stepped
    }

    /// Whether a round is one with timestamps after each step.
    pub fn is_stepped(self, round: u32) -> bool {
        round >= WARM_UP + self.runs
    }
}

/// Recordings of each case, which take microseconds.
const RECORDINGS: usize = 100;

/// What the runs of one case took.
pub struct Measured {
    pub case: Case,
    pub n: u32,
    /// Nanoseconds on the device of each run, in the order of the rounds; empty where it has no timestamps.
    pub gpu: Vec<f64>,
    /// Nanoseconds of CPU time of the process, of problems on a driver that computes on the CPU.
    pub cpu: Vec<f64>,
    /// Nanoseconds on the host.
    pub wall: Vec<f64>,
    /// Nanoseconds of each recording on the host; empty where nothing is recorded.
    pub recording: Vec<f64>,
    /// Nanoseconds of each step, by its name, in the rounds for them.
    pub steps: Vec<(String, Vec<f64>)>,
    pub shape: Option<Shape>,
    pub algorithm: String,
    pub floor_bytes: u64,
}

impl Measured {
    /// Nothing, so far.
    pub fn new(case: Case, n: u32, shape: Option<Shape>, algorithm: String, floor_bytes: u64) -> Measured {
        let (gpu, cpu, wall, recording, steps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Measured { case, n, gpu, cpu, wall, recording, steps, shape, algorithm, floor_bytes }
    }

    /// Adds the time of each step of one run.
    pub fn add_steps(&mut self, times: Vec<StepTime>) {
        self.steps.resize_with(times.len(), Default::default);
        for (step, time) in self.steps.iter_mut().zip(times) {
            step.0 = time.name.to_string();
            step.1.push(time.nanoseconds);
        }
    }

    /// Median of each step, by its name.
    pub fn step_medians(&self) -> Vec<(String, f64)> {
        self.steps.iter().map(|(name, times)| (name.clone(), Quartiles::of(times).median)).collect()
    }

    /// The times to compare by: CPU time if it was taken, else the device's own where there are any.
    pub fn times(&self) -> &[f64] {
        match self.clock() {
            Clock::Cpu => &self.cpu,
            Clock::Device => &self.gpu,
            Clock::Wall => &self.wall,
        }
    }

    /// What took them.
    pub fn clock(&self) -> Clock {
        match (self.cpu.is_empty(), self.gpu.is_empty()) {
            (false, _) => Clock::Cpu,
            (true, false) => Clock::Device,
            (true, true) => Clock::Wall,
        }
    }
}

/// A device with the sorters built so far.
pub struct Bench<'a> {
    pub gpu: &'a Gpu,
    pub awake: Awake,
    /// What the device was chosen by.
    choice: DeviceChoice,
    /// What says where the run is, while there is one.
    pub working: Option<Working>,
    /// What the last round of all cases took.
    pub last_round: Cell<Duration>,
    /// By the number of elements too, because it decides the size of tiles. Sorters share pipelines.
    sorters: HashMap<(SortRequest, Tweak, u32), Sorter>,
}

/// Bytes of keys, values, sorted keys, sorted values and scratch of a sort; 0 of what it does not take.
fn sizes(sorter: &Sorter, n: u32) -> Result<[u64; 5]> {
    let sizes = sorter.buffer_sizes(n);
    let scratch = sorter.scratch_size(n)?;
    Ok([sizes.keys, sizes.values, sizes.keys_out, sizes.values_out, Some(scratch)].map(Option::unwrap_or_default))
}

/// A case ready to run.
enum Ready {
    Device { request: SortRequest, sort: Box<PreparedSort>, sorter: Sorter, input: Input },
    Bitonic(Box<Bitonic>),
    Cpu,
}

/// What a sort starts from, kept on the device, and where it is copied to before each run.
struct Input {
    keys: Restored,
    values: Option<Restored>,
}

struct Restored {
    kept: DeviceBuffer,
    to: DeviceRange,
}

impl Input {
    fn restore(&self) -> Result<(), vksort::Error> {
        [Some(&self.keys), self.values.as_ref()]
            .into_iter()
            .flatten()
            .try_for_each(|array| array.to.buffer.copy_from(array.to.offset, &array.kept, 0, array.to.size))
    }
}

/// The arrays of all cases on the device.
#[derive(Default)]
struct Kept {
    keys: HashMap<Data, DeviceBuffer>,
    values: Option<DeviceBuffer>,
}

impl Kept {
    fn new(gpu: &Gpu, cases: &[Case], inputs: &mut Inputs) -> Result<Kept> {
        let keep = |bytes: &[u8]| -> Result<DeviceBuffer> {
            let buffer = gpu.buffer((bytes.len() as u64).next_multiple_of(4).max(4))?;
            buffer.write(0, bytes)?;
            Ok(buffer)
        };
        let mut kept = Kept::default();
        for case in cases.iter().filter(|case| matches!(case.how, How::Device { .. })) {
            if let Entry::Vacant(vacant) = kept.keys.entry(case.data) {
                vacant.insert(keep(&inputs.all_keys(case.data))?);
            }
        }
        let values = inputs.all_values();
        kept.values = if values.is_empty() { None } else { Some(keep(values)?) };
        Ok(kept)
    }

    /// Bytes of the arrays that these cases start from.
    fn size(cases: &[Case], n: u32) -> u64 {
        let (keys, values) = widest(cases);
        kinds(cases).map(|data| if data == Data::Uniform { keys } else { Data::KEY_BYTES }).chain([values]).sum::<u64>()
            * u64::from(n)
    }
}

impl<'a> Bench<'a> {
    pub fn new(gpu: &'a Gpu, choice: DeviceChoice) -> Result<Bench<'a>> {
        let awake = Awake::new(gpu, Some(&choice))?;
        Ok(Bench { gpu, awake, choice, working: None, last_round: Cell::default(), sorters: HashMap::new() })
    }

    /// Says what the run is at.
    pub fn is_at(&self, what: String) {
        self.working.iter().for_each(|working| working.is_at(&*what));
    }

    fn sorter(&mut self, request: &SortRequest, tweak: Tweak, n: u32) -> Result<Sorter> {
        if let Some(sorter) = self.sorters.get(&(*request, tweak, n)) {
            return Ok(sorter.clone());
        }
        let sorter = self.gpu.sorter(request, &tweak.options(self.gpu).capacity(n))?;
        self.sorters.insert((*request, tweak, n), sorter.clone());
        Ok(sorter)
    }

    /// The most bytes of each buffer that these cases take.
    fn sizes(&mut self, cases: &[Case], n: u32) -> Result<[u64; 5]> {
        let mut most = [0; 5];
        for case in cases {
            if let How::Device { request, tweak } = case.how {
                let sorter = self.sorter(&request, tweak, n).with_context(|| case.name.clone())?;
                let sizes = sizes(&sorter, n).with_context(|| case.name.clone())?;
                most = std::array::from_fn(|at| most[at].max(sizes[at]));
            }
        }
        Ok(most)
    }

    /// Whether a case is for so many elements: one workgroup has room for few, and a finish has a most.
    pub fn fits(&mut self, case: &Case, n: u32) -> Result<bool> {
        Ok(match case.how {
            How::Bitonic { pairs } => Bitonic::fits(self.gpu, n, pairs),
            How::Device { request, tweak } if request.algorithm == Some(Algorithm::SingleWorkgroup) => {
                n <= self.sorter(&request, tweak, 1)?.shape().single.elements()
            }
            How::Device { request, tweak: tweak @ Tweak::Finishes(true) } => {
                self.sorter(&request, tweak, n)?.shape().finish.is_some_and(|finish| n <= finish.most)
            }
            // If no tile publishes and the ring has lost what was recounted, work grows with the square of the tiles: drivers
            // take that for a hang.
            How::Device { request, tweak: Tweak::Silent(1) } => {
                let (tiles, slots) = self.tiles(&request, n)?;
                tiles <= slots
            }
            _ => true,
        })
    }

    /// Tiles of a sort by OneSweep, and slots of the ring of its look-back.
    pub fn tiles(&self, request: &SortRequest, n: u32) -> Result<(u32, u32)> {
        let (profile, tuning) = (self.gpu.profile(), self.gpu.tuning());
        let desc = ShapeDesc { capacity: Some(n), ..ShapeDesc::new(profile, tuning, request, Algorithm::OneSweep) };
        let sort = steps::of(&desc, n, Count::Host(n))?;
        Ok((n.div_ceil(sort.tile), 1 << sort.shape.ring_bits))
    }

    /// The memory that measuring these cases takes.
    pub fn memory(&mut self, cases: &[Case], n: u32) -> Result<Memory> {
        let device = self.sizes(cases, n)?.iter().sum::<u64>() + Kept::size(cases, n);
        let widest = widest(cases);
        let others = Data::KEY_BYTES * kinds(cases).filter(|data| *data != Data::Uniform).count() as u64;
        // Inputs and what is read back, further kinds of keys, and the order with what it is sorted by.
        let order = if widest.0 > 4 { 36 } else { 12 };
        let host = u64::from(n) * (2 * (widest.0 + widest.1) + others + order);
        Ok(Memory { device, host })
    }

    /// Runs all cases in turns, so that whatever changes on the machine meanwhile changes for all of them. The copy, which the others
    /// are compared with, runs before, among and after them. Each result of the first round is verified.
    pub fn measure(&mut self, cases: &[Case], n: u32, seed: u64, rounds: Rounds) -> Result<Vec<Measured>> {
        let (keys, values) = widest(cases);
        let mut inputs = Inputs::new(n as usize, seed, keys, values);
        let sizes = self.sizes(cases, n)?;
        let buffers = sizes.into_iter().map(|size| self.gpu.buffer(size.max(4))).collect::<Result<Vec<_>, _>>()?;
        let kept = Kept::new(self.gpu, cases, &mut inputs)?;
        let mut ready = Vec::new();
        for case in cases {
            ready.push(self.prepare(case, n, &buffers, &kept).with_context(|| case.name.clone())?);
        }
        let mut measured: Vec<Measured> =
            cases.iter().zip(&ready).map(|(case, ready)| blank(case, ready, n, &mut inputs)).collect();

        let copy = cases.iter().position(|case| case.name == COPY);
        let turns = |stepped: bool| -> Vec<usize> {
            let mut turns: Vec<usize> = (0..cases.len()).collect();
            if let Some(copy) = copy.filter(|_| !stepped) {
                turns.insert(cases.len().div_ceil(2), copy);
                turns.push(copy);
            }
            turns
        };
        for round in 0..rounds.all() {
            let started = Instant::now();
            for turn in turns(rounds.is_stepped(round)) {
                let (ready, measured) = (&ready[turn], &mut measured[turn]);
                self.is_at(format!("{} of {n}, round {} of {}", measured.case.name, round + 1, rounds.all()));
                let result = match ready {
                    _ if !rounds.is_stepped(round) => run(ready, measured, &mut inputs, &self.awake, round),
                    Ready::Device { sort, input, .. } => run_stepped(sort, input, measured, &self.awake),
                    Ready::Bitonic(_) | Ready::Cpu => Ok(()),
                };
                result.with_context(|| format!("{} of {n} elements", measured.case.name))?;
            }
            self.last_round.set(started.elapsed());
        }
        for (ready, measured) in ready.iter().zip(&mut measured) {
            if let Ready::Device { sort, .. } = ready {
                let times = sort.time_recording(n, RECORDINGS)?;
                measured.recording = times.iter().map(|time| time.as_nanos() as f64).collect();
            }
        }
        Ok(measured)
    }

    fn prepare(&mut self, case: &Case, n: u32, buffers: &[DeviceBuffer], kept: &Kept) -> Result<Ready> {
        let (request, tweak) = match case.how {
            How::Device { request, tweak } => (request, tweak),
            How::Bitonic { pairs } => {
                return Ok(Ready::Bitonic(Box::new(Bitonic::new(self.gpu, &self.choice, n, pairs)?)));
            }
            How::Cpu { .. } => return Ok(Ready::Cpu),
            How::Problem { .. } => unreachable!("problems are measured by themselves"),
        };
        let sorter = self.sorter(&request, tweak, n)?;
        let sizes = sizes(&sorter, n)?;
        let [keys, values, keys_out, values_out, scratch] =
            std::array::from_fn(|at| (sizes[at] > 0).then(|| buffers[at].range(0, sizes[at])));
        let keys = keys.expect("there are keys");
        let input = Input {
            keys: Restored { kept: kept.keys[&case.data].clone(), to: keys.clone() },
            values: match (&kept.values, &values) {
                (Some(kept), Some(to)) if request.value.is_read() => {
                    Some(Restored { kept: kept.clone(), to: to.clone() })
                }
                _ => None,
            },
        };
        let ranges =
            SortRanges::new(n).keys(keys).values(values).keys_out(keys_out).values_out(values_out).scratch(scratch);
        Ok(Ready::Device { request, sort: Box::new(sorter.prepare_on(ranges)?), sorter, input })
    }
}

/// Kinds of keys in these cases, each once.
fn kinds(cases: &[Case]) -> impl Iterator<Item = Data> {
    cases.iter().map(|case| case.data).collect::<HashSet<_>>().into_iter()
}

/// Bytes of the widest key and value.
fn widest(cases: &[Case]) -> (u64, u64) {
    let keys = cases.iter().map(|case| case.key().size_bytes()).max();
    let values = cases.iter().map(Case::value_bytes).max();
    (keys.unwrap_or(4), values.unwrap_or(0))
}

fn blank(case: &Case, ready: &Ready, n: u32, inputs: &mut Inputs) -> Measured {
    let (shape, algorithm, order) = match ready {
        Ready::Device { request, sort, sorter, .. } => {
            let algorithm = sort.algorithm(n).map(|algorithm| algorithm.to_string());
            (Some(*sorter.shape()), algorithm.unwrap_or_default(), request.order)
        }
        Ready::Bitonic(_) => (None, "bitonic".into(), Order::Ascending),
        Ready::Cpu => (None, String::new(), Order::Ascending),
    };
    let varying = inputs.varying(case.data, case.key(), order);
    let floor_bytes = case.floor_bytes(varying, &algorithm);
    Measured::new(case.clone(), n, shape, algorithm, floor_bytes)
}

/// One run with a timestamp after each step.
fn run_stepped(sort: &PreparedSort, input: &Input, measured: &mut Measured, awake: &Awake) -> Result<()> {
    let _alone = awake.pause();
    input.restore()?;
    let times = sort.run(measured.n)?;
    if !times.is_empty() {
        measured.add_steps(times);
    }
    Ok(())
}

/// One run from the input, which is restored before.
fn run(ready: &Ready, measured: &mut Measured, inputs: &mut Inputs, awake: &Awake, round: u32) -> Result<()> {
    let (data, key, n) = (measured.case.data, measured.case.key(), measured.n);
    let verified = round == 0;
    match ready {
        Ready::Device { request, sort, input, .. } => {
            let alone = awake.pause();
            input.restore()?;
            let start = Instant::now();
            let time = sort.time(n)?;
            let wall = start.elapsed();
            drop(alone);
            if verified {
                verify(request, sort, measured, inputs)?;
            }
            if round >= WARM_UP {
                measured.wall.push(wall.as_nanos() as f64);
                measured.gpu.extend(time);
            }
        }
        Ready::Bitonic(network) => {
            let words = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, u32>(bytes);
            let mut sorted = words(&inputs.keys(data, key)[..4 * n as usize]);
            let mut values = words(inputs.values(measured.case.value_bytes()));
            let alone = awake.pause();
            let (on_clock, wall) = network.run(&mut sorted, &mut values)?;
            drop(alone);
            if verified {
                let value = if values.is_empty() { ValueType::None } else { ValueType::U32 };
                let request = SortRequest::new(KeyType::U32).value(value).stable(false);
                let bytes = [&sorted, &values].map(|words| bytemuck::cast_slice::<u32, u8>(words));
                inputs.verify(&request, data, bytes[0], bytes[1]).context("verification failed")?;
            }
            if round >= WARM_UP {
                measured.wall.push(wall.as_nanos() as f64);
                measured.gpu.extend(on_clock);
            }
        }
        Ready::Cpu => {
            let How::Cpu { peer, pairs } = measured.case.how else { unreachable!("only sorts on the CPU are") };
            let all = SortRequest::new(key);
            let order = verified.then(|| inputs.order(data, key, all.order, all.bits));
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(&inputs.keys(data, key)[..4 * n as usize]);
            let wall = peer.run(&words, pairs, order.as_ref().map(|order| order.as_slice()))?;
            if round >= WARM_UP {
                measured.wall.push(wall.as_nanos() as f64);
            }
        }
    }
    Ok(())
}

fn verify(request: &SortRequest, sort: &PreparedSort, measured: &Measured, inputs: &mut Inputs) -> Result<()> {
    let n = measured.n as usize;
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    if request.key_output == KeyOutput::Sorted {
        keys.resize(n * request.key.size_bytes() as usize, 0);
        sort.read_keys(&mut keys)?;
    }
    if request.value != ValueType::None {
        values.resize(n * request.value.size_bytes() as usize, 0);
        sort.read_values(&mut values)?;
    }
    inputs.verify(request, measured.case.data, &keys, &values).context("verification failed")
}
