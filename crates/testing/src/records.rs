//! Sorts of records in guarded memory, and what they should leave behind.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use std::cmp::Ordering;
use std::ops::Range;

use fastrand::Rng;
use vksort::standalone::Gpu;
use vksort::{
    BoundSort, Capacity, Count, IndexFrom, KeyField, KeyType, Order, Placement, SortRequest, Sorter, StepName,
    ValueType,
};

use crate::guarded::{Content, Parts};
use crate::{oracle, segmented};

/// What scratch holds before a sort.
const GARBAGE: u8 = 0xC5;

/// What the bytes of records are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// Any.
    Uniform,
    /// Of a few values, so that many fields are equal, and zeros, ones and NaNs of both signs come up.
    Few,
    /// All alike.
    Constant,
}

/// So many bytes of records.
pub fn bytes(kind: Bytes, size: usize, random: &mut Rng) -> Vec<u8> {
    const FEW: [u8; 8] = [0, 0, 0, 1, 0x7F, 0x80, 0x80, 0xFF];
    match kind {
        Bytes::Uniform => std::iter::repeat_with(|| random.u8(..)).take(size).collect(),
        Bytes::Few => std::iter::repeat_with(|| FEW[random.usize(0..FEW.len())]).take(size).collect(),
        Bytes::Constant => vec![0x3C; size],
    }
}

/// A request that a device can sort: any fields at any bytes.
pub fn drawn(random: &mut Rng) -> SortRequest {
    let stride = match random.u32(0..3) {
        0 => [4, 8, 16][random.usize(0..3)],
        _ => 4 * random.u32(1..20),
    };
    let (mut fields, mut bits) = (Vec::new(), 0);
    for _ in 0..random.u32(1..=4) {
        let key = KeyType::ALL[random.usize(0..KeyType::ALL.len())];
        let bytes = key.size_bytes() as u32;
        if bits + key.bits() > SortRequest::MAX_FIELD_BITS || bytes > stride {
            continue;
        }
        bits += key.bits();
        let field = KeyField::new(random.u32(0..=stride - bytes), key);
        fields.push(if random.bool() { field } else { field.descending() });
    }
    if fields.is_empty() {
        fields.push(KeyField::new(stride - 1, KeyType::I8));
    }
    outputs(&SortRequest::records(stride, fields))[random.usize(0..3)]
}

/// The request for sorted records in place, for the same out of place, and for their permutation.
pub fn outputs(request: &SortRequest) -> [SortRequest; 3] {
    [*request, request.placement(Placement::OutOfPlace), request.value(ValueType::Index)]
}

/// Bytes of a record.
pub fn stride(request: &SortRequest) -> usize {
    request.stride().expect("a request of records") as usize
}

/// The order of two values of a type by the comparisons of Rust.
fn compare(key: KeyType, one: &[u8], other: &[u8]) -> Ordering {
    macro_rules! ordered {
        ($type:ty, $compare:path) => {{
            let value = |bytes: &[u8]| <$type>::from_le_bytes(bytes.try_into().expect("of this type"));
            $compare(&value(one), &value(other))
        }};
    }
    match key {
        KeyType::U8 => ordered!(u8, Ord::cmp),
        KeyType::I8 => ordered!(i8, Ord::cmp),
        KeyType::U16 => ordered!(u16, Ord::cmp),
        KeyType::I16 => ordered!(i16, Ord::cmp),
        KeyType::F16 => ordered!(half::f16, half::f16::total_cmp),
        KeyType::Bf16 => ordered!(half::bf16, half::bf16::total_cmp),
        KeyType::U32 => ordered!(u32, Ord::cmp),
        KeyType::I32 => ordered!(i32, Ord::cmp),
        KeyType::F32 => ordered!(f32, f32::total_cmp),
        KeyType::U64 => ordered!(u64, Ord::cmp),
        KeyType::I64 => ordered!(i64, Ord::cmp),
        KeyType::F64 => ordered!(f64, f64::total_cmp),
        KeyType::U128 => ordered!(u128, Ord::cmp),
        KeyType::I128 => ordered!(i128, Ord::cmp),
        other => panic!("{other} is not tested"),
    }
}

/// The order of two records by the tuple of their fields.
pub fn compare_records(request: &SortRequest, one: &[u8], other: &[u8]) -> Ordering {
    request.fields().iter().fold(Ordering::Equal, |before, field| {
        let bytes = field.offset as usize..field.offset as usize + field.key.size_bytes() as usize;
        let order = compare(field.key, &one[bytes.clone()], &other[bytes]);
        before.then(if field.order == Order::Descending { order.reverse() } else { order })
    })
}

/// The number that the kernels compose of a record's fields: each as a sortable number, the first on top.
pub fn composed(request: &SortRequest, record: &[u8]) -> u128 {
    request.fields().iter().fold(0u128, |number, field| {
        let bytes = &record[field.offset as usize..][..field.key.size_bytes() as usize];
        let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        number.checked_shl(field.key.bits()).unwrap_or(0) | field.key.sortable(bits, field.order)
    })
}

/// Indices of the records in a range, as they are sorted.
pub fn order(request: &SortRequest, records: &[u8], range: Range<u32>) -> Vec<u32> {
    let record = |index: &u32| &records[*index as usize * stride(request)..][..stride(request)];
    let mut order: Vec<u32> = range.collect();
    order.sort_by(|one, other| compare_records(request, record(one), record(other)));
    order
}

/// What sorting the records of a range writes: these records, or their indices counted from `first`.
pub fn sorted(request: &SortRequest, records: &[u8], range: Range<u32>, first: u32) -> Vec<u8> {
    let order = order(request, records, range);
    match request.value {
        ValueType::Index => order.iter().flat_map(|index| (index - first).to_le_bytes()).collect(),
        _ => oracle::gather(records, stride(request), &order),
    }
}

/// Records to sort.
#[derive(Clone, Debug)]
pub struct Case {
    /// How they are sorted.
    pub request: SortRequest,
    /// The records, as many as there is room for.
    pub records: Vec<u8>,
    /// The number of records that the host gives. That of segments is in their case.
    pub count: u32,
    /// The number of records or segments on the device, if it comes from there; it may be above the capacity.
    pub counted: Option<u32>,
    /// Whether words of segments keep to the rules. Otherwise what is in their ranges may be anything.
    pub in_order: bool,
}

impl Case {
    /// Records that the host counts.
    pub fn new(request: &SortRequest, records: Vec<u8>, count: u32) -> Case {
        Case { request: *request, records, count, counted: None, in_order: true }
    }

    /// Records, and segments of a case, that there is room for.
    pub(crate) fn room(&self, of: Option<&segmented::Case>) -> Capacity {
        Capacity::new(self.capacity()).segments(of.map_or(0, |of| of.segment_capacity))
    }

    /// The count of the recording, of records or of the segments of a case.
    pub(crate) fn given(&self, of: Option<&segmented::Case>) -> Count {
        self.counted.map_or(Count::Host(of.map_or(self.count, |of| of.segments)), |_| Count::Device)
    }

    /// Records that there is room for.
    pub fn capacity(&self) -> u32 {
        (self.records.len() / stride(&self.request)) as u32
    }
}

/// Runs a case twice over, of segments with their words and numbers from a case of as many keys as there are records, and compares all
/// memory but the scratch. Gives the names of the steps.
pub fn run(gpu: &Gpu, sorter: &Sorter, of: Option<&segmented::Case>, case: &Case) -> Result<Vec<StepName>, String> {
    let capacity = case.room(of);
    let scratch_bytes = sorter.scratch_size(capacity).map_err(text)?;
    let (before, parts) = memory(gpu, of, case, scratch_bytes);
    let buffer = gpu.buffer(before.len() as u64).map_err(text)?;
    buffer.write(0, &before).map_err(text)?;
    let count = case.given(of);
    // SAFETY: the buffer is of the device, with every usage, and outlives the sort, which is waited for; between two recordings
    // there is a barrier.
    let sort = unsafe { sorter.bind(&parts.buffers(&buffer, 0, capacity)) }.map_err(text)?;
    let device = gpu.device();
    let twice = |commands| {
        for _ in 0..2 {
            // SAFETY: as above.
            unsafe {
                sort.record(commands, count)?;
                BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, &device.raw, commands);
            }
        }
        Ok(())
    };
    // SAFETY: as above.
    unsafe { device.execute("a sort of records", twice) }.map_err(text)?;
    let mut after = vec![0; before.len()];
    buffer.read(0, &mut after).map_err(text)?;
    compare_memory(of, case, &parts, before, &after).map(|()| sort.step_names(count))
}

/// The memory of a case before its sort.
pub(crate) fn memory(gpu: &Gpu, of: Option<&segmented::Case>, case: &Case, scratch_bytes: u64) -> (Vec<u8>, Parts) {
    let sizes = case.request.buffer_sizes(case.room(of));
    assert_eq!(sizes.keys, Some(case.records.len() as u64));
    let words = of.map_or(&[][..], |of| &of.words);
    let content = Content { keys: &case.records, values: &[], words, counted: case.counted };
    content.lay_out(gpu.profile(), sizes, vec![GARBAGE; scratch_bytes as usize])
}

/// Compares all memory but the scratch with what it should be after a sort.
pub(crate) fn compare_memory(
    of: Option<&segmented::Case>,
    case: &Case,
    parts: &Parts,
    mut before: Vec<u8>,
    after: &[u8],
) -> Result<(), String> {
    let (request, stride) = (&case.request, stride(&case.request));
    let (ranges, from) = match of {
        None => {
            let sorted = case.counted.unwrap_or(case.count).min(case.capacity());
            (std::iter::once(0..sorted).collect::<Vec<_>>(), IndexFrom::Array)
        }
        Some(of) => {
            let ranges = of.written().map(|range| range.start as u32..range.end as u32).collect();
            (ranges, request.segments.map_or(IndexFrom::Array, |of| of.indices_from))
        }
    };
    let size = if parts.values_out.is_some() { 4 } else { stride };
    let to = parts.keys_out.as_ref().or(parts.values_out.as_ref()).unwrap_or(&parts.keys).clone();
    for range in ranges {
        let place = to.start + range.start as usize * size..to.start + range.end as usize * size;
        if !case.in_order {
            before[place.clone()].copy_from_slice(&after[place]);
            continue;
        }
        let first = if from == IndexFrom::Segment { range.start } else { 0 };
        before[place].copy_from_slice(&sorted(request, &case.records, range, first));
    }
    if let Some(difference) = oracle::difference("records", size, &after[to.clone()], &before[to]) {
        return Err(format!("{difference}; {request}"));
    }
    let scratch = parts.scratch.clone().unwrap_or_default();
    before[scratch.clone()].copy_from_slice(&after[scratch]);
    match oracle::difference("bytes of all buffers", 1, after, &before) {
        Some(difference) => Err(format!("{difference}; {request}")),
        None => Ok(()),
    }
}

fn text(error: vksort::Error) -> String {
    error.to_string()
}
