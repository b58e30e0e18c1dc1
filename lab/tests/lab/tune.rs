//! The program `tune`, the profiles it writes, and sorting with them.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use vksort::standalone::Gpu;
use vksort::{Algorithm, KeyType, Order, RankMethod, SortRequest, SorterOptions, Tuning, ValueType};
use vksort_profiles::{SortKind, TuningProfile};
use vksort_testing::drawn::with_each_size;
use vksort_testing::process::said;

/// A directory of its own, removed when the test has passed.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("vksort-tune-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn run(&self, example: &str, arguments: &[&str]) -> Output {
        let mut command = vksort_testing::process::program(example);
        vksort_testing::process::run_within(Duration::from_secs(120), command.current_dir(&self.0).args(arguments))
    }

    /// Runs an example, which must succeed; gives stdout and stderr.
    fn succeed(&self, example: &str, arguments: &[&str]) -> (String, String) {
        let run = self.run(example, arguments);
        let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), said(&run.stderr));
        assert!(run.status.success(), "{example} {arguments:?} ended by {}: {stderr}", run.status);
        (stdout, stderr)
    }

    /// Tunes for seconds, or for more where that is too short to try anything, which leaves no file.
    fn tune(&self, arguments: &[&str]) -> (String, String) {
        for seconds in [4, 16] {
            let (before, started) = (self.names(), Instant::now());
            let run = self.run("tune", &[arguments, &["--seconds", &seconds.to_string()]].concat());
            // Building and checking one candidate, and the rounds at the end, take their time whatever the limit.
            let limit = Duration::from_secs(seconds + 30);
            assert!(started.elapsed() < limit, "{seconds} seconds were {:?}", started.elapsed());
            let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), said(&run.stderr));
            if run.status.success() {
                return (stdout, stderr);
            }
            assert!(stderr.contains(&format!("{seconds} s are too short to try anything")), "{stderr}");
            assert_eq!(self.names(), before);
        }
        self.succeed("tune", &[arguments, &["--seconds", "60"]].concat())
    }

    /// Runs an example, which must fail with one line that holds every given part, and leave no file behind.
    fn fail(&self, example: &str, arguments: &[&str], parts: &[&str]) {
        let before = self.names();
        let run = self.run(example, arguments);
        let stderr = said(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{example} {arguments:?}: {stderr}");
        let line = stderr.trim_end();
        assert!(line.starts_with("error: ") && !line.contains('\n'), "{example} {arguments:?}: {stderr}");
        for part in parts {
            assert!(line.contains(part), "{example} {arguments:?}: {part:?} is missing in {line:?}");
        }
        assert_eq!(self.names(), before, "{example} {arguments:?}: files");
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !thread::panicking() {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

/// Pairs of keys, half of which are equal to others, in two sizes; compared with a stable sort.
fn assert_sorts(gpu: &Gpu, tuning: &Tuning) {
    for value in [ValueType::None, ValueType::U32] {
        let request = SortRequest::new(KeyType::U32).value(value);
        let options = SorterOptions::default().tuning(tuning.clone());
        let sorter = gpu.sorter(&request, &options).unwrap_or_else(|error| panic!("{tuning:?}: {error}"));
        for count in [1, 10_007u32] {
            let keys: Vec<u32> = (0..count).map(|index| (index % (count / 2 + 1)).wrapping_mul(0x9E37_79B9)).collect();
            let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
            expected.sort();
            let sort = sorter.prepare(count).unwrap();
            sort.write_keys(&keys).unwrap();
            if request.value.is_read() {
                let values: Vec<u32> = (0..count).collect();
                sort.write_values(&values).unwrap();
            }
            sort.run(count).unwrap();
            let mut found = vec![0u32; keys.len()];
            sort.read_keys(&mut found).unwrap();
            assert!(found.iter().eq(expected.iter().map(|pair| &pair.0)), "keys of {count}: {tuning:?}");
            if request.value.is_read() {
                sort.read_values(&mut found).unwrap();
                assert!(found.iter().eq(expected.iter().map(|pair| &pair.1)), "values of {count}: {tuning:?}");
            }
        }
    }
}

/// However long a tuning lets look-back wait, the loops behind it get their turns, also of drivers that count them all.
#[test]
fn patience_does_not_cut_other_loops_short() {
    let gpu = Gpu::best().unwrap();
    let tuning = Tuning { polls: 1 << 16, items_keys: 64, workgroup_size: 16, ..gpu.tuning().clone() };
    let options = SorterOptions::default().tuning(tuning);
    let count = 10_007;
    let request = SortRequest::new(KeyType::U32).algorithm(Algorithm::OneSweep);
    let sort = gpu.sorter(&request, &options).unwrap().prepare(count).unwrap();
    let keys: Vec<u32> = (0..count).map(|index| index.wrapping_mul(0x9E37_79B9)).collect();
    let mut expected = keys.clone();
    expected.sort_unstable();
    let mut found = vec![0u32; keys.len()];
    // A driver's thread has to be interrupted while another waits for it.
    for _ in 0..1000 {
        sort.write_keys(&keys).unwrap();
        sort.run(count).unwrap();
        sort.read_keys(&mut found).unwrap();
        assert_eq!(found, expected);
    }
}

/// A profile of this device with a tuning that differs from the built-in row.
fn own_profile(gpu: &Gpu) -> TuningProfile {
    let tuning = Tuning { name: "mine".into(), items_keys: 8, items_pairs: 4, ..gpu.tuning().clone() };
    TuningProfile::new(gpu.profile(), tuning, Vec::new(), "2026-01-31")
}

#[test]
fn a_device_is_tuned_and_sorts_with_its_profile() {
    let scratch = Scratch::new("run");
    let run = ["--count", "20000", "--out", "tuning.json"];
    let (stdout, stderr) = scratch.tune(&run);
    assert_eq!(stderr, "", "progress is for terminals");
    let gpu = Gpu::best().unwrap();
    let few = if gpu.profile().is_cpu { 1 << 12 } else { 1 << 13 };
    let count_of = |kind: SortKind| if kind == SortKind::FewKeys { few } else { 20_000 };
    let kinds = SortKind::ALL.iter().map(|kind| format!("{} {}", count_of(*kind), kind.name()));
    let texts = ["device ", "built-in ", "tried ", "result ", "--tuning tuning.json"].map(String::from);
    for text in texts.into_iter().chain(kinds) {
        assert!(stdout.contains(&text), "{text:?} is not in\n{stdout}");
    }
    assert_eq!(scratch.names(), ["tuning.json", "tuning.png", "tuning.svg"]);
    let svg = fs::read_to_string(scratch.0.join("tuning.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("took the lead"));
    assert!(!vksort_testing::picture::Picture::read(&scratch.0.join("tuning.png")).is_blank());

    let profile = TuningProfile::load(scratch.0.join("tuning.json")).unwrap();
    assert_eq!(profile.measured.len(), SortKind::ALL.len());
    for row in &profile.measured {
        assert!(row.count == count_of(row.kind) && row.rounds >= 5 && row.built_in_ns.median > 0.0, "{row:?}");
        assert!(row.ratio.q25 <= row.ratio.median && row.ratio.median <= row.ratio.q75, "{row:?}");
        assert!(row.ratio.median >= 0.98, "what is kept is no slower: {row:?}");
    }
    let tuning = profile.tuning_for(gpu.profile()).unwrap();
    assert_eq!(tuning == *gpu.tuning(), profile.measured.iter().all(|row| row.ratio.median == 1.0));
    assert_sorts(&gpu, &tuning);
    let (stdout, stderr) = scratch.succeed("sort", &["--tuning", "tuning.json", "--count", "5000"]);
    assert!(stdout.contains("verified") && stdout.contains(&format!("{:?}", tuning.name)), "{stdout}");
    assert_eq!(stderr, "");

    // What is there stays, unless it is to be overwritten.
    scratch.fail("tune", &run, &["--out", "tuning.json", "--force"]);
    scratch.write("tuning.json", "{}");
    scratch.tune(&["--count", "3000", "--keys-only", "--out", "tuning.json", "--force"]);
    assert_eq!(TuningProfile::load(scratch.0.join("tuning.json")).unwrap().measured.len(), 1);
}

/// Its seconds are kept to but for a fifth, or for what a kernel takes to compile; and where stderr is no terminal, there is a line
/// every ten seconds.
#[test]
fn a_search_says_that_it_goes_on_and_ends_in_time() {
    let (scratch, started) = (Scratch::new("clock"), Instant::now());
    let run = scratch.run("tune", &["--seconds", "12", "--keys-only", "--out", "tuned.json"]);
    let stderr = String::from_utf8(run.stderr).unwrap();
    // On a busy machine the built-in row may take them all.
    assert!(run.status.success() || stderr.contains("12 s are too short to try anything"), "{stderr}");
    let took = started.elapsed().as_secs_f64();
    assert!(took < 12.0 * 1.2 || !stderr.contains("trial 2"), "12 seconds were {took}: {stderr}");
    assert!(took < 11.0 || stderr.lines().any(|line| line.ends_with(", for 10 of 12 s")), "{took} s: {stderr}");
}

#[test]
fn profiles_are_used_where_they_belong() {
    let scratch = Scratch::new("use");
    let gpu = Gpu::best().unwrap();
    let built_in = gpu.tuning().name.clone();
    let text = own_profile(&gpu).to_json();
    scratch.write("own.json", &text);
    let name = serde_json::to_string(&gpu.profile().name).unwrap();
    scratch.write("foreign.json", &text.replacen(&format!("\"name\": {name}"), "\"name\": \"Foo GT\"", 1));
    let version = format!("\"driver_version\": {}", gpu.profile().driver_version);
    scratch.write("stale.json", &text.replacen(&version, "\"driver_version\": 123456789", 1));

    for example in [&["sort", "--count", "5000"][..], &["splats", "--synthetic", "500", "--frames", "1"]] {
        let with = |file| [&example[1..], &["--tuning", file]].concat();
        let (stdout, stderr) = scratch.succeed(example[0], &with("own.json"));
        assert!(stdout.contains("tuning \"mine\"") && stderr.is_empty(), "{stdout}{stderr}");
        for (file, parts) in [("foreign.json", ["Foo GT", &name]), ("stale.json", ["0x75bcd15", &gpu.profile().driver])]
        {
            let (stdout, stderr) = scratch.succeed(example[0], &with(file));
            assert!(stdout.contains(&format!("tuning {built_in:?}")), "{stdout}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
            assert!(parts.iter().all(|part| stderr.contains(part)) && stderr.contains("built-in row"), "{stderr}");
        }
    }
    let bench = ["--suite", "sizes", "--count", "2000", "--runs", "1", "--out", "results", "--tuning", "own.json"];
    scratch.succeed("bench", &bench);
    let rows = fs::read_to_string(scratch.0.join("results/results.csv")).unwrap();
    assert!(rows.lines().skip(1).all(|row| row.contains(",mine,")), "{rows}");
}

#[test]
fn bad_input_ends_in_one_line() {
    let scratch = Scratch::new("bad");
    let gpu = Gpu::best().unwrap();
    let text = own_profile(&gpu).to_json();
    scratch.write("text.json", "not a profile");
    scratch.write("rank.json", &text.replacen("\"rank\": \"", "\"rank\": \"un", 1));
    scratch.write("polls.json", &text.replacen("\"polls\": ", "\"polls\": 99999", 1));
    scratch.write("version.json", &text.replacen("\"format\": ", "\"format\": 9", 1));
    fs::write(scratch.0.join("binary.json"), [0x93, b'N', 0, 0xFF]).unwrap();
    let profiles: [(&str, &[&str]); 7] = [
        ("binary.json", &["binary.json", "not a profile, which is JSON"]),
        ("missing.json", &["missing.json", "No such file"]),
        (".", &["tuning profile .", "directory"]),
        ("text.json", &["text.json", "not a profile"]),
        ("rank.json", &["rank.json", "rank is \"un", "match"]),
        ("polls.json", &["polls.json", "polls is 99999", "1 to 65536"]),
        ("version.json", &["version.json", "format is 9", ", allowed is ", "make it again"]),
    ];
    for (file, parts) in profiles {
        for example in ["sort", "splats", "bench"] {
            scratch.fail(example, &["--tuning", file], parts);
        }
    }
    #[cfg(unix)]
    scratch.fail("tune", &["--out", "/dev/stdout"], &["--out is /dev/stdout", "allowed is a file", "beside it"]);
    let flags: [(&[&str], &[&str]); 10] = [
        (&["--count", "4294967295"], &["--count is 4294967295", " memory are needed, available are "]),
        (&["--seconds", "0"], &["--seconds", "0"]),
        (&["--seconds", "-1"], &["-1"]),
        (&["--count", "0"], &["--count", "0"]),
        (&["--count", "20_000_000", "--seconds", "1"], &["1 s are too short to try anything", "20000000 elements"]),
        (&["--device", "no such device"], &["no such device", "0: "]),
        (&["--out", "nowhere/tuning.json"], &["--out", "nowhere", "not a directory"]),
        (&["--out", "."], &["--out"]),
        (&["--out", "text.json"], &["--out", "text.json", "--force"]),
        (&["--out", "tuning.svg"], &["--out is tuning.svg", "another extension than svg and png"]),
    ];
    for (arguments, parts) in flags {
        scratch.fail("tune", arguments, parts);
    }
    // No user may create files there, root included; it is found out before anything is measured.
    #[cfg(target_os = "linux")]
    scratch.fail("tune", &["--out", "/proc/tuning.json"], &["--out", "/proc/tuning.json"]);
}

#[test]
fn absurd_numbers_are_refused_and_the_nearest_allowed_ones_sort_right() {
    let gpu = Gpu::best().unwrap();
    for (number, look_back) in [(0, true), (1, false), (77, true), (77, false), (u32::MAX, true)] {
        let mut tuning = Tuning {
            rank: RankMethod::ALL[number as usize % RankMethod::ALL.len()],
            look_back,
            ..with_each_size(gpu.tuning(), number)
        };
        // No number suits all knobs, as lanes are powers of two from 4 on and digits have few bits.
        let options = SorterOptions::default().tuning(tuning.clone());
        let refused = gpu.sorter(&SortRequest::new(KeyType::U32), &options).map(drop).unwrap_err().to_string();
        assert!(refused.contains(&format!("is {number}, allowed is")), "{refused}");
        for knob in Tuning::KNOBS {
            let Some(given) = knob.get(&tuning).filter(|given| !knob.scale.allows(*given)) else { continue };
            let below = (0..=given.min(1 << 16)).rev().find(|near| knob.scale.allows(*near));
            let near = below.or_else(|| (given..).find(|near| knob.scale.allows(*near))).unwrap();
            tuning = knob.with(&tuning, Some(near));
        }
        assert_sorts(&gpu, &tuning);
    }
}

#[test]
fn slices_are_sorted_with_the_tuning_of_their_device() {
    let gpu = Gpu::best().unwrap();
    let tuning = own_profile(&gpu).tuning_for(gpu.profile()).unwrap();
    let gpu = gpu.with_tuning(tuning);
    assert_eq!(gpu.tuning().name, "mine");
    // The kernels are those that the tuning makes where it is given, and not those of the built-in row.
    let usual = Gpu::best().unwrap();
    let shape = |gpu: &Gpu, tuning: Option<Tuning>| {
        let options = SorterOptions::default().tuning(tuning);
        *gpu.sorter(&SortRequest::new(KeyType::U32), &options).unwrap().shape()
    };
    assert_eq!(shape(&gpu, None), shape(&usual, Some(gpu.tuning().clone())));
    assert_ne!(shape(&gpu, None), shape(&usual, None));
    let mut keys: Vec<u32> = (0..5000u32).map(|index| index.wrapping_mul(0x9E37_79B9)).collect();
    let mut expected = keys.clone();
    expected.sort();
    gpu.sort(&mut keys, Order::Ascending).unwrap();
    assert_eq!(keys, expected);
}
