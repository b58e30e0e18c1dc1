//! Running programs to their end, for the suites that test them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::patience::Patience;

/// Runs a program to its end, which must come within the limit, or later if others keep the cores busy. What it
/// prints fits into a pipe, so nothing has to be read before.
pub fn run_within(limit: Duration, command: &mut Command) -> Output {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let patience = Patience::with(child.id(), limit);
    while child.try_wait().unwrap().is_none() {
        if patience.is_over() {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command:?} did not end within {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// What a program says on stderr, but for the lines of work that takes long, as compiling kernels may on a busy machine.
pub fn said(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.split_inclusive('\n').filter(|line| !(line.contains(", for ") && line.ends_with(" s\n"))).collect()
}

/// The folder with what cargo has built beside this test, or that of `VKSORT_EXAMPLES`.
fn built(below: &str) -> PathBuf {
    std::env::var_os("VKSORT_EXAMPLES").map(PathBuf::from).unwrap_or_else(|| {
        let test = std::env::current_exe().unwrap();
        test.parent().and_then(Path::parent).expect("tests are in target/<profile>/deps").join(below)
    })
}

fn command(folder: &Path, name: &str) -> Command {
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is missing", path.display());
    Command::new(path)
}

/// A program of the repository.
pub fn program(name: &str) -> Command {
    command(&built(""), name)
}

/// An example of the library.
pub fn example(name: &str) -> Command {
    command(&built("examples"), name)
}
