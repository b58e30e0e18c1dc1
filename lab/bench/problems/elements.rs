//! The ways to sort elements in segments, or to find the first of them.

use anyhow::Result;
use rayon::prelude::*;
use vksort::standalone::{DeviceBuffer, Sorter};
use vksort::{Capacity, Count, IndexFrom, KeyOutput, Order, Segments, SortRequest, Tuning, ValueType};

use super::lengths::Lengths;
use super::maker::{Maker, Planned};
use super::problem::{Elements, Problem, RECORDED, Unfit, Way, bits_of, wide};
use crate::data::Inputs;

/// Elements of the longest segments that are sorted by a recorded sort each.
const LONGEST_RECORDED: u32 = 1000;

/// The input of all ways, and the order that must come of it.
struct Given {
    keys: Vec<u8>,
    values: Vec<u8>,
    /// Keys as numbers that ascend in the order.
    codes: Vec<u64>,
    /// Begins of segments, and the end of the last one.
    offsets: Vec<u32>,
    /// The stable order of each segment, one behind the other.
    order: Vec<u32>,
}

/// The same on the device.
struct Uploaded {
    keys: DeviceBuffer,
    values: Option<DeviceBuffer>,
}

/// The most elements of segments that are sorted in lanes where the row has windows for them.
const IN_LANES: u32 = 128;

/// The ways to solve a problem of `n` elements, and the number of its segments.
pub fn plan(maker: &Maker<'_>, problem: &Problem, what: &Elements, n: u32, seed: u64) -> Result<(Vec<Planned>, u32)> {
    let sort = what.sort;
    let given = Given::new(problem, what, n, seed);
    let uploaded = Uploaded {
        keys: maker.buffer(&given.keys)?,
        values: sort.value.is_read().then(|| maker.buffer(&given.values)).transpose()?,
    };
    let value = if sort.value.is_read() { sort.value } else { ValueType::None };
    let copy = sort.bits(0..0).order(Order::Ascending).key_output(KeyOutput::Sorted).value(value);
    let copied = [given.keys.clone(), given.values.clone()];
    let moved = 2 * (given.keys.len() + given.values.len()) as u64;
    let mut ways = vec![Planned { floor: moved, ..one(maker, Way::Copy, copy, n, &uploaded, copied)? }];
    let usual = maker.0.tuning();
    let by = |way, tuning| segments(maker, what, &given, &uploaded, (way, tuning));
    let in_lanes_up_to = |network_longest| Tuning { network_longest, ..usual.clone() };
    let in_lanes = |planned: &Planned| planned.sorter.shape().windows.is_some_and(|windows| windows.short.is_some());
    let sweeps = |planned: &Planned| planned.sorter.shape().windows.is_some_and(|windows| windows.sweeps);
    ways.push(by(Way::Segments, usual.clone())?);
    let (floor, lanes, swept) = (ways[1].floor, in_lanes(&ways[1]), sweeps(&ways[1]));
    if ways[1].sorter.shape().windows.is_some_and(|windows| windows.longest <= IN_LANES) {
        // Segments of one element are in lanes whatever the tuning is, and longer ones in windows if subgroups have few lanes.
        let other = match lanes {
            true => by(Way::Windows, in_lanes_up_to(1))?,
            false => by(Way::Lanes, in_lanes_up_to(IN_LANES))?,
        };
        ways.extend((in_lanes(&other) != lanes).then_some(other));
    }
    if matches!(what.lengths.segments(n), Segments::Rows { .. }) {
        let other = Tuning { sweeps_rows: !usual.sweeps_rows, ..usual.clone() };
        let other = by(if swept { Way::Divided } else { Way::Swept }, other)?;
        ways.extend((sweeps(&other) != swept).then_some(other));
    }
    ways.push(full(maker, what, &given, &uploaded)?);
    if what.lengths == Lengths::OneAmongTiny {
        let mut order: Vec<u32> = (0..n).collect();
        order.par_sort_by_key(|at| given.codes[*at as usize]);
        ways.push(one(maker, Way::KeyAlone, sort, n, &uploaded, given.right(&sort, &given.keys, &order))?);
    }
    ways.extend(recorded(maker, what, &given, &uploaded)?);
    ways[2..].iter_mut().for_each(|way| way.floor = floor);
    Ok((ways, given.segments()))
}

impl Given {
    fn new(problem: &Problem, what: &Elements, n: u32, seed: u64) -> Given {
        let (sort, mut random) = (what.sort, fastrand::Rng::with_seed(seed));
        let mut end = 0;
        let mut offsets = vec![0];
        for length in what.lengths.draw(n, &mut random) {
            end += length;
            offsets.push(end);
        }
        let (key_bytes, value_bytes) = (sort.key.size_bytes(), sort.value.size_bytes());
        let value_bytes = if sort.value.is_read() { value_bytes } else { 0 };
        let mut inputs = Inputs::new(n as usize, seed, key_bytes, value_bytes);
        let keys = inputs.keys(problem.data, sort.key).to_vec();
        let code = |key: &[u8]| {
            let mut bits = [0; 16];
            bits[..key.len()].copy_from_slice(key);
            sort.key.sortable(u128::from_le_bytes(bits), sort.order) as u64
        };
        let codes: Vec<u64> = keys.par_chunks_exact(key_bytes as usize).map(code).collect();
        let mut order: Vec<u32> = (0..n).collect();
        for pair in offsets.windows(2) {
            order[pair[0] as usize..pair[1] as usize].par_sort_by_key(|at| codes[*at as usize]);
        }
        Given { keys, values: inputs.values(value_bytes).to_vec(), codes, offsets, order }
    }

    fn segments(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// What a request leaves of these keys in this order, with indices from the array.
    fn right(&self, request: &SortRequest, keys: &[u8], order: &[u32]) -> [Vec<u8>; 2] {
        let sorted = request.key_output == KeyOutput::Sorted;
        let keys = if sorted { gather(keys, request.key.size_bytes(), order) } else { Vec::new() };
        let values = match request.value {
            ValueType::None => Vec::new(),
            ValueType::Index => bytemuck::cast_slice(order).to_vec(),
            value => gather(&self.values, value.size_bytes(), order),
        };
        [keys, values]
    }
}

/// Elements of so many bytes in an order.
pub fn gather(elements: &[u8], bytes: u64, order: &[u32]) -> Vec<u8> {
    let bytes = bytes as usize;
    let mut gathered = vec![0; order.len() * bytes];
    let pairs = gathered.par_chunks_exact_mut(bytes).zip(order);
    pairs.for_each(|(to, from)| to.copy_from_slice(&elements[*from as usize * bytes..][..bytes]));
    gathered
}

/// A way that is one sort of all elements, out of place.
fn one(
    maker: &Maker<'_>,
    way: Way,
    request: SortRequest,
    n: u32,
    uploaded: &Uploaded,
    right: [Vec<u8>; 2],
) -> Result<Planned> {
    let planned = Planned::new(way, maker.sorter(&request, n)?, n, &uploaded.keys, right);
    Ok(Planned { values: uploaded.values.clone(), ..planned })
}

/// The sort of segments, or of their first elements, by a tuning.
fn segments(
    maker: &Maker<'_>,
    what: &Elements,
    given: &Given,
    uploaded: &Uploaded,
    (way, tuning): (Way, Tuning),
) -> Result<Planned> {
    let (n, segments) = (given.order.len() as u32, given.segments());
    let lengths = || given.offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let longest = lengths().max().unwrap_or(0);
    let layout = what.lengths.segments(n);
    let mut request = what.sort.segments(layout).indices_from(what.index_from);
    if let Some(promised) = what.lengths.promised() {
        request = request.up_to(promised);
    }
    // A row may be shorter than the number of elements that are wanted.
    let top = what.top.map(|top| top.min(longest));
    if let Some(top) = top {
        request = request.top(top);
    }
    let sorter = maker.tuned(&request, n, tuning)?;
    fits("segment", "elements", longest, &sorter)?;

    let (mut order, mut begins) = (Vec::new(), Vec::new());
    for pair in given.offsets.windows(2) {
        let first = &given.order[pair[0] as usize..pair[1] as usize];
        let first = &first[..first.len().min(top.map_or(first.len(), |top| top as usize))];
        order.extend_from_slice(first);
        begins.resize(order.len(), pair[0]);
    }
    let mut right = given.right(&what.sort, &given.keys, &order);
    if what.index_from == IndexFrom::Segment {
        let local: Vec<u32> = order.iter().zip(&begins).map(|(at, begin)| at - begin).collect();
        right[1] = bytemuck::cast_slice(&local).to_vec();
    }
    let words =
        (layout == Segments::Offsets).then(|| maker.buffer(bytemuck::cast_slice(&given.offsets))).transpose()?;
    let read = given.keys.len() + given.values.len() + words.as_ref().map_or(0, |words| words.size() as usize);
    let floor = (read + right[0].len() + right[1].len()) as u64;
    let count = match layout {
        Segments::Whole => n.into(),
        _ if what.counted => Count::Device,
        _ => segments.into(),
    };
    Ok(Planned {
        request: what.sort,
        capacity: Capacity::new(n).segments(segments),
        count,
        values: uploaded.values.clone(),
        words,
        floor,
        ..Planned::new(way, sorter, n, &uploaded.keys, right)
    })
}

/// Fails where the longest segment is longer than a device sorts.
pub fn fits(segment: &str, elements: &str, longest: u32, sorter: &Sorter) -> Result<()> {
    let most = sorter.segments().map_or(u32::MAX, |limits| limits.longest());
    match longest <= most {
        true => Ok(()),
        false => Err(Unfit(format!("a {segment} has {longest} {elements}, sorted are up to {most}")).into()),
    }
}

/// All elements by segment and key, with as many bits as these have. Where only the first are wanted, all indices are.
fn full(maker: &Maker<'_>, what: &Elements, given: &Given, uploaded: &Uploaded) -> Result<Planned> {
    let n = given.order.len() as u32;
    let key_output = if what.top.is_some() { KeyOutput::Discarded } else { what.sort.key_output };
    let sort = what.sort.key_output(key_output);
    if given.segments() == 1 {
        return one(maker, Way::Full, sort, n, uploaded, given.right(&sort, &given.keys, &given.order));
    }
    let key_bits = 8 * sort.key.size_bytes() as u32;
    let bits = key_bits + bits_of(given.segments());
    let key = wide(bits);
    let request =
        SortRequest::new(key).bits(0..bits).value(sort.value).placement(sort.placement).key_output(key_output);
    let bytes = key.size_bytes() as usize;
    let mut composed = vec![0; n as usize * bytes];
    for (segment, pair) in (0u128..).zip(given.offsets.windows(2)) {
        for at in pair[0] as usize..pair[1] as usize {
            let number = segment << key_bits | u128::from(given.codes[at]);
            composed[at * bytes..][..bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
        }
    }
    let uploaded = Uploaded { keys: maker.buffer(&composed)?, values: uploaded.values.clone() };
    one(maker, Way::Full, request, n, &uploaded, given.right(&request, &composed, &given.order))
}

/// As many recorded sorts as there are rows, or as stand for them. Rows begin where the device allows buffers to.
fn recorded(maker: &Maker<'_>, what: &Elements, given: &Given, uploaded: &Uploaded) -> Result<Option<Planned>> {
    let Lengths::Rows { stride: length, .. } = what.lengths else { return Ok(None) };
    let (sort, n) = (what.sort, given.order.len() as u32);
    let aligned = (u64::from(length) * sort.key.size_bytes()).is_multiple_of(maker.0.profile().storage_alignment_bytes);
    if sort.value != ValueType::None || !aligned || length > LONGEST_RECORDED.min(n) {
        return Ok(None);
    }
    let sorter = maker.sorter(&sort, length)?;
    if sorter.scratch_size(length)? > 0 {
        return Ok(None);
    }
    let parts = given.segments().min(RECORDED);
    let stands_for = f64::from(given.segments()) / f64::from(parts);
    let right = given.right(&sort, &given.keys, &given.order[..(parts * length) as usize]);
    Ok(Some(Planned { parts, stands_for, ..Planned::new(Way::Recorded, sorter, length, &uploaded.keys, right) }))
}
