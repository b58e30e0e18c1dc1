//! Radix sort for buffers of wgpu, on its Vulkan backend: [`vksort`] between the caller's passes.
//!
//! [`Device::open`] creates a device with everything that sorts use. A [`Sorter`] holds the pipelines of one kind of sort,
//! [`Sorter::bind`] binds it to buffers, and [`BoundSort::record`] records the sort. A [`vksort::SortRequest`] says what is
//! sorted: keys with or without values, or records by their fields; as one array, or many segments each by itself.
//!
//! # Features
//!
//! * `keys-64` (default), `keys-128`: keys of 64 and of 128 bits.
//! * `software-drivers`: kernels for drivers that run on the CPU.
//! * `vulkan-portability`: Vulkan on macOS and iOS, by MoltenVK. Targets without a Vulkan backend do not compile.
#![allow(unsafe_code)]

mod bind;
mod commands;
mod device;
mod error;
mod guarded;
mod held;
mod inspect;
mod options;
mod range;
mod sort;
mod sorter;
mod times;

// Every thread may use a device's handles and functions.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<(Device, Sorter, BoundSort, Inspector, Commands, StepTimes)>();
};

pub use self::commands::Commands;
#[cfg(feature = "__testing")]
#[doc(hidden)]
pub use self::device::CREATED;
pub use self::device::Device;
pub use self::error::Error;
pub use self::inspect::Inspector;
pub use self::options::SorterOptions;
pub use self::sort::BoundSort;
pub use self::sorter::Sorter;
pub use self::times::StepTimes;
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
