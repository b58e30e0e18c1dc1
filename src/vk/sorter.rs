//! [`Sorter`]: the pipelines of one kind of sort on one device.

use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::bind::{BoundSort, SortBuffers};
use super::limits::{TABLE_LIMIT, check_access, check_push, choose_access, max_count, reached_by_table};
use super::pipelines::{PipelineDesc, PipelineSet, Pipelines, VisitorDesc};
use super::requirements::Requirements;
use crate::error::Error;
use crate::plan::Plan;
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, BufferSizes, Count, SortRequest};
use crate::shape::{Shape, ShapeDesc, Specialization, SubgroupChoice};
use crate::specialize::specialize;
use crate::tuning::Tuning;
use crate::visitor::{Visitor, Visits};

/// Options of a [`Sorter`] beside its request. The defaults suit most callers.
#[derive(Clone, Default)]
pub struct SorterOptions {
    /// Cache for the pipelines; null for none.
    pub pipeline_cache: vk::PipelineCache,
    /// Pipelines to share with other sorters of the device; `None` to share none.
    pub pipelines: Option<Arc<PipelineSet>>,
    /// Shape and methods; `None` for the built-in row of the device.
    pub tuning: Option<Tuning>,
    /// Which subgroup operations the kernels use.
    pub subgroup: SubgroupChoice,
    /// Whether the host or the driver specializes the kernels.
    pub specialization: Specialization,
    /// How the kernels access keys and values.
    pub access: Access,
    /// The most elements that the sorter will sort, for [`Access::Auto`]; `None` if it is not known, or if descriptors are
    /// large enough. It is no limit.
    pub capacity: Option<u32>,
    /// The loaded `VK_EXT_debug_utils` functions of the device, for labels of the steps in captures.
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    /// Faults for tests.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub faults: Faults,
}

impl fmt::Debug for SorterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SorterOptions")
            .field("pipeline_cache", &self.pipeline_cache)
            .field("pipelines", &self.pipelines)
            .field("tuning", &self.tuning)
            .field("subgroup", &self.subgroup)
            .field("specialization", &self.specialization)
            .field("access", &self.access)
            .field("capacity", &self.capacity)
            .field("debug_utils", &self.debug_utils.is_some())
            .finish_non_exhaustive()
    }
}

impl SorterOptions {
    /// The faults to inject; none without the feature `testing`.
    fn faults(&self) -> Faults {
        #[cfg(feature = "testing")]
        return self.faults;
        #[cfg(not(feature = "testing"))]
        Faults::default()
    }
}

/// How kernels access keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// By descriptor if the device has enough descriptors and they are large enough for [`SorterOptions::capacity`]
    /// elements, else by address if the device supports it. [`Sorter::access`] returns the choice.
    #[default]
    Auto,
    /// By descriptor. A range has at most `maxStorageBufferRange` bytes.
    Descriptors,
    /// By device address. A range may have any length. Its buffer and the scratch buffer need the usage
    /// `SHADER_DEVICE_ADDRESS`, and their memory the flag `DEVICE_ADDRESS`. Validation layers do not check these accesses.
    Addresses,
}

/// Faults that tests inject.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Tiles whose index is a multiple of this never publish their counts; 0 for none.
    pub withhold: u32,
    /// Omits the barrier before the step of this index.
    pub skip_barrier: Option<u32>,
    /// Bits of the number of slots in the look-back ring: with few slots, small sorts use each slot several times.
    pub ring_bits: Option<u32>,
    /// Treats the device as one without 8- and 16-bit storage.
    pub no_small_storage: bool,
}

/// The pipelines of one kind of sort, for every element count.
///
/// A sorter is built once per request and device; [`bind`](Sorter::bind) binds it to buffers, and
/// [`BoundSort::record`] puts the sort into a command buffer.
///
/// ```
/// use ash::vk::{BufferUsageFlags as Usage, CommandBuffer};
/// use vksort::{BufferRange, Error, Requirements};
/// use vksort::{KeyType, Order, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
///
/// # unsafe fn record(
/// #     device: &ash::Device,
/// #     requirements: &Requirements,
/// #     commands: CommandBuffer,
/// #     allocate: impl Fn(u64, Usage) -> BufferRange,
/// # ) -> Result<(), Error> {
/// # // SAFETY: never called.
/// # unsafe {
/// // Depths with the index of their splat, farthest first. The device was created with what `requirements` names.
/// let request = SortRequest { value: ValueType::U32, order: Order::Descending, ..SortRequest::new(KeyType::F32) };
/// let sorter = Sorter::new(device, requirements, &request, &SorterOptions::default())?;
///
/// let capacity = 10_000; // elements
/// let depths = allocate(4 * 10_000, Usage::STORAGE_BUFFER);
/// let indices = allocate(4 * 10_000, Usage::STORAGE_BUFFER);
/// let scratch = allocate(sorter.scratch_size(capacity)?.max(4), Sorter::SCRATCH_USAGE);
/// let in_place = SortBuffers::in_place(depths, capacity);
/// let sort = sorter.bind(&SortBuffers { values: Some(indices), scratch: Some(scratch), ..in_place })?;
///
/// // Every frame, with as many elements as there are then.
/// sort.record(commands, 9_000, None)?;
/// # }
/// # Ok(()) }
/// ```
pub struct Sorter {
    pub(super) inner: Arc<SorterInner>,
}

impl fmt::Debug for Sorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SorterInner { request, profile, algorithm, shape, access, .. } = &*self.inner;
        f.debug_struct("Sorter")
            .field("device", &profile.name)
            .field("request", request)
            .field("algorithm", algorithm)
            .field("shape", shape)
            .field("access", access)
            .finish_non_exhaustive()
    }
}

/// The part of a sorter that its bound sorts share.
pub(crate) struct SorterInner {
    pub pipelines: Pipelines,
    pub request: SortRequest,
    pub profile: DeviceProfile,
    pub algorithm: Algorithm,
    pub shape: Shape,
    pub access: Access,
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    /// What pushes descriptors while a sort is recorded, for sorters that are not bound.
    #[cfg(feature = "capi")]
    pub push: Option<vk::PFN_vkCmdPushDescriptorSetKHR>,
    pub faults: Faults,
    /// Bytes of the visitor's push constants, and whether it has a descriptor set.
    pub visitor: Option<(u32, bool)>,
}

impl Sorter {
    /// Usage flags of the scratch buffer: kernels read and write it, a transfer clears it, and it holds the arguments of
    /// indirect dispatches.
    ///
    /// If [`access`](Self::access) is [`Access::Addresses`], the buffer needs `SHADER_DEVICE_ADDRESS` as well, and its
    /// memory the flag `DEVICE_ADDRESS`.
    pub const SCRATCH_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
        vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
            | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
            | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
    );

    /// Builds the pipelines for a request.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] for a request or option out of range, [`Error::MissingFeature`] for keys that this build lacks.
    /// * [`Error::UnsuitableDevice`] when the device cannot serve the request.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * `requirements` was queried for the physical device behind `device`, and `device` was created with the
    ///   extensions and features it names.
    /// * `device` outlives the sorter and every sort bound from it, and when the last of them is dropped, no command
    ///   buffer with a recorded sort is pending.
    /// * `options.pipeline_cache` is null or belongs to `device`, and no other thread uses it during the call.
    /// * All sorters that `options.pipelines` was given to belong to `device`.
    /// * `options.debug_utils`, if given, was loaded for `device` with the instance extension enabled.
    pub unsafe fn new(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SortRequest,
        options: &SorterOptions,
    ) -> Result<Sorter, Error> {
        // SAFETY: the same contract.
        unsafe { Sorter::build(device, requirements, request, options, None, None) }
    }

    /// Builds the pipelines for a request whose keys or values a [`Visitor`] makes, or whose result it takes.
    ///
    /// The request is out of place. Buffers that the visitor replaces are not bound; [`buffers`](Self::buffers) has the sizes of
    /// the others. `set_layout` is the layout of the visitor's resources, set 1 in its code, or null if it has none. A visitor
    /// in GLSL is compiled by this call, in about a second.
    ///
    /// The pipelines belong to this sorter alone: [`SorterOptions::pipelines`] is not used.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new); [`Error::Visitor`] for a visitor that does not compile, or was compiled for another request;
    /// [`Error::UnsuitableDevice`] if its push constants are more than the device has.
    ///
    /// # Safety
    ///
    /// * As for [`new`](Self::new).
    /// * `set_layout` is null or belongs to `device`, and has the bindings that the visitor's code declares, for compute.
    /// * `device` was created with the features that the visitor's code uses.
    /// * The bytes of a visitor from bytes were made by `VisitorSource::compile`.
    /// * The visitor's code meets the duties in `docs/VISITORS.md`: it gives the same bits for an index throughout a sort, reads
    ///   and writes within its buffers, ends, and has no barriers, shared memory or subgroup operations.
    pub unsafe fn new_visited(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SortRequest,
        options: &SorterOptions,
        visitor: &Visitor,
        set_layout: vk::DescriptorSetLayout,
    ) -> Result<Sorter, Error> {
        // SAFETY: the same contract.
        unsafe { Sorter::build(device, requirements, request, options, None, Some((visitor, set_layout))) }
    }

    /// A sorter whose sorts are bound, or recorded with pushed descriptors, perhaps with a visitor and the layout of its set.
    ///
    /// # Safety
    ///
    /// As for [`new_visited`](Self::new_visited); `push` is `None` or the function of `device`, with what it belongs to
    /// enabled.
    pub(super) unsafe fn build(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SortRequest,
        options: &SorterOptions,
        push: Option<vk::PFN_vkCmdPushDescriptorSetKHR>,
        visitor: Option<(&Visitor, vk::DescriptorSetLayout)>,
    ) -> Result<Sorter, Error> {
        request.check()?;
        let visits = visitor.map_or(Visits::default(), |(visitor, _)| visitor.visits());
        visits.check(request)?;
        let faults = options.faults();
        let profile = &requirements.profile;
        let access = choose_access(profile, request, options);
        let tuning = options.tuning.clone().unwrap_or_else(|| Tuning::for_device(profile));
        let algorithm = request.algorithm.unwrap_or_else(|| tuning.algorithm());
        let addressed = access == Access::Addresses;
        let shape = Shape::fit(&ShapeDesc {
            subgroup: options.subgroup,
            specialization: options.specialization,
            addressed,
            visits,
            small_storage: profile.small_storage && !faults.no_small_storage,
            withhold: faults.withhold,
            ring_bits: faults.ring_bits,
            ..ShapeDesc::new(profile, &tuning, request, algorithm)
        })?;
        check_access(profile, access, &shape)?;
        check_push(profile, visitor.map(|(visitor, _)| visitor.push_bytes()), addressed)?;
        // One element more than a single workgroup sorts needs every kernel of any count.
        let capacity = shape.single_block() + 1;
        let plan = Plan::new(request, algorithm, shape, capacity);
        log::info!(
            "{}: {request}: tuning {} ({}), {}",
            profile.name,
            tuning.name,
            tuning.evidence,
            describe(request, plan.algorithm, &tuning, &shape, access)
        );
        let kernels = plan.kernels(&[Count::Host(1), Count::Host(capacity), Count::Device]);
        let specs: Vec<_> = kernels.into_iter().map(|kernel| specialize(kernel, &shape, request)).collect();
        let with_visitor = |(visitor, set_layout): (&Visitor, _)| -> Result<_, Error> {
            let modules: Vec<_> = specs.iter().map(|spec| spec.module).collect();
            let words = visitor.words(&modules, request)?;
            Ok(VisitorDesc { words, set_layout, push_bytes: visitor.push_bytes() })
        };
        let own = PipelineSet::default();
        let desc = PipelineDesc {
            kernels: &specs,
            required_subgroup_size: requirements.required_subgroup_size,
            addressed,
            pushed: push.is_some(),
            cache: options.pipeline_cache,
            shared: options.pipelines.as_deref().unwrap_or(&own),
            visitor: visitor.map(with_visitor).transpose()?,
        };
        // SAFETY: device and cache are as `Pipelines::new` asks, by this function's contract.
        let pipelines = unsafe { Pipelines::new(device, &desc)? };
        let inner = SorterInner {
            pipelines,
            request: *request,
            profile: profile.clone(),
            algorithm,
            shape,
            access,
            debug_utils: options.debug_utils.clone(),
            #[cfg(feature = "capi")]
            push,
            faults,
            visitor: visitor.map(|(visitor, layout)| (visitor.push_bytes(), layout != vk::DescriptorSetLayout::null())),
        };
        Ok(Sorter { inner: Arc::new(inner) })
    }

    /// Bytes of scratch that a sort of up to `capacity` elements needs. The buffer needs the usage flags
    /// [`SCRATCH_USAGE`](Self::SCRATCH_USAGE).
    ///
    /// The size is 0 if the sort needs no scratch, and Vulkan has no buffers of 0 bytes. Leave the range out then, or allocate
    /// 4 bytes.
    ///
    /// A sort bound with this capacity can be recorded with every smaller count.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    pub fn scratch_size(&self, capacity: u32) -> Result<u64, Error> {
        Ok(self.inner.plan(capacity)?.scratch().size)
    }

    /// The buffers of elements that a sort of up to `capacity` elements needs: those of [`SortRequest::buffers`] without the
    /// buffers that a visitor replaces. If it makes the keys, their size is 0 bytes.
    pub fn buffers(&self, capacity: u32) -> BufferSizes {
        self.inner.buffers(capacity)
    }

    /// Most elements that this sorter can sort on its device.
    pub fn max_count(&self) -> u32 {
        max_count(&self.inner).0
    }

    /// Elements of a tile, which one workgroup takes in a pass, in a sort of up to `capacity` elements.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    #[doc(hidden)]
    pub fn tile_size(&self, capacity: u32) -> Result<u32, Error> {
        Ok(self.inner.plan(capacity)?.tile_size())
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        &self.inner.request
    }

    /// The algorithm that sorts `count` elements here.
    pub fn algorithm(&self, count: u32) -> Algorithm {
        Plan::new(&self.inner.request, self.inner.algorithm, self.inner.shape, count).algorithm_for(count)
    }

    /// How the kernels access keys and values; never [`Access::Auto`].
    pub fn access(&self) -> Access {
        self.inner.access
    }

    /// Shape of the kernels: workgroup, items, subgroup.
    #[doc(hidden)]
    pub fn shape(&self) -> &Shape {
        &self.inner.shape
    }

    /// Binds the sorter to buffers. The result can be recorded any number of times, in any number of command buffers.
    ///
    /// # Errors
    ///
    /// * [`Error::BufferTooSmall`], [`Error::MisalignedOffset`] or [`Error::Overlap`] for a range, [`Error::OutOfBounds`] for a
    ///   range whose end overflows.
    /// * [`Error::MissingUsage`] for a known usage.
    /// * [`Error::BufferPresence`] for a buffer that is missing or not used.
    /// * [`Error::TooManyElements`] for the capacity.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * The buffers belong to the sorter's device, are bound to memory over the given ranges, and outlive the result.
    /// * They have the usage `STORAGE_BUFFER`, and the scratch buffer has [`SCRATCH_USAGE`](Self::SCRATCH_USAGE).
    /// * Where [`access`](Self::access) is [`Access::Addresses`], all but the count buffer have `SHADER_DEVICE_ADDRESS` too, and
    ///   their memory was allocated with the flag `DEVICE_ADDRESS`.
    pub unsafe fn bind(&self, buffers: &SortBuffers) -> Result<BoundSort, Error> {
        // SAFETY: the same contract.
        unsafe { BoundSort::new(Arc::clone(&self.inner), buffers) }
    }
}

impl SorterInner {
    /// The buffers of elements that the sort needs.
    pub fn buffers(&self, capacity: u32) -> BufferSizes {
        let (sizes, Visits { keys, values, output }) = (self.request.buffers(capacity), self.shape.visits);
        BufferSizes {
            keys: if keys { 0 } else { sizes.keys },
            values: sizes.values.filter(|_| !values),
            keys_out: sizes.keys_out.filter(|_| !output),
            values_out: sizes.values_out.filter(|_| !output),
        }
    }

    /// The plan for a capacity, without a check of limits.
    pub fn unchecked_plan(&self, capacity: u32) -> Plan {
        Plan::new(&self.request, self.algorithm, self.shape, capacity)
    }

    /// The plan for a capacity within the limits.
    pub fn plan(&self, capacity: u32) -> Result<Plan, Error> {
        let (mut allowed, mut limit) = max_count(self);
        if capacity <= allowed {
            // With many small tiles, the table may be larger than the table of more elements in larger tiles.
            (allowed, limit) = (reached_by_table(self, capacity), TABLE_LIMIT);
        }
        match capacity > allowed {
            true => {
                Err(Error::TooManyElements { given: capacity.into(), allowed: allowed.into(), limit: limit.into() })
            }
            false => Ok(self.unchecked_plan(capacity)),
        }
    }
}

/// A sorter in one line: its kernels, and the reasons for them. `algorithm` is the one that sorts.
fn describe(request: &SortRequest, algorithm: Algorithm, tuning: &Tuning, shape: &Shape, access: Access) -> String {
    let why = match (request.algorithm, tuning.look_back) {
        (Some(asked), _) if asked != algorithm => &format!("{asked} was asked for, and does not suit the request"),
        (Some(_), _) => "as asked",
        (None, true) => "look-back is known to work here",
        (None, false) => "look-back is not known to work here",
    };
    let reached = if access == Access::Addresses { ", elements by address" } else { "" };
    let subgroup = if shape.subgroup.emulated { "emulated subgroups" } else { "subgroups" };
    format!(
        "{algorithm} ({why}), {} invocations x {} items, {subgroup} of {}, ranking by {:?}{reached}",
        shape.workgroup_size, shape.items, shape.subgroup.size, shape.rank
    )
}
