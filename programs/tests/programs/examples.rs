//! The examples of the programs, run as their users run them.

use std::time::Duration;

use vksort_testing::process::{example, run_within, said};
use vksort_testing::validating;

/// Runs an example to its end, which must succeed, and gives its stdout.
fn succeed(name: &str, arguments: &[&str]) -> String {
    let mut command = example(name);
    command.args(arguments);
    if validating() {
        command.arg("--validate");
    }
    let output = run_within(Duration::from_secs(120), &mut command);
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.contains("\nverified "), "{name} {arguments:?}: {stdout}{stderr}");
    stdout
}

/// Runs an example that must fail with one line with these words.
fn fail(name: &str, arguments: &[&str], words: &str) {
    let output = run_within(Duration::from_secs(120), example(name).args(arguments));
    let stderr = said(&output.stderr);
    let refused = output.status.code() == Some(1) && stderr.contains(words) && stderr.lines().count() == 1;
    assert!(refused, "{name} {arguments:?}: {stderr}");
}

/// Also where the sides of the picture are no multiples of a tile's.
#[test]
fn tiles_give_the_picture_of_one_order() {
    let stdout = succeed("tiles", &["--size", "330x170"]);
    assert!(stdout.contains("scene      playbot.compressed.ply, 18000 splats"), "{stdout}");
    let grown = succeed("tiles", &["--size", "330x170", "--capacity", "1000"]);
    assert!(grown.contains(" had no room, for which there was 1000\n"), "{grown}");
    let parts =
        |text: &str| text.lines().filter(|line| !line.starts_with("grown")).map(String::from).collect::<Vec<_>>();
    assert_eq!(parts(&grown), parts(&stdout), "the picture is the same whatever the first capacity was");
    fail("tiles", &["--no-such-flag"], "--no-such-flag");
}

/// Rows that are narrowed first, rows of up to a block, and rows shorter than what is wanted of them.
#[test]
fn logits_are_those_of_a_sort() {
    for arguments in [["--columns", "128256"], ["--columns", "1000"], ["--columns", "30"]] {
        let stdout = succeed("logits", &arguments);
        assert!(stdout.contains("\nrow 7 "), "{stdout}");
    }
    fail("logits", &["--top", "0"], "0");
    fail("logits", &["--no-such-flag"], "--no-such-flag");
}
