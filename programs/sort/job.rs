//! Arrays to sort, sorting them on a device, and proving the result.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use vksort::standalone::{Gpu, Passes, PreparedSort};
use vksort::{Algorithm, BitRange, Capacity, KeyField, KeyOutput, KeyType, Order, Placement};
use vksort::{SortRequest, SorterOptions, StepTime, ValueType};
use vksort_profiles::Quartiles;

use vksort_programs::common::memory::Memory;
use vksort_programs::common::verify::verify_runs;
use vksort_programs::sort::fields::{self, By, Field};
use vksort_programs::sort::npy::Array;
use vksort_programs::sort::order::as_numpy_sorts;
use vksort_programs::sort::parts::Parts;

/// What is to be sorted.
pub struct Job {
    pub keys: Array,
    what: What,
    /// What is sorted in place of the keys, which then follow the permutation, where their own order is not numpy's.
    stand_in: Option<Array>,
    pub values: Option<Array>,
    /// What is sorted by itself.
    parts: Parts,
    /// The shape of the keys: of rows, each of which is sorted by itself, if it has more than one dimension.
    shape: Vec<u64>,
    pub how: How,
    /// Seed that the arrays were generated with.
    pub seed: Option<u64>,
}

/// What the keys are.
pub enum What {
    Numbers(KeyType),
    /// Structures, with the fields that they are sorted by.
    Records(Vec<Field>, By),
}

/// How it is to be sorted, and what of it is wanted.
pub struct How {
    pub order: Order,
    /// The bits that count; `None` for all of them.
    pub bits: Option<BitRange>,
    pub algorithm: Option<Algorithm>,
    /// How many of the first keys are wanted, of each part; `None` for all of them.
    pub top: Option<u32>,
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
    /// The algorithm; `None` where parts are sorted, or few keys are wanted.
    pub algorithm: Option<Algorithm>,
    /// The last run's passes.
    pub passes: Option<Passes>,
    /// Median over the runs of each step; empty where the device has no timestamps.
    pub steps: Vec<StepTime>,
    /// Time of each run as the host sees it, in ascending order.
    pub walls: Vec<Duration>,
}

impl Job {
    /// Keys with values to follow them, if there are any.
    pub fn new(
        (keys, shape): (Array, Vec<u64>),
        what: What,
        values: Option<Array>,
        parts: Parts,
        how: How,
    ) -> Result<Job> {
        if let Some(values) = &values {
            let (given, needed) = (values.count(), keys.count());
            ensure!(given == needed, "--values has {given} rows, needed are {needed}, one for each key");
        }
        let stand_in = match &what {
            // Bits are those of the keys as they are.
            What::Numbers(_) if how.bits.is_some() => None,
            What::Numbers(key) => as_numpy_sorts(&keys, *key),
            What::Records(fields, _) => fields::stand_in(&keys, fields),
        };
        Ok(Job { keys, what, stand_in, values, parts, shape, how, seed: None })
    }

    /// Whether anything sorts generated keys of this type in this way, which is known before there are any.
    pub fn check_generated(key: KeyType, with_values: bool, how: &How) -> Result<()> {
        Ok(generated(key, with_values, how).check()?)
    }

    /// Checks that so many generated keys can be sorted and verified here, before there are any.
    pub fn check_room(gpu: &Gpu, count: u32, key: KeyType, with_values: bool, how: &How) -> Result<()> {
        let request = generated(key, with_values, how);
        let sorter = gpu.sorter(&request, &SorterOptions::default().capacity(count))?;
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
        let what = What::Numbers(key);
        let shape = vec![count.into()];
        Job { keys, what, stand_in: None, values, parts: Parts::Whole, shape, how, seed: Some(seed) }
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
        // The device moves no values with records.
        let with_values = self.are_records() && self.values.is_some();
        self.how.indices || self.stand_in.is_some() || self.how.top.is_some() || with_values
    }

    fn are_records(&self) -> bool {
        matches!(self.what, What::Records(..))
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        self.parts.ranges(self.count())
    }

    /// What the device is asked for.
    fn request(&self) -> SortRequest {
        let How { stable, algorithm, top, .. } = self.how;
        let value = match (&self.what, &self.values) {
            _ if self.by_indices() => ValueType::Index,
            (What::Numbers(_), Some(values)) => ValueType::Bytes(values.row_bytes() as u32),
            _ => ValueType::None,
        };
        let sort = match &self.what {
            What::Numbers(key) => request(*key, value, &self.how),
            What::Records(fields, _) => {
                let fields = fields::key_fields(fields, self.stand_in.is_some());
                // In no segment, records stay where they are.
                let placement = if self.parts.is_whole() { Placement::OutOfPlace } else { Placement::InPlace };
                let records = SortRequest::records(self.sorted().row_bytes() as u32, fields).placement(placement);
                records.value(value).stable(stable).algorithm(algorithm)
            }
        };
        if self.parts.is_whole() && top.is_none() {
            return sort;
        }
        // No part has more than its keys; a block is sorted in one dispatch.
        let longest = self.ranges().iter().map(ExactSizeIterator::len).max().unwrap_or(0).max(1) as u32;
        let sort = sort.segments(self.parts.layout());
        let sort = if let Parts::Rows(_) = self.parts { sort } else { sort.up_to(longest) };
        top.map_or(sort, |top| {
            sort.placement(Placement::OutOfPlace).key_output(KeyOutput::Discarded).top(top.min(longest))
        })
    }

    /// What is sorted.
    fn sorted(&self) -> &Array {
        self.stand_in.as_ref().unwrap_or(&self.keys)
    }

    pub fn describe(&self) -> String {
        let (what, order) = match &self.what {
            What::Numbers(key) => (format!("{key} keys"), self.how.order.to_string()),
            What::Records(_, by) => (format!("records of {} bytes", self.keys.row_bytes()), format!("by {by}")),
        };
        let values = self.values.as_ref().map(|values| format!(" with values of {} bytes", values.row_bytes()));
        let bits = self.how.bits.map(|bits| format!(" by bits {bits}"));
        let seed = self.seed.map(|seed| format!(", generated with --seed {seed}"));
        let parts = match &self.parts {
            Parts::Whole => None,
            Parts::Offsets(offsets) => Some(format!(" in {} segments", offsets.len() - 1)),
            Parts::Rows(stride) => Some(format!(" in rows of {stride}")),
        };
        let each = if parts.is_some() { " of each" } else { "" };
        let top = self.how.top.map(|top| format!(", the first {top}{each}"));
        let [values, parts, bits, top, seed] = [values, parts, bits, top, seed].map(Option::unwrap_or_default);
        format!("{} {what}{values}{parts}, {order}{bits}{top}{seed}", self.count())
    }

    /// Sorts `repeat` times, each time from the input; the result is the last one's.
    pub fn run(&self, gpu: &Gpu, repeat: u32) -> Result<Sorted> {
        let count = self.count();
        let prepared = self.prepare(gpu)?;
        // In no segment, keys stay where they are.
        let stay = self.by_indices() && self.how.top.is_none() && !self.parts.is_whole();
        let own: Vec<u32> = if stay { (0..count).collect() } else { Vec::new() };
        let (mut runs, mut walls) = (Vec::new(), Vec::new());
        for _run in 0..repeat {
            prepared.write_keys(self.sorted().rows())?;
            if let (Some(values), false) = (&self.values, self.by_indices()) {
                prepared.write_values(values.rows())?;
            }
            if stay {
                prepared.write_values(&own)?;
            }
            let start = Instant::now();
            runs.push(prepared.run(self.units())?);
            walls.push(start.elapsed());
        }
        walls.sort_unstable();

        let read_values = |array: Array| filled(array, |rows| prepared.read_values(rows));
        let indices = self.by_indices().then(|| self.indices(&prepared)).transpose()?;
        let keys = match &indices {
            _ if !self.how.keys => None,
            Some(indices) if self.stand_in.is_some() || self.how.top.is_some() || self.are_records() => {
                Some(self.keys.gather(indices.to_words())?)
            }
            _ => Some(filled(self.keys.blank(), |rows| prepared.read_keys(rows))?),
        };
        let sorted = |values: &Array| match &indices {
            Some(indices) => values.gather(indices.to_words()),
            None => read_values(values.blank()),
        };
        let values = self.values.as_ref().map(sorted).transpose()?;
        let indices = indices.filter(|_| self.how.indices).map(|indices| self.told(indices.to_words()));
        let (algorithm, passes) = (prepared.algorithm(count), prepared.passes()?);
        Ok(Sorted { keys, values, indices, algorithm, passes, steps: medians(&runs), walls })
    }

    /// A sort of these keys, which has run once: software drivers leave compiling to the first run.
    fn prepare(&self, gpu: &Gpu) -> Result<PreparedSort> {
        let (count, request) = (self.count(), self.request());
        // The flag's number may be more than any part has.
        let sorter = gpu.sorter(&request, &SorterOptions::default().capacity(count)).map_err(|error| {
            match (error, self.how.top) {
                (vksort::Error::Unsupported { what, allowed, .. }, Some(top)) if what == "the top of each segment" => {
                    anyhow!("--top is {top}, allowed is {allowed}")
                }
                (error, _) => error.into(),
            }
        })?;
        let prepared = sorter.prepare(Capacity::new(count).segments(self.ranges().len() as u32))?;
        if !self.parts.words().is_empty() {
            prepared.write_segments(self.parts.words())?;
        }
        prepared.run(match request.segments {
            // The least count that takes the same steps spares the times of the real one.
            None => count.min(sorter.shape().single.elements() + 1),
            Some(_) => self.units(),
        })?;
        Ok(prepared)
    }

    /// What a sort counts: keys, or the parts that are sorted each by itself.
    fn units(&self) -> u32 {
        if self.parts.is_whole() { self.count() } else { self.ranges().len() as u32 }
    }

    /// The permutation that a sort has made, or the indices of the first keys of each part.
    fn indices(&self, prepared: &PreparedSort) -> Result<Array> {
        let read = |count: usize| -> Result<Vec<u32>> {
            let mut indices = vec![0u32; count];
            prepared.read_values(&mut indices)?;
            Ok(indices)
        };
        let Some(top) = self.request().segments.and_then(|of| of.top) else {
            return Ok(Array::words(read(self.keys.count())?.into_iter()));
        };
        let (ranges, top) = (self.ranges(), top as usize);
        let all = read(ranges.len() * top)?;
        let wanted = ranges.iter().zip(all.chunks(top)).flat_map(|(range, found)| &found[..top.min(range.len())]);
        Ok(Array::words(wanted.copied().collect::<Vec<u32>>().into_iter()))
    }

    /// A permutation as it is written: of rows that are those of the shape, it counts from the begin of the row, and has their shape.
    fn told(&self, indices: impl ExactSizeIterator<Item = u32>) -> Array {
        let [before @ .., length] = &self.shape[..] else { return Array::words(indices) };
        if before.is_empty() {
            return Array::words(indices);
        }
        let rows: u64 = before.iter().product();
        let wanted = (indices.len() as u64).checked_div(rows).unwrap_or(*length);
        let shape = [before, &[wanted]].concat();
        Array::words_in(indices.map(|index| index % *length as u32), &shape)
    }

    /// Compares a result with a stable sort on the CPU, byte by byte; or the elements of each run of equal keys, where these
    /// may come in any order.
    pub fn verify(&self, sorted: &Sorted) -> Result<()> {
        let mut reference: Vec<u32> = (0..self.count()).collect();
        let code = self.code();
        let ranges = self.ranges();
        for range in &ranges {
            reference[range.start as usize..range.end as usize].sort_by_key(&code);
        }
        if let Some(top) = self.how.top {
            let firsts = ranges.iter().flat_map(|range| range.clone().take(top as usize));
            reference = firsts.map(|place| reference[place as usize]).collect();
        }

        if !self.how.stable {
            return self.verify_unstable(sorted, &reference, &code);
        }
        if let Some(keys) = &sorted.keys {
            let what = if self.are_records() { "record" } else { "key" };
            compare(what, keys, &self.keys.gather(reference.iter().copied())?)?;
        }
        if let (Some(given), Some(values)) = (&self.values, &sorted.values) {
            compare("value", values, &given.gather(reference.iter().copied())?)?;
        }
        sorted.indices.as_ref().map_or(Ok(()), |indices| compare("index", indices, &self.told(reference.into_iter())))
    }

    /// A number for the key at an index. Numbers ascend in the order of the sort.
    fn code(&self) -> Box<dyn Fn(&u32) -> u128 + '_> {
        let keys = self.sorted();
        let request = self.request();
        let SortRequest { key, order, bits: BitRange { low, high }, .. } = request;
        if request.fields().is_empty() {
            let below_high = u128::MAX.checked_shr(128 - high).unwrap_or(0);
            let mask = below_high & u128::MAX.checked_shl(low).unwrap_or(0);
            return Box::new(move |index| key.sortable(keys.bits(*index, 0..keys.row_bytes()), order) & mask);
        }
        // The first field is on top.
        Box::new(move |index| {
            request.fields().iter().fold(0, |number: u128, KeyField { offset, key, order, .. }| {
                let begin = *offset as usize;
                let bits = keys.bits(*index, begin..begin + key.size_bytes() as usize);
                number.checked_shl(key.bits()).unwrap_or(0) | key.sortable(bits, *order)
            })
        })
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
                (Some(_), None) => self.told(std::iter::once(index)).rows().to_vec(),
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
    let sort = all.value(value).order(order).bits(how.bits.unwrap_or(all.bits));
    sort.key_output(key_output).stable(stable).algorithm(algorithm)
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
    let (found, rows) = (given.count(), needed.count());
    ensure!(found == rows, "verification failed: there are {found} rows of {what}, needed are {rows}");
    let differs = |(given, needed): (&u8, &u8)| given != needed;
    let Some(byte) = given.rows().iter().zip(needed.rows()).position(differs) else { return Ok(()) };
    let row = (byte / given.row_bytes()) as u32;
    let in_row = byte % given.row_bytes();
    let [given, needed] = [given, needed].map(|array| array.row(row)[in_row]);
    bail!("verification failed: byte {in_row} of {what} {row} is {given:#04x}, needed is {needed:#04x}")
}
