//! `sort` on wrong input: one line that names it, and nothing is written.

use std::fs;

use super::files::Dir;
use super::{fail, without_device};
use vksort_testing::process::program;

/// Arguments, and what the line must hold.
type Case<'a> = (Vec<&'a str>, Vec<&'a str>);

/// Runs each case, which must fail before a device is looked for.
fn check(dir: &Dir, cases: Vec<Case<'_>>) {
    let before = dir.list();
    for (arguments, named) in cases {
        let line = fail(without_device("sort").args(&arguments), false);
        for text in named {
            assert!(line.contains(text), "{arguments:?}: {text:?} is not in {line}");
        }
        assert_eq!(dir.list(), before, "{arguments:?}: files");
    }
}

#[test]
fn bad_keys_are_named() {
    let dir = Dir::new("bad-keys");
    let write = |name: &str, descr: &str, shape: &[u64], bytes: usize| dir.write(name, descr, shape, &vec![0; bytes]);
    let matrix = write("matrix.npy", "'<u4'", &[2, 2], 16);
    let empty_rows = write("empty-rows.npy", "'<u4'", &[2, 0], 0);
    let wide = write("wide.npy", "'|u1'", &[65_536, 65_536], 9);
    let halves = write("halves.npy", "'<u8'", &[2, 2], 32);
    let thirds = write("thirds.npy", "'<u8'", &[2, 3], 48);
    let scalar = write("scalar.npy", "'<u4'", &[], 4);
    let complex = write("complex.npy", "'<c8'", &[2], 16);
    let swapped = write("swapped.npy", "'>c8'", &[2], 16);
    let longer = write("longer.npy", "'<u4'", &[2], 9);
    let strange = write("strange.npy", "'<float32'", &[2], 8);
    let record = write("record.npy", "[('f1', '=u4')]", &[2], 8);
    let words = write("words.npy", "'<u4'", &[3], 12);
    let truncated = write("truncated.npy", "'<f4'", &[100], 399);
    let huge = write("huge.npy", "'<f4'", &[u64::MAX], 36);
    let many = write("many.npy", "'<f4'", &[u32::MAX.into()], 36);
    let missing = dir.path("missing.npy");
    let text = dir.write_bytes("text.npy", b"not an array\n");
    let empty = dir.write_bytes("empty.npy", b"");
    let directory = dir.path("directory");
    fs::create_dir(&directory).unwrap();

    let out = dir.path("out.npy");
    let keys = |keys| vec!["--keys", keys, "--out-keys", &out];
    let of = |key_type, keys| vec!["--keys", keys, "--key-type", key_type, "--argsort", &out];
    check(
        &dir,
        vec![
            (keys(&missing), vec!["--keys", "missing.npy"]),
            (keys(&text), vec!["--keys", "text.npy", "not an .npy file"]),
            (keys(&empty), vec!["--keys", "empty.npy", "not an .npy file"]),
            (keys(&directory), vec!["--keys", "directory"]),
            (keys(&empty_rows), vec!["empty-rows.npy", "[2, 0]", "0 keys"]),
            (keys(&wide), vec!["wide.npy", "[65536, 65536]", "4294967295 keys"]),
            (of("f32", &halves), vec!["halves.npy", "[2, 2]", "8 bytes", "f32", "4 bytes"]),
            ([keys(&matrix), vec!["--rows", "2"]].concat(), vec!["--rows", "[2, 2]", "ravel()"]),
            ([keys(&matrix), vec!["--segments", &words]].concat(), vec!["--segments", "[2, 2]", "ravel()"]),
            ([keys(&matrix), vec!["--unstable"]].concat(), vec!["--unstable", "[2, 2]", "[N]"]),
            (vec!["--keys", &matrix, "--values", &words, "--out-values", &out], vec!["words.npy", "[3]", "[2, 2]"]),
            (keys(&scalar), vec!["scalar.npy", "0 dimensions", "one"]),
            (keys(&complex), vec!["complex.npy", "'<c8'", "bool, integers and floats", "--key-type"]),
            (keys(&longer), vec!["longer.npy", "goes on after the 2 rows", "one array"]),
            (keys(&strange), vec!["strange.npy", "'<float32'", "cannot be understood"]),
            (keys(&record), vec!["record.npy", "[('f1', '<u4')]", "datetime64", "--by"]),
            (keys(&truncated), vec!["truncated.npy", "99", "100"]),
            (keys(&huge), vec!["huge.npy", "18446744073709551615", "4294967295"]),
            (keys(&many), vec!["many.npy", "9", "4294967295"]),
            (of("f64", &words), vec!["words.npy", "4 bytes", "'<u4'", "f64", "8 bytes"]),
            (of("bf16", &words), vec!["words.npy", "4 bytes", "bf16", "2 bytes"]),
            (of("u128", &words), vec!["words.npy", "4 bytes", "u128", "16 bytes", "[N, 2]"]),
            (of("i128", &thirds), vec!["thirds.npy", "[2, 3]", "i128", "[N, 2]"]),
            (of("u64", &swapped), vec!["swapped.npy", "'>c8'", "little-endian"]),
            (of("u32", &record), vec!["record.npy", "without fields"]),
            (of("u31", &words), vec!["--key-type", "u31", "bf16", "i128"]),
        ],
    );
}

#[test]
fn bad_fields_are_named() {
    let dir = Dir::new("bad-fields");
    let descr = "[('depth', '<f4'), ('', '|V2'), ('at', '<f4', (3,)), ('in', [('a', '<u4')]), ('z', '<c8'), ('s', '|S3'), \
                 ('l', '<f16'), ('wide', '<u8'), ('other', '>u8')]";
    let table = dir.write("table.npy", descr, &[1], &[0; 65]);
    let matrix = dir.write("matrix.npy", "[('a', '<u4')]", &[2, 2], &[0; 16]);
    let plain = dir.write("plain.npy", "'<u4'", &[2], &[0; 8]);
    let objects = dir.write("objects.npy", "[('a', '<u4'), ('o', '|O')]", &[2], &[0; 24]);
    let out = dir.path("out.npy");
    let by = |keys, by| vec!["--keys", keys, "--by", by, "--out-keys", &out];
    let with = |more: &[&'static str]| [&["--keys", &table, "--by", "depth", "--out-keys", &out], more].concat();
    check(
        &dir,
        vec![
            (by(&table, "dpth"), vec!["table.npy", "no field \"dpth\"", "\"depth\", \"at\", \"in\""]),
            (by(&table, "depth,--depth"), vec!["no field \"-depth\"", "allowed are \"depth\""]),
            (by(&table, "-at"), vec!["field \"at\"", "'<f4'", "allowed are bool, integers and floats"]),
            (by(&table, "depth,in"), vec!["field \"in\" is [('a', '<u4')]", "datetime64"]),
            (by(&table, "z"), vec!["field \"z\" is '<c8'", "up to 64 bits"]),
            (by(&table, "s"), vec!["field \"s\" is '|S3'", "up to 64 bits"]),
            (by(&table, "l"), vec!["field \"l\" is '<f16'", "up to 64 bits"]),
            (by(&table, "depth,depth,-depth,depth,depth"), vec!["--by depth", "number of fields is 5", "1 to 4"]),
            (by(&table, "wide,-other,depth"), vec!["--by wide,-other,depth", "160 bits", "at most 128"]),
            (by(&table, "depth,"), vec!["--by", "a name is empty"]),
            (by(&table, "-"), vec!["--by", "a name is empty"]),
            (by(&matrix, "a"), vec!["matrix.npy", "[2, 2]", "[N]", "ravel()"]),
            (by(&plain, "a"), vec!["plain.npy", "'<u4'", "no fields"]),
            (by(&objects, "a"), vec!["objects.npy", "objects"]),
            (vec!["--by", "depth"], vec!["--keys"]),
            (with(&["--descending"]), vec!["--by", "--descending"]),
            (with(&["--key-type", "u32"]), vec!["--by", "--key-type"]),
            (with(&["--bits", "0..3"]), vec!["--by", "--bits"]),
            (with(&["--top", "3"]), vec!["--by", "--top"]),
        ],
    );
}

#[test]
fn bad_values_are_named() {
    let dir = Dir::new("bad-values");
    let keys = dir.write("k.npy", "'<u4'", &[4], &[0; 16]);
    let write = |name: &str, descr: &str, shape: &[u64], bytes: usize| dir.write(name, descr, shape, &vec![0; bytes]);
    let order = b"{'descr': '<f4', 'fortran_order': True, 'shape': (4, 2), }";
    let bad: [(String, &[&str]); 9] = [
        (dir.path("missing.npy"), &["missing.npy"]),
        (write("three.npy", "'|u1'", &[4, 3], 12), &["three.npy", "3 bytes", "[4, 3]", "1, 2", "multiple of 4"]),
        (write("six.npy", "[('a', '<u4'), ('b', '<i2')]", &[4], 24), &["six.npy", "6 bytes", "multiple of 4"]),
        (write("no-bytes.npy", "'<u4'", &[4, 0], 0), &["no-bytes.npy", "0 bytes", "[4, 0]"]),
        (write("wide.npy", "'<u4'", &[4, 1 << 31], 64), &["wide.npy", "8589934592 bytes"]),
        (write("object.npy", "'|O'", &[4], 64), &["object.npy", "'|O'", "objects"]),
        (write("long.npy", "'<f4'", &[5], 20), &["--values", "5 rows", "4, one for each key"]),
        (write("cut.npy", "'<f8'", &[4, 3], 95), &["cut.npy", "3 rows", "the 4"]),
        (dir.write_with_header("fortran.npy", 1, order, &[0; 32]), &["fortran.npy", "Fortran", "C order"]),
    ];
    let (out, other) = (dir.path("out.npy"), dir.path("other.npy"));
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (values, named) in &bad {
        let named = [&["--values"], *named].concat();
        cases.push((vec!["--keys", &keys, "--values", values, "--out-values", &out], named.clone()));
        // The permutation needs no values, but that they are bad is not hidden by it.
        cases.push((vec!["--keys", &keys, "--values", values, "--out-values", &out, "--argsort", &other], named));
    }
    let large = write("large.npy", "'<u4'", &[4, 16385], 4 * 65540);
    cases.push((
        vec!["--keys", &keys, "--values", &large, "--out-values", &out],
        vec!["--values", "large.npy", "65540 bytes", "up to 65536"],
    ));
    check(&dir, cases);
}

#[test]
fn bad_headers_are_named() {
    let dir = Dir::new("bad-headers");
    let whole = "{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }";
    let deep = format!("{{'descr': {}", "[".repeat(60_000));
    let endless = whole.replace("'<u4'", "[('a', '<u4', (4294967296, 4294967296, 4294967296))]");
    let bad: Vec<(u8, String, &str)> = vec![
        (1, whole.replace("'<u4'", "<u4"), "1:11"),
        (1, whole.replace("'<u4'", "'<u4"), "1:17"),
        (1, whole.replace("'<u4'", "'<'"), "type string"),
        (1, whole.replace("'<u4'", "'<u'"), "type string"),
        (1, whole.replace("'<u4'", "'<u3'"), "'<u3' has invalid size"),
        (1, whole.replace("'<u4'", "'<x4'"), "type string"),
        (1, whole.replace("'<u4'", "'<u99999999999999999999'"), "too large"),
        (1, whole.replace("'<u4'", "[('a', '<u4', 1, 2)]"), "2 or 3 items"),
        (1, whole.replace("'<u4'", "[7]"), "list or tuple"),
        (1, whole.replace("'<u4'", "7"), "string or list"),
        (1, whole.replace("(2,)", "(-2,)"), "negative"),
        (1, whole.replace("(2,)", "('2',)"), "integer"),
        (1, whole.replace("(2,)", "(99999999999999999999,)"), "larger than u64"),
        (1, whole.replace("'shape'", "'form'"), "'shape'"),
        (1, whole.replace("False", "None"), "'fortran_order' value"),
        (1, whole.replace("False", "0"), "'fortran_order' value"),
        (1, "{'descr': '<u4', 'shape': (2,)}".into(), "missing key 'fortran_order'"),
        (1, "{}".into(), "missing key"),
        (1, "[]".into(), "dict"),
        (1, String::new(), "expected value"),
        (1, endless, "larger than"),
        (1, deep, "16 levels"),
        (4, whole.into(), "4.0"),
    ];
    let files: Vec<(String, &str)> = bad
        .iter()
        .enumerate()
        .map(|(index, (version, text, named))| {
            (dir.write_with_header(&format!("{index}.npy"), *version, text.as_bytes(), &[0; 8]), *named)
        })
        .collect();
    let cut = dir.write_bytes("cut.npy", b"\x93NUMPY\x01\x00\x76");
    let short = dir.write_bytes("short.npy", b"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{'descr'");
    let files = files.iter().map(|(path, named)| (path, *named));
    let files = files.chain([(&cut, "before its header"), (&short, "4294967295 bytes, allowed are at most 65536")]);
    let out = dir.path("out.npy");
    check(&dir, files.map(|(path, named)| (vec!["--keys", path, "--out-keys", &out], vec!["--keys", named])).collect());
}

#[test]
fn bad_offsets_are_named() {
    let dir = Dir::new("bad-offsets");
    let keys = dir.write("k.npy", "'<u4'", &[4], &[0; 16]);
    let words = |words: &[i64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let write = |name: &str, offsets: &[i64]| dir.write(name, "'<i8'", &[offsets.len() as u64], &words(offsets));
    let bad: [(String, &[&str]); 9] = [
        (dir.path("missing.npy"), &["missing.npy"]),
        (write("none.npy", &[]), &["none.npy", "no rows", "one more than"]),
        (write("down.npy", &[0, 3, 2, 4]), &["down.npy", "offset 2 is 2", "3 to 4"]),
        (write("beyond.npy", &[0, 5]), &["beyond.npy", "offset 1 is 5", "0 to 4"]),
        (write("below.npy", &[-1, 4]), &["below.npy", "offset 0 is -1", "0 to 4"]),
        (write("far.npy", &[0, 1 << 32]), &["far.npy", "offset 1 is 4294967296", "0 to 4"]),
        (dir.write("top.npy", "'<u8'", &[2], &words(&[0, -1])), &["top.npy", "is 18446744073709551615", "0 to 4"]),
        (dir.write("float.npy", "'<f8'", &[2], &words(&[0, 0])), &["float.npy", "'<f8'", "integers"]),
        (dir.write("pairs.npy", "'<i8'", &[1, 2], &words(&[0, 4])), &["pairs.npy", "[1, 2]", "[M + 1]"]),
    ];
    let out = dir.path("out.npy");
    let case = |(offsets, named): &'_ (String, &'static [&'static str])| {
        let named = [&["--segments"], *named].concat();
        (
            vec![
                "--keys".to_string(),
                keys.clone(),
                "--segments".into(),
                offsets.clone(),
                "--out-keys".into(),
                out.clone(),
            ],
            named,
        )
    };
    let cases: Vec<_> = bad.iter().map(case).collect();
    check(
        &dir,
        cases
            .iter()
            .map(|(arguments, named)| (arguments.iter().map(String::as_str).collect(), named.clone()))
            .collect(),
    );
}

#[test]
fn bad_flags_are_named() {
    let dir = Dir::new("bad-flags");
    let keys = dir.write("k.npy", "'<u4'", &[3], &[0; 12]);
    let values = dir.write("v.npy", "'<u4'", &[3], &[0; 12]);
    let directory = dir.path("directory");
    fs::create_dir(&directory).unwrap();
    let out = dir.path("out.npy");
    let same = dir.path("directory/../out.npy");
    let nowhere = dir.path("nowhere/out.npy");
    let with = |more: &[&'static str]| [&["--keys", &keys, "--out-keys", &out], more].concat();
    check(
        &dir,
        vec![
            (vec!["--keys", &keys, "--values", &values, "--out-keys", &out], vec!["--values", "--out-values"]),
            (vec!["--keys", &keys, "--out-values", &out], vec!["--out-values", "--values"]),
            (vec!["--values", &values, "--out-values", &out], vec!["--values", "--keys"]),
            (vec!["--out-keys", &out], vec!["--out-keys", "--keys"]),
            (vec!["--argsort", &out], vec!["--argsort", "--keys"]),
            (vec!["--segments", &keys], vec!["--segments", "--keys"]),
            (vec!["--rows", "3"], vec!["--rows", "--keys"]),
            (vec!["--top", "3"], vec!["--top", "--keys"]),
            (with(&["--rows", "2"]), vec!["--rows is 2", "3 keys"]),
            (with(&["--rows", "0"]), vec!["--rows", "whole numbers from 1"]),
            (with(&["--rows", "-3"]), vec!["--rows", "-3", "whole numbers from 1"]),
            (with(&["--top", "0"]), vec!["--top", "whole numbers from 1"]),
            (with(&["--top", "-1"]), vec!["--top", "-1", "whole numbers from 1"]),
            (with(&["--top", "abc"]), vec!["--top", "abc", "whole numbers from 1"]),
            (with(&["--rows", "3", "--segments", "x.npy"]), vec!["--rows", "--segments"]),
            (with(&["--rows", "3", "--unstable"]), vec!["--unstable", "--rows"]),
            (with(&["--top", "3", "--algorithm", "onesweep"]), vec!["--algorithm", "--top"]),
            (with(&["--seed", "1"]), vec!["--seed", "--keys"]),
            (with(&["--count", "1"]), vec!["--count", "--keys"]),
            (with(&["--keys-only"]), vec!["--keys-only", "--keys"]),
            (vec!["--keys", &keys], vec!["--keys", "without an output", "--verify"]),
            (vec!["--count", "-5"], vec!["--count", "-5", "0 to 4294967295", "2^20"]),
            (vec!["--count", "1.5"], vec!["--count", "1.5", "whole numbers"]),
            (vec!["--count", "2^32"], vec!["--count", "2^32", "0 to 4294967295"]),
            (with(&["--bits", "8"]), vec!["--bits", "\"8\"", "LO..HI"]),
            (with(&["--bits", "-1..3"]), vec!["-1"]),
            (with(&["--repeat", "0"]), vec!["--repeat", "0"]),
            (with(&["--algorithm", "bogo"]), vec!["bogo", "onesweep"]),
            (vec!["--keys", &keys, "--out-keys", &out, "--argsort", &same], vec!["--out-keys", "--argsort", "out.npy"]),
            (vec!["--keys", &keys, "--out-keys", &out, "--argsort", &nowhere], vec!["--argsort", "nowhere"]),
            (vec!["--keys", &keys, "--out-keys", &directory], vec!["--out-keys", "directory"]),
        ],
    );
}

/// What the library refuses, with a device at hand.
#[test]
fn windows_out_of_range_are_named() {
    let dir = Dir::new("bad-windows");
    let keys = dir.write("k.npy", "'<i2'", &[3], &[0; 6]);
    let out = dir.path("out.npy");
    for window in ["0..17", "9..8", "4294967295..4294967295"] {
        let line = fail(program("sort").args(["--keys", &keys, "--out-keys", &out, "--bits", window]), true);
        assert!(line.contains("bit window") && line.contains(window) && line.contains("16"), "{line}");
        assert_eq!(dir.list(), ["k.npy"]);
    }
}
