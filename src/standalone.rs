//! Sorting without a Vulkan program: `vksort` owns the device and sorts slices.
//!
//! ```
//! # fn main() -> Result<(), vksort::Error> {
//! use vksort::Order;
//! use vksort::standalone::Gpu;
//!
//! let gpu = Gpu::best()?;
//! let mut depths = vec![2.5f32, -1.0, 7.0];
//! gpu.sort(&mut depths, Order::Ascending)?;
//! assert_eq!(depths, [-1.0, 2.5, 7.0]);
//! # Ok(()) }
//! ```

#[allow(unsafe_code)]
mod buffer;
pub(crate) mod cache;
#[allow(unsafe_code)]
mod choice;
#[allow(unsafe_code)]
mod device;
mod devices;
mod gpu;
#[allow(unsafe_code)]
mod instance;
mod kept;
#[allow(unsafe_code)]
mod prepared;
#[allow(unsafe_code)]
mod queries;
mod records;
mod segments;
#[allow(unsafe_code)]
mod sorter;

pub use buffer::{DeviceBuffer, DeviceRange};
pub use choice::DeviceChoice;
#[cfg(feature = "__testing")]
#[doc(hidden)]
pub use device::Device;
pub use devices::DeviceInfo;
pub use gpu::{Gpu, GpuOptions, SortBy};
pub use prepared::{Passes, PreparedSort, SortRanges};
pub use segments::SegmentsOf;
pub use sorter::Sorter;

// Several threads can use them; sorts on one device run one after the other.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Gpu>();
    shared::<Sorter>();
    shared::<PreparedSort>();
    shared::<DeviceBuffer>();
};
