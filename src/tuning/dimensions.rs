//! In which ways tunings can differ: the dimensions of the search, each with the values worth trying.

use super::{RankMethod, Tuning};
use crate::profile::DeviceProfile;

/// One way in which tunings can differ.
pub(crate) struct Dimension {
    /// The field, or what is traded.
    pub name: &'static str,
    /// A tuning's value in this dimension.
    pub show: fn(&Tuning) -> String,
    /// The tuning itself among those that differ from it in this dimension alone, in order.
    pub rungs: fn(&Tuning, &DeviceProfile) -> Vec<Tuning>,
    /// Whether values say nothing about their neighbours, so that all are tried.
    pub unordered: bool,
}

impl Dimension {
    const fn ordered(
        name: &'static str,
        show: fn(&Tuning) -> String,
        rungs: fn(&Tuning, &DeviceProfile) -> Vec<Tuning>,
    ) -> Dimension {
        Dimension { name, show, rungs, unordered: false }
    }

    const fn unordered(
        name: &'static str,
        show: fn(&Tuning) -> String,
        rungs: fn(&Tuning, &DeviceProfile) -> Vec<Tuning>,
    ) -> Dimension {
        Dimension { name, show, rungs, unordered: true }
    }
}

/// From GPUs, which hold items in registers, to software drivers, which do not.
const ITEMS: [u32; 26] =
    [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192];
const INVOCATIONS: [u32; 13] = [8, 16, 32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024];

/// What decides most comes first: the search may run out of time.
pub(crate) const ALL: &[Dimension] = &[
    Dimension::ordered(
        "workgroup_size",
        |t| t.workgroup_size.to_string(),
        |t, device| {
            let most = device.max_workgroup_invocations;
            let sizes = INVOCATIONS.into_iter().filter(|size| *size <= most);
            numbers(t, sizes, |t| t.workgroup_size, |t, number| t.workgroup_size = number)
        },
    ),
    Dimension::ordered(
        "items_keys",
        |t| t.items_keys.to_string(),
        |t, _| numbers(t, ITEMS, |t| t.items_keys, |t, number| t.items_keys = number),
    ),
    Dimension::ordered(
        "items_pairs",
        |t| t.items_pairs.to_string(),
        |t, _| numbers(t, ITEMS, |t| t.items_pairs, |t, number| t.items_pairs = number),
    ),
    Dimension::unordered(
        "rank",
        |t| format!("{:?}", t.rank).to_lowercase(),
        |t, _| RankMethod::ALL.iter().map(|rank| Tuning { rank: *rank, ..t.clone() }).collect(),
    ),
    Dimension::unordered(
        "digit_bits",
        |t| t.digit_bits.to_string(),
        |t, _| numbers(t, 8..=11, |t| t.digit_bits, |t, number| t.digit_bits = number),
    ),
    Dimension::unordered(
        "early_counts",
        |t| t.early_counts.to_string(),
        |t, _| switch(|early_counts| Tuning { early_counts, ..t.clone() }),
    ),
    Dimension::unordered(
        "subgroup_size",
        |t| t.subgroup_size.map_or("default".into(), |size| size.to_string()),
        |t, device| {
            let (least, most) = device.subgroup_range;
            let sizes = [4, 8, 16, 32, 64, 128].into_iter().filter(|size| (least..=most).contains(size));
            // Where it cannot be asked for, the default is all there is.
            let sizes = sizes.filter(|_| least < most).map(Some);
            let mut rungs: Vec<Option<u32>> = [None].into_iter().chain(sizes).collect();
            if !rungs.contains(&t.subgroup_size) {
                rungs.push(t.subgroup_size);
            }
            rungs.into_iter().map(|subgroup_size| Tuning { subgroup_size, ..t.clone() }).collect()
        },
    ),
    Dimension::ordered(
        "look_back_words",
        |t| t.look_back_words.to_string(),
        |t, _| numbers(t, [1, 2, 4, 8], |t| t.look_back_words, |t, number| t.look_back_words = number),
    ),
    Dimension::unordered(
        "unordered",
        |t| t.unordered.to_string(),
        |t, _| switch(|unordered| Tuning { unordered, ..t.clone() }),
    ),
    Dimension::ordered(
        "workgroup_size x items",
        |t| format!("{} x {} keys, {} pairs", t.workgroup_size, t.items_keys, t.items_pairs),
        |t, _| traded(t),
    ),
    Dimension::unordered(
        "look_back",
        |t| t.look_back.to_string(),
        |t, _| switch(|look_back| Tuning { look_back, ..t.clone() }),
    ),
    Dimension::ordered(
        "max_blocks",
        |t| t.max_blocks.to_string(),
        |t, _| numbers(t, [1, 2, 4, 8, 16], |t| t.max_blocks, |t, number| t.max_blocks = number),
    ),
    Dimension::ordered(
        "min_tiles",
        |t| t.min_tiles.to_string(),
        |t, _| {
            let tiles = (0..=12).map(|log2| 1 << log2);
            numbers(t, tiles, |t| t.min_tiles, |t, number| t.min_tiles = number)
        },
    ),
    Dimension::ordered(
        "histogram_items",
        |t| t.histogram_items.to_string(),
        |t, _| numbers(t, ITEMS, |t| t.histogram_items, |t, number| t.histogram_items = number),
    ),
    Dimension::ordered(
        "histogram_workgroup_size",
        |t| t.histogram_workgroup_size.to_string(),
        |t, device| {
            let most = device.max_workgroup_invocations;
            let sizes = INVOCATIONS.into_iter().filter(|size| *size <= most);
            numbers(t, sizes, |t| t.histogram_workgroup_size, |t, number| t.histogram_workgroup_size = number)
        },
    ),
    Dimension::ordered(
        "single_items",
        |t| t.single_items.to_string(),
        |t, _| numbers(t, ITEMS, |t| t.single_items, |t, number| t.single_items = number),
    ),
    Dimension::unordered(
        "merge_runs",
        |t| t.merge_runs.to_string(),
        |t, _| switch(|merge_runs| Tuning { merge_runs, ..t.clone() }),
    ),
    Dimension::unordered(
        "unroll",
        |t| t.unroll.to_string(),
        |t, device| match device.is_cpu {
            // They take minutes to compile hundreds of items unrolled, and run them no faster.
            true => vec![t.clone()],
            false => switch(|unroll| Tuning { unroll, ..t.clone() }),
        },
    ),
    Dimension::unordered(
        "decide_apart",
        // It is a matter of correctness on devices whose row has it.
        |t| t.decide_apart.to_string(),
        |t, _| {
            if t.decide_apart { vec![t.clone()] } else { switch(|decide_apart| Tuning { decide_apart, ..t.clone() }) }
        },
    ),
    Dimension::ordered(
        "polls",
        |t| t.polls.to_string(),
        |t, _| numbers(t, (0..=12).step_by(2).map(|log2| 1 << log2), |t| t.polls, |t, number| t.polls = number),
    ),
    Dimension::ordered(
        "scan_workgroup_size",
        |t| t.scan_workgroup_size.to_string(),
        |t, device| {
            let most = device.max_workgroup_invocations;
            let sizes = INVOCATIONS.into_iter().filter(|size| *size <= most);
            numbers(t, sizes, |t| t.scan_workgroup_size, |t, number| t.scan_workgroup_size = number)
        },
    ),
];

/// Tunings with these numbers in a field, and its own number among them.
fn numbers(
    tuning: &Tuning,
    numbers: impl IntoIterator<Item = u32>,
    get: fn(&Tuning) -> u32,
    set: fn(&mut Tuning, u32),
) -> Vec<Tuning> {
    let mut numbers: Vec<u32> = numbers.into_iter().chain([get(tuning)]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let with = |number| {
        let mut changed = tuning.clone();
        set(&mut changed, number);
        changed
    };
    numbers.into_iter().map(with).collect()
}

fn switch(with: impl Fn(bool) -> Tuning) -> Vec<Tuning> {
    [false, true].map(with).into()
}

/// More invocations with fewer items each, or the other way round: blocks stay as large as they are.
fn traded(tuning: &Tuning) -> Vec<Tuning> {
    let t = tuning;
    let smaller = [8, 4, 2].into_iter().filter(|by| t.workgroup_size.is_multiple_of(*by)).map(|by| Tuning {
        workgroup_size: t.workgroup_size / by,
        items_keys: t.items_keys.saturating_mul(by),
        items_pairs: t.items_pairs.saturating_mul(by),
        ..t.clone()
    });
    let larger = [2, 4, 8]
        .into_iter()
        .filter(|by| t.items_keys.is_multiple_of(*by) && t.items_pairs.is_multiple_of(*by))
        .map(|by| Tuning {
            workgroup_size: t.workgroup_size.saturating_mul(by),
            items_keys: t.items_keys / by,
            items_pairs: t.items_pairs / by,
            ..t.clone()
        });
    // What leaves the range of a field would not be taken from a file.
    smaller.chain([t.clone()]).chain(larger).filter(|rung| rung == t || rung.check().is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dimension_holds_the_tuning_and_differs_from_it_in_itself() {
        for subgroup_range in [(8, 8), (8, 32)] {
            let device = DeviceProfile { subgroup_range, ..DeviceProfile::default() };
            for vendor_id in [crate::profile::vendor::NVIDIA, crate::profile::vendor::AMD, 0] {
                let tuning = Tuning::for_device(&DeviceProfile { vendor_id, ..device.clone() });
                // A number that no ladder has.
                let odd = Tuning { workgroup_size: 40, polls: 77, subgroup_size: Some(16), ..tuning.clone() };
                for tuning in [tuning, odd] {
                    for dimension in ALL {
                        let rungs = (dimension.rungs)(&tuning, &device);
                        assert_eq!(rungs.iter().filter(|rung| **rung == tuning).count(), 1, "{}", dimension.name);
                        let mut shown: Vec<String> = rungs.iter().map(dimension.show).collect();
                        shown.sort();
                        shown.dedup();
                        assert_eq!(shown.len(), rungs.len(), "{}: values are shown alike", dimension.name);
                        assert!(rungs.iter().all(|rung| rung.check().is_ok()), "{}", dimension.name);
                    }
                }
            }
        }
    }

    #[test]
    fn subgroup_sizes_are_those_that_can_be_asked_for() {
        let rungs = |subgroup_range| {
            let device = DeviceProfile { subgroup_range, ..DeviceProfile::default() };
            let subgroup = ALL.iter().find(|dimension| dimension.name == "subgroup_size").unwrap();
            let rungs = (subgroup.rungs)(&Tuning::for_device(&device), &device);
            rungs.iter().map(|rung| rung.subgroup_size).collect::<Vec<_>>()
        };
        assert_eq!(rungs((32, 32)), [None]);
        assert_eq!(rungs((32, 64)), [None, Some(32), Some(64)]);
        assert_eq!(rungs((1, 16)), [None, Some(4), Some(8), Some(16)]);
    }

    #[test]
    fn blocks_keep_their_size_where_invocations_are_traded_for_items() {
        let tuning =
            Tuning { workgroup_size: 256, items_keys: 16, items_pairs: 8, ..Tuning::for_device(&Default::default()) };
        let rungs = traded(&tuning);
        assert_eq!(rungs.len(), 7);
        assert!(rungs.iter().all(|rung| rung.workgroup_size * rung.items_keys == 4096), "{rungs:?}");
        assert!(rungs.iter().all(|rung| rung.workgroup_size * rung.items_pairs == 2048), "{rungs:?}");
    }
}
