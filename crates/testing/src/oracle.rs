//! The stable reference on the CPU.

use vksort::{KeyType, SortRequest};

/// The bits of each key.
pub fn bits(key: KeyType, keys: &[u8]) -> impl Iterator<Item = u128> {
    keys.chunks_exact(key.size_bytes() as usize).map(|key| {
        let mut bytes = [0; 16];
        bytes[..key.len()].copy_from_slice(key);
        u128::from_le_bytes(bytes)
    })
}

/// What each key is sorted by.
fn codes(request: &SortRequest, keys: &[u8]) -> impl Iterator<Item = u128> {
    let window = request.bits;
    let mask = if window.is_empty() { 0 } else { u128::MAX >> (128 - window.len()) };
    // A shift by the whole width leaves nothing, as in an empty window at the top.
    let code = move |bits| request.key.sortable(bits, request.order).checked_shr(window.low).unwrap_or(0) & mask;
    bits(request.key, keys).map(code)
}

/// The permutation that sorts keys stably: entry `i` is the index of the key that comes `i`-th.
pub fn argsort(request: &SortRequest, keys: &[u8]) -> Vec<u32> {
    let window = request.bits;
    let codes = (0u32..).zip(codes(request, keys));
    // Code and index together: equal codes are ordered by index, which is what stable means.
    if window.len() <= 32 {
        let mut pairs: Vec<u64> = codes.map(|(index, code)| (code as u64) << 32 | u64::from(index)).collect();
        pairs.sort_unstable();
        pairs.into_iter().map(|pair| pair as u32).collect()
    } else {
        let mut pairs: Vec<(u128, u32)> = codes.map(|(index, code)| (code, index)).collect();
        pairs.sort_unstable();
        pairs.into_iter().map(|(_, index)| index).collect()
    }
}

/// The elements of `size` bytes at these indices.
pub fn gather(elements: &[u8], size: usize, indices: &[u32]) -> Vec<u8> {
    let mut gathered = Vec::with_capacity(indices.len() * size);
    for &index in indices {
        gathered.extend_from_slice(&elements[index as usize * size..][..size]);
    }
    gathered
}

/// The runs of equal keys in sorted `keys`, each with its first and one more than its last index.
pub fn ties(request: &SortRequest, keys: &[u8]) -> Vec<(usize, usize)> {
    let codes: Vec<u128> = codes(request, keys).collect();
    let mut ties = Vec::new();
    for run in codes.chunk_by(|a, b| a == b) {
        let start = ties.last().map_or(0, |&(_, end)| end);
        ties.push((start, start + run.len()));
    }
    ties
}

/// Puts the elements of each run into an order that follows from key and value alone, so that results can be compared
/// that differ in the order of equal keys. An element's sizes are those of its key and value; 0 for what is not there.
pub fn settle(ties: &[(usize, usize)], sizes: (usize, usize), keys: &mut [u8], values: &mut [u8]) {
    for &(start, end) in ties.iter().filter(|(start, end)| end - start > 1) {
        let element = |index: usize| {
            let part = |bytes: &[u8], size: usize| bytes[index * size..][..size].to_vec();
            (part(keys, sizes.0), part(values, sizes.1))
        };
        let mut run: Vec<(Vec<u8>, Vec<u8>)> = (start..end).map(element).collect();
        run.sort_unstable();
        for (index, (key, value)) in (start..end).zip(run) {
            keys[index * sizes.0..][..sizes.0].copy_from_slice(&key);
            values[index * sizes.1..][..sizes.1].copy_from_slice(&value);
        }
    }
}

/// Says where two sequences of elements of `size` bytes differ first, if they do.
pub fn difference(what: &str, size: usize, given: &[u8], expected: &[u8]) -> Option<String> {
    assert_eq!(given.len(), expected.len());
    if given == expected {
        return None;
    }
    let pairs = || given.chunks(size.max(1)).zip(expected.chunks(size.max(1)));
    let at = pairs().position(|(given, expected)| given != expected)?;
    let wrong = pairs().filter(|(given, expected)| given != expected).count();
    let (a, b) = pairs().nth(at)?;
    let show = |bytes: &[u8]| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(format!(
        "{what}: {wrong} of {} differ, the first at {at}: 0x{} instead of 0x{}",
        given.len().div_ceil(size.max(1)),
        show(a),
        show(b)
    ))
}
