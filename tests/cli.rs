//! The examples as their users meet them: run as programs, on files, with right and with wrong input.
//!
//! They are looked for beside this test, where `cargo test` and `cargo build --examples` put them, or in the directory
//! that `VKSORT_EXAMPLES` names. `VKSORT_VALIDATE=1` runs them under the validation layer.
#![cfg(feature = "standalone")]

mod programs;

use std::cmp::Ordering;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use npyz::{DType, NpyFile, WriteOptions, WriterBuilder};
use programs::{example, run_within};

/// Longest time that one program may take. Software drivers compile for many seconds when their cache is cold.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A directory that is removed again.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("vksort-cli-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Dir(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").into()
    }

    /// Names of the files.
    fn list(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Writes a file that says it has the shape, with these words behind its header.
    fn write(&self, name: &str, descr: &str, shape: &[u64], words: &[u32]) -> String {
        let dtype = DType::Plain(descr.parse().unwrap());
        let options = WriteOptions::new_header_only().dtype(dtype).shape(shape);
        let mut bytes = options.writer(Vec::new()).write_header_only().unwrap();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Reads the dtype and the words of a file of one dimension.
    fn read(&self, name: &str) -> (String, Vec<u32>) {
        let npy = NpyFile::new(File::open(self.path(name)).unwrap()).unwrap();
        let (descr, shape) = (npy.dtype().descr(), npy.shape().to_vec());
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut npy.into_inner(), &mut bytes).unwrap();
        assert_eq!(shape, [bytes.len() as u64 / 4], "{name}: shape against content");
        (descr, bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An example that finds no device.
fn without_device(name: &str) -> Command {
    let mut command = example(name);
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

/// Runs a program that has to fail with exit code 1; gives its one line. Only that line may be on stderr, but for what
/// the Vulkan loader says there itself.
fn fail(command: &mut Command, loader_may_speak: bool) -> String {
    let output = run(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{command:?}: {stderr}");
    let lines: Vec<&str> = stderr.lines().filter(|line| !loader_may_speak || line.starts_with("error:")).collect();
    assert_eq!(lines.len(), 1, "{command:?}: one line is allowed on stderr, given is\n{stderr}");
    assert!(lines[0].starts_with("error: "), "{command:?}: {stderr}");
    lines[0].into()
}

type Compare = fn(u32, u32) -> Ordering;

/// Types of keys with the order of their bits as Rust has it.
const TYPES: [(&str, Compare); 3] = [
    ("<u4", |a, b| a.cmp(&b)),
    ("<i4", |a, b| (a as i32).cmp(&(b as i32))),
    ("<f4", |a, b| f32::from_bits(a).total_cmp(&f32::from_bits(b))),
];

/// Bits that are special as one of the types, each often, among random ones.
fn keys(count: usize, seed: u64) -> Vec<u32> {
    let special = [0, 1, 0x7F80_0000, 0x7FC0_0000, 0x7FFF_FFFF, 1 << 31, 0xFF80_0000, 0xFFC0_0001, u32::MAX];
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| if random.bool() { random.u32(..) } else { special[random.usize(..special.len())] }).collect()
}

/// Sorts with every output at once, and with keys alone; compares each in full.
fn check_sort(name: &str, descr: &str, descending: bool, count: usize, extra: &[&str]) {
    let dir = Dir::new(name);
    let compare = TYPES.iter().find(|(known, _)| *known == descr).unwrap().1;
    let keys = keys(count, 7);
    // Values that tell every element apart, and have the type of a key only by chance.
    let values: Vec<u32> = (0..count as u32).map(|index| index.wrapping_mul(0x9E37_79B9)).collect();
    let values_descr = TYPES[(count + usize::from(descending)) % 3].0;
    let keys_path = dir.write("keys.npy", descr, &[count as u64], &keys);
    let values_path = dir.write("values.npy", values_descr, &[count as u64], &values);

    let mut indices: Vec<u32> = (0..count as u32).collect();
    indices.sort_by(|a, b| {
        let order = compare(keys[*a as usize], keys[*b as usize]);
        if descending { order.reverse() } else { order }
    });
    let gather = |from: &[u32]| indices.iter().map(|index| from[*index as usize]).collect::<Vec<u32>>();
    let (keys, values) = (gather(&keys), gather(&values));

    let sort = |arguments: &[&str]| {
        let mut command = example("sort");
        command.args(["--keys", &keys_path]).args(arguments).args(extra);
        command.args(descending.then_some("--descending"));
        let stdout = succeed(&mut command);
        assert!(stdout.contains(&format!("{count} ")), "the report names the count: {stdout}");
    };
    let written = |name: &str, descr: &str, words: &[u32]| {
        let (given, content) = dir.read(name);
        assert_eq!(given, format!("'{descr}'"), "dtype of {name}");
        assert!(content == words, "{name} differs from the stable reference");
        fs::remove_file(dir.path(name)).unwrap();
    };

    let (out_keys, out_values, argsort) = (dir.path("k.npy"), dir.path("v.npy"), dir.path("a.npy"));
    sort(&["--values", &values_path, "--out-keys", &out_keys, "--out-values", &out_values, "--argsort", &argsort]);
    written("k.npy", descr, &keys);
    written("v.npy", values_descr, &values);
    written("a.npy", "<u4", &indices);
    sort(&["--values", &values_path, "--out-values", &out_values]);
    written("v.npy", values_descr, &values);
    sort(&["--out-keys", &out_keys, "--verify"]);
    written("k.npy", descr, &keys);
    assert_eq!(dir.list(), ["keys.npy", "values.npy"], "nothing else is left behind");
}

#[test]
fn sorts_each_type_ascending() {
    for (descr, _) in TYPES {
        check_sort(&format!("up-{}", &descr[1..]), descr, false, 1500, &[]);
    }
}

#[test]
fn sorts_each_type_descending() {
    for (descr, _) in TYPES {
        check_sort(&format!("down-{}", &descr[1..]), descr, true, 1500, &[]);
    }
}

#[test]
fn sorts_many_elements() {
    check_sort("many", "<f4", true, 40_000, &[]);
}

#[test]
fn sorts_with_a_named_algorithm() {
    check_sort("algorithm", "<i4", false, 10_000, &["--algorithm", "reduce-then-scan"]);
}

#[test]
fn sorts_none_and_one() {
    check_sort("none", "<u4", false, 0, &[]);
    check_sort("one", "<f4", true, 1, &[]);
}

#[test]
fn sorts_a_file_in_place() {
    let dir = Dir::new("in-place");
    let path = dir.write("k.npy", "<u4", &[4], &[9, 7, 8, 7]);
    succeed(example("sort").args(["--keys", &path, "--out-keys", &path]));
    assert_eq!(dir.read("k.npy"), ("'<u4'".into(), vec![7, 7, 8, 9]));
    assert_eq!(dir.list(), ["k.npy"]);
}

#[test]
fn without_arguments_sort_verifies_what_it_generates() {
    let stdout = succeed(&mut example("sort"));
    for text in ["device ", "algorithm ", "1048576 ", "--seed ", "elements/s", "verified "] {
        assert!(stdout.contains(text), "{text:?} is not in\n{stdout}");
    }
}

#[test]
fn devices_are_listed() {
    let stdout = String::from_utf8(run(&mut example("devices")).stdout).unwrap();
    assert!(stdout.starts_with("0: "), "{stdout}");
    for text in ["kind", "driver", "Vulkan", "subgroup size", "most elements", "sorts with", "because"] {
        assert!(stdout.contains(text), "{text:?} is not in\n{stdout}");
    }
    assert!(stdout.lines().all(|line| line.chars().count() <= 160), "{stdout}");
}

#[test]
fn devices_take_the_common_flags() {
    let stdout = succeed(example("devices").args(["--device", "0", "--algorithm", "reduce-then-scan-4"]));
    assert!(stdout.starts_with("0: ") && stdout.contains("reduce-then-scan-4, "), "{stdout}");
    assert!(stdout.contains("as asked"), "{stdout}");
    let line = fail(example("devices").args(["--device", "99"]), false);
    assert!(line.contains("99") && line.contains("0: "), "{line}");
}

#[test]
fn record_verifies_its_sort() {
    let stdout = succeed(&mut example("record"));
    assert!(stdout.contains("device ") && stdout.contains("verified "), "{stdout}");
}

#[test]
fn help_needs_no_device() {
    for name in ["sort", "devices", "record"] {
        let output = run(without_device(name).arg("--help"));
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("Usage: "), "{name}: {stdout}");
        assert!(output.stderr.is_empty() && stdout.lines().count() <= 40, "{name}: one screen is allowed\n{stdout}");
    }
}

#[test]
fn without_a_device_there_is_one_line() {
    for name in ["sort", "devices", "record"] {
        let line = fail(&mut without_device(name), true);
        assert!(line.contains("Vulkan"), "{name}: {line}");
    }
}

#[test]
fn a_device_that_is_not_there_is_named_with_those_that_are() {
    for name in ["sort", "record"] {
        let line = fail(example(name).args(["--device", "no such device"]), true);
        assert!(line.contains("no such device") && line.contains("0: "), "{name}: {line}");
    }
}

/// Bad input fails before a device is looked for, and writes nothing.
#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let dir = Dir::new("bad");
    let keys = dir.write("k.npy", "<u4", &[3], &[3, 1, 2]);
    let values = dir.write("v.npy", "<u4", &[3], &[3, 1, 2]);
    let long = dir.write("long.npy", "<u4", &[4], &[3, 1, 2, 0]);
    let matrix = dir.write("matrix.npy", "<u4", &[2, 2], &[3, 1, 2, 0]);
    let scalar = dir.write("scalar.npy", "<u4", &[], &[3]);
    let double = dir.write("double.npy", "<f8", &[2], &[0, 0, 0, 0]);
    let big_endian = dir.write("big-endian.npy", ">u4", &[2], &[0, 0]);
    let truncated = dir.write("truncated.npy", "<f4", &[100], &[0; 99]);
    let huge = dir.write("huge.npy", "<f4", &[u64::MAX], &[0; 9]);
    let missing = dir.path("missing.npy");
    let text = dir.path("text.npy");
    fs::write(&text, "not an array\n").unwrap();
    let empty = dir.path("empty.npy");
    fs::write(&empty, "").unwrap();
    let directory = dir.path("directory");
    fs::create_dir(&directory).unwrap();
    let before = dir.list();

    let (out, other) = (dir.path("out.npy"), dir.path("other.npy"));
    let same = dir.path("directory/../out.npy");
    let nowhere = dir.path("nowhere/out.npy");
    let out_keys = |keys| vec!["--keys", keys, "--out-keys", &out];
    let pairs = |values| vec!["--keys", &keys, "--values", values, "--out-keys", &out, "--out-values", &other];
    let cases: Vec<(Vec<&str>, Vec<&str>)> = vec![
        (out_keys(&missing), vec!["--keys", "missing.npy"]),
        (out_keys(&text), vec!["--keys", "text.npy", "not an .npy file"]),
        (out_keys(&empty), vec!["--keys", "empty.npy", "not an .npy file"]),
        (out_keys(&directory), vec!["--keys", "directory"]),
        (out_keys(&matrix), vec!["matrix.npy", "[2, 2]", "one"]),
        (out_keys(&scalar), vec!["scalar.npy", "0 dimensions", "one"]),
        (out_keys(&double), vec!["double.npy", "<f8", "<u4", "<i4", "<f4"]),
        (out_keys(&big_endian), vec!["big-endian.npy", ">u4", "<u4"]),
        (out_keys(&truncated), vec!["truncated.npy", "99", "100"]),
        (out_keys(&huge), vec!["huge.npy", "9", "18446744073709551615"]),
        (pairs(&missing), vec!["--values", "missing.npy"]),
        (pairs(&double), vec!["--values", "double.npy", "<f8", "<u4"]),
        (pairs(&long), vec!["--values", "4", "3"]),
        (vec!["--keys", &keys, "--values", &values, "--out-keys", &out], vec!["--values", "--out-values"]),
        (vec!["--keys", &keys, "--out-values", &out], vec!["--out-values", "--values"]),
        (vec!["--values", &values, "--out-values", &out], vec!["--values", "--keys"]),
        (vec!["--out-keys", &out], vec!["--out-keys", "--keys"]),
        (vec!["--argsort", &out], vec!["--argsort", "--keys"]),
        (vec!["--keys", &keys, "--out-keys", &out, "--seed", "1"], vec!["--seed", "--keys"]),
        (vec!["--keys", &keys, "--out-keys", &out, "--count", "1"], vec!["--count", "--keys"]),
        (vec!["--keys", &keys, "--out-keys", &out, "--argsort", &same], vec!["--out-keys", "--argsort", "out.npy"]),
        (vec!["--keys", &keys, "--out-keys", &out, "--argsort", &nowhere], vec!["--argsort", "nowhere"]),
        (vec!["--keys", &keys, "--out-keys", &directory], vec!["--out-keys", "directory"]),
    ];
    for (arguments, named) in cases {
        let line = fail(without_device("sort").args(&arguments), false);
        for text in named {
            assert!(line.contains(text), "{arguments:?}: {text:?} is not in {line}");
        }
        assert_eq!(dir.list(), before, "{arguments:?}: files");
    }
}

/// A failure after the input was found to be good: the outputs are still not touched.
#[test]
fn a_failed_sort_leaves_outputs_alone() {
    let dir = Dir::new("untouched");
    let keys = dir.write("k.npy", "<u4", &[3], &[3, 1, 2]);
    let out = dir.path("out.npy");
    fs::write(&out, "precious").unwrap();
    fail(without_device("sort").args(["--keys", &keys, "--out-keys", &out]), true);
    assert_eq!(fs::read_to_string(&out).unwrap(), "precious");
    assert_eq!(dir.list(), ["k.npy", "out.npy"]);
}
