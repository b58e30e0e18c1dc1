//! The problems of each suite: workloads of renderers, neighbour lists, sparse matrices and language models, and limits of each kind.

use vksort::{IndexFrom, KeyField, KeyOutput, KeyType, Order, Placement, SortRequest, ValueType};

use super::lengths::Lengths;
use super::problem::{Elements, Problem, Records, What};
use crate::case::Suite;
use crate::data::Data;

const ANY: u32 = u32::MAX;

/// A `u32` and a `u8`.
const FORTY_BITS: &[KeyField] = &[KeyField::new(4, KeyType::U32), KeyField::new(0, KeyType::U8)];
/// Columns of a table: the largest amounts first, then by two small ones.
const COLUMNS: &[KeyField] =
    &[KeyField::new(8, KeyType::F32).descending(), KeyField::new(2, KeyType::U16), KeyField::new(6, KeyType::I8)];
/// The distance of a particle, and its age.
const PARTICLE: &[KeyField] = &[KeyField::new(12, KeyType::F16), KeyField::new(16, KeyType::U16)];

fn keys(key: KeyType) -> Elements {
    let sort = SortRequest::new(key).placement(Placement::OutOfPlace);
    let index_from = IndexFrom::Array;
    Elements { sort, lengths: Lengths::Whole, index_from, top: None, counted: false }
}

fn pairs(key: KeyType) -> Elements {
    let keys = keys(key);
    Elements { sort: keys.sort.value(ValueType::U32), ..keys }
}

/// The sorting permutation of each segment alone.
fn argsort(order: Order) -> Elements {
    let keys = keys(KeyType::F32);
    let sort = keys.sort.value(ValueType::Index).key_output(KeyOutput::Discarded).order(order);
    Elements { sort, index_from: IndexFrom::Segment, ..keys }
}

/// The first elements of each segment, with their keys.
fn first(top: u32, order: Order) -> Elements {
    let argsort = argsort(order);
    let sort = argsort.sort.key_output(KeyOutput::Sorted);
    Elements { sort, top: Some(top), ..argsort }
}

fn rows(stride: u32) -> Lengths {
    Lengths::Rows { stride, most: ANY }
}

impl Problem {
    /// The problems of a suite; none of those that sort all elements.
    pub fn all(suite: Suite) -> Vec<Problem> {
        let problem = |name, what, data| Problem { suite, name, data, what };
        let elements = |name, elements: Elements, lengths: Lengths, data| {
            problem(name, What::Elements(Elements { lengths, ..elements }), data)
        };
        let records = |name, fields, cells| problem(name, What::Records(Records { fields, cells }), Data::Uniform);
        let tiles = |key| Elements { counted: true, ..pairs(key) };
        let (u32s, u32_pairs) = (keys(KeyType::U32), pairs(KeyType::U32));
        let hundred = Lengths::UpTo(100);
        let largest = |top| first(top, Order::Descending);
        let nearest = |top| first(top, Order::Ascending);
        match suite {
            Suite::Segments => vec![
                elements("rows of 8 keys", u32s, rows(8), Data::Uniform),
                elements("rows of 32 keys", u32s, rows(32), Data::Uniform),
                elements("rows of 1,000 keys", u32s, rows(1000), Data::Uniform),
                elements("rows of 65,536 keys", u32s, rows(1 << 16), Data::Uniform),
                elements("segments of 1 key", u32s, Lengths::Equal(1), Data::Uniform),
                elements("0 to 8 pairs", u32_pairs, Lengths::UpTo(8), Data::Uniform),
                elements("0 to 100 pairs", u32_pairs, hundred, Data::Uniform),
                elements("0 to 100 pairs, entropy 0.2", u32_pairs, hundred, Data::And(5)),
                elements("0 to 100 pairs, half of them empty", u32_pairs, Lengths::HalfEmpty(100), Data::Uniform),
                elements("0 to 100 keys of 64 bits", keys(KeyType::U64), hundred, Data::Uniform),
                elements("0 to 1,000 pairs", u32_pairs, Lengths::UpTo(1000), Data::Uniform),
                elements("power law, pairs", u32_pairs, Lengths::PowerLaw(8), Data::Uniform),
                elements("one long among tiny, pairs", u32_pairs, Lengths::OneAmongTiny, Data::Uniform),
                elements("one segment of keys of 64 bits", keys(KeyType::U64), Lengths::One, Data::Uniform),
                elements("tiles of splats", tiles(KeyType::F32), Lengths::Tiles(1000), Data::Splats),
                elements("tiles of splats, u16 depths", tiles(KeyType::U16), Lengths::Tiles(1000), Data::Uniform),
                elements("rows of a sparse matrix", argsort(Order::Descending), Lengths::Peaks, Data::Normal),
                elements("argsort of rows of 131,072", argsort(Order::Ascending), rows(1 << 17), Data::Normal),
            ],
            Suite::Top => vec![
                elements("100 of all", largest(100), Lengths::Whole, Data::Normal),
                elements("100 of all, random bits", largest(100), Lengths::Whole, Data::Uniform),
                elements("100 of all, equal keys", largest(100), Lengths::Whole, Data::Constant),
                elements(
                    "2,048 of a row of 200,064",
                    largest(2048),
                    Lengths::Rows { stride: 200_064, most: 1 },
                    Data::Normal,
                ),
                elements(
                    "2,048 of 16 rows of 200,064",
                    largest(2048),
                    Lengths::Rows { stride: 200_064, most: 16 },
                    Data::Normal,
                ),
                elements("2,048 of rows of 131,072", largest(2048), rows(1 << 17), Data::Normal),
                elements("40 of rows of 131,072", largest(40), rows(1 << 17), Data::Normal),
                elements("nearest 10 of rows of 1,000,000", nearest(10), rows(1_000_000), Data::Normal),
                elements("nearest 100 of rows of 1,000,000", nearest(100), rows(1_000_000), Data::Normal),
                elements("16 of rows of 1,024", largest(16), rows(1024), Data::Normal),
                elements("8 of rows of 256", largest(8), rows(256), Data::Normal),
            ],
            Suite::Records => vec![
                records("32 bytes by 40 bits", FORTY_BITS, None),
                records("32 bytes by three columns", COLUMNS, None),
                records("particles in cells", PARTICLE, Some(hundred)),
            ],
            _ => Vec::new(),
        }
    }
}
