//! What look-back costs a workgroup at worst: one that sleeps from its ticket on until all others have ended, so that the ring has
//! lost the words of all tiles before its own.

use vksort::__private::ShapeDesc;
use vksort::__private::abi::Own;
use vksort::__private::steps::{self, HostSort, HostStep};
use vksort::{Algorithm, Count, KeyType, RankMethod, SortRequest, Tuning};

use super::dispatch::Device;
use super::sort::Sort;
use super::{check, device_of, small_blocks};
use vksort_testing::patterns::{self, Pattern};

const LANES: u32 = 4;
const TILES: u32 = 60;
const KEY_BYTES: u64 = 4;

/// A sort of full tiles, with the fault injection `withhold`.
struct Sorted {
    request: SortRequest,
    host: HostSort,
    keys: Vec<u8>,
}

fn sort(rank: RankMethod, ring_bits: u32, withhold: u32) -> Sorted {
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep).bits(0..10);
    let (profile, row) = (device_of(LANES, true), small_blocks(LANES));
    let tuning = Tuning { digit_bits: 5, items_keys: 4, polls: 2, rank, ..row };
    let desc = ShapeDesc {
        ring_bits: Some(ring_bits),
        withhold,
        ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep)
    };
    let tile = steps::of(&desc, 0, Count::Host(0)).unwrap().shape.tile.elements();
    let count = TILES * tile;
    let host = steps::of(&desc, count, Count::Host(count)).unwrap();
    assert_eq!(host.tile, tile, "tiles are whole blocks");
    let keys = patterns::generate(Pattern::Uniform, request.key, count as usize, 1);
    Sorted { request, host, keys }
}

impl Sorted {
    /// The tiles from an anchor to the next.
    fn anchor_spacing(&self) -> u32 {
        let shift = self.host.steps.iter().find_map(|step| match step {
            HostStep::Dispatch(dispatch) => match dispatch.push.own {
                Own::Pass { anchor_shift, .. } => Some(anchor_shift),
                _ => None,
            },
            HostStep::Clear { .. } => None,
        });
        1 << shift.expect("OneSweep has passes")
    }

    /// The bytes of elements that the workgroup of a tile moves in each pass when it is late. The result is compared in full.
    fn moved(&self, late: u32, seed: u64) -> Vec<u64> {
        let capacity = TILES * self.host.tile;
        let Sorted { request, host, keys } = self;
        let device = Device { lanes: LANES, resident: 1, shuffles: true, shows: 4, late: Some(late as usize) };
        let moved = check(
            &Sort {
                request,
                host,
                keys,
                stride: None,
                capacity,
                counted: None,
                device,
                changed: None,
                disturbed: None,
            },
            seed,
        )
        .unwrap();
        let passes = moved.late.iter().filter(|(name, _)| name.kernel == "onesweep");
        passes.map(|(_, bytes)| *bytes).collect()
    }

    /// The tiles that a late workgroup recounts in each pass.
    fn recounted(&self, late: u32, seed: u64) -> Vec<u32> {
        // The first tile has none before it, and moves what every tile moves.
        let own = self.moved(0, seed);
        let tile = KEY_BYTES * u64::from(self.host.tile);
        let tiles = self.moved(late, seed).into_iter().zip(own).map(|(bytes, own)| {
            let recounted = bytes.checked_sub(own).expect("a late tile moves its own elements too");
            assert!(recounted.is_multiple_of(tile), "{recounted} bytes are no whole tiles");
            (recounted / tile) as u32
        });
        tiles.collect()
    }
}

/// All earlier workgroups have ended, so every anchor has its sum: the keys that are loaded are those back to the nearest one.
#[test]
fn a_late_workgroup_recounts_no_more_tiles_than_lie_between_two_anchors() {
    for rank in [RankMethod::Ballot, RankMethod::Private] {
        for ring_bits in [3, 4] {
            let sort = sort(rank, ring_bits, 0);
            let (spacing, slots) = (sort.anchor_spacing(), 1 << ring_bits);
            let last = TILES - slots - 1; // all slots before it are used again
            let mut most = 0;
            for late in [1, spacing - 1, spacing, spacing + 1, spacing + 2, 2 * spacing, last] {
                if late > last {
                    continue;
                }
                let anchor = (late - 1) / spacing * spacing;
                // The first tile is none, so it is recounted itself.
                let needed = if anchor == 0 { late } else { late - 1 - anchor };
                let recounted = sort.recounted(late, 1);
                assert!(recounted.iter().all(|tiles| *tiles == needed), "tile {late}: {recounted:?}, {needed} needed");
                most = most.max(needed);
            }
            assert!(most <= spacing);
            let keys = u64::from(most) * u64::from(sort.host.tile);
            println!(
                "{rank:?}, {slots} slots, an anchor every {spacing} tiles: one workgroup recounts {most} tiles at worst, {keys} keys"
            );
            assert!(most == spacing || spacing > last, "the bound is reached");
        }
    }
}

/// Nothing limits what is recounted if no earlier workgroup publishes anything, its anchor included: the sort ends, but one
/// workgroup loads all keys before its own.
#[test]
fn a_workgroup_whose_predecessors_publish_nothing_recounts_all_of_them() {
    for rank in [RankMethod::Ballot, RankMethod::Private] {
        for ring_bits in [0, 2] {
            let (sort, late) = (sort(rank, ring_bits, 1), TILES - (1 << ring_bits) - 1);
            let recounted = sort.recounted(late, 1);
            println!("{rank:?}, {} slots: tile {late} recounts {recounted:?} tiles", 1 << ring_bits);
            assert!(recounted.iter().all(|tiles| *tiles == late), "tile {late}: {recounted:?}");
        }
    }
}
