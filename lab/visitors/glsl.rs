//! The visitors in GLSL.

use vksort::Visits;
use vksort_visitors::VisitorSource;

use crate::case::{Case, Input, Keys, Store};

/// A visitor of keys, of the output, or of both.
pub fn source(case: &Case, keys: bool, output: bool) -> VisitorSource {
    let of_keys = VisitorSource::depth(case.keys.depth());
    let mut text = String::new();
    if keys {
        match case.input {
            Input::Vec4 | Input::Packed => text += &of_keys.text,
            Input::Float => text += &of_floats(case.keys),
        }
    }
    if output {
        text += match case.store {
            Store::Index => INDEX,
            Store::Splat => SPLAT,
        };
    }
    let visits = Visits::NONE.keys(keys).output(output);
    let source = VisitorSource::new("visitor.glsl").text(text).visits(visits);
    source.push_members(of_keys.push_members).push_bytes(of_keys.push_bytes)
}

/// Keys of depths that a buffer holds.
fn of_floats(keys: Keys) -> String {
    let key = match keys {
        Keys::F32 => "floatBitsToUint(depth)".to_string(),
        Keys::Bits24 => "uint(clamp(depth, 0.0, 1.0) * 16777215.0)".to_string(),
        Keys::Bits16 => "uint(clamp(depth, 0.0, 1.0) * 65535.0)".to_string(),
    };
    format!(
        "
layout(set = 1, binding = 0) readonly buffer VisitedDepths {{ float visited_depths[]; }};

KEY visit_key(uint index) {{
    precise float depth = visited_depths[index];
    return {key};
}}
"
    )
}

/// Stores the sorted indices.
const INDEX: &str = "
layout(set = 1, binding = 1) writeonly buffer VisitedSorted { uint visited_sorted[]; };

void visit_output(uint position, VALUE index) { visited_sorted[position] = index; }
";

/// Stores the splats in sorted order.
const SPLAT: &str = "
layout(set = 1, binding = 1) writeonly buffer VisitedSorted { uvec4 visited_sorted[]; };
layout(set = 1, binding = 2) readonly buffer VisitedSplats { uvec4 visited_splats[]; };

void visit_output(uint position, VALUE index) { visited_sorted[position] = visited_splats[index]; }
";
