//! Output files: checked before the work, and written whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use vksort::seams::files as place;

/// A file to be written, with the flag that named it.
pub struct Output {
    flag: &'static str,
    /// As it was given.
    given: PathBuf,
    /// With the directory resolved, and links followed: what is replaced is the file, not a link to it.
    path: PathBuf,
}

impl Output {
    /// Checks that a file can be written here: a new one, or with `force` in the place of what is there.
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
        ensure!(force || !path.is_file(), "{flag} is {given}, which exists; allowed with --force");
        let mut path = place::place(path).with_context(|| format!("{flag} is {given}"))?;
        if !path.exists() {
            let context = || format!("{flag} is {given}, which leads to {}", path.display());
            let name = path.file_name().with_context(context)?;
            path = parent_of(&path).canonicalize().with_context(context)?.join(name);
        }
        Ok(Output { flag, given: as_given, path })
    }

    /// Checks that the directory takes files, for work that is too long to find out at its end.
    pub fn check_writable(&self) -> Result<()> {
        let context = || format!("{}: writing {}", self.flag, self.path.display());
        place::stage(&self.path, &[]).map(|part| place::remove(&part)).with_context(context)
    }

    /// Checks that no two outputs are the same file.
    pub fn check_distinct(outputs: &[&Output]) -> Result<()> {
        for (index, first) in outputs.iter().enumerate() {
            if let Some(second) = outputs[index + 1..].iter().find(|second| second.path == first.path) {
                let path = first.path.display();
                bail!("{} and {} are both {path}, allowed are different files", first.flag, second.flag);
            }
        }
        Ok(())
    }

    /// Writes every output, or none if the content of one cannot be written. The renaming comes last.
    ///
    /// Each is written beside its place and then renamed, so no other program ever sees half of one.
    pub fn write_all(outputs: &[(Output, Vec<u8>)]) -> Result<()> {
        let mut staged = Staged::default();
        for (output, bytes) in outputs {
            let context = || format!("{}: writing {}", output.flag, output.path.display());
            // Renaming over a device such as /dev/null would replace it.
            if output.path.exists() && !output.path.is_file() {
                fs::write(&output.path, bytes).with_context(context)?;
                continue;
            }
            let part = place::stage(&output.path, bytes).with_context(context)?;
            staged.0.push((part, output.path.clone()));
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
