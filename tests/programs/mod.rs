//! Finding the examples and running them, for the suites that use them as programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// An example as a command, beside this test in the target directory or in `VKSORT_EXAMPLES`.
pub fn example(name: &str) -> Command {
    let directory = std::env::var_os("VKSORT_EXAMPLES").map(PathBuf::from).unwrap_or_else(|| {
        let test = std::env::current_exe().unwrap();
        test.parent().and_then(Path::parent).expect("tests are in target/<profile>/deps").join("examples")
    });
    let path = directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is missing: build it with cargo build --examples", path.display());
    Command::new(path)
}

/// Runs a program to its end, which must come within the limit. What it prints fits into a pipe, so nothing has to be read before.
pub fn run_within(limit: Duration, command: &mut Command) -> Output {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command:?} did not end within {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}
