//! The generator of pairwise designs, by which other suites choose their trials: what it promises, checked by counting.

use fastrand::Rng;
use vksort_testing::design::{self, Row, cover, pairs};

/// Numbers of levels: few and many, even and uneven, factors of one level, and no factors to pair.
const LEVELS: &[&[usize]] =
    &[&[], &[3], &[2, 2], &[1, 1, 1], &[2, 2, 2, 2, 2, 2, 2], &[14, 9, 2, 2, 5, 8], &[3, 1, 4, 1, 5], &[13, 11, 14, 2]];

fn design(levels: &[usize], allowed: impl Fn(&[Option<usize>]) -> bool, seed: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    cover(levels, pairs(levels), allowed, &mut rows, &mut Rng::with_seed(seed));
    rows
}

/// Whether two levels are in one row, asked without the generator's own functions.
fn together(rows: &[Row], (first, a): (usize, usize), (second, b): (usize, usize)) -> bool {
    rows.iter().any(|row| row[first] == a && row[second] == b)
}

#[test]
fn every_pair_of_options_is_covered() {
    for (seed, levels) in (0..).zip(LEVELS.iter().cycle().take(5 * LEVELS.len())) {
        let rows = design(levels, |_| true, seed);
        assert!(rows.iter().all(|row| row.len() == levels.len() && row.iter().zip(*levels).all(|(a, most)| a < most)));
        for second in 0..levels.len() {
            for first in 0..second {
                for (a, b) in (0..levels[first]).flat_map(|a| (0..levels[second]).map(move |b| (a, b))) {
                    let found = together(&rows, (first, a), (second, b));
                    assert!(found, "{levels:?}, seed {seed}: levels {a} of {first} and {b} of {second} never meet");
                }
            }
        }
    }
}

/// The two factors with most levels need a row for each of their pairs; the greedy choice may take a half more.
#[test]
fn designs_are_small() {
    for (seed, levels) in (0..).zip(LEVELS) {
        let mut most = levels.to_vec();
        most.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        let least = most.iter().take(2).product::<usize>();
        let rows = design(levels, |_| true, seed).len();
        let log = levels.len().next_power_of_two().ilog2() as usize;
        assert!(2 * rows <= 3 * least + 4 * log, "{levels:?}: {rows} rows, {least} are needed at least");
    }
}

#[test]
fn a_seed_makes_one_design() {
    let levels = [14, 9, 2, 2, 5, 8];
    assert_eq!(design(&levels, |_| true, 7), design(&levels, |_| true, 7));
    assert_ne!(design(&levels, |_| true, 7), design(&levels, |_| true, 8));
}

#[test]
fn what_is_not_allowed_is_left_out_and_nothing_else() {
    let levels = [5, 4, 2, 3];
    // The last level of the first factor goes with the first of the second alone.
    let allowed = |row: &[Option<usize>]| row[0] != Some(4) || row[1].is_none_or(|level| level == 0);
    let rows = design(&levels, allowed, 3);
    for (a, b) in (0..5).flat_map(|a| (0..4).map(move |b| (a, b))) {
        assert_eq!(together(&rows, (0, a), (1, b)), a != 4 || b == 0, "{a} with {b}");
    }
    for (a, c) in (0..5).flat_map(|a| (0..2).map(move |c| (a, c))) {
        assert!(together(&rows, (0, a), (2, c)));
    }
}

#[test]
fn more_is_added_to_what_there_is() {
    let levels = [6, 5, 2, 2];
    let mut rng = Rng::with_seed(1);
    let mut rows = Vec::new();
    // A smaller design first, of the lower levels.
    cover(&levels, pairs(&levels), |row| row[0].is_none_or(|level| level < 2), &mut rows, &mut rng);
    let small = rows.clone();
    assert!(small.iter().all(|row| row[0] < 2) && small.len() >= 10);
    let triple = vec![(0, 5), (1, 4), (3, 1)];
    cover(&levels, pairs(&levels).into_iter().chain([triple.clone()]), |_| true, &mut rows, &mut rng);
    assert_eq!(rows[..small.len()], small);
    assert!(rows.iter().any(|row| design::meets(row, &triple)));
    assert!(rows.len() < 60, "{} rows", rows.len());
}

#[test]
#[should_panic(expected = "no row is allowed")]
fn what_leaves_no_row_is_said() {
    design(&[2, 2, 1], |row| row[2].is_none(), 0);
}
