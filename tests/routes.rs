//! Routes: that every way through the places brings all elements where they belong, whichever digits are constant, and that
//! the device writes the same routes as the twin of its code.

mod common;

use common::arena::Arena;
use common::routes::Kind;
use common::{assert_valid, gpu, seed, suite};
use libtest_mimic::{Failed, Trial};
use vksort::internals::abi::*;
use vksort::{Algorithm, KeyOutput, KeyType, Placement, SortRequest, SorterOptions, Tuning, ValueType};

/// Every kind of sort with so many passes whose routes differ.
fn kinds(passes: usize) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for in_place in [true, false] {
        for (has_values, makes_values) in [(false, false), (true, false), (true, true)] {
            for (discards_keys, joins) in [(false, false), (true, false), (true, true)] {
                if (has_values || !discards_keys) && (makes_values || !joins) {
                    for visits in [false, true] {
                        if !(visits && in_place) {
                            let kind =
                                Kind { passes, in_place, has_values, makes_values, discards_keys, joins, visits };
                            kinds.push(kind);
                        }
                    }
                }
            }
        }
    }
    kinds
}

fn masks(passes: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << passes).map(move |mask| (0..passes).map(|pass| mask >> pass & 1 == 1).collect())
}

fn field(route: u32, at: u32) -> u32 {
    route >> at & 3
}

/// Follows elements along routes. In place, source and target are one memory.
struct Walk<'a> {
    kind: &'a Kind,
    keys: u32,
    values: u32,
    ranked: u32,
    last_moves: u32,
    /// Whether a visitor has taken the elements.
    visited: bool,
}

impl Walk<'_> {
    fn start(kind: &Kind) -> Walk<'_> {
        Walk { kind, keys: PLACE_SOURCE, values: kind.caller_values(), ranked: 0, last_moves: 0, visited: false }
    }

    /// Takes the passes of a leg, and the move behind them.
    fn take_all(&mut self, routes: &[u32]) {
        let passes = self.kind.passes;
        routes.iter().enumerate().for_each(|(pass, route)| self.take(*route, pass == passes));
    }

    fn same(&self, first: u32, second: u32) -> bool {
        let memory = |place: u32| if self.kind.in_place && place == PLACE_SOURCE { PLACE_TARGET } else { place };
        memory(first) == memory(second)
    }

    /// Takes the pass or move of a route, if it runs.
    fn take(&mut self, route: u32, is_move: bool) {
        if route & ROUTE_RUNS == 0 {
            return;
        }
        let (keys_to, values_to) = (field(route, ROUTE_KEYS_TO), field(route, ROUTE_VALUES_TO));
        let moves = field(route, ROUTE_MOVES);
        assert!(!self.visited, "something moves behind the visitor");
        self.visited = route & ROUTE_VISITS != 0;
        if self.visited {
            assert!(keys_to == PLACE_NONE && values_to == PLACE_NONE, "what a visitor takes goes to memory, too");
        }
        if !(is_move && keys_to == PLACE_NONE) {
            assert!(self.same(field(route, ROUTE_KEYS_FROM), self.keys), "keys are read where they are not");
            assert!(keys_to == PLACE_NONE || !self.same(keys_to, self.keys), "keys are written where they are read");
        }
        assert!(self.kind.in_place || ![keys_to, values_to].contains(&PLACE_SOURCE), "the source is written");
        if !(is_move && values_to == PLACE_NONE) && self.kind.has_values {
            assert!(self.same(field(route, ROUTE_VALUES_FROM), self.values), "values are read where they are not");
            assert!(self.visited || !self.same(values_to, self.values), "values are written where they are read");
        }
        let takes_no_key = self.visited || [MOVES_VALUES, MOVES_SPLITTING].contains(&moves);
        assert!(keys_to != PLACE_NONE || is_move || takes_no_key);
        assert_eq!(
            moves == MOVES_SPLITTING,
            self.last_moves == MOVES_JOINING,
            "joined words are split by the next pass"
        );
        if !is_move && route & ROUTE_COPIES == 0 {
            assert_eq!(route >> ROUTE_RANKED & 0xFF, self.ranked, "the passes that ranked before are counted");
            self.ranked += 1;
        }
        self.last_moves = moves;
        if keys_to != PLACE_NONE || !is_move {
            self.keys = keys_to;
        }
        if values_to != PLACE_NONE {
            self.values = values_to;
        }
        // Scratch has no more places than src/plan/scratch.rs gives it.
        let Kind { passes, in_place, discards_keys, makes_values, visits, .. } = *self.kind;
        if !is_move && keys_to == PLACE_TARGET && !in_place && (discards_keys || visits) {
            assert!(passes > 2, "discarded keys have no second place");
        }
        if !is_move && values_to == PLACE_TARGET && visits {
            assert!(passes > 2, "values have no second place");
        }
        if !is_move && keys_to == PLACE_ALTERNATE {
            assert!(passes > 1 || in_place && !discards_keys, "keys have no alternate");
        }
        if !is_move && values_to == PLACE_ALTERNATE {
            assert!(passes > 1 || in_place && !makes_values, "values have no alternate");
        }
    }

    fn finish(&self, needed: &[bool]) {
        let Kind { in_place, has_values, discards_keys, visits, .. } = *self.kind;
        assert_eq!(self.visited, visits, "the visitor takes the elements once");
        if visits {
            return;
        }
        let untouched = in_place && needed.iter().all(|needed| !needed);
        if !discards_keys {
            assert!(self.same(self.keys, PLACE_TARGET), "keys end at place {}", self.keys);
        }
        if has_values {
            assert!(self.same(self.values, PLACE_TARGET) || untouched, "values end at place {}", self.values);
        }
    }
}

/// Runs a check and names the case that fails it.
fn check(case: impl std::fmt::Debug, check: impl FnOnce() + std::panic::UnwindSafe) -> Result<(), Failed> {
    std::panic::catch_unwind(check).map_err(|_| format!("the case is {case:?}").into())
}

/// All digits that vary, for up to eight passes.
fn every_mask_ends_at_the_target() -> Result<(), Failed> {
    for passes in 1..=8 {
        for kind in kinds(passes) {
            for needed in masks(passes) {
                check((kind, &needed), || {
                    let routes = kind.routes(&needed);
                    let mut walk = Walk::start(&kind);
                    walk.take_all(&routes);
                    walk.finish(&needed);
                    let active = needed.iter().filter(|needed| **needed).count() as u32;
                    assert!(walk.ranked == active || active == 0 && walk.ranked <= 1, "{} passes rank", walk.ranked);
                    assert!(routes[passes] == 0 || passes % 2 == 1, "an even number of passes has no move");
                })?;
            }
        }
    }
    Ok(())
}

/// Sorts keys of which some digits are constant, and compares the routes on the device with the twin's.
fn the_device_writes_the_same(kind: Kind) -> Result<(), Failed> {
    let placement = if kind.in_place { Placement::InPlace } else { Placement::OutOfPlace };
    let value = match (kind.has_values, kind.makes_values) {
        (false, _) => ValueType::None,
        (true, false) => ValueType::U32,
        (true, true) => ValueType::Index,
    };
    let key_output = if kind.discards_keys { KeyOutput::Discarded } else { KeyOutput::Sorted };
    let bits = (0..8 * kind.passes as u32).into();
    let algorithm = Some(Algorithm::OneSweep);
    let request = SortRequest { value, placement, key_output, bits, algorithm, ..SortRequest::new(KeyType::U32) };
    let tuning = Tuning { digit_bits: 8, join_index: kind.joins, ..suite::small_blocks() };
    let sorter = gpu().sorter(&request, &SorterOptions { tuning: Some(tuning), ..SorterOptions::default() })?;
    let count = 1_500;
    let arena = Arena::new(&gpu(), &sorter, count);
    let mut rng = fastrand::Rng::with_seed(seed());
    for needed in masks(kind.passes) {
        let mask = needed.iter().rev().fold(0u32, |mask, needed| mask << 8 | if *needed { 0xFF } else { 0 });
        let keys: Vec<u32> = (0..count).map(|_| rng.u32(..) & mask).collect();
        let at = |what: String| Failed::from(format!("needed {needed:?}, VKSORT_SEED={}: {what}", seed()));
        suite::run_keys(&request, &arena, bytemuck::cast_slice(&keys), common::arena::Count::Host).map_err(at)?;
        let found = arena.counters()[COUNTERS_ROUTES as usize..][..=kind.passes].to_vec();
        let expected = kind.routes(&needed);
        if found != expected {
            return Err(at(format!("routes are {found:x?}, those of the twin {expected:x?}")));
        }
    }
    assert_valid(&gpu());
    Ok(())
}

fn main() -> std::process::ExitCode {
    let mut trials = vec![Trial::test("every_mask_ends_at_the_target", every_mask_ends_at_the_target)];
    for passes in [3, 4] {
        // Those with a visitor are compared where there is one: tests/visitors.rs sorts by them.
        for kind in kinds(passes).into_iter().filter(|kind| !kind.visits) {
            let on = |set: bool, name: &'static str| if set { name } else { "" };
            let values = if kind.makes_values { "/index" } else { on(kind.has_values, "/values") };
            let placement = on(!kind.in_place, "/out-of-place");
            let (discards, joins) = (on(kind.discards_keys, "/discarded"), on(kind.joins, "/joined"));
            let name = format!("device/{passes}-passes{values}{placement}{discards}{joins}");
            trials.push(Trial::test(name, move || the_device_writes_the_same(kind)));
        }
    }
    common::run(trials)
}
