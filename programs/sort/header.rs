//! The header of an .npy file: a Python literal with the dtype, the shape and the order of the dimensions.
//!
//! Sorting needs no more of a dtype than its size, so dtypes that only numpy knows are carried like any other.

use anyhow::{Context, Result, bail, ensure};

/// What a header says.
#[derive(Debug, PartialEq)]
pub struct Header {
    /// The dtype as the header spells it, on one line and cut where it is long.
    pub dtype: String,
    /// The dtype's code, such as `<f4`, unless it is structured.
    pub code: Option<String>,
    /// Bytes of an item.
    pub item_bytes: u64,
    /// Whether the first index is the fastest.
    pub fortran: bool,
    /// Length of each dimension.
    pub shape: Vec<u64>,
}

/// Deepest nesting of a header. Real ones are a few levels deep; without a bound a file could exhaust the stack.
const MAX_DEPTH: u32 = 64;
/// Characters of a dtype that are shown.
const SHOWN: usize = 60;

impl Header {
    /// Understands the text of a header.
    pub fn parse(text: &[u8]) -> Result<Header> {
        let mut parser = Parser { text, at: 0 };
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        parser.expect(b'{')?;
        while !parser.take(b'}') {
            let key = parser.value(0)?;
            parser.expect(b':')?;
            let from = parser.at;
            let value = parser.value(0)?;
            match key {
                Value::Text(key) if key == "descr" => descr = Some((value, shown(&text[from..parser.at]))),
                Value::Text(key) if key == "fortran_order" => fortran = Some(value),
                Value::Text(key) if key == "shape" => shape = Some(value),
                key => bail!("the header has the key {key:?}, allowed are descr, fortran_order and shape"),
            }
            if !parser.take(b',') {
                parser.expect(b'}')?;
                break;
            }
        }
        let (descr, dtype) = descr.context("the header has no descr")?;
        let shape = shape.context("the header has no shape")?.shape()?;
        let Some(Value::Flag(fortran)) = fortran else { bail!("the header's fortran_order is not True or False") };
        let item_bytes = descr.item_bytes().with_context(|| format!("dtype is {dtype}"))?;
        let code = if let Value::Text(code) = descr { Some(code) } else { None };
        Ok(Header { dtype, code, item_bytes, fortran, shape })
    }

    /// Bytes of a row, which is all that the first index selects.
    pub fn row_bytes(&self) -> Result<u64> {
        product(self.item_bytes, self.shape.get(1..).unwrap_or_default())
    }
}

/// The header of an array of one dimension, padded as numpy does it, with all that precedes it in a file.
pub fn one_dimension(code: &str, count: usize) -> Vec<u8> {
    let mut text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({count},), }}");
    let length = (PREFIX + text.len() + 1).next_multiple_of(64) - PREFIX;
    text = format!("{text:<0$}\n", length - 1);
    [b"\x93NUMPY\x01\x00", &(length as u16).to_le_bytes()[..], text.as_bytes()].concat()
}

/// Bytes before the text of a header: magic, version and length.
const PREFIX: usize = 10;

/// Text on one line of bounded length.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut chars = text.trim().chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut shown: String = chars.by_ref().take(SHOWN).collect();
    shown.extend(chars.next().map(|_| "..."));
    shown
}

fn product(bytes: u64, lengths: &[u64]) -> Result<u64> {
    let product = lengths.iter().try_fold(bytes, |product, length| product.checked_mul(*length));
    product.with_context(|| format!("{lengths:?} items of {bytes} bytes are more than any file can hold"))
}

/// A Python literal.
#[derive(Debug)]
enum Value {
    /// With its escape sequences as they are: no name is looked at.
    Text(String),
    Number(u64),
    Flag(bool),
    List(Vec<Value>),
    Tuple(Vec<Value>),
}

impl Value {
    /// Bytes of an item of this dtype.
    fn item_bytes(&self) -> Result<u64> {
        match self {
            Value::Text(code) => code_bytes(code),
            Value::List(fields) => fields.iter().try_fold(0u64, |sum, field| {
                let bytes = field.field_bytes()?;
                sum.checked_add(bytes).context("the fields are larger than any file")
            }),
            Value::Tuple(parts) if parts.len() == 2 => product(parts[0].item_bytes()?, &parts[1].shape()?),
            other => bail!("{other:?} is no dtype"),
        }
    }

    /// Bytes of a field: its name, its dtype, and the lengths of its dimensions if it has any.
    fn field_bytes(&self) -> Result<u64> {
        let (Value::Tuple(parts) | Value::List(parts)) = self else { bail!("{self:?} is no field") };
        match &parts[..] {
            [_, dtype] => dtype.item_bytes(),
            [_, dtype, shape] => product(dtype.item_bytes()?, &shape.shape()?),
            _ => bail!("a field has {} parts, allowed are 2 or 3", parts.len()),
        }
    }

    fn shape(&self) -> Result<Vec<u64>> {
        let length = |value: &Value| match value {
            Value::Number(number) => Ok(*number),
            other => bail!("a length is {other:?}, allowed are whole numbers"),
        };
        match self {
            Value::Tuple(lengths) | Value::List(lengths) => lengths.iter().map(length).collect(),
            single => Ok(vec![length(single)?]),
        }
    }
}

/// Bytes of an item whose dtype has a code: byte order, kind, size, and a unit for times.
fn code_bytes(code: &str) -> Result<u64> {
    let unordered = code.trim_start_matches(['<', '>', '|', '=']);
    let mut chars = unordered.chars();
    let kind = chars.next().context("the code is empty")?;
    ensure!(kind != 'O', "Python objects have no fixed size");
    ensure!("?bBiufcmMSaUV".contains(kind), "the kind {kind:?} is not known");
    let digits: String = chars.take_while(char::is_ascii_digit).collect();
    let size = digits.parse().with_context(|| format!("the size is {digits:?}"))?;
    // Characters have four bytes; all other sizes are in bytes.
    product(size, if kind == 'U' { &[4] } else { &[] })
}

/// Reads the part of Python's literals that headers consist of.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: u32) -> Result<Value> {
        ensure!(depth < MAX_DEPTH, "the header is nested deeper than {MAX_DEPTH} levels");
        match self.peek() {
            Some(quote @ (b'\'' | b'"')) => self.string(quote),
            Some(b'(') => Ok(Value::Tuple(self.sequence(b'(', b')', depth)?)),
            Some(b'[') => Ok(Value::List(self.sequence(b'[', b']', depth)?)),
            Some(b'0'..=b'9') => {
                let digits = self.word(|byte| byte.is_ascii_digit());
                // Python 2 marks long integers.
                self.take(b'L');
                Ok(Value::Number(digits.parse().with_context(|| format!("the header holds the number {digits}"))?))
            }
            _ => match self.word(|byte| byte.is_ascii_alphabetic()).as_str() {
                "True" => Ok(Value::Flag(true)),
                "False" => Ok(Value::Flag(false)),
                _ => bail!("the header cannot be read from its byte {} on", self.at),
            },
        }
    }

    fn sequence(&mut self, open: u8, close: u8, depth: u32) -> Result<Vec<Value>> {
        self.expect(open)?;
        let mut values = Vec::new();
        while !self.take(close) {
            values.push(self.value(depth + 1)?);
            if !self.take(b',') {
                self.expect(close)?;
                break;
            }
        }
        Ok(values)
    }

    fn string(&mut self, quote: u8) -> Result<Value> {
        self.expect(quote)?;
        let from = self.at;
        loop {
            match self.text.get(self.at) {
                None => bail!("the header ends within a string"),
                Some(b'\\') => self.at += 2,
                Some(byte) if *byte == quote => break,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(Value::Text(String::from_utf8_lossy(&self.text[from..self.at - 1]).into_owned()))
    }

    fn word(&mut self, belongs: impl Fn(&u8) -> bool) -> String {
        let length = self.text[self.at..].iter().take_while(|byte| belongs(byte)).count();
        self.at += length;
        String::from_utf8_lossy(&self.text[self.at - length..self.at]).into_owned()
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        let given = self.peek().map_or("its end".into(), |byte| format!("{:?}", byte as char));
        ensure!(self.take(byte), "byte {} of the header is {given}, needed is {:?}", self.at, byte as char);
        Ok(())
    }
}
