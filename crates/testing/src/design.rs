//! Pairwise designs: few combinations of options among which every two options meet.
//!
//! A factor is a question with several answers, its levels; a row answers every question. Most defects need one or two
//! particular answers, so a design that holds every pair of them finds those with far fewer rows than a cross product.

use fastrand::Rng;

/// A level of each factor.
pub type Row = Vec<usize>;

/// Levels that have to meet in one row, each as factor and level.
pub type Target = Vec<(usize, usize)>;

/// Fillings of a row that are tried for each row of a design; the one that meets most targets is taken.
const FILLINGS: usize = 12;

/// Every pair of levels of two factors that have so many levels.
pub fn pairs(levels: &[usize]) -> Vec<Target> {
    let mut targets = Vec::new();
    for second in 0..levels.len() {
        for first in 0..second {
            for a in 0..levels[first] {
                targets.extend((0..levels[second]).map(|b| vec![(first, a), (second, b)]));
            }
        }
    }
    targets
}

/// Whether a row holds all levels of a target.
pub fn meets(row: &[usize], target: &Target) -> bool {
    target.iter().all(|&(factor, level)| row[factor] == level)
}

/// Adds rows until every target is met that may be: `allowed` judges rows in which some factors have no level yet.
///
/// The same random numbers lead to the same rows.
pub fn cover(
    levels: &[usize],
    targets: impl IntoIterator<Item = Target>,
    allowed: impl Fn(&[Option<usize>]) -> bool,
    rows: &mut Vec<Row>,
    rng: &mut Rng,
) {
    let start = |target: &Target| {
        let mut row = vec![None; levels.len()];
        target.iter().for_each(|&(factor, level)| row[factor] = Some(level));
        row
    };
    let mut missing: Vec<Target> = targets
        .into_iter()
        .filter(|target| allowed(&start(target)) && !rows.iter().any(|row| meets(row, target)))
        .collect();
    rng.shuffle(&mut missing);
    // What asks for most is hardest to place, so it comes first.
    missing.sort_by_key(Target::len);
    while let Some(target) = missing.last() {
        let gain = |row: &Row| missing.iter().filter(|target| meets(row, target)).count();
        let fillings = (0..FILLINGS).filter_map(|_| fill(start(target), levels, &missing, &allowed, rng));
        let row = fillings.max_by_key(gain).unwrap_or_else(|| panic!("no row is allowed that holds {target:?}"));
        missing.retain(|target| !meets(&row, target));
        rows.push(row);
    }
}

/// Gives each open factor of a row, in random order, the allowed level that meets most targets with those that it has.
fn fill(
    mut row: Vec<Option<usize>>,
    levels: &[usize],
    missing: &[Target],
    allowed: impl Fn(&[Option<usize>]) -> bool,
    rng: &mut Rng,
) -> Option<Row> {
    let mut open: Vec<usize> = (0..levels.len()).filter(|&factor| row[factor].is_none()).collect();
    rng.shuffle(&mut open);
    for factor in open {
        let mut gains = vec![0; levels[factor]];
        for target in missing {
            let Some(&(_, level)) = target.iter().find(|(asked, _)| *asked == factor) else { continue };
            let completes = target.iter().all(|&(other, level)| other == factor || row[other] == Some(level));
            gains[level] += usize::from(completes);
        }
        let mut order: Vec<usize> = (0..levels[factor]).collect();
        rng.shuffle(&mut order);
        order.sort_by_key(|&level| std::cmp::Reverse(gains[level]));
        let level = order.into_iter().find(|&level| {
            row[factor] = Some(level);
            allowed(&row)
        });
        row[factor] = Some(level?);
    }
    row.into_iter().collect()
}
