//! `sort` with values: rows of any kind that follow their keys.

use super::files::Dir;
use super::reference::{Type, gather};
use super::sort;

const COUNT: usize = 700;

/// Values of one kind, sorted with keys of one type.
struct Case {
    key: &'static str,
    /// The dtype as a Python literal.
    descr: &'static str,
    /// The shape after the first dimension.
    shape: &'static [u64],
    row_bytes: usize,
    outputs: &'static [&'static str],
}

const KEYS_TOO: &[&str] = &["--out-keys", "--out-values"];
const ALONE: &[&str] = &["--out-values"];
const INDICES_TOO: &[&str] = &["--argsort", "--out-values"];
const ALL: &[&str] = &["--argsort", "--out-keys", "--out-values"];

/// Sorts the values in a file, and compares all that comes out in full.
fn check(dir: &Dir, case: &Case, values: &str) {
    let of = Type::named(case.key);
    let keys = of.keys(COUNT, 5);
    let input = dir.write("keys.npy", of.descr, &of.shape(COUNT), &keys);
    let (header, rows) = dir.read("values.npy");
    let descending = case.row_bytes % 8 == 4;
    let paths: Vec<String> = case.outputs.iter().map(|flag| dir.path(&format!("{flag}.npy"))).collect();
    let mut arguments = vec!["--keys", &input, "--values", values];
    arguments.extend(of.arguments());
    arguments.extend(case.outputs.iter().zip(&paths).flat_map(|(flag, path)| [*flag, path.as_str()]));
    arguments.extend(descending.then_some("--descending"));
    let stdout = sort(&arguments);
    assert!(stdout.contains(&format!("values of {} bytes", case.row_bytes)), "{stdout}");

    let indices = of.argsort(&keys, descending, None);
    for flag in case.outputs {
        let name = format!("{flag}.npy");
        match *flag {
            "--argsort" => assert!(dir.read_indices(&name) == indices, "{arguments:?}: indices"),
            "--out-keys" => assert!(dir.read(&name).1 == gather(&keys, of.bytes, &indices), "{arguments:?}: keys"),
            _ => {
                let (given, sorted) = dir.read(&name);
                assert!(given == header, "{arguments:?}: dtype and shape are those of the input");
                assert!(sorted == gather(&rows, case.row_bytes, &indices), "{arguments:?}: values");
            }
        }
        dir.remove(&name);
    }
    assert_eq!(dir.list(), ["keys.npy", "values.npy"], "nothing else is left behind");
}

fn random(bytes: usize) -> Vec<u8> {
    let mut rows = vec![0; bytes];
    fastrand::Rng::with_seed(9).fill(&mut rows);
    rows
}

#[test]
fn rows_of_every_size_and_kind_follow_their_keys() {
    let record = "[('at', '<i2'), ('', '|V2'), ('box', '>f8', (2, 3)), ('in', [('a', '<u4', (12,))])]";
    let quoted = r"[('x', '<f4', (3, 1)), ('it\'s', '|S4')]";
    let cases = [
        Case { key: "u32", descr: "'|b1'", shape: &[], row_bytes: 1, outputs: KEYS_TOO },
        Case { key: "i16", descr: "'<f2'", shape: &[], row_bytes: 2, outputs: ALONE },
        Case { key: "f32", descr: "'>f4'", shape: &[], row_bytes: 4, outputs: KEYS_TOO },
        Case { key: "u64", descr: "'<M8[25us]'", shape: &[], row_bytes: 8, outputs: ALL },
        Case { key: "f64", descr: "'<f4'", shape: &[3], row_bytes: 12, outputs: KEYS_TOO },
        Case { key: "u8", descr: "'<c16'", shape: &[], row_bytes: 16, outputs: ALONE },
        Case { key: "u128", descr: "'<U5'", shape: &[], row_bytes: 20, outputs: KEYS_TOO },
        Case { key: "bf16", descr: quoted, shape: &[1, 2, 1], row_bytes: 32, outputs: INDICES_TOO },
        Case { key: "i32", descr: "'|S10'", shape: &[2, 5], row_bytes: 100, outputs: ALONE },
        Case { key: "f16", descr: record, shape: &[], row_bytes: 100, outputs: KEYS_TOO },
    ];
    let dir = Dir::new("values");
    for case in &cases {
        let shape = [&[COUNT as u64], case.shape].concat();
        let values = dir.write("values.npy", case.descr, &shape, &random(COUNT * case.row_bytes));
        check(&dir, case, &values);
    }
}

/// What numpy has written over the years, and other programs write.
#[test]
fn headers_of_every_version_are_kept() {
    let latin_1 = b"{'descr': [('caf\xE9', '<i4')], 'fortran_order': False, 'shape': (700,), }";
    let utf_8 = "{'descr': [('\u{65E5}\u{672C}', '<i4')], 'fortran_order': False, 'shape': (700,)}".as_bytes();
    let spaced = b"{\"shape\": (700, 1), 'fortran_order':False,'descr':\"<i4\"}";
    let fortran = b"{ 'descr' : '<i4' , 'fortran_order' : True , 'shape' : [700] , }\n";
    let dir = Dir::new("headers");
    let case = Case { key: "u16", descr: "", shape: &[], row_bytes: 4, outputs: ALONE };
    for (version, header) in [(1, &latin_1[..]), (3, utf_8), (1, spaced), (2, fortran)] {
        let values = dir.write_with_header("values.npy", version, header, &random(4 * COUNT));
        check(&dir, &case, &values);
    }
}

#[test]
fn none_and_one_have_values() {
    let dir = Dir::new("few");
    for (count, rows) in [(0, &[][..]), (1, &[1, 2, 3, 4, 5, 6, 7, 8])] {
        let keys = dir.write("keys.npy", "'<i8'", &[count], rows);
        let values = dir.write("values.npy", "'<i4'", &[count, 2], rows);
        sort(&["--keys", &keys, "--values", &values, "--out-values", &dir.path("v.npy"), "--verify"]);
        assert_eq!(dir.read("v.npy"), dir.read("values.npy"));
    }
}

/// What comes out in whatever order of equal keys belongs together: keys, values and indices.
#[test]
fn equal_keys_may_come_in_any_order_where_that_is_asked_for() {
    let dir = Dir::new("unstable");
    let of = Type::named("u32");
    // Few keys, so that most are equal to others.
    let keys: Vec<u8> =
        of.keys(COUNT, 5).chunks_exact(4).flat_map(|key| [key[0] & 3, 0, key[2] & 7, key[3] & 1]).collect();
    let rows = random(4 * COUNT);
    let input = dir.write("keys.npy", of.descr, &of.shape(COUNT), &keys);
    let values = dir.write("values.npy", "'<f4'", &[COUNT as u64], &rows);
    let outputs =
        ["out-keys", "out-values", "argsort"].map(|name| (format!("--{name}"), dir.path(&format!("{name}.npy"))));
    let mut arguments = vec!["--keys", &input, "--values", &values, "--unstable", "--verify"];
    arguments.extend(outputs.iter().flat_map(|(flag, path)| [flag.as_str(), path.as_str()]));
    for algorithm in [&["--algorithm", "onesweep"][..], &[]] {
        let stdout = sort(&[&arguments[..], algorithm].concat());
        assert!(stdout.contains("verified   each run"), "{stdout}");
        let indices = dir.read_indices("argsort.npy");
        let mut all = indices.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..COUNT as u32), "every index is there once");
        let sorted = gather(&keys, 4, &of.argsort(&keys, false, None));
        assert!(dir.read("out-keys.npy").1 == sorted && gather(&keys, 4, &indices) == sorted, "{algorithm:?}: keys");
        assert!(dir.read("out-values.npy").1 == gather(&rows, 4, &indices), "{algorithm:?}: values");
    }
}
