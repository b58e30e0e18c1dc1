//! Directories of .npy files, written and read here without the code under test.

use std::fs;
use std::path::PathBuf;

use npyz::NpyFile;

/// A directory that is removed again.
pub struct Dir(PathBuf);

impl Dir {
    pub fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("vksort-cli-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Dir(path)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").into()
    }

    /// Names of the files.
    pub fn list(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Writes a file that says it has the dtype, as a Python literal, and the shape, with these bytes as its rows.
    pub fn write(&self, name: &str, descr: &str, shape: &[u64], rows: &[u8]) -> String {
        let shape: Vec<String> = shape.iter().map(|length| format!("{length},")).collect();
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", shape.join(" "));
        self.write_with_header(name, 1, text.as_bytes(), rows)
    }

    /// Writes a file with this text in its header, in this version of the format.
    pub fn write_with_header(&self, name: &str, version: u8, text: &[u8], rows: &[u8]) -> String {
        let mut text = text.to_vec();
        let before = if version == 1 { 10 } else { 12 };
        text.resize((before + text.len() + 1).next_multiple_of(64) - before - 1, b' ');
        text.push(b'\n');
        let length = (text.len() as u32).to_le_bytes();
        let bytes = [&b"\x93NUMPY"[..], &[version, 0], &length[..before - 8], &text, rows].concat();
        self.write_bytes(name, &bytes)
    }

    pub fn write_bytes(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// A file's header with all that precedes its rows, and the rows.
    pub fn read(&self, name: &str) -> (Vec<u8>, Vec<u8>) {
        let bytes = fs::read(self.path(name)).unwrap();
        let before = if bytes[6] == 1 { 10 } else { 12 };
        let mut length = [0; 4];
        length[..before - 8].copy_from_slice(&bytes[8..before]);
        let (header, rows) = bytes.split_at(before + u32::from_le_bytes(length) as usize);
        (header.to_vec(), rows.to_vec())
    }

    /// The indices in a file, which has to hold uint32 of one dimension.
    pub fn read_indices(&self, name: &str) -> Vec<u32> {
        let npy = NpyFile::new(fs::File::open(self.path(name)).unwrap()).unwrap();
        assert_eq!((npy.dtype().descr().as_str(), npy.shape().len()), ("'<u4'", 1), "{name}");
        npy.into_vec().unwrap()
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
