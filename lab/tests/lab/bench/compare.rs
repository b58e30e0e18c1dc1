//! Comparisons of two results.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::{Row, Scratch};

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
        ("cpu_ns_median", ""),
        ("cpu_ns_q25", ""),
        ("cpu_ns_q75", ""),
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
    let script = crate::root().join("scripts/compare.sh");
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
    let run = vksort_testing::process::run_within(Duration::from_secs(30), &mut command);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some((run.status.code(), text(run.stdout), text(run.stderr)))
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
        row(&[("case", "by CPU time"), ("cpu_ns_median", "9000"), ("cpu_ns_q25", "9000"), ("cpu_ns_q75", "9000")]),
        timed("gone", 1000, 50),
    ];
    let new = [
        timed("faster", 500, 50),
        timed("slower", 1200, 50),
        timed("wide quartiles", 1200, 400),
        timed("too little", 1025, 5),
        timed("few runs", 2000, 50),
        timed("host", 5, 1),
        row(&[("case", "by CPU time"), ("cpu_ns_median", "3000"), ("cpu_ns_q25", "3000"), ("cpu_ns_q75", "3000")]),
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
        ("by CPU time", "3.000 faster"),
        ("within noise", "2 faster, 1 slower, 4 within noise"),
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
    let root = crate::root();
    let script = root.join("scripts/compare.sh");
    if !script.is_file() || Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: {} or python3 is not here", script.display());
        return;
    }
    let mut compared = 0;
    for folder in fs::read_dir(root.join("lab/record")).unwrap().map(|entry| entry.unwrap().path()) {
        for file in folder.is_dir().then(|| fs::read_dir(&folder).unwrap()).into_iter().flatten() {
            let file = file.unwrap().path();
            // Other tools have tables of their own.
            if !fs::read_to_string(&file).unwrap_or_default().starts_with("suite,case,device,") {
                continue;
            }
            let mut command = Command::new("bash");
            let run = command.arg(&script).arg("--fail-on-regression").args([&file, &file]);
            let run = vksort_testing::process::run_within(Duration::from_secs(30), run);
            assert!(run.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&run.stderr));
            compared += 1;
        }
    }
    assert!(compared > 0, "no record is kept");
}
