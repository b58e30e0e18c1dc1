//! The ways to sort records.

use std::rc::Rc;

use anyhow::Result;
use rayon::prelude::*;
use vksort::{
    BitRange, Count, KeyField, KeyType, Placement, RecordOutput, RecordRequest, SegmentedRequest, Segments,
    SortRequest, ValueType,
};

use super::elements::gather;
use super::lengths::Lengths;
use super::maker::{AnySorter, Maker, Planned};
use super::problem::{self, Records, STRIDE, Unfit, Way};

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
    let (bits, placement) = ((0..0).into(), Placement::OutOfPlace);
    let request = SortRequest { bits, placement, ..SortRequest::new(KeyType::U32) };
    Ok(Planned {
        way: Way::Copy,
        sorter: AnySorter::One(maker.sorter(&request, words)?),
        request,
        capacity: words,
        count: words.into(),
        keys: maker.buffer(&given.records)?,
        values: None,
        restored: None,
        right: [given.records.to_vec(), Vec::new()],
        floor: 2 * given.records.len() as u64,
    })
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
    let outputs = [
        (Way::InPlace, RecordOutput::InPlace),
        (Way::OutOfPlace, RecordOutput::OutOfPlace),
        (Way::Permutation, RecordOutput::Permutation),
    ];
    for (way, output) in outputs {
        let request = RecordRequest::new(STRIDE, given.fields.clone()).with_output(output);
        let indices = || bytemuck::cast_slice(&given.order).to_vec();
        let is_permutation = way == Way::Permutation;
        ways.push(Planned {
            way,
            sorter: AnySorter::One(maker.of_records(&request, n)?),
            request: SortRequest { placement: placement(way), ..described },
            capacity: n,
            count: n.into(),
            keys: if way == Way::InPlace { maker.buffer(&given.records)? } else { records.clone() },
            values: None,
            restored: (way == Way::InPlace).then(|| [Rc::clone(&given.records), Rc::default()]),
            right: if is_permutation { [Vec::new(), indices()] } else { [given.sorted(), Vec::new()] },
            floor: if is_permutation { floor / 2 + 4 * u64::from(n) } else { floor },
        });
    }
    for way in [Way::MovedInPlace, Way::MovedOutOfPlace] {
        let (value, bits) = (ValueType::Bytes(STRIDE - KEY_BYTES as u32), described.bits);
        let request = SortRequest { value, bits, placement: placement(way), ..SortRequest::new(KeyType::U128) };
        ways.push(Planned {
            way,
            sorter: AnySorter::One(maker.sorter(&request, n)?),
            request,
            capacity: n,
            count: n.into(),
            keys: maker.buffer(&pairs[0])?,
            values: Some(maker.buffer(&pairs[1])?),
            restored: (way == Way::MovedInPlace).then(|| pairs.clone()),
            right: moved.clone(),
            floor,
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
    SortRequest { value, bits, ..SortRequest::new(problem::wide(bits.high)) }
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
    let by = |fields: &[KeyField]| RecordRequest::new(STRIDE, fields).with_output(RecordOutput::OutOfPlace);
    let request = SegmentedRequest::of_records(&by(fields), Segments::Offsets)?;
    let request = cells.promised().map_or(request, |promised| request.up_to(promised));
    let sorter = maker.segmented(&request, n)?;
    let longest = lengths.iter().copied().max().unwrap_or(0);
    if longest > sorter.longest() {
        return Err(Unfit(format!("a cell has {longest} records, sorted are up to {}", sorter.longest())).into());
    }
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    let records = maker.buffer(&given.records)?;
    let words = Some(maker.buffer(bytemuck::cast_slice(&offsets))?);
    let segmented = (Way::OutOfPlace, AnySorter::Segments { sorter, words, segments }, fields, Count::Host(segments));
    let full = (Way::Full, AnySorter::One(maker.of_records(&by(&given.fields), n)?), &given.fields[..], Count::Host(n));
    let ways = [segmented, full].map(|(way, sorter, fields, count)| Planned {
        way,
        sorter,
        request: SortRequest { placement: Placement::OutOfPlace, ..described(fields) },
        capacity: n,
        count,
        keys: records.clone(),
        values: None,
        restored: None,
        right: [given.sorted(), Vec::new()],
        floor: 2 * given.records.len() as u64,
    });
    Ok(ways.into())
}
