//! The twin of `glsl/lib/routes.glsl`: the routes as the histogram's last workgroup writes them.

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
    pub fn routes(&self, needed: &[bool]) -> Vec<u32> {
        let passes = self.passes;
        let mut needed = needed.to_vec();
        if needed.iter().all(|needed| !needed) && (!self.in_place || self.makes_values) {
            needed[passes - 1] = true;
        }
        let mut running = needed.iter().filter(|needed| **needed).count() as u32;
        let idle = (0..passes).rev().find(|pass| !needed[*pass]);
        let keeps_values = self.has_values && !self.makes_values;
        let mut copying = None;
        if passes.is_multiple_of(2) && running % 2 == 1 && self.in_place && (!self.discards_keys || keeps_values) {
            copying = idle;
            running += 1;
        }
        let odd = running % 2 == 1;
        let joins = self.joins && self.discards_keys && !keeps_values && running > 1;
        let alternate = |at: bool| if at { PLACE_ALTERNATE } else { PLACE_TARGET };
        let keys_end = alternate(odd && (self.in_place || self.discards_keys || self.visits));
        let values_end = alternate(odd && (self.in_place && keeps_values || self.visits));

        let mut routes = vec![0; passes + 1];
        let (mut keys_from, mut values_from) = (PLACE_SOURCE, self.caller_values());
        let (mut remaining, mut ranked, mut before) = (running, 0, passes);
        for pass in 0..passes {
            if !needed[pass] && copying != Some(pass) {
                continue;
            }
            remaining -= 1;
            let last = remaining == 0;
            let keys = if (self.discards_keys || self.visits) && last {
                PLACE_NONE
            } else {
                place_before(keys_end, remaining)
            };
            let kept = self.has_values && !(self.visits && last);
            let values = if kept { place_before(values_end, remaining) } else { PLACE_NONE };
            let moves = match (self.discards_keys && last, joins) {
                (true, true) => MOVES_SPLITTING,
                (true, false) => MOVES_VALUES,
                (false, true) if remaining == 1 => MOVES_JOINING,
                _ => MOVES_ALL,
            };
            routes[pass] = route(keys_from, keys, values_from, values, ranked) | moves << ROUTE_MOVES;
            if self.visits && last {
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
        let keys_left = !self.discards_keys && keys_end == PLACE_ALTERNATE;
        let values_left = self.has_values && values_end == PLACE_ALTERNATE;
        if !self.visits && (keys_left || values_left) {
            let to = |left: bool| if left { PLACE_TARGET } else { PLACE_NONE };
            routes[passes] = route(PLACE_ALTERNATE, to(keys_left), PLACE_ALTERNATE, to(values_left), 0);
        }
        routes
    }
}
