//! The programs as their users meet them: on files, with right and with wrong input.
//!
//! `VKSORT_VALIDATE=1` runs them under the validation layer.

mod bad;
#[cfg(target_os = "linux")]
mod exits;
mod fields;
mod files;
mod keys;
mod numpy;
#[cfg(unix)]
mod outputs;
mod parts;
mod reference;
mod values;

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use files::Dir;
use vksort_testing::process::{program, run_within, said};

/// Longest time that one program may take. Software drivers compile for many seconds when their cache is cold.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A program that finds no device.
fn without_device(name: &str) -> Command {
    let mut command = program(name);
    command.env("VK_ICD_FILENAMES", "/nonexistent.json").env("VK_DRIVER_FILES", "/nonexistent.json");
    command
}

/// Runs a program to its end.
fn run(command: &mut Command) -> Output {
    run_within(TIMEOUT, command)
}

/// Runs a program that has to succeed, on a device; gives what it printed.
fn succeed(command: &mut Command) -> String {
    if std::env::var("VKSORT_VALIDATE").is_ok_and(|value| value == "1") {
        command.arg("--validate");
    }
    let output = run(command);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    stdout.into_owned()
}

/// Runs `sort` on a device, over outputs that may be there.
fn sort(arguments: &[&str]) -> String {
    succeed(program("sort").args(arguments).arg("--force"))
}

/// Runs a program that has to fail with exit code 1; gives its one line. Only that line may be on stderr, but for what
/// the Vulkan loader says there itself.
fn fail(command: &mut Command, loader_may_speak: bool) -> String {
    let output = run(command);
    let stderr = said(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{command:?}: {stderr}");
    let lines: Vec<&str> = stderr.lines().filter(|line| !loader_may_speak || line.starts_with("error:")).collect();
    assert_eq!(lines.len(), 1, "{command:?}: one line is allowed on stderr, given is\n{stderr}");
    assert!(lines[0].starts_with("error: "), "{command:?}: {stderr}");
    lines[0].into()
}

#[test]
fn without_arguments_sort_verifies_what_it_generates() {
    let stdout = sort(&[]);
    for text in ["device ", "algorithm ", "1048576 u32 keys", "--seed ", "elements/s", "verified "] {
        assert!(stdout.contains(text), "{text:?} is not in\n{stdout}");
    }
}

#[test]
fn sort_generates_keys_of_the_type_that_is_asked_for() {
    let arguments = ["--key-type", "bf16", "--count", "2000", "--keys-only", "--seed", "5", "--repeat", "3"];
    let stdout = sort(&arguments);
    for text in ["2000 bf16 keys, ascending, generated with --seed 5", "median of 3 runs", "verified "] {
        assert!(stdout.contains(text), "{text:?} is not in\n{stdout}");
    }
}

/// The median of two numbers is the one in the middle between them.
#[test]
fn medians_of_two_runs_lie_between_them() {
    let stdout = sort(&["--count", "200000", "--keys-only", "--repeat", "2"]);
    let line = stdout.lines().find(|line| line.starts_with("host sees ")).unwrap();
    let words: Vec<&str> = line.split([' ', ',']).collect();
    let times: Vec<f64> = words
        .windows(2)
        .filter_map(|pair| {
            let unit = [("us", 1.0), ("ms", 1e3), ("s", 1e6)].into_iter().find(|(unit, _)| pair[1] == *unit)?;
            Some(pair[0].parse::<f64>().ok()? * unit.1)
        })
        .collect();
    let [median, least, most] = times[..] else { panic!("{line}") };
    assert!((median - 0.5 * (least + most)).abs() <= 0.02 * median, "{line}");
}

#[test]
fn devices_are_listed() {
    let stdout = String::from_utf8(run(&mut program("devices")).stdout).unwrap();
    assert!(stdout.starts_with("0: "), "{stdout}");
    let features = ["8/16-bit storage", "buffer addresses"];
    let rows = ["kind", "driver", "Vulkan", "subgroup size", "most elements", "sorts with", "because"];
    for text in rows.iter().chain(&features) {
        assert!(stdout.contains(text), "{text:?} is not in\n{stdout}");
    }
    let line = |name: &&str| stdout.lines().find(|line| line.contains(*name)).unwrap();
    assert!(features.iter().map(line).all(|line| line.ends_with(" yes") || line.ends_with(" no")), "{stdout}");
    assert!(stdout.lines().all(|line| line.chars().count() <= 160), "{stdout}");
}

#[test]
fn devices_take_the_common_flags() {
    let stdout = succeed(program("devices").args(["--device", "0", "--algorithm", "reduce-then-scan"]));
    assert!(stdout.starts_with("0: ") && stdout.contains("reduce-then-scan, "), "{stdout}");
    assert!(stdout.contains("as asked"), "{stdout}");
    let line = fail(program("devices").args(["--device", "99"]), false);
    assert!(line.contains("99") && line.contains("0: "), "{line}");
}

/// A fault that is put into the first kind of sort makes the program fail, after the whole report.
#[test]
fn devices_test_themselves() {
    let all = succeed(program("devices").args(["--selftest", "--device", "0"]));
    assert!(all.starts_with("# device 0: RIGHT\n") && all.trim_end().ends_with("\nRIGHT"), "{all}");
    assert!(!all.contains("did not run"), "{all}");
    let some = |seed: &str| {
        let output = run(program("devices").args(["--selftest", "--seconds", "1", "--seed", seed, "--device", "0"]));
        let report = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{report}");
        report
    };
    let report = some("5");
    let left_out: Vec<&str> = report.lines().filter(|line| line.ends_with("; did not run")).collect();
    let verdict = format!("RIGHT SO FAR ({} kinds did not run)", left_out.len());
    assert!(
        report.starts_with(&format!("# device 0: {verdict}\n")) && report.trim_end().ends_with(&verdict),
        "{report}"
    );
    for text in ["vksort ", "driver ", "subgroups ", "seed       5", " 0 wrong", "u32 keys, ascending"] {
        assert!(report.contains(text), "{text:?} is not in\n{report}");
    }
    // With another seed others are left out.
    let other = some("6");
    assert!(left_out.iter().any(|line| !other.contains(line)), "{report}\n{other}");
    // Every key type has a kind, also those for which there was no time.
    for key in vksort::KeyType::ALL {
        assert!(report.contains(&format!("{} keys", key.name())), "{} is not in\n{report}", key.name());
    }
    let mut spoiled = program("devices");
    spoiled.args(["--selftest", "--seconds", "1", "--device", "0", "--spoil", "0"]);
    let line = fail(&mut spoiled, false);
    assert!(line.contains("found faults on 1 of 1 devices: 0 ("), "{line}");
    let report = String::from_utf8(run(&mut spoiled).stdout).unwrap();
    assert!(report.contains("# device 0: WRONG") && report.contains("first fault: count 0 from the host"), "{report}");
    let line = fail(program("devices").args(["--selftest", "--algorithm", "onesweep"]), false);
    assert!(line.contains("--algorithm"), "{line}");
    // Nothing would be tested in no time.
    let line = fail(program("devices").args(["--selftest", "--seconds", "0"]), false);
    assert!(line.contains("--seconds"), "{line}");
    let line = fail(program("devices").args(["--seed", "5"]), false);
    assert!(line.contains("--selftest"), "{line}");
}

/// Two drivers that are one give two devices of the same name.
#[test]
#[cfg(target_os = "linux")]
fn one_device_is_listed_of_two_of_the_same_name() {
    let Some(driver) = std::env::var_os("VK_DRIVER_FILES").map(std::path::PathBuf::from) else { return };
    let dir = Dir::new("same-name");
    let text = std::fs::read_to_string(&driver).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let library = manifest["ICD"]["library_path"].as_str().unwrap();
    if library.contains('/') {
        manifest["ICD"]["library_path"] = driver.parent().unwrap().join(library).to_str().into();
    }
    let second = dir.write_bytes("second.json", manifest.to_string().as_bytes());
    let both = std::env::join_paths([driver, second.into()]).unwrap();
    let listed = |arguments: &[&str]| -> Vec<String> {
        let stdout = succeed(program("devices").args(arguments).env("VK_DRIVER_FILES", &both));
        let lines = stdout.lines().filter_map(|line| line.split_once(": ")).filter(|line| line.0.len() == 1);
        lines.map(|line| line.0.to_string()).collect()
    };
    assert_eq!(listed(&["--algorithm", "onesweep"]), ["0", "1"]);
    for (device, index) in [("0", "0"), ("1", "1"), ("best", "0")] {
        assert_eq!(listed(&["--device", device]), [index]);
    }
    // A report is about one device.
    let line = fail(program("devices").args(["--report", "both.json"]).env("VK_DRIVER_FILES", &both), false);
    assert!(line.contains("--report is both.json, for 2 devices"), "{line}");
}

#[test]
fn help_needs_no_device_and_fits_on_a_screen() {
    for (name, most) in [("sort", 60), ("devices", 40), ("splats", 40), ("tune", 40)] {
        let output = run(without_device(name).arg("--help"));
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("Usage: "), "{name}: {stdout}");
        assert!(output.stderr.is_empty() && stdout.lines().count() <= most, "{name}: {most} lines allowed\n{stdout}");
        assert!(stdout.lines().all(|line| line.len() <= 100), "{name}: 100 columns allowed\n{stdout}");
    }
}

/// The help of a program says what it does.
#[test]
fn help_is_that_of_the_program() {
    let help = |name| String::from_utf8(run(without_device(name).arg("--help")).stdout).unwrap();
    assert!(help("devices").contains("[default: all devices]"), "{}", help("devices"));
    assert!(!help("tune").contains("FILE.svg"), "{}", help("tune"));
    assert!(help("sort").contains("65536"), "{}", help("sort"));
}

#[test]
fn without_a_device_there_is_one_line() {
    for name in ["sort", "devices"] {
        let line = fail(&mut without_device(name), true);
        assert!(line.contains("Vulkan"), "{name}: {line}");
    }
}

/// Whether a program was built with a feature of cargo is not to be guessed from its flags.
#[test]
fn a_flag_of_an_absent_feature_names_it() {
    #[derive(Debug, clap::Parser)]
    struct Flags {
        #[arg(long)]
        known: bool,
    }
    let line = |flag: &str| {
        let arguments = ["program", flag].map(Into::into);
        let parsed = vksort_programs::common::parse_from::<Flags>(arguments, &[("--window", "window")]);
        parsed.map(|flags| flags.known.to_string()).unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(line("--known"), "true");
    assert_eq!(line("--window"), "--window needs the cargo feature window, which this program was built without");
    assert_eq!(line("--window=x"), line("--window"));
    assert_eq!(line("--windows"), "unexpected argument '--windows' found");
}

#[test]
fn a_device_that_is_not_there_is_named_with_those_that_are() {
    let line = fail(program("sort").args(["--device", "no such device"]), true);
    assert!(line.contains("no such device") && line.contains("0: "), "{line}");
}

/// A failure after the input was found to be good: the outputs are still not touched.
#[test]
fn a_failed_sort_leaves_outputs_alone() {
    let dir = Dir::new("untouched");
    let keys = dir.write("k.npy", "'<u4'", &[3], &[0; 12]);
    let out = dir.path("out.npy");
    std::fs::write(&out, "precious").unwrap();
    fail(without_device("sort").args(["--keys", &keys, "--out-keys", &out, "--force"]), true);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious");
    assert_eq!(dir.list(), ["k.npy", "out.npy"]);
}

#[test]
fn counts_are_read_as_people_write_them() {
    for (text, count) in [("2^12", 4096), ("5e3", 5000), ("1.5e3", 1500), ("3_000", 3000), ("0", 0)] {
        let stdout = sort(&["--count", text, "--keys-only"]);
        assert!(stdout.contains(&format!("input      {count} u32 keys")), "{text}: {stdout}");
    }
}

/// What cannot fit is refused before gigabytes of it are made.
#[test]
fn counts_that_do_not_fit_are_refused_at_once() {
    let start = std::time::Instant::now();
    for arguments in [&["--count", "4e9"][..], &["--count", "4294967295", "--key-type", "u128", "--keys-only"]] {
        let line = fail(program("sort").args(arguments), true);
        assert!(line.contains("--count is 4"), "{line}");
    }
    assert!(start.elapsed() < Duration::from_secs(60), "it took {:?}", start.elapsed());
}

#[test]
fn the_algorithm_is_named_as_it_is() {
    let stdout = sort(&["--count", "100000", "--keys-only", "--algorithm", "reduce-then-scan"]);
    assert!(stdout.contains("algorithm  reduce-then-scan (as asked, "), "{stdout}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = program("devices").stdout(full()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("error: writing to stdout: "), "{stderr}");
}
