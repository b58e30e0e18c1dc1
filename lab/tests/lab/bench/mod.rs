//! The program `bench`: what it writes, and what it says to input that it cannot use.

mod compare;
mod problems;
mod session;

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use session::{OWN, Session};
use vksort::standalone::Gpu;
use vksort::{RankMethod, Tuning};
use vksort_profiles::TuningProfile;
use vksort_testing::picture::Picture;

/// A row of a results.csv: its fields by the names of their columns.
type Row = Vec<(String, String)>;

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
        let mut command = vksort_testing::process::program("bench");
        vksort_testing::process::run_within(Duration::from_secs(300), command.current_dir(&self.0).args(arguments))
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
    fn rows(&self, path: &str) -> Vec<Row> {
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
    // How long it will take is said before anything is measured.
    let before = stdout.split("\nfeatures").next().unwrap_or_default();
    assert!(before.contains("\ntime       about ") && before.ends_with(" s\n"), "{stdout}");
    let ratios = [
        "u8 over u32",
        "u16 over u32",
        "u64 over u32",
        "argsort, keys discarded, over pairs",
        "splat keys over uniform",
        "splat pairs out of place over uniform",
        "splat argsort over uniform",
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
    assert_eq!((cases.len(), rows.len()), (28, 28), "a row per case: {cases:?}");
    for row in &rows {
        let number = |name: &str| field(row, name).parse::<f64>().unwrap_or_else(|_| panic!("{name} of {row:?}"));
        assert_eq!((field(row, "suite"), field(row, "date")), ("features", "2026-01-31"));
        assert_eq!((number("n"), number("runs"), number("seed")), (20_000.0, 2.0, 1.0));
        assert!(number("wall_ns_q25") <= number("wall_ns_median"), "{row:?}");
        assert!(number("wall_ns_median") <= number("wall_ns_q75"), "{row:?}");
        assert!(number("elements_per_s") > 0.0 && number("floor_bytes") > 0.0, "{row:?}");
        assert!(number("record_ns") > 0.0 && number("record_ns") < number("wall_ns_median"), "{row:?}");
    }
    let floor = |case: &str| field(rows.iter().find(|row| field(row, "case") == case).unwrap(), "floor_bytes");
    let floors = ["copy", "u8 keys", "u32 keys", "u32 pairs", "u32 argsort", "splat keys", "9 bits by digits of 9"];
    assert_eq!(floors.map(floor), ["8", "3", "36", "68", "60", "28", "12"]);

    for name in ["rates", "floor", "ratios"] {
        let svg = fs::read_to_string(scratch.0.join(format!("results/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("</text>"), "{name}.svg");
        let picture = Picture::read(&scratch.0.join(format!("results/{name}.png")));
        assert!(!picture.is_blank(), "{name}.png is blank");
    }

    // Of several sizes there are lines, below the bandwidth of the largest copy.
    let sizes = ["--suite", "sizes", "--min-log2", "10", "--max-log2", "12", "--runs", "1", "--out", "sizes"];
    scratch.succeed(&sizes);
    let roofline = fs::read_to_string(scratch.0.join("sizes/roofline.svg")).unwrap();
    for text in ["u32 keys", "roof: copy of 2^12 (", "bytes per second"] {
        assert!(roofline.contains(text), "{text:?} is not in the roofline");
    }
    fs::remove_dir_all(scratch.0.join("sizes")).unwrap();

    // Beside others, vksort's have its name.
    scratch.succeed(&["--suite", "peers", "--count", "2000", "--runs", "1", "--out", "peers"]);
    let rates = fs::read_to_string(scratch.0.join("peers/rates.svg")).unwrap();
    for text in ["vksort: u32 keys, ", "vksort: u32 pairs, ", "radsort u32 keys, "] {
        assert!(rates.contains(text), "{text:?} is not in the rates");
    }
    assert!(!rates.contains("vksort: radsort"), "others have vksort's name");
    fs::remove_dir_all(scratch.0.join("peers")).unwrap();

    // What is there stays, unless it is to be overwritten.
    scratch.fail(&run, &["--out", "results.csv", "--force"]);
    let results = scratch.0.join("results/results.csv");
    let before = fs::read(&results).unwrap();
    let again = ["--suite", "sizes", "--count", "3000", "--runs", "1", "--out", "results", "--force"];
    scratch.succeed(&[&again[..], &["--peer-csv", "results/results.csv"]].concat());
    assert_ne!(fs::read(&results).unwrap(), before);
    assert_eq!(scratch.rows("results/results.csv").len(), 4 + 28, "own rows and those of the file");
    assert!(!scratch.0.join("results/ratios.svg").exists(), "a plot of the earlier run is left");
}

/// Results that are written after the measurements: a disk that is full then leaves what an earlier run wrote.
#[test]
#[cfg(unix)]
fn results_that_cannot_be_written_leave_those_before() {
    let scratch = Scratch::new("limited");
    fs::create_dir(scratch.0.join("results")).unwrap();
    fs::write(scratch.0.join("results/results.csv"), "precious").unwrap();
    let bench = vksort_testing::process::program("bench");
    let mut command = std::process::Command::new("sh");
    // A limit on the size of files is met as a full disk is.
    command.args(["-c", "ulimit -f 0; exec \"$@\" > /dev/null", "sh"]).arg(bench.get_program()).current_dir(&scratch.0);
    command.args([
        "--suite",
        "sizes",
        "--min-log2",
        "11",
        "--max-log2",
        "11",
        "--runs",
        "1",
        "--out",
        "results",
        "--force",
    ]);
    let run = vksort_testing::process::run_within(Duration::from_secs(120), &mut command);
    let stderr = vksort_testing::process::said(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("error: --out: writing results/") && stderr.lines().count() == 1, "{stderr}");
    assert_eq!(fs::read(scratch.0.join("results/results.csv")).unwrap(), b"precious");
    assert_eq!(fs::read_dir(scratch.0.join("results")).unwrap().count(), 1, "a file is left behind");
}

#[test]
fn a_run_that_is_stopped_leaves_the_sizes_it_finished() {
    let scratch = Scratch::new("stopped");
    let mut command = vksort_testing::process::program("bench");
    let run = ["--suite", "sizes", "--min-log2", "11", "--max-log2", "19", "--runs", "50", "--out", "results"];
    let mut child =
        command.current_dir(&scratch.0).args(run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !scratch.0.join("results/results.csv").exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "no size was written");
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "the run ended before it was stopped");
    let rows = scratch.rows("results/results.csv");
    assert!(!rows.is_empty() && rows.len().is_multiple_of(4), "{} rows are no whole sizes", rows.len());
    assert_eq!((field(&rows[0], "case"), field(&rows[0], "n")), ("copy", "2048"));
}

#[test]
fn patterns_are_measured_beside_uniform_keys() {
    let scratch = Scratch::new("patterns");
    let run = ["--suite", "patterns", "--count", "10000", "--runs", "3", "--out", "results"];
    let stdout = scratch.succeed(&run);
    let summary = fs::read_to_string(scratch.0.join("results/summary.md")).unwrap();
    let rows = scratch.rows("results/results.csv");
    let cases: Vec<&str> = rows.iter().map(|row| field(row, "case")).collect();
    let tops = (2..=6).map(|values| format!("top byte of {values} values"));
    let others = ["uniform", "constant", "two values", "six values", "sorted", "reversed", "constant top byte"];
    let ands = [2, 4, 10, 16].map(|words| format!("AND of {words} words"));
    let more = ["one stray", "splat depths", "copy"];
    let expected: Vec<String> =
        others.iter().chain(&more).map(|name| name.to_string()).chain(tops).chain(ands).collect();
    assert!(expected.iter().all(|name| cases.contains(&name.as_str())), "{cases:?}");
    assert_eq!(expected.len(), cases.len(), "{cases:?}");

    // The slowest comes first, and is named below.
    for text in [&stdout, &summary] {
        let mut lines = text.lines().skip_while(|line| !line.contains("time over that of uniform")).skip(1);
        let table: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let table: Vec<&str> = table.into_iter().filter(|line| !line.starts_with("|--")).collect();
        assert_eq!(table.len(), cases.len() - 2, "all but the copy and uniform keys: {text}");
        let worst =
            lines.next().and_then(|line| line.strip_prefix("worst pattern: ")).unwrap_or_else(|| panic!("{text}"));
        let (name, times) = worst.split_once(", ").unwrap();
        assert!(table[0].contains(name) && table[0].contains(&times[..4]), "{text}");
        assert!(times.contains(" times uniform (") && times[..4].parse::<f64>().is_ok(), "{worst}");
    }
}

#[test]
fn bad_arguments_end_in_one_line() {
    let scratch = Scratch::new("bad-arguments");
    fs::write(scratch.0.join("file"), "suite,case\n1,2\n").unwrap();
    // A plot to infinity has no end of ticks.
    let session = Session(&scratch);
    let rows = |name: &str, ns: f64| session.results(name, "peer", OWN, &[("u32 keys", "uniform", 4096, ns)]);
    rows("infinite", 0.0);
    rows("negative", -5.0);
    session.results("empty", "peer", OWN, &[]);
    let cases: [(&[&str], &[&str]); 25] = [
        (
            &["--peer-csv", "session/infinite/results.csv"],
            &["--peer-csv", "row 1", "elements_per_s is inf", "0 to 1e30"],
        ),
        (&["--peer-csv", "session/negative/results.csv"], &["--peer-csv", "row 1", "gpu_ns_median is -5.0"]),
        (&["--peer-csv", "session/empty/results.csv"], &["--peer-csv", "empty/results.csv has 0 rows"]),
        (&["--suite", "bogus"], &["--suite", "bogus", "features"]),
        (&["--runs", "0"], &["--runs", "0"]),
        (&["--count", "0"], &["--count", "0"]),
        (&["--count", "-5"], &["--count", "-5", "1 to 4294967295"]),
        (&["--suite", "features", "--min-log2", "12"], &["--min-log2", "--suite features", "many sizes"]),
        (&["--count", "5", "--max-log2", "12"], &["--count", "--max-log2"]),
        (&["--max-log2", "32"], &["--max-log2", "32"]),
        (&["--count", "5", "--min-log2", "12"], &["--count", "--min-log2"]),
        (&["--suite", "sizes", "--min-log2", "14", "--max-log2", "12"], &["--min-log2 is 14", "10 to 12"]),
        (&["--summarize", "nowhere"], &["--summarize nowhere", "steps.csv"]),
        (&["--summarize", "nowhere", "--runs", "5"], &["--summarize", "cannot be used"]),
        (&["--memory-mib", "0"], &["--memory-mib", "0"]),
        (&["--seed", "x"], &["--seed", "x"]),
        (&["--date", "yesterday"], &["--date", "yesterday", "YYYY-MM-DD"]),
        (&["--date", "2020-13-45"], &["--date", "2020-13-45", "YYYY-MM-DD"]),
        (&["--date", "2021-02-29"], &["--date", "2021-02-29", "YYYY-MM-DD"]),
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
    if cfg!(target_os = "linux") {
        scratch.fail(&["--count", "1000", "--out", "/proc/results"], &["--out is /proc/results", "cannot be made"]);
    }
    let too_much = ["--suite", "types", "--count", "4000000000", "--memory-mib", "16"];
    let parts = ["no size fits", "4000000000", "MiB of memory are needed, allowed are --memory-mib 16"];
    scratch.fail(&too_much, &parts);
    // Less than that, but more than there is: nothing is allocated to find out.
    let too_much = ["--suite", "types", "--count", "4000000000", "--memory-mib", "1000000000"];
    scratch.fail(&too_much, &["no size fits", "4000000000", "memory are needed, available are"]);
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 2, "a file is left behind");
}

#[test]
fn sizes_that_do_not_fit_are_skipped() {
    let scratch = Scratch::new("skipped");
    let run = scratch.bench(&["--suite", "sizes", "--max-log2", "16", "--runs", "1", "--memory-mib", "1"]);
    let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success() && stdout.contains("2^12") && !stdout.contains("2^16"), "{stdout}{stderr}");
    let skipped: Vec<&str> = stderr.lines().collect();
    assert!(skipped.last().is_some_and(|line| line.starts_with("skipped: sizes at 65536 elements: ")), "{stderr}");
    assert!(
        skipped.iter().all(|line| line.ends_with("MiB of memory are needed, allowed are --memory-mib 1")),
        "{stderr}"
    );
}

/// Few elements have a bitonic network beside them, as far as one workgroup has room.
#[test]
fn few_elements_are_sorted_in_all_ways() {
    let scratch = Scratch::new("few");
    scratch.succeed(&["--suite", "few", "--min-log2", "10", "--max-log2", "11", "--runs", "1", "--out", "results"]);
    scratch.succeed(&["--suite", "few", "--count", "20000", "--runs", "1", "--out", "many"]);
    let cases = |path: &str, n: &str| -> HashSet<String> {
        let rows = scratch.rows(path);
        rows.iter().filter(|row| field(row, "n") == n).map(|row| field(row, "case").to_string()).collect()
    };
    // An argsort of few elements reads a key and writes an index.
    scratch.succeed(&["--suite", "sizes", "--count", "1000", "--runs", "1", "--out", "sizes"]);
    let rows = scratch.rows("sizes/results.csv");
    let floors: Vec<(&str, &str)> = rows.iter().map(|row| (field(row, "case"), field(row, "floor_bytes"))).collect();
    assert_eq!(floors, [("copy", "8"), ("u32 keys", "8"), ("u32 pairs", "16"), ("u32 argsort", "8")]);
    for n in ["1024", "2048"] {
        let cases = cases("results/results.csv", n);
        assert_eq!(cases.len(), 11, "{cases:?}");
        assert!(cases.contains("bitonic u32 keys") && cases.contains("single-workgroup u32 pairs"), "{cases:?}");
    }
    let cases = cases("many/results.csv", "20000");
    let names: HashSet<&str> = cases.iter().map(String::as_str).collect();
    let many = ["copy", "u32 keys", "u32 pairs", "onesweep u32 keys", "reduce-then-scan u32 keys"];
    assert!(many.iter().all(|name| names.contains(name)) && names.len() == 7, "{names:?}");
}

/// Each request is sorted with a finish and without, whose ratio is told.
#[test]
fn sorts_with_a_finish_are_measured_beside_all_passes() {
    let scratch = Scratch::new("finish");
    // The rows of software drivers rank in a way that has no finish.
    let gpu = Gpu::best().unwrap();
    let blocks = Tuning { workgroup_size: 64, items_keys: 8, items_pairs: 8, segment_items: 8, ..gpu.tuning().clone() };
    let tuning = Tuning { rank: RankMethod::Ballot, digit_bits: 8, merge_runs: true, ..blocks };
    let profile = TuningProfile::new(gpu.profile(), tuning, Vec::new(), "2026-01-31");
    fs::write(scratch.0.join("row.json"), profile.to_json()).unwrap();
    let run = ["--suite", "finish", "--count", "200000", "--runs", "2", "--tuning", "row.json", "--out", "results"];
    let stdout = scratch.succeed(&run);
    assert!(stdout.contains("verified   every case"), "{stdout}");
    for what in ["u32 keys", "u32 pairs", "u64 keys", "splat argsort", "normal argsort", "u32 keys AND of 10 words"] {
        assert!(stdout.contains(&format!("{what}: a finish over all passes")), "{what}: {stdout}");
    }
    let steps = scratch.rows("results/step-times.csv");
    let has = |case: &str| steps.iter().any(|row| field(row, "case") == case && field(row, "step") == "runs");
    assert!(has("u32 keys with a finish") && !has("u32 keys without a finish"), "{steps:?}");
    let stdout = scratch.succeed(&["--suite", "finish", "--count", "4096", "--runs", "1", "--out", "without"]);
    assert!(stdout.contains("u32 keys without a finish") && !stdout.contains("with a finish"), "{stdout}");
}

/// Each share of lost look-back words has a row beside reduce-then-scan, whose results are right, and the break-even is named.
#[test]
fn lost_words_are_measured_beside_reduce_then_scan() {
    let scratch = Scratch::new("lost");
    let run = ["--suite", "lost", "--count", "200000", "--runs", "2", "--seed", "1", "--out", "results"];
    let stdout = scratch.succeed(&run);
    assert!(stdout.contains("verified   every case"), "{stdout}");
    let summary = fs::read_to_string(scratch.0.join("results/summary.md")).unwrap();
    let rows = scratch.rows("results/lost.csv");
    for request in ["u32 keys", "u32 pairs"] {
        let sentence = format!("{request}, 200000: break-even with words lost: ");
        assert!(stdout.contains(&sentence) && summary.contains(&sentence), "{sentence}: {stdout}");
        let rows: Vec<&Row> = rows.iter().filter(|row| field(row, "request") == request).collect();
        let tiles: u32 = field(rows[0], "tiles").parse().unwrap();
        let shares: HashSet<u32> = [64, 16, 8, 4, 2, 1].iter().map(|every| tiles.div_ceil(*every)).chain([0]).collect();
        let lost: Vec<u32> = rows.iter().map(|row| field(row, "lost").parse().unwrap()).collect();
        assert_eq!(lost.len(), shares.len(), "each share once: {lost:?}");
        assert_eq!(lost.iter().copied().collect::<HashSet<_>>(), shares);
        for row in rows {
            let number = |name: &str| field(row, name).parse::<f64>().unwrap();
            assert!(number("over_q25") > 0.0 && number("over_q25") <= number("over_q75"), "{row:?}");
        }
    }
    // All cases are there, those of the same tiles too.
    assert_eq!(scratch.rows("results/results.csv").len(), 1 + 2 * 8);
    assert!(!Picture::read(&scratch.0.join("results/lost.png")).is_blank());
    let svg = fs::read_to_string(scratch.0.join("results/lost.svg")).unwrap();
    assert!(svg.contains("tiles lost"), "{svg}");
}
