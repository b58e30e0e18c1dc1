//! Arrays in .npy files, as bytes: what they mean stays with the header, which goes unchanged from input to output.
//!
//! Keys are held as a sort takes them, which [`Form`] tells from how the file has them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr, WriterBuilder};
use vksort::{KeyType, MAX_COUNT};

use super::form::Form;
use crate::common;

/// An array as rows of bytes.
pub struct Array {
    /// The whole file.
    bytes: Vec<u8>,
    /// Where the rows begin.
    start: usize,
    row_bytes: usize,
    form: Form,
}

impl Array {
    /// Reads keys: those of the type that their dtype names, or of the one that is asked for. Dates and times come in numpy's
    /// order, unless only some bits of them count.
    pub fn read_keys(path: &Path, asked: Option<KeyType>, all_bits: bool) -> Result<(Array, KeyType)> {
        let check = |header: &Header| {
            let key = asked.map_or_else(|| as_named(header), |key| as_asked(header, key))?;
            Ok((key, header.code().map_or(Form::default(), |code| Form::new(&code, key, all_bits))))
        };
        let (mut array, (key, form)) = read(path, check).with_context(|| format!("--keys {}", path.display()))?;
        form.decode(array.rows_mut());
        array.form = form;
        Ok((array, key))
    }

    /// Reads values: rows of any kind, of up to so many bytes.
    pub fn read_values(path: &Path, most: u64) -> Result<Array> {
        let check = |header: &Header| {
            let (bytes, item, shape) = (header.row_bytes()?, header.shown(), header.npy.shape());
            let allowed = [1, 2].contains(&bytes) || bytes > 0 && bytes.is_multiple_of(4) && bytes <= most;
            ensure!(
                allowed,
                "rows have {bytes} bytes (dtype {item}, shape {shape:?}), allowed are 1, 2, or a multiple of 4 up to {most}"
            );
            Ok(())
        };
        let (array, ()) = read(path, check).with_context(|| format!("--values {}", path.display()))?;
        Ok(array)
    }

    /// An array without a file: words of 32 bits.
    pub fn words(words: impl ExactSizeIterator<Item = u32>) -> Array {
        let dtype = DType::new_scalar("<u4".parse().expect("this is a dtype"));
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::<u32>::new().dtype(dtype).shape(&[words.len() as u64]);
        let start = {
            let writer = options.writer(&mut bytes).begin_nd().expect("memory takes a header");
            drop(writer);
            bytes.len()
        };
        bytes.extend(words.flat_map(u32::to_le_bytes));
        Array { bytes, start, row_bytes: 4, form: Form::default() }
    }

    /// Keys without a file, of which only the bytes matter.
    pub fn random(row_bytes: usize, count: u32, random: &mut fastrand::Rng) -> Array {
        let mut bytes = vec![0; row_bytes * count as usize];
        let progress = common::progress("generating", bytes.len() as u64);
        for part in bytes.chunks_mut(GENERATED_AT_ONCE) {
            random.fill(part);
            progress.inc(part.len() as u64);
        }
        progress.finish_and_clear();
        Array { bytes, start: 0, row_bytes, form: Form::default() }
    }

    /// An array like this one with zeros in it.
    pub fn blank(&self) -> Array {
        let mut bytes = self.bytes[..self.start].to_vec();
        bytes.resize(self.bytes.len(), 0);
        Array { bytes, ..*self }
    }

    /// The rows at these indices, in this order.
    pub fn gather(&self, indices: impl Iterator<Item = u32>) -> Result<Array> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        bytes.extend_from_slice(&self.bytes[..self.start]);
        let len = self.count();
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

    /// A row of up to 16 bytes as a number.
    pub fn bits(&self, index: u32) -> u128 {
        let mut bits = [0; 16];
        bits[..self.row_bytes].copy_from_slice(self.row(index));
        u128::from_le_bytes(bits)
    }

    /// Rows of four bytes as numbers.
    pub fn to_words(&self) -> impl ExactSizeIterator<Item = u32> {
        self.rows().chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
    }

    /// The content of a file with this array.
    pub fn into_file(mut self) -> Vec<u8> {
        let form = self.form;
        form.encode(self.rows_mut());
        self.bytes
    }
}

/// What a file says about its rows.
struct Header {
    npy: NpyHeader,
}

/// Characters of a dtype or a header that are shown.
const SHOWN: usize = 60;

/// A text on one line, cut where it is long.
fn shown(text: &str) -> String {
    let mut chars = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut shown: String = chars.by_ref().take(SHOWN).collect();
    shown.extend(chars.next().map(|_| "..."));
    shown
}

impl Header {
    /// The dtype on one line, cut where it is long.
    fn shown(&self) -> String {
        shown(&self.npy.dtype().descr().replace(", ]", "]"))
    }

    /// Bytes of an item.
    fn item_bytes(&self) -> Result<u64> {
        let dtype = self.npy.dtype();
        ensure!(!dtype.uses_pickled_array(), "dtype is {}: Python objects have no fixed size", self.shown());
        let bytes = dtype.num_bytes();
        Ok(bytes.with_context(|| format!("dtype is {}: its items are larger than any file", self.shown()))? as u64)
    }

    /// Bytes of a row, which is all that the first index selects.
    fn row_bytes(&self) -> Result<u64> {
        let lengths = self.npy.shape().get(1..).unwrap_or_default();
        let bytes = lengths.iter().try_fold(self.item_bytes()?, |bytes, length| bytes.checked_mul(*length));
        bytes.with_context(|| format!("shape is {:?}, whose rows are larger than any file", self.npy.shape()))
    }

    /// The dtype's code, such as `<f4`, unless it is structured.
    fn code(&self) -> Option<TypeStr> {
        match self.npy.dtype() {
            DType::Plain(code) => Some(code),
            _ => None,
        }
    }
}

/// What dtypes name a key type.
const KEYS: &str = "bool, integers and floats of up to 64 bits, datetime64 and timedelta64";

/// The key type that a dtype names.
fn as_named(header: &Header) -> Result<KeyType> {
    let named = header.code().and_then(|code| {
        let letter = match code.type_char() {
            TypeChar::Bool | TypeChar::Uint => 'u',
            TypeChar::Int | TypeChar::DateTime | TypeChar::TimeDelta => 'i',
            TypeChar::Float => 'f',
            _ => return None,
        };
        format!("{letter}{}", 8 * code.size_field()).parse().ok()
    });
    let refused = || format!("dtype is {}, allowed are {KEYS}, or others with --key-type", header.shown());
    let key = named.with_context(refused)?;
    let shape = header.npy.shape();
    ensure!(
        shape.len() == 1,
        "shape is {shape:?} with {} dimensions, allowed is one, or [N, 2] of uint64 with --key-type u128 or i128",
        shape.len()
    );
    Ok(key)
}

/// The key type that is asked for, if that is what the array's bytes can be.
fn as_asked(header: &Header, key: KeyType) -> Result<KeyType> {
    let (name, needed) = (key.name(), key.size_bytes());
    let (dtype, shape) = (header.shown(), header.npy.shape());
    // Complex numbers and texts are several numbers, each in the order of its bytes.
    let parts = [TypeChar::Complex, TypeChar::UnicodeStr];
    let plain =
        header.code().is_some_and(|code| code.endianness() != Endianness::Big || !parts.contains(&code.type_char()));
    ensure!(
        plain,
        "dtype is {dtype}, allowed for --key-type {name} are numbers, and little-endian dtypes without fields"
    );
    let item_bytes = header.item_bytes()?;
    let halves = key.bits() == 128 && shape.len() == 2 && shape[1] == 2 && item_bytes == 8;
    let whole = shape.len() == 1 && item_bytes == needed;
    let or_halves = if key.bits() == 128 { ", or shape [N, 2] of 8 bytes each, the lower half first" } else { "" };
    ensure!(
        whole || halves,
        "items are {item_bytes} bytes (dtype {dtype}) in shape {shape:?}, allowed for --key-type {name} is shape [N] of \
         {needed} bytes each{or_halves}"
    );
    Ok(key)
}

/// Most bytes of a header's text; numpy itself reads 10,000 unless it is told to trust a file.
const MAX_HEADER_BYTES: u64 = 1 << 16;
/// Deepest nesting of a header. Real ones are a few levels deep, and npyz takes stack for each.
const MAX_DEPTH: usize = 16;
/// Bytes of generated keys between two steps of the progress bar.
const GENERATED_AT_ONCE: usize = 1 << 24;

/// Reads a file whose header passes the check.
///
/// npyz understands the text of the header. The bytes before it are looked at here: npyz would allocate as much as they
/// announce, and takes no text in Latin-1, which numpy writes for names with accents. Fields with titles are refused.
fn read<T>(path: &Path, check: impl Fn(&Header) -> Result<T>) -> Result<(Array, T)> {
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

    let shape = header.npy.shape();
    let count = *shape.first().context("shape is [] with 0 dimensions, allowed are one or more")?;
    ensure!(
        header.npy.order() == Order::C || shape.iter().filter(|length| **length > 1).count() <= 1,
        "dimensions are in Fortran order, allowed is C order (numpy.ascontiguousarray)"
    );
    let checked = check(&header)?;
    ensure!(count <= MAX_COUNT.into(), "shape is {shape:?}, allowed are at most {MAX_COUNT} rows");
    let (start, row_bytes) = (bytes.len(), header.row_bytes()?);
    let needed = row_bytes.checked_mul(count).context("the rows are more than any file can hold")?;
    let held = grow(&mut bytes, &mut file, needed, metadata.len())? / row_bytes;
    ensure!(held == count, "the file holds {held} rows, needed are the {count} that its header names");
    let ends = file.fill_buf()?.is_empty();
    ensure!(ends, "the file goes on behind the {count} rows that its header names, allowed is one array in a file");
    Ok((Array { bytes, start, row_bytes: usize::try_from(row_bytes)?, form: Form::default() }, checked))
}

/// Understands the text of a header, which is UTF-8 from version 3 on.
fn parse(text: &[u8], version: u8) -> Result<Header> {
    let mut depth = 0usize;
    for byte in text {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        ensure!(depth <= MAX_DEPTH, "the header is nested deeper than {MAX_DEPTH} levels");
    }
    let text = match version {
        3 => String::from_utf8_lossy(text).into_owned(),
        _ => text.iter().map(|byte| char::from(*byte)).collect(),
    };
    let spelled = respelled(text.trim(), version);
    let length = (spelled.len() as u32).to_le_bytes();
    let header = [&b"\x93NUMPY\x03\x00"[..], &length, spelled.as_bytes()].concat();
    let npy = NpyHeader::from_reader(&header[..]).map_err(|error| {
        let error = error.to_string();
        let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        anyhow::anyhow!("the header {} cannot be understood: {}", shown(text.trim()), lines.join(" "))
    })?;
    Ok(Header { npy })
}

/// The text with dtypes as npyz spells them, and up to version 2 without the `L` that Python 2 writes behind numbers.
fn respelled(text: &str, version: u8) -> String {
    let is_long = |at: usize| version < 3 && at > 0 && text.as_bytes()[at - 1].is_ascii_digit();
    let kept = text.char_indices().filter(|(at, char)| *char != 'L' || !is_long(*at));
    let text: String = kept.map(|(_, char)| char).collect();
    // Nothing between two texts in quotes looks like a dtype, and the first text in a tuple is a field's name.
    let (mut respelled, mut before) = (String::new(), "");
    for part in text.split_inclusive(['\'', '"']) {
        let (content, quote) = part.split_at(part.trim_end_matches(['\'', '"']).len());
        let is_name = before.trim_end().ends_with(['(', '[']);
        respelled += &if is_name { content.into() } else { dtype(content) };
        respelled += quote;
        before = content;
    }
    respelled
}

/// Other names of dtypes in numpy, each with its code. Those whose size depends on the machine are left out.
const NAMES: &str = "bool b1,? b1,int8 i1,b i1,uint8 u1,B u1,int16 i2,h i2,uint16 u2,H u2,int32 i4,i i4,uint32 u4,I u4,\
                     int64 i8,q i8,uint64 u8,Q u8,float16 f2,half f2,e f2,float32 f4,single f4,f f4,float64 f8,\
                     double f8,float f8,d f8";

/// A dtype as npyz spells it: `<f4` for `=f4`, `|f4`, `f4` and `float32`, and `|u1` for `<u1`. Other texts stay.
fn dtype(text: &str) -> String {
    let code = text.strip_prefix(['<', '>', '=', '|']).unwrap_or(text);
    // Only a name of one letter may have an order of bytes before it.
    let same = |name: &str| name == if name.len() > 1 { text } else { code };
    let named = NAMES.split(',').filter_map(|pair| pair.split_once(' ')).find(|(name, _)| same(name));
    let code = named.map_or(code, |(_, code)| code).replace("datetime64", "M8").replace("timedelta64", "m8");
    let is_digit = |char: char| char.is_ascii_digit();
    let order = match code.split_at_checked(1) {
        Some((kind, size)) if !"biufcmMSaUV".contains(kind) || !size.starts_with(is_digit) => return text.into(),
        Some(("S" | "a" | "V", _) | ("b" | "i" | "u", "1")) => "|",
        Some(_) if text.starts_with('>') => ">",
        Some(_) => "<",
        None => return text.into(),
    };
    // npyz knows neither the numbers of units, as in `<M8[25us]`, nor times without a unit.
    let code = match code.split_once('[') {
        Some((code, unit)) => format!("{code}[{}", unit.trim_start_matches(is_digit)),
        None if code == "M8" || code == "m8" => code + "[s]",
        None => code,
    };
    order.to_string() + &code
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
