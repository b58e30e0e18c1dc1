//! A sort without a device: its buffers between guard bytes, and its steps one after the other.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fastrand::Rng;
use vksort::__private::kernels::Module;
use vksort::__private::steps::{Dispatch, Groups, HostSort, HostStep, Memory as Buffer};
use vksort::__private::{Rewrite, abi, module_words};
use vksort::{SortRequest, StepName, ValueType};

use super::dispatch::{self, Device};
use super::invocation::descriptor;
use super::memory::{BASE, Memory};
use super::program::Program;
use vksort_testing::arena::{self, Sorted};

/// Bytes between buffers, and their alignment.
const GUARD: u32 = 256;
const GUARD_BYTE: u8 = 0xA7;

/// Bytes of elements that the kernels have loaded and stored.
#[derive(Clone, Debug, Default)]
pub struct Moved {
    pub all: u64,
    /// Those of the late workgroup of each dispatch, if the device has one.
    pub late: Vec<(StepName, u64)>,
}

/// A range in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    first: u32,
    size: u32,
}

/// A sort of `keys`, of which the device counts `counted` if it has the count.
pub struct Sort<'a> {
    pub request: &'a SortRequest,
    pub host: &'a HostSort,
    pub keys: &'a [u8],
    /// Bytes of a record, if these are bound as keys, and the keys are composed of them.
    pub stride: Option<u32>,
    /// Elements that the buffers have room for.
    pub capacity: u32,
    pub counted: Option<u32>,
    pub device: Device,
    /// Another program for a module.
    pub changed: Option<(Module, Arc<Program>)>,
    /// The step before which all keys change at the place that it writes to.
    pub disturbed: Option<&'static str>,
}

/// The programs of modules and constants that have been read.
pub fn program(dispatch: &Dispatch) -> Arc<Program> {
    type Key = (Module, Vec<u32>);
    static PROGRAMS: LazyLock<Mutex<HashMap<Key, Arc<Program>>>> = LazyLock::new(Mutex::default);
    let key = (dispatch.module, dispatch.constants.to_vec());
    // What cannot be read fails one draw.
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let made = programs.entry(key).or_insert_with(|| {
        let words = module_words(&dispatch.module).expect("the feature of every module is on");
        let rewrite = Rewrite { constants: Some(&dispatch.constants), ..Rewrite::default() };
        Arc::new(Program::new(&rewrite.apply(&words).expect("modules can be rewritten")))
    });
    Arc::clone(made)
}

impl Sort<'_> {
    /// Runs the sort; gives its result, and what it has moved. Bytes that it may not write are compared with those before.
    pub fn run(&self, rng: &mut Rng) -> Result<(Sorted, Moved), String> {
        let Sort { request, host, keys, .. } = self;
        let sizes = request.buffer_sizes(self.capacity);
        let [mut key_size, mut value_size] =
            [request.key.size_bytes(), request.value.size_bytes()].map(|size| size as usize);
        let mut wanted = request.key_output == vksort::KeyOutput::Sorted;
        let (mut keys_bytes, mut values, mut keys_out, mut values_out) =
            (sizes.keys.expect("there are keys"), sizes.values, sizes.keys_out, sizes.values_out);
        if let Some(stride) = self.stride {
            key_size = stride as usize;
            keys_bytes = u64::from(self.capacity) * u64::from(stride);
            wanted = request.value != ValueType::Index;
            values = None;
            if wanted {
                (keys_out, values_out, value_size) = (values_out.map(|_| keys_bytes), None, 0);
            }
        }
        let given = (keys.len() / key_size) as u32;
        let mut bytes = 0;
        let mut range = |size: u64| {
            bytes += GUARD;
            let first = bytes;
            bytes = (first + size as u32).next_multiple_of(GUARD);
            Range { first, size: (size as u32).next_multiple_of(4) }
        };
        let keys_range = range(keys_bytes);
        let [values_in, keys_out, values_out] = [values, keys_out, values_out].map(|size| size.map(&mut range));
        let scratch = range(host.scratch_bytes);
        let count = range(4);
        bytes += GUARD;

        let mut before = vec![GUARD_BYTE; bytes as usize];
        before[keys_range.first as usize..][..keys.len()].copy_from_slice(keys);
        if let (Some(range), ValueType::Bytes(_)) = (values_in, request.value) {
            let all = arena::values(0..given, value_size);
            before[range.first as usize..][..all.len()].copy_from_slice(&all);
        }
        if let Some(counted) = self.counted {
            before[count.first as usize..][..4].copy_from_slice(&counted.to_le_bytes());
        }
        let mut memory = Memory::new(&before, rng.fork());
        memory.forget(scratch.first, scratch.size);
        memory.may_race = self.disturbed.is_some();
        memory.ranges = [Some(keys_range), values_in, keys_out, values_out, Some(scratch)]
            .into_iter()
            .flatten()
            .map(|range| (range.first, range.size))
            .collect();
        let part = |range: vksort::__private::steps::ScratchRange| Range {
            first: scratch.first + range.offset as u32,
            size: range.size as u32,
        };
        let resolve = |buffer: Option<Buffer>| match buffer? {
            Buffer::Keys => Some(keys_range),
            Buffer::Values => values_in,
            Buffer::KeysOut => keys_out,
            Buffer::ValuesOut => values_out,
            Buffer::Scratch(range) => Some(part(range)),
        };
        let (counters, table) = (part(host.counters), part(host.table));
        memory.counters = [counters, table, count].map(|range| (range.first, range.size)).to_vec();

        let mut late = Vec::new();
        for step in &host.steps {
            let dispatch = match step {
                HostStep::Clear { bytes } => {
                    memory.clear(counters.first, *bytes as u32);
                    continue;
                }
                HostStep::Dispatch(dispatch) => dispatch,
            };
            let ([keys_from, keys_to], [values_from, values_to]) =
                (dispatch.places.keys.map(resolve), dispatch.places.values.map(resolve));
            let elements = [
                (abi::BINDING_KEYS_FROM, keys_from),
                (abi::BINDING_KEYS_TO, keys_to),
                (abi::BINDING_VALUES_FROM, values_from),
                (abi::BINDING_VALUES_TO, values_to),
            ];
            let others = [
                (abi::BINDING_COUNTERS, Some(counters)),
                (abi::BINDING_TABLE, Some(table)),
                (abi::BINDING_COUNT, self.counted.map(|_| count)),
            ];
            let bound = elements.iter().filter(|_| !dispatch.module.addressed).chain(&others);
            memory.descriptors = bound
                .filter_map(|(binding, range)| range.map(|range| (descriptor(*binding, 0), (range.first, range.size))))
                .collect();
            let address = |range: Option<Range>| range.map_or(0, |range| BASE + u64::from(range.first));
            let push = abi::Push {
                count_word: u32::from(self.counted.is_some()),
                addresses: [keys_from, keys_to, values_from, values_to].map(address),
                ..dispatch.push
            };
            let size = match dispatch.groups {
                Groups::Direct(groups) => {
                    let limit = host.shape.max_workgroups;
                    if groups <= limit { [groups, 1, 1] } else { [limit, groups.div_ceil(limit), 1] }
                }
                Groups::Counted(slot) => {
                    let first = counters.first + 4 * (abi::COUNTERS_ARGUMENTS + slot * abi::ARGUMENT_WORDS);
                    [0, 4, 8].map(|offset| memory.word(first + offset))
                }
            };
            if self.disturbed == Some(dispatch.name.kernel) {
                let sorted = self.counted.map_or(given, |counted| counted.min(given));
                if let Some(range) = keys_to {
                    memory.disturb(range.first, sorted * key_size as u32, rng);
                }
            }
            let program = match &self.changed {
                Some((module, program)) if *module == dispatch.module => Arc::clone(program),
                _ => program(dispatch),
            };
            let device = Device { lanes: dispatch.subgroup_size.unwrap_or(self.device.lanes), ..self.device };
            let words = &push.words(None)[..abi::Push::WORDS];
            let reason = |reason| format!("{}: {reason}", dispatch.name);
            if device.late.is_some() {
                let moved = dispatch::run_with_late(&program, &device, size, &mut memory, words, rng);
                late.push((dispatch.name, moved.map_err(reason)?));
            } else {
                dispatch::run(&program, &device, size, &mut memory, words, rng).map_err(reason)?;
            }
        }

        let mut after = memory.bytes();
        let sorted = self.counted.map_or(given, |counted| counted.min(given)) as usize;
        let in_place = request.placement == vksort::Placement::InPlace;
        let keys_target = keys_out.or(in_place.then_some(keys_range));
        let values_target = values_out.or(values_in);
        let take = |range: Range, size: usize| after[range.first as usize..][..sorted * size].to_vec();
        let result = Sorted {
            keys: keys_target.filter(|_| wanted).map(|range| take(range, key_size)),
            values: values_target.filter(|_| value_size > 0).map(|range| take(range, value_size)),
        };
        let written = [
            (keys_target, sorted * key_size),
            (values_target, sorted * value_size),
            (Some(scratch), scratch.size as usize),
        ];
        for (range, size) in written {
            if let Some(range) = range {
                let first = range.first as usize;
                after[first..][..size].copy_from_slice(&before[first..][..size]);
            }
        }
        match after.iter().zip(&before).position(|(after, before)| after != before) {
            Some(byte) => Err(format!("byte {byte} outside the sort's ranges was written")),
            None => Ok((result, Moved { all: memory.moved, late })),
        }
    }
}
