//! Arrays in .npy files, as bytes: what they mean stays with the header, which goes unchanged from input to output.
//!
//! Keys are little-endian here, whatever order of bytes the file has.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr, WriterBuilder};
use vksort::{KeyType, MAX_COUNT};

use super::header::{parse, recount, shown_dtype};

/// An array as rows of bytes.
#[derive(Default)]
pub struct Array {
    /// The whole file.
    bytes: Vec<u8>,
    /// Where the rows begin.
    start: usize,
    row_bytes: usize,
    /// The dimension of the file's shape that gathering shortens, and its length where it is not the first one.
    axis: (usize, usize),
    /// Bytes of a number of which the file has the highest byte first.
    swapped: Option<usize>,
    are_times: bool,
}

impl Array {
    /// Reads keys: those of the type that their dtype names, or of the one that is asked for; and their shape. Each key is a row here,
    /// whatever the shape is.
    pub fn read_keys(path: &Path, asked: Option<KeyType>) -> Result<(Array, KeyType, Vec<u64>)> {
        let check = |header: &NpyHeader| {
            let (key, code) = key_type(header, asked)?;
            let halves = key.size_bytes() != item_bytes(header)?;
            let shape = if halves { header.shape()[..1].to_vec() } else { header.shape().to_vec() };
            Ok((key, code, shape))
        };
        let (mut array, (key, code, shape)) =
            read(path, check).with_context(|| format!("--keys {}", path.display()))?;
        array.divide(&shape);
        array.understand(&code);
        Ok((array, key, shape))
    }

    /// Reads values for keys of this shape: rows of any kind, of up to so many bytes.
    pub fn read_values(path: &Path, most: u64, keys: &[u64]) -> Result<Array> {
        let check = |header: &NpyHeader| {
            let (item, shape) = (shown_dtype(&header.dtype()), header.shape());
            ensure!(
                keys.len() == 1 || shape.starts_with(keys),
                "shape is {shape:?}, allowed is one that begins with that of the keys, {keys:?}"
            );
            let bytes = bytes_behind(header, keys.len())?;
            let allowed = [1, 2].contains(&bytes) || bytes > 0 && bytes.is_multiple_of(4) && bytes <= most;
            ensure!(
                allowed,
                "rows have {bytes} bytes (dtype {item}, shape {shape:?}), allowed are 1, 2, or a multiple of 4 up to {most}"
            );
            Ok(())
        };
        let (mut array, ()) = read(path, check).with_context(|| format!("--values {}", path.display()))?;
        array.divide(keys);
        Ok(array)
    }

    /// Makes rows of the elements of a shape, of which the file may have more dimensions.
    fn divide(&mut self, shape: &[u64]) {
        if let [_, between @ .., length] = shape {
            let rows: u64 = between.iter().chain([length]).product();
            self.row_bytes /= (rows as usize).max(1);
            self.axis = (shape.len() - 1, *length as usize);
        }
    }

    /// Reads offsets: integers of any size.
    pub fn read_offsets(path: &Path) -> Result<Vec<i128>> {
        let check = |header: &NpyHeader| {
            let (item, shape) = (shown_dtype(&header.dtype()), header.shape());
            match header.dtype() {
                DType::Plain(code)
                    if matches!(code.type_char(), TypeChar::Int | TypeChar::Uint) && shape.len() == 1 =>
                {
                    Ok(code)
                }
                _ => {
                    bail!("dtype is {item} in shape {shape:?}, allowed are integers of up to 64 bits in shape [M + 1]")
                }
            }
        };
        let (array, code) = read(path, check).with_context(|| format!("--segments {}", path.display()))?;
        let unused_bits = u128::BITS - 8 * array.row_bytes as u32;
        let number = |row: &[u8]| {
            let mut bytes = [0; 16];
            bytes[..row.len()].copy_from_slice(row);
            if code.endianness() == Endianness::Big {
                bytes[..row.len()].reverse();
            }
            let bits = u128::from_le_bytes(bytes) << unused_bits;
            if code.type_char() == TypeChar::Int { bits as i128 >> unused_bits } else { (bits >> unused_bits) as i128 }
        };
        Ok(array.rows().chunks_exact(array.row_bytes).map(number).collect())
    }

    /// The numbers at a byte of each row, without a file.
    pub fn column(&self, offset: usize, code: &TypeStr) -> Array {
        let row_bytes = code.size_field() as usize;
        let numbers = self.rows().chunks_exact(self.row_bytes).map(|row| &row[offset..][..row_bytes]);
        let bytes = numbers.flatten().copied().collect();
        let mut column = Array { bytes, row_bytes, ..Array::default() };
        column.understand(code);
        column.swapped = None;
        column
    }

    /// Rows of those of several columns, filled up to a multiple of 4 bytes.
    pub fn beside(columns: &[Array]) -> Array {
        let row_bytes = columns.iter().map(Array::row_bytes).sum::<usize>().next_multiple_of(4);
        let rows = columns.first().map_or(0, Array::count);
        let mut bytes = Vec::with_capacity(rows * row_bytes);
        for row in 0..rows {
            columns.iter().for_each(|column| bytes.extend_from_slice(column.row(row as u32)));
            bytes.resize((row + 1) * row_bytes, 0);
        }
        Array { bytes, row_bytes, ..Array::default() }
    }

    /// An array without a file: words of 32 bits.
    pub fn words(words: impl ExactSizeIterator<Item = u32>) -> Array {
        let shape = [words.len() as u64];
        Array::words_in(words, &shape)
    }

    /// The same in a shape of so many.
    pub fn words_in(words: impl Iterator<Item = u32>, shape: &[u64]) -> Array {
        let dtype = DType::new_scalar("<u4".parse().expect("this is a dtype"));
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::<u32>::new().dtype(dtype).shape(shape);
        drop(options.writer(&mut bytes).begin_nd().expect("memory takes a header"));
        let start = bytes.len();
        bytes.extend(words.flat_map(u32::to_le_bytes));
        Array { bytes, start, row_bytes: 4, ..Array::default() }
    }

    /// Keys without a file, of which only the bytes matter.
    pub fn random(row_bytes: usize, count: u32, random: &mut fastrand::Rng) -> Array {
        let mut bytes = vec![0; row_bytes * count as usize];
        random.fill(&mut bytes);
        Array { bytes, row_bytes, ..Array::default() }
    }

    /// An array like this one with zeros in it.
    pub fn blank(&self) -> Array {
        let mut bytes = self.bytes[..self.start].to_vec();
        bytes.resize(self.bytes.len(), 0);
        Array { bytes, ..*self }
    }

    /// The rows at these indices, in this order. There may be fewer than in this array.
    pub fn gather(&self, indices: impl ExactSizeIterator<Item = u32>) -> Result<Array> {
        let (len, rows) = (self.count(), indices.len());
        let mut bytes = Vec::with_capacity(self.start + rows * self.row_bytes);
        bytes.extend_from_slice(&self.bytes[..self.start]);
        if rows < len && self.start > 0 {
            let (axis, length) = self.axis;
            recount(&mut bytes, axis, if axis == 0 { rows } else { rows * length / len })?;
        }
        for index in indices {
            ensure!((index as usize) < len, "the sort gave index {index}, allowed are those below {len}");
            bytes.extend_from_slice(self.row(index));
        }
        Ok(Array { bytes, ..*self })
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.rows().len() / self.row_bytes
    }

    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    pub fn row(&self, index: u32) -> &[u8] {
        &self.rows()[index as usize * self.row_bytes..][..self.row_bytes]
    }

    pub fn rows(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub fn rows_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }

    /// Whether these are dates or durations.
    pub fn are_times(&self) -> bool {
        self.are_times
    }

    /// Up to 16 bytes of a row as a number.
    pub fn bits(&self, index: u32, bytes: Range<usize>) -> u128 {
        let mut bits = [0; 16];
        bits[..bytes.len()].copy_from_slice(&self.row(index)[bytes]);
        u128::from_le_bytes(bits)
    }

    /// Rows of four bytes as numbers.
    pub fn to_words(&self) -> impl ExactSizeIterator<Item = u32> {
        self.rows().chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
    }

    /// The content of a file with this array.
    pub fn into_file(mut self) -> Vec<u8> {
        self.swap();
        self.bytes
    }

    /// Makes the keys of a dtype little-endian.
    fn understand(&mut self, code: &TypeStr) {
        self.are_times = matches!(code.type_char(), TypeChar::DateTime | TypeChar::TimeDelta);
        self.swapped = (code.endianness() == Endianness::Big).then(|| code.size_field() as usize);
        self.swap();
    }

    /// Turns the bytes of each number round, where the file has them the other way.
    fn swap(&mut self) {
        if let Some(bytes) = self.swapped {
            self.rows_mut().chunks_exact_mut(bytes).for_each(<[u8]>::reverse);
        }
    }
}

/// Bytes of an item.
pub fn item_bytes(header: &NpyHeader) -> Result<u64> {
    let dtype = header.dtype();
    let shown = shown_dtype(&dtype);
    ensure!(!dtype.uses_pickled_array(), "dtype is {shown}: Python objects have no fixed size");
    Ok(dtype.num_bytes().with_context(|| format!("dtype is {shown}: its items are larger than any file"))? as u64)
}

/// Bytes of a row, which is all that the first index selects.
fn row_bytes(header: &NpyHeader) -> Result<u64> {
    bytes_behind(header, 1)
}

/// Bytes that so many indices select.
fn bytes_behind(header: &NpyHeader, indices: usize) -> Result<u64> {
    let lengths = header.shape().get(indices..).unwrap_or_default();
    let bytes = lengths.iter().try_fold(item_bytes(header)?, |bytes, length| bytes.checked_mul(*length));
    bytes.with_context(|| format!("shape is {:?}, whose rows are larger than any file", header.shape()))
}

/// With which letter the names of the key types begin that a dtype may name.
fn letter(code: &TypeStr) -> Option<char> {
    match code.type_char() {
        TypeChar::Bool | TypeChar::Uint => Some('u'),
        TypeChar::Int | TypeChar::DateTime | TypeChar::TimeDelta => Some('i'),
        TypeChar::Float => Some('f'),
        _ => None,
    }
}

/// The key type that a dtype names.
pub fn key_of(code: &TypeStr) -> Option<KeyType> {
    format!("{}{}", letter(code)?, 8 * code.size_field()).parse().ok()
}

/// The key type that a dtype names, or the one that is asked for, if that is what the array's bytes can be; and the dtype's code,
/// such as `<f4`.
fn key_type(header: &NpyHeader, asked: Option<KeyType>) -> Result<(KeyType, TypeStr)> {
    let (dtype, shape) = (shown_dtype(&header.dtype()), header.shape());
    let found = match header.dtype() {
        DType::Plain(code) => {
            // Complex numbers and texts are several numbers, each in the order of its bytes.
            let asked = asked.filter(|_| letter(&code).is_some() || code.endianness() != Endianness::Big);
            asked.or_else(|| key_of(&code)).map(|key| (key, code))
        }
        _ => None,
    };
    let (key, code) = found.with_context(|| {
        format!(
            "dtype is {dtype}, allowed are bool, integers and floats of up to 64 bits, datetime64 and timedelta64; with \
             --key-type also others without fields, which are little-endian, and with --by structures"
        )
    })?;
    let (given, needed) = (item_bytes(header)?, key.size_bytes());
    let halves = key.bits() == 128 && shape.len() == 2 && shape[1] == 2 && given == 8;
    ensure!(
        halves || given == needed,
        "items are {given} bytes (dtype {dtype}) in shape {shape:?}, allowed for {key} are {needed} bytes each, and with --key-type \
         u128 or i128 also shape [N, 2] of 8 bytes each, the lower half first"
    );
    ensure!(
        halves || shape[1..].iter().all(|length| *length > 0),
        "shape is {shape:?}, whose rows have 0 keys, allowed are 1 or more"
    );
    let keys = shape.iter().fold(1u64, |keys, length| keys.saturating_mul(*length));
    ensure!(halves || keys <= MAX_COUNT.into(), "shape is {shape:?}, allowed are at most {MAX_COUNT} keys");
    Ok((key, code))
}

/// Most bytes of a header's text; numpy itself reads 10,000 unless it is told to trust a file.
const MAX_HEADER_BYTES: u64 = 1 << 16;
/// Reads a file whose header passes the check.
///
/// npyz understands the text of the header. The bytes before it are looked at here: npyz would allocate as much as they announce.
pub fn read<T>(path: &Path, check: impl Fn(&NpyHeader) -> Result<T>) -> Result<(Array, T)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    ensure!(!metadata.is_dir(), "this is a directory, allowed is an .npy file");
    let mut file = BufReader::new(file);
    let mut bytes = vec![0; 8];
    let magic = file.read_exact(&mut bytes).is_ok() && bytes.starts_with(b"\x93NUMPY");
    ensure!(magic, "this is not an .npy file");
    let length_bytes = match (bytes[6], bytes[7]) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        (major, minor) => bail!("the .npy format is {major}.{minor}, allowed are 1.0, 2.0 and 3.0"),
    };
    let mut length = [0; 4];
    file.read_exact(&mut length[..length_bytes]).context("the file ends before its header")?;
    bytes.extend_from_slice(&length[..length_bytes]);
    let (from, needed) = (bytes.len(), u64::from(u32::from_le_bytes(length)));
    ensure!(needed <= MAX_HEADER_BYTES, "the header has {needed} bytes, allowed are at most {MAX_HEADER_BYTES}");
    let held = grow(&mut bytes, &mut file, needed, metadata.len())?;
    ensure!(held == needed, "the header has {held} bytes, needed are the {needed} that are announced");
    let header = parse(&bytes[from..], bytes[6])?;

    let shape = header.shape();
    let count = *shape.first().context("shape is [] with 0 dimensions, allowed are one or more")?;
    ensure!(
        header.order() == Order::C || shape.iter().filter(|length| **length > 1).count() <= 1,
        "dimensions are in Fortran order, allowed is C order (numpy.ascontiguousarray)"
    );
    let checked = check(&header)?;
    ensure!(count <= MAX_COUNT.into(), "shape is {shape:?}, allowed are at most {MAX_COUNT} rows");
    let (start, row_bytes) = (bytes.len(), row_bytes(&header)?);
    let needed = row_bytes.checked_mul(count).context("the rows are more than any file can hold")?;
    let held = grow(&mut bytes, &mut file, needed, metadata.len())? / row_bytes;
    ensure!(held == count, "the file holds {held} rows, needed are the {count} that its header names");
    let ends = file.fill_buf()?.is_empty();
    ensure!(ends, "the file goes on after the {count} rows that its header names, allowed is one array in a file");
    Ok((Array { bytes, start, row_bytes: usize::try_from(row_bytes)?, ..Array::default() }, checked))
}

/// Appends so many bytes of a file, or as many as there are. A header is not trusted with an allocation: memory grows
/// with what the file holds.
fn grow(bytes: &mut Vec<u8>, file: &mut impl Read, needed: u64, file_bytes: u64) -> Result<u64> {
    let start = bytes.len();
    let expected = usize::try_from(needed.min(file_bytes.saturating_sub(start as u64)))?;
    bytes.try_reserve_exact(expected).with_context(|| format!("{expected} bytes do not fit into memory"))?;
    file.take(needed).read_to_end(bytes)?;
    Ok((bytes.len() - start) as u64)
}
