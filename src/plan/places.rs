//! The memory at the places of keys and values.

use super::{Ends, Plan, ScratchRange};

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

/// The memory that a step reads and writes; `None` for what no step uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Of the keys: from and to.
    pub keys: [Option<Memory>; 2],
    /// Of the values.
    pub values: [Option<Memory>; 2],
}

impl Plan {
    /// The memory of a step. A buffer that a visitor replaces is treated as memory.
    pub fn places(&self, ends: Ends) -> Places {
        let (request, layout, visits) = (&self.request, self.scratch(), self.shape.visits);
        let scratch = |range: ScratchRange| (range.size > 0).then_some(Memory::Scratch(range));
        // Records are bound as keys and move as values. The keys that are composed of them stay where they are composed, except in rounds,
        // whose kernels see one place for both.
        let composes = self.shape.fields.is_some();
        let keys = if composes { scratch(layout.composed) } else { Some(Memory::Keys) };
        let keys_stay = request.in_place() || composes && self.room().is_none();
        let keys_target = match (keys_stay, request.discards_keys() || visits.output) {
            (true, _) => keys,
            (false, true) => scratch(layout.keys_target),
            (false, false) => Some(Memory::KeysOut),
        };
        let values = Some(if composes { Memory::Keys } else { Memory::Values });
        let values_target = match request.in_place() {
            true => values,
            false if visits.output => scratch(layout.values_target),
            false if composes && request.value.is_read() => Some(Memory::KeysOut),
            false => Some(Memory::ValuesOut),
        };
        let (permutation, aside) = (scratch(layout.permutation), scratch(layout.aside));
        // Source, target and alternate.
        let keys = [keys, keys_target, scratch(layout.keys_alternate)];
        // In segments values move directly, however large.
        let sorted = match request.value.is_gathered() && self.shape.windows.is_none() {
            true => [None, permutation, scratch(layout.values_alternate)],
            false => [values, values_target, scratch(layout.values_alternate)],
        };
        // As in glsl/histogram/routes.glsl: in place, elements alternate from the target on; else they are there after all passes.
        let turns = |stay: bool, [source, target, alternate]: [Option<Memory>; 3]| {
            let to_target = !stay && self.shape.passes % 2 == 1;
            let (even, odd) = if to_target { (target, alternate) } else { (alternate, target) };
            match ends {
                Ends::Direct => [source, target],
                Ends::First => [source, even],
                Ends::Odd => [even, odd],
                Ends::Even => [odd, even],
                Ends::Back => [alternate, target],
                Ends::Gather | Ends::Aside | Ends::Compose => [None; 2],
            }
        };
        let values_stay = request.in_place() && !(request.value.sorts_index() && request.discards_keys());
        match ends {
            Ends::Gather => {
                let to = if request.in_place() { aside } else { values_target };
                Places { keys: [permutation, None], values: [values, to] }
            }
            Ends::Aside => Places { keys: [None; 2], values: [aside, values] },
            Ends::Compose => Places { keys: [None, keys[0]], values: [values, None] },
            _ => Places { keys: turns(keys_stay, keys), values: turns(values_stay, sorted) },
        }
    }
}
