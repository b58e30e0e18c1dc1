//! [`Sorter`]: the pipelines of one kind of sort on one device.

use std::sync::Arc;

use ash::vk;

use super::bind::{BoundSort, SortBuffers};
use super::pipelines::{PipelineDesc, Pipelines};
use super::requirements::Requirements;
use crate::error::Error;
use crate::plan::{Kernel, MAX_COUNT, Plan};
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, SortRequest};
use crate::shape::{Shape, SubgroupChoice};
use crate::tuning::Tuning;

/// What a [`Sorter`] may be given beyond its request; the default is right for most.
#[derive(Clone, Default)]
pub struct SorterOptions {
    /// Cache for the pipelines; null for none.
    pub pipeline_cache: vk::PipelineCache,
    /// Shape and methods; `None` for the built-in row of the device.
    pub tuning: Option<Tuning>,
    /// Which subgroup operations the kernels use.
    pub subgroup: SubgroupChoice,
    /// The loaded `VK_EXT_debug_utils` functions of the device, to have every step labelled in captures.
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    /// Faults for tests.
    #[doc(hidden)]
    pub faults: Faults,
}

/// Faults that tests inject to see the sort survive them, or to see the checks find them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Tiles whose index is a multiple of this never publish their counts; 0 for none.
    pub withhold: u32,
    /// Leaves out the barrier before the step of this index.
    pub skip_barrier: Option<u32>,
}

/// One kind of sort, ready to be bound to buffers: pipelines that do not depend on the element count.
///
/// A sorter is built once per request and device; [`bind`](Sorter::bind) ties it to buffers and
/// [`BoundSort::record`] puts the sort into a command buffer.
///
/// ```
/// # #[cfg(not(feature = "standalone"))] fn main() {}
/// # #[cfg(feature = "standalone")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use ash::vk;
/// # use vksort::{BufferRange, InstanceRequirements, Requirements};
/// # let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
/// # // SAFETY: the program ends with these handles; each is used with what it came from.
/// # unsafe {
/// # let entry = ash::Entry::load()?;
/// # let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None)?);
/// # let names: Vec<_> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
/// # let info = vk::InstanceCreateInfo::default().application_info(&application).flags(needed.flags);
/// # let instance = entry.create_instance(&info.enabled_extension_names(&names), None)?;
/// # let physical_device = instance.enumerate_physical_devices()?[0];
/// # let requirements = Requirements::query(&instance, physical_device)?;
/// # let names: Vec<_> = requirements.device_extensions.iter().map(|name| name.as_ptr()).collect();
/// # let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
/// # let mut features = requirements.features();
/// # let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
/// # let info = features.iter_mut().fold(info, |info, features| info.push_next(features));
/// # let device = instance.create_device(physical_device, &info, None)?;
/// # let allocate = |size: u64| -> Result<BufferRange, vk::Result> {
/// #     let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
/// #     let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None)?;
/// #     let needs = device.get_buffer_memory_requirements(buffer);
/// #     let kind = needs.memory_type_bits.trailing_zeros();
/// #     let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
/// #     device.bind_buffer_memory(buffer, device.allocate_memory(&info, None)?, 0)?;
/// #     Ok(BufferRange::new(buffer, size))
/// # };
/// # let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
/// # let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
/// # let commands = device.allocate_command_buffers(&info)?[0];
/// # device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
/// use vksort::{KeyType, Order, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
///
/// // Depths with the index of their splat, farthest first. The device was created with what `requirements` names.
/// let request = SortRequest { value: ValueType::U32, order: Order::Descending, ..SortRequest::new(KeyType::F32) };
/// let sorter = Sorter::new(&device, &requirements, &request, &SorterOptions::default())?;
///
/// let capacity = 10_000; // elements
/// let (depths, indices) = (allocate(4 * 10_000)?, allocate(4 * 10_000)?);
/// let scratch = allocate(sorter.scratch_size(capacity)?)?;
/// let in_place = SortBuffers::in_place(depths, capacity);
/// let sort = sorter.bind(&SortBuffers { values: Some(indices), scratch: Some(scratch), ..in_place })?;
///
/// // Every frame, with as many elements as there are then.
/// sort.record(commands, 9_000, None)?;
/// # device.end_command_buffer(commands)?;
/// # drop((sort, sorter));
/// # }
/// # Ok(()) }
/// ```
pub struct Sorter {
    inner: Arc<SorterInner>,
}

/// What a sorter shares with the sorts bound from it.
pub(crate) struct SorterInner {
    pub pipelines: Pipelines,
    pub request: SortRequest,
    pub profile: DeviceProfile,
    pub algorithm: Algorithm,
    pub shape: Shape,
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    pub faults: Faults,
}

impl Sorter {
    /// Builds the pipelines for a request.
    ///
    /// Errors: [`Error::Unsupported`] for a request or option out of range, [`Error::UnsuitableDevice`] when the
    /// device cannot serve it, [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * `requirements` was queried for the physical device behind `device`, and `device` was created with the
    ///   extensions and features it names.
    /// * `device` outlives the sorter and every sort bound from it, and when the last of them is dropped, no command
    ///   buffer with a recorded sort is pending.
    /// * `options.pipeline_cache` is null or belongs to `device`, and no other thread uses it during the call.
    /// * `options.debug_utils`, if given, was loaded for `device` with the instance extension enabled.
    pub unsafe fn new(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SortRequest,
        options: &SorterOptions,
    ) -> Result<Sorter, Error> {
        request.check()?;
        let profile = &requirements.profile;
        let tuning = options.tuning.clone().unwrap_or_else(|| Tuning::for_device(profile));
        let algorithm = request.algorithm.unwrap_or_else(|| choose_algorithm(&tuning));
        let shape = Shape::fit(profile, &tuning, request, algorithm, options.subgroup)?;
        log::info!(
            "{}: tuning {} ({}), {}",
            profile.name,
            tuning.name,
            tuning.evidence,
            describe(request, algorithm, &tuning, &shape)
        );

        let mut kernels = match algorithm {
            Algorithm::OneSweep => vec![Kernel::Histogram, Kernel::OneSweep],
            Algorithm::ReduceThenScan { .. } => vec![Kernel::Count, Kernel::Scan, Kernel::Scatter],
            Algorithm::SingleWorkgroup => vec![Kernel::SingleWorkgroup],
        };
        if request.algorithm.is_none() {
            kernels.push(Kernel::SingleWorkgroup);
        }
        let desc = PipelineDesc {
            profile,
            required_subgroup_size: requirements.required_subgroup_size,
            shape: &shape,
            code: request.key.code(request.order),
            value_words: request.value.words(),
            polls: tuning.polls,
            unroll: tuning.unroll,
            withhold: options.faults.withhold,
            cache: options.pipeline_cache,
        };
        // SAFETY: device and cache are as `Pipelines::new` asks, by this function's contract.
        let pipelines = unsafe { Pipelines::new(device, &desc, &kernels)? };
        let inner = SorterInner {
            pipelines,
            request: *request,
            profile: profile.clone(),
            algorithm,
            shape,
            debug_utils: options.debug_utils.clone(),
            faults: options.faults,
        };
        Ok(Sorter { inner: Arc::new(inner) })
    }

    /// Bytes of scratch that a sort of up to `capacity` elements needs; 0 when it needs none.
    ///
    /// A sort bound with this capacity can be recorded with every smaller count.
    ///
    /// Errors: [`Error::TooManyElements`].
    pub fn scratch_size(&self, capacity: u32) -> Result<u64, Error> {
        Ok(self.inner.plan(capacity)?.scratch(self.inner.request.value.words()).size)
    }

    /// Most elements that this sorter can sort on its device.
    pub fn max_count(&self) -> u32 {
        self.inner.max_count().0
    }

    /// Elements of a tile, the unit that finds its place as a whole, in a sort of up to `capacity` elements.
    ///
    /// Errors: [`Error::TooManyElements`].
    pub fn tile_size(&self, capacity: u32) -> Result<u32, Error> {
        Ok(self.inner.plan(capacity)?.tile_size())
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        &self.inner.request
    }

    /// The algorithm that sorts `count` elements here.
    pub fn algorithm(&self, count: u32) -> Algorithm {
        Plan::new(self.inner.algorithm, self.inner.request.algorithm.is_none(), self.inner.shape, count)
            .algorithm_for(count)
    }

    /// Shape of the kernels: workgroup, items, subgroup.
    pub fn shape(&self) -> &Shape {
        &self.inner.shape
    }

    /// Ties the sorter to buffers; the result can be recorded any number of times, in any number of command buffers.
    ///
    /// Errors: a range that is too small, misaligned or overlaps another, a usage flag known to be missing, a buffer
    /// that is missing or superfluous, a capacity over the limit; [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * The buffers belong to the sorter's device, are bound to memory over the given ranges, and outlive the result.
    /// * They have the usage `STORAGE_BUFFER`; the scratch buffer has `TRANSFER_DST` too.
    pub unsafe fn bind(&self, buffers: &SortBuffers) -> Result<BoundSort, Error> {
        // SAFETY: the same contract.
        unsafe { BoundSort::new(Arc::clone(&self.inner), buffers) }
    }
}

impl SorterInner {
    /// Most elements, and the limit that says so.
    fn max_count(&self) -> (u32, &'static str) {
        let range = self.profile.max_storage_range_bytes / 4;
        let candidates = [
            (u64::from(MAX_COUNT), "2^30 - 1, the count bits of a look-back word"),
            (range, "the device's maxStorageBufferRange"),
            (
                if self.algorithm == Algorithm::SingleWorkgroup { self.shape.block().into() } else { u64::MAX },
                "one block of the single-workgroup sort",
            ),
        ];
        let (count, limit) = candidates.into_iter().min_by_key(|(count, _)| *count).expect("the list is not empty");
        (count as u32, limit)
    }

    /// The plan for a capacity within the limits.
    pub fn plan(&self, capacity: u32) -> Result<Plan, Error> {
        let (allowed, limit) = self.max_count();
        if capacity > allowed {
            return Err(Error::TooManyElements {
                given: capacity.into(),
                allowed: allowed.into(),
                limit: limit.into(),
            });
        }
        Ok(Plan::new(self.algorithm, self.request.algorithm.is_none(), self.shape, capacity))
    }
}

/// The algorithm for a device on which none was asked for.
pub fn choose_algorithm(tuning: &Tuning) -> Algorithm {
    if tuning.look_back { Algorithm::OneSweep } else { Algorithm::ReduceThenScan { digit_bits: 8 } }
}

fn describe(request: &SortRequest, algorithm: Algorithm, tuning: &Tuning, shape: &Shape) -> String {
    let why = match (request.algorithm, tuning.look_back) {
        (Some(_), _) => "as asked",
        (None, true) => "look-back is known to work here",
        (None, false) => "look-back is not known to work here",
    };
    let subgroup = if shape.subgroup.emulated { "emulated subgroups" } else { "subgroups" };
    format!(
        "{algorithm} ({why}), {} invocations x {} items, {subgroup} of {}, ranking by {:?}",
        shape.workgroup_size, shape.items, shape.subgroup.size, shape.rank
    )
}
