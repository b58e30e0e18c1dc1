//! Reads the flights table: an Arrow file of one uncompressed batch without missing entries.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A column as bytes, with the key type that they are.
pub struct Column {
    pub name: String,
    pub key: &'static str,
    pub bytes: Vec<u8>,
}

/// The table's columns; none, and a printed line, where the file is not there.
pub fn read() -> Option<Vec<Column>> {
    let data = env::var_os("VKSORT_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let path = data.join("flights-200k.arrow");
    if !path.is_file() {
        println!("{} is not there: the flights are not sorted", path.display());
        return None;
    }
    Some(columns(&fs::read(path).unwrap()))
}

/// The columns of an Arrow file: magic, batches, then a footer that says where they are, its length and the magic.
fn columns(file: &[u8]) -> Vec<Column> {
    let file = Flat(file);
    let length_at = file.0.len() - 6 - 4;
    let footer = file.follow(length_at - file.number(length_at, 4));
    let schema = file.follow(file.field(footer, 1));
    let batches = file.follow(file.field(footer, 3));
    assert_eq!(file.number(batches, 4), 1, "batches");
    let block = batches + 4;
    let (message_at, message_bytes) = (file.number(block, 8), file.number(block + 8, 4));
    // Before the message are a mark and its length.
    let message = file.follow(message_at + 8);
    let batch = file.follow(file.field(message, 2));
    // Each column has two buffers: which entries are there, and the entries.
    let buffers = file.follow(file.field(batch, 2)) + 4;

    let fields = file.follow(file.field(schema, 1));
    let column = |index: usize| {
        let field = file.follow(fields + 4 + 4 * index);
        let name = file.follow(file.field(field, 0));
        let name = String::from_utf8(file.0[name + 4..][..file.number(name, 4)].to_vec()).unwrap();
        let buffer = buffers + 16 * (2 * index + 1);
        let (start, length) = (file.number(buffer, 8), file.number(buffer + 8, 8));
        let bytes = file.0[message_at + message_bytes + start..][..length].to_vec();
        // Tags of the union of types: 2 for integers, 3 for floats.
        let key = match file.number(file.field(field, 2), 1) {
            2 => "i16",
            3 => "f32",
            other => panic!("{name} has type {other}"),
        };
        Column { name, key, bytes }
    };
    (0..file.number(fields, 4)).map(column).collect()
}

/// The part of FlatBuffers that this takes.
struct Flat<'a>(&'a [u8]);

impl Flat<'_> {
    fn number(&self, at: usize, bytes: usize) -> usize {
        self.0[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    /// Where an offset leads.
    fn follow(&self, at: usize) -> usize {
        at + self.number(at, 4)
    }

    /// Where a table has its field of this index.
    fn field(&self, table: usize, index: usize) -> usize {
        let places = table.wrapping_add_signed(-(self.number(table, 4) as u32 as i32 as isize));
        let offset = self.number(places + 4 + 2 * index, 2);
        assert!(offset > 0, "field {index} of the table at {table} is absent");
        table + offset
    }
}
