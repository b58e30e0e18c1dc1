//! The twin of `glsl/histogram/routes.glsl`: the routes as the histogram's last workgroup writes them.

use vksort::__private::abi::{
    MOVES_ALL, MOVES_VALUES, ROUTE_COPIES, ROUTE_DIGIT, ROUTE_MOVES, ROUTE_RUNS, ROUTE_TAKES_KEYS, ROUTE_TAKES_VALUES,
    ROUTE_VISITS,
};

/// What the routes of a sort follow from, beside the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Passes over all digits of the window.
    pub passes: usize,
    /// Whether source and target are the same buffers.
    pub in_place: bool,
    /// Whether values move with the keys.
    pub has_values: bool,
    /// Whether the values are indices, which the first pass makes.
    pub makes_values: bool,
    /// Whether the sorted keys are not wanted.
    pub discards_keys: bool,
    /// Whether a visitor takes the result.
    pub visits: bool,
}

impl Kind {
    /// The routes of the passes, and then of the final move; 0 where nothing runs.
    pub fn routes(&self, needed: &[bool]) -> Vec<u32> {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let mut digits: Vec<usize> = (0..self.passes).filter(|digit| needed[*digit]).collect();
        if digits.is_empty() && (!self.in_place || self.makes_values) {
            digits.push(self.passes - 1);
        }
        let running = digits.len();
        let mut routes = vec![0; self.passes + 1];
        for (pass, digit) in digits.iter().enumerate() {
            let last = pass + 1 == running;
            let moves = if self.discards_keys && last { MOVES_VALUES } else { MOVES_ALL };
            routes[pass] = ROUTE_RUNS | (*digit as u32) << ROUTE_DIGIT | moves << ROUTE_MOVES;
            routes[pass] |= flag(self.visits && last, ROUTE_VISITS);
        }
        let stays = self.in_place && !(self.makes_values && self.discards_keys);
        let left = !(if stays { running } else { self.passes - running }).is_multiple_of(2);
        let (keys_left, values_left) = (left && !self.discards_keys, left && self.has_values);
        if running > 0 && !self.visits && (keys_left || values_left) {
            let moves = if self.discards_keys { MOVES_VALUES } else { MOVES_ALL };
            routes[running] = ROUTE_RUNS | ROUTE_COPIES | moves << ROUTE_MOVES;
            routes[running] |= flag(keys_left, ROUTE_TAKES_KEYS) | flag(values_left, ROUTE_TAKES_VALUES);
        }
        routes
    }
}
