//! Where outputs go, and what is kept of the files that they replace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::Duration;

use super::files::Dir;
use super::{fail, run, sort, succeed, without_device};
use vksort_testing::process::{program, run_within};

#[test]
fn an_output_that_is_a_link_to_no_file_stays_a_link() {
    let dir = Dir::new("dangling");
    let keys = dir.write("k.npy", "'|u1'", &[3], &[3, 1, 2]);
    fs::create_dir(dir.path("folder")).unwrap();
    let link = dir.path("link.npy");
    symlink("folder/out.npy", &link).unwrap();
    sort(&["--keys", &keys, "--out-keys", &link]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(dir.read("folder/out.npy").1, [1, 2, 3]);
    assert_eq!(dir.list(), ["folder", "k.npy", "link.npy"]);

    // No file can be made where these two lead.
    for target in ["nowhere/out.npy", "circle.npy"] {
        let link = dir.path("circle.npy");
        symlink(target, &link).unwrap();
        let line = fail(without_device("sort").args(["--keys", &keys, "--out-keys", &link, "--force"]), false);
        assert!(line.contains("--out-keys is ") && line.contains("circle.npy"), "{line}");
        dir.remove("circle.npy");
    }
}

#[test]
fn an_output_keeps_the_permissions_of_the_file_that_it_replaces() {
    let dir = Dir::new("mode");
    let keys = dir.write("k.npy", "'|u1'", &[3], &[3, 1, 2]);
    let out = dir.write_bytes("out.npy", b"private");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o600)).unwrap();
    sort(&["--keys", &keys, "--out-keys", &out]);
    assert_eq!(dir.read("out.npy").1, [1, 2, 3]);
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_output_may_have_the_longest_name() {
    let dir = Dir::new("long");
    let keys = dir.write("k.npy", "'|u1'", &[3], &[3, 1, 2]);
    let name = "n".repeat(255);
    sort(&["--keys", &keys, "--out-keys", &dir.path(&name)]);
    assert_eq!(dir.read(&name).1, [1, 2, 3]);
    assert_eq!(dir.list(), ["k.npy", name.as_str()]);
}

/// What another program reads is the array alone, and the report is on stderr.
#[test]
fn an_output_may_be_stdout() {
    let dir = Dir::new("stdout");
    let keys = dir.write("k.npy", "'|u1'", &[3], &[3, 1, 2]);
    sort(&["--keys", &keys, "--out-keys", &dir.path("out.npy")]);
    let expected = fs::read(dir.path("out.npy")).unwrap();
    let output = run(program("sort").args(["--keys", &keys, "--out-keys", "/dev/stdout"]));
    let report = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && output.stdout == expected, "{report}");
    assert!(report.contains("elements") && report.contains("written    /dev/stdout"), "{report}");
    let output = run(program("splats").args("--synthetic 9 --size 64x64 --frames 1 --image /dev/stdout".split(' ')));
    assert!(output.stdout.starts_with(b"\x89PNG"), "{}", String::from_utf8_lossy(&output.stderr));

    let both = ["--keys", &keys, "--out-keys", "/dev/stdout", "--argsort", "/dev/fd/1"];
    let line = fail(without_device("sort").args(both), false);
    assert!(line.contains("--out-keys and --argsort are both"), "{line}");
    // Where stdout is a file, it goes on where the last program has stopped.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "{ printf before; \"$@\"; } > \"$0\"", &dir.path("appended")]);
    let sort = program("sort");
    succeed(shell.arg(sort.get_program()).args(["--keys", &keys, "--out-keys", "/dev/stdout"]));
    assert_eq!(fs::read(dir.path("appended")).unwrap(), [&b"before"[..], &expected].concat());
}

#[test]
fn inputs_and_outputs_may_be_pipes() {
    let dir = Dir::new("pipes");
    let keys = dir.write("k.npy", "'>i2'", &[3], &[0, 3, 0xFF, 1, 0, 2]);
    let script = "cat \"$1\" | { \"$2\" --keys /dev/stdin --out-keys /dev/fd/3 3>&1 > \"$0\"; } | cat > \"$3\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, &dir.path("report"), &keys]).arg(program("sort").get_program());
    let output = run(shell.arg(dir.path("out.npy")));
    assert_eq!(dir.read("out.npy").1, [0xFF, 1, 0, 2, 0, 3], "{}", String::from_utf8_lossy(&output.stderr));
    let report = fs::read_to_string(dir.path("report")).unwrap();
    assert!(report.contains("written    /dev/fd/3"), "{report}");
}

/// A pipe or device that takes no more is an error, and no file is left that looks like a result.
#[test]
#[cfg(target_os = "linux")]
fn a_full_pipe_leaves_files_as_they_were() {
    let dir = Dir::new("full");
    let keys = dir.write("k.npy", "'|u1'", &[3], &[3, 1, 2]);
    let out = dir.write_bytes("out.npy", b"precious");
    let arguments = ["--keys", &keys, "--out-keys", &out, "--argsort", "/dev/full", "--force"];
    let line = fail(program("sort").args(arguments), true);
    assert!(line.contains("--argsort: writing /dev/full: "), "{line}");
    assert_eq!((dir.list(), fs::read(&out).unwrap()), (vec!["k.npy".into(), "out.npy".into()], b"precious".to_vec()));
}

/// A program that cannot report its error still ends with the exit code of one.
#[test]
#[cfg(target_os = "linux")]
fn errors_that_cannot_be_printed_are_errors() {
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    for name in ["sort", "devices", "splats", "bench", "tune", "pipelines"] {
        let status = program(name).arg("--no-such-flag").stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{name}");
    }
}

/// What takes long says so in lines where no terminal shows a spinner: here keys that another program writes late.
#[test]
fn long_work_is_told_where_there_is_no_terminal() {
    let dir = Dir::new("slow");
    let (whole, pipe) = (dir.write("k.npy", "'|u1'", &[3], &[3, 1, 2]), dir.path("pipe.npy"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let out = dir.path("out.npy");
    let late = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            std::thread::sleep(Duration::from_millis(10_500));
            fs::write(pipe, fs::read(whole).unwrap()).unwrap();
        }
    });
    let output = run_within(Duration::from_secs(60), program("sort").args(["--keys", &pipe, "--out-keys", &out]));
    late.join().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.lines().eq(["reading keys, for 10 s"]), "{errors}");
    assert_eq!(dir.read("out.npy").1, [1, 2, 3]);
}
