//! Sorts of segments and of arrays in guarded memory, and what they should leave behind.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use std::borrow::Cow;
use std::ops::Range;

use vksort::standalone::Gpu;
use vksort::{
    BoundSort, Capacity, Count, IndexFrom, KeyOutput, SegmentOptions, Segments, SortRequest, Sorter, ValueType,
};

use crate::arena::values;
use crate::guarded::{Content, GUARD, Parts};
use crate::oracle;

/// A sort of segments with all that it reads.
#[derive(Clone, Debug)]
pub struct Case {
    /// The request. Without segments, what is said of their number is the number of elements.
    pub request: SortRequest,
    /// The most segments.
    pub segment_capacity: u32,
    /// The words that say where segments are.
    pub words: Vec<u32>,
    /// Segments, if the host gives their number; else they are what `counted` says.
    pub segments: u32,
    /// The number of segments on the device, if it comes from there; it may be above the capacity.
    pub counted: Option<u32>,
    /// The keys; the values are made from their indices.
    pub keys: Vec<u8>,
    /// The most elements of a segment that is sorted.
    pub longest: u32,
}

impl Case {
    /// Segments in order, all of which the host counts.
    pub fn new(request: SortRequest, longest: u32, words: Vec<u32>, segments: u32, keys: Vec<u8>) -> Case {
        let promised = request.segments.and_then(|of| of.up_to);
        let longest = longest.min(promised.unwrap_or(u32::MAX));
        Case { request, segment_capacity: segments, words, segments, counted: None, keys, longest }
    }

    /// How the request divides the elements. A sort of an array has one segment, which is all that is counted.
    fn of(&self) -> SegmentOptions {
        self.request.segments.or(self.request.segments(Segments::Whole).segments).expect("a layout was given")
    }

    /// Elements of the buffers.
    pub fn capacity(&self) -> u32 {
        (self.keys.len() as u64 / self.request.key.size_bytes()) as u32
    }

    /// Room for elements, and for segments if the request has some.
    pub(crate) fn room(&self) -> Capacity {
        let elements = Capacity::new(self.capacity());
        if self.request.segments.is_some() { elements.segments(self.segment_capacity) } else { elements }
    }

    /// The count of the recording.
    pub(crate) fn given(&self) -> Count {
        self.counted.map_or(Count::Host(self.segments), |_| Count::Device)
    }

    /// Segments that are sorted.
    pub fn count(&self) -> u32 {
        if self.of().layout == Segments::Whole {
            return u32::from(self.elements() > 0);
        }
        self.counted.map_or(self.segments, |counted| counted.min(self.segment_capacity))
    }

    /// Elements of the whole array, which the count says if the array is the segment.
    fn elements(&self) -> u32 {
        self.counted.unwrap_or(self.segments).min(self.capacity())
    }

    /// The elements of a segment, as the words say.
    pub fn range(&self, segment: u32) -> Range<u32> {
        let (at, capacity) = (segment as usize, self.capacity());
        let (begin, end) = match self.of().layout {
            Segments::Offsets => (self.words[at], self.words[at + 1]),
            Segments::Ranges => (self.words[2 * at], self.words[2 * at + 1]),
            Segments::Rows { stride } => (segment * stride, (segment + 1) * stride),
            Segments::RowsOf { stride } => (segment * stride, segment * stride + self.words[at].min(stride)),
            Segments::Whole => (0, self.elements()),
            other => panic!("{other:?} is not tested"),
        };
        begin.min(capacity)..end.min(capacity)
    }

    /// The elements of all segments that are sorted, with the numbers of these.
    fn sorted(&self) -> impl Iterator<Item = (u32, Range<u32>)> + '_ {
        let sorted = |range: &Range<u32>| !range.is_empty() && range.len() <= self.longest as usize;
        (0..self.count()).map(|segment| (segment, self.range(segment))).filter(move |(_, range)| sorted(range))
    }

    /// The elements of the result that segments may write if the words break the rules, for each of them.
    pub fn written(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.sorted().map(|(segment, range)| {
            let Range { start, end } = self.result(segment, &range);
            // A few elements may be taken for those of a longer segment.
            start..self.of().top.map_or(end, |top| start + top as usize)
        })
    }

    /// The elements of the result that a segment writes.
    fn result(&self, segment: u32, range: &Range<u32>) -> Range<usize> {
        match self.of().top {
            None => range.start as usize..range.end as usize,
            Some(top) => {
                let first = segment as usize * top as usize;
                first..first + range.len().min(top as usize)
            }
        }
    }

    /// Takes over what a sort in place has left of keys that are discarded.
    pub fn leave_keys(&self, before: &mut [u8], after: &[u8]) {
        let size = self.request.key.size_bytes() as usize;
        for (_, Range { start, end }) in self.sorted() {
            let keys = start as usize * size..end as usize * size;
            before[keys.clone()].copy_from_slice(&after[keys]);
        }
    }

    /// The bytes of the caller's values.
    pub fn values(&self) -> Vec<u8> {
        let value = self.request.value;
        let read = if value.is_read() { self.capacity() } else { 0 };
        values(0..read, value.size_bytes() as usize)
    }

    /// The runs of equal keys whose order the request leaves open. Segments keep theirs.
    fn open_ties(&self) -> Option<Vec<(usize, usize)>> {
        let sort = &self.request;
        let size = sort.key.size_bytes() as usize;
        (!sort.stable && sort.segments.is_none()).then(|| {
            let given = &self.keys[..self.elements() as usize * size];
            oracle::ties(sort, &oracle::gather(given, size, &oracle::argsort(sort, given)))
        })
    }

    /// The keys and the values after the sort, from what their buffers hold before it.
    pub fn expected(&self, mut keys_out: Vec<u8>, mut values_out: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
        let (sort, index_from) = (self.request, self.of().indices_from);
        let (key, value) = (sort.key.size_bytes() as usize, sort.value.size_bytes() as usize);
        let given = self.values();
        for (segment, range) in self.sorted() {
            let Range { start, end } = Range { start: range.start as usize, end: range.end as usize };
            let to = self.result(segment, &range);
            let keys = &self.keys[start * key..end * key];
            let mut order = oracle::argsort(&sort, keys);
            order.truncate(to.len());
            if sort.key_output == KeyOutput::Sorted {
                keys_out[to.start * key..to.end * key].copy_from_slice(&oracle::gather(keys, key, &order));
            }
            let sorted = match (sort.value, index_from) {
                (ValueType::None, _) => Vec::new(),
                (ValueType::Index, IndexFrom::Segment) => order.iter().flat_map(|index| index.to_le_bytes()).collect(),
                (ValueType::Index, _) => order.iter().flat_map(|index| (range.start + index).to_le_bytes()).collect(),
                _ => oracle::gather(&given[start * value..end * value], value, &order),
            };
            values_out[to.start * value..to.end * value].copy_from_slice(&sorted);
        }
        (keys_out, values_out)
    }
}

/// The memory of a case before its sort.
pub(crate) fn memory(gpu: &Gpu, case: &Case, scratch_bytes: u64) -> (Vec<u8>, Parts) {
    let sizes = case.request.buffer_sizes(case.room());
    let content = Content { keys: &case.keys, values: &case.values(), words: &case.words, counted: case.counted };
    content.lay_out(gpu.profile(), sizes, vec![GUARD; scratch_bytes as usize])
}

/// Runs a case `times` times over, and compares all memory: with the order of each segment, or if the words break the rules, outside
/// of all segments.
pub fn run(gpu: &Gpu, sorter: &Sorter, case: &Case, times: u32, in_order: bool) -> Result<(), String> {
    run_all(gpu, sorter, std::slice::from_ref(case), times, in_order)
}

/// The same for several cases of the same capacities, one after the other by one bound sort. Its scratch is never cleared.
pub fn run_all(gpu: &Gpu, sorter: &Sorter, cases: &[Case], times: u32, in_order: bool) -> Result<(), String> {
    let case = &cases[0];
    let capacity = case.room();
    let scratch_bytes = sorter.scratch_size(capacity).map_err(text)?;
    let (mut after, parts) = memory(gpu, case, scratch_bytes);
    let buffer = gpu.buffer(after.len() as u64).map_err(text)?;
    // SAFETY: the buffer is of the device, with every usage, and outlives the sort, which is waited for.
    let sort = unsafe { sorter.bind(&parts.buffers(&buffer, 0, capacity)) }.map_err(text)?;
    let device = gpu.device();
    for case in cases {
        let (mut before, _) = memory(gpu, case, scratch_bytes);
        let left = parts.scratch.clone().unwrap_or_default();
        before[left.clone()].copy_from_slice(&after[left.clone()]);
        buffer.write(0, &before).map_err(text)?;
        let count = case.given();
        let record = |commands| {
            for _ in 0..times {
                // SAFETY: the buffers are as above; between two recordings there is a barrier.
                unsafe {
                    sort.record(commands, count)?;
                    BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, &device.raw, commands);
                }
            }
            Ok(())
        };
        // SAFETY: what is recorded is waited for.
        unsafe { device.execute("a sort of segments", record) }.map_err(text)?;
        buffer.read(0, &mut after).map_err(text)?;
        before[left.clone()].copy_from_slice(&after[left]);
        compare(case, &parts, before, &after, in_order)?;
    }
    Ok(())
}

/// Compares all memory with what it should be after a sort.
pub(crate) fn compare(
    case: &Case,
    parts: &Parts,
    mut before: Vec<u8>,
    after: &[u8],
    in_order: bool,
) -> Result<(), String> {
    let mut after = Cow::Borrowed(after);
    let keys_to = parts.keys_out.clone().unwrap_or(parts.keys.clone());
    let values_to = parts.values_out.clone().or(parts.values.clone()).unwrap_or_default();
    let sizes = (case.request.key.size_bytes() as usize, case.request.value.size_bytes() as usize);
    if in_order {
        if case.request.key_output == KeyOutput::Discarded && parts.values_out.is_none() {
            case.leave_keys(&mut before[keys_to.clone()], &after[keys_to.clone()]);
        }
        let (mut keys, mut values) =
            case.expected(before[keys_to.clone()].to_vec(), before[values_to.clone()].to_vec());
        if let Some(ties) = case.open_ties() {
            let sorted = (if case.request.key_output == KeyOutput::Sorted { sizes.0 } else { 0 }, sizes.1);
            let after = after.to_mut();
            let [mut found_keys, mut found_values] = [&keys_to, &values_to].map(|part| after[part.clone()].to_vec());
            oracle::settle(&ties, sorted, &mut keys, &mut values);
            oracle::settle(&ties, sorted, &mut found_keys, &mut found_values);
            after[keys_to.clone()].copy_from_slice(&found_keys);
            after[values_to.clone()].copy_from_slice(&found_values);
        }
        if let Some(difference) = oracle::difference("keys", sizes.0, &after[keys_to.clone()], &keys) {
            return Err(format!("{difference}; {}", case.request));
        }
        before[keys_to].copy_from_slice(&keys);
        before[values_to].copy_from_slice(&values);
    } else {
        for result in case.written() {
            for (to, size) in [(&keys_to, sizes.0), (&values_to, sizes.1)] {
                if !to.is_empty() {
                    let touched = to.start + result.start * size..to.start + result.end * size;
                    before[touched.clone()].copy_from_slice(&after[touched]);
                }
            }
        }
    }
    match oracle::difference("bytes of all buffers", 1, &after, &before) {
        Some(difference) => Err(format!("{difference}; {}", case.request)),
        None => Ok(()),
    }
}

fn text(error: vksort::Error) -> String {
    error.to_string()
}
