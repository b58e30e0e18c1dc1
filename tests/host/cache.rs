//! The file that keeps compiled pipelines: what is whole and of the device is used, and nothing else.

use std::fs;
use std::path::Path;
use std::time::Duration;

use vksort::__private::cache::{load, open, seal, store};
use vksort::ash::vk;

fn device() -> vk::PhysicalDeviceProperties {
    vk::PhysicalDeviceProperties {
        vendor_id: 0x10DE,
        device_id: 0x2335,
        pipeline_cache_uuid: std::array::from_fn(|byte| byte as u8),
        ..Default::default()
    }
}

/// What a driver of that device would hand out.
fn data() -> Vec<u8> {
    let device = device();
    let words = [32, 1, device.vendor_id, device.device_id];
    let header = words.iter().flat_map(|word| word.to_le_bytes()).chain(device.pipeline_cache_uuid);
    header.chain([1, 2, 3]).collect()
}

#[test]
fn only_whole_files_of_the_device_and_driver_are_used() {
    let (bytes, device) = (seal(&data()), device());
    assert_eq!(open(&bytes, &device), Ok(&data()[..]));
    for length in 0..bytes.len() {
        assert!(open(&bytes[..length], &device).is_err(), "cut to {length} bytes");
    }
    for byte in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[byte] ^= 0x10;
        assert!(open(&damaged, &device).is_err(), "byte {byte} is damaged");
    }
    for (foreign, words) in [
        (vk::PhysicalDeviceProperties { vendor_id: 0x1002, ..device }, "needed is one of 0x1002"),
        (vk::PhysicalDeviceProperties { device_id: 7, ..device }, "0x10de:0x2335, needed is one of 0x10de:0x7"),
        (vk::PhysicalDeviceProperties { pipeline_cache_uuid: [7; 16], ..device }, "another driver"),
    ] {
        let reason = open(&bytes, &foreign).unwrap_err();
        assert!(reason.contains(words), "{reason}");
    }
    let reason = open(&seal(&[32; 40]), &device).unwrap_err();
    assert!(reason.contains("version 538976288"), "{reason}");
}

#[test]
fn files_are_replaced_as_a_whole() {
    let folder = std::env::temp_dir().join(format!("vksort-cache-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("pipelines.bin");
    assert!(load(&path, &device()).unwrap().is_empty());
    for tail in [vec![], vec![4; 1000], vec![5]] {
        let data = [data(), tail].concat();
        store(&path, &data).unwrap();
        assert_eq!(load(&path, &device()).unwrap(), data);
    }
    fs::write(&path, "something else").unwrap();
    assert!(load(&path, &device()).unwrap().is_empty());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside the file");
    fs::remove_dir_all(&folder).unwrap();
    assert!(store(&path, &data()).is_err());
}

#[test]
fn a_path_at_which_no_file_can_be_kept_is_refused() {
    let folder = std::env::temp_dir().join(format!("vksort-cache-places-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let refused = |path: &Path, part: &str| {
        let (path, device) = (path.to_path_buf(), device());
        let (sender, receiver) = std::sync::mpsc::channel();
        let given = format!("{path:?}");
        // Reading a pipe would wait for ever, and a device may never end.
        std::thread::spawn(move || sender.send((load(&path, &device), store(&path, &data()))));
        let answer = receiver.recv_timeout(Duration::from_secs(20));
        let (loaded, stored) = answer.unwrap_or_else(|_| panic!("{given} is waited for"));
        let error = loaded.unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(&format!("pipeline_cache is {given}, allowed is a file in a folder")), "{message}");
        let source = std::error::Error::source(&error).expect("the system's error").to_string();
        assert!(source.contains(part), "{source}");
        assert!(stored.is_err(), "{given}");
    };
    refused(&folder, "not a regular file");
    refused(&folder.join("no/such/folder"), "");
    refused(Path::new(""), "");
    #[cfg(unix)]
    {
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        refused(&pipe, "not a regular file");
        refused(Path::new("/dev/zero"), "not a regular file");
        refused(Path::new("/dev/null"), "not a regular file");
        let link = folder.join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        refused(&link, "not a regular file");
    }
    // Not even root can write there.
    #[cfg(target_os = "linux")]
    refused(Path::new("/proc/vksort-pipelines"), "");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_of_any_length_are_read_in_bounded_memory() {
    let folder = std::env::temp_dir().join(format!("vksort-cache-long-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("pipelines.bin");
    store(&path, &data()).unwrap();
    // No disk holds as much; the file has a hole.
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    assert!(load(&path, &device()).unwrap().is_empty());
    store(&path, &data()).unwrap();
    assert_eq!(load(&path, &device()).unwrap(), data(), "it is replaced");
    fs::remove_dir_all(&folder).unwrap();
}
