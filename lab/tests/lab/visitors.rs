//! The program `visitors`.

use std::time::Duration;

use vksort_testing::process::{program, run_within};

/// Both ways of the program visitors verify their results; the bytes that it prints are those of the documentation.
#[test]
fn visitors_are_measured_beside_buffers() {
    let run = |flags: &[&str]| {
        let output = run_within(Duration::from_secs(120), program("visitors").args(flags));
        let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "visitors {flags:?}: {errors}");
        out.into_owned()
    };
    let cases: [&[&str]; 8] = [
        &[],
        &["--replaces", "pairs"],
        &["--replaces", "pairs", "--keys", "16", "--input", "vec4"],
        &["--keys", "24", "--input", "vec4"],
        &["--keys", "16", "--input", "float", "--keys-only"],
        &["--replaces", "output"],
        &["--replaces", "output", "--store", "splat", "--keys", "16"],
        &["--replaces", "output", "--algorithm", "reduce-then-scan"],
    ];
    for flags in cases {
        let out = run(&[flags, &["--count", "20001", "--runs", "1"]].concat());
        assert!(out.contains("verified   both results") && out.contains("\nratio      time "), "{out}");
    }
    for (flags, expected) in [
        (
            ["--replaces", "output", "--keys-only"].as_slice(),
            "--replaces is not keys, allowed with --keys-only is keys",
        ),
        (&["--store", "splat"], "--replaces is not output, allowed with --store is output"),
    ] {
        let output = run_within(Duration::from_secs(120), program("visitors").args(flags));
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {expected}\n"));
    }

    let (page, bytes) = (include_str!("../../../docs/VISITORS.md"), run(&["--bytes"]));
    let missing: Vec<&str> = bytes.lines().filter(|line| !page.contains(line)).collect();
    assert!(bytes.lines().count() > 20 && missing.is_empty(), "docs/VISITORS.md lacks {missing:#?}");
}
