//! Bytes that each step moves for an element: OneSweep by digits of 8 bits if no pass is skipped, and one workgroup.

use vksort::Algorithm;

use crate::case::{Case, Input, Keys, Replaced, Store};

/// A step by its name, and its bytes.
type Step = (String, u64);

pub fn sum(steps: &[Step]) -> u64 {
    steps.iter().map(|(_, bytes)| bytes).sum()
}

/// The steps with a visitor; empty for another algorithm than the two.
pub fn visited(case: &Case, algorithm: Algorithm) -> Vec<Step> {
    match case.replaces {
        Replaced::Keys | Replaced::Pairs => sort(case, algorithm, input_bytes(case), result_bytes(case)),
        Replaced::Output => sort(case, algorithm, input_bytes(case), stored_bytes(case)),
    }
}

/// The steps with a buffer in its place.
pub fn buffered(case: &Case, algorithm: Algorithm) -> Vec<Step> {
    match case.replaces {
        Replaced::Keys => {
            let store = ("store keys".to_string(), input_bytes(case) + key_bytes(case));
            [store].into_iter().chain(sort(case, algorithm, key_bytes(case), result_bytes(case))).collect()
        }
        Replaced::Pairs => {
            let pair = key_bytes(case) + 4;
            let store = ("store pairs".to_string(), input_bytes(case) + pair);
            let sort = match algorithm {
                Algorithm::SingleWorkgroup => vec![("single_workgroup".into(), 2 * pair)],
                Algorithm::OneSweep => {
                    let pass = |pass: u32| (format!("onesweep {pass}"), 2 * pair);
                    let counted = [("histogram".into(), key_bytes(case))].into_iter();
                    // In place, an odd number of passes ends in the scratch.
                    let moved = (passes(case) % 2 == 1).then(|| ("move".into(), 2 * pair));
                    counted.chain((0..passes(case)).map(pass)).chain(moved).collect()
                }
                _ => Vec::new(),
            };
            [store].into_iter().chain(sort).collect()
        }
        Replaced::Output => {
            let store = ("take result".to_string(), result_bytes(case) + stored_bytes(case));
            sort(case, algorithm, input_bytes(case), result_bytes(case)).into_iter().chain([store]).collect()
        }
    }
}

/// The rule of a table of five columns.
const RULE: &str = "|---|---|---|---|---|";

/// The bytes of all requests, in tables for Markdown.
pub fn all(count: u32) -> String {
    let line = |what: String, from: &str, case: &Case, algorithm: Algorithm| {
        let (buffered, visited) = (sum(&buffered(case, algorithm)), sum(&visited(case, algorithm)));
        format!("| {what} | {from} | {buffered} | {visited} | {:.2} |", visited as f64 / buffered as f64)
    };
    let inputs =
        [(Input::Vec4, "`vec4`, 16 bytes"), (Input::Packed, "3 floats, 12 bytes"), (Input::Float, "float, 4 bytes")];
    let widths = [(Keys::F32, "32"), (Keys::Bits24, "24"), (Keys::Bits16, "16")];
    let (replaces, store) = (Replaced::Keys, Store::Index);
    let (many, few) = (Algorithm::OneSweep, Algorithm::SingleWorkgroup);
    let mut lines = vec!["| sort | depth from | key buffer | visitor | ratio |".to_string(), RULE.to_string()];
    for keys_only in [false, true] {
        let what = if keys_only { "keys alone" } else { "indices" };
        let case = |keys, input| Case { replaces, keys, input, keys_only, store, count };
        for (keys, bits) in widths {
            lines.extend(
                inputs.map(|(input, from)| line(format!("{what}, {bits} bits"), from, &case(keys, input), many)),
            );
        }
        let what = format!("{what}, 32 bits, one workgroup");
        lines.extend(inputs.map(|(input, from)| line(what.clone(), from, &case(Keys::F32, input), few)));
    }
    lines.extend(["".into(), "| sort | depth from | keys and indices | visitor | ratio |".into(), RULE.into()]);
    for (keys, bits) in widths {
        let case = |input| Case { replaces: Replaced::Pairs, keys, input, keys_only: false, store, count };
        lines.extend(inputs.map(|(input, from)| line(format!("indices, {bits} bits"), from, &case(input), many)));
    }
    lines.extend(["".into(), "| sort | stored | dispatch after it | visitor | ratio |".into(), RULE.into()]);
    for (keys, bits) in widths {
        for (store, what) in [(Store::Index, "index, 4 bytes"), (Store::Splat, "splat, 16 bytes")] {
            let (replaces, input) = (Replaced::Output, Input::Packed);
            let case = Case { replaces, keys, input, keys_only: false, store, count };
            lines.push(line(format!("indices, {bits} bits"), what, &case, many));
        }
    }
    lines.join("\n")
}

/// The steps of the sort: its keys are made from `input` bytes, and its last step stores `output` bytes.
fn sort(case: &Case, algorithm: Algorithm, input: u64, output: u64) -> Vec<Step> {
    match algorithm {
        Algorithm::SingleWorkgroup => vec![("single_workgroup".into(), input + output)],
        Algorithm::OneSweep => onesweep(case, input, output),
        _ => Vec::new(),
    }
}

fn onesweep(case: &Case, input: u64, output: u64) -> Vec<Step> {
    let (key, passes) = (key_bytes(case), passes(case));
    let value = if case.keys_only { 0 } else { 4 };
    let mut steps = vec![("histogram".to_string(), input)];
    for pass in 0..passes {
        let read = if pass == 0 { input } else { key + value };
        let written = if pass == passes - 1 { output } else { key + value };
        steps.push((format!("onesweep {pass}"), read + written));
    }
    steps
}

fn passes(case: &Case) -> u32 {
    match case.keys {
        Keys::F32 => 4,
        Keys::Bits24 => 3,
        Keys::Bits16 => 2,
    }
}

fn key_bytes(case: &Case) -> u64 {
    if case.keys == Keys::Bits16 { 2 } else { 4 }
}

fn input_bytes(case: &Case) -> u64 {
    4 * case.input.stride() as u64
}

/// Bytes of the sort's own result: the keys, or the indices.
fn result_bytes(case: &Case) -> u64 {
    if case.keys_only { key_bytes(case) } else { 4 }
}

/// Bytes that the caller's code stores for an index; a splat is read before.
fn stored_bytes(case: &Case) -> u64 {
    match case.store {
        Store::Index => 4,
        Store::Splat => 32,
    }
}
