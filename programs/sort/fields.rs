//! The fields by which structures are sorted.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Error, Result, bail, ensure};
use npyz::{DType, Endianness, NpyHeader, TypeStr};
use vksort::{KeyField, KeyType, Order, ValueType};

use super::header::{cut, shown_dtype};
use super::npy::{Array, item_bytes, key_of, read};
use super::order::as_numpy_sorts;

/// Most characters of the names that are listed.
const SHOWN_NAMES: usize = 300;

/// Names of fields, each with its direction. The first decides first.
#[derive(Clone, Debug)]
pub struct By {
    text: String,
    names: Vec<(String, Order)>,
}

impl FromStr for By {
    type Err = Error;

    /// Reads `field,-field`, in which a minus stands for descending order. A name in double quotes may have commas and a leading minus,
    /// and two double quotes for each of its own.
    fn from_str(text: &str) -> Result<By> {
        let (mut names, mut rest) = (Vec::new(), Some(text));
        while let Some(text) = rest {
            let down = text.strip_prefix('-').map(|name| (name, Order::Descending));
            let (text, order) = down.unwrap_or((text, Order::Ascending));
            let (name, after) = match text.strip_prefix('"') {
                Some(quoted) => unquoted(quoted)?,
                None => text.split_once(',').map_or((text.into(), None), |(name, after)| (name.into(), Some(after))),
            };
            ensure!(!name.is_empty(), "a name is empty, allowed are names of fields with commas between them");
            names.push((name, order));
            rest = after;
        }
        Ok(By { text: text.into(), names })
    }
}

/// A name up to its closing quote, and what comes after the comma behind it.
fn unquoted(text: &str) -> Result<(String, Option<&str>)> {
    let (mut name, mut rest) = (String::new(), text);
    loop {
        let (part, after) =
            rest.split_once('"').context("a name in double quotes does not end, allowed is one that does")?;
        name += part;
        rest = match after.strip_prefix('"') {
            Some(after) => after,
            None if after.is_empty() => return Ok((name, None)),
            None => {
                let after = after
                    .strip_prefix(',')
                    .with_context(|| format!("{after:?} follows a name in double quotes, allowed is a comma"))?;
                return Ok((name, Some(after)));
            }
        };
        name.push('"');
    }
}

/// As it was given.
impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A field of a structure.
pub struct Field {
    /// Where it begins in the structure, in bytes.
    offset: usize,
    code: TypeStr,
    key: KeyType,
    order: Order,
}

impl By {
    /// Reads structures, and finds the fields in them.
    pub fn read(&self, path: &Path) -> Result<(Array, Vec<Field>)> {
        let check = |header: &NpyHeader| {
            item_bytes(header)?;
            let (fields, shape) = (self.find(&header.dtype())?, header.shape());
            ensure!(shape.len() == 1, "shape is {shape:?}, allowed is [N], as array.ravel() has it");
            Ok(fields)
        };
        read(path, check).with_context(|| format!("--keys {} --by {self}", path.display()))
    }

    fn find(&self, dtype: &DType) -> Result<Vec<Field>> {
        let DType::Record(there) = dtype else {
            bail!("dtype is {}, which has no fields, allowed is one with those of --by", shown_dtype(dtype));
        };
        let find = |(name, order): &(String, Order)| {
            let place = there.iter().position(|field| field.name == *name).with_context(|| {
                // Padding has no name.
                let named = there.iter().filter(|field| !field.name.is_empty());
                let names: Vec<String> = named.map(|field| format!("{:?}", field.name)).collect();
                format!("there is no field {name:?}, allowed are {}", cut(&names.join(", "), SHOWN_NAMES))
            })?;
            let dtype = &there[place].dtype;
            let plain = if let DType::Plain(code) = dtype { key_of(code).zip(Some(code.clone())) } else { None };
            let (key, code) = plain.with_context(|| {
                format!(
                    "field {name:?} is {}, allowed are bool, integers and floats of up to 64 bits, datetime64 and timedelta64",
                    shown_dtype(dtype)
                )
            })?;
            let before = there[..place].iter().map(|field| field.dtype.num_bytes());
            let offset = before.sum::<Option<usize>>().context("the fields have no fixed size")?;
            Ok(Field { offset, code, key, order: *order })
        };
        self.names.iter().map(find).collect()
    }
}

/// What to sort in place of structures, so that its permutation is theirs; `None` where the structures themselves will do.
///
/// The library takes structures of a multiple of 4 bytes with little-endian fields, and [numpy](as_numpy_sorts) has some numbers in
/// another order.
pub fn stand_in(records: &Array, fields: &[Field]) -> Option<Array> {
    let bytes = records.row_bytes();
    let mut needed = !bytes.is_multiple_of(4) || bytes > ValueType::MAX_BYTES as usize;
    let mut columns = Vec::new();
    for field in fields {
        let column = records.column(field.offset, &field.code);
        let other = as_numpy_sorts(&column, field.key);
        needed |= field.code.endianness() == Endianness::Big || other.is_some();
        columns.push(other.unwrap_or(column));
    }
    needed.then(|| Array::beside(&columns))
}

/// What the library has to know of the fields, where they are in the structures or in their [stand-in](stand_in).
pub fn key_fields(fields: &[Field], in_stand_in: bool) -> Vec<KeyField> {
    let mut end = 0;
    let key_field = |field: &Field| {
        let begin = end;
        end += field.key.size_bytes() as u32;
        let offset = if in_stand_in { begin } else { field.offset as u32 };
        let key_field = KeyField::new(offset, field.key);
        if field.order == Order::Descending { key_field.descending() } else { key_field }
    };
    fields.iter().map(key_field).collect()
}
