//! What the suites about sorts in two phases share: their requests, and what counters tell of the way that a sort went.

use libtest_mimic::Failed;
use vksort::internals::abi;
use vksort::standalone::StandaloneSorter;
use vksort::{KeyOutput, Order, Placement, SortRequest, ValueType};

use super::arena::{Arena, Count};
use super::{assert_valid, gpu, seed, suite};

/// The counters of a sort that has ended.
pub struct Counters(Vec<u32>);

impl Counters {
    pub fn word(&self, at: u32) -> u32 {
        self.0[at as usize]
    }

    /// Passes that ran: those hand out a ticket for each tile.
    pub fn passes(&self, phase: u32) -> u32 {
        (0..abi::MAX_PASSES).filter(|pass| self.word(phase * abi::MAX_PASSES + pass) > 0).count() as u32
    }

    /// Workgroups of the step behind the first phase, of what completes it, and of the passes of a second one.
    pub fn groups(&self) -> [u32; 3] {
        [abi::ARGUMENTS_TIES, abi::ARGUMENTS_MEND, abi::ARGUMENTS_FALLBACK]
            .map(|slot| self.word(abi::COUNTERS_ARGUMENTS + slot * abi::ARGUMENT_WORDS))
    }
}

/// Every kind of elements, in and out of place.
pub fn requests(usual: SortRequest) -> Vec<SortRequest> {
    let mut requests = vec![usual, SortRequest { order: Order::Descending, ..usual }];
    for placement in [Placement::InPlace, Placement::OutOfPlace] {
        for value in [ValueType::U32, ValueType::Bytes(12), ValueType::Bytes(2), ValueType::Bytes(20), ValueType::Index]
        {
            requests.push(SortRequest { value, placement, ..usual });
        }
        for value in [ValueType::U32, ValueType::Index] {
            requests.push(SortRequest { value, placement, key_output: KeyOutput::Discarded, ..usual });
        }
    }
    let out = SortRequest { placement: Placement::OutOfPlace, ..usual };
    requests.extend([out, SortRequest { value: ValueType::Bytes(8), ..out }]);
    requests
}

/// Sorts each input, every other one with its count on the device, and has `check` say whether it went the expected way.
pub fn run<Way>(
    sorter: &StandaloneSorter,
    inputs: impl Iterator<Item = (&'static str, Vec<u8>, Way)>,
    check: impl Fn(&Counters, Way) -> Result<(), String>,
) -> Result<(), Failed> {
    let request = sorter.request();
    for (index, (name, keys, way)) in inputs.enumerate() {
        let count = (keys.len() as u64 / request.key.size_bytes()) as u32;
        let arena = Arena::new(&gpu(), sorter, count);
        let at = |what: String| Failed::from(format!("{name}, VKSORT_SEED={}: {what}", seed()));
        let given = if index % 2 == 1 { Count::Device(count) } else { Count::Host };
        suite::run_keys(request, &arena, &keys, given).map_err(at)?;
        check(&Counters(arena.counters()), way).map_err(at)?;
    }
    assert_valid(&gpu());
    Ok(())
}
