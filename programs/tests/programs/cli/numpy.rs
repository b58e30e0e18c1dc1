//! `sort` against numpy: arrays that numpy has written, in numpy's stable order.
//!
//! Without python3 and numpy, which a printed line says, arrays are made here; every order is compared with Rust's
//! stable sort in any case.

use std::collections::HashSet;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::files::Dir;
use super::reference::{TYPES, Type, gather};
use super::sort;
use vksort_programs::sort::npy::Array;
use vksort_testing::process::run_within;

/// The first on the path, and the system's, which is the one that packages of numpy are for.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// Runs with_numpy.py in a directory; gives whether there is a numpy to do it. Where CI runs there has to be one.
fn numpy(command: &str, dir: &Dir) -> bool {
    static FOUND: OnceLock<Option<&str>> = OnceLock::new();
    let has_numpy = |python: &&str| {
        Command::new(python).args(["-c", "import numpy"]).output().is_ok_and(|run| run.status.success())
    };
    let found = *FOUND.get_or_init(|| PYTHONS.into_iter().find(has_numpy));
    let Some(python) = found else {
        assert!(std::env::var_os("CI").is_none(), "none of {PYTHONS:?} has numpy");
        println!("python3 with numpy is not here: arrays of the tests' own are compared with Rust's sort alone");
        return false;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/cli/with_numpy.py");
    let run = run_within(Duration::from_secs(120), Command::new(python).args([script, command, &dir.path("")]));
    assert!(run.status.success(), "with_numpy.py {command}: {}", String::from_utf8_lossy(&run.stderr));
    true
}

/// Sorts the keys of a name in both directions, for their permutation alone.
fn check(dir: &Dir, name: &str, of: &Type, has_numpy: bool) {
    let input = dir.path(&format!("{name}.keys.npy"));
    let (_, keys) = dir.read(&format!("{name}.keys.npy"));
    for (direction, descending) in [("up", false), ("down", true)] {
        let argsort = dir.path("a.npy");
        let mut arguments = vec!["--keys", &input, "--argsort", &argsort];
        arguments.extend(descending.then_some("--descending"));
        sort(&arguments);
        let given = dir.read_indices("a.npy");
        assert!(given == of.argsort(&keys, descending, None), "{name} {direction}: Rust's stable sort differs");
        if has_numpy {
            let needed = dir.read_indices(&format!("{name}.{direction}.npy"));
            assert!(given == needed, "{name} {direction}: numpy's stable sort differs");
        }
    }
}

/// numpy spells the dtypes of its own arrays as the type's first letter and bytes, which here names the files.
fn numpy_name(of: &Type) -> &str {
    of.descr.trim_matches('\'').trim_start_matches(['<', '|'])
}

#[test]
fn keys_come_in_the_order_of_numpy() {
    let dir = Dir::new("numpy-keys");
    let types = || TYPES.iter().filter(|of| !of.asked);
    let has_numpy = numpy("keys", &dir) && numpy("orders", &dir);
    if !has_numpy {
        for of in types() {
            dir.write(&format!("{}.keys.npy", numpy_name(of)), of.descr, &[3000], &of.keys(3000, 21));
        }
    }
    types().for_each(|of| check(&dir, numpy_name(of), of, has_numpy));
}

/// Dtypes as other programs, other machines and older versions of numpy write them, with the type of the keys.
const SPELLINGS: [(&str, &str); 26] = [
    ("<u1", "u8"),
    (">u1", "u8"),
    ("=u1", "u8"),
    ("<i1", "i8"),
    ("B", "u8"),
    ("int8", "i8"),
    ("|b1", "bool"),
    ("<b1", "bool"),
    ("?", "bool"),
    ("bool", "bool"),
    ("=f4", "f32"),
    ("|f4", "f32"),
    ("f4", "f32"),
    ("<f", "f32"),
    ("float32", "f32"),
    ("e", "f16"),
    (">f2", "f16"),
    (">f4", "f32"),
    (">d", "f64"),
    (">i2", "i16"),
    (">u4", "u32"),
    (">i8", "i64"),
    ("<M8[25us]", "time"),
    (">M8[s]", "time"),
    ("datetime64[ns]", "time"),
    ("<m8", "time"),
];

/// What numpy sorts, it reads back as it would have sorted it: with the dtype of the input, NaN and NaT last.
#[test]
fn dtypes_are_read_and_sorted_as_by_numpy() {
    let dir = Dir::new("numpy-spellings");
    let (mut cases, mut kinds) = (Vec::new(), HashSet::new());
    for (index, (descr, name)) in SPELLINGS.into_iter().enumerate() {
        let of = Type::named(match name {
            "bool" => "u8",
            "time" => "i64",
            other => other,
        });
        let mut rows = of.keys(1500, 31);
        if name == "bool" {
            rows.iter_mut().for_each(|byte| *byte &= 1);
        }
        let mut keys = rows.clone();
        if descr.starts_with('>') {
            keys.chunks_mut(of.bytes).for_each(<[u8]>::reverse);
        }
        // Python 2 wrote long numbers, in the first two versions of the format; one dimension has any order.
        let (long, fortran) = (if index % 3 == 2 { "" } else { "L" }, ["True", "False"][index % 2]);
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (1500{long},), }}");
        let file = format!("{index}.keys.npy");
        let path = dir.write_with_header(&file, 1 + (index % 3) as u8, header.as_bytes(), &rows);
        let (array, key, _) = Array::read_keys(path.as_ref(), None).unwrap();
        assert!(key.name() == of.name && array.rows() == keys, "{descr} is read as {key}");
        // The program sorts one of each type and order of bytes.
        if !kinds.insert((name, descr.starts_with('>'))) {
            fs::remove_file(&path).unwrap();
            continue;
        }
        if name == "time" {
            // The least number becomes the greatest.
            let numbers = keys.chunks(8).map(|key| i64::from_le_bytes(key.try_into().unwrap()).wrapping_sub(1));
            keys = numbers.flat_map(i64::to_le_bytes).collect();
        }
        cases.push((index, of, rows, keys));
    }
    let has_numpy = numpy("orders", &dir);
    for (index, of, rows, keys) in &cases {
        let [input, out, argsort] = ["keys", "sorted", "argsort"].map(|what| dir.path(&format!("{index}.{what}.npy")));
        sort(&["--keys", &input, "--out-keys", &out, "--argsort", &argsort]);
        let order = of.argsort(keys, false, None);
        let spelled = SPELLINGS[*index].0;
        assert!(dir.read_indices(&format!("{index}.argsort.npy")) == order, "{spelled}: Rust's stable sort differs");
        let (header, sorted) = dir.read(&format!("{index}.sorted.npy"));
        assert!(sorted == gather(rows, of.bytes, &order), "{spelled}: keys");
        assert_eq!(header, dir.read(&format!("{index}.keys.npy")).0, "{spelled}: the header is the input's");
        if has_numpy {
            let needed = dir.read_indices(&format!("{index}.up.npy"));
            assert!(order == needed, "{spelled}: numpy's stable sort differs");
        }
        sort(&["--keys", &input, "--out-keys", &out, "--descending", "--verify"]);
        let order = of.argsort(keys, true, None);
        assert!(dir.read(&format!("{index}.sorted.npy")).1 == gather(rows, of.bytes, &order), "{spelled}: descending");
    }
    if has_numpy {
        numpy("sorted", &dir);
    }
}

#[test]
fn values_are_read_back_by_numpy() {
    let dir = Dir::new("numpy-values");
    // Without numpy the tests of values stand alone.
    if !numpy("keys", &dir) || !numpy("orders", &dir) || !numpy("values", &dir) {
        return;
    }
    let keys = dir.path("values.keys.npy");
    for name in dir.list().iter().filter(|name| name.ends_with(".values.npy")) {
        let sorted = dir.path(&name.replace(".values.", ".sorted."));
        sort(&["--keys", &keys, "--values", &dir.path(name), "--out-values", &sorted]);
    }
    numpy("compare", &dir);
}

/// A column of a table as bytes, with the key type that they are.
struct Column {
    name: &'static str,
    key: &'static str,
    bytes: Vec<u8>,
}

/// Rows as a timetable has them: delays of few values, many of them negative, distances with many alike, and times in order.
fn timetable(rows: u32) -> Vec<Column> {
    let mut random = fastrand::Rng::with_seed(17);
    let mut delay = |_| {
        (random.i16(0..30) + random.i16(0..30) - 40 + if random.u8(..) < 20 { random.i16(0..400) } else { 0 })
            .to_le_bytes()
    };
    let delays = (0..rows).flat_map(&mut delay).collect();
    let distances =
        (0..rows).flat_map(|row| (100 + 37 * (row.wrapping_mul(0x9E37_79B9) >> 26) as i16).to_le_bytes()).collect();
    let times = (0..rows).flat_map(|row| (row as f32 / 64.0).floor().to_le_bytes()).collect();
    vec![
        Column { name: "delay", key: "i16", bytes: delays },
        Column { name: "distance", key: "i16", bytes: distances },
        Column { name: "time", key: "f32", bytes: times },
    ]
}

/// The columns of a table with many equal keys, and the whole table by one of them.
#[test]
fn a_table_is_sorted_by_each_column() {
    let columns = timetable(50_000);
    let dir = Dir::new("timetable");
    let rows = columns[0].bytes.len() / Type::named(columns[0].key).bytes;
    for Column { name, key, bytes } in &columns {
        dir.write(&format!("{name}.keys.npy"), Type::named(key).descr, &[rows as u64], bytes);
    }
    let has_numpy = numpy("orders", &dir);
    for column in &columns {
        check(&dir, column.name, Type::named(column.key), has_numpy);
    }

    let fields: Vec<String> =
        columns.iter().map(|Column { name, key, .. }| format!("('{name}', {})", Type::named(key).descr)).collect();
    let sizes: Vec<usize> = columns.iter().map(|column| Type::named(column.key).bytes).collect();
    let row = |row: usize| {
        let cells = columns.iter().zip(&sizes).map(move |(column, bytes)| &column.bytes[row * bytes..][..*bytes]);
        cells.collect::<Vec<_>>().concat()
    };
    let table: Vec<u8> = (0..rows).flat_map(row).collect();
    let descr = format!("[{}]", fields.join(", "));
    let values = dir.write("table.npy", &descr, &[rows as u64], &table);
    let keys = dir.path(&format!("{}.keys.npy", columns[0].name));
    sort(&["--keys", &keys, "--values", &values, "--out-values", &dir.path("sorted.npy"), "--descending"]);
    let order = Type::named(columns[0].key).argsort(&columns[0].bytes, true, None);
    let (header, sorted) = dir.read("sorted.npy");
    assert_eq!(header, dir.read("table.npy").0);
    assert!(sorted == super::reference::gather(&table, sizes.iter().sum(), &order), "the table by {}", columns[0].name);
}

/// Structures of several kinds, in numpy's stable order by their fields.
#[test]
fn tables_are_sorted_by_their_fields_as_by_numpy() {
    let dir = Dir::new("numpy-tables");
    if !numpy("tables", &dir) {
        return;
    }
    let names: Vec<String> = dir.list().iter().filter_map(|name| Some(name.strip_suffix(".by.txt")?.into())).collect();
    assert_eq!(names.len(), 6);
    for name in names {
        let by = fs::read_to_string(dir.path(&format!("{name}.by.txt"))).unwrap();
        let table = dir.path(&format!("{name}.table.npy"));
        let outputs = [dir.path("order.npy"), dir.path("sorted.npy")];
        let by = ["--keys", &table, "--by", &by];
        sort(&[&by[..], &["--argsort", &outputs[0], "--out-keys", &outputs[1]]].concat());
        let needed = dir.read_indices(&format!("{name}.order.npy"));
        assert!(dir.read_indices("order.npy") == needed, "{name}: numpy's stable sort differs");
        let (header, rows) = dir.read(&format!("{name}.table.npy"));
        let expected = gather(&rows, rows.len() / needed.len(), &needed);
        assert!(dir.read("sorted.npy") == (header, expected), "{name}: the records differ from those in numpy's order");
        // Without the permutation, records that the library sorts as they are come from the device.
        sort(&[&by[..], &["--out-keys", &outputs[1]]].concat());
        let (header, rows) = dir.read(&format!("{name}.table.npy"));
        let expected = gather(&rows, rows.len() / needed.len(), &needed);
        assert!(dir.read("sorted.npy") == (header, expected), "{name}: the records from the device");
    }
}
