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
#[cfg(feature = "profiles")]
mod tune;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytemuck::{Pod, cast_slice, cast_slice_mut};

pub use choice::{DeviceChoice, DeviceInfo};
pub use prepared::{DeviceBuffer, DeviceRange, PreparedSort, SortRanges, StandaloneSorter};
#[cfg(feature = "profiles")]
pub use tune::{Outcome, Trial, TuneOptions, TuneProgress, Tuned};

use crate::error::Error;
use crate::key::{Key, KeyType, Order};
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, BitRange, KeyOutput, SortRequest, ValueType};
use crate::tuning::Tuning;
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
    tuning: Tuning,
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
        Ok(Gpu { sorters: Mutex::default(), tuning: Tuning::for_device(profile), device })
    }

    /// The same device, on which all sorts that ask for no tuning of their own use this one.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{Order, Tuning, standalone::Gpu};
    ///
    /// let gpu = Gpu::best()?;
    /// let tuning = Tuning { name: "small".into(), workgroup_size: 64, ..gpu.tuning().clone() };
    /// let gpu = gpu.with_tuning(tuning);
    /// let mut keys = [3u8, 1, 2];
    /// gpu.sort(&mut keys, Order::Ascending)?;
    /// assert_eq!(keys, [1, 2, 3]);
    /// # Ok(()) }
    /// ```
    pub fn with_tuning(self, tuning: Tuning) -> Gpu {
        Gpu { sorters: Mutex::default(), tuning, device: self.device }
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

    /// What sorts use that ask for no tuning of their own: the built-in row, or what [`with_tuning`](Self::with_tuning)
    /// was given.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The algorithm that [`sort`](Self::sort) and the others use for large inputs here.
    pub fn algorithm(&self) -> Algorithm {
        self.tuning.algorithm()
    }

    /// Errors that the validation layer has reported so far; empty without validation.
    pub fn validation_errors(&self) -> Vec<String> {
        self.device.instance.validation_errors()
    }

    /// Sorts keys by an [`Order`], or by some of their bits with [`Order::by_bits`].
    ///
    /// Errors: [`Error::Unsupported`] for bits that the keys do not have, [`Error::TooManyElements`],
    /// [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`]. The slice is left as it was then.
    pub fn sort<K: Key>(&self, keys: &mut [K], by: impl Into<SortBy>) -> Result<(), Error> {
        let request = by.into().request(K::TYPE);
        let sort = self.run(request, keys.len(), cast_slice(keys), &[])?;
        sort.read_keys(cast_slice_mut(keys))
    }

    /// Sorts keys and reorders the values alike; equal keys keep their order. Values are of any plain type of 1, 2 or a
    /// multiple of 4 bytes.
    ///
    /// Errors: [`Error::LengthMismatch`], [`Error::Unsupported`] for values of another size, else as for
    /// [`sort`](Self::sort). Neither slice is changed then.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// let mut days = [3u8, 1, 2];
    /// let mut places = [[0.5f32, 1.0, 2.0], [1.5, 0.0, 0.0], [9.0, 8.0, 7.0]];
    /// vksort::standalone::Gpu::best()?.sort_pairs(&mut days, &mut places, vksort::Order::Ascending)?;
    /// assert_eq!((days, places[0]), ([1, 2, 3], [1.5, 0.0, 0.0]));
    /// # Ok(()) }
    /// ```
    pub fn sort_pairs<K: Key, V: Pod>(
        &self,
        keys: &mut [K],
        values: &mut [V],
        by: impl Into<SortBy>,
    ) -> Result<(), Error> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { given: values.len(), needed: keys.len() });
        }
        let value = ValueType::Bytes(size_of::<V>() as u32);
        let request = SortRequest { value, ..by.into().request(K::TYPE) };
        let sort = self.run(request, keys.len(), cast_slice(keys), cast_slice(values))?;
        // Both are read before either is changed.
        let mut sorted = vec![V::zeroed(); values.len()];
        sort.read_values(cast_slice_mut(&mut sorted))?;
        sort.read_keys(cast_slice_mut(keys))?;
        values.copy_from_slice(&sorted);
        Ok(())
    }

    /// The permutation that sorts the keys: entry `i` is the index of the key that comes `i`-th. Equal keys come in
    /// the order of their indices.
    ///
    /// Errors: as for [`sort`](Self::sort).
    pub fn argsort<K: Key>(&self, keys: &[K], by: impl Into<SortBy>) -> Result<Vec<u32>, Error> {
        let key_output = KeyOutput::Discarded;
        let request = SortRequest { value: ValueType::Index, key_output, ..by.into().request(K::TYPE) };
        let sort = self.run(request, keys.len(), cast_slice(keys), &[])?;
        let mut indices = vec![0u32; keys.len()];
        sort.read_values(cast_slice_mut(&mut indices))?;
        Ok(indices)
    }

    /// Builds a sorter for a request, with [`tuning`](Self::tuning) where the options name none.
    ///
    /// Errors: as for [`Sorter::new`](crate::Sorter::new).
    pub fn sorter(&self, request: &SortRequest, options: &SorterOptions) -> Result<Arc<StandaloneSorter>, Error> {
        let tuning = options.tuning.clone().unwrap_or_else(|| self.tuning.clone());
        let options = SorterOptions { tuning: Some(tuning), ..options.clone() };
        StandaloneSorter::new(&self.device, request, &options).map(Arc::new)
    }

    /// A buffer of `size` bytes in device memory; its content is undefined.
    ///
    /// Errors: [`Error::Allocation`], [`Error::Vulkan`].
    pub fn buffer(&self, size: u64) -> Result<DeviceBuffer, Error> {
        DeviceBuffer::new(&self.device, size)
    }

    fn run(&self, request: SortRequest, len: usize, keys: &[u8], values: &[u8]) -> Result<PreparedSort, Error> {
        let count = check_count(len)?;
        let lock = || self.sorters.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let cached = lock().get(&request).cloned();
        let sorter = match cached {
            Some(sorter) if count <= sorter.max_count() => sorter,
            _ => {
                let options = SorterOptions { capacity: Some(count), ..SorterOptions::default() };
                let sorter = self.sorter(&request, &options)?;
                lock().insert(request, Arc::clone(&sorter));
                sorter
            }
        };
        let sort = sorter.prepare_buffers(count, false)?;
        sort.write_keys(keys)?;
        if request.value.is_read() {
            sort.write_values(values)?;
        }
        sort.run(count)?;
        Ok(sort)
    }
}

/// By what a slice is sorted: a direction, and the bits that count. An [`Order`] alone counts them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortBy {
    /// Direction.
    pub order: Order,
    /// The bits of a key that count; `None` for all of them.
    pub bits: Option<BitRange>,
}

impl From<Order> for SortBy {
    fn from(order: Order) -> Self {
        SortBy { order, bits: None }
    }
}

impl Order {
    /// This direction, by some bits of the keys.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{Order, standalone::Gpu};
    /// let mut keys = [0x21u32, 0x13, 0x12];
    /// Gpu::best()?.sort(&mut keys, Order::Ascending.by_bits(4..8))?;
    /// assert_eq!(keys, [0x13, 0x12, 0x21], "equal bits keep their order");
    /// # Ok(()) }
    /// ```
    pub fn by_bits(self, bits: impl Into<BitRange>) -> SortBy {
        SortBy { order: self, bits: Some(bits.into()) }
    }
}

impl SortBy {
    fn request(self, key: KeyType) -> SortRequest {
        let all = SortRequest::new(key);
        SortRequest { order: self.order, bits: self.bits.unwrap_or(all.bits), ..all }
    }
}

/// A slice's length as a count.
fn check_count(len: usize) -> Result<u32, Error> {
    let allowed = crate::MAX_COUNT;
    u32::try_from(len).map_err(|_| Error::TooManyElements {
        given: len as u64,
        allowed: allowed.into(),
        limit: "2^32 - 1, the largest index".into(),
    })
}
