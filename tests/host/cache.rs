//! The file that keeps compiled pipelines: what is whole and of the device is used, and nothing else.

use std::fs;

use vksort::ash::vk;
use vksort::internals::cache::{load, open, seal, store};

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
    assert!(load(&path, &device()).is_empty());
    for tail in [vec![], vec![4; 1000], vec![5]] {
        let data = [data(), tail].concat();
        store(&path, &data).unwrap();
        assert_eq!(load(&path, &device()), data);
    }
    fs::write(&path, "something else").unwrap();
    assert!(load(&path, &device()).is_empty());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside the file");
    fs::remove_dir_all(&folder).unwrap();
    assert!(store(&path, &data()).is_err());
}
