//! `sort --by`: structures in the order of their fields, compared in full with Rust's stable sort.

use std::cmp::Ordering;
use std::ops::Range;

use super::files::Dir;
use super::reference::{Type, gather};
use super::sort;

/// A column of a table: its name, its dtype as a Python literal, and what its numbers are.
struct Column {
    name: &'static str,
    descr: &'static str,
    kind: Kind,
}

enum Kind {
    /// A key type.
    Of(&'static str),
    /// A time, of which NaT is the last.
    Time,
    /// So many bytes that nothing is sorted by.
    Bytes(usize),
}

const fn of(name: &'static str, descr: &'static str, kind: &'static str) -> Column {
    Column { name, descr, kind: Kind::Of(kind) }
}

const fn bytes(name: &'static str, descr: &'static str, bytes: usize) -> Column {
    Column { name, descr, kind: Kind::Bytes(bytes) }
}

impl Column {
    fn bytes(&self) -> usize {
        match self.kind {
            Kind::Of(name) => Type::named(name).bytes,
            Kind::Time => 8,
            Kind::Bytes(bytes) => bytes,
        }
    }

    /// Numbers of which many are equal, with the special ones of the type among them, as the file has them.
    fn drawn(&self, count: usize, seed: u64) -> Vec<u8> {
        let few = |keys: Vec<u8>| -> Vec<u8> {
            let mut random = fastrand::Rng::with_seed(seed);
            let keys: Vec<&[u8]> = keys.chunks(self.bytes()).collect();
            (0..count).flat_map(|_| keys[random.usize(..keys.len())]).copied().collect()
        };
        let mut numbers = match self.kind {
            Kind::Of(name) => few(Type::named(name).keys(25, seed)),
            Kind::Time => few([i64::MIN, i64::MAX, -1, 0, 1].map(i64::to_le_bytes).concat()),
            Kind::Bytes(bytes) => (0..bytes * count).map(|index| (index * 7 + index / 256) as u8).collect(),
        };
        if self.descr.starts_with("'>") {
            numbers.chunks_exact_mut(self.bytes()).for_each(<[u8]>::reverse);
        }
        numbers
    }

    fn compare(&self, one: &[u8], other: &[u8]) -> Ordering {
        let number = |bytes: &[u8]| -> u128 {
            let add = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
            if self.descr.starts_with("'>") { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
        };
        let (one, other) = (number(one), number(other));
        match self.kind {
            Kind::Of(name) => (Type::named(name).compare)(one, other),
            Kind::Time => (one == 1 << 63).cmp(&(other == 1 << 63)).then((one as i64).cmp(&(other as i64))),
            Kind::Bytes(_) => panic!("{} is no number", self.name),
        }
    }
}

struct Table<'a> {
    columns: &'a [Column],
    rows: Vec<u8>,
}

impl<'a> Table<'a> {
    fn drawn(columns: &'a [Column], count: usize) -> Self {
        let numbers: Vec<Vec<u8>> = columns.iter().zip(3..).map(|(column, seed)| column.drawn(count, seed)).collect();
        let cells = |row: usize| {
            columns.iter().zip(&numbers).flat_map(move |(column, numbers)| {
                let bytes = column.bytes();
                &numbers[row * bytes..][..bytes]
            })
        };
        Table { columns, rows: (0..count).flat_map(cells).copied().collect() }
    }

    fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    fn count(&self) -> usize {
        self.rows.len() / self.bytes()
    }

    fn write(&self, dir: &Dir, name: &str) -> String {
        let fields: Vec<String> =
            self.columns.iter().map(|column| format!("('{}', {})", column.name, column.descr)).collect();
        dir.write(name, &format!("[{}]", fields.join(", ")), &[self.count() as u64], &self.rows)
    }

    /// The order of parts by these fields, each sorted by itself.
    fn order(&self, by: &str, parts: &[Range<usize>]) -> Vec<u32> {
        let cell = |row: u32, column: usize| {
            let before: usize = self.columns[..column].iter().map(Column::bytes).sum();
            &self.rows[row as usize * self.bytes() + before..][..self.columns[column].bytes()]
        };
        let compare = |one: &u32, other: &u32| {
            by.split(',').fold(Ordering::Equal, |before, field| {
                let name = field.strip_prefix('-').unwrap_or(field);
                let column = self.columns.iter().position(|column| column.name == name).unwrap();
                let order = self.columns[column].compare(cell(*one, column), cell(*other, column));
                before.then(if name == field { order } else { order.reverse() })
            })
        };
        let mut order: Vec<u32> = (0..self.count() as u32).collect();
        parts.iter().for_each(|part| order[part.clone()].sort_by(compare));
        order
    }
}

/// Sorts a table for itself, for the permutation, and for both with values that follow.
fn check(dir: &Dir, table: &Table<'_>, by: &str, parts: &[Range<usize>], arguments: &[&str]) {
    let input = table.write(dir, "table.npy");
    let values: Vec<u8> = (0..3 * table.count()).map(|byte| (byte * 5) as u8).collect();
    let values_input = dir.write("values.npy", "'|u1'", &[table.count() as u64, 3, 4], &values.repeat(4));
    let [out, order, out_values] = ["sorted.npy", "order.npy", "moved.npy"].map(|name| dir.path(name));
    let all = |outputs: &[&str]| {
        let by = format!("--by={by}");
        let stdout = sort(&[&["--keys", &input, &by, "--verify"], arguments, outputs].concat());
        assert!(stdout.contains(&format!("{} records of {} bytes", table.count(), table.bytes())), "{stdout}");
        assert!(stdout.contains("verified ") && stdout.contains(by.trim_start_matches("--by=")), "{stdout}");
    };
    let expected = table.order(by, parts);
    let sorted = gather(&table.rows, table.bytes(), &expected);
    let text = format!("{by} of {} bytes, {arguments:?}", table.bytes());
    let check_sorted = || {
        let (header, rows) = dir.read("sorted.npy");
        assert_eq!(header, dir.read("table.npy").0, "{text}: the header");
        assert!(rows == sorted, "{text}: the records differ from the reference");
        dir.remove("sorted.npy");
    };
    let check_order = || {
        assert!(dir.read_indices("order.npy") == expected, "{text}: the permutation differs from the reference");
        dir.remove("order.npy");
    };
    all(&["--out-keys", &out]);
    check_sorted();
    all(&["--argsort", &order]);
    check_order();
    all(&["--out-keys", &out, "--argsort", &order, "--values", &values_input, "--out-values", &out_values]);
    check_sorted();
    check_order();
    assert!(dir.read("moved.npy").1 == gather(&values.repeat(4), 12, &expected), "{text}: the values");
}

fn whole(table: &Table<'_>) -> Vec<Range<usize>> {
    std::iter::once(0..table.count()).collect()
}

/// 12 bytes, which the library sorts as they are, by integers.
const DRAWS: &[Column] = &[
    of("depth", "'<i4'", "i32"),
    of("material", "'<u2'", "u16"),
    of("f", "'|b1'", "u8"),
    of("n", "'|i1'", "i8"),
    of("mesh", "'<u4'", "u32"),
];

#[test]
fn records_are_sorted_by_their_fields() {
    let dir = Dir::new("fields");
    let table = Table::drawn(DRAWS, 6000);
    for by in ["material,-depth", "-n", "f,n,-material,mesh"] {
        check(&dir, &table, by, &whole(&table), &["--repeat", "2"]);
    }
    check(&dir, &table, "depth", &whole(&table), &["--algorithm", "reduce-then-scan"]);
    for count in [0, 1] {
        let table = Table::drawn(DRAWS, count);
        check(&dir, &table, "mesh,-f", &whole(&table), &[]);
    }
}

/// What the library has in another order, in other bytes, or not at all.
#[test]
fn fields_come_in_the_order_of_numpy() {
    let dir = Dir::new("fields-of-numpy");
    let tables: [(&[Column], &str); 7] = [
        (
            &[of("far", "'<f4'", "f32"), of("id", "'<u4'", "u32"), of("half", "'<f2'", "f16"), of("x", "'<u2'", "u16")],
            "-far,half",
        ),
        (&[of("a", "'>f8'", "f64"), of("b", "'>i2'", "i16"), of("c", "'>u4'", "u32")], "b,-a,c"),
        (
            &[
                of("a", "'|u1'", "u8"),
                bytes("", "'|V3'", 3),
                of("b", "'<f4'", "f32"),
                of("c", "'<i2'", "i16"),
                bytes("", "'|V2'", 2),
            ],
            "a,b",
        ),
        (&[of("odd", "'|u1'", "u8"), of("e", "'<i8'", "i64")], "odd,e"),
        (&[of("one", "'|i1'", "i8")], "-one"),
        (
            &[
                Column { name: "when", descr: "'>M8[25us]'", kind: Kind::Time },
                Column { name: "long", descr: "'<m8[s]'", kind: Kind::Time },
            ],
            "-when,long",
        ),
        (&[bytes("text", "'<U17500'", 70_000), of("with blanks", "'<u2'", "u16"), of("-", "'<u2'", "u16")], "--"),
    ];
    for (columns, by) in tables {
        let count = if columns[0].bytes() > 1_000 { 20 } else { 3000 };
        let table = Table::drawn(columns, count);
        check(&dir, &table, by, &whole(&table), &[]);
    }
}

/// Names with an `L` behind a digit, quotes, commas, a leading minus and backslashes, as numpy writes them; and titles, which are no names.
/// Each field is named alone, and its column decides.
#[test]
fn names_are_read_as_numpy_reads_them() {
    let dir = Dir::new("fields-names");
    let cases: [(&str, &[(&str, &str)]); 5] = [
        ("[('x1L', '<i4'), ('x1', '<i4')]", &[("x1L", "x1L"), ("x1", "x1")]),
        ("[(\"X'd\", '<i4'), (\"X'q\", '<i4')]", &[("X'd", "X'd"), ("\"X'q\"", "X'q")]),
        ("[('a,b', '<i4'), ('-c', '<i4')]", &[("\"a,b\"", "a,b"), ("\"-c\"", "-c")]),
        (
            r#"[('say "f"', '<i4'), ('back\\slash', '<i4')]"#,
            &[("\"say \"\"f\"\"\"", "say \"f\""), ("back\\slash", "back\\slash")],
        ),
        ("[(('Distance in m, i4', 'dist'), '<i4'), ('f4', '<i4')]", &[("dist", "dist"), ("f4", "f4")]),
    ];
    let mut random = fastrand::Rng::with_seed(5);
    let rows: Vec<[i32; 2]> = (0..500).map(|_| [random.i32(-9..9), random.i32(-9..9)]).collect();
    for (descr, names) in cases {
        // Python 2 wrote an L, which is no part of a literal of Python 3.
        for count in ["500", "500L"] {
            let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({count},), }}");
            let input = dir.write_with_header("named.npy", 1, text.as_bytes(), bytemuck::cast_slice(&rows));
            for (column, (by, name)) in names.iter().enumerate() {
                for (minus, descends) in [("", false), ("-", true)] {
                    let by = format!("--by={minus}{by}");
                    sort(&["--keys", &input, &by, "--verify", "--argsort", &dir.path("order.npy")]);
                    let mut order: Vec<u32> = (0..500).collect();
                    order.sort_by_key(|row| rows[*row as usize][column] * if descends { -1 } else { 1 });
                    assert!(dir.read_indices("order.npy") == order, "{descr} {by}, which is field {name}");
                    dir.remove("order.npy");
                }
            }
        }
    }
}

/// Segments and rows are sorted each by itself, and records in none of them stay.
#[test]
fn records_of_parts_are_sorted_by_their_fields() {
    let dir = Dir::new("fields-of-parts");
    let parts = [5..9, 9..9, 9..60, 60..190];
    let offsets: Vec<u8> = [5u32, 9, 9, 60, 190].into_iter().flat_map(u32::to_le_bytes).collect();
    let segments = dir.write("segments.npy", "'<u4'", &[5], &offsets);
    let floats: &[Column] = &[of("x", "'<f4'", "f32"), of("y", "'<f8'", "f64")];
    for (columns, by) in [(DRAWS, "-material,n"), (floats, "x,-y")] {
        let table = Table::drawn(columns, 200);
        check(&dir, &table, by, &parts, &["--segments", &segments]);
        let rows: Vec<_> = (0..5).map(|row| 40 * row..40 * (row + 1)).collect();
        check(&dir, &table, by, &rows, &["--rows", "40"]);
    }
}

/// Equal records may come in any order, but each comes once.
#[test]
fn equal_records_may_come_in_any_order() {
    let dir = Dir::new("fields-unstable");
    let table = Table::drawn(DRAWS, 6000);
    let (input, out) = (table.write(&dir, "table.npy"), dir.path("sorted.npy"));
    let stdout = sort(&["--keys", &input, "--by", "material,n", "--unstable", "--verify", "--out-keys", &out]);
    assert!(stdout.contains("verified   each run"), "{stdout}");
    let rows = |rows: &[u8]| -> Vec<Vec<u8>> {
        let mut rows: Vec<Vec<u8>> = rows.chunks(12).map(<[u8]>::to_vec).collect();
        rows.sort();
        rows
    };
    assert!(rows(&dir.read("sorted.npy").1) == rows(&table.rows), "the records are those that were given");
}
