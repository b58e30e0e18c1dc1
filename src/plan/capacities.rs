//! Searches over capacities. What a plan needs grows with its capacity as long as its tiles keep their size, and tiles do not
//! shrink, so the largest capacity of each tile size speaks for the smaller ones.

use super::Plan;
use crate::shape::largest;

/// The largest scratch size of all capacities up to this one.
pub(crate) fn most_scratch(plan: impl Fn(u32) -> Plan, capacity: u32) -> u64 {
    let mut most = 0;
    each_tile_size(plan, capacity, |_, last| {
        most = most.max(last.scratch().size);
        true
    });
    most
}

/// The largest capacity up to `limit` such that its counters and its table of tiles, and those of all smaller capacities, have at most
/// `bytes` bytes.
pub(crate) fn reached_by_table(plan: impl Fn(u32) -> Plan, limit: u32, bytes: u64) -> u32 {
    let mut reached = 0;
    let fits = |plan: Plan| {
        let scratch = plan.scratch();
        scratch.table.size.max(scratch.counters.size) <= bytes
    };
    each_tile_size(&plan, limit, |first, last| {
        let all = fits(last);
        reached = match all {
            true => last.capacity,
            false => largest(first.saturating_sub(1), last.capacity - 1, |capacity| fits(plan(capacity))),
        };
        all
    });
    reached
}

/// Calls `visit` with the least capacity of each tile size and the plan for the largest, in ascending order, until it returns false.
fn each_tile_size(plan: impl Fn(u32) -> Plan, limit: u32, mut visit: impl FnMut(u32, Plan) -> bool) {
    let mut first = 0;
    loop {
        let tile = plan(first).tile;
        let last = largest(first, limit, |capacity| plan(capacity).tile == tile);
        if !visit(first, plan(last)) || last == limit {
            return;
        }
        first = last + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::plan::MAX_COUNT;
    use crate::profile::{DeviceProfile, driver};
    use crate::request::{Algorithm, SortRequest, ValueType};
    use crate::shape::{Shape, ShapeDesc};
    use crate::tuning::Tuning;

    /// The plans of a sort of pairs, by each algorithm on a GPU and on a software driver, with at least `min_tiles` tiles.
    fn each_sort(min_tiles: Option<u32>, check: impl Fn(&str, &dyn Fn(u32) -> Plan)) {
        for is_cpu in [false, true] {
            let driver_id = if is_cpu { driver::LLVMPIPE } else { driver::UNKNOWN };
            let profile = DeviceProfile { is_cpu, driver_id, ..DeviceProfile::default() };
            let mut tuning = Tuning::for_device(&profile);
            tuning.min_tiles = min_tiles.unwrap_or(tuning.min_tiles);
            for algorithm in [Algorithm::OneSweep, Algorithm::ReduceThenScan] {
                let request = SortRequest::new(KeyType::U32).value(ValueType::U32);
                let shape = Shape::fit(&ShapeDesc::new(&profile, &tuning, &request, algorithm)).unwrap();
                let name = format!("{algorithm}, CPU: {is_cpu}, {} tiles", shape.min_tiles);
                check(&name, &|capacity| Plan::new(&request, algorithm, shape, capacity));
            }
        }
    }

    #[test]
    fn scratch_for_a_capacity_serves_every_smaller_one() {
        let shrinks = std::cell::Cell::new(0);
        each_sort(None, |name, plan| {
            let (mut so_far, mut before) = (0, 0);
            for capacity in 0..400_000 {
                let size = plan(capacity).scratch().size;
                shrinks.set(shrinks.get() + u32::from(size < before));
                before = size;
                so_far = so_far.max(size);
                if capacity % 977 == 0 {
                    assert_eq!(most_scratch(plan, capacity), so_far, "{name}, {capacity} elements");
                }
            }
        });
        assert!(shrinks.get() > 0, "no capacity needs less scratch than the one before, so the largest would do");
    }

    #[test]
    fn every_capacity_up_to_the_largest_has_a_table_that_fits() {
        let shrinks = std::cell::Cell::new(0);
        for min_tiles in [None, Some(1), Some(64)] {
            each_sort(min_tiles, |name, plan| {
                let size = |capacity| {
                    let scratch = plan(capacity).scratch();
                    scratch.table.size.max(scratch.counters.size)
                };
                let tables: Vec<u64> = (0..=1_000_000).map(size).collect();
                let peaks: Vec<u64> =
                    tables.windows(2).filter(|pair| pair[1] < pair[0]).map(|pair| pair[0] - 4).collect();
                shrinks.set(shrinks.get() + peaks.len());
                for bytes in peaks.into_iter().take(9).chain([1 << 12, 1 << 16, 1 << 20, 1 << 40]) {
                    let expected = tables.iter().position(|size| *size > bytes).unwrap_or(tables.len()) - 1;
                    let reached = reached_by_table(plan, 1_000_000, bytes);
                    assert_eq!(reached as usize, expected, "{name}, a table of {bytes} bytes");
                }
            });
        }
        assert!(shrinks.get() > 0, "no table shrinks as tiles grow, so a plain search would do");
    }

    #[test]
    fn descriptors_hold_fewer_elements_than_a_table_is_for() {
        let bytes = 128 << 20;
        each_sort(None, |name, plan| {
            let (elements, most) = ((bytes / 4) as u32, plan(MAX_COUNT).max_count().0);
            assert!(reached_by_table(plan, most, bytes) >= most.min(elements), "{name}");
        });
    }
}
