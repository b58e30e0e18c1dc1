//! What can be sorted, as a table made by asking the code that decides it.

use vksort::{
    Algorithm, BitRange, DeviceProfile, KeyOutput, KeyType, Order, Placement, Shape, ShapeDesc, SortRequest, Tuning,
    ValueType,
};

/// A column of the table: an option, and the requests that have it.
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// Requests with the option, for one key type.
    pub requests: fn(SortRequest) -> Vec<SortRequest>,
}

/// The columns behind those that describe the key.
pub const COLUMNS: &[Column] = &[
    Column { name: "keys alone", requests: |usual| vec![usual] },
    Column {
        name: "values of 1, 2, 4, 8, 12, 16 bytes",
        requests: |usual| {
            [1, 2, 4, 8, 12, 16].map(|bytes| SortRequest { value: ValueType::Bytes(bytes), ..usual }).into()
        },
    },
    Column {
        name: "larger values",
        requests: |usual| [20, 64, 1028].map(|bytes| SortRequest { value: ValueType::Bytes(bytes), ..usual }).into(),
    },
    Column { name: "index as value", requests: |usual| vec![SortRequest { value: ValueType::Index, ..usual }] },
    Column {
        name: "keys discarded",
        requests: |usual| {
            [ValueType::U32, ValueType::Index]
                .map(|value| SortRequest { value, key_output: KeyOutput::Discarded, ..usual })
                .into()
        },
    },
    Column { name: "descending", requests: |usual| vec![SortRequest { order: Order::Descending, ..usual }] },
    Column {
        name: "bits `lo..hi`",
        requests: |usual| windows(usual.key.bits()).into_iter().map(|bits| SortRequest { bits, ..usual }).collect(),
    },
    Column {
        name: "out of place",
        requests: |usual| {
            let out = SortRequest { placement: Placement::OutOfPlace, ..usual };
            vec![out, SortRequest { value: ValueType::U32, ..out }]
        },
    },
    Column {
        name: "not stable",
        requests: |usual| {
            let free = SortRequest { stable: false, ..usual };
            let bits = BitRange { low: 1, high: usual.key.bits() };
            vec![SortRequest { value: ValueType::U32, ..free }, SortRequest { bits, ..free }]
        },
    },
    Column {
        name: "every algorithm",
        requests: |usual| {
            Algorithm::ALL.iter().map(|&algorithm| SortRequest { algorithm: Some(algorithm), ..usual }).collect()
        },
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

/// The table in Markdown, as a device serves it: a row for each key type.
pub fn markdown(profile: &DeviceProfile, columns: &[Column]) -> String {
    let mut text = String::from("| key | bits | order | passes |");
    for column in columns {
        text += &format!(" {} |", column.name);
    }
    text += "\n|---|---|---|---|";
    text += &"---|".repeat(columns.len());
    text += "\n";
    for &key in KeyType::ALL {
        let usual = SortRequest::new(key);
        let order = match (key.is_float(), key.is_signed()) {
            (true, _) => "total order",
            (false, true) => "two's complement",
            (false, false) => "unsigned",
        };
        let passes = served(profile, &usual).map_or("none".into(), |shape| shape.passes.to_string());
        text += &format!("| `{}` | {} | {order} | {passes} |", key.name(), key.bits());
        for column in columns {
            let all = (column.requests)(usual).iter().all(|request| served(profile, request).is_some());
            text += if all { " yes |" } else { " no |" };
        }
        text += "\n";
    }
    text
}
