//! The twin of `glsl/lib/routes.glsl`: the routes of a leg as the histogram's last workgroup writes them.

use vksort::internals::abi::{
    MOVES_ALL, MOVES_JOINING, MOVES_SPLITTING, MOVES_VALUES, PLACE_ALTERNATE, PLACE_NONE, PLACE_SOURCE, PLACE_TARGET,
    ROUTE_COPIES, ROUTE_KEYS_FROM, ROUTE_KEYS_TO, ROUTE_MOVES, ROUTE_NEXT, ROUTE_RANKED, ROUTE_RUNS, ROUTE_VALUES_FROM,
    ROUTE_VALUES_TO, ROUTE_VISITS,
};

/// What the routes of a sort follow from, beside the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub passes: usize,
    pub in_place: bool,
    pub has_values: bool,
    /// Whether the values are indices, which the first pass makes.
    pub makes_values: bool,
    pub discards_keys: bool,
    /// Whether an index and a digit may travel in one word, and all indices leave room for a digit.
    pub joins: bool,
    /// Whether a visitor takes the result.
    pub visits: bool,
}

/// A chain of passes that leaves the elements at the target.
#[derive(Clone, Copy, Debug)]
pub struct Leg {
    /// Lowest pass of the chain.
    pub low: usize,
    pub keys_from: u32,
    pub values_from: u32,
    /// Passes that have used the look-back table before.
    pub ranked: u32,
    /// Whether the leg leaves the result.
    pub finishes: bool,
}

fn place_before(end: u32, remaining: u32) -> u32 {
    if remaining.is_multiple_of(2) { end } else { PLACE_TARGET + PLACE_ALTERNATE - end }
}

fn route(keys_from: u32, keys_to: u32, values_from: u32, values_to: u32, ranked: u32) -> u32 {
    ROUTE_RUNS
        | keys_from << ROUTE_KEYS_FROM
        | keys_to << ROUTE_KEYS_TO
        | values_from << ROUTE_VALUES_FROM
        | values_to << ROUTE_VALUES_TO
        | ranked << ROUTE_RANKED
}

impl Kind {
    /// Where the caller's values are.
    pub fn caller_values(&self) -> u32 {
        if self.makes_values { PLACE_NONE } else { PLACE_SOURCE }
    }

    /// The routes of the passes and, behind them, of the final move; 0 where nothing runs.
    pub fn write_leg(&self, leg: Leg, needed: &[bool]) -> Vec<u32> {
        let passes = self.passes;
        let mut running = needed[leg.low..].iter().filter(|needed| **needed).count() as u32;
        let idle = (leg.low..passes).rev().find(|pass| !needed[*pass]);
        let keeps_values = self.has_values && leg.values_from != PLACE_NONE;
        let discards = self.discards_keys && leg.finishes;
        let mut copying = None;
        if passes.is_multiple_of(2) && running % 2 == 1 && self.in_place && (!discards || keeps_values) {
            copying = idle;
            running += 1;
        }
        let odd = running % 2 == 1;
        let joins = self.joins && discards && !keeps_values && running > 1;
        let visits = self.visits && leg.finishes;
        let keys_end = if odd && (self.in_place || discards || visits) { PLACE_ALTERNATE } else { PLACE_TARGET };
        let values_end = if odd && (self.in_place && keeps_values || visits) { PLACE_ALTERNATE } else { PLACE_TARGET };

        let mut routes = vec![0; passes + 1];
        let (mut keys_from, mut values_from) = (leg.keys_from, leg.values_from);
        let (mut remaining, mut ranked, mut before) = (running, leg.ranked, passes);
        for pass in leg.low..passes {
            if !needed[pass] && copying != Some(pass) {
                continue;
            }
            remaining -= 1;
            let last = remaining == 0;
            let keys = if (discards || visits) && last { PLACE_NONE } else { place_before(keys_end, remaining) };
            let kept = self.has_values && !(visits && last);
            let values = if kept { place_before(values_end, remaining) } else { PLACE_NONE };
            let moves = match (discards && last, joins) {
                (true, true) => MOVES_SPLITTING,
                (true, false) => MOVES_VALUES,
                (false, true) if remaining == 1 => MOVES_JOINING,
                _ => MOVES_ALL,
            };
            routes[pass] = route(keys_from, keys, values_from, values, ranked) | moves << ROUTE_MOVES;
            if visits && last {
                routes[pass] |= ROUTE_VISITS;
            }
            match copying == Some(pass) {
                true => routes[pass] |= ROUTE_COPIES,
                false => ranked += 1,
            }
            if joins && last {
                routes[before] |= (pass as u32) << ROUTE_NEXT;
            }
            (keys_from, values_from, before) = (keys, values, pass);
        }
        let (keys_left, values_left) =
            (!discards && keys_end == PLACE_ALTERNATE, self.has_values && values_end == PLACE_ALTERNATE);
        if !visits && (keys_left || values_left) {
            let to = |left: bool| if left { PLACE_TARGET } else { PLACE_NONE };
            routes[passes] = route(PLACE_ALTERNATE, to(keys_left), PLACE_ALTERNATE, to(values_left), 0);
        }
        routes
    }

    /// Routes over all digits that are needed.
    pub fn route_all_digits(&self, needed: &[bool]) -> Vec<u32> {
        let mut needed = needed.to_vec();
        if needed.iter().all(|needed| !needed) && (!self.in_place || self.makes_values) {
            needed[self.passes - 1] = true;
        }
        let (keys_from, values_from) = (PLACE_SOURCE, self.caller_values());
        self.write_leg(Leg { low: 0, keys_from, values_from, ranked: 0, finishes: true }, &needed)
    }
}
