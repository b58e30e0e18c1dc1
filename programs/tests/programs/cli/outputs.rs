//! Where outputs go, and what is kept of the files that they replace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use super::files::Dir;
use super::{fail, sort, without_device};
use vksort_testing::process::program;

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
