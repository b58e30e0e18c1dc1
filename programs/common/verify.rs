//! Comparing what a sort made that may change the order of equal keys.

use anyhow::ensure;

/// Compares a sort's elements, in runs of equal keys whose elements may come in any order, with those that a sorting
/// permutation puts there. Elements are given by their place, needed ones by their index in the input.
pub fn verify_runs<Element: Ord>(
    order: &[u32],
    code: impl Fn(u32) -> u128,
    given: impl Fn(u32) -> Element,
    needed: impl Fn(u32) -> Element,
) -> anyhow::Result<()> {
    let mut start = 0;
    for run in order.chunk_by(|a, b| code(*a) == code(*b)) {
        let places = start..start + run.len() as u32;
        let mut found: Vec<Element> = places.clone().map(&given).collect();
        let mut expected: Vec<Element> = run.iter().map(|index| needed(*index)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        ensure!(found == expected, "elements {} to {} are not those of a sort", places.start, places.end - 1);
        start = places.end;
    }
    Ok(())
}
