//! Output files: checked before the work, and written whole or not at all. Pipes and devices are written to as they are.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use vksort::__private::files as place;

/// A file to be written, with the flag that named it.
pub struct Output {
    flag: &'static str,
    /// As it was given.
    given: PathBuf,
    place: Place,
}

/// Where an output goes.
#[derive(PartialEq, Eq)]
enum Place {
    /// A file to replace, with the directory resolved, and links followed: what is replaced is the file, not a link to it.
    File(PathBuf),
    /// A pipe or device, by the name that was given: the link /dev/fd/3 leads to no other name of a pipe.
    Stream(PathBuf),
    Stdout,
}

/// Whether this is a pipe, a device or stdout, which is written to and cannot be replaced.
pub fn is_stream(path: &Path) -> bool {
    is_stdout(path) || path.exists() && !path.is_file() && !path.is_dir()
}

/// Whether this path leads to what stdout is, as /dev/stdout does.
#[cfg(unix)]
fn is_stdout(path: &Path) -> bool {
    use std::os::{fd::AsFd, unix::fs::MetadataExt};
    let stdout = || fs::File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata();
    let (Ok(there), Ok(stdout)) = (fs::metadata(path), stdout()) else { return false };
    (there.dev(), there.ino()) == (stdout.dev(), stdout.ino())
}

#[cfg(not(unix))]
fn is_stdout(_: &Path) -> bool {
    false
}

impl Output {
    /// Checks that a file can be written here: a new one, or with `force` in the place of what is there. An output that is
    /// stdout sends all that the program says to stderr.
    pub fn new(flag: &'static str, path: &Path, force: bool) -> Result<Output> {
        let (as_given, given) = (path.to_path_buf(), path.display());
        let parent_of = |path: &Path| match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let parent = parent_of(path);
        ensure!(path.file_name().is_some(), "{flag} is {given:?}, allowed is a path of a file");
        ensure!(parent.is_dir(), "{flag} is {given}, but {} is not a directory", parent.display());
        ensure!(!path.is_dir(), "{flag} is {given}, which is a directory; allowed is a path of a file");
        if is_stdout(path) {
            super::say_all_on_stderr();
            return Ok(Output { flag, given: as_given, place: Place::Stdout });
        }
        if is_stream(path) {
            return Ok(Output { flag, place: Place::Stream(as_given.clone()), given: as_given });
        }
        ensure!(force || !path.is_file(), "{flag} is {given}, which exists; allowed with --force");
        let mut path = place::place(path).with_context(|| format!("{flag} is {given}"))?;
        if !path.exists() {
            let context = || format!("{flag} is {given}, which leads to {}", path.display());
            let name = path.file_name().with_context(context)?;
            path = parent_of(&path).canonicalize().with_context(context)?.join(name);
        }
        Ok(Output { flag, given: as_given, place: Place::File(path) })
    }

    /// Checks that the directory takes files, for work that is too long to find out at its end.
    pub fn check_writable(&self) -> Result<()> {
        let Place::File(path) = &self.place else { return Ok(()) };
        place::stage(path, &[]).map(|part| place::remove(&part)).with_context(|| self.writing())
    }

    fn writing(&self) -> String {
        format!("{}: writing {}", self.flag, self.given.display())
    }

    /// Checks that no two outputs are the same file.
    pub fn check_distinct(outputs: &[&Output]) -> Result<()> {
        for (index, first) in outputs.iter().enumerate() {
            if let Some(second) = outputs[index + 1..].iter().find(|second| second.place == first.place) {
                let path = first.given.display();
                bail!("{} and {} are both {path}, allowed are different files", first.flag, second.flag);
            }
        }
        Ok(())
    }

    /// Writes every output, or no file if the content of one cannot be written. The renaming comes last.
    ///
    /// Each file is written beside its place and then renamed, so no other program ever sees half of one.
    pub fn write_all(outputs: &[(Output, Vec<u8>)]) -> Result<()> {
        let mut staged = Staged::default();
        for (output, bytes) in outputs {
            if let Place::File(path) = &output.place {
                let part = place::stage(path, bytes).with_context(|| output.writing())?;
                staged.0.push((part, path.clone()));
            }
        }
        for (output, bytes) in outputs {
            match &output.place {
                Place::File(_) => Ok(()),
                Place::Stream(path) => fs::write(path, bytes),
                Place::Stdout => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
            }
            .with_context(|| output.writing())?;
        }
        staged.commit()
    }

    /// Does the same, and prints a line for each.
    pub fn write_and_say(outputs: &[(Output, Vec<u8>)]) -> Result<()> {
        Output::write_all(outputs)?;
        outputs.iter().for_each(|(output, _)| super::say(format!("written    {}", output.given.display())));
        Ok(())
    }
}

/// Files written beside their place; removed again unless they are committed.
#[derive(Default)]
struct Staged(Vec<(PathBuf, PathBuf)>);

impl Staged {
    fn commit(mut self) -> Result<()> {
        while let Some((part, path)) = self.0.last() {
            fs::rename(part, path).with_context(|| format!("writing {}", path.display()))?;
            self.0.pop();
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        self.0.iter().for_each(|(part, _)| place::remove(part));
    }
}
