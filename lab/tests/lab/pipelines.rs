//! The program `pipelines`, and the tool that runs it with the compilers of GPUs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

fn run(arguments: &[&str]) -> Output {
    vksort_testing::process::run_within(
        Duration::from_secs(120),
        vksort_testing::process::program("pipelines").args(arguments),
    )
}

/// A file of its own, with this content.
fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("vksort-pipelines-{}-{name}", std::process::id()));
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_line_for_each_request_says_how_long_its_pipelines_took() {
    let run = run(&["--requests", "u16,keys", "--fewer-items", "4"]);
    let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success(), "{stderr}");
    let lines: Vec<(&str, &str)> = stdout.lines().filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(lines.iter().map(|line| line.0).collect::<Vec<_>>(), ["u16", "keys"], "{stdout}");
    for (_, time) in lines {
        let milliseconds: f64 = time.strip_suffix(" ms").unwrap().parse().unwrap();
        assert!(milliseconds > 0.0, "{time}");
    }
}

#[test]
fn the_row_has_the_changes_of_all_flags() {
    let row = |arguments: &[&str]| -> serde_json::Value {
        let run = run(&[&["--row"], arguments].concat());
        assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice(&run.stdout).unwrap()
    };
    let (built_in, changed) = (row(&[]), row(&["--fewer-items", "1", "--tuning", "polls=7"]));
    for field in ["items_keys", "items_pairs", "single_items", "segment_items"] {
        let items = |row: &serde_json::Value| row[field].as_u64().unwrap();
        assert_eq!(items(&changed), (items(&built_in) - 1).max(1), "{field}");
    }
    assert_eq!(changed["polls"], 7);
}

#[test]
fn the_kept_record_is_drawn() {
    let record = crate::root().join("lab/record/gpu-compilers.csv");
    let (svg, png) = (file("drawn.svg", ""), file("drawn.png", ""));
    for out in [&svg, &png] {
        let run = run(&["--plot", record.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let text = fs::read_to_string(&svg).unwrap();
    for part in ["h100, NVK", "gfx1201-wave32, RADV", "bmg, anv", "adreno740, Turnip", "m1, Honeykrisp", "pairs"] {
        assert!(text.contains(part), "{part} is missing in the plot");
    }
    assert!(!vksort_testing::picture::Picture::read(&png).is_blank());
    fs::remove_file(svg).and_then(|()| fs::remove_file(png)).unwrap();
}

#[test]
fn bad_input_is_one_line() {
    let empty = file("empty.csv", "gpu,compiler,request,kernel,registers,spills,fills,instructions_per_item,slope\n");
    let record = empty.to_str().unwrap();
    let line = |name: &str, registers: &str, per_item: &str| {
        let text = format!(
            "gpu,compiler,request,kernel,registers,spills,fills,instructions_per_item,slope\n\
             h100,NVK,keys,onesweep_32,{registers},0,0,{per_item},1\n"
        );
        file(name, &text)
    };
    let bad = [line("neg.csv", "32", "-5"), line("nan.csv", "32", "NaN"), line("inf.csv", "inf", "5")];
    let [negative, nan, infinite] = bad.each_ref().map(|path| path.to_str().unwrap());
    for (arguments, part) in [
        (vec!["--requests", "keys,u256"], "u256"),
        (vec!["--device", "99"], "99"),
        (vec!["--plot", record], "--out"),
        (vec!["--plot", record, "--out", "no-such-folder/plot.png"], "no-such-folder"),
        (vec!["--plot", record, "--out", "plot.png"], "has no line of a pass"),
        (
            vec!["--plot", negative, "--out", "plot.png"],
            "instructions_per_item of h100, NVK, kernel onesweep_32, is -5",
        ),
        (vec!["--plot", nan, "--out", "plot.png"], "is NaN"),
        (vec!["--plot", infinite, "--out", "plot.png"], "registers of h100"),
        (vec!["--subgroup", "0"], "--subgroup is 0, allowed"),
        (vec!["--subgroup", "5", "--requests", "keys"], "--subgroup is 5, allowed"),
        (vec!["--subgroup", "1024", "--row"], "--subgroup is 1024, allowed"),
        (vec!["--tuning", "items_keys=0", "--row"], "items_keys"),
        (vec!["--plot", "no-such-file", "--out", "plot.png"], "no-such-file"),
    ] {
        let run = run(&arguments);
        let stderr = vksort_testing::process::said(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.trim_end().lines().count() == 1, "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {part:?} is missing in {stderr:?}");
    }
    bad.iter().chain([&empty]).for_each(|path| fs::remove_file(path).unwrap());
}

#[test]
fn the_tests_of_the_tool_pass() {
    let mut command = Command::new("python3");
    command.current_dir(crate::root()).args(["-B", "-m", "unittest", "discover", "-s", "lab/gpu-compilers"]);
    let run = vksort_testing::process::run_within(Duration::from_secs(180), &mut command);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
