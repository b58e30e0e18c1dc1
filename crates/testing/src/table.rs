//! What can be sorted, written down by asking the code that decides it.

use vksort::__private::{Shape, ShapeDesc};
use vksort::{
    Algorithm, BitRange, DeviceProfile, KeyOutput, KeyType, Order, Placement, SortRequest, Tuning, ValueType,
};

/// An option of a sort, and requests that have it.
pub struct Choice {
    /// The option in Markdown.
    pub name: &'static str,
    /// Requests with the option, for one key type.
    pub requests: fn(SortRequest) -> Vec<SortRequest>,
}

/// The options that every key type has.
pub const CHOICES: &[Choice] = &[
    Choice { name: "keys alone", requests: |usual| vec![usual] },
    Choice {
        name: "keys with values of 1, 2, 4, 8, 12 or 16 bytes, which move with their keys",
        requests: |usual| [1, 2, 4, 8, 12, 16].map(|bytes| usual.value(ValueType::Bytes(bytes))).into(),
    },
    Choice {
        name: "keys with larger values, up to 64 KiB, which are gathered once by the sorted permutation",
        requests: |usual| [20, 64, 1028].map(|bytes| usual.value(ValueType::Bytes(bytes))).into(),
    },
    Choice {
        name: "the index of each key as its value: the sorting permutation",
        requests: |usual| vec![usual.value(ValueType::Index)],
    },
    Choice {
        name: "values or indices without the sorted keys",
        requests: |usual| {
            [ValueType::U32, ValueType::Index].map(|value| usual.value(value).key_output(KeyOutput::Discarded)).into()
        },
    },
    Choice {
        name: "ascending or descending order",
        requests: |usual| [Order::Ascending, Order::Descending].map(|order| usual.order(order)).into(),
    },
    Choice {
        name: "all bits of the key, or a window of bits `lo..hi`",
        requests: |usual| windows(usual.key.bits()).into_iter().map(|bits| usual.bits(bits)).collect(),
    },
    Choice {
        name: "in place, or out of place with the source untouched",
        requests: |usual| {
            let out = usual.placement(Placement::OutOfPlace);
            vec![out, out.value(ValueType::U32)]
        },
    },
    Choice {
        name: "stable, or with equal keys in any order (`.stable(false)`)",
        requests: |usual| {
            let free = usual.stable(false);
            let bits = BitRange { low: 1, high: usual.key.bits() };
            vec![free.value(ValueType::U32), free.bits(bits)]
        },
    },
    Choice {
        name: "every algorithm: `onesweep`, `reduce-then-scan`, `single-workgroup`",
        requests: |usual| Algorithm::ALL.iter().map(|&algorithm| usual.algorithm(algorithm)).collect(),
    },
];

/// Windows of a key: nothing, a third, three quarters, and some that are not whole bytes.
fn windows(width: u32) -> Vec<BitRange> {
    let mut windows = vec![0..0, width..width, 0..width / 3, width / 4..width, 3..8, 0..1, width - 1..width];
    if width > 8 {
        windows.extend([0..9, width - 9..width, width / 2 - 4..width / 2 + 5]);
    }
    windows.into_iter().map(BitRange::from).collect()
}

/// Whether a request is served on a device with its built-in row; the shape of its kernels if so.
fn served(profile: &DeviceProfile, request: &SortRequest) -> Option<Shape> {
    let algorithm = request.algorithm.unwrap_or(Algorithm::OneSweep);
    request.check().ok()?;
    Shape::fit(&ShapeDesc::new(profile, &Tuning::for_device(profile), request, algorithm)).ok()
}

/// The key types that a device does not sort with an option.
pub fn refused(profile: &DeviceProfile, choice: &Choice) -> Vec<KeyType> {
    let serves = |key: &KeyType| {
        (choice.requests)(SortRequest::new(*key)).iter().all(|request| served(profile, request).is_some())
    };
    KeyType::ALL.iter().copied().filter(|key| !serves(key)).collect()
}

/// What a device sorts, in Markdown: a table of the key types, and a list of the options that all of them have.
pub fn markdown(profile: &DeviceProfile, choices: &[Choice]) -> String {
    let names = |keys: &[KeyType]| keys.iter().map(|key| format!("`{}`", key.name())).collect::<Vec<_>>().join(", ");
    let mut text = String::from("| bits | unsigned | two's complement | floats | passes |\n|---|---|---|---|---|\n");
    for keys in KeyType::ALL.chunk_by(|a, b| a.bits() == b.bits()) {
        let of = |signed: bool, float: bool| {
            let kind = |key: &&KeyType| (key.is_signed(), key.is_float()) == (signed, float);
            names(&keys.iter().filter(kind).copied().collect::<Vec<_>>())
        };
        let passes =
            served(profile, &SortRequest::new(keys[0])).map_or("none".into(), |shape| shape.passes.to_string());
        let [unsigned, signed, floats] = [of(false, false), of(true, false), of(true, true)];
        text += &format!("| {} | {unsigned} | {signed} | {floats} | {passes} |\n", keys[0].bits());
    }
    text += "\nEvery key type can be sorted with each of these options:\n\n";
    for choice in choices {
        let but = refused(profile, choice);
        let but = if but.is_empty() { String::new() } else { format!(" (not {})", names(&but)) };
        text += &format!("* {}{but}\n", choice.name);
    }
    text
}
