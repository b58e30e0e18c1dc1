//! The summary of a session of measurements.

use std::fs;

use super::Scratch;
use vksort_testing::picture::Picture;

/// A directory as scripts/pack/measure.sh leaves it.
pub struct Session<'a>(pub &'a Scratch);

const STEPS: &str = "step,state,seconds,passed,failed,note\n";
pub const OWN: &str = "Some GPU 9";

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
    pub fn results(&self, run: &str, suite: &str, device: &str, rows: &[(&str, &str, u64, f64)]) {
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
    let wide = ("u64 keys out of place", "uniform", 1 << 24, 1e6);
    session.results("features", "features", OWN, &[splats, wide]);
    let methods = [
        ("u32 pairs", "uniform", 1 << 24, 1e6),
        ("rank match u32 pairs", "uniform", 1 << 24, 2e6),
        ("rank compare u32 pairs", "uniform", 1 << 24, 8e5),
        ("rank ballot u32 keys", "uniform", 1 << 24, 1e6),
    ];
    session.results("methods", "methods", OWN, &methods);
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

    let finish =
        [("u64 keys with a finish", "uniform", 1 << 24, 5e5), ("u64 keys without a finish", "uniform", 1 << 24, 1e6)];
    session.results("finish", "finish", OWN, &finish);

    session.write(
        "lost/lost.csv",
        "request,n,tiles,lost,onesweep_ns,reduce_then_scan_ns,over_q25,over_median,over_q75\n\
         u32 keys,16777216,2185,0,4e5,8e5,0.4,0.5,0.6\nu32 keys,16777216,2185,1093,1.2e6,8e5,1.4,1.5,1.6\n",
    );

    session.write(
        "segments/versus.csv",
        "suite,case,n,segments,against,clock,ns,against_ns,over_q25,over_median,over_q75\n\
         segments,0 to 8 pairs,16777216,4194304,full sort,device,3e5,1e6,0.28,0.3,0.35\n\
         segments,0 to 8 pairs,16777216,4194304,CUB's DeviceSegmentedSort,device,3e5,2e6,0.14,0.15,0.16\n\
         segments,0 to 8 pairs,16777216,4194304,copy,device,3e5,2.4e5,1.2,1.25,1.3\n",
    );

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
        "| match u32 pairs | 8.39 (6.99 .. 10.49) | 0.50 |",
        "| compare u32 pairs | 20.97 (17.48 .. 26.21) | 1.25 |",
        "| ballot u32 keys | 16.78 (13.98 .. 20.97) | NONE |",
        "| keys, in place | 41.94 (34.95 .. 52.43) | 27.96 (23.30 .. 34.95) | 1.50 |",
        "| u64, out of place | 16.78 (13.98 .. 20.97) | 8.39 (6.99 .. 10.49) | 2.00 |",
        "| keys, out of place | NONE | 27.96 (23.30 .. 34.95) | NONE |",
        "| u32 keys | 2^24 | 1093 of 2185 | 1.20 ms | 1.50 | 1.40 .. 1.60 |",
        "| u64 keys | 2^24 | 33.55 (27.96 .. 41.94) | 2.00 | 4.00 |",
        "u32 keys, 2^24: break-even with words lost: 25 % (20 % .. 30 % by quartiles)",
        "| 0 to 8 pairs | 2^24 | 2^22 | full sort | 0.30 | 0.28 .. 0.35 | 80 % | 300.0 us | 1.00 ms |",
        "| 0 to 8 pairs | 2^24 | 2^22 | CUB's DeviceSegmentedSort | 0.15 | 0.14 .. 0.16 | 80 % | 300.0 us | 2.00 ms |",
        "Ratios of device time, round by round. Copy is the share that a copy of the same bytes takes.",
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
