//! Sorting without a Vulkan program around it: `vksort` owns the device and sorts slices.
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

mod choice;
mod prepared;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytemuck::cast_slice;

pub use choice::{DeviceChoice, DeviceInfo};
pub use prepared::{DeviceBuffer, DeviceRange, PreparedSort, SortRanges, StandaloneSorter};

use crate::error::Error;
use crate::key::{Key, Order};
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, SortRequest, ValueType};
use crate::vk::SorterOptions;
use crate::vk::owned::{Device, Instance, InstanceDesc};

/// How to open a device.
#[derive(Clone, Debug, Default)]
pub struct GpuOptions {
    /// Which device; `None` for the one named by the environment variable `VKSORT_DEVICE`, else the best.
    pub device: Option<DeviceChoice>,
    /// Whether to load the Khronos validation layer with core and synchronization checks.
    pub validation: bool,
}

/// A device that vksort owns, for sorting slices and for running prepared sorts.
///
/// It can be shared between threads; their work runs one after the other.
pub struct Gpu {
    sorters: Mutex<HashMap<SortRequest, Arc<StandaloneSorter>>>,
    device: Arc<Device>,
}

impl Gpu {
    /// Opens the device named by `VKSORT_DEVICE`, or the best one that can sort.
    ///
    /// Errors: as for [`Gpu::new`].
    pub fn best() -> Result<Gpu, Error> {
        Gpu::new(&GpuOptions::default())
    }

    /// Opens a device.
    ///
    /// Errors: [`Error::NoLoader`], [`Error::NoDevice`], [`Error::UnsuitableDevice`], [`Error::MissingLayer`], and
    /// [`Error::Vulkan`] when the driver fails.
    pub fn new(options: &GpuOptions) -> Result<Gpu, Error> {
        let instance = Instance::new(&InstanceDesc { validation: options.validation })?;
        let choice = options.device.clone().map_or_else(DeviceChoice::from_env, Ok)?;
        let physical = choice::select(&choice, instance.devices()?)?;
        let device = Device::new(&instance, &physical)?;
        let profile = &device.requirements.profile;
        log::info!("device {:?} ({}), chosen by {choice}", profile.name, profile.driver);
        Ok(Gpu { device, sorters: Mutex::default() })
    }

    /// Every Vulkan device of the system, suitable or not.
    ///
    /// Errors: [`Error::NoLoader`], [`Error::Vulkan`].
    pub fn devices() -> Result<Vec<DeviceInfo>, Error> {
        let instance = Instance::new(&InstanceDesc::default())?;
        Ok(choice::describe(instance.devices()?))
    }

    /// What is known of the device.
    pub fn profile(&self) -> &DeviceProfile {
        &self.device.requirements.profile
    }

    /// The algorithm that [`sort`](Self::sort) and the others use for large inputs here.
    pub fn algorithm(&self) -> Algorithm {
        choice::algorithm(self.profile())
    }

    /// Errors that the validation layer has reported so far; empty without validation.
    pub fn validation_errors(&self) -> Vec<String> {
        self.device.instance.validation_errors()
    }

    /// Sorts keys.
    ///
    /// Errors: [`Error::TooManyElements`], [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`]. The slice is
    /// left as it was then.
    pub fn sort<K: Key>(&self, keys: &mut [K], order: Order) -> Result<(), Error> {
        let request = SortRequest { order, ..SortRequest::new(K::TYPE) };
        let sort = self.run(request, cast_slice(keys), &[])?;
        sort.read_keys(bytemuck::cast_slice_mut(keys))
    }

    /// Sorts keys and reorders the values alike; equal keys keep their order.
    ///
    /// Errors: [`Error::LengthMismatch`], else as for [`sort`](Self::sort). Neither slice is changed then.
    pub fn sort_pairs<K: Key>(&self, keys: &mut [K], values: &mut [u32], order: Order) -> Result<(), Error> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { given: values.len(), needed: keys.len() });
        }
        let request = SortRequest { order, value: ValueType::U32, ..SortRequest::new(K::TYPE) };
        let sort = self.run(request, cast_slice(keys), cast_slice(values))?;
        // Both are read before either is changed.
        let mut sorted = vec![0u32; values.len()];
        sort.read_values(cast_slice_mut(&mut sorted))?;
        sort.read_keys(bytemuck::cast_slice_mut(keys))?;
        values.copy_from_slice(&sorted);
        Ok(())
    }

    /// The permutation that sorts the keys: entry `i` is the index of the key that comes `i`-th. Equal keys come in
    /// the order of their indices.
    ///
    /// Errors: as for [`sort`](Self::sort).
    pub fn argsort<K: Key>(&self, keys: &[K], order: Order) -> Result<Vec<u32>, Error> {
        let request = SortRequest { order, value: ValueType::U32, ..SortRequest::new(K::TYPE) };
        check_count(keys.len())?;
        let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
        let sort = self.run(request, cast_slice(keys), cast_slice(&indices))?;
        sort.read_values(cast_slice_mut(&mut indices))?;
        Ok(indices)
    }

    /// Builds a sorter for a request.
    ///
    /// Errors: as for [`Sorter::new`](crate::Sorter::new).
    pub fn sorter(&self, request: &SortRequest, options: &SorterOptions) -> Result<Arc<StandaloneSorter>, Error> {
        StandaloneSorter::new(&self.device, request, options).map(Arc::new)
    }

    /// A buffer of `size` bytes in device memory; its content is undefined.
    ///
    /// Errors: [`Error::Allocation`], [`Error::Vulkan`].
    pub fn buffer(&self, size: u64) -> Result<DeviceBuffer, Error> {
        DeviceBuffer::new(&self.device, size)
    }

    fn run(&self, request: SortRequest, keys: &[u8], values: &[u8]) -> Result<PreparedSort, Error> {
        let count = check_count(keys.len() / request.key.size_bytes() as usize)?;
        let cached = self.sorters.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&request).cloned();
        let sorter = match cached {
            Some(sorter) => sorter,
            None => {
                let sorter = self.sorter(&request, &SorterOptions::default())?;
                let mut sorters = self.sorters.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                Arc::clone(sorters.entry(request).or_insert(sorter))
            }
        };
        let sort = sorter.prepare(count)?;
        sort.write_keys(keys)?;
        if request.value != ValueType::None {
            sort.write_values(values)?;
        }
        sort.run(count)?;
        Ok(sort)
    }
}

fn cast_slice_mut(words: &mut [u32]) -> &mut [u8] {
    bytemuck::cast_slice_mut(words)
}

/// A slice's length as a count.
fn check_count(len: usize) -> Result<u32, Error> {
    let allowed = crate::MAX_COUNT;
    u32::try_from(len).ok().filter(|count| *count <= allowed).ok_or_else(|| Error::TooManyElements {
        given: len as u64,
        allowed: allowed.into(),
        limit: "2^30 - 1, the count bits of a look-back word".into(),
    })
}
