//! The bytes that kernels load and store, against the floor of a sort by digits: keys are read once to be counted, and in each
//! pass keys and values are read and written once. On top of it, a few keys are read to see whether they are in order.

use vksort::__private::ShapeDesc;
use vksort::__private::steps;
use vksort::{Algorithm, Count, KeyType, RankMethod, SortRequest, Tuning, ValueType};

use super::dispatch::Device;
use super::sort::Sort;
use super::{check, device_of, small_blocks};
use vksort_testing::patterns::{self, Pattern};

/// Sorts so many blocks and further elements; compares the bytes with the floor for each element, with those for each of the
/// further ones, and with the key of the last element, which lanes past the end of a group of loads load in each pass.
fn check_bytes(value: ValueType, rank: RankMethod, (blocks, further): (u32, u32), floor: u64, for_further: u64) {
    let (lanes, key, algorithm) = (8, KeyType::U32, Algorithm::OneSweep);
    let request = SortRequest::new(key).value(value).algorithm(algorithm);
    let (profile, row) = (device_of(lanes, true), small_blocks(lanes));
    let tuning = Tuning { workgroup_size: 4 * lanes, items_keys: 12, items_pairs: 12, polls: 64, rank, ..row };
    let desc = ShapeDesc::new(&profile, &tuning, &request, algorithm);
    let block = steps::of(&desc, 0, Count::Host(0)).unwrap().shape.tile.elements();
    let count = blocks * block + further;
    let host = steps::of(&desc, count, Count::Host(count)).unwrap();
    let keys = patterns::generate(Pattern::Uniform, key, count as usize, 1);
    let device = Device { lanes, resident: 1, shuffles: false, shows: 64, late: None };
    let sort = Sort {
        request: &request,
        host: &host,
        keys: &keys,
        stride: None,
        capacity: count,
        counted: None,
        device,
        changed: None,
        disturbed: None,
    };
    let bytes = check(&sort, 1).unwrap().all;
    // Four keys of an invocation are a group.
    let past = further.next_multiple_of(4 * 4 * lanes) - further;
    let least = floor * u64::from(count) + for_further * u64::from(further) + 4 * 4 * u64::from(past);
    // A workgroup that is interrupted for long has its tile counted by another one, which loads the keys of that tile.
    let recounted = bytes.checked_sub(least).expect("a sort moves at least the floor");
    let (tile, what) = (4 * u64::from(block), format!("{bytes} bytes instead of {least}, {request}, {rank:?}"));
    // The first workgroup looks whether its keys are in order: its invocations load four keys and the next one, once or twice.
    let looked = 2 * 20 * u64::from(4 * lanes);
    assert!(recounted % tile <= looked && recounted / tile < count.div_ceil(block).into(), "{what}");
}

#[test]
fn passes_move_no_byte_twice() {
    for rank in [RankMethod::Ballot, RankMethod::Match] {
        for tiles in [(1, 0), (1, 1), (3, 0), (7, 383)] {
            check_bytes(ValueType::None, rank, tiles, 36, 0);
            // Pairs of a short tile go to their targets one by one, and so their keys are loaded again in each pass.
            check_bytes(ValueType::U32, rank, tiles, 68, 4 * 4);
        }
    }
}
