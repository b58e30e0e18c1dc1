//! The text of a header of an .npy file: a literal of Python.

use std::fmt::Display;
use std::ops::Range;

use anyhow::{Context, Result, anyhow, ensure};
use npyz::{DType, NpyHeader};
use py_literal::{ParseError, Value};

/// Deepest nesting of a header. Real ones are a few levels deep, and npyz takes stack for each.
const MAX_DEPTH: usize = 16;

/// Understands the text of a header, which is UTF-8 from version 3 on.
pub fn parse(text: &[u8], version: u8) -> Result<NpyHeader> {
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
    let refused = |error: &dyn Display| {
        let error = error.to_string();
        let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        anyhow!("the header {} cannot be understood: {}", shown(text.trim()), lines.join(" "))
    };
    // Python 2 wrote `L` after long numbers. As numpy does, it is looked for only in what is no literal of Python 3.
    let parsed = text.trim().parse().or_else(|error| match version {
        3 => Err(error),
        _ => without_longs(text.trim()).parse(),
    });
    let spelled = respelled(parsed.map_err(|error: ParseError| refused(&error))?).to_string();
    let length = (spelled.len() as u32).to_le_bytes();
    let header = [&b"\x93NUMPY\x03\x00"[..], &length, spelled.as_bytes()].concat();
    NpyHeader::from_reader(&header[..]).map_err(|error| refused(&error))
}

/// The text without the `L` of Python 2 behind numbers, which are outside of quotes.
fn without_longs(text: &str) -> String {
    let (mut kept, mut quote, mut escaped, mut before) = (String::new(), None, false, ' ');
    for char in text.chars() {
        if quote.is_some() || char != 'L' || !before.is_ascii_digit() {
            kept.push(char);
        }
        quote = match quote {
            Some(open) if char == open && !escaped => None,
            None if matches!(char, '\'' | '"') => Some(char),
            open => open,
        };
        escaped = quote.is_some() && char == '\\' && !escaped;
        before = char;
    }
    kept
}

/// The header with dtypes as npyz spells them, and without the titles of fields.
fn respelled(header: Value) -> Value {
    let Value::Dict(entries) = header else { return header };
    let entry = |(key, value): (Value, Value)| {
        let is_dtype = key == Value::String("descr".into());
        (key, if is_dtype { respelled_dtype(value) } else { value })
    };
    Value::Dict(entries.into_iter().map(entry).collect())
}

fn respelled_dtype(description: Value) -> Value {
    match description {
        Value::String(text) => Value::String(dtype(&text)),
        Value::List(fields) => Value::List(fields.into_iter().map(respelled_field).collect()),
        other => other,
    }
}

/// A field: its name, or its title and its name; its dtype, and perhaps a shape.
fn respelled_field(field: Value) -> Value {
    let (Value::Tuple(mut items) | Value::List(mut items)) = field else { return field };
    if let Some(Value::Tuple(names)) = items.first()
        && let [Value::String(_), name] = &names[..]
    {
        items[0] = name.clone();
    }
    if let Some(description) = items.get_mut(1) {
        *description = respelled_dtype(std::mem::replace(description, Value::None));
    }
    Value::Tuple(items)
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

/// Puts a lower length into the shape of a header, which keeps its size: blanks take the place of digits.
pub fn recount(header: &mut [u8], axis: usize, length: usize) -> Result<()> {
    let place = length_of(header, axis).context("the header has no shape")?;
    let digits = length.to_string();
    ensure!(digits.len() <= place.len(), "the header has no room for a length of {length}");
    let (number, blanks) = header[place].split_at_mut(digits.len());
    number.copy_from_slice(digits.as_bytes());
    blanks.fill(b' ');
    Ok(())
}

/// Where a header has a length of its shape, with the `L` of Python 2.
fn length_of(header: &[u8], axis: usize) -> Option<Range<usize>> {
    let find = |from: usize, is_it: &dyn Fn(u8) -> bool| {
        Some(from + header.get(from..)?.iter().position(|byte| is_it(*byte))?)
    };
    let (mut at, mut depth) = (find(0, &|byte| byte == b'{')?, 0);
    while let Some(&byte) = header.get(at) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            quote @ (b'\'' | b'"') => {
                let start = at + 1;
                at = start;
                while *header.get(at)? != quote {
                    at += if header[at] == b'\\' { 2 } else { 1 };
                }
                let next = find(at + 1, &|byte| !byte.is_ascii_whitespace())?;
                if depth == 1 && &header[start..at] == b"shape" && header[next] == b':' {
                    let (mut first, mut end) = (next, next);
                    for _ in 0..=axis {
                        first = find(end, &|byte| byte.is_ascii_digit())?;
                        end = find(first, &|byte| !byte.is_ascii_digit())?;
                    }
                    return Some(first..if header[end] == b'L' { end + 1 } else { end });
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Characters of a dtype or a header that are shown.
const SHOWN: usize = 60;

/// A text on one line, cut where it is long.
fn shown(text: &str) -> String {
    cut(text, SHOWN)
}

/// A text on one line, of which so many characters are shown.
pub fn cut(text: &str, most: usize) -> String {
    let mut chars = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut shown: String = chars.by_ref().take(most).collect();
    shown.extend(chars.next().map(|_| "..."));
    shown
}

/// A dtype as numpy writes it, cut where it is long.
pub fn shown_dtype(dtype: &DType) -> String {
    shown(&described(dtype))
}

fn described(dtype: &DType) -> String {
    match inner_and_shape(dtype) {
        (inner, None) => inner,
        (inner, Some(shape)) => format!("({inner}, {shape})"),
    }
}

/// A dtype and, of a sub-array, its lengths, which numpy writes behind that of its items.
fn inner_and_shape(dtype: &DType) -> (String, Option<String>) {
    let (mut lengths, mut inner) = (Vec::new(), dtype);
    while let DType::Array(length, of) = inner {
        lengths.push(length.to_string());
        inner = of;
    }
    let shape = match &lengths[..] {
        [] => None,
        [length] => Some(format!("({length},)")),
        lengths => Some(format!("({})", lengths.join(", "))),
    };
    let field = |field: &npyz::Field| {
        let (inner, shape) = inner_and_shape(&field.dtype);
        let shape = shape.map(|shape| format!(", {shape}")).unwrap_or_default();
        format!("('{}', {inner}{shape})", field.name)
    };
    let inner = match inner {
        DType::Record(fields) => format!("[{}]", fields.iter().map(field).collect::<Vec<_>>().join(", ")),
        plain => plain.descr(),
    };
    (inner, shape)
}
