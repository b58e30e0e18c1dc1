//! The dimensions of the search for a tuning: fields to vary, each with its values to try.

use vksort::{Ballot, DeviceProfile, RankMethod, Tuning};

/// A field of the tuning, or a trade between fields.
#[derive(Debug)]
pub struct Dimension {
    /// The field, or the traded fields.
    pub name: &'static str,
    /// Whether neighbouring values are unrelated, so that the search tries all of them.
    pub unordered: bool,
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// A field, and the numbers to try. The tuning's own number is always tried.
    Numbers(fn(&mut Tuning) -> &mut u32, fn(&DeviceProfile) -> Vec<u32>),
    Switch(fn(&mut Tuning) -> &mut bool),
    /// How a tuning's value is shown, and its rungs.
    Other(fn(&Tuning) -> String, fn(&Tuning, &DeviceProfile) -> Vec<Tuning>),
}

const fn numbers(
    name: &'static str,
    field: fn(&mut Tuning) -> &mut u32,
    ladder: fn(&DeviceProfile) -> Vec<u32>,
) -> Dimension {
    Dimension { name, unordered: false, values: Values::Numbers(field, ladder) }
}

const fn switch(name: &'static str, field: fn(&mut Tuning) -> &mut bool) -> Dimension {
    Dimension { name, unordered: true, values: Values::Switch(field) }
}

const fn other(
    name: &'static str,
    show: fn(&Tuning) -> String,
    rungs: fn(&Tuning, &DeviceProfile) -> Vec<Tuning>,
) -> Dimension {
    Dimension { name, unordered: true, values: Values::Other(show, rungs) }
}

/// Dimensions with the largest effect come first, as the search may run out of time.
pub const ALL: &[Dimension] = &[
    numbers("workgroup_size", |t| &mut t.workgroup_size, invocations),
    numbers("items_keys", |t| &mut t.items_keys, items),
    numbers("items_pairs", |t| &mut t.items_pairs, items),
    other(
        "rank",
        |t| format!("{:?}", t.rank).to_lowercase(),
        |t, _| RankMethod::ALL.iter().map(|rank| Tuning { rank: *rank, ..t.clone() }).collect(),
    ),
    Dimension { unordered: true, ..numbers("digit_bits", |t| &mut t.digit_bits, |_| (8..=11).collect()) },
    switch("few_registers", |t| &mut t.few_registers),
    other(
        "ballot",
        |t| format!("{:?}", t.ballot),
        |t, _| Ballot::ALL.iter().map(|ballot| Tuning { ballot: *ballot, ..t.clone() }).collect(),
    ),
    other("subgroup_size", |t| size_or_default(t.subgroup_size), subgroups),
    switch("unordered", |t| &mut t.unordered),
    Dimension {
        unordered: false,
        ..other(
            "workgroup_size x items",
            |t| format!("{} x {} keys, {} pairs", t.workgroup_size, t.items_keys, t.items_pairs),
            traded,
        )
    },
    switch("look_back", |t| &mut t.look_back),
    numbers("min_tiles", |t| &mut t.min_tiles, |_| (0..=12).map(|log2| 1 << log2).collect()),
    numbers("histogram_items", |t| &mut t.histogram_items, items),
    numbers("histogram_workgroup_size", |t| &mut t.histogram_workgroup_size, invocations),
    Dimension {
        unordered: false,
        ..other("single_workgroup_size", |t| size_or_default(t.single_workgroup_size), single_workgroups)
    },
    numbers("single_items", |t| &mut t.single_items, items),
    switch("merge_runs", |t| &mut t.merge_runs),
    numbers("polls", |t| &mut t.polls, |_| (0..=12).step_by(2).map(|log2| 1 << log2).collect()),
    numbers("scan_workgroup_size", |t| &mut t.scan_workgroup_size, invocations),
];

impl Dimension {
    /// A tuning's value in this dimension.
    pub fn show(&self, tuning: &Tuning) -> String {
        match self.values {
            Values::Numbers(field, _) => field(&mut tuning.clone()).to_string(),
            Values::Switch(field) => field(&mut tuning.clone()).to_string(),
            Values::Other(show, _) => show(tuning),
        }
    }

    /// The tunings that differ only in this dimension, with the tuning itself among them, in order.
    pub fn rungs(&self, tuning: &Tuning, device: &DeviceProfile) -> Vec<Tuning> {
        let with = |change: &dyn Fn(&mut Tuning)| {
            let mut changed = tuning.clone();
            change(&mut changed);
            changed
        };
        match self.values {
            Values::Numbers(field, ladder) => {
                let mut numbers = ladder(device);
                numbers.push(*field(&mut tuning.clone()));
                numbers.sort_unstable();
                numbers.dedup();
                numbers.into_iter().map(|number| with(&|t| *field(t) = number)).collect()
            }
            Values::Switch(field) => [false, true].map(|on| with(&|t| *field(t) = on)).into(),
            Values::Other(_, rungs) => rungs(tuning, device),
        }
    }
}

/// Small numbers are for GPUs, which hold items in registers, and large ones for software drivers.
fn items(_: &DeviceProfile) -> Vec<u32> {
    vec![
        2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192,
    ]
}

fn invocations(device: &DeviceProfile) -> Vec<u32> {
    let sizes = [8, 16, 32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024];
    sizes.into_iter().filter(|size| *size <= device.max_workgroup_invocations).collect()
}

fn size_or_default(size: Option<u32>) -> String {
    size.map_or("default".into(), |size| size.to_string())
}

/// As many invocations as a tile has (`None`), and other numbers.
fn single_workgroups(tuning: &Tuning, device: &DeviceProfile) -> Vec<Tuning> {
    if tuning.rank == RankMethod::Private {
        return vec![tuning.clone()]; // the workgroup is one subgroup
    }
    sizes_and_default(invocations(device), tuning.single_workgroup_size)
        .map(|single_workgroup_size| Tuning { single_workgroup_size, ..tuning.clone() })
        .collect()
}

/// The default, the sizes, and the tuning's own, in order.
fn sizes_and_default(sizes: Vec<u32>, own: Option<u32>) -> impl Iterator<Item = Option<u32>> {
    let mut sizes: Vec<_> = sizes.into_iter().map(Some).chain([None, own]).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter()
}

/// The default, and the sizes that the device can require, if any.
fn subgroups(tuning: &Tuning, device: &DeviceProfile) -> Vec<Tuning> {
    let (least, most) = device.subgroup_range;
    let sizes = [4, 8, 16, 32, 64, 128].into_iter().filter(|size| least < most && (least..=most).contains(size));
    sizes_and_default(sizes.collect(), tuning.subgroup_size)
        .map(|subgroup_size| Tuning { subgroup_size, ..tuning.clone() })
        .collect()
}

/// More invocations with fewer items each, or fewer with more. The size of a block stays the same.
fn traded(t: &Tuning, _: &DeviceProfile) -> Vec<Tuning> {
    let smaller = [8, 4, 2].into_iter().filter(|by| t.workgroup_size.is_multiple_of(*by)).map(|by| Tuning {
        workgroup_size: t.workgroup_size / by,
        items_keys: t.items_keys.saturating_mul(by),
        items_pairs: t.items_pairs.saturating_mul(by),
        ..t.clone()
    });
    let divides = |by: &u32| t.items_keys.is_multiple_of(*by) && t.items_pairs.is_multiple_of(*by);
    let larger = [2, 4, 8].into_iter().filter(divides).map(|by| Tuning {
        workgroup_size: t.workgroup_size.saturating_mul(by),
        items_keys: t.items_keys / by,
        items_pairs: t.items_pairs / by,
        ..t.clone()
    });
    // A profile could not hold a number out of range.
    smaller.chain([t.clone()]).chain(larger).filter(|rung| rung == t || rung.check().is_ok()).collect()
}
