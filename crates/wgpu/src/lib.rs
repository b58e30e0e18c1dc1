//! Radix sort for buffers of wgpu, on its Vulkan backend: [`vksort`] between the caller's passes.
//!
//! [`WgpuDevice::open`] creates a device with everything that sorts use. A [`WgpuSorter`] holds the pipelines of one kind of
//! sort, [`WgpuSorter::bind`] binds it to buffers, and [`WgpuSort::record`] records the sort. [`vksort::SortRequest`] says what
//! can be sorted; [`WgpuSorter::of_records`] sorts records by their fields. A [`WgpuSegmentedSorter`] does the same for many segments,
//! each of which is sorted by itself.
#![allow(unsafe_code)]

mod bind;
mod commands;
mod device;
mod error;
mod guarded;
mod held;
mod range;
mod segmented;
mod sort;
mod sorter;
mod times;

// Every thread may use a device's handles and functions.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<(WgpuDevice, WgpuSorter, WgpuSort, WgpuCommands)>();
    shared::<(WgpuSegmentedSorter, WgpuSegments)>();
};

pub use self::commands::WgpuCommands;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use self::device::CREATED;
pub use self::device::WgpuDevice;
pub use self::error::Error;
pub use self::segmented::{WgpuSegmentedSorter, WgpuSegments};
pub use self::sort::WgpuSort;
pub use self::sorter::WgpuSorter;
pub use self::times::WgpuStepTimes;
pub use vksort;
pub use wgpu;

/// The snippets of the reference, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../REFERENCE.md")]
struct Reference;

/// The snippets of the README, in the same way.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
