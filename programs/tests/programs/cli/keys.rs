//! `sort` on keys of every type, by all of their bits or some.

use super::files::Dir;
use super::reference::{TYPES, Type, gather};
use super::{fail, sort, without_device};

/// Sorts keys of a type for keys and permutation at once, and compares both in full.
fn check(of: &Type, count: usize, descending: bool, bits: Option<(u32, u32)>, extra: &[&str]) {
    let window = bits.map(|(low, high)| format!("{low}..{high}"));
    let dir = Dir::new(&format!("keys-{}-{count}-{descending}-{}", of.name, window.as_deref().unwrap_or("all")));
    let keys = of.keys(count, 7);
    let input = dir.write("keys.npy", of.descr, &of.shape(count), &keys);
    let (out_keys, argsort) = (dir.path("k.npy"), dir.path("a.npy"));
    let mut arguments = vec!["--keys", &input, "--out-keys", &out_keys, "--argsort", &argsort];
    arguments.extend(of.arguments());
    arguments.extend(descending.then_some("--descending"));
    arguments.extend(window.iter().flat_map(|window| ["--bits", window.as_str()]));
    arguments.extend(extra);
    let stdout = sort(&arguments);
    assert!(stdout.contains(&format!("{count} {} keys", of.name)), "the report names count and type: {stdout}");

    let indices = of.argsort(&keys, descending, bits);
    assert!(dir.read_indices("a.npy") == indices, "{arguments:?}: the permutation differs from the reference");
    let (header, rows) = dir.read("k.npy");
    assert!(rows == gather(&keys, of.bytes, &indices), "{arguments:?}: the keys differ from the reference");
    assert_eq!(header, dir.read("keys.npy").0, "{arguments:?}: dtype and shape are those of the input");
    assert_eq!(dir.list(), ["a.npy", "k.npy", "keys.npy"], "nothing else is left behind");
}

/// Directions take turns: kernels are the library's to test, and reading and writing an array does not depend on the direction.
#[test]
fn each_type_is_sorted() {
    TYPES.iter().enumerate().for_each(|(index, of)| check(of, 2000, index % 2 == 1, None, &[]));
}

#[test]
fn windows_of_bits_are_sorted() {
    let windows = [
        ("u32", 4, 13),
        ("u8", 0, 1),
        ("i16", 8, 16),
        ("f32", 23, 32),
        // All bits in their own order, in which NaNs and zeros differ.
        ("f16", 0, 16),
        ("u64", 30, 47),
        ("i128", 60, 128),
        ("u16", 5, 5),
    ];
    for (index, (name, low, high)) in windows.into_iter().enumerate() {
        check(Type::named(name), 1500, index % 2 == 1, Some((low, high)), &[]);
    }
}

#[test]
fn many_elements_are_sorted() {
    check(Type::named("f32"), 40_000, true, None, &["--verify"]);
}

#[test]
fn none_and_one_are_sorted() {
    check(Type::named("u32"), 0, false, None, &["--verify"]);
    check(Type::named("u128"), 1, true, None, &[]);
}

#[test]
fn a_named_algorithm_sorts() {
    check(Type::named("i32"), 10_000, false, None, &["--algorithm", "reduce-then-scan"]);
    check(Type::named("u64"), 300, true, Some((7, 21)), &["--algorithm", "single-workgroup"]);
}

#[test]
fn the_report_counts_skipped_passes() {
    let dir = Dir::new("passes");
    // The upper half of each key is 0.
    let keys: Vec<u8> = (0..2000u32).rev().flat_map(u32::to_le_bytes).collect();
    let input = dir.write("keys.npy", "'<u4'", &[2000], &keys);
    let report = |algorithm: &str| sort(&["--keys", &input, "--verify", "--algorithm", algorithm]);
    let passes = "passes     2 of 4 moved elements; a pass is skipped if its digit is the same in all keys\n";
    assert!(report("onesweep").contains(passes) && report("reduce-then-scan").contains(passes));
    assert!(!report("single-workgroup").contains("passes  "));
}

#[test]
fn an_array_is_taken_for_the_type_that_is_asked_for() {
    let dir = Dir::new("key-type");
    // bfloat16 in uint16, the numbers of dates, and keys of 128 bits in one item.
    for (name, descr) in [
        ("bf16", "'<u2'"),
        ("bf16", "'>u2'"),
        ("u64", "'<M8[ns]'"),
        ("u128", "'|V16'"),
        ("u128", "'>V16'"),
        ("f32", "'<u4'"),
        ("u8", "'|b1'"),
    ] {
        let of = Type::named(name);
        let keys = of.keys(500, 3);
        let swapped = descr.starts_with("'>u");
        let file = if swapped {
            keys.chunks(of.bytes).flat_map(|key| key.iter().rev()).copied().collect()
        } else {
            keys.clone()
        };
        let input = dir.write("keys.npy", descr, &[500], &file);
        sort(&["--keys", &input, "--key-type", name, "--out-keys", &dir.path("k.npy")]);
        let (header, rows) = dir.read("k.npy");
        assert!(rows == gather(&file, of.bytes, &of.argsort(&keys, false, None)), "{name} in {descr}");
        assert_eq!(header, dir.read("keys.npy").0, "{name} in {descr}");
    }
}

/// NaT is the least number of all, which is where it stays if bits are named.
#[test]
fn dates_by_their_bits_are_numbers() {
    let dir = Dir::new("dates");
    let of = Type::named("i64");
    let keys = of.keys(500, 4);
    let input = dir.write("keys.npy", "'<M8[D]'", &[500], &keys);
    sort(&["--keys", &input, "--bits", "0..64", "--out-keys", &dir.path("k.npy")]);
    assert!(dir.read("k.npy").1 == gather(&keys, of.bytes, &of.argsort(&keys, false, None)));
}

/// Halves of big-endian keys of 128 bits are swapped each, and the lower one still comes first.
#[test]
fn halves_may_be_big_endian() {
    let dir = Dir::new("halves");
    let of = Type::named("i128");
    let keys = of.keys(300, 6);
    let swap = |rows: &[u8]| -> Vec<u8> { rows.chunks(8).flat_map(|half| half.iter().rev()).copied().collect() };
    let input = dir.write("keys.npy", "'>u8'", &[300, 2], &swap(&keys));
    sort(&["--keys", &input, "--key-type", "i128", "--out-keys", &dir.path("k.npy"), "--verify"]);
    assert!(swap(&dir.read("k.npy").1) == gather(&keys, of.bytes, &of.argsort(&keys, false, None)));
}

#[test]
fn the_permutation_alone_is_written() {
    let dir = Dir::new("argsort");
    for (name, descending) in [("i8", false), ("f32", true), ("u64", false)] {
        let of = Type::named(name);
        let keys = of.keys(9000, 11);
        let input = dir.write("keys.npy", of.descr, &[9000], &keys);
        let argsort = dir.path("a.npy");
        let direction = descending.then_some("--descending");
        let arguments: Vec<&str> =
            ["--keys", &input, "--argsort", &argsort, "--verify"].into_iter().chain(direction).collect();
        let stdout = sort(&arguments);
        assert!(stdout.contains("verified "), "{stdout}");
        assert!(dir.read_indices("a.npy") == of.argsort(&keys, descending, None), "{name}");
        assert_eq!(dir.list(), ["a.npy", "keys.npy"]);
    }
}

#[test]
fn a_file_is_sorted_in_place() {
    let dir = Dir::new("in-place");
    let path = dir.write("k.npy", "'|u1'", &[4], &[9, 7, 8, 7]);
    let line = fail(without_device("sort").args(["--keys", &path, "--out-keys", &path]), false);
    assert!(line.contains("--out-keys") && line.contains("k.npy") && line.contains("--force"), "{line}");
    assert_eq!(dir.read("k.npy").1, [9, 7, 8, 7]);
    let stdout = sort(&["--keys", &path, "--out-keys", &path]);
    assert!(stdout.ends_with(&format!("\nwritten    {path}\n")), "{stdout}");
    assert_eq!(dir.read("k.npy").1, [7, 7, 8, 9]);
    assert_eq!(dir.list(), ["k.npy"]);
}

#[test]
fn keys_without_an_output_are_verified() {
    let dir = Dir::new("no-output");
    let of = Type::named("f64");
    let input = dir.write("k.npy", of.descr, &[1000], &of.keys(1000, 1));
    assert!(sort(&["--keys", &input, "--verify"]).contains("verified "));
    assert_eq!(dir.list(), ["k.npy"]);
}
