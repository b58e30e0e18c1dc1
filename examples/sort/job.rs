//! Arrays to sort, sorting them on a device, and proving the result.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytemuck::{cast_slice, cast_slice_mut};
use vksort::standalone::Gpu;
use vksort::{Algorithm, KeyType, MAX_COUNT, Order, SortRequest, SorterOptions, StepTime, ValueType};

use crate::npy::Array;

/// What is to be sorted.
pub struct Job {
    keys: Array,
    values: Option<Array>,
    argsort: bool,
    order: Order,
    /// Seed that the arrays were generated with.
    seed: Option<u64>,
}

/// A job's result.
pub struct Sorted {
    pub keys: Array,
    pub values: Option<Array>,
    /// The sorting permutation, if it was asked for.
    pub indices: Option<Array>,
    pub algorithm: Algorithm,
    /// Median over the runs of each step; empty where the device has no timestamps.
    pub steps: Vec<StepTime>,
    /// Time of each run as the host sees it, in ascending order.
    pub walls: Vec<Duration>,
}

impl Job {
    pub fn new(keys: Array, values: Option<Array>, argsort: bool, order: Order) -> Result<Job> {
        let count = keys.bits.len();
        ensure!(count <= MAX_COUNT as usize, "--keys has {count} elements, allowed are at most {MAX_COUNT}");
        if let Some(values) = &values {
            let given = values.bits.len();
            ensure!(given == count, "--values has {given} elements, needed are {count}, one for each key");
        }
        Ok(Job { keys, values, argsort, order, seed: None })
    }

    /// Random keys, with their indices as values if there are to be any.
    pub fn generate(count: u32, with_values: bool, seed: u64, order: Order) -> Job {
        let mut random = fastrand::Rng::with_seed(seed);
        let keys = Array { element: KeyType::U32, bits: (0..count).map(|_| random.u32(..)).collect() };
        let values = Array { element: KeyType::U32, bits: (0..count).collect() };
        Job { keys, values: with_values.then_some(values), argsort: false, order, seed: Some(seed) }
    }

    pub fn count(&self) -> u32 {
        self.keys.bits.len() as u32
    }

    pub fn describe(&self) -> String {
        let values = self.values.as_ref().map(|values| format!(", {} values", values.type_name()));
        let order = match self.order {
            Order::Ascending => "ascending",
            Order::Descending => "descending",
        };
        let seed = self.seed.map(|seed| format!(", generated with --seed {seed}"));
        let (count, keys) = (self.count(), self.keys.type_name());
        format!("{count} {keys} keys{}, {order}{}", values.unwrap_or_default(), seed.unwrap_or_default())
    }

    /// Sorts `repeat` times, each time from the input; the result is the last one's.
    pub fn run(&self, gpu: &Gpu, algorithm: Option<Algorithm>, repeat: u32) -> Result<Sorted> {
        // One sort gives both permutation and values: the values follow the indices afterwards.
        let mut payload: Option<Vec<u32>> = match (&self.values, self.argsort) {
            (_, true) => Some((0..self.count()).collect()),
            (Some(values), false) => Some(values.bits.clone()),
            (None, false) => None,
        };
        let value = if payload.is_some() { ValueType::U32 } else { ValueType::None };
        let request = SortRequest { key: self.keys.element, value, order: self.order, algorithm };
        let sorter = gpu.sorter(&request, &SorterOptions::default())?;
        let prepared = sorter.prepare(self.count())?;
        // Software drivers leave compiling to the first run. The least count that takes the same steps spares the
        // times of the real one.
        prepared.run(self.count().min(sorter.shape().block() + 1))?;
        let (mut runs, mut walls) = (Vec::new(), Vec::new());
        for _run in 0..repeat {
            prepared.write_keys(cast_slice(&self.keys.bits))?;
            if let Some(payload) = &payload {
                prepared.write_values(cast_slice(payload))?;
            }
            let start = Instant::now();
            runs.push(prepared.run(self.count())?);
            walls.push(start.elapsed());
        }
        walls.sort_unstable();
        let steps = medians(&runs);

        let mut keys = Array { element: self.keys.element, bits: vec![0; self.keys.bits.len()] };
        prepared.read_keys(cast_slice_mut(&mut keys.bits))?;
        if let Some(payload) = &mut payload {
            prepared.read_values(cast_slice_mut(payload))?;
        }
        let (values, indices) = match (&self.values, payload) {
            (Some(values), Some(indices)) if self.argsort => (Some(values.gather(&indices)?), Some(indices)),
            (Some(values), Some(sorted)) => (Some(Array { element: values.element, bits: sorted }), None),
            (_, indices) => (None, indices),
        };
        let indices = indices.map(|bits| Array { element: KeyType::U32, bits });
        Ok(Sorted { keys, values, indices, algorithm: prepared.algorithm(self.count()), steps, walls })
    }

    /// Compares a result with a stable sort on the CPU, element by element.
    pub fn verify(&self, sorted: &Sorted) -> Result<()> {
        let code = |&index: &u32| self.keys.element.sortable(self.keys.bits[index as usize], self.order);
        let mut reference: Vec<u32> = (0..self.count()).collect();
        reference.sort_by_key(code);
        compare("key", &sorted.keys.bits, &self.keys.gather(&reference)?.bits)?;
        if let (Some(given), Some(values)) = (&self.values, &sorted.values) {
            compare("value", &values.bits, &given.gather(&reference)?.bits)?;
        }
        sorted.indices.as_ref().map_or(Ok(()), |indices| compare("index", &indices.bits, &reference))
    }
}

impl Array {
    /// The elements at these indices.
    fn gather(&self, indices: &[u32]) -> Result<Array> {
        let len = self.bits.len();
        let at = |&index: &u32| {
            let bits = self.bits.get(index as usize).copied();
            bits.with_context(|| format!("the sort gave index {index}, allowed are those below {len}"))
        };
        Ok(Array { element: self.element, bits: indices.iter().map(at).collect::<Result<_>>()? })
    }
}

/// The median of each step over several runs.
fn medians(runs: &[Vec<StepTime>]) -> Vec<StepTime> {
    let steps = runs.first().map_or(0, Vec::len);
    let median = |step: usize| {
        let mut times: Vec<StepTime> = runs.iter().map(|run| run[step]).collect();
        times.sort_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds));
        times[times.len() / 2]
    };
    (0..steps).map(median).collect()
}

fn compare(what: &str, given: &[u32], expected: &[u32]) -> Result<()> {
    match given.iter().zip(expected).position(|(given, expected)| given != expected) {
        None => Ok(()),
        Some(at) => {
            bail!("verification failed: {what} {at} has bits {:#010x}, needed are {:#010x}", given[at], expected[at])
        }
    }
}
