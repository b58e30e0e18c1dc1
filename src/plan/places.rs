//! The memory at the places of keys and values.

use super::{Plan, ScratchRange, ValueSet};

/// Memory of a sort: one of the caller's buffers, or a range of scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The buffer `keys`.
    Keys,
    /// The buffer `values`.
    Values,
    /// The buffer `keys_out`.
    KeysOut,
    /// The buffer `values_out`.
    ValuesOut,
    /// A range of the buffer `scratch`.
    Scratch(ScratchRange),
}

/// The memory at each place, by the constants `PLACE_*`; `None` for a place that no pass uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Of the keys.
    pub keys: [Option<Memory>; 3],
    /// Of the values, by [`ValueSet`].
    pub values: [[Option<Memory>; 3]; ValueSet::ALL.len()],
}

impl Plan {
    /// The memory at each place. A buffer that a visitor replaces counts as memory.
    pub fn places(&self) -> Places {
        let (request, layout, visits) = (&self.request, self.scratch(), self.shape.visits);
        let scratch = |range: ScratchRange| (range.size > 0).then_some(Memory::Scratch(range));
        let keys = Some(Memory::Keys);
        let keys_target = match (request.in_place(), request.discards_keys() || visits.output) {
            (true, _) => keys,
            (false, true) => scratch(layout.keys_target),
            (false, false) => Some(Memory::KeysOut),
        };
        let values = Some(Memory::Values);
        let values_target = match request.in_place() {
            true => values,
            false if visits.output => scratch(layout.values_target),
            false => Some(Memory::ValuesOut),
        };
        let (permutation, aside) = (scratch(layout.permutation), scratch(layout.aside));
        let alternate = scratch(layout.values_alternate);
        let sorted = match request.value.is_gathered() {
            true => [None, permutation, alternate],
            false => [values, values_target, alternate],
        };
        let data = [values, if request.in_place() { aside } else { values_target }, permutation];
        Places {
            keys: [keys, keys_target, scratch(layout.keys_alternate)],
            values: [sorted, data, [aside, values, None]],
        }
    }
}
