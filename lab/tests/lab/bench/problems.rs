//! Suites of problems: many segments, first elements, records.

use std::collections::HashSet;
use std::fs;

use super::{Row, Scratch, field};
use crate::root;
use vksort_testing::picture::Picture;

/// The cases of a suite that was measured, and the rows that set each beside others. It has a table, a plot and a summary.
fn measured(scratch: &Scratch, suite: &str, arguments: &[&str]) -> (HashSet<String>, Vec<Row>) {
    let run = ["--suite", suite, "--runs", "2", "--date", "2026-01-31", "--out", suite];
    let stdout = scratch.succeed(&[&run[..], arguments].concat());
    assert!(stdout.contains("verified   every case"), "{stdout}");
    let summary = fs::read_to_string(scratch.0.join(format!("{suite}/summary.md"))).unwrap();
    for text in [&stdout, &summary] {
        assert!(text.contains("Copy is the share that a copy of the same bytes takes."), "{text}");
    }
    let rows = scratch.rows(&format!("{suite}/results.csv"));
    for row in &rows {
        let number = |name: &str| field(row, name).parse::<f64>().unwrap_or_else(|_| panic!("{name} of {row:?}"));
        assert_eq!((field(row, "suite"), field(row, "date")), (suite, "2026-01-31"));
        assert!(number("elements_per_s") > 0.0 && number("floor_share") > 0.0 && number("record_ns") > 0.0, "{row:?}");
    }
    let versus = scratch.rows(&format!("{suite}/versus.csv"));
    for row in &versus {
        let number = |name: &str| field(row, name).parse::<f64>().unwrap();
        assert!(number("over_q25") <= number("over_median") && number("over_median") <= number("over_q75"), "{row:?}");
        assert!(number("ns") > 0.0 && number("against_ns") > 0.0, "{row:?}");
        let clocks = if field(&rows[0], "cpu_ns_median").is_empty() { ["device", "wall"] } else { ["cpu"; 2] };
        assert!(clocks.contains(&field(row, "clock")), "{row:?}");
    }
    let svg = fs::read_to_string(scratch.0.join(format!("{suite}/{suite}.svg"))).unwrap();
    assert!(svg.contains("a copy of the same bytes"), "{svg}");
    assert!(!Picture::read(&scratch.0.join(format!("{suite}/{suite}.png"))).is_blank());
    (rows.iter().map(|row| field(row, "case").to_string()).collect(), versus)
}

/// What a case is set beside.
fn others<'a>(versus: &'a [Row], case: &str) -> Vec<&'a str> {
    versus.iter().filter(|row| field(row, "case") == case).map(|row| field(row, "against")).collect()
}

#[test]
fn segments_are_sorted_beside_full_and_recorded_sorts() {
    let scratch = Scratch::new("segments");
    let (cases, versus) = measured(&scratch, "segments", &["--problem", "2 keys", "--count", "200000"]);
    assert_eq!(cases.len(), 5, "{cases:?}");
    for way in ["", ": copy", ": full sort", ": recorded sorts", ": in windows"] {
        assert!(cases.contains(&format!("rows of 32 keys{way}")), "{cases:?}");
    }
    assert_eq!(others(&versus, "rows of 32 keys"), ["full sort", "recorded sorts", "in windows", "copy"]);
    assert!(versus.iter().all(|row| (field(row, "n"), field(row, "segments")) == ("200000", "6250")), "{versus:?}");
    // Of 6,250 sorts 4,096 are recorded, whose time is extrapolated: a part of it would be less than all of the segments take.
    let recorded = versus.iter().find(|row| field(row, "against") == "recorded sorts").unwrap();
    assert!(field(recorded, "over_median").parse::<f64>().unwrap() < 0.5, "{recorded:?}");

    // Segments of one element are in lanes by every tuning, so windows have none of them.
    let (_, versus) = measured(&scratch, "segments", &["--problem", "of 1 key", "--count", "3000", "--force"]);
    assert_eq!(others(&versus, "segments of 1 key"), ["full sort", "copy"]);

    // Offsets, with the number of segments on the device; and indices from the begins of segments.
    let (cases, versus) = measured(&scratch, "segments", &["--problem", "splats", "--count", "3000", "--force"]);
    assert_eq!(cases.len(), 6, "{cases:?}");
    assert_eq!(others(&versus, "tiles of splats, u16 depths"), ["full sort", "copy"]);
    let (cases, _) = measured(&scratch, "segments", &["--problem", "sparse", "--count", "3000", "--force"]);
    assert!(cases.contains("rows of a sparse matrix"), "{cases:?}");
    // A segment longer than a block, among others that are not.
    let (_, versus) = measured(&scratch, "segments", &["--problem", "one long", "--count", "50000", "--force"]);
    let case = "one long among tiny, pairs";
    assert_eq!(others(&versus, case), ["full sort", "sort by key alone", "copy"]);
}

#[test]
fn first_elements_are_found_beside_a_full_sort() {
    let scratch = Scratch::new("top");
    let (cases, versus) = measured(&scratch, "top", &["--problem", "of all", "--count", "20000"]);
    for problem in ["100 of all", "100 of all, random bits", "100 of all, equal keys"] {
        assert!(cases.contains(problem) && cases.contains(&format!("{problem}: full sort")), "{cases:?}");
        assert_eq!(others(&versus, problem), ["full sort", "copy"]);
    }
    // Rows are no longer than what there is, and whole.
    let (_, versus) = measured(&scratch, "top", &["--problem", "of rows of 256", "--count", "1000", "--force"]);
    assert!(versus.iter().all(|row| (field(row, "n"), field(row, "segments")) == ("768", "3")), "{versus:?}");
    let (_, versus) = measured(&scratch, "top", &["--problem", "of rows of 256", "--count", "6", "--force"]);
    assert!(versus.iter().all(|row| (field(row, "n"), field(row, "segments")) == ("6", "1")), "{versus:?}");
}

#[test]
fn records_are_sorted_beside_moving_them_in_each_pass() {
    let scratch = Scratch::new("records");
    let (cases, versus) = measured(&scratch, "records", &["--count", "3000"]);
    assert_eq!(cases.len(), 2 * 6 + 3, "{cases:?}");
    for problem in ["32 bytes by 40 bits", "32 bytes by three columns"] {
        let of = |way: &str| others(&versus, &format!("{problem}: {way}"));
        assert_eq!(of("in place"), ["moved in each pass, in place", "copy"]);
        assert_eq!(of("out of place"), ["moved in each pass", "copy"]);
        assert_eq!(of("permutation"), ["moved in each pass", "copy"]);
    }
    assert_eq!(others(&versus, "particles in cells: out of place"), ["full sort", "copy"]);
}

/// The names of all problems of a suite, as the program has them in its error.
fn names(scratch: &Scratch, suite: &str) -> Vec<String> {
    scratch.fail(&["--suite", suite, "--problem", "no such"], &["--problem is \"no such\"", suite]);
    let run = scratch.bench(&["--suite", suite, "--problem", "no such"]);
    let stderr = String::from_utf8(run.stderr).unwrap();
    let allowed = stderr.split_once("allows parts of ").unwrap().1;
    allowed.trim().trim_matches('"').split("\", \"").map(String::from).collect()
}

/// CUB's rows are set beside those of the same problem, by its name.
#[test]
fn cub_solves_problems_of_the_bench() {
    let scratch = Scratch::new("cub-problems");
    let known = [names(&scratch, "segments"), names(&scratch, "top")].concat();
    scratch.fail(&["--suite", "sizes", "--problem", "keys"], &["--suite sizes allows parts of none"]);
    let program = fs::read_to_string(root().join("lab/peers/cub_segments.cu")).unwrap();
    let list = program.split_once("static void measure_all").unwrap().1;
    let list = list.split_once("int main").unwrap().0;
    let strings: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let data = ["uniform", "normal distribution", "constant"];
    let solved: Vec<&&str> = strings.iter().filter(|text| !data.contains(*text)).collect();
    assert_eq!(solved.len(), 16, "{solved:?}");
    for name in solved {
        assert!(known.iter().any(|known| known == *name), "{name:?} is no problem of {known:?}");
    }
}
