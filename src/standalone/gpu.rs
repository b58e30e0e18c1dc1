//! [`Gpu`]: a device that vksort owns, and sorts of slices.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;

use super::buffer::DeviceBuffer;
use super::choice::{DeviceChoice, index_of, select};
use super::device::Device;
use super::devices::{DeviceInfo, describe};
use super::instance::Instance;
use super::kept::{self, Kept};
use super::prepared::PreparedSort;
use super::sorter::Sorter;
use crate::error::Error;
use crate::key::{Key, KeyType, Order};
use crate::profile::DeviceProfile;
#[cfg(feature = "__testing")]
use crate::record::Requirements;
use crate::record::{PipelineSet, SorterOptions};
use crate::request::{Algorithm, BitRange, Capacity, KeyOutput, SortRequest, ValueType};
use crate::tuning::Tuning;

/// Options of [`Gpu::new`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GpuOptions {
    /// The device; `None` for the choice in the environment variable `VKSORT_DEVICE`, or without it the best device.
    pub device: Option<DeviceChoice>,
    /// Whether to load the Khronos validation layer with core and synchronization checks.
    pub validation: bool,
    /// A file that keeps compiled pipelines from one run of a program to the next (a `VkPipelineCache`).
    ///
    /// [`Gpu::new`] reads the file. [`Gpu::warm_up`], [`Gpu::clear_pipelines`] and closing the device write it. A file that is
    /// damaged, of another device or driver, or longer than 256 MiB, is replaced, and the log says so. [`Gpu::new`] fails for a path
    /// where no file can be kept: a folder that does not exist or cannot be written to, a directory, a pipe or a device. What
    /// fails later, as on a full disk, is only logged, because sorts do not need the file.
    pub pipeline_cache: Option<PathBuf>,
    /// How long each sort or copy may take, 300 seconds by default. [`Error::Timeout`] then ends the call, and the device is not used
    /// any more. A device that is only slow, such as a CPU with 2^30 keys, can be given longer; [`Duration::MAX`] waits for its end.
    /// The log says every 5 seconds, at the level `info`, that the device is still at work.
    pub timeout: Duration,
    /// Whether the device is created without optional features and extensions.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub least: bool,
    /// Whether the driver is taken for one of which nothing is known, so that without full subgroups they are emulated.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub unknown_driver: bool,
}

impl Default for GpuOptions {
    fn default() -> GpuOptions {
        GpuOptions {
            device: None,
            validation: false,
            pipeline_cache: None,
            timeout: Duration::from_secs(300),
            #[cfg(feature = "__testing")]
            least: false,
            #[cfg(feature = "__testing")]
            unknown_driver: false,
        }
    }
}

/// Each setter returns the same options with another value for one thing.
impl GpuOptions {
    /// The device.
    pub fn device(self, device: impl Into<Option<DeviceChoice>>) -> Self {
        GpuOptions { device: device.into(), ..self }
    }

    /// Whether to load the Khronos validation layer with core and synchronization checks.
    pub fn validation(self, validation: bool) -> Self {
        GpuOptions { validation, ..self }
    }

    /// How long each sort or copy may take.
    pub fn timeout(self, timeout: Duration) -> Self {
        GpuOptions { timeout, ..self }
    }

    /// A file that keeps compiled pipelines from one run of a program to the next.
    pub fn pipeline_cache(self, path: impl Into<Option<PathBuf>>) -> Self {
        GpuOptions { pipeline_cache: path.into(), ..self }
    }

    /// Whether the device is created without optional features and extensions.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn least(self, least: bool) -> Self {
        GpuOptions { least, ..self }
    }

    /// Whether the driver is taken for one of which nothing is known.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn unknown_driver(self, unknown_driver: bool) -> Self {
        GpuOptions { unknown_driver, ..self }
    }
}

/// A device that vksort owns, for sorting slices and for running prepared sorts.
///
/// Threads can share it; their sorts run one after the other.
///
/// # What the first sort of a kind costs
///
/// [`sort`](Self::sort), [`sort_pairs`](Self::sort_pairs), [`argsort`](Self::argsort), and their counterparts for segments and records,
/// build the pipelines of a request at its first sort. Another key type, value size or window width is another request, and so is
/// another way to give segments, another number of first elements, or another list of fields. Compiling them takes
/// lavapipe half a second of CPU time for few elements and one to three seconds for many; drivers of GPUs were not measured. The
/// log says when it begins and how long it took, at the level `info`. Later sorts by the same request use the pipelines again.
/// Another direction uses the same pipelines, and in keys of up to 32 bits so does another window of the same width.
/// [`warm_up`](Self::warm_up) builds pipelines ahead of time, and [`GpuOptions::pipeline_cache`] keeps them from one run of the
/// program to the next. The pipelines of the last [`KEPT_SORTERS`](Self::KEPT_SORTERS) requests stay in memory, until
/// [`clear_pipelines`](Self::clear_pipelines) drops them.
pub struct Gpu {
    /// The sorters of slices.
    sorters: Kept,
    tuning: Tuning,
    device: Arc<Device>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, tuning) = (&self.profile().name, &self.tuning.name);
        f.debug_struct("Gpu").field("device", device).field("tuning", tuning).finish_non_exhaustive()
    }
}

impl Gpu {
    /// How many requests keep their pipelines for sorts of slices. A further request replaces the least recently used one.
    pub const KEPT_SORTERS: usize = kept::MOST;

    /// Opens the device named by `VKSORT_DEVICE`, or the best one that can sort.
    ///
    /// # Errors
    ///
    /// As for [`Gpu::new`].
    pub fn best() -> Result<Gpu, Error> {
        Gpu::new(&GpuOptions::default())
    }

    /// Opens a device.
    ///
    /// # Errors
    ///
    /// * [`Error::NoLoader`], [`Error::NoDriver`], [`Error::NoDevice`], [`Error::UnsuitableDevice`], [`Error::MissingLayer`].
    /// * [`Error::Unsupported`] if `VKSORT_DEVICE` is not Unicode.
    /// * [`Error::Io`] if no file can be kept at the path of [`GpuOptions::pipeline_cache`].
    /// * [`Error::Vulkan`] when the driver fails.
    pub fn new(options: &GpuOptions) -> Result<Gpu, Error> {
        let instance = Instance::new(options.validation)?;
        let choice = options.device.clone().map_or_else(DeviceChoice::from_env, Ok)?;
        #[cfg_attr(not(feature = "__testing"), expect(unused_mut))]
        let mut physical = select(&choice, instance.devices()?)?;
        #[cfg(feature = "__testing")]
        if options.least {
            physical.requirements = physical.requirements.map(Requirements::least);
        }
        #[cfg(feature = "__testing")]
        if options.unknown_driver {
            physical.requirements = physical.requirements.map(Requirements::of_unknown_driver);
        }
        let device = Device::new(&instance, &physical, options.pipeline_cache.as_deref(), options.timeout)?;
        let profile = &device.requirements.profile;
        log::info!("device {:?} ({}), chosen by {choice}", profile.name, profile.driver);
        let tuning = Tuning::for_device(profile);
        Ok(Gpu { sorters: Kept::default(), tuning, device })
    }

    /// The same device, with this tuning for all sorts whose options name none. Sorts fail with [`Error::Unsupported`] if a number
    /// of it is out of range ([`Tuning::check`]).
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{Order, standalone::Gpu};
    ///
    /// let gpu = Gpu::best()?;
    /// let tuning = gpu.tuning().with("workgroup_size", 64)?;
    /// let gpu = gpu.with_tuning(tuning);
    /// let mut keys = [3u8, 1, 2];
    /// gpu.sort(&mut keys, Order::Ascending)?;
    /// assert_eq!(keys, [1, 2, 3]);
    /// # Ok(()) }
    /// ```
    pub fn with_tuning(self, tuning: Tuning) -> Gpu {
        Gpu { sorters: Kept::default(), tuning, device: self.device }
    }

    /// Every Vulkan device of the system, suitable or not.
    ///
    /// # Errors
    ///
    /// [`Error::NoLoader`], [`Error::NoDriver`], [`Error::Vulkan`].
    pub fn devices() -> Result<Vec<DeviceInfo>, Error> {
        let instance = Instance::new(false)?;
        Ok(describe(instance.devices()?))
    }

    /// The [index](DeviceInfo::index) of the device that a choice means, suitable or not.
    ///
    /// # Errors
    ///
    /// * [`Error::NoDevice`] when the choice means no device, or when it is the best one and none can sort. It lists them.
    /// * [`Error::NoLoader`], [`Error::NoDriver`], [`Error::Vulkan`].
    pub fn index_of(choice: &DeviceChoice) -> Result<usize, Error> {
        index_of(choice, &Instance::new(false)?.devices()?)
    }

    /// The properties of the device.
    pub fn profile(&self) -> &DeviceProfile {
        &self.device.requirements.profile
    }

    /// The tuning of sorts whose options name none: the built-in row, or the one given to
    /// [`with_tuning`](Self::with_tuning).
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The algorithm of [`sort`](Self::sort) and the other calls for more elements than a single workgroup sorts.
    pub fn algorithm(&self) -> Algorithm {
        self.tuning.algorithm()
    }

    /// The pipelines that sorters of the device have built and share.
    pub fn pipelines(&self) -> &PipelineSet {
        &self.device.pipelines
    }

    /// Errors that the validation layer has reported so far; empty without validation.
    pub fn validation_errors(&self) -> Vec<String> {
        self.device.instance.validation_errors()
    }

    /// Sorts keys by an [`Order`], or by some of their bits with [`Order::by_bits`].
    ///
    /// The first sort of a kind builds its pipelines: see [what that costs](Gpu#what-the-first-sort-of-a-kind-costs).
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] for bits that the keys do not have, [`Error::MissingFeature`] for keys that this build lacks.
    /// * [`Error::UnsuitableDevice`] when the device does not support the request.
    /// * [`Error::TooManyElements`], [`Error::Allocation`], [`Error::Timeout`], [`Error::Vulkan`].
    ///
    /// After an error the slice is unchanged.
    pub fn sort<K: Key>(&self, keys: &mut [K], by: impl Into<SortBy>) -> Result<(), Error> {
        let request = by.into().request(K::TYPE);
        let sort = self.run(request, keys, &[0u8; 0])?;
        // A transfer of many keys has several parts, of which a later one may fail.
        let mut sorted = bytemuck::zeroed_vec(keys.len());
        sort.read_keys(&mut sorted)?;
        keys.copy_from_slice(&sorted);
        Ok(())
    }

    /// Sorts keys and moves each value with its key; equal keys keep their order. Values have any plain type of 1, 2 or a
    /// multiple of 4 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`], [`Error::Unsupported`] for values of another size, else as for
    /// [`sort`](Self::sort). After an error both slices are unchanged.
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
        let request = by.into().pairs_request::<K, V>(keys.len(), values.len())?;
        let sort = self.run(request, keys, values)?;
        // Both are read before either is changed.
        let mut sorted = (bytemuck::zeroed_vec(keys.len()), bytemuck::zeroed_vec(values.len()));
        sort.read_keys(&mut sorted.0)?;
        sort.read_values(&mut sorted.1)?;
        keys.copy_from_slice(&sorted.0);
        values.copy_from_slice(&sorted.1);
        Ok(())
    }

    /// The permutation that sorts the keys: entry `i` is the index in the input of the key that is `i`-th in order. Equal keys
    /// keep their order.
    ///
    /// # Errors
    ///
    /// As for [`sort`](Self::sort).
    pub fn argsort<K: Key>(&self, keys: &[K], by: impl Into<SortBy>) -> Result<Vec<u32>, Error> {
        let request = by.into().request(K::TYPE).value(ValueType::Index).key_output(KeyOutput::Discarded);
        let sort = self.run(request, keys, &[0u8; 0])?;
        let mut indices = vec![0u32; keys.len()];
        sort.read_values(&mut indices)?;
        Ok(indices)
    }

    /// Builds a sorter for a request, with [`tuning`](Self::tuning) if the options name none.
    ///
    /// # Errors
    ///
    /// As for [`vksort::Sorter::new`](crate::Sorter::new); [`Error::Unsupported`] for options with a visitor, whose duties no safe
    /// function can take over.
    pub fn sorter(&self, request: &SortRequest, options: &SorterOptions) -> Result<Sorter, Error> {
        if options.visitor.is_some() {
            return Err(Error::unsupported("the options of a sorter of slices", "with a visitor", "without one"));
        }
        Sorter::new(&self.device, request, &self.tuned(options))
    }

    /// The same options with a tuning.
    fn tuned(&self, options: &SorterOptions) -> SorterOptions {
        let tuning = options.tuning.clone().unwrap_or_else(|| self.tuning.clone());
        options.clone().tuning(tuning)
    }

    /// The device itself, for tests that record sorts.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// A buffer of `size` bytes in device memory; its content is undefined.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`], [`Error::Vulkan`].
    pub fn buffer(&self, size: u64) -> Result<DeviceBuffer, Error> {
        DeviceBuffer::new(&self.device, size)
    }

    /// Builds the pipelines for sorts of up to `capacity` elements by a request, and runs them with nothing to do
    /// ([`BoundSort::record_warm_up`](crate::BoundSort::record_warm_up)), so that later calls of [`sort`](Self::sort),
    /// [`sort_pairs`](Self::sort_pairs) and [`argsort`](Self::argsort) need not build them.
    ///
    /// The request of `sort` has the key's type and the order, that of `sort_pairs` also
    /// [`ValueType::Bytes`] of the value's size, and that of `argsort` [`ValueType::Index`] with
    /// [`KeyOutput::Discarded`].
    ///
    /// # Errors
    ///
    /// As for [`sorter`](Self::sorter); [`Error::Allocation`], [`Error::Timeout`]. A capacity over the device's limits is no
    /// error here.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{KeyType, Order, SortRequest, standalone::Gpu};
    ///
    /// let gpu = Gpu::best()?;
    /// gpu.warm_up(&SortRequest::new(KeyType::F32), 100_000)?;
    /// gpu.sort(&mut [2.5f32, -1.0], Order::Ascending)?; // needs no pipelines any more
    /// # Ok(()) }
    /// ```
    pub fn warm_up(&self, request: &SortRequest, capacity: u32) -> Result<(), Error> {
        let sorter = self.kept(request, capacity)?;
        // Some drivers compile a kernel at its first run.
        let row = request.segments.and_then(|of| of.layout.stride()).unwrap_or(1);
        let few = sorter.shape().elements_for_all().max(row).min(capacity).min(sorter.max_count());
        sorter.prepare_buffers(Capacity::new(few).segments((few / row).min(1)), false)?.warm_up()?;
        self.device.save_pipelines();
        Ok(())
    }

    /// Drops the pipelines that are kept for slices, and empties the driver's pipeline cache. Sorters and prepared sorts
    /// keep their pipelines.
    ///
    /// # Errors
    ///
    /// [`Error::Vulkan`] when the driver fails.
    pub fn clear_pipelines(&self) -> Result<(), Error> {
        self.sorters.lock().clear();
        self.device.forget_pipelines()
    }

    /// The sorter of a request for `count` elements: a kept one, or a new one.
    pub(super) fn kept(&self, request: &SortRequest, count: u32) -> Result<Sorter, Error> {
        // One serves slices of all lengths, for which copying takes longer than sorting.
        let tuning = Tuning { few_items: None, ..self.tuning.clone() };
        self.sorters
            .get(request, count, || self.sorter(request, &SorterOptions::default().capacity(count).tuning(tuning)))
    }

    /// Sorts slices with a kept sorter.
    pub(super) fn run<K: Pod, V: Pod>(
        &self,
        request: SortRequest,
        keys: &[K],
        values: &[V],
    ) -> Result<PreparedSort, Error> {
        let count = check_count(keys.len())?;
        let sorter = self.kept(&request, count)?;
        let sort = sorter.prepare_buffers(Capacity::new(count), false)?;
        sort.write_keys(keys)?;
        if !values.is_empty() {
            sort.write_values(values)?;
        }
        sorter.timed_once(|| sort.run(count))?;
        Ok(sort)
    }
}

/// A direction and the bits to sort by. An [`Order`] alone stands for all bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortBy {
    /// Direction.
    pub order: Order,
    /// The bits to sort by; `None` for all bits.
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
    /// The first sort of each window width builds pipelines: see [the costs](Gpu#what-the-first-sort-of-a-kind-costs).
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
    pub(super) fn request(self, key: KeyType) -> SortRequest {
        let all = SortRequest::new(key);
        all.order(self.order).bits(self.bits.unwrap_or(all.bits))
    }

    /// The request for so many keys with as many values.
    pub(super) fn pairs_request<K: Key, V: Pod>(self, keys: usize, values: usize) -> Result<SortRequest, Error> {
        if keys != values {
            return Err(Error::LengthMismatch { given: values, needed: keys });
        }
        // The request refuses values of another size.
        let value = ValueType::Bytes(u32::try_from(size_of::<V>()).unwrap_or(u32::MAX));
        Ok(self.request(K::TYPE).value(value))
    }
}

/// A slice's length as a count.
pub(super) fn check_count(len: usize) -> Result<u32, Error> {
    u32::try_from(len).map_err(|_| Error::TooManyElements {
        given: len as u64,
        allowed: crate::MAX_COUNT.into(),
        limit: "2^32 - 1, the largest index".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_used_last_stay_built() {
        let gpu = Gpu::best().unwrap();
        let algorithm = Some(Algorithm::SingleWorkgroup);
        let request = |high: u32| SortRequest::new(KeyType::U128).bits(0..high).algorithm(algorithm);
        let kept = |high: u32| gpu.sorters.lock().iter().any(|sorter| *sorter.request() == request(high));
        let most = Gpu::KEPT_SORTERS as u32;
        for high in 0..most {
            gpu.kept(&request(high), 1).unwrap();
        }
        assert!((0..most).all(kept));
        let first = gpu.kept(&request(0), 1).unwrap();
        assert!(first.is_same(&gpu.kept(&request(0), 1).unwrap()), "it is not built again");
        gpu.kept(&request(most), 1).unwrap();
        assert_eq!(gpu.sorters.lock().len(), Gpu::KEPT_SORTERS);
        assert!(kept(0) && !kept(1) && kept(2) && kept(most));
        gpu.clear_pipelines().unwrap();
        assert!(gpu.sorters.lock().is_empty());
        let mut keys = [3u32, 1, 2];
        gpu.warm_up(&SortRequest::new(KeyType::U32), 5_000_000).unwrap();
        gpu.warm_up(&SortRequest::new(KeyType::U32), 0).unwrap();
        assert_eq!(gpu.sorters.lock().len(), 1);
        gpu.sort(&mut keys, Order::Ascending).unwrap();
        assert_eq!((keys, gpu.sorters.lock().len()), ([1, 2, 3], 1));
        // A sorter outlives `clear_pipelines`.
        first.prepare(1).unwrap().run(1).unwrap();
    }
}
