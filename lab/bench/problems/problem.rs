//! A problem, and the ways to solve it.

use std::fmt;

use vksort::standalone::Gpu;
use vksort::{IndexFrom, KeyField, KeyType, SortRequest};
use vksort_lab::bench::versus::COPY;
use vksort_programs::common::memory::Memory;

use crate::case::Suite;
use crate::data::Data;

use super::lengths::Lengths;

/// Something to sort, by each of the ways that fit it. Its name is unique within its suite.
#[derive(Clone, Copy)]
pub struct Problem {
    pub suite: Suite,
    pub name: &'static str,
    pub data: Data,
    pub what: What,
}

#[derive(Clone, Copy)]
pub enum What {
    Elements(Elements),
    Records(Records),
}

/// Elements in segments, which are sorted out of place.
#[derive(Clone, Copy)]
pub struct Elements {
    /// How each segment is sorted.
    pub sort: SortRequest,
    pub lengths: Lengths,
    pub index_from: IndexFrom,
    /// How many of the first elements of each segment are wanted; `None` for all.
    pub top: Option<u32>,
    /// Whether the number of segments is on the device.
    pub counted: bool,
}

/// Records of 32 bytes.
#[derive(Clone, Copy)]
pub struct Records {
    pub fields: &'static [KeyField],
    /// Whether they are in segments, whose numbers the records hold.
    pub cells: Option<Lengths>,
}

/// Recorded sorts that are measured; more are extrapolated from them.
pub const RECORDED: u32 = 4096;

/// Bytes of a record.
pub const STRIDE: u32 = 32;

/// A way to solve a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The bytes of the elements are copied.
    Copy,
    /// The segments, or their first elements, in one recording.
    Segments,
    /// Short segments in windows all the same, and not in a few lanes each.
    Windows,
    /// Segments of up to 128 elements in a few lanes each, where the row has windows for them.
    Lanes,
    /// Rows that passes sort where the row of the tuning divides them, and divided ones where it does not.
    Swept,
    Divided,
    /// All elements by segment and key.
    Full,
    /// All elements by their keys alone, where nearly all of them are one segment.
    KeyAlone,
    /// A recorded sort for each segment.
    Recorded,
    /// Records, sorted by their fields.
    InPlace,
    OutOfPlace,
    Permutation,
    /// Records that are read and written in each pass.
    MovedInPlace,
    MovedOutOfPlace,
}

impl Way {
    /// What it is called beside its problem; nothing for the only way of vksort.
    pub fn name(self) -> &'static str {
        match self {
            Way::Copy => COPY,
            Way::Segments => "",
            Way::Windows => "in windows",
            Way::Lanes => "in lanes",
            Way::Swept => "swept",
            Way::Divided => "divided",
            Way::Full => "full sort",
            Way::KeyAlone => "sort by key alone",
            Way::Recorded => "recorded sorts",
            Way::InPlace => "in place",
            Way::OutOfPlace => "out of place",
            Way::Permutation => "permutation",
            Way::MovedInPlace => "moved in each pass, in place",
            Way::MovedOutOfPlace => "moved in each pass",
        }
    }

    /// What it is compared with, of what there is.
    pub fn against(self) -> &'static [Way] {
        match self {
            Way::Segments => &[
                Way::Full,
                Way::KeyAlone,
                Way::Recorded,
                Way::Windows,
                Way::Lanes,
                Way::Swept,
                Way::Divided,
                Way::Copy,
            ],
            Way::InPlace => &[Way::MovedInPlace, Way::Copy],
            Way::OutOfPlace => &[Way::MovedOutOfPlace, Way::Full, Way::Copy],
            Way::Permutation => &[Way::MovedOutOfPlace, Way::Copy],
            Way::Copy
            | Way::Windows
            | Way::Swept
            | Way::Divided
            | Way::Lanes
            | Way::Full
            | Way::KeyAlone
            | Way::Recorded
            | Way::MovedInPlace
            | Way::MovedOutOfPlace => &[],
        }
    }
}

impl Problem {
    /// The name of the case that solves it in a way.
    pub fn case(&self, way: Way) -> String {
        match way.name() {
            "" => self.name.into(),
            way => format!("{}: {way}", self.name),
        }
    }

    /// How many of up to `n` elements it has.
    pub fn count(&self, n: u32) -> u32 {
        match self.what {
            What::Elements(elements) => elements.lengths.count(n),
            What::Records(_) => n,
        }
    }

    /// About the memory that measuring it takes: all ways share their results and their scratch.
    pub fn memory(&self, n: u32) -> Memory {
        let (input, widest) = match self.what {
            What::Elements(Elements { sort, .. }) => {
                let (key, value) = (sort.key.size_bytes(), sort.value.size_bytes());
                let full = if key == 8 { 16 } else { 8 };
                (key + value + full, full + value)
            }
            What::Records(_) => (2 * u64::from(STRIDE), u64::from(STRIDE) + 16),
        };
        let n = u64::from(n);
        // Results and scratch; on the host inputs, numbers to compare by, the order, and results beside those that are right.
        Memory { device: n * (input + 2 * widest), host: n * (input + 12 + 2 * widest) }
    }

    /// Why it is too large for the device, if it is.
    pub fn lacking(&self, gpu: &Gpu, n: u32, budget_mib: u64) -> Option<String> {
        self.memory(n).lacking(gpu, budget_mib)
    }
}

/// Bits that tell so many segments apart.
pub fn bits_of(segments: u32) -> u32 {
    u32::BITS - segments.saturating_sub(1).leading_zeros()
}

/// The type of keys with so many bits, as numbers.
pub fn wide(bits: u32) -> KeyType {
    if bits <= 64 { KeyType::U64 } else { KeyType::U128 }
}

/// Why a device cannot solve a problem.
#[derive(Debug)]
pub struct Unfit(pub String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}
