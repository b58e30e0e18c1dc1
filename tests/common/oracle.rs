//! The stable reference on the CPU.

use vksort::{KeyType, Order};

/// The permutation that sorts keys stably: entry `i` is the index of the key that comes `i`-th.
pub fn argsort(key: KeyType, order: Order, bits: &[u32]) -> Vec<u32> {
    // Code and index in one word: equal codes are ordered by index, which is what stable means.
    let mut pairs: Vec<u64> =
        (0u64..).zip(bits).map(|(index, &bits)| u64::from(key.sortable(bits, order)) << 32 | index).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|pair| pair as u32).collect()
}

pub fn gather(bits: &[u32], indices: &[u32]) -> Vec<u32> {
    indices.iter().map(|&index| bits[index as usize]).collect()
}

/// Says where two sequences differ first, if they do.
pub fn difference(what: &str, given: &[u32], expected: &[u32]) -> Option<String> {
    assert_eq!(given.len(), expected.len());
    let at = given.iter().zip(expected).position(|(given, expected)| given != expected)?;
    let wrong = given.iter().zip(expected).filter(|(given, expected)| given != expected).count();
    Some(format!(
        "{what}: {wrong} of {} differ, the first at {at}: {:#010x} instead of {:#010x}",
        given.len(),
        given[at],
        expected[at]
    ))
}
