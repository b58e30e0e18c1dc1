//! A pipeline cache in a file, which keeps a driver's compiled code from one run of a program to the next.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use ash::vk;

use crate::error::Error;
use crate::{checksum, files};

/// The start of the file. A checksum and the driver's data follow. Drivers need not detect damage themselves.
const MAGIC: [u8; 8] = *b"vksortPC";
/// Bytes before the driver's data.
const HEAD_BYTES: usize = MAGIC.len() + size_of::<u64>();
/// Bytes of Vulkan's header of the data, version one.
const VULKAN_HEADER_BYTES: usize = 32;

/// The largest file that is read or written, far beyond what the pipelines of a program take.
pub const MOST_BYTES: u64 = 1 << 28;

/// The data in a file, if it is undamaged and of this device and driver. If not, the log says why.
///
/// # Errors
///
/// [`Error::Io`] for a path at which no file can be kept.
pub fn load(path: &Path, device: &vk::PhysicalDeviceProperties) -> Result<Vec<u8>, Error> {
    let refused = |error: io::Error| {
        let allowed = "a file in a folder that can be written to, or None";
        Error::Io { what: "pipeline_cache", path: path.to_path_buf(), allowed, source: Arc::new(error) }
    };
    let kept = length(path).map_err(refused)?;
    match (files::check_replaceable(path), kept) {
        (Ok(()), Some(_)) => {}
        (Ok(()), None) => return Ok(Vec::new()),
        // Programs may come with a file that they cannot replace.
        (Err(error), Some(_)) => {
            log::warn!("pipeline cache {}: {error}; it is read, and stays as it is", path.display())
        }
        (Err(error), None) => return Err(refused(error)),
    }
    let opened = match read(path) {
        Ok(bytes) => open(&bytes, device).map(<[u8]>::to_vec),
        Err(error) => Err(error.to_string()),
    };
    Ok(opened.unwrap_or_else(|reason| {
        log::warn!("pipeline cache {}: {reason}; it is not used, and will be replaced", path.display());
        Vec::new()
    }))
}

/// Writes the data to a file by renaming a complete one. A file with the same data is not written again.
///
/// # Errors
///
/// Those of the file system; data of more than [`MOST_BYTES`], and a path that leads to something else than a file.
pub fn store(path: &Path, data: &[u8]) -> io::Result<()> {
    let sealed = seal(data);
    check_length(sealed.len() as u64)?;
    if length(path)?.is_some() && read(path).is_ok_and(|kept| kept == sealed) {
        return Ok(());
    }
    files::replace(path, &sealed)
}

/// The bytes of a file, or `None` where there is none yet. A pipe is refused, because opening it would wait for its other end, and
/// so is a device, whose content may never end.
fn length(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn check_length(bytes: u64) -> io::Result<()> {
    match bytes > MOST_BYTES {
        true => Err(io::Error::other(format!("it has {bytes} bytes, allowed are at most {MOST_BYTES}"))),
        false => Ok(()),
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    check_length(file.metadata()?.len())?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The content of the file for some data.
pub fn seal(data: &[u8]) -> Vec<u8> {
    [&MAGIC, &checksum::of(data).to_le_bytes(), data].concat()
}

/// The driver's data.
///
/// # Errors
///
/// The reason against the data.
pub fn open<'a>(bytes: &'a [u8], device: &vk::PhysicalDeviceProperties) -> Result<&'a [u8], String> {
    let (head, data) = bytes.split_at_checked(HEAD_BYTES).ok_or("the file is cut short")?;
    let (magic, sum) = head.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err("the file is no pipeline cache of vksort's".into());
    }
    if sum != checksum::of(data).to_le_bytes() {
        return Err("the file is damaged".into());
    }
    let header = data.get(..VULKAN_HEADER_BYTES).ok_or("Vulkan's header is cut short")?;
    let word = |index: usize| u32::from_le_bytes(std::array::from_fn(|byte| header[4 * index + byte]));
    let (length, version) = (word(0), word(1));
    if length as usize != VULKAN_HEADER_BYTES || version != vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32 {
        return Err(format!(
            "Vulkan's header has {length} bytes and version {version}, known are 32 bytes and version 1"
        ));
    }
    let (vendor, id) = (word(2), word(3));
    if (vendor, id) != (device.vendor_id, device.device_id) {
        let (needed_vendor, needed) = (device.vendor_id, device.device_id);
        return Err(format!("it is of device {vendor:#x}:{id:#x}, needed is one of {needed_vendor:#x}:{needed:#x}"));
    }
    match header[16..] == device.pipeline_cache_uuid {
        true => Ok(data),
        false => Err("it was made with another driver".into()),
    }
}
