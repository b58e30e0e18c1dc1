//! Keys for sorts by leading bits that may end with a finish.

use std::collections::HashSet;

use vksort::{Algorithm, KeyOutput, KeyType, Order, Placement, SortRequest, ValueType};

/// Requests whose sorts may end with a finish.
pub fn requests() -> Vec<SortRequest> {
    let keys = |key| SortRequest::new(key).algorithm(Algorithm::OneSweep);
    let pairs = |key| keys(key).value(ValueType::U32);
    let down = |request: SortRequest| request.order(Order::Descending);
    let out = |request: SortRequest| request.placement(Placement::OutOfPlace);
    vec![
        keys(KeyType::U32),
        pairs(KeyType::F32),
        down(pairs(KeyType::I32)),
        out(keys(KeyType::F32)),
        out(down(pairs(KeyType::F32))),
        keys(KeyType::F32).value(ValueType::Index).key_output(KeyOutput::Discarded),
        out(keys(KeyType::U32).value(ValueType::Index).key_output(KeyOutput::Discarded)),
        keys(KeyType::U64),
        down(out(pairs(KeyType::I64))),
        keys(KeyType::F64).value(ValueType::Index),
        keys(KeyType::U32).value(ValueType::Bytes(36)),
        keys(KeyType::U128),
    ]
}

/// What the leading bits of keys are like, and whether these sorts have a finish for sure, or have none.
pub const KINDS: [(&str, Option<bool>); 9] = [
    ("uniform", Some(true)),
    ("depths", Some(true)),
    ("some equal", Some(true)),
    ("a long run", None),
    ("crowded buckets", None),
    ("few outside", None),
    ("few values", Some(false)),
    ("sorted", None),
    ("mostly one run", Some(false)),
];

/// Top words of so many keys, as ascending numbers.
fn tops(kind: &str, count: usize, random: &mut fastrand::Rng) -> Vec<u32> {
    let depth = |random: &mut fastrand::Rng| (0.3 + 5.0 * random.f32() * random.f32()).to_bits() | 1 << 31;
    // Runs hold as many elements as those of uniform keys.
    let run = random.u32(..) & !0xFFFF;
    let long = random.u32(..) & !0xFFFF;
    let mut tops: Vec<u32> = (0..count)
        .map(|at| match kind {
            "depths" => depth(random),
            "some equal" => random.u32(..) & 0xFFFF_F000 | random.u32(..) & 0xF000 >> 4,
            "a long run" if at % 107 == 1 => long | random.u32(..) & 0xFFFF,
            "crowded buckets" if at % 100 == 0 => long | random.u32(0..3) << 12 | random.u32(0..50),
            "few outside" if at % (count / 5) == 3 => random.u32(..),
            "few outside" => run | random.u32(..) & 0xFF_FFFF,
            "few values" => run ^ random.u32(0..9) << 28,
            "mostly one run" if at % 100 != 0 => long | random.u32(..) & 0xFFFF,
            _ => random.u32(..),
        })
        .collect();
    if kind == "sorted" {
        tops.sort_unstable();
    }
    tops
}

/// Keys with these top words, whose lower words are few.
fn keys_of(request: &SortRequest, tops: &[u32], random: &mut fastrand::Rng) -> Vec<u8> {
    let (bits, size) = (request.key.bits(), request.key.size_bytes() as usize);
    let sign = 1u128 << (bits - 1);
    let (flips, flips_of_negative) =
        (request.key.sortable(0, request.order), request.key.sortable(sign, request.order) ^ sign);
    let mut keys = Vec::with_capacity(tops.len() * size);
    for top in tops {
        let low = u128::from(random.u32(0..3)) << (bits - 32) >> 5 | u128::from(random.u8(0..2));
        let sortable = u128::from(*top) << (bits - 32) | if bits > 32 { low } else { 0 };
        let key = sortable ^ if (sortable ^ flips) & sign == 0 { flips } else { flips_of_negative };
        keys.extend_from_slice(&key.to_le_bytes()[..size]);
    }
    keys
}

/// So many keys of a kind.
pub fn keys(request: &SortRequest, kind: &str, count: u32, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    keys_of(request, &tops(kind, count as usize, &mut random), &mut random)
}

/// So many keys, about half of which are one run that a sample of so many does not meet.
pub fn unseen_run(request: &SortRequest, count: u32, samples: u32, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    // As in glsl/finish/sample.comp.
    let sampled_at = |sampled: u32| {
        let mut hash = sampled + 1;
        hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
        hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
        ((u64::from(hash ^ hash >> 16) * u64::from(count)) >> 32) as u32
    };
    let seen: HashSet<u32> = (0..samples).map(sampled_at).collect();
    let run = random.u32(..) & !0xFFFF;
    let hidden = |at: &u32| at.is_multiple_of(2) && !seen.contains(at);
    let tops: Vec<u32> =
        (0..count).map(|at| if hidden(&at) { run | random.u32(..) & 0xFFFF } else { random.u32(..) }).collect();
    keys_of(request, &tops, &mut random)
}
