//! Files of the library: written whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many links to a file are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// Writes a file by renaming a complete one to it. A link stays, and its file is replaced. Devices and pipes are written to.
///
/// # Errors
///
/// Those of the system.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Renaming over a device such as /dev/null would replace it, and the link /dev/fd/3 leads to no other name of a pipe.
    if path.exists() && !path.is_file() {
        return fs::write(path, bytes);
    }
    let place = place(path)?;
    let part = stage(&place, bytes)?;
    fs::rename(&part, &place).inspect_err(|_| remove(&part))
}

/// Where a path leads. Links are followed, also to a file that does not exist yet.
///
/// # Errors
///
/// A path whose links lead in a circle.
pub fn place(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if let Ok(place) = place.canonicalize() {
            return Ok(place);
        }
        let Ok(target) = place.read_link() else { return Ok(place) };
        // A relative one counts from the folder of its link.
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other(format!("links lead to links, allowed are at most {MAX_LINKS}")))
}

/// Writes a file beside another one that it is to replace, with the permissions of that one; gives its path.
///
/// # Errors
///
/// Those of the system.
pub fn stage(place: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let (part, mut file) = create_beside(place)?;
    let replaced = fs::metadata(place).ok().map(|metadata| metadata.permissions());
    // They come before the content, which not everyone may be allowed to read.
    let written = replaced.map_or(Ok(()), |permissions| file.set_permissions(permissions));
    let written = written.and_then(|()| file.write_all(bytes));
    drop(file);
    written.inspect_err(|_| remove(&part)).map(|()| part)
}

/// Checks that a file can be written beside another one, or where that one is not yet, as [`replace`] does.
///
/// # Errors
///
/// Those of the system.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    let (part, file) = create_beside(&place(path)?)?;
    drop(file);
    remove(&part);
    Ok(())
}

/// Creates an empty file beside another one. Its name is short, because names have at most 255 bytes.
fn create_beside(place: &Path) -> io::Result<(PathBuf, File)> {
    static PART: AtomicU32 = AtomicU32::new(0);
    place.file_name().ok_or(ErrorKind::InvalidInput)?;
    loop {
        // Other threads and programs may write the same file.
        let name = format!(".vksort-{}-{}.part", process::id(), PART.fetch_add(1, Ordering::Relaxed));
        let part = place.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (part, file)),
        }
    }
}

/// Removes a file that was staged.
pub fn remove(part: &Path) {
    // Nothing more can be done where this fails.
    let _ = fs::remove_file(part);
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::{env, thread};

    use super::*;

    fn directory(name: &str) -> PathBuf {
        let directory = env::temp_dir().join(format!("vksort-files-{name}-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn a_link_stays_and_its_file_is_replaced() {
        let directory = directory("link");
        let (file, link) = (directory.join("file"), directory.join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 2, "nothing else is left behind");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_link_to_no_file_stays_and_its_file_is_made() {
        let directory = directory("dangling");
        let (folder, link, second) = (directory.join("folder"), directory.join("link"), directory.join("second"));
        fs::create_dir(&folder).unwrap();
        symlink("folder/file", &link).unwrap();
        symlink(&link, &second).unwrap();
        replace(&second, b"new").unwrap();
        assert!(link.is_symlink() && second.is_symlink());
        assert_eq!(fs::read(folder.join("file")).unwrap(), b"new");
        let circle = directory.join("circle");
        symlink("circle", &circle).unwrap();
        assert!(replace(&circle, b"lost").is_err() && circle.is_symlink());
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions() {
        let directory = directory("mode");
        let file = directory.join("file");
        for mode in [0o600, 0o640, 0o444] {
            fs::write(&file, "old").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            replace(&file, b"new").unwrap();
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
            assert_eq!(fs::read(&file).unwrap(), b"new");
            fs::remove_file(&file).unwrap();
        }
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn names_may_be_as_long_as_a_folder_takes() {
        let directory = directory("long");
        let file = directory.join("n".repeat(255));
        replace(&file, b"old").unwrap();
        replace(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "nothing else is left behind");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        replace(Path::new("/dev/null"), b"lost").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    /// Its links lead to no path, as those of /dev/stdout before a pipe.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_is_written_to_by_its_descriptor() {
        let (mut reader, writer) = io::pipe().unwrap();
        replace(Path::new(&format!("/proc/self/fd/{}", writer.as_raw_fd())), b"new").unwrap();
        drop(writer);
        assert_eq!(io::read_to_string(&mut reader).unwrap(), "new");
    }

    #[test]
    fn threads_that_write_one_file_leave_one_whole_content() {
        let directory = directory("threads");
        let file = directory.join("file");
        thread::scope(|scope| {
            for byte in 0..8u8 {
                let file = &file;
                scope.spawn(move || (0..20).for_each(|_| replace(file, &vec![byte; 1 << 16]).unwrap()));
            }
        });
        let content = fs::read(&file).unwrap();
        assert!(content.len() == 1 << 16 && content.iter().all(|byte| *byte == content[0]));
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_path_without_a_directory_is_an_error() {
        assert!(replace(Path::new("/nowhere/file"), b"").is_err());
        assert!(replace(Path::new(""), b"").is_err());
    }
}
