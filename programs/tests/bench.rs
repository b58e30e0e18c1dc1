//! The program `bench`: what it writes, and what it says to input that it cannot use.

#[path = "programs/mod.rs"]
mod programs;

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use programs::Picture;

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
        let mut command = programs::program("bench");
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
    let ratios = [
        "u8 over u32",
        "u16 over u32",
        "u64 over u32",
        "u64: leading digits over all",
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
    assert_eq!((cases.len(), rows.len()), (30, 30), "a row per case: {cases:?}");
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
    assert_eq!(floors.map(floor), ["8", "3", "36", "68", "52", "28", "12"]);

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
    for text in ["u32 keys", "roof: copy of 2^12", "bytes per second"] {
        assert!(roofline.contains(text), "{text:?} is not in the roofline");
    }
    fs::remove_dir_all(scratch.0.join("sizes")).unwrap();

    // What is there stays, unless it is to be overwritten.
    scratch.fail(&run, &["--out", "results.csv", "--force"]);
    let results = scratch.0.join("results/results.csv");
    let before = fs::read(&results).unwrap();
    let again = ["--suite", "sizes", "--count", "3000", "--runs", "1", "--out", "results", "--force"];
    scratch.succeed(&[&again[..], &["--peer-csv", "results/results.csv"]].concat());
    assert_ne!(fs::read(&results).unwrap(), before);
    assert_eq!(scratch.rows("results/results.csv").len(), 4 + 30, "own rows and those of the file");
    assert!(!scratch.0.join("results/ratios.svg").exists(), "a plot of the earlier run is left");
}

#[test]
fn a_run_that_is_stopped_leaves_the_sizes_it_finished() {
    let scratch = Scratch::new("stopped");
    let mut command = programs::program("bench");
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
    let cases: [(&[&str], &[&str]); 23] = [
        (
            &["--peer-csv", "session/infinite/results.csv"],
            &["--peer-csv", "row 1", "elements_per_s is inf", "0 to 1e30"],
        ),
        (&["--peer-csv", "session/negative/results.csv"], &["--peer-csv", "row 1", "gpu_ns_median is -5.0"]),
        (&["--peer-csv", "session/empty/results.csv"], &["--peer-csv", "empty/results.csv has 0 rows"]),
        (&["--suite", "bogus"], &["--suite", "bogus", "features"]),
        (&["--runs", "0"], &["--runs", "0"]),
        (&["--count", "0"], &["--count", "0"]),
        (&["--count", "-5"], &["--count", "-5", "0 to 4294967295"]),
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

/// A directory as scripts/pack/measure.sh leaves it.
struct Session<'a>(&'a Scratch);

const STEPS: &str = "step,state,seconds,passed,failed,note\n";
const OWN: &str = "Some GPU 9";

impl Session<'_> {
    fn write(&self, name: &str, text: &str) {
        let path = self.0.0.join("session").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn begin(&self, steps: &str) {
        self.write("steps.csv", &format!("{STEPS}{steps}"));
        self.write("command.txt", "./measure.sh --minutes 3\n");
        self.write("BUILD", "vksort 0.0.0, commit abc\nfor some target\n");
        self.write(
            "device.txt",
            &format!("1: {OWN}\n   kind  discrete\n   driver  X 1.2\n   subgroup size  32, with all\n"),
        );
    }

    /// Results of a run: cases with their data, sizes and median times; the quartiles are 20 % off.
    fn results(&self, run: &str, suite: &str, device: &str, rows: &[(&str, &str, u64, f64)]) {
        let mut text = String::from(
            "suite,case,device,driver,subgroup,vksort_version,date,key,value_bytes,order,bits,placement,algorithm,rank,\
             tuning,data,seed,n,runs,gpu_ns_median,gpu_ns_q25,gpu_ns_q75,gpu_ns_min,wall_ns_median,wall_ns_q25,\
             wall_ns_q75,elements_per_s,floor_bytes,floor_share\n",
        );
        let version = if suite == "cub" { "" } else { "0.0.0" };
        for (case, data, n, ns) in rows {
            let floor = if *case == "copy" { 8 } else { 36 };
            text += &format!(
                "{suite},{case},{device},X 1.2,32,{version},2026-01-31,u32,0,ascending,0..32,in place,any,,,{data},1,{n},\
                 21,{ns},{},{},{},{},{},{},{},{floor},0.5\n",
                0.8 * ns,
                1.2 * ns,
                0.8 * ns,
                3.0 * ns,
                3.0 * ns,
                3.0 * ns,
                *n as f64 * 1e9 / ns
            );
        }
        self.write(&format!("{run}/results.csv"), &text);
    }

    /// The summary, its tables as cells with one space between them.
    fn summarize(&self) -> String {
        let stdout = self.0.succeed(&["--summarize", "session"]);
        assert!(stdout.lines().all(|line| line.starts_with("written    session/")), "{stdout}");
        let text = fs::read_to_string(self.0.0.join("session/summary.md")).unwrap();
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
    }
}

/// Cases of the sizes suite at one size.
fn sizes(n: u64, keys: f64, pairs: f64) -> [(&'static str, &'static str, u64, f64); 2] {
    [("u32 keys", "uniform", n, keys), ("u32 pairs", "uniform", n, pairs)]
}

#[test]
fn a_session_is_summarized() {
    let scratch = Scratch::new("session");
    let session = Session(&scratch);
    session.begin(
        "test-conformance,done,20,150,0,\"\"\ntest-matrix,failed,7,40,2,\"a/b, c/d\"\ncub,done,5,0,0,\"\"\n\
         sizes,stopped,30,0,0,\"its share of the time was over; skipped: sizes at 2 elements\"\n",
    );
    let copy = [("copy", "uniform", 1 << 28, 1e6)];
    let large = [&copy[..], &sizes(1 << 28, 9e6, 1.8e7), &sizes(1 << 26, 3e6, 6e6)].concat();
    session.results("sizes", "sizes", OWN, &large);
    // Copies of runs with smaller sizes are not what shares refer to.
    let small = [&[("copy", "uniform", 1 << 11, 1e3)][..], &sizes(1 << 11, 2e4, 4e4)].concat();
    session.results("small", "sizes", OWN, &small);
    session.results("tuned", "sizes", OWN, &sizes(1 << 28, 8e6, 1.6e7));
    let splats = ("splat keys", "splat depths", 1 << 24, 4e5);
    let wide = ("u64 keys by leading digits", "uniform", 1 << 24, 1e6);
    session.results("features", "features", OWN, &[splats, wide]);
    let patterns = [("uniform", "uniform", 1 << 24, 5e5), ("constant", "constant", 1 << 24, 1e6)];
    session.results("patterns", "patterns", OWN, &patterns);
    let cub = [
        &sizes(1 << 28, 1e7, 1.6e7)[..],
        &sizes(1 << 24, 1e6, 2e6),
        &sizes(1 << 11, 1e4, 3e4),
        &[("splat keys", "", 1 << 24, 6e5), ("u64 keys", "", 1 << 24, 2e6)],
    ]
    .concat();
    session.results("cub", "cub", OWN, &cub);

    let text = session.summarize();
    let lines = [
        "# vksort on Some GPU 9",
        "* driver: X 1.2",
        "* subgroup size: 32, with all",
        "* date: 2026-01-31",
        "* command: `./measure.sh --minutes 3`",
        "* build: vksort 0.0.0, commit abc; for some target",
        "* runs of each case: 21; every result verified",
        "* CUB: same device and run, X 1.2; always out of place",
        "* complete: no, see the end",
        "| test-matrix | failed | 40 | 2 | 7 s |",
        "190 passed, 2 failed.",
        // The share is that of 36 bytes an element at the 8 bytes that the copy of 2^28 moves in 1e6 ns.
        "| 2^28 | 29.83 (24.86 .. 37.28) | 33.55 (27.96 .. 41.94) | 26.84 (22.37 .. 33.55) | 1.11 | 1.25 | 1.12 | 50 % |",
        "| 2^26 | 22.37 (18.64 .. 27.96) | NONE | NONE | NONE | NONE | NONE | 38 % |",
        "| 2^24 | NONE | NONE | 16.78 (13.98 .. 20.97) | NONE | NONE | NONE | NONE |",
        "| 2^28 | 14.91 (12.43 .. 18.64) | 16.78 (13.98 .. 20.97) | 16.78 (13.98 .. 20.97) | 0.89 | 1.00 | 1.12 | 25 % |",
        "| 2^11 | 20.0 us | 10.0 us | 0.50 | 40.0 us | 30.0 us | 0.75 |",
        "| 2^11 | 60.0 us | 30.0 us | 0.50 | 120.0 us | 90.0 us | 0.75 |",
        "| constant | 16.78 (13.98 .. 20.97) | 0.50 |",
        "2^24 keys. Worst over uniform: 0.50 (constant).",
        "| keys, in place | 41.94 (34.95 .. 52.43) | 27.96 (23.30 .. 34.95) | 1.50 |",
        "| u64, out of place, by leading digits | 16.78 (13.98 .. 20.97) | 8.39 (6.99 .. 10.49) | 2.00 |",
        "| keys, out of place | NONE | 27.96 (23.30 .. 34.95) | NONE |",
        "* test-matrix: failed after 7 s: a/b, c/d",
        "* sizes: stopped after 30 s: its share of the time was over; skipped: sizes at 2 elements",
    ];
    for line in lines {
        let line = line.replace("NONE", "not measured");
        assert!(text.lines().any(|given| given == line), "{line:?} is missing in\n{text}");
    }
    assert!(!text.contains("conformance: done"), "{text}");

    let svg = fs::read_to_string(scratch.0.join("session/throughput.svg")).unwrap();
    for line in ["keys: vksort", "keys: CUB", "pairs: vksort", "pairs: CUB"] {
        assert!(svg.contains(line), "{line} is missing in the plot");
    }
    assert!(!svg.contains("tuned"), "one size makes no line");
    assert!(!Picture::read(&scratch.0.join("session/throughput.png")).is_blank());

    // Another GPU's rates say nothing about this one.
    session.results("cub", "cub", "Other GPU", &cub);
    let text = session.summarize();
    assert!(text.contains("* CUB: left out: it ran on Other GPU\n"), "{text}");
    assert!(text.contains("| 2^11 | 20.0 us | not measured | not measured | 40.0 us |"), "{text}");
    assert!(!text.contains("26.84"), "{text}");
}

#[test]
fn a_session_without_results_is_summarized() {
    let scratch = Scratch::new("no-results");
    let session = Session(&scratch);
    session.begin("test-conformance,interrupted,3,0,0,\"\"\ncub,skipped,0,0,0,\"nvcc was not found\"\n");
    // A program that is stopped at once leaves nothing below the header, or nothing at all.
    session.results("sizes", "sizes", OWN, &[]);
    session.write("cub/results.csv", "");
    let text = session.summarize();
    for part in ["* CUB: not measured\n", "* date: not measured\n", "* test-conformance: interrupted after 3 s\n"] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
    assert!(text.contains("## u32 keys: G elements/s, median (25 % .. 75 %)\n\nnot measured\n"), "{text}");
    assert!(text.contains("* cub: skipped: nvcc was not found\n"), "{text}");
    assert!(!scratch.0.join("session/throughput.svg").exists() && !text.contains("throughput"), "{text}");

    session.write("patterns/results.csv", "suite,case\npatterns,uniform\n");
    scratch.fail(&["--summarize", "session"], &["--summarize session", "patterns/results.csv", "missing field"]);
    session.begin("cub,exploded,0,0,0,\"\"\n");
    scratch.fail(&["--summarize", "session"], &["steps.csv", "exploded", "skipped"]);
}

/// A row of a results.csv: its fields by the names of their columns.
type Row = Vec<(String, String)>;

/// Columns with other values than usual.
type Changes<'a> = &'a [(&'a str, &'a str)];

/// A row for scripts/compare.sh: some columns in one order, with some of them changed.
fn row(changed: Changes<'_>) -> Row {
    let usual = [
        ("suite", "sizes"),
        ("case", "u32 keys"),
        ("device", "some device"),
        ("driver", "some driver"),
        ("subgroup", "32"),
        ("key", "u32"),
        ("value_bytes", "0"),
        ("order", "ascending"),
        ("bits", "0..32"),
        ("placement", "in place"),
        ("data", "uniform"),
        ("seed", "1"),
        ("n", "1024"),
        ("runs", "21"),
        ("gpu_ns_median", "1000"),
        ("gpu_ns_q25", "950"),
        ("gpu_ns_q75", "1050"),
        ("wall_ns_median", "2000"),
        ("wall_ns_q25", "1900"),
        ("wall_ns_q75", "2100"),
    ];
    let known = |name: &str| usual.iter().any(|(column, _)| *column == name);
    assert!(changed.iter().all(|(column, _)| known(column)), "{changed:?}");
    let value = |column: &str| changed.iter().find(|(name, _)| *name == column).map(|(_, value)| *value);
    usual.iter().map(|(column, usual)| (column.to_string(), value(column).unwrap_or(usual).to_string())).collect()
}

/// A row of another case whose device time is this, with quartiles so far from it.
fn timed(case: &str, median: u32, spread: u32) -> Row {
    let [median, low, high] = [median, median - spread, median + spread].map(|time| time.to_string());
    row(&[("case", case), ("gpu_ns_median", &median), ("gpu_ns_q25", &low), ("gpu_ns_q75", &high)])
}

/// Compares two files of these rows; gives the exit code, stdout and stderr, or nothing where the script cannot run.
fn compare(scratch: &Scratch, options: &[&str], rows: [&[Row]; 2]) -> Option<(Option<i32>, String, String)> {
    let script = programs::root().join("scripts/compare.sh");
    let python = Command::new("python3").arg("--version").output();
    if !script.is_file() || python.is_err() {
        println!("skipped: {} or python3 is not here", script.display());
        return None;
    }
    for (name, rows) in ["old.csv", "new.csv"].into_iter().zip(rows) {
        let mut writer = csv::Writer::from_path(scratch.0.join(name)).unwrap();
        writer.write_record(row(&[]).iter().map(|(column, _)| column)).unwrap();
        rows.iter().for_each(|row| writer.write_record(row.iter().map(|(_, value)| value)).unwrap());
        writer.flush().unwrap();
    }
    let mut command = Command::new("bash");
    command.arg(script).args(options).args(["old.csv", "new.csv"]).current_dir(&scratch.0);
    let run = programs::run_within(Duration::from_secs(30), &mut command);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some((run.status.code(), text(run.stdout), text(run.stderr)))
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

#[test]
fn comparing_tells_movement_from_noise() {
    let scratch = Scratch::new("compare");
    let few = |mut row: Row| {
        row.iter_mut().find(|(column, _)| column == "runs").unwrap().1 = "4".into();
        row
    };
    let host_only = |row: Row| -> Row {
        let blank = |(column, value): (String, String)| {
            let value = if column.starts_with("gpu") { String::new() } else { value };
            (column, value)
        };
        row.into_iter().map(blank).collect()
    };
    let old = [
        timed("faster", 1000, 50),
        timed("slower", 1000, 50),
        timed("wide quartiles", 1000, 50),
        timed("too little", 1000, 5),
        few(timed("few runs", 1000, 50)),
        host_only(timed("host", 1000, 50)),
        timed("gone", 1000, 50),
    ];
    let new = [
        timed("faster", 500, 50),
        timed("slower", 1200, 50),
        timed("wide quartiles", 1200, 400),
        timed("too little", 1025, 5),
        timed("few runs", 2000, 50),
        timed("host", 5, 1),
        timed("added", 1000, 50),
    ];
    let Some((code, stdout, stderr)) = compare(&scratch, &[], [&old, &new]) else { return };
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let line =
        |case: &str| stdout.lines().find(|line| line.contains(case)).unwrap_or_else(|| panic!("{case}: {stdout}"));
    let ends = [
        ("faster  ", "2.000 faster"),
        ("slower  ", "0.833 slower"),
        ("wide quartiles", "0.833"),
        ("too little", "0.976"),
        ("few runs  ", "0.500"),
        // Where one file has no time of the device, both are compared by that of the host.
        ("host  ", "1.000"),
        ("within noise", "1 faster, 1 slower, 4 within noise"),
        ("fewer than", "1 of them had fewer than 5 runs, which tell nothing"),
        ("in old.csv only", "1 rows are in old.csv only:"),
        ("gone", "sizes, gone, 1024"),
        ("added", "sizes, added, 1024"),
    ];
    for (case, end) in ends {
        assert!(line(case).ends_with(end), "{case}: {stdout}");
    }
    let code = |options, old: &[_], new: &[_]| compare(&scratch, options, [old, new]).unwrap().0;
    assert_eq!(code(&["--fail-on-regression"], &old, &new), Some(1));
    assert_eq!(code(&["--fail-on-regression"], &old[..1], &new[..1]), Some(0));
    assert_eq!(code(&["--fail-on-regression"], &old, &old), Some(0));
}

#[test]
fn comparing_refuses_what_cannot_be_compared() {
    let scratch = Scratch::new("compare-bad");
    let usual = [row(&[])];
    let cases: [(Changes<'_>, &[&str]); 7] = [
        (&[("device", "another device")], &["some device", "another device", "one device"]),
        (&[("data", "sorted")], &["u32 keys", "data", "uniform", "sorted"]),
        (&[("seed", "2")], &["u32 keys", "seed", "1 in old.csv", "2 in new.csv"]),
        (&[("case", "u32 pairs")], &["no row in common"]),
        (&[("gpu_ns_q25", "fast")], &["new.csv, line 2", "gpu_ns", "fast", "three numbers"]),
        (&[("gpu_ns_median", "0")], &["new.csv, line 2", "gpu_ns", "0", "more than 0"]),
        (&[("runs", "many")], &["new.csv, line 2", "runs", "many"]),
    ];
    for (changed, parts) in cases {
        let Some((code, stdout, stderr)) = compare(&scratch, &[], [&usual, &[row(changed)]]) else { return };
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(2), "", 1), "{changed:?}: {stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{changed:?}: {part:?} is missing in {stderr}");
        }
    }
    let twice = [row(&[]), row(&[])];
    let (code, _, stderr) = compare(&scratch, &[], [&usual, &twice]).unwrap();
    assert!(code == Some(2) && stderr.contains("a second row"), "{stderr}");
    // What may have moved the times besides is said, and the comparison made.
    let newer = [row(&[("driver", "newer driver"), ("subgroup", "64")])];
    let (code, stdout, stderr) = compare(&scratch, &[], [&usual, &newer]).unwrap();
    assert!(code == Some(0) && stdout.contains("0 faster, 0 slower, 1 within noise"), "{stdout}");
    let warnings =
        ["warning: the driver was some driver and is newer driver", "warning: the subgroup was 32 and is 64"];
    assert_eq!(stderr.lines().collect::<Vec<_>>(), warnings);
}

#[test]
fn kept_records_can_be_compared() {
    let root = programs::root();
    let script = root.join("scripts/compare.sh");
    if !script.is_file() || Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: {} or python3 is not here", script.display());
        return;
    }
    let mut compared = 0;
    for folder in fs::read_dir(root.join("benches/record")).unwrap().map(|entry| entry.unwrap().path()) {
        for file in folder.is_dir().then(|| fs::read_dir(&folder).unwrap()).into_iter().flatten() {
            let file = file.unwrap().path();
            let mut command = Command::new("bash");
            let run = command.arg(&script).arg("--fail-on-regression").args([&file, &file]);
            let run = programs::run_within(Duration::from_secs(30), run);
            assert!(run.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&run.stderr));
            compared += 1;
        }
    }
    assert!(compared > 0, "no record is kept");
}

#[test]
fn candidates_of_a_model_are_measured_in_its_order() {
    let scratch = Scratch::new("model");
    let header = "gpu,request,place,built_in,workgroup_size,items,subgroup_size,rank,ballot,leader_adds,few_registers,issue,\
                  shared,spill,bytes,latency,bound,cycles";
    let lines = [
        "some gpu,keys,1,0,64,8,8,ballot,by-mask,true,false,10,5,0,2,1,issue,10",
        "some gpu,keys,2,1,32,8,8,match,by-place,false,true,10,20,0,2,1,shared,20",
        "some gpu,pairs,1,0,64,4,8,ballot,of-keys,false,false,30,5,0,2,1,issue,30",
        "other,pairs,1,0,64,4,8,ballot,of-keys,false,false,30,5,0,2,1,issue,30",
    ];
    fs::write(scratch.0.join("sweep.csv"), format!("{header}\n{}\n", lines.join("\n"))).unwrap();
    let run = ["--suite", "model", "--model", "sweep.csv", "--count", "20000", "--runs", "2", "--out", "results"];
    let stdout = scratch.succeed(&[&run[..], &["--model-gpu", "some gpu"]].concat());
    assert!(stdout.contains("keys, 20000: 2 candidates by the model of some gpu; rank correlation "), "{stdout}");
    assert!(stdout.contains("32 x 8 / 8 Match few registers (built in)"), "{stdout}");
    let rows = scratch.rows("results/order.csv");
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| field(row, "measured_ns").parse::<f64>().unwrap() > 0.0));
    let summary = fs::read_to_string(scratch.0.join("results/summary.md")).unwrap();
    assert!(summary.contains("## predicted and measured order"), "{summary}");

    for (arguments, parts) in [
        (vec!["--suite", "model"], vec!["--suite is model", "--model FILE"]),
        (vec!["--model", "sweep.csv"], vec!["--suite is features", "--model is given"]),
        (vec!["--suite", "model", "--model", "none.csv"], vec!["--model none.csv"]),
        (vec!["--suite", "model", "--model", "sweep.csv"], vec!["the model has no GPU like", "--model-gpu"]),
        (
            vec!["--suite", "model", "--model", "sweep.csv", "--model-gpu", "third"],
            vec!["there is no candidate of \"third\""],
        ),
    ] {
        scratch.fail(&arguments, &parts);
    }
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
