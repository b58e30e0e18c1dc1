//! Segments of slices, their first elements, and records, compared in full with stable sorts of each.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use fastrand::Rng;
use vksort::standalone::{Gpu, GpuOptions, SegmentsOf};
use vksort::{
    IndexFrom, Key, KeyField, KeyType, Order, Placement, Segments, SortRequest, SorterOptions, ValueType, key_field,
};
use vksort_testing::{Failed, Trial, expect, gpu, seed};

/// Segments as the host has them.
enum Owned {
    Offsets(Vec<u32>),
    Ranges(Vec<[u32; 2]>),
    Rows(u32),
    RowsOf(u32, Vec<u32>),
}

impl Owned {
    fn given(&self) -> SegmentsOf<'_> {
        match self {
            Owned::Offsets(offsets) => SegmentsOf::Offsets(offsets),
            Owned::Ranges(ranges) => SegmentsOf::Ranges(ranges),
            Owned::Rows(stride) => SegmentsOf::Rows(*stride),
            Owned::RowsOf(stride, lengths) => SegmentsOf::RowsOf { stride: *stride, lengths },
        }
    }
}

/// Segments of every kind, each with the elements of a slice and where its segments are.
fn drawn(random: &mut Rng) -> Vec<(&'static str, Owned, usize, Vec<Range<usize>>)> {
    let count = random.usize(1..300);
    let lengths: Vec<usize> =
        (0..count).map(|_| if random.bool() { random.usize(0..8) } else { random.usize(0..90) }).collect();
    let (mut at, mut offsets, mut ranges) = (random.usize(0..9), Vec::new(), Vec::new());
    let begin = at;
    for length in &lengths {
        offsets.push(at..at + length);
        at += length;
    }
    let mut end = begin;
    for length in &lengths {
        let start = end + random.usize(0..3);
        end = start + length;
        ranges.push(start..end);
    }
    let words = std::iter::once(begin).chain(offsets.iter().map(|range| range.end)).map(|word| word as u32).collect();
    let pairs = ranges.iter().map(|range| [range.start as u32, range.end as u32]).collect();
    let stride = 90;
    let row = |row: usize, length: usize| row * stride..row * stride + length;
    let rows = (0..count).map(|index| row(index, stride)).collect();
    let parts = lengths.iter().enumerate().map(|(index, length)| row(index, *length)).collect();
    let words_of_rows = lengths.iter().map(|length| *length as u32).collect();
    vec![
        ("offsets", Owned::Offsets(words), at + 5, offsets),
        ("ranges", Owned::Ranges(pairs), end + 3, ranges),
        ("rows", Owned::Rows(stride as u32), count * stride, rows),
        ("rows of", Owned::RowsOf(stride as u32, words_of_rows), count * stride, parts),
    ]
}

/// The indices of a range in the stable order of their keys.
fn order_of<K: Key>(keys: &[K], range: Range<usize>, order: Order) -> Vec<usize> {
    let code = |index: &usize| {
        let mut bits = [0; 16];
        let bytes = vksort::bytemuck::bytes_of(&keys[*index]);
        bits[..bytes.len()].copy_from_slice(bytes);
        K::TYPE.sortable(u128::from_le_bytes(bits), order)
    };
    let mut indices: Vec<usize> = range.collect();
    indices.sort_by_key(code);
    indices
}

/// Sorts segments of these kinds in every way. Each way has kernels of its own, so few kinds keep this short.
fn check<K: Key + PartialEq>(kinds: &[&str], draw: fn(&mut Rng) -> K) -> Result<(), Failed> {
    let (gpu, mut random) = (gpu(), Rng::with_seed(seed()));
    let drawn = drawn(&mut random).into_iter().filter(|(name, ..)| kinds.contains(name));
    for (index, (name, owned, len, ranges)) in drawn.enumerate() {
        let order = [Order::Ascending, Order::Descending][index % 2];
        let text = |what: &str| format!("VKSORT_SEED={}: {name}, {order}: {what}", seed());
        let keys: Vec<K> = (0..len).map(|_| draw(&mut random)).collect();
        let values: Vec<[u32; 3]> = (0..len as u32).map(|index| [index, !index, 7]).collect();
        let mut places: Vec<usize> = (0..len).collect();
        let mut columns: Vec<u32> = (0..len as u32).collect();
        let (mut firsts, wanted) = (Vec::new(), 3);
        for range in &ranges {
            let sorted = order_of(&keys, range.clone(), order);
            for (to, from) in range.clone().zip(&sorted) {
                (places[to], columns[to]) = (*from, (from - range.start) as u32);
            }
            firsts.extend(sorted.iter().take(wanted).map(|from| (keys[*from], (from - range.start) as u32)));
        }
        let segments = owned.given();
        let mut sorted = keys.clone();
        gpu.sort_segments(&mut sorted, segments, order)?;
        let expected: Vec<K> = places.iter().map(|place| keys[*place]).collect();
        assert!(sorted == expected, "{}", text("keys"));
        let (mut sorted, mut moved) = (keys.clone(), values.clone());
        gpu.sort_segment_pairs(&mut sorted, &mut moved, segments, order)?;
        assert!(sorted == expected, "{}", text("keys of pairs"));
        assert!(places.iter().map(|place| values[*place]).eq(moved.iter().copied()), "{}", text("values"));
        let permutation = gpu.argsort_segments(&keys, segments, IndexFrom::Array, order)?;
        assert!(places.iter().map(|place| *place as u32).eq(permutation), "{}", text("permutation"));
        let permutation = gpu.argsort_segments(&keys, segments, IndexFrom::Segment, order)?;
        assert!(columns == permutation, "{}", text("columns"));
        let (best, from) = gpu.top_k_of_segments(&keys, segments, wanted as u32, order)?;
        assert!(best.into_iter().zip(from).eq(firsts), "{}", text("first elements"));
    }
    Ok(())
}

fn segments_of_words() -> Result<(), Failed> {
    check(&["offsets", "ranges", "rows", "rows of"], |random| random.u32(..) % 50)
}

fn segments_of_bytes() -> Result<(), Failed> {
    check(&["ranges"], |random| random.i8(..))
}

fn segments_of_doubles() -> Result<(), Failed> {
    check(&["rows of"], |random| f64::from(random.i32(-20..20)))
}

/// The first of a slice of any length, also of one that has fewer.
fn first_elements_of_slices() -> Result<(), Failed> {
    let (gpu, mut random) = (gpu(), Rng::with_seed(seed()));
    for len in [0, 5, 100, 40_000] {
        let keys: Vec<f32> = (0..len).map(|_| random.i32(-100..100) as f32).collect();
        for count in [7, u32::MAX] {
            if len > 1_000 && count > 1_000 {
                continue;
            }
            let (best, places) = gpu.top_k(&keys, count, Order::Descending)?;
            let mut expected: Vec<usize> = (0..len).collect();
            expected.sort_by_key(|index| Reverse((keys[*index] * 8.0) as i32));
            expected.truncate(count as usize);
            assert!(places.iter().map(|place| *place as usize).eq(expected.iter().copied()), "{count} of {len}");
            assert!(best.into_iter().eq(expected.iter().map(|index| keys[*index])), "{count} of {len}");
        }
    }
    // A row that no block holds.
    let keys: Vec<u16> = (0..60_000).map(|_| random.u16(..)).collect();
    let (best, columns) = gpu.top_k_of_segments(&keys, SegmentsOf::Rows(20_000), 4, Order::Ascending.by_bits(4..16))?;
    for row in 0..3usize {
        let mut expected: Vec<usize> = (0..20_000).collect();
        expected.sort_by_key(|column| keys[20_000 * row + column] >> 4);
        let found = columns[4 * row..][..4].iter().map(|column| *column as usize);
        assert!(found.eq(expected[..4].iter().copied()), "row {row}");
        assert!((0..4).all(|place| best[4 * row + place] == keys[20_000 * row + expected[place]]), "row {row}");
    }
    Ok(())
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Place {
    x: f32,
    y: f32,
}

/// A record of 20 bytes, of which the fields are at any byte.
#[repr(C, packed)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Particle {
    kind: u8,
    age: i16,
    at: Place,
    number: u32,
    mass: i32,
    rest: u8,
}

impl Particle {
    fn drawn(random: &mut Rng, number: u32) -> Self {
        let at = Place { x: f32::from(random.i8(-2..3)), y: f32::from(random.i8(..)) };
        let (kind, age, mass) = (random.u8(0..3), random.i16(-300..300), random.i32(-2..2));
        Particle { kind, age, at, number, mass, rest: random.u8(..) }
    }
}

/// A record that is a key itself, if it is sorted by its upper half.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Draw {
    mesh: u32,
    depth: f32,
}

/// Sorts records whole and in segments, for themselves and for the permutation.
fn check_records<T: Pod + PartialEq + std::fmt::Debug>(
    fields: &[KeyField],
    draw: fn(&mut Rng, u32) -> T,
    compare: fn(&T, &T) -> Ordering,
) -> Result<(), Failed> {
    let (gpu, mut random) = (gpu(), Rng::with_seed(seed()));
    let text = |what: &str| format!("VKSORT_SEED={}: {fields:?}: {what}", seed());
    let ordered = |records: &[T], ranges: &[Range<usize>]| -> Vec<usize> {
        let mut places: Vec<usize> = (0..records.len()).collect();
        for range in ranges {
            places[range.clone()].sort_by(|one, other| compare(&records[*one], &records[*other]));
        }
        places
    };
    for len in [0, 1, 2, 300, 9_000] {
        let records: Vec<T> = (0..len).map(|number| draw(&mut random, number)).collect();
        let places = ordered(&records, std::slice::from_ref(&(0..records.len())));
        let mut sorted = records.clone();
        gpu.sort_by_fields(&mut sorted, fields)?;
        assert!(places.iter().map(|place| records[*place]).eq(sorted), "{}", text(&format!("{len} records")));
        let permutation = gpu.argsort_by_fields(&records, fields)?;
        assert!(places.iter().map(|place| *place as u32).eq(permutation), "{}", text(&format!("order of {len}")));
    }
    for (name, owned, len, ranges) in drawn(&mut random) {
        let records: Vec<T> = (0..len as u32).map(|number| draw(&mut random, number)).collect();
        let (places, segments) = (ordered(&records, &ranges), owned.given());
        let mut sorted = records.clone();
        gpu.sort_segments_by_fields(&mut sorted, segments, fields)?;
        assert!(places.iter().map(|place| records[*place]).eq(sorted), "{}", text(name));
        let permutation = gpu.argsort_segments_by_fields(&records, segments, IndexFrom::Array, fields)?;
        assert!(places.iter().map(|place| *place as u32).eq(permutation), "{}", text(&format!("order of {name}")));
        let mut columns = places;
        ranges.iter().for_each(|range| columns[range.clone()].iter_mut().for_each(|place| *place -= range.start));
        let permutation = gpu.argsort_segments_by_fields(&records, segments, IndexFrom::Segment, fields)?;
        assert!(columns.iter().map(|place| *place as u32).eq(permutation), "{}", text(&format!("columns of {name}")));
    }
    Ok(())
}

fn records_by_one_field() -> Result<(), Failed> {
    check_records(&[key_field!(Particle, age)], Particle::drawn, |one, other| {
        let [one, other] = [one, other].map(|particle| particle.age);
        one.cmp(&other)
    })
}

fn records_by_fields_within_fields() -> Result<(), Failed> {
    let fields = [key_field!(Particle, kind).descending(), key_field!(Particle, at.x), key_field!(Particle, mass)];
    check_records(&fields, Particle::drawn, |one, other| {
        let [one, other] = [one, other].map(|particle| (particle.kind, particle.at.x, particle.mass));
        other.0.cmp(&one.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2))
    })
}

fn records_that_are_keys() -> Result<(), Failed> {
    let draw = |random: &mut Rng, mesh| Draw { mesh, depth: f32::from(random.i8(-9..9)) };
    check_records(&[key_field!(Draw, depth).descending()], draw, |one, other| other.depth.total_cmp(&one.depth))
}

/// What no request takes is refused, and leaves the records as they were.
fn wrong_records_are_refused() -> Result<(), Failed> {
    let gpu = gpu();
    let refused = |fields: &[KeyField], words: &[&str]| -> Result<(), Failed> {
        let given = [5u32, 4, 3].map(|mesh| Draw { mesh, depth: 1.0 });
        let mut draws = given;
        expect(gpu.sort_by_fields(&mut draws, fields), words)?;
        expect(gpu.argsort_by_fields(&draws, fields), words)?;
        expect(gpu.sort_segments_by_fields(&mut draws, SegmentsOf::Rows(3), fields), words)?;
        expect(gpu.argsort_segments_by_fields(&draws, SegmentsOf::Rows(3), IndexFrom::Array, fields), words)?;
        assert_eq!(draws, given);
        Ok(())
    };
    let mesh = key_field!(Draw, mesh);
    refused(&[], &["number of fields is 0", "1 to 4"])?;
    refused(&[mesh; 5], &["number of fields is 5", "1 to 4"])?;
    refused(&[mesh, key_field!(Particle, number)], &["u32 at bytes 11..15", "0..8"])?;
    let number = KeyField::new(0, KeyType::U8);
    expect(gpu.sort_by_fields(&mut [[1u16; 3]; 2], [number]), &["stride of records is 6 bytes", "multiple of 4"])?;
    expect(gpu.sort_by_fields(&mut [[0u8; 0]; 2], [number]), &["stride of records is 0 bytes", "multiple of 4"])?;
    let mut draws = [Draw { mesh: 1, depth: 0.0 }; 5];
    expect(gpu.sort_segments_by_fields(&mut draws, SegmentsOf::Rows(2), [mesh]), &["slice is 5", "a multiple of 2"])
}

/// Slices without elements or segments come back as they are.
fn nothing_to_sort() -> Result<(), Failed> {
    let (gpu, mut none, mut some) = (gpu(), [0u32; 0], [3u32, 1, 2]);
    let number = [KeyField::new(0, KeyType::U32)];
    let of_none =
        [SegmentsOf::Offsets(&[0]), SegmentsOf::Offsets(&[0, 0]), SegmentsOf::Ranges(&[]), SegmentsOf::Rows(7)];
    for segments in of_none {
        gpu.sort_segments(&mut none, segments, Order::Ascending)?;
        assert_eq!(gpu.argsort_segments(&none, segments, IndexFrom::Array, Order::Ascending)?, []);
        assert_eq!(gpu.top_k_of_segments(&none, segments, 3, Order::Ascending)?, (vec![], vec![]));
        gpu.sort_segments_by_fields(&mut none, segments, number)?;
        assert_eq!(gpu.argsort_segments_by_fields(&none, segments, IndexFrom::Array, number)?, []);
    }
    for segments in [SegmentsOf::Offsets(&[2]), SegmentsOf::Ranges(&[]), SegmentsOf::Offsets(&[1, 1, 1])] {
        gpu.sort_segments(&mut some, segments, Order::Ascending)?;
        assert_eq!(some, [3, 1, 2]);
        assert_eq!(gpu.argsort_segments(&some, segments, IndexFrom::Array, Order::Ascending)?, [0, 1, 2]);
        assert_eq!(gpu.argsort_segments_by_fields(&some, segments, IndexFrom::Array, number)?, [0, 1, 2]);
        assert_eq!(gpu.top_k_of_segments(&some, segments, 3, Order::Ascending)?, (vec![], vec![]));
    }
    Ok(())
}

/// What the host sees is refused, and leaves the slice as it was.
fn wrong_segments_are_refused() -> Result<(), Failed> {
    let gpu = gpu();
    let refused = |segments: SegmentsOf<'_>, words: &[&str]| -> Result<(), Failed> {
        let mut keys = [5u32, 4, 3, 2, 1];
        expect(gpu.sort_segments(&mut keys, segments, Order::Ascending), words)?;
        assert_eq!(keys, [5, 4, 3, 2, 1]);
        expect(gpu.argsort_segments(&keys, segments, IndexFrom::Array, Order::Ascending), words)?;
        expect(gpu.top_k_of_segments(&keys, segments, 1, Order::Ascending), words)
    };
    refused(SegmentsOf::Offsets(&[]), &["number of offsets is 0", "one more than segments"])?;
    refused(SegmentsOf::Offsets(&[0, 3, 2, 5]), &["offset 2 is 2", "3 to 5"])?;
    refused(SegmentsOf::Offsets(&[0, 6]), &["offset 1 is 6", "0 to 5"])?;
    refused(SegmentsOf::Ranges(&[[0, 3], [2, 4]]), &["begin of range 1 is 2", "3 to 5"])?;
    refused(SegmentsOf::Ranges(&[[0, 3], [4, 3]]), &["end of range 1 is 3", "4 to 5"])?;
    refused(SegmentsOf::Ranges(&[[1, u32::MAX]]), &["end of range 0 is 4294967295", "1 to 5"])?;
    refused(SegmentsOf::Rows(0), &["stride of rows is 0", "at least 1"])?;
    refused(SegmentsOf::Rows(2), &["length of the slice is 5", "a multiple of 2"])?;
    refused(SegmentsOf::RowsOf { stride: 5, lengths: &[1, 1] }, &["length of the slice is 5", "2 rows of 5"])?;
    refused(SegmentsOf::RowsOf { stride: 7, lengths: &[1] }, &["length of the slice is 5", "one row of 7"])?;
    refused(SegmentsOf::RowsOf { stride: 5, lengths: &[6] }, &["length of row 0 is 6", "up to 5"])?;

    expect(gpu.top_k(&[1u32, 2], 0, Order::Ascending), &["number of first elements is 0", "at least 1"])?;
    let lists = SegmentsOf::Rows(2);
    expect(gpu.top_k_of_segments(&[1u32, 2], lists, 0, Order::Ascending), &["number of first elements is 0"])?;
    let one = SegmentsOf::Rows(2);
    expect(gpu.sort_segment_pairs(&mut [1u32, 2], &mut [1], one, Order::Ascending), &["1 values", "2"])?;
    expect(gpu.sort_segments(&mut [1u16, 2], one, Order::Ascending.by_bits(3..17)), &["bit window", "3..17", "16"])
}

/// Segments may be longer than a block, of which those of slices promise no more than they have. What the device cannot do is refused by
/// an error that names what it can.
fn what_exceeds_a_block() -> Result<(), Failed> {
    let gpu = Gpu::best()?;
    let (request, options) = (SortRequest::new(KeyType::U32), SorterOptions::default());
    let segments = gpu.sorter(&request.segments(Segments::Offsets).up_to(1), &options)?;
    let block = segments.segments().expect("a sorter of segments").block();
    drop(segments);
    for longest in [block - 1, block, block + 1] {
        let mut keys: Vec<u32> = (0..longest + 8).map(|at| at.wrapping_mul(0x9E37_79B1)).collect();
        let mut expected = keys.clone();
        expected[..7].sort_unstable();
        expected[7..7 + longest as usize].sort_unstable();
        gpu.sort_segments(&mut keys, SegmentsOf::Offsets(&[0, 7, 7 + longest]), Order::Ascending)?;
        assert_eq!(keys, expected, "{longest} of {block} elements");
        assert_eq!(gpu.pipelines().len() > 1, longest > block, "rounds are for longer segments");
    }

    let first = Order::Ascending;
    let top = request.value(ValueType::Index).placement(Placement::OutOfPlace).top(1);
    let most = gpu.sorter(&top, &options)?.segments().expect("a sorter of segments").max_top();
    let keys = vec![1u32; 20 * most as usize];
    for count in [most + 1, 20 * most, u32::MAX] {
        let words = [&format!("the number of first elements is {count}"), &*format!("up to {most}, a block")];
        expect(gpu.top_k(&keys, count, first), &words)?;
        expect(gpu.top_k_of_segments(&keys, SegmentsOf::Rows(20 * most), count, first), &words)?;
    }
    // There are fewer keys than are asked for.
    assert_eq!(gpu.top_k(&[3u32, 1, 2], u32::MAX, first)?, (vec![1, 2, 3], vec![1, 2, 0]));
    for longest in [most - 1, most, most + 1, 19 * most] {
        let mut keys: Vec<u32> = (0..longest + 8).map(|at| at.wrapping_mul(0x9E37_79B1)).collect();
        keys[6] = 0;
        keys[longest as usize] = 1;
        let (top, indices) = gpu.top_k_of_segments(&keys, SegmentsOf::Offsets(&[0, 7, 7 + longest]), 1, first)?;
        let second = keys[7..7 + longest as usize].iter().enumerate().min_by_key(|(_, key)| **key);
        let (index, key) = second.expect("there are keys");
        assert_eq!((top, indices), (vec![0, *key], vec![0, index as u32]), "{longest} of {most} elements");
    }
    Ok(())
}

/// Pipelines of requests stay until they are dropped.
fn sorters_are_kept() -> Result<(), Failed> {
    let gpu = Gpu::best()?;
    let sort = |stride| gpu.sort_segments(&mut [2u8, 1, 4, 3], SegmentsOf::Rows(stride), Order::Ascending);
    sort(2)?;
    let kept = gpu.pipelines().len();
    assert!(kept > 0, "a sorter is kept");
    sort(4)?;
    assert_eq!(gpu.pipelines().len(), kept, "rows of every length share pipelines");
    gpu.clear_pipelines()?;
    assert!(gpu.pipelines().is_empty(), "sorters are dropped");
    sort(2)?;

    // Records have sorters of their own.
    gpu.clear_pipelines()?;
    let mut particles = [3u32, 1, 2].map(|number| Particle::drawn(&mut Rng::with_seed(5), number));
    let number = [key_field!(Particle, number)];
    gpu.sort_by_fields(&mut particles, number)?;
    assert_eq!(particles.map(|particle| particle.number), [1, 2, 3]);
    let kept = gpu.pipelines().len();
    gpu.sort_by_fields(&mut particles, number.map(KeyField::descending))?;
    assert_eq!(particles.map(|particle| particle.number), [3, 2, 1]);
    assert!(gpu.pipelines().len() > kept, "another direction of a field is another request");
    let kept = gpu.pipelines().len();
    gpu.sort_by_fields(&mut particles, number)?;
    assert_eq!(gpu.pipelines().len(), kept, "it is not built again");
    Ok(())
}

/// A sort that takes longer than it may is an error, after which the device is not used any more.
fn slow_sorts_are_given_up() -> Result<(), Failed> {
    let options = GpuOptions::default().timeout(Duration::ZERO);
    let slow = Gpu::new(&options)?;
    let mut keys: Vec<u32> = (0..1 << 20).rev().collect();
    expect(slow.sort(&mut keys, Order::Ascending), &["did not finish", "within 0ns"])?;
    expect(slow.sort(&mut [2u32, 1], Order::Ascending), &["an earlier submission"])?;
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("slow_sorts_are_given_up", slow_sorts_are_given_up),
        Trial::test("segments_of_words", segments_of_words),
        Trial::test("segments_of_bytes", segments_of_bytes),
        Trial::test("segments_of_doubles", segments_of_doubles),
        Trial::test("first_elements_of_slices", first_elements_of_slices),
        Trial::test("records_by_one_field", records_by_one_field),
        Trial::test("records_by_fields_within_fields", records_by_fields_within_fields),
        Trial::test("records_that_are_keys", records_that_are_keys),
        Trial::test("wrong_records_are_refused", wrong_records_are_refused),
        Trial::test("nothing_to_sort", nothing_to_sort),
        Trial::test("wrong_segments_are_refused", wrong_segments_are_refused),
        Trial::test("what_exceeds_a_block", what_exceeds_a_block),
        Trial::test("sorters_are_kept", sorters_are_kept),
    ]
}
