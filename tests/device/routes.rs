//! Routes: that every way through the places of a plan brings all elements where they belong, whichever digits are constant, and
//! that the device writes the same routes as the twin of its code.

use vksort::__private::ShapeDesc;
use vksort::__private::abi::*;
use vksort::__private::steps::{self, Dispatch, HostStep, Memory};
use vksort::{
    Algorithm, BitRange, Count, DeviceProfile, KeyOutput, KeyType, Order, Placement, SortRequest, SorterOptions,
    Tuning, ValueType, Visits,
};
use vksort_testing::arena::Arena;
use vksort_testing::patterns::{self, Pattern};
use vksort_testing::routes::Kind;
use vksort_testing::{Failed, Trial};
use vksort_testing::{assert_valid, gpu, oracle, seed, suite};

/// A sort by so many digits of 8 bits.
#[derive(Clone, Copy, Debug)]
struct Case {
    request: SortRequest,
    kind: Kind,
}

impl Case {
    fn tuning() -> Tuning {
        Tuning { digit_bits: 8, ..suite::small_blocks_of(&DeviceProfile::default()) }
    }
}

/// Every kind of sort with so many passes whose routes or places differ.
fn cases(key: KeyType, passes: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    let bits: BitRange = (0..8 * passes as u32).into();
    let requests = [Placement::InPlace, Placement::OutOfPlace].into_iter().flat_map(|placement| {
        [ValueType::None, ValueType::U32, ValueType::Index, ValueType::Bytes(20)].into_iter().flat_map(move |value| {
            [KeyOutput::Sorted, KeyOutput::Discarded].into_iter().map(move |key_output| {
                let request = SortRequest::new(key).value(value).placement(placement).key_output(key_output);
                request.bits(bits).algorithm(Algorithm::OneSweep)
            })
        })
    });
    for request in requests.filter(|request| request.check().is_ok()) {
        let kind = Kind {
            passes,
            in_place: request.placement == Placement::InPlace,
            has_values: request.value != ValueType::None,
            makes_values: matches!(request.value, ValueType::Index | ValueType::Bytes(20)),
            discards_keys: request.key_output == KeyOutput::Discarded,
            visits: false,
        };
        cases.push(Case { request, kind });
    }
    let visited: Vec<Case> = cases
        .iter()
        .filter(|case| !case.kind.in_place && case.request.value != ValueType::Bytes(20))
        .map(|case| Case { kind: Kind { visits: true, ..case.kind }, ..*case })
        .collect();
    cases.extend(visited);
    cases
}

fn masks(passes: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << passes).map(move |mask| (0..passes).map(|pass| mask >> pass & 1 == 1).collect())
}

/// Follows elements through the memory that the plan gives to each step, along the routes.
struct Walk<'a> {
    case: &'a Case,
    keys: Memory,
    /// The memory of values, or of the indices that move in their place; `None` before they are made.
    values: Option<Memory>,
    /// The digits that have been sorted by.
    digits: Vec<u32>,
    /// Whether a visitor has taken the elements.
    visited: bool,
}

impl Walk<'_> {
    fn start(case: &Case) -> Walk<'_> {
        let values = (case.kind.has_values && !case.kind.makes_values).then_some(Memory::Values);
        Walk { case, keys: Memory::Keys, values, digits: Vec::new(), visited: false }
    }

    /// Where a step writes: to another memory than the one that it reads, and not to the source out of place.
    fn written(&self, from: Option<Memory>, to: Option<Memory>) -> Memory {
        let to = to.expect("what is written has memory");
        assert!(from != Some(to), "elements are written where they are read");
        let source = [Memory::Keys, Memory::Values].contains(&to);
        assert!(self.case.kind.in_place || !source, "the source is written");
        to
    }

    /// Takes a pass or the move behind the passes, if it runs.
    fn take(&mut self, dispatch: &Dispatch, route: u32) {
        if route & ROUTE_RUNS == 0 {
            return;
        }
        let Kind { has_values, makes_values, discards_keys, .. } = self.case.kind;
        assert!(!self.visited, "something moves behind the visitor");
        let (keys, values) = (dispatch.places.keys, dispatch.places.values);
        let (copies, moves) = (route & ROUTE_COPIES != 0, route >> ROUTE_MOVES & 1);
        let makes = makes_values && dispatch.push.pass == 0;
        self.visited = route & ROUTE_VISITS != 0;
        let (takes_keys, takes_values) = match dispatch.name.kernel {
            "move" => (route & ROUTE_TAKES_KEYS != 0, route & ROUTE_TAKES_VALUES != 0),
            _ => (moves == MOVES_ALL, has_values),
        };
        if takes_keys || !copies {
            assert_eq!(keys[0], Some(self.keys), "keys are read where they are not");
        }
        if takes_values && !makes {
            assert_eq!(values[0], self.values, "values are read where they are not");
        }
        assert!(takes_keys || discards_keys || self.visited, "keys are lost");
        if takes_keys && !self.visited {
            self.keys = self.written(keys[0], keys[1]);
        }
        if takes_values && !self.visited {
            self.values = Some(self.written(values[0].filter(|_| !makes), values[1]));
        }
        if !copies {
            self.digits.push(route >> ROUTE_DIGIT & 63);
        }
    }

    /// Takes a gather of values, by the permutation or in order.
    fn gather(&mut self, dispatch: &Dispatch, gathered: &mut Memory) {
        let Dispatch { places, push, .. } = dispatch;
        assert_eq!(places.values[0], Some(*gathered), "values are gathered where they are not");
        let Own::Gather { in_order, .. } = push.own else { panic!("{push:?}") };
        assert!(in_order != 0 || places.keys[0] == self.values, "the permutation is not where it is read");
        *gathered = places.values[1].expect("gathered values have memory");
    }

    fn finish(&self, needed: &[bool], gathered: Memory) {
        let Kind { passes, in_place, has_values, makes_values, discards_keys, visits, .. } = self.case.kind;
        let mut expected: Vec<u32> = (0..passes as u32).filter(|digit| needed[*digit as usize]).collect();
        if expected.is_empty() && (!in_place || makes_values) {
            expected.push(passes as u32 - 1);
        }
        assert_eq!(self.digits, expected, "the digits that vary are sorted by, the lowest first");
        assert_eq!(self.visited, visits, "the visitor takes the elements once");
        if visits {
            return;
        }
        let (keys, values) =
            if in_place { (Memory::Keys, Memory::Values) } else { (Memory::KeysOut, Memory::ValuesOut) };
        assert!(discards_keys || self.keys == keys, "keys end at {:?}", self.keys);
        let ends = if self.case.request.value == ValueType::Bytes(20) { Some(gathered) } else { self.values };
        assert!(!has_values || ends == Some(values), "values end at {ends:?}");
    }
}

/// Runs a check and names the case that fails it.
fn check(case: impl std::fmt::Debug, check: impl FnOnce() + std::panic::UnwindSafe) -> Result<(), Failed> {
    std::panic::catch_unwind(check).map_err(|_| format!("the case is {case:?}").into())
}

/// All digits that vary, for up to eight passes: the places that the plan gives to each step go with the routes.
fn every_mask_ends_at_the_target() -> Result<(), Failed> {
    let (profile, count) = (DeviceProfile::default(), 100_000);
    for passes in 1..=8 {
        for case in cases(KeyType::U64, passes) {
            let tuning = Case::tuning();
            let visits = Visits::NONE.output(case.kind.visits);
            let desc = ShapeDesc { visits, ..ShapeDesc::new(&profile, &tuning, &case.request, Algorithm::OneSweep) };
            let sort = steps::of(&desc, count, Count::Host(count))?;
            for needed in masks(passes) {
                check((case, &needed), || {
                    let routes = case.kind.routes(&needed);
                    let mut walk = Walk::start(&case);
                    let mut gathered = Memory::Values;
                    for step in &sort.steps {
                        let HostStep::Dispatch(dispatch) = step else { continue };
                        match dispatch.name.kernel {
                            "histogram" => assert_eq!(dispatch.places.keys[0], Some(Memory::Keys)),
                            "gather" => walk.gather(dispatch, &mut gathered),
                            _ => walk.take(dispatch, routes[dispatch.push.pass as usize]),
                        }
                    }
                    let moves = sort
                        .steps
                        .iter()
                        .any(|step| matches!(step, HostStep::Dispatch(dispatch) if dispatch.name.kernel == "move"));
                    assert!(routes[passes] == 0 || moves, "no step takes the last route");
                    walk.finish(&needed, gathered);
                })?;
            }
        }
    }
    Ok(())
}

/// Sorts keys of which some digits are constant, and compares the routes on the device with the twin's.
fn the_device_writes_the_same(case: Case) -> Result<(), Failed> {
    let Case { request, kind } = case;
    let tuning = Tuning { digit_bits: 8, ..suite::small_blocks() };
    let sorter = gpu().sorter(&request, &SorterOptions::default().tuning(tuning))?;
    let count = 1_500;
    let arena = Arena::new(&gpu(), &sorter, count);
    let mut rng = fastrand::Rng::with_seed(seed());
    for needed in masks(kind.passes) {
        let mask = needed.iter().rev().fold(0u32, |mask, needed| mask << 8 | if *needed { 0xFF } else { 0 });
        let keys: Vec<u32> = (0..count).map(|_| rng.u32(..) & mask).collect();
        let at = |what: String| Failed::from(format!("needed {needed:?}, VKSORT_SEED={}: {what}", seed()));
        suite::run_keys(&request, &arena, bytemuck::cast_slice(&keys), vksort_testing::arena::Count::Host)
            .map_err(at)?;
        let found = arena.counters()[COUNTERS_ROUTES as usize..][..=kind.passes].to_vec();
        let expected = kind.routes(&needed);
        if found != expected {
            return Err(at(format!("routes are {found:x?}, those of the twin {expected:x?}")));
        }
    }
    assert_valid(&gpu());
    Ok(())
}

/// Sorts keys that are in order, which takes no pass, and then keys of which two neighbours are not.
fn keys_in_order(request: SortRequest) -> Result<(), Failed> {
    let sorter = gpu().sorter(&request, &SorterOptions::default().tuning(suite::small_blocks()))?;
    let (count, size) = (5_003, request.key.size_bytes() as usize);
    let arena = Arena::new(&gpu(), &sorter, count);
    let mut rng = fastrand::Rng::with_seed(seed());
    let uniform = patterns::generate(Pattern::Uniform, request.key, count as usize, seed());
    let keys = oracle::gather(&uniform, size, &oracle::argsort(&request, &uniform));
    let run = |keys: &[u8]| -> Result<usize, Failed> {
        let at = |what: String| Failed::from(format!("{request}, VKSORT_SEED={}: {what}", seed()));
        suite::run_keys(&request, &arena, keys, vksort_testing::arena::Count::Host).map_err(at)?;
        let routes = &arena.counters()[COUNTERS_ROUTES as usize..COUNTERS_ARGUMENTS as usize - 2];
        Ok(routes.iter().filter(|route| **route & ROUTE_RUNS != 0).count())
    };
    // Out of place, and to make indices, one pass moves the elements, and perhaps a copy brings them to the target.
    let moves = request.placement == Placement::OutOfPlace || request.value == ValueType::Index;
    let (passes, allowed) = (run(&keys)?, if moves { 1..=2 } else { 0..=0 });
    if !allowed.contains(&passes) {
        return Err(format!("{request}: keys in order take {passes} passes, allowed are {allowed:?}").into());
    }
    // The ends of vectors, workgroups and parts, and the last key.
    let places = [0, 1, 3, 4, 7, 63, 64, 255, 256, 1_023, 1_024, count as usize - 2];
    for place in places.into_iter().chain(std::iter::repeat_with(|| rng.usize(..count as usize - 1)).take(12)) {
        let mut keys = keys.clone();
        let (before, after) = keys[place * size..][..2 * size].split_at_mut(size);
        before.swap_with_slice(after);
        run(&keys)?;
    }
    assert_valid(&gpu());
    Ok(())
}

/// For each key type, with windows, values and placements that take turns.
fn requests_in_order() -> impl Iterator<Item = SortRequest> {
    let values = [ValueType::None, ValueType::U32, ValueType::Index];
    KeyType::ALL.iter().enumerate().flat_map(move |(index, &key)| {
        [Order::Ascending, Order::Descending].into_iter().enumerate().map(move |(turn, order)| {
            let placement = [Placement::InPlace, Placement::OutOfPlace][(index + turn) % 2];
            let (value, whole) = (values[(index / 2 + turn) % 3], SortRequest::new(key));
            let bits = if index % 3 == 0 { (1..key.bits() - 1).into() } else { whole.bits };
            whole.value(value).order(order).placement(placement).bits(bits).algorithm(Algorithm::OneSweep)
        })
    })
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("every_mask_ends_at_the_target", every_mask_ends_at_the_target)];
    for passes in [3, 4] {
        // Those with a visitor are compared where there is one: crates/visitors/tests/visitors/sorts.rs sorts by them.
        for case in cases(KeyType::U32, passes).into_iter().filter(|case| !case.kind.visits) {
            let name = format!("device/{passes}-passes/{}", suite::name(&case.request));
            trials.push(Trial::test(name, move || the_device_writes_the_same(case)));
        }
    }
    trials.extend(
        requests_in_order()
            .filter(|request| request.check().is_ok())
            .map(|request| Trial::test(format!("in-order/{}", suite::name(&request)), move || keys_in_order(request))),
    );
    trials
}
