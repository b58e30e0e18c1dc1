//! The reader of .npy files, on files that were good before they were mutated.
//!
//! `VKSORT_SEED` repeats a run, and `VKSORT_FUZZ_SECONDS` sets how long it takes. A file on which the reader fails is kept in
//! `target/tmp`.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use fastrand::Rng;
use vksort::{KeyType, SortRequest, ValueType};
use vksort_programs::sort::fields::{self, By};
use vksort_programs::sort::npy::Array;

use crate::fuzz;

/// Seconds of mutations unless the variable says otherwise.
const SECONDS: u64 = 2;
/// Descriptions of a type, and number of rows.
const CORPUS: [(&str, &str, u8, usize); 12] = [
    ("'<f4'", "(12,)", 1, 48),
    ("'|u1'", "(48L,)", 1, 48),
    ("'>i8'", "(6,)", 2, 48),
    ("'<M8[25us]'", "(6,)", 3, 48),
    ("'float16'", "(24,)", 1, 48),
    ("'?'", "(48,)", 3, 48),
    ("'<u8'", "(3, 2)", 1, 48),
    ("'<u2'", "(2, 3L, 4)", 1, 48),
    ("[(('a title', 'a'), '<u2'), ('b', '<u2')]", "(12,)", 1, 48),
    ("[('a', '<u2'), ('b\\'', '=f4', (2, 2)), (\"c\", [('d', '>U1')])]", "(2,)", 1, 44),
    ("[('a', '>f2'), ('', '|V2'), ('b', '<M8[s]'), ('c', '|i1')]", "(4,)", 1, 52),
    ("'<f4'", "(0,)", 1, 0),
];
/// Words and numbers at which the reader decides.
const TOKENS: [&[u8]; 24] = [
    b"\x93NUMPY\x01\x00",
    b"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF",
    b"\x93NUMPY\x03\x00",
    b"'descr': ",
    b"'fortran_order': True",
    b"'shape': (",
    b"(4294967296, 4294967296, 4294967296)",
    b"(18446744073709551615,)",
    b"((((((((((((((((((",
    b"[('a', '<u2')]",
    b"'>f8'",
    b"'|O'",
    b"'<V0'",
    b"'<M8'",
    b"'<m8[3s]'",
    b"'float32'",
    b"L",
    b"0L",
    b"-1",
    b"'",
    b"\"",
    b"\\",
    &[0; 4],
    &[0xFF; 4],
];

fn file((descr, shape, version, rows): (&str, &str, u8, usize)) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (text.len() as u32).to_le_bytes();
    let length = &length[..if version == 1 { 2 } else { 4 }];
    let rows: Vec<u8> = (0..rows as u8).map(|byte| byte.wrapping_mul(83)).collect();
    [b"\x93NUMPY", &[version, 0][..], length, text.as_bytes(), &rows].concat()
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.usize(1..=3) {
        let at = rng.usize(..=bytes.len());
        let end = rng.usize(at..=bytes.len().min(at + 16));
        match rng.u8(..6) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = rng.u8(..),
            2 => drop(bytes.splice(at..end, TOKENS[rng.usize(..TOKENS.len())].iter().copied())),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = rng.usize(..=bytes.len());
                bytes.splice(to..to, copy);
            }
            4 => drop(bytes.drain(at..end)),
            _ => fuzz::change_digit(rng, bytes),
        }
    }
}

/// What every file must give: rows that are the rest of the file, or a line that says why not. What is written again is the
/// file.
fn check(path: &Path, bytes: &[u8], asked: Option<KeyType>) -> Result<bool, String> {
    let read = || -> anyhow::Result<[Array; 2]> {
        let (keys, key, shape) = Array::read_keys(path, asked)?;
        assert_eq!(keys.row_bytes() as u64, key.size_bytes());
        assert_eq!(keys.count() as u64, shape.iter().product::<u64>());
        Ok([keys, Array::read_values(path, ValueType::MAX_BYTES.into(), &shape[..1])?])
    };
    let by_fields = || -> anyhow::Result<()> {
        let (records, fields) = "a,-b".parse::<By>()?.read(path)?;
        let stand_in = fields::stand_in(&records, &fields);
        let sorted = stand_in.as_ref().unwrap_or(&records);
        assert_eq!(sorted.count(), records.count());
        let request = SortRequest::records(sorted.row_bytes() as u32, fields::key_fields(&fields, stand_in.is_some()));
        request.check()?;
        assert_eq!(records.into_file(), bytes);
        Ok(())
    };
    if let Err(error) = catch_unwind(by_fields).map_err(|_| "it panicked over fields".to_string())? {
        fuzz::refused(&error)?;
    }
    match catch_unwind(read).map_err(|_| "it panicked".to_string())? {
        Ok(arrays) => {
            // A part of the rows is an array too.
            let [keys, values] = arrays;
            let (wanted, most) = ((values.count() / 2) as u32, ValueType::MAX_BYTES.into());
            let part = values.gather(0..wanted).map_err(|error| error.to_string())?;
            let rows = part.rows().to_vec();
            fs::write(path, part.into_file()).map_err(|error| error.to_string())?;
            let again = Array::read_values(path, most, &[0]).map_err(|error| format!("half of its rows: {error:#}"))?;
            match again.rows() == rows && [keys, values].into_iter().all(|array| array.into_file() == bytes) {
                true => Ok(true),
                false => Err("an array is not what the file has".into()),
            }
        }
        Err(error) => fuzz::refused(&error),
    }
}

#[test]
fn mutated_arrays_are_read_or_refused_in_one_line() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("array-{}.npy", std::process::id()));
    fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fuzz::run(SECONDS, |rng, _| {
        let mut bytes = file(CORPUS[rng.usize(..CORPUS.len())]);
        mutate(rng, &mut bytes);
        let asked = [None, Some(KeyType::U64), Some(KeyType::I64), Some(KeyType::I128)][rng.usize(..4)];
        fs::write(&path, &bytes).unwrap();
        check(&path, &bytes, asked).map_err(|reason| {
            format!(
                "{reason}
the file is {}, read as {asked:?}",
                path.display()
            )
        })
    });
    fs::remove_file(&path).unwrap();
}
