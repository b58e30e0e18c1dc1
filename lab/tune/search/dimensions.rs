//! The dimensions of the search for a tuning: its knobs, each with the values to try, and trades between knobs.

use vksort::{DeviceProfile, Knob, RankMethod, Scale, Tuning};

/// A knob of the tuning, or a trade between knobs.
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    /// The knob, or the traded knobs.
    pub name: &'static str,
    /// Whether neighbouring values are unrelated, so that the search tries all of them.
    pub unordered: bool,
    /// The knob; `None` for the trade of invocations for items.
    knob: Option<&'static Knob>,
}

/// Knobs of sorts of which the search measures none: those of segments, and of few elements in tiles.
pub const OF_OTHERS: [&str; 4] = ["segment_items", "network_longest", "sweeps_rows", "few_items"];

/// The dimensions with the largest effect come first, as the search may run out of time.
pub fn all() -> impl Iterator<Item = Dimension> {
    let trade = Dimension { name: "workgroup_size x items", unordered: false, knob: None };
    let searched = Tuning::KNOBS.iter().filter(|knob| !OF_OTHERS.contains(&knob.name));
    let knobs = searched.map(|knob| Dimension {
        name: knob.name,
        unordered: matches!(knob.scale, Scale::Switch | Scale::Methods(_) | Scale::Lanes | Scale::DigitBits),
        knob: Some(knob),
    });
    // The trade comes before what changes no block.
    knobs.flat_map(move |knob| [(knob.name == "look_back").then_some(trade), Some(knob)]).flatten()
}

impl Dimension {
    /// A tuning's value in this dimension.
    pub fn show(&self, tuning: &Tuning) -> String {
        match self.knob {
            Some(knob) => knob.show(tuning),
            None => format!("{} x {} keys, {} pairs", tuning.workgroup_size, tuning.items_keys, tuning.items_pairs),
        }
    }

    /// The tunings that differ only in this dimension, with the tuning itself among them, in order.
    pub fn rungs(&self, tuning: &Tuning, device: &DeviceProfile) -> Vec<Tuning> {
        let Some(knob) = self.knob else { return traded(tuning) };
        // With private counters the single workgroup is one subgroup.
        if knob.name == "single_workgroup_size" && tuning.rank == RankMethod::Private {
            return vec![tuning.clone()];
        }
        let mut numbers: Vec<_> = ladder(knob.scale, device).into_iter().map(Some).collect();
        numbers.push(knob.get(tuning));
        numbers.extend(knob.optional.then_some(None));
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| knob.with(tuning, number)).collect()
    }
}

/// The numbers to try. Small items are for GPUs, which hold them in registers, and large ones for software drivers.
fn ladder(scale: Scale, device: &DeviceProfile) -> Vec<u32> {
    match scale {
        Scale::Invocations => {
            let sizes = [8, 16, 32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024];
            sizes.into_iter().filter(|size| *size <= device.max_workgroup_invocations).collect()
        }
        Scale::Items => vec![
            2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096,
            8192,
        ],
        // Sizes that the device can require, if any.
        Scale::Lanes => {
            let (least, most) = device.subgroup_range;
            let sizes = [4, 8, 16, 32, 64, 128].into_iter();
            sizes.filter(|size| least < most && (least..=most).contains(size)).collect()
        }
        Scale::DigitBits => (8..=11).collect(),
        Scale::Tiles => (0..=12).map(|log2| 1 << log2).collect(),
        Scale::Polls => (0..=12).step_by(2).map(|log2| 1 << log2).collect(),
        Scale::Switch => vec![0, 1],
        Scale::Methods(names) => (0..names.len() as u32).collect(),
        _ => Vec::new(),
    }
}

/// More invocations with fewer items each, or fewer with more. The size of a block stays the same.
fn traded(t: &Tuning) -> Vec<Tuning> {
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
