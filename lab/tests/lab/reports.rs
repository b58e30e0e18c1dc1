//! Reports of devices: what writes them, what reads them, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use vksort::__private::common_values;
use vksort::Tuning;
use vksort_profiles::{Clock, MeasuredSort, Quartiles, SortKind};
use vksort_programs::common::device_report::{Best, DeviceReport, Kind, State, Verdict};
use vksort_testing::process::{program, run_within, said};

use crate::root;

/// A directory of its own with a record, removed when the test has passed.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("vksort-reports-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("record/reports")).unwrap();
        for table in [
            "h100-queue/bench-features",
            "h100-queue/small",
            "h100-queue/keys",
            "h100-shapes/smallpairs",
            "h100-queue/pairs",
        ] {
            let (from, to) = (root().join("lab/record").join(table), path.join("record").join(table));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from.with_extension("csv"), to.with_extension("csv")).unwrap();
        }
        Scratch(path)
    }

    fn run(&self, name: &str, arguments: &[&str]) -> Output {
        run_within(Duration::from_secs(300), program(name).current_dir(&self.0).args(arguments))
    }

    fn succeed(&self, name: &str, arguments: &[&str]) -> String {
        let run = self.run(name, arguments);
        assert!(run.status.success(), "{name} {arguments:?}: {}", said(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }

    /// Runs a program that must fail with one line, and gives it.
    fn fail(&self, name: &str, arguments: &[&str]) -> String {
        let run = self.run(name, arguments);
        let stderr = said(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{name} {arguments:?}: {stderr}");
        let line = stderr.trim_end();
        assert!(line.starts_with("error: ") && !line.contains('\n'), "{name} {arguments:?}: {stderr}");
        line.into()
    }

    fn page(&self) -> String {
        self.succeed("reports", &["--record", "record", "--page", "page.md"]);
        fs::read_to_string(self.0.join("page.md")).unwrap()
    }

    fn load(&self, name: &str) -> DeviceReport {
        let path = self.0.join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert_anonymous(&text);
        DeviceReport::load(&path).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

/// Whether the record is, which a bundle lacks that runs the tests elsewhere.
fn is_here() -> bool {
    let record = root().join("lab/record");
    if !record.is_dir() {
        println!("skipped: {} is not here", record.display());
    }
    record.is_dir()
}

/// Nothing of the machine or its user is in a report.
fn assert_anonymous(text: &str) {
    let variables = ["HOME", "USER", "LOGNAME", "HOSTNAME", "CARGO_MANIFEST_DIR"].map(|name| std::env::var(name).ok());
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let folders = [std::env::temp_dir(), root().into(), std::env::current_exe().unwrap()]
        .map(|path| path.to_str().map(String::from));
    for name in variables.into_iter().chain([machine]).chain(folders).flatten() {
        let name = name.trim();
        // Shorter names are parts of words.
        assert!(name.len() < 4 || !text.contains(name), "{name:?} is in\n{text}");
    }
    assert!(!text.contains("\"/") && !text.contains(" /"), "a path is in\n{text}");
}

/// A report of the record, which has everything.
fn full() -> DeviceReport {
    let report = DeviceReport::load(&root().join("lab/record/reports/llvmpipe-8.json")).unwrap();
    assert!(report.best.is_some() && !report.figures.is_empty() && !report.steps.is_empty(), "{report:?}");
    report
}

#[test]
fn the_page_of_devices_is_what_the_reports_give() {
    if !is_here() {
        return;
    }
    let run = run_within(Duration::from_secs(60), program("reports").current_dir(root()).arg("--check"));
    assert!(run.status.success(), "{}", said(&run.stderr));
}

#[test]
fn a_self_test_writes_a_report_that_is_read() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new("selftest");
    let file = "record/reports/one.json";
    let selftest = ["--selftest", "--seconds", "1", "--seed", "5", "--device", "0", "--report", file];
    let run = scratch.run("devices", &selftest);
    let printed = String::from_utf8(run.stdout).unwrap();
    assert!(matches!(run.status.code(), Some(0 | 3)), "{}", said(&run.stderr));
    let report = scratch.load(file);
    let result = report.selftest.as_ref().unwrap();
    assert!(printed.contains(&result.verdict().to_string()) && result.seed == 5, "{printed}\n{result:?}");
    let ran = result.kinds.iter().filter(|kind| kind.state == State::Ran).count();
    let sums = format!("{} sorts right, 0 wrong, {ran} of {} kinds", result.sorts().0, result.kinds.len());
    assert!(printed.contains(&sums), "{sums:?} is not in\n{printed}");
    for text in [&report.device.identity.name, &report.device.identity.driver, &report.vksort.kernels, &report.row.name]
    {
        assert!(!text.is_empty() && printed.contains(text), "{text:?} is not in\n{printed}");
    }
    let sorts = format!("| {} sorts right, {ran} of {} kinds |", result.sorts().0, result.kinds.len());
    let page = scratch.page();
    assert!(spaced(&page).contains(&sorts), "{page}");

    // The same text is the page, and another one is not.
    scratch.succeed("reports", &["--record", "record", "--page", "page.md", "--check"]);
    fs::write(scratch.0.join("page.md"), page.replace("RIGHT", "WRONG").replace("sorts", "sort")).unwrap();
    let line = scratch.fail("reports", &["--record", "record", "--page", "page.md", "--check"]);
    assert!(line.contains("--page page.md is not what the reports give"), "{line}");

    // What is there stays, unless it is to be replaced.
    let line = scratch.fail("devices", &selftest);
    assert!(line.contains("--report") && line.contains("--force"), "{line}");
    assert_eq!(scratch.load(file), report);
    // Without the self-test, only the device is known. A wrong sort is in the report as it is in the output.
    scratch.succeed("devices", &["--device", "0", "--report", file, "--force"]);
    let alone = scratch.load(file);
    assert!(alone.selftest.is_none() && alone.device == report.device, "{alone:?}");
    scratch.fail("devices", &[&selftest[..], &["--force", "--spoil", "0"]].concat());
    let wrong = scratch.load(file).selftest.unwrap();
    assert_eq!(wrong.verdict(), Verdict::Wrong);
    assert!(wrong.kinds[0].wrong > 0 && wrong.kinds[0].fault.is_some(), "{wrong:?}");
    let page = scratch.page();
    assert!(page.contains("WRONG: ") && page.contains("count 0 from the host"), "{page}");
}

/// A driver may end the program, which is not asked first.
#[test]
fn a_self_test_that_is_ended_leaves_what_it_has() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new("ended");
    let file = scratch.0.join("record/reports/ended.json");
    let mut child = program("devices");
    child.args(["--selftest", "--device", "0", "--report"]).arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let began = |report: &DeviceReport| {
        report.selftest.as_ref().unwrap().kinds.iter().position(|kind| kind.state == State::Began)
    };
    let patience = Instant::now();
    let second = loop {
        // Each version of the file is a whole one.
        match file.exists().then(|| scratch.load("record/reports/ended.json")) {
            Some(report) if began(&report) >= Some(1) => break report,
            _ => assert!(
                patience.elapsed() < Duration::from_secs(200) && child.try_wait().unwrap().is_none(),
                "no second kind"
            ),
        }
        thread::sleep(Duration::from_millis(1));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let (kinds, at) = (&second.selftest.as_ref().unwrap().kinds, began(&second).unwrap());
    assert_eq!((kinds[0].state, kinds[0].right), (State::Ran, 10));
    assert_eq!((kinds[at].right, kinds[at + 1].state), (0, State::NoTime));
    let last = scratch.load("record/reports/ended.json");
    let kind = &last.selftest.as_ref().unwrap().kinds[began(&last).unwrap()];
    let page = scratch.page();
    assert!(page.contains(&format!("; the self-test was ended within {}", kind.request)), "{page}");
}

/// A table of Markdown without its padding.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The script with programs that are quick: one suite of tests fails, and the bench measures one small size.
#[test]
#[cfg(target_os = "linux")]
fn the_script_of_the_bundle_writes_a_report() {
    if !is_here() {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("bundle");
    let bundle = scratch.0.join("bundle");
    for folder in ["examples", "tests"] {
        fs::create_dir_all(bundle.join(folder)).unwrap();
    }
    for script in ["scripts/pack/measure.sh", "scripts/tally.sh"] {
        fs::copy(root().join(script), bundle.join(Path::new(script).file_name().unwrap())).unwrap();
    }
    fs::write(bundle.join("BUILD"), "vksort 0.1.0, commit abc\nfor some target\n").unwrap();
    let [bench, devices] = ["bench", "devices"].map(|name| program(name).get_program().to_str().unwrap().to_string());
    let scripts = [
        (
            "examples/devices",
            format!(
                "#!/bin/sh\ncase \"$3\" in --selftest) exec {devices} --device \"$2\" --selftest --seconds 1 --report \"$7\" \
                 --force ;; *) exec {devices} \"$@\" ;; esac"
            ),
        ),
        (
            "examples/bench",
            format!(
                "#!/bin/sh\ncase \"$*\" in --summarize*) exec {bench} \"$@\" ;; *sizes*--max-log2\\ 11*) \
                 exec {bench} --suite sizes --count 2048 --runs 1 --out \"$8\" ;; esac"
            ),
        ),
        (
            "tests/device",
            "#!/bin/sh\necho \"test $VKSORT_TEST_SUITES/fine ... ok\"\nif [ $VKSORT_TEST_SUITES = top ]; then \
             echo 'test top/keys, few  ... FAILED'; echo \"$HOME/is not sent\"; exit 101; fi"
                .to_string(),
        ),
    ];
    for (name, text) in scripts {
        fs::write(bundle.join(name), text).unwrap();
        fs::set_permissions(bundle.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut script = std::process::Command::new("bash");
    script.arg("bundle/measure.sh").args(["--minutes", "10", "--max-log2", "11", "--out", "results", "--device", "0"]);
    let run = run_within(Duration::from_secs(120), script.env("PATH", "/usr/bin:/bin").current_dir(&scratch.0));
    let printed = String::from_utf8_lossy(&run.stdout).into_owned() + &said(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "a test has failed: {printed}");
    assert!(printed.contains("the report to send is ") && printed.contains("/results/report.json"), "{printed}");

    let report = scratch.load("results/report.json");
    assert_eq!(report.command, "./measure.sh --minutes 10 --max-log2 11 --device 0");
    assert_eq!(report.vksort.build.as_deref(), Some("vksort 0.1.0, commit abc; for some target"));
    let step =
        |name: &str| report.steps.iter().find(|step| step.step == name).unwrap_or_else(|| panic!("no step {name}"));
    let top = step("test-top");
    assert_eq!((top.passed, top.failed, top.state.as_str()), (1, 1, "failed"));
    assert_eq!(top.failures, ["top/keys, few"]);
    assert_eq!((step("test-matrix").passed, step("test-matrix").failed), (1, 0));
    assert_eq!(step("tune").state, "skipped");
    let ran = |kind: &&Kind| kind.state == State::Ran;
    assert!(report.selftest.as_ref().unwrap().kinds.iter().filter(ran).count() > 0, "{report:?}");
    let keys = report.figures.iter().find(|figure| figure.case == "u32 keys").unwrap();
    assert_eq!((keys.suite.as_str(), keys.elements), ("sizes", 2048));

    fs::copy(scratch.0.join("results/report.json"), scratch.0.join("record/reports/two.json")).unwrap();
    let page = spaced(&scratch.page());
    let passed: u32 = report.steps.iter().map(|step| step.passed).sum();
    assert!(passed > 7, "{report:?}");
    assert!(
        page.contains(&format!("| {passed} passed, 1 failed |")) && page.contains("; failed: top/keys, few"),
        "{page}"
    );
    let line = scratch.fail("reports", &["--propose", "results/report.json"]);
    assert!(line.contains("best is missing"), "{line}");
}

#[test]
fn what_is_no_report_is_refused_with_file_line_and_field() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new("refused");
    let text = full().to_json();
    assert_eq!(DeviceReport::from_json(&text).unwrap(), DeviceReport::from_json(&full().to_json()).unwrap());
    // Mail and web forms change blanks and the ends of lines.
    DeviceReport::from_json(&text.replace('\n', "\r\n").replace("  ", "\t")).unwrap();
    let cases = [
        ("\"format\": 1", "\"format\": 7", "line 2: format is 7, allowed is 1"),
        ("\"is_cpu\": true", "\"is_cpu\": 1", "device.is_cpu: invalid type"),
        ("\"is_cpu\": true,", "", "device: missing field `is_cpu`"),
        ("\"is_cpu\"", "\"is_\\u001bcpu\"", "unknown field `is_\\u{1b}cpu`"),
        ("\"state\": \"ran\"", "\"state\": \"run\"", "].state: unknown variant `run`"),
        ("\"right\": 1", "\"right\": -1", "].right: invalid value"),
        ("\"q25\": ", "\"q25\": 9", "figures[0].ns: q25, median and q75 are"),
        ("\"q25\": ", "\"q25\": 1e999, \"q\": ", "figures[0].ns.q25: number out of range"),
        ("\"clock\": \"device\"", "\"clock\": \"sun\"", "figures[0].clock: unknown variant `sun`"),
        ("\"seed\": ", "\"seed\": 1", "digest is \"crc32 "),
        ("}\n", "} {}\n", "the report: "),
    ];
    for (from, to, part) in cases {
        let at = if from == "}\n" { text.rfind(from) } else { text.find(from) };
        let at = at.unwrap_or_else(|| panic!("{from:?} is in\n{text}"));
        let changed = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        fs::write(scratch.0.join("changed.json"), &changed).unwrap();
        let line = scratch.fail("reports", &["--propose", "changed.json"]);
        assert!(line.starts_with("error: changed.json: line ") && line.contains(part), "{from:?} to {to:?}: {line}");
    }
    fs::write(scratch.0.join("changed.json"), b"{\n\xff").unwrap();
    let line = scratch.fail("reports", &["--propose", "changed.json"]);
    assert!(line.starts_with("error: changed.json: line 2: not a report"), "{line}");
    let line = scratch.fail("reports", &["--propose", "none.json"]);
    assert!(line.starts_with("error: none.json: "), "{line}");
    // A folder of reports is read as a whole, or not at all.
    fs::write(scratch.0.join("record/reports/x.json"), "{}").unwrap();
    let line = scratch.fail("reports", &["--record", "record", "--page", "page.md"]);
    assert!(line.contains("record/reports/x.json: line 1: the report: missing field `format`"), "{line}");
    assert!(!scratch.0.join("page.md").exists());
}

#[test]
fn reports_that_are_cut_off_or_edited_are_refused() {
    if !is_here() {
        return;
    }
    let seed = vksort_testing::seed();
    println!("VKSORT_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let report = full();
    let text = report.to_json();
    let bytes = text.trim_end().as_bytes();
    let refused = |changed: &str, what: &str| {
        let error = DeviceReport::from_json(changed).expect_err(what);
        let error = format!("{error:#}");
        let line = error.strip_prefix("line ").and_then(|rest| rest.split_once(": ")?.0.parse::<usize>().ok());
        assert!(line.is_some_and(|line| line <= 1 + changed.matches('\n').count()), "{what}: {error}");
        assert!(!error.contains(char::is_control), "{what}: {error:?}");
    };
    let mut edited = 0;
    for _ in 0..400 {
        let at = random.usize(..bytes.len());
        refused(&String::from_utf8_lossy(&bytes[..at]), &format!("cut off at {at}"));
        let byte = random.u8(b' '..=b'~');
        let mut changed = bytes.to_vec();
        changed[at] = byte;
        let changed = String::from_utf8_lossy(&changed);
        // Blanks do not count.
        if byte != bytes[at] && !(byte.is_ascii_whitespace() && bytes[at].is_ascii_whitespace()) {
            refused(&changed, &format!("byte {at} is {:?}", char::from(byte)));
            edited += 1;
        }
    }
    assert!(edited > 300, "{edited}");
}

#[test]
fn rows_are_proposed_from_what_tune_found() {
    if !is_here() {
        return;
    }
    let scratch = Scratch::new("proposed");
    let propose = |report: &DeviceReport| {
        fs::write(scratch.0.join("report.json"), report.to_json()).unwrap();
        ["--propose", "report.json"]
    };
    let mut report = full();
    let identity = &mut report.device.identity;
    (identity.name, identity.vendor_id, identity.device_id, identity.driver_id) =
        ("Some \"GPU\" 9".into(), 0x1002, 7, 3);
    report.steps.retain(|step| step.failed == 0);
    // What is known of a GPU alone, with other numbers and methods.
    let best = Tuning { name: "found".into(), ..common_values() };
    let numbers = [
        ("items_keys", Some(9)),
        ("few_items", Some(4)),
        ("look_back", Some(1)),
        ("rank", Some(1)),
        ("ballot", Some(1)),
    ];
    let best = numbers.into_iter().fold(best, |tuning, (knob, number)| tuning.with(knob, number).unwrap());
    let quartiles = |median: f64| Quartiles { q25: 0.9 * median, median, q75: 1.1 * median };
    let measured = MeasuredSort {
        kind: SortKind::Keys,
        count: 1 << 24,
        rounds: 20,
        clock: Clock::Device,
        built_in_ns: quartiles(5e5),
        tuned_ns: quartiles(4e5),
        ratio: quartiles(1.25),
    };
    let knobs = Tuning::KNOBS.iter().map(|knob| (knob.name, knob.get(&best)));
    let row = report.row.clone();
    report.best = Some(Best { date: "2026-01-31".into(), tuning: row.clone(), measured: vec![measured] });
    let text = scratch.succeed("reports", &propose(&report));
    assert!(
        text.contains("nothing faster than the row \"llvmpipe\"")
            && text.ends_with("\n\"measured: docs/DEVICES.md\"\n"),
        "{text}"
    );

    let fields = &mut report.best.as_mut().unwrap().tuning.knobs;
    for (name, number) in knobs {
        let knob = Tuning::KNOBS.iter().find(|knob| knob.name == name).unwrap();
        let value = match (number, knob.scale) {
            (None, _) => serde_json::Value::Null,
            (Some(number), vksort::Scale::Switch) => (number != 0).into(),
            (Some(number), vksort::Scale::Methods(_)) => knob.scale.show(number).into(),
            (Some(number), _) => number.into(),
        };
        fields.insert(name.into(), value);
    }
    let text = scratch.succeed("reports", &propose(&report));
    let (rank, ballot) = (format!("RankMethod::{:?}", best.rank), format!("Ballot::{:?}", best.ballot));
    let expected = format!(
        "// \"Some \\\"GPU\\\" 9\" with driver {:?}, vksort {}, 2026-01-31, beside the row \"llvmpipe\":\n// * 1.25 (1.12 \
         to 1.38) times as fast for 16777216 u32 keys\n// It goes before the row \"amd\", with a class in \
         tests/host/profiles.rs. `applies` may be widened.\n\
         Row {{\n    applies: |p| p.vendor_id == vendor::AMD && p.device_id == 0x7 && p.driver_id == \
         ash::vk::DriverId::MESA_RADV,\n    tuning: || Tuning {{\n        items_keys: 9,\n        few_items: Some(4),\n        \
         rank: {rank},\n        ballot: {ballot},\n        look_back: true,\n        ..gpu(\"some-gpu-9\", \"measured: \
         docs/DEVICES.md\")\n    }},\n}},\n",
        report.device.identity.driver, report.vksort.version
    );
    assert_eq!(text, expected);

    // A row is for devices that sort right, and for this version's knobs.
    let mut wrong = report.clone();
    wrong.selftest.as_mut().unwrap().kinds[1].wrong = 1;
    assert!(scratch.fail("reports", &propose(&wrong)).contains("report.json: selftest is WRONG"));
    let mut broken = report.clone();
    broken.selftest.as_mut().unwrap().kinds[1].state = State::Began;
    assert!(scratch.fail("reports", &propose(&broken)).contains("did not end it: no row is for a device that fails"));
    let mut wrong = report.clone();
    wrong.steps[0].failed = 2;
    assert!(scratch.fail("reports", &propose(&wrong)).contains("failed tests are 2, allowed are 0"));
    report.best.as_mut().unwrap().tuning.knobs.insert("polls".into(), 0.into());
    assert!(scratch.fail("reports", &propose(&report)).contains("best.tuning.knobs: polls is 0, allowed is "));
}
