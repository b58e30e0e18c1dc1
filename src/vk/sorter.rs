//! [`Sorter`]: the pipelines of one kind of sort on one device.

use std::sync::Arc;

use ash::vk;

use super::bind::{BoundSort, SortBuffers};
use super::pipelines::{PipelineDesc, Pipelines};
use super::requirements::Requirements;
use crate::error::Error;
use crate::plan::{MAX_COUNT, Plan};
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, Count, SortRequest};
use crate::shape::{Shape, ShapeDesc, SubgroupChoice};
use crate::specialize::specialize;
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
    /// How the kernels reach keys and values.
    pub access: Access,
    /// The loaded `VK_EXT_debug_utils` functions of the device, to have every step labelled in captures.
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    /// Faults for tests.
    #[doc(hidden)]
    pub faults: Faults,
}

/// How kernels reach keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// Through descriptors. A range may be as long as `maxStorageBufferRange`.
    #[default]
    Descriptors,
    /// By device address. A range may have any length; its buffer needs the usage `SHADER_DEVICE_ADDRESS` (and its
    /// memory the flag `DEVICE_ADDRESS`), the scratch buffer too. Validation layers do not see such accesses.
    Addresses,
}

/// Faults that tests inject to see the sort survive them, or to see the checks find them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Tiles whose index is a multiple of this never publish their counts; 0 for none.
    pub withhold: u32,
    /// Leaves out the barrier before the step of this index.
    pub skip_barrier: Option<u32>,
    /// Most elements of a portion, to have small sorts cut into several.
    pub portion: Option<u32>,
    /// Takes the device for one without 8- and 16-bit storage.
    pub no_small_storage: bool,
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
/// # let device = instance.create_device(physical_device, &features.chain(info), None)?;
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
    pub access: Access,
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
        let algorithm = request.algorithm.unwrap_or_else(|| tuning.algorithm());
        let addressed = options.access == Access::Addresses;
        let shape = Shape::fit(&ShapeDesc {
            subgroup: options.subgroup,
            addressed,
            small_storage: profile.small_storage && !options.faults.no_small_storage,
            withhold: options.faults.withhold,
            ..ShapeDesc::new(profile, &tuning, request, algorithm)
        })?;
        check_access(profile, options.access, &shape)?;
        log::info!(
            "{}: tuning {} ({}), {}",
            profile.name,
            tuning.name,
            tuning.evidence,
            describe(request, algorithm, &tuning, &shape)
        );

        // One block more than a workgroup sorts takes every kernel that any count does.
        let capacity = shape.single_block() + 1;
        let counts = [Count::Host(1), Count::Host(capacity), Count::Device];
        let kernels = Plan::new(request, algorithm, shape, capacity, None).kernels(&counts);
        let specs: Vec<_> = kernels.into_iter().map(|kernel| specialize(kernel, &shape, request)).collect();
        let desc = PipelineDesc {
            kernels: &specs,
            required_subgroup_size: requirements.required_subgroup_size,
            addressed,
            cache: options.pipeline_cache,
        };
        // SAFETY: device and cache are as `Pipelines::new` asks, by this function's contract.
        let pipelines = unsafe { Pipelines::new(device, &desc)? };
        let inner = SorterInner {
            pipelines,
            request: *request,
            profile: profile.clone(),
            algorithm,
            shape,
            access: options.access,
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
        Ok(self.inner.plan(capacity)?.scratch().size)
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
        Plan::new(&self.inner.request, self.inner.algorithm, self.inner.shape, count, None).algorithm_for(count)
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
    /// * They have the usage `STORAGE_BUFFER`; the scratch buffer has `TRANSFER_DST` too, and `INDIRECT_BUFFER` when a
    ///   count buffer is given or [`algorithm`](Self::algorithm) of the capacity is [`Algorithm::Leading`]. With [`Access::Addresses`] all but the count buffer have `SHADER_DEVICE_ADDRESS`.
    pub unsafe fn bind(&self, buffers: &SortBuffers) -> Result<BoundSort, Error> {
        // SAFETY: the same contract.
        unsafe { BoundSort::new(Arc::clone(&self.inner), buffers) }
    }
}

impl SorterInner {
    /// Most elements, and the limit that says so.
    fn max_count(&self) -> (u32, &'static str) {
        let range = self.profile.max_storage_range_bytes;
        let widest = self.request.key.size_bytes().max(self.request.value.size_bytes());
        let tile_bytes = 4 * u64::from(self.shape.radix());
        let largest_tile = u64::from(self.shape.block()) * u64::from(self.shape.max_blocks);
        let mut candidates = vec![(u64::from(MAX_COUNT), "2^32 - 1, the largest index")];
        if self.access == Access::Descriptors {
            candidates.push((range / widest, "the device's maxStorageBufferRange, beyond which addresses reach"));
        }
        match self.algorithm {
            Algorithm::OneSweep | Algorithm::Leading => {}
            Algorithm::ReduceThenScan => {
                candidates
                    .push((range / tile_bytes * largest_tile, "the device's maxStorageBufferRange for the table"));
            }
            Algorithm::SingleWorkgroup => {
                candidates.push((self.shape.single_block().into(), "one block of the single-workgroup sort"));
            }
        }
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
        Ok(Plan::new(&self.request, self.algorithm, self.shape, capacity, self.faults.portion))
    }
}

/// Refuses a device that lacks what its kernels reach keys and values by.
fn check_access(profile: &DeviceProfile, access: Access, shape: &Shape) -> Result<(), Error> {
    let unsuitable = |what: &str, given: String, needed: String| Error::UnsuitableDevice {
        device: profile.name.clone(),
        what: what.into(),
        given,
        needed,
    };
    let descriptors = Pipelines::descriptors(access == Access::Addresses);
    let (is, absent, present) = (profile.max_storage_buffers, "absent".to_string(), "present".to_string());
    if is < descriptors {
        return Err(unsuitable(
            "maxPerStageDescriptorStorageBuffers",
            is.to_string(),
            format!("at least {descriptors}"),
        ));
    }
    match access {
        Access::Descriptors if !profile.dynamic_indexing => {
            Err(unsuitable("feature shaderStorageBufferArrayDynamicIndexing", absent, present))
        }
        Access::Addresses if !profile.buffer_addresses => {
            Err(unsuitable("feature bufferDeviceAddress", absent, present))
        }
        Access::Addresses if shape.subgroup.emulated => Err(unsuitable(
            "subgroup support, with keys and values by address",
            "emulated".into(),
            "full subgroups of the device's own".into(),
        )),
        _ => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;

    /// What is said of a device that lacks something, with elements reached in some way.
    fn refusal(profile: &DeviceProfile, access: Access, subgroup: SubgroupChoice) -> Option<String> {
        let request = SortRequest::new(KeyType::U32);
        let tuning = Tuning::for_device(profile);
        let shape =
            Shape::fit(&ShapeDesc { subgroup, ..ShapeDesc::new(profile, &tuning, &request, Algorithm::OneSweep) })
                .unwrap();
        check_access(profile, access, &shape).err().map(|error| error.to_string())
    }

    #[test]
    fn devices_that_lack_a_way_to_reach_elements_are_refused_by_name() {
        let common = DeviceProfile::default();
        let (descriptors, addresses) = (Access::Descriptors, Access::Addresses);
        let auto = SubgroupChoice::Auto;
        assert_eq!(refusal(&common, descriptors, auto), None);
        assert_eq!(refusal(&common, addresses, auto), None);
        let few = DeviceProfile { max_storage_buffers: 4, ..common.clone() };
        let text = refusal(&few, descriptors, auto).unwrap();
        assert!(text.contains("StorageBuffers is 4") && text.contains("at least 9"), "{text}");
        assert!(!few.serves_descriptors() && common.serves_descriptors());
        assert_eq!(Pipelines::descriptors(false), crate::profile::DESCRIPTORS);
        // Addresses take fewer descriptors, and need no choosing among them.
        assert_eq!(refusal(&few, addresses, auto), None);
        let fixed = DeviceProfile { dynamic_indexing: false, buffer_addresses: false, ..common.clone() };
        assert!(refusal(&fixed, descriptors, auto).unwrap().contains("DynamicIndexing is absent"));
        assert!(refusal(&fixed, addresses, auto).unwrap().contains("bufferDeviceAddress is absent"));
        let text = refusal(&common, addresses, SubgroupChoice::Emulated(32)).unwrap();
        assert!(text.contains("address") && text.contains("emulated"), "{text}");
    }
}
