//! Slices of `half::f16` and `half::bf16`, which the feature `half` lets be sorted.

use std::cmp::Ordering;

use half::{bf16, f16};
use vksort::standalone::Gpu;
use vksort::{Key, Order};
use vksort_testing::Trial;

/// Sorts every bit pattern of a type several times, and compares bits and permutation in full.
fn check<K: Key>(from_bits: fn(u16) -> K, to_bits: fn(K) -> u16, compare: fn(&K, &K) -> Ordering) {
    let gpu = Gpu::best().unwrap();
    let keys: Vec<K> = (0..100_000u32).map(|index| from_bits((index.wrapping_mul(0x9E37_79B9) >> 16) as u16)).collect();
    for (order, reverse) in [(Order::Ascending, false), (Order::Descending, true)] {
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by(|a, b| {
            let order = compare(&keys[*a as usize], &keys[*b as usize]);
            if reverse { order.reverse() } else { order }
        });
        assert!(gpu.argsort(&keys, order).unwrap() == expected, "{order:?}: the permutation differs");
        let mut sorted = keys.clone();
        gpu.sort(&mut sorted, order).unwrap();
        let bits = |key: K| to_bits(key);
        let needed = expected.iter().map(|index| bits(keys[*index as usize]));
        assert!(sorted.iter().map(|key| bits(*key)).eq(needed), "{order:?}: the keys differ");
    }
}

fn slices_of_f16_are_sorted() {
    check(f16::from_bits, f16::to_bits, f16::total_cmp);
}

fn slices_of_bf16_are_sorted() {
    check(bf16::from_bits, bf16::to_bits, bf16::total_cmp);
}

pub fn trials() -> Vec<Trial> {
    vksort_testing::trials![slices_of_f16_are_sorted, slices_of_bf16_are_sorted]
}
