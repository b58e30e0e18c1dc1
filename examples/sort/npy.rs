//! Arrays in .npy files: one dimension, elements of four bytes, little endian.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use npyz::{DType, NpyFile, WriteOptions, WriterBuilder};
use vksort::KeyType;

/// Types of elements, as a header spells them and as numpy calls them.
const TYPES: [(KeyType, &str, &str); 3] =
    [(KeyType::U32, "<u4", "uint32"), (KeyType::I32, "<i4", "int32"), (KeyType::F32, "<f4", "float32")];

/// An array as bits, with the type that they have.
pub struct Array {
    pub element: KeyType,
    pub bits: Vec<u32>,
}

impl Array {
    /// Reads a whole file; `flag` is what named it.
    pub fn read(flag: &str, path: &Path) -> Result<Array> {
        let name = || format!("{flag} {}", path.display());
        let file = File::open(path).with_context(name)?;
        ensure!(!path.is_dir(), "{} is a directory, allowed is an .npy file", name());
        let npy = NpyFile::new(BufReader::new(file)).with_context(|| format!("{} is not an .npy file", name()))?;

        let descr = npy.dtype().descr();
        let known = TYPES.iter().find(|(_, code, _)| descr == format!("'{code}'"));
        let allowed = TYPES.map(|(_, code, name)| format!("'{code}' ({name})")).join(", ");
        let (element, ..) = *known.with_context(|| format!("{} has dtype {descr}, allowed are {allowed}", name()))?;
        let shape = npy.shape();
        ensure!(shape.len() == 1, "{} has {} dimensions {shape:?}, allowed is one", name(), shape.len());

        // The header is not trusted with an allocation: memory grows with what the file really holds.
        let len = shape[0];
        let mut bytes = Vec::new();
        npy.into_inner().take(len.saturating_mul(4)).read_to_end(&mut bytes).with_context(name)?;
        let held = bytes.len() as u64 / 4;
        ensure!(held == len, "{} holds {held} elements, needed are the {len} that its header names", name());
        let bits = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
        Ok(Array { element, bits: bits.collect() })
    }

    /// The content of a file with this array.
    pub fn to_file(&self) -> Result<Vec<u8>> {
        let dtype = DType::Plain(self.names().1.parse()?);
        let options = WriteOptions::new_header_only().dtype(dtype).shape(&[self.bits.len() as u64]);
        let mut bytes = options.writer(Vec::new()).write_header_only()?;
        bytes.extend(self.bits.iter().flat_map(|word| word.to_le_bytes()));
        Ok(bytes)
    }

    /// The type's name in numpy.
    pub fn type_name(&self) -> &'static str {
        self.names().2
    }

    fn names(&self) -> (KeyType, &'static str, &'static str) {
        *TYPES.iter().find(|(element, ..)| *element == self.element).expect("arrays are made with known types only")
    }
}
