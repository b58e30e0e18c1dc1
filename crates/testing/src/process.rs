//! Running programs to their end, for the suites that test them.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

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
