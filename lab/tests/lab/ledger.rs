//! The program `ledger`. `VKSORT_SEED` repeats a run, and `VKSORT_LEDGER_SECONDS` sets how long it takes.

use std::io::Write;
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;
use std::{env, fs};

use vksort_testing::process::{program, run_within, said};
use vksort_testing::seed;

fn run(arguments: &[&str]) -> Output {
    run_within(Duration::from_secs(240), program("ledger").args(arguments))
}

/// What a run prints, which must succeed.
fn succeed(arguments: &[&str]) -> String {
    let run = run(arguments);
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{arguments:?}: {stdout}{}", said(&run.stderr));
    stdout
}

/// A path of its own, where nothing is.
fn path(name: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("vksort-ledger-{}-{name}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

/// A line of a record, by the names of its columns.
fn lines(path: &PathBuf) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_path(path).unwrap().deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn random_sorts_are_right_and_each_run_adds_a_line() {
    let (out, seed) = (path("right.csv"), seed().to_string());
    let seconds = env::var("VKSORT_LEDGER_SECONDS").unwrap_or("1".into());
    let name = out.to_str().unwrap();
    let said = succeed(&["--seconds", &seconds, "--seed", &seed, "--out", name]);
    succeed(&["--seed", &seed, "--sorts", "1", "--sets", "7", "--out", name]);
    let lines = lines(&out);
    assert_eq!(lines.len(), 2, "{said}");
    for line in &lines {
        let number = |name: &str| line[name].parse::<f64>().unwrap();
        let kinds = ["arrays", "segments", "first_elements", "records"].map(number);
        let sorts: f64 = kinds.iter().sum();
        assert_eq!((line["wrong"].as_str(), &line["seed"], line["first_wrong"].as_str()), ("0", &seed, ""));
        assert!(sorts >= 7.0 && number("elements") > 0.0, "{line:?}");
        assert!(number("seconds") > 0.0, "{line:?}");
    }
    // Of which kind they are depends on the first request that the device supports.
    let few = ["requests", "arrays", "segments", "first_elements", "records"]
        .map(|name| lines[1][name].parse::<u32>().unwrap());
    assert_eq!((few[0], few[1..].iter().sum::<u32>(), few.contains(&7)), (1, 7, true), "{few:?}");
    // Not by `println!`, which is shown for tests that fail only.
    write!(std::io::stdout(), "{said}").unwrap();
    fs::remove_file(out).unwrap();
}

#[test]
fn a_wrong_result_is_found_and_repeated() {
    let out = path("wrong.csv");
    // Its first four requests, one of each kind, take drivers two seconds to compile, and not 20.
    let seed = "4";
    let spoiled = ["--spoil", "5", "--out", out.to_str().unwrap()];
    let ended = run(&[&["--seed", seed, "--sorts", "40", "--sets", "10"], &spoiled[..]].concat());
    let (stdout, stderr) = (String::from_utf8(ended.stdout).unwrap(), said(&ended.stderr));
    assert_eq!(ended.status.code(), Some(1), "{stdout}{stderr}");
    let wrong: Vec<&str> = stdout.lines().filter_map(|line| line.strip_prefix("WRONG      ")).collect();
    assert_eq!(wrong.len(), 4, "each kind of sort is looked at: {stdout}");
    assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    let [line] = &lines(&out)[..] else { panic!("one line for the run") };
    assert_eq!(line["wrong"], "4");
    for (request, line) in wrong.iter().enumerate() {
        let command = format!("ledger --seed {seed} --request {request} --only 5");
        assert!(line.starts_with(&command), "{line}");
        assert!(line.contains("differ, the first at"), "{line}");
    }
    assert!(stderr.contains(&line["first_wrong"]), "{stderr}");
    // The command repeats the data set, which is right if nothing spoils it.
    let repeated: Vec<&str> = line["first_wrong"].split(' ').skip(1).collect();
    assert!(succeed(&repeated).contains("data sets  1:"));
    let again = run(&[&repeated[..], &spoiled[..2]].concat());
    let stdout = String::from_utf8(again.stdout).unwrap();
    assert_eq!(stdout.lines().find_map(|line| line.strip_prefix("WRONG      ")), Some(wrong[0]), "{stdout}");
    fs::remove_file(out).unwrap();
}

#[test]
fn bad_input_is_one_line() {
    for (arguments, part) in [
        (&["--sorts", "0"][..], "--sorts"),
        (&["--seconds", "0"], "--seconds"),
        (&["--sets", "x"], "--sets"),
        (&["--only", "3"], "--request"),
        (&["--request", "3", "--sorts", "9"], "--sorts"),
        (&["--device", "99"], "99"),
        (&["--out", "no-such-folder/ledger.csv"], "no-such-folder"),
    ] {
        let run = run(arguments);
        let stderr = said(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.trim_end().lines().count() == 1, "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {part:?} is missing in {stderr:?}");
    }
}
