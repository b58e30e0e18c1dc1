//! `sort` on segments and rows of keys, and on their first ones.

use std::ops::Range;

use super::files::Dir;
use super::reference::{Type, gather};
use super::{fail, sort};
use vksort_testing::process::program;

/// The order of parts, each sorted by itself, of which so many are wanted.
fn order_of(of: &Type, keys: &[u8], descending: bool, parts: &[Range<usize>], top: Option<usize>) -> Vec<u32> {
    let mut order: Vec<u32> = (0..(keys.len() / of.bytes) as u32).collect();
    for part in parts {
        let own = of.argsort(&keys[part.start * of.bytes..part.end * of.bytes], descending, None);
        for (place, index) in part.clone().zip(own) {
            order[place] = part.start as u32 + index;
        }
    }
    match top {
        None => order,
        Some(top) => {
            parts.iter().flat_map(|part| &order[part.start..part.end.min(part.start + top)]).copied().collect()
        }
    }
}

/// Sorts parts for keys, values and permutation at once, and compares each in full.
fn check(name: &str, descr: &str, parts: &[Range<usize>], count: usize, arguments: &[&str], top: Option<usize>) {
    let dir = Dir::new(&format!("parts-{name}-{count}"));
    let of = Type::named(name);
    let keys = of.keys(count, 17);
    let input = dir.write("keys.npy", of.descr, &of.shape(count), &keys);
    let rows: Vec<u8> = (0..6 * count as u32).flat_map(u16_of).collect();
    let values = dir.write("values.npy", "'<u2'", &[count as u64, 6], &rows);
    let [first, second]: [Vec<u8>; 2] = [false, true].map(|big| {
        let words = parts.iter().map(|part| part.start).chain(parts.last().map(|part| part.end));
        let width = descr.trim_matches('\'')[2..].parse().unwrap();
        let number = |word: usize| {
            let mut bytes = (word as u64).to_le_bytes()[..width].to_vec();
            if big {
                bytes.reverse()
            }
            bytes
        };
        words.flat_map(number).collect()
    });
    let offsets = if descr.starts_with("'>") { second } else { first };
    let segments = dir.write("segments.npy", descr, &[parts.len() as u64 + 1], &offsets);
    let descending = arguments.contains(&"--descending");
    let [out_keys, out_values, argsort] = ["k.npy", "v.npy", "a.npy"].map(|name| dir.path(name));
    let inputs = ["--keys", &input, "--values", &values, "--verify"];
    let outputs = ["--out-keys", &out_keys, "--out-values", &out_values, "--argsort", &argsort];
    let segments =
        if arguments.contains(&"--rows") || parts.len() == 1 { vec![] } else { vec!["--segments", &segments] };
    let all = [&inputs[..], &of.arguments(), &segments, arguments].concat();
    let stdout = sort(&[&all[..], &outputs].concat());
    assert!(stdout.contains("verified "), "{stdout}");

    let order = order_of(of, &keys, descending, parts, top);
    assert!(dir.read_indices("a.npy") == order, "{arguments:?}: the permutation differs from the reference");
    for (file, from, bytes, rows) in [("k.npy", "keys.npy", of.bytes, &keys), ("v.npy", "values.npy", 12, &rows)] {
        let (header, found) = dir.read(file);
        assert!(found == gather(rows, bytes, &order), "{arguments:?}: {file} differs from the reference");
        let given = dir.read(from).0;
        assert_eq!(header.len(), given.len(), "{arguments:?}: {file} has the header of {from}");
        if order.len() == count {
            assert_eq!(header, given, "{arguments:?}: {file} has the header of {from}");
        } else {
            let shape = npyz::NpyFile::new(std::fs::File::open(dir.path(file)).unwrap()).unwrap().shape().to_vec();
            assert_eq!(shape[0], order.len() as u64, "{arguments:?}: {file} says how many rows it has");
        }
    }
    // Without the permutation, keys and values come from the device.
    dir.remove("a.npy");
    sort(&[&all[..], &outputs[..4]].concat());
    assert!(dir.read("k.npy").1 == gather(&keys, of.bytes, &order), "{arguments:?}: keys");
    assert!(dir.read("v.npy").1 == gather(&rows, 12, &order), "{arguments:?}: values");
}

fn u16_of(number: u32) -> [u8; 2] {
    (number as u16).to_le_bytes()
}

/// Segments of 0 to 60 keys, and the keys, of which a few at both ends are in none.
fn drawn(seed: u64) -> (Vec<Range<usize>>, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut at = random.usize(..9);
    let mut next = |_| {
        let start = at;
        at += random.usize(..60) * random.usize(..2);
        start..at
    };
    let parts: Vec<_> = (0..90).map(&mut next).collect();
    (parts, at + 7)
}

#[test]
fn segments_are_sorted_each_by_itself() {
    let kinds = [("u32", "'<u4'"), ("f32", "'>i8'"), ("i16", "'<i8'"), ("u64", "'<u8'")];
    for (seed, (name, descr)) in (0..).zip(kinds) {
        let (parts, count) = drawn(seed);
        let direction: &[&str] = if seed % 2 == 0 { &[] } else { &["--descending"] };
        check(name, descr, &parts, count, direction, None);
    }
}

#[test]
fn rows_are_sorted_each_by_itself() {
    let rows: Vec<_> = (0..30).map(|row| 40 * row..40 * (row + 1)).collect();
    check("i32", "'<u4'", &rows, 1200, &["--rows", "40", "--repeat", "2"], None);
}

/// Keys of several dimensions: each row along the last one is sorted by itself, results keep the shape, and the permutation counts from
/// the row, as numpy's do.
#[test]
fn arrays_of_several_dimensions_are_sorted_by_rows() {
    let dir = Dir::new("parts-of-shapes");
    for (shape, top, name) in [
        (vec![6, 40], None, "i32"),
        (vec![2, 3, 50], Some(7), "f16"),
        (vec![3, 5], Some(9), "u64"),
        (vec![0, 4], None, "u8"),
    ] {
        let (of, count) = (Type::named(name), shape.iter().product::<u64>() as usize);
        let (keys, length) = (of.keys(count, 23), shape[shape.len() - 1] as usize);
        let input = dir.write("keys.npy", of.descr, &shape, &keys);
        let rows: Vec<u8> = (0..2 * count as u32).flat_map(u16_of).collect();
        let values = dir.write("values.npy", "'<u2'", &[&shape[..], &[2]].concat(), &rows);
        let [out_keys, out_values, argsort] = ["k.npy", "v.npy", "a.npy"].map(|name| dir.path(name));
        let top_text = top.unwrap_or(1).to_string();
        let more: &[&str] = if top.is_some() { &["--top", &top_text] } else { &["--repeat", "2"] };
        let inputs = ["--keys", &input, "--values", &values, "--verify"];
        let outputs = ["--out-keys", &out_keys, "--out-values", &out_values, "--argsort", &argsort];
        sort(&[&inputs[..], more, &outputs].concat());
        let parts: Vec<_> = (0..count / length).map(|row| row * length..(row + 1) * length).collect();
        let order = order_of(of, &keys, false, &parts, top);
        let wanted = top.unwrap_or(length).min(length) as u64;
        let kept = [&shape[..shape.len() - 1], &[wanted]].concat();
        let open = |file: &str| npyz::NpyFile::new(std::fs::File::open(dir.path(file)).unwrap()).unwrap();
        let indices: Vec<u32> = order.iter().map(|index| index % length as u32).collect();
        assert_eq!(open("a.npy").shape(), kept, "{shape:?}");
        assert!(open("a.npy").into_vec::<u32>().unwrap() == indices, "{shape:?}: the permutation of each row");
        assert_eq!((open("k.npy").shape(), open("v.npy").shape()), (&kept[..], &[&kept[..], &[2]].concat()[..]));
        assert!(dir.read("k.npy").1 == gather(&keys, of.bytes, &order), "{shape:?}: keys");
        assert!(dir.read("v.npy").1 == gather(&rows, 4, &order), "{shape:?}: values");
    }
}

#[test]
fn the_first_keys_are_found() {
    let (parts, count) = drawn(5);
    check("f32", "'<i4'", &parts, count, &["--top", "4", "--descending"], Some(4));
    let long = [1..4, 4..50_000, 50_000..50_000, 50_000..80_001];
    check("f32", "'<u4'", &long, 80_003, &["--top", "12"], Some(12));
    let rows: Vec<_> = (0..3).map(|row| 20_000 * row..20_000 * (row + 1)).collect();
    check("u16", "'<u4'", &rows, 60_000, &["--rows", "20000", "--top", "10"], Some(10));
    let whole: Vec<_> = std::iter::once(0..5000).collect();
    check("i64", "'<u4'", &whole, 5000, &["--top", "9"], Some(9));
    // More than there are.
    let few: Vec<_> = std::iter::once(0..6).collect();
    check("u8", "'<u4'", &few, 6, &["--top", "2^20"], Some(1 << 20));
}

#[test]
fn segments_of_nothing_are_sorted() {
    check("u32", "'<u4'", &[0..0, 0..0], 0, &[], None);
    check("u32", "'<u4'", &[], 0, &["--rows", "4"], None);
    check("u32", "'<u8'", &[2..2, 2..2], 3, &["--top", "2"], Some(2));
}

/// numpy writes lengths in several ways, and other writers do so in more.
#[test]
fn fewer_rows_are_said_in_every_header() {
    let dir = Dir::new("recounted");
    let headers = [
        "{'descr': '<u4', 'fortran_order': False, 'shape': (12,), }",
        "{'shape': (12L,), 'fortran_order': False, 'descr': '<u4'}",
        "{ \"shape\" : ( 12 , ), \"descr\": '<u4', 'fortran_order': False}",
        "{'descr': [('shape', '<u4')], 'fortran_order': False, 'shape': (12,)}",
        "{'descr': [('it\\'s \"shape\": (3,', '<u4')], 'fortran_order': False, 'shape': (12,)}",
    ];
    let keys = dir.write("k.npy", "'<u4'", &[12], &(0..12u32).rev().flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let rows: Vec<u8> = (100..112u32).flat_map(u32::to_le_bytes).collect();
    for header in headers {
        let values = dir.write_with_header("v.npy", 1, header.as_bytes(), &rows);
        sort(&["--keys", &keys, "--values", &values, "--top", "3", "--out-values", &dir.path("o.npy")]);
        let file = npyz::NpyFile::new(std::fs::File::open(dir.path("o.npy")).unwrap());
        assert_eq!(file.unwrap_or_else(|error| panic!("{header}: {error}")).shape(), [3], "{header}");
        assert_eq!(dir.read("o.npy").1, [111u32, 110, 109].map(u32::to_le_bytes).concat(), "{header}");
    }
}

/// What the device cannot do is told with what it can.
#[test]
fn too_much_for_the_device_is_refused() {
    let dir = Dir::new("parts-too-long");
    let keys = dir.write("k.npy", "'|u1'", &[100_000], &[0; 100_000]);
    let out = dir.path("o.npy");
    let line = fail(program("sort").args(["--keys", &keys, "--argsort", &out, "--top", "100000"]), true);
    assert!(line.contains("--top is 100000, allowed is up to") && line.contains("a block"), "{line}");
    let line = fail(program("sort").args(["--keys", &keys, "--argsort", &out, "--top", "2^30"]), true);
    assert!(line.contains("--top is 1073741824, allowed is up to"), "{line}");
    assert_eq!(dir.list(), ["k.npy"]);
}
