//! Files of the library: written whole, or not at all.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, process};

/// Writes a file by renaming a complete one to it. A link stays, and its file is replaced. Devices and pipes are written to.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static PART: AtomicU32 = AtomicU32::new(0);
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    // Renaming over a device such as /dev/null would replace it.
    if place.exists() && !place.is_file() {
        return fs::write(place, bytes);
    }
    let mut name = place.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
    // Other threads and programs may write the same file.
    name.push(format!(".{}-{}.part", process::id(), PART.fetch_add(1, Ordering::Relaxed)));
    let part = place.with_file_name(name);
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, &place));
    if written.is_err() {
        // The file may not exist.
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::path::PathBuf;
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
    fn a_device_is_written_to_and_not_replaced() {
        replace(Path::new("/dev/null"), b"lost").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
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
