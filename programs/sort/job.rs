//! Arrays to sort, sorting them on a device, and proving the result.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use vksort::standalone::{Gpu, Passes};
use vksort::{Algorithm, BitRange, KeyOutput, KeyType, Order, SortRequest, SorterOptions, StepTime, ValueType};
use vksort_profiles::Quartiles;

use vksort_programs::common::memory::Memory;
use vksort_programs::common::verify::verify_runs;
use vksort_programs::sort::npy::Array;
use vksort_programs::sort::order::as_numpy_sorts;

/// What is to be sorted.
pub struct Job {
    pub keys: Array,
    pub key: KeyType,
    /// What is sorted in place of the keys, which then follow the permutation, where their own order is not numpy's.
    stand_in: Option<Array>,
    pub values: Option<Array>,
    pub how: How,
    /// Seed that the arrays were generated with.
    pub seed: Option<u64>,
}

/// How it is to be sorted, and what of it is wanted.
pub struct How {
    pub order: Order,
    /// The bits that count; `None` for all of them.
    pub bits: Option<BitRange>,
    pub algorithm: Option<Algorithm>,
    /// Whether equal keys keep their order.
    pub stable: bool,
    /// Whether the keys are wanted, even where there is something else.
    pub keys: bool,
    /// Whether the permutation is wanted.
    pub indices: bool,
}

/// A job's result.
pub struct Sorted {
    /// The keys, unless something else was wanted in their place.
    pub keys: Option<Array>,
    pub values: Option<Array>,
    /// The sorting permutation, if it was wanted.
    pub indices: Option<Array>,
    pub algorithm: Algorithm,
    /// The last run's passes.
    pub passes: Option<Passes>,
    /// Median over the runs of each step; empty where the device has no timestamps.
    pub steps: Vec<StepTime>,
    /// Time of each run as the host sees it, in ascending order.
    pub walls: Vec<Duration>,
}

impl Job {
    /// Keys with values to follow them, if there are any.
    pub fn new(keys: Array, key: KeyType, values: Option<Array>, how: How) -> Result<Job> {
        if let Some(values) = &values {
            let (given, needed) = (values.count(), keys.count());
            ensure!(given == needed, "--values has {given} rows, needed are {needed}, one for each key");
        }
        // Bits are those of the keys as they are.
        let stand_in = if how.bits.is_none() { as_numpy_sorts(&keys, key) } else { None };
        Ok(Job { keys, key, stand_in, values, how, seed: None })
    }

    /// Whether anything sorts generated keys of this type in this way, which is known before there are any.
    pub fn check_generated(key: KeyType, with_values: bool, how: &How) -> Result<()> {
        Ok(generated(key, with_values, how).check()?)
    }

    /// Checks that so many generated keys can be sorted and verified here, before there are any.
    pub fn check_room(gpu: &Gpu, count: u32, key: KeyType, with_values: bool, how: &How) -> Result<()> {
        let request = generated(key, with_values, how);
        let sorter = gpu.sorter(&request, &SorterOptions { capacity: Some(count), ..SorterOptions::default() })?;
        let most = sorter.max_count();
        ensure!(count <= most, "--count is {count}, allowed are at most {most} {} keys on this device", key.name());
        let (key_bytes, value_bytes) = (key.size_bytes(), request.value.size_bytes());
        let (keys, values) = (key_bytes * u64::from(count), value_bytes * u64::from(count));
        let scratch = sorter.scratch_size(count)?;
        let heap = gpu.profile().memory_bytes;
        let largest = keys.max(values).max(scratch);
        ensure!(
            largest <= heap,
            "--count is {count}, which takes a buffer of {} MiB; the device's largest heap has {} MiB",
            largest.div_ceil(1 << 20),
            heap >> 20
        );
        // The input, the output, and while verifying what a sort on the CPU makes, with indices.
        let host = 3 * (keys + values) + 8 * u64::from(count);
        let lacking = Memory { device: keys + values + scratch, host }.lacking(gpu, u64::MAX);
        lacking.map_or(Ok(()), |why| Err(anyhow!("--count is {count}: {why}")))
    }

    /// Random keys, with their indices as values if there are to be any.
    pub fn generate(count: u32, key: KeyType, with_values: bool, seed: u64, how: How) -> Job {
        let keys = Array::random(key.size_bytes() as usize, count, &mut fastrand::Rng::with_seed(seed));
        let values = with_values.then(|| Array::words(0..count));
        Job { keys, key, stand_in: None, values, how, seed: Some(seed) }
    }

    /// Whether anything sorts this, which is known before a device is.
    pub fn check(&self) -> Result<()> {
        Ok(self.request().check()?)
    }

    pub fn count(&self) -> u32 {
        self.keys.count() as u32
    }

    /// Whether the permutation is sorted, which gives all else too: keys or values follow it afterwards.
    fn by_indices(&self) -> bool {
        self.how.indices || self.stand_in.is_some()
    }

    fn request(&self) -> SortRequest {
        let value = match &self.values {
            _ if self.by_indices() => ValueType::Index,
            Some(values) => ValueType::Bytes(values.row_bytes() as u32),
            None => ValueType::None,
        };
        request(self.key, value, &self.how)
    }

    pub fn describe(&self) -> String {
        let request = self.request();
        let values = self.values.as_ref().map(|values| format!(" with values of {} bytes", values.row_bytes()));
        let bits = self.how.bits.map(|bits| format!(" by bits {bits}"));
        let seed = self.seed.map(|seed| format!(", generated with --seed {seed}"));
        let [values, bits, seed] = [values, bits, seed].map(Option::unwrap_or_default);
        format!("{} {} keys{values}, {}{bits}{seed}", self.count(), self.key, request.order)
    }

    /// Sorts `repeat` times, each time from the input; the result is the last one's.
    pub fn run(&self, gpu: &Gpu, repeat: u32) -> Result<Sorted> {
        let (request, count) = (self.request(), self.count());
        let sorter = gpu.sorter(&request, &SorterOptions { capacity: Some(count), ..SorterOptions::default() })?;
        let prepared = sorter.prepare(count)?;
        // Software drivers leave compiling to the first run. The least count that takes the same steps spares the
        // times of the real one.
        prepared.run(count.min(sorter.shape().single.elements() + 1))?;
        let (mut runs, mut walls) = (Vec::new(), Vec::new());
        for _run in 0..repeat {
            prepared.write_keys(self.stand_in.as_ref().unwrap_or(&self.keys).rows())?;
            if let (Some(values), true) = (&self.values, request.value.is_read()) {
                prepared.write_values(values.rows())?;
            }
            let start = Instant::now();
            runs.push(prepared.run(count)?);
            walls.push(start.elapsed());
        }
        walls.sort_unstable();

        let read_values = |array: Array| filled(array, |rows| prepared.read_values(rows));
        let blank = || Array::words(std::iter::repeat_n(0, self.keys.count()));
        let indices = self.by_indices().then(|| read_values(blank())).transpose()?;
        let keys = match (&self.stand_in, &indices) {
            _ if !self.how.keys => None,
            (Some(_), Some(indices)) => Some(self.keys.gather(indices.to_words())?),
            _ => Some(filled(self.keys.blank(), |rows| prepared.read_keys(rows))?),
        };
        let sorted = |values: &Array| match &indices {
            Some(indices) => values.gather(indices.to_words()),
            None => read_values(values.blank()),
        };
        let values = self.values.as_ref().map(sorted).transpose()?;
        let indices = indices.filter(|_| self.how.indices);
        let (algorithm, passes, steps) = (prepared.algorithm(count), prepared.passes()?, medians(&runs));
        Ok(Sorted { keys, values, indices, algorithm, passes, steps, walls })
    }

    /// Compares a result with a stable sort on the CPU, byte by byte; or the elements of each run of equal keys, where these
    /// may come in any order.
    pub fn verify(&self, sorted: &Sorted) -> Result<()> {
        let BitRange { low, high } = self.request().bits;
        let below_high = u128::MAX.checked_shr(128 - high).unwrap_or(0);
        let mask = below_high & u128::MAX.checked_shl(low).unwrap_or(0);
        let mut reference: Vec<u32> = (0..self.count()).collect();
        let keys = self.stand_in.as_ref().unwrap_or(&self.keys);
        let code = |index: &u32| self.key.sortable(keys.bits(*index), self.how.order) & mask;
        reference.sort_by_key(code);

        if !self.how.stable {
            return self.verify_unstable(sorted, &reference, code);
        }
        if let Some(keys) = &sorted.keys {
            compare("key", keys, &self.keys.gather(reference.iter().copied())?)?;
        }
        if let (Some(given), Some(values)) = (&self.values, &sorted.values) {
            compare("value", values, &given.gather(reference.iter().copied())?)?;
        }
        sorted
            .indices
            .as_ref()
            .map_or(Ok(()), |indices| compare("index", indices, &Array::words(reference.into_iter())))
    }

    /// The same where equal keys may come in any order.
    fn verify_unstable(&self, sorted: &Sorted, order: &[u32], code: impl Fn(&u32) -> u128) -> Result<()> {
        // What of an element is there: its key, its value, and its index.
        let wanted = [&sorted.keys, &sorted.values, &sorted.indices].map(Option::as_ref);
        let given =
            |place: u32| -> Vec<u8> { wanted.iter().flatten().flat_map(|array| array.row(place)).copied().collect() };
        let needed = |index: u32| -> Vec<u8> {
            let own = [Some(&self.keys), self.values.as_ref(), None];
            let row = |(wanted, own): (&Option<&Array>, Option<&Array>)| match (wanted, own) {
                (None, _) => Vec::new(),
                (Some(_), Some(own)) => own.row(index).to_vec(),
                (Some(_), None) => index.to_le_bytes().to_vec(),
            };
            wanted.iter().zip(own).flat_map(row).collect()
        };
        verify_runs(order, |index| code(&index), given, needed).context("verification failed")
    }
}

fn generated(key: KeyType, with_values: bool, how: &How) -> SortRequest {
    request(key, if with_values { ValueType::U32 } else { ValueType::None }, how)
}

fn request(key: KeyType, value: ValueType, how: &How) -> SortRequest {
    let all = SortRequest::new(key);
    let key_output = if how.keys || value == ValueType::None { KeyOutput::Sorted } else { KeyOutput::Discarded };
    let How { order, algorithm, stable, .. } = *how;
    SortRequest { value, order, bits: how.bits.unwrap_or(all.bits), key_output, stable, algorithm, ..all }
}

/// An array whose rows were read into it.
fn filled(mut array: Array, read: impl FnOnce(&mut [u8]) -> Result<(), vksort::Error>) -> Result<Array> {
    read(array.rows_mut())?;
    Ok(array)
}

/// The median of each step over several runs.
fn medians(runs: &[Vec<StepTime>]) -> Vec<StepTime> {
    let steps = runs.first().map_or(0, Vec::len);
    let median = |step: usize| {
        let times: Vec<f64> = runs.iter().map(|run| run[step].nanoseconds).collect();
        let mut step = runs[0][step];
        step.nanoseconds = Quartiles::of(&times).median;
        step
    };
    (0..steps).map(median).collect()
}

fn compare(what: &str, given: &Array, needed: &Array) -> Result<()> {
    let differs = |(given, needed): (&u8, &u8)| given != needed;
    let Some(byte) = given.rows().iter().zip(needed.rows()).position(differs) else { return Ok(()) };
    let row = (byte / given.row_bytes()) as u32;
    let in_row = byte % given.row_bytes();
    let [given, needed] = [given, needed].map(|array| array.row(row)[in_row]);
    bail!("verification failed: byte {in_row} of {what} {row} is {given:#04x}, needed is {needed:#04x}")
}
