//! The bench example as a program: what it writes, and what it says to input that it cannot use.

#[path = "programs/mod.rs"]
mod programs;

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::thread;
use std::time::Duration;

/// A directory of its own, removed when the test has passed.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("vksort-bench-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn bench(&self, arguments: &[&str]) -> Output {
        let mut command = programs::example("bench");
        programs::run_within(Duration::from_secs(300), command.current_dir(&self.0).args(arguments))
    }

    fn succeed(&self, arguments: &[&str]) -> String {
        let run = self.bench(arguments);
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "bench {arguments:?} ended by {}: {stderr}", run.status);
        String::from_utf8(run.stdout).unwrap()
    }

    fn fail(&self, arguments: &[&str], parts: &[&str]) {
        let run = self.bench(arguments);
        let stderr = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(1), "bench {arguments:?}: {stderr}");
        let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "bench {arguments:?}: {stderr}");
        assert_eq!(stderr.lines().last(), Some(errors[0]), "bench {arguments:?}: {stderr}");
        for part in parts {
            assert!(errors[0].contains(part), "bench {arguments:?}: {part:?} is missing in {:?}", errors[0]);
        }
    }

    /// Rows of a results.csv, each as its fields by the names of their columns.
    fn rows(&self, path: &str) -> Vec<Vec<(String, String)>> {
        let mut reader = csv::Reader::from_path(self.0.join(path)).unwrap();
        let header = reader.headers().unwrap().clone();
        let named = |row: csv::StringRecord| header.iter().zip(&row).map(|(a, b)| (a.into(), b.into())).collect();
        reader.records().map(|row| named(row.unwrap())).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

fn field<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(column, _)| column == name).unwrap_or_else(|| panic!("no column {name}")).1
}

#[test]
fn features_are_measured_and_written() {
    let scratch = Scratch::new("features");
    let run = ["--suite", "features", "--count", "20000", "--runs", "2", "--date", "2026-01-31", "--out", "results"];
    let stdout = scratch.succeed(&run);
    assert!(stdout.contains("verified   every case"), "{stdout}");
    let ratios = [
        "u8 over u32",
        "u16 over u32",
        "u64 over u32",
        "argsort, keys discarded, over pairs",
        "splat keys over uniform",
        "splat pairs out of place over uniform",
        "splat argsort over uniform",
        "skip on over off, uniform keys",
        "9 bits: digits of 9 over 8",
        "17 bits: digits of 9 over 8",
        "keys: in place over out of place",
        "24 bits over 32",
    ];
    let summary = fs::read_to_string(scratch.0.join("results/summary.md")).unwrap();
    for ratio in ratios {
        assert!(stdout.contains(ratio) && summary.contains(ratio), "{ratio} is missing");
    }

    let rows = scratch.rows("results/results.csv");
    let cases: HashSet<&str> = rows.iter().map(|row| field(row, "case")).collect();
    assert_eq!((cases.len(), rows.len()), (21, 21), "a row per case: {cases:?}");
    for row in &rows {
        let number = |name: &str| field(row, name).parse::<f64>().unwrap_or_else(|_| panic!("{name} of {row:?}"));
        assert_eq!((field(row, "suite"), field(row, "date")), ("features", "2026-01-31"));
        assert_eq!((number("n"), number("runs"), number("seed")), (20_000.0, 2.0, 1.0));
        assert!(number("wall_ns_q25") <= number("wall_ns_median"), "{row:?}");
        assert!(number("wall_ns_median") <= number("wall_ns_q75"), "{row:?}");
        assert!(number("elements_per_s") > 0.0 && number("floor_bytes") > 0.0, "{row:?}");
    }
    let floor = |case: &str| field(rows.iter().find(|row| field(row, "case") == case).unwrap(), "floor_bytes");
    let floors = ["copy", "u8 keys", "u32 keys", "u32 pairs", "u32 argsort", "splat keys", "9 bits by digits of 9"];
    assert_eq!(floors.map(floor), ["8", "3", "36", "68", "60", "28", "12"]);

    for name in ["rates", "floor", "ratios"] {
        let svg = fs::read_to_string(scratch.0.join(format!("results/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("</text>"), "{name}.svg");
        let image = image::open(scratch.0.join(format!("results/{name}.png"))).unwrap().to_rgb8();
        assert!(image.pixels().any(|pixel| pixel.0 != [255; 3]), "{name}.png is blank");
    }

    // What is there stays, unless it is to be overwritten.
    scratch.fail(&run, &["--out", "results.csv", "--force"]);
    let results = scratch.0.join("results/results.csv");
    let before = fs::read(&results).unwrap();
    let again = ["--suite", "sizes", "--count", "3000", "--runs", "1", "--out", "results", "--force"];
    scratch.succeed(&[&again[..], &["--peer-csv", "results/results.csv"]].concat());
    assert_ne!(fs::read(&results).unwrap(), before);
    assert_eq!(scratch.rows("results/results.csv").len(), 4 + 21, "own rows and those of the file");
    assert!(!scratch.0.join("results/ratios.svg").exists(), "a plot of the earlier run is left");
}

#[test]
fn bad_arguments_end_in_one_line() {
    let scratch = Scratch::new("bad-arguments");
    fs::write(scratch.0.join("file"), "suite,case\n1,2\n").unwrap();
    let cases: [(&[&str], &[&str]); 14] = [
        (&["--suite", "bogus"], &["--suite", "bogus", "features"]),
        (&["--runs", "0"], &["--runs", "0"]),
        (&["--count", "0"], &["--count", "0"]),
        (&["--count", "5", "--max-log2", "12"], &["--count", "--max-log2"]),
        (&["--max-log2", "32"], &["--max-log2", "32"]),
        (&["--memory-mib", "0"], &["--memory-mib", "0"]),
        (&["--seed", "x"], &["--seed", "x"]),
        (&["--date", "yesterday"], &["--date", "yesterday", "YYYY-MM-DD"]),
        (&["--out", "file"], &["--out", "file", "not a directory"]),
        (&["--out", "nowhere/results"], &["--out", "nowhere", "not a directory"]),
        (&["--force"], &["--out"]),
        (&["--peer-csv", "missing.csv"], &["--peer-csv", "missing.csv"]),
        (&["--peer-csv", "file"], &["--peer-csv", "file", "missing field"]),
        (&["--device", "no such device"], &["no such device"]),
    ];
    for (arguments, parts) in cases {
        scratch.fail(arguments, parts);
    }
    let too_much = ["--suite", "sizes", "--count", "4000000000", "--memory-mib", "16"];
    scratch.fail(&too_much, &["no size fits", "4000000000"]);
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1, "a file is left behind");
}
