//! The ways to sort records.

use std::rc::Rc;

use anyhow::Result;
use rayon::prelude::*;
use vksort::{BitRange, Capacity, KeyField, KeyType, Placement, Segments, SortRequest, ValueType};

use super::elements::{fits, gather};
use super::lengths::Lengths;
use super::maker::{Maker, Planned};
use super::problem::{self, Records, STRIDE, Way};

/// Where a record holds the number of its cell.
const CELL: u32 = 24;
/// Of a record that is read and written in each pass, the bytes of the key; the others are its value.
const KEY_BYTES: u64 = 16;

/// The input of all ways, and the order that must come of it.
struct Given {
    records: Rc<Vec<u8>>,
    order: Vec<u32>,
    fields: Vec<KeyField>,
}

/// The ways to sort `n` records, and the number of their segments.
pub fn plan(maker: &Maker<'_>, what: &Records, n: u32, seed: u64) -> Result<(Vec<Planned>, u32)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let lengths = what.cells.map_or_else(|| vec![n], |cells| cells.draw(n, &mut random));
    let mut records = vec![0; n as usize * STRIDE as usize];
    random.fill(&mut records);
    let mut fields = what.fields.to_vec();
    if what.cells.is_some() {
        let numbers = (0u32..).zip(&lengths).flat_map(|(cell, length)| std::iter::repeat_n(cell, *length as usize));
        for (record, cell) in records.chunks_exact_mut(STRIDE as usize).zip(numbers) {
            record[CELL as usize..][..4].copy_from_slice(&cell.to_le_bytes());
        }
        fields.insert(0, KeyField::new(CELL, KeyType::U32));
    }
    let given = Given::new(records, fields);
    let copy = copy(maker, &given)?;
    let mut ways = match what.cells {
        None => sorted(maker, &given)?,
        Some(cells) => in_cells(maker, &given, what.fields, cells, &lengths)?,
    };
    ways.insert(0, copy);
    Ok((ways, lengths.len() as u32))
}

impl Given {
    fn new(records: Vec<u8>, fields: Vec<KeyField>) -> Given {
        let mut order: Vec<u32> = (0..records.len() as u32 / STRIDE).collect();
        let codes: Vec<u128> = records.par_chunks_exact(STRIDE as usize).map(|record| code(record, &fields)).collect();
        order.par_sort_by_key(|at| codes[*at as usize]);
        Given { records: Rc::new(records), order, fields }
    }

    fn count(&self) -> u32 {
        self.order.len() as u32
    }

    fn sorted(&self) -> Vec<u8> {
        gather(&self.records, STRIDE.into(), &self.order)
    }
}

/// The fields of a record as one number, the first one on top.
fn code(record: &[u8], fields: &[KeyField]) -> u128 {
    fields.iter().fold(0, |code, field| {
        let size = field.key.size_bytes() as usize;
        let mut bits = [0; 16];
        bits[..size].copy_from_slice(&record[field.offset as usize..][..size]);
        code << (8 * size) | field.key.sortable(u128::from_le_bytes(bits), field.order)
    })
}

fn bits(fields: &[KeyField]) -> u32 {
    fields.iter().map(|field| 8 * field.key.size_bytes() as u32).sum()
}

/// All words of the records, moved once.
fn copy(maker: &Maker<'_>, given: &Given) -> Result<Planned> {
    let words = given.count() * (STRIDE / 4);
    let request = SortRequest::new(KeyType::U32).bits(0..0).placement(Placement::OutOfPlace);
    let (sorter, records) = (maker.sorter(&request, words)?, maker.buffer(&given.records)?);
    let right = [given.records.to_vec(), Vec::new()];
    Ok(Planned { floor: 2 * given.records.len() as u64, ..Planned::new(Way::Copy, sorter, words, &records, right) })
}

/// Records by their fields, and pairs by as many bits that have the size of records.
fn sorted(maker: &Maker<'_>, given: &Given) -> Result<Vec<Planned>> {
    let n = given.count();
    let (records, floor) = (maker.buffer(&given.records)?, 2 * given.records.len() as u64);
    // The bits of all fields are the lowest of 16 bytes, with bytes of the record above them.
    let fields = &given.fields;
    let split = |record: &[u8]| {
        let above = u128::from_le_bytes(record[..16].try_into().expect("a record has more"));
        (above << bits(fields) | code(record, fields)).to_le_bytes()
    };
    let keys: Vec<u8> = given.records.par_chunks_exact(STRIDE as usize).flat_map_iter(split).collect();
    let values = given.records.par_chunks_exact(STRIDE as usize);
    let values: Vec<u8> = values.flat_map_iter(|record| record[KEY_BYTES as usize..].to_vec()).collect();
    let moved = [gather(&keys, KEY_BYTES, &given.order), gather(&values, u64::from(STRIDE) - KEY_BYTES, &given.order)];
    let pairs = [Rc::new(keys), Rc::new(values)];

    let described = described(&given.fields);
    let mut ways = Vec::new();
    for way in [Way::InPlace, Way::OutOfPlace, Way::Permutation] {
        let (in_place, is_permutation) = (way == Way::InPlace, way == Way::Permutation);
        let value = if is_permutation { ValueType::Index } else { ValueType::None };
        let request = SortRequest::records(STRIDE, &given.fields).value(value).placement(placement(way));
        let indices = || bytemuck::cast_slice(&given.order).to_vec();
        let right = if is_permutation { [Vec::new(), indices()] } else { [given.sorted(), Vec::new()] };
        let keys = if in_place { maker.buffer(&given.records)? } else { records.clone() };
        ways.push(Planned {
            request: described.placement(placement(way)),
            restored: in_place.then(|| [Rc::clone(&given.records), Rc::default()]),
            floor: if is_permutation { floor / 2 + 4 * u64::from(n) } else { floor },
            ..Planned::new(way, maker.sorter(&request, n)?, n, &keys, right)
        });
    }
    for way in [Way::MovedInPlace, Way::MovedOutOfPlace] {
        let (value, bits) = (ValueType::Bytes(STRIDE - KEY_BYTES as u32), described.bits);
        let request = SortRequest::new(KeyType::U128).value(value).bits(bits).placement(placement(way));
        ways.push(Planned {
            values: Some(maker.buffer(&pairs[1])?),
            restored: (way == Way::MovedInPlace).then(|| pairs.clone()),
            floor,
            ..Planned::new(way, maker.sorter(&request, n)?, n, &maker.buffer(&pairs[0])?, moved.clone())
        });
    }
    Ok(ways)
}

fn placement(way: Way) -> Placement {
    if matches!(way, Way::InPlace | Way::MovedInPlace) { Placement::InPlace } else { Placement::OutOfPlace }
}

/// A sort of records as one by a wide key: for the results.
fn described(fields: &[KeyField]) -> SortRequest {
    let (value, bits) = (ValueType::Bytes(STRIDE), BitRange { low: 0, high: bits(fields) });
    SortRequest::new(problem::wide(bits.high)).value(value).bits(bits)
}

/// The records of each cell, and all of them by cell and fields.
fn in_cells(
    maker: &Maker<'_>,
    given: &Given,
    fields: &[KeyField],
    cells: Lengths,
    lengths: &[u32],
) -> Result<Vec<Planned>> {
    let (n, segments) = (given.count(), lengths.len() as u32);
    let by = |fields: &[KeyField]| SortRequest::records(STRIDE, fields).placement(Placement::OutOfPlace);
    let request = by(fields).segments(Segments::Offsets);
    let request = cells.promised().map_or(request, |promised| request.up_to(promised));
    let sorter = maker.sorter(&request, n)?;
    fits("cell", "records", lengths.iter().copied().max().unwrap_or(0), &sorter)?;
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    let records = maker.buffer(&given.records)?;
    let planned = |way, sorter, fields| Planned {
        request: described(fields).placement(Placement::OutOfPlace),
        floor: 2 * given.records.len() as u64,
        ..Planned::new(way, sorter, n, &records, [given.sorted(), Vec::new()])
    };
    let segmented = Planned {
        capacity: Capacity::new(n).segments(segments),
        count: segments.into(),
        words: Some(maker.buffer(bytemuck::cast_slice(&offsets))?),
        ..planned(Way::OutOfPlace, sorter, fields)
    };
    Ok(vec![segmented, planned(Way::Full, maker.sorter(&by(&given.fields), n)?, &given.fields)])
}
