//! [`Sorter`]: the pipelines of one kind of sort on one device.

use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::inner::SorterInner;
use super::limits::{check_device, choose_addresses, find_most};
#[cfg(not(feature = "testing"))]
use super::options::Faults;
use super::options::{Access, SorterOptions};
use super::pipelines::{PipelineDesc, Pipelines, VisitorDesc};
use super::requirements::Requirements;
use crate::abi;
use crate::error::Error;
use crate::plan::Plan;
use crate::records::{Fields, RecordRequest};
use crate::request::{Algorithm, BufferSizes, Count, SortRequest};
use crate::segments::SegmentedRequest;
use crate::shape::{Shape, ShapeDesc, SubgroupChoice};
use crate::specialize::specialize;
use crate::spirv;
use crate::tuning::Tuning;
use crate::visitor::{Visitor, Visits};

/// The pipelines of one kind of sort, for every element count.
///
/// A sorter is built once per request and device; [`bind`](Sorter::bind) binds it to buffers, and
/// [`BoundSort::record`](crate::BoundSort::record) puts the sort into a command buffer.
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
    pub(crate) inner: Arc<SorterInner>,
}

impl fmt::Debug for Sorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SorterInner { request, profile, algorithm, shape, .. } = &*self.inner;
        f.debug_struct("Sorter")
            .field("device", &profile.name)
            .field("request", request)
            .field("algorithm", algorithm)
            .field("shape", shape)
            .field("access", &self.access())
            .finish_non_exhaustive()
    }
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
    /// * [`Error::Unsupported`] for a request, tuning or option out of range, [`Error::MissingFeature`] for keys that this build lacks.
    /// * [`Error::UnsuitableDevice`] when the device does not support the request.
    /// * [`Error::ForeignPipelines`] when `options.pipelines` holds pipelines of another device.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * `requirements` was queried for the physical device of `device`, and `device` was created with the
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
        // SAFETY: the same contract.
        unsafe { Sorter::build(device, requirements, request, options, Extras::default()) }
    }

    /// Builds the pipelines for a request whose keys or values a [`Visitor`] computes, or whose result it receives.
    ///
    /// The request is out of place. Buffers that the visitor replaces are not bound; [`buffers`](Self::buffers) has the sizes of
    /// the others. `set_layout` is the layout of the visitor's resources, set 1 in its code, or null if it has none. A visitor
    /// in GLSL is compiled by this call, in about a second.
    ///
    /// The pipelines belong to this sorter alone: [`SorterOptions::pipelines`] is not used.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new); [`Error::Visitor`] for a visitor that does not compile, was compiled for another request, or has
    /// resources while `set_layout` is null; [`Error::UnsuitableDevice`] if its push constants are more than the device has.
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
        let extras = Extras { visitor: Some((visitor, set_layout)), ..Extras::default() };
        // SAFETY: the same contract.
        unsafe { Sorter::build(device, requirements, request, options, extras) }
    }

    /// Builds the pipelines for records that are sorted by their fields.
    ///
    /// A kernel composes one key of each record's fields, the keys are sorted with the index of their record, and the records are moved
    /// once at the end. Records that are a key themselves, such as a word of 8 bytes whose upper half is the field, are sorted as such
    /// keys.
    ///
    /// The records are bound as [`SortBuffers::keys`](crate::SortBuffers::keys), and the result as `keys_out` or `values_out`, as
    /// [`RecordOutput`](crate::RecordOutput) says; [`buffers`](Self::buffers) has their sizes. Capacities and counts are of records.
    /// [`request`](Self::request) is then the sort of the keys.
    ///
    /// ```
    /// use ash::vk::{BufferUsageFlags as Usage, CommandBuffer};
    /// use vksort::{BufferRange, Error, KeyField, KeyType, RecordRequest, Requirements, SortBuffers, Sorter, SorterOptions};
    ///
    /// # unsafe fn record(
    /// #     device: &ash::Device,
    /// #     requirements: &Requirements,
    /// #     commands: CommandBuffer,
    /// #     allocate: impl Fn(u64, Usage) -> BufferRange,
    /// # ) -> Result<(), Error> {
    /// # // SAFETY: never called.
    /// # unsafe {
    /// // Draws of 32 bytes by material, then the nearest first.
    /// let request = RecordRequest::new(32, [KeyField::new(0, KeyType::U16), KeyField::new(4, KeyType::F32)]);
    /// let sorter = Sorter::of_records(device, requirements, &request, &SorterOptions::default())?;
    ///
    /// let capacity = 10_000; // records
    /// let draws = allocate(sorter.buffers(capacity).keys, Usage::STORAGE_BUFFER);
    /// let scratch = allocate(sorter.scratch_size(capacity)?.max(4), Sorter::SCRATCH_USAGE);
    /// let sort = sorter.bind(&SortBuffers { scratch: Some(scratch), ..SortBuffers::in_place(draws, capacity) })?;
    ///
    /// // Every frame, with as many records as there are then.
    /// sort.record(commands, 9_000, None)?;
    /// # }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and for what [`RecordRequest::check`] refuses.
    ///
    /// # Safety
    ///
    /// As for [`new`](Self::new).
    pub unsafe fn of_records(
        device: &ash::Device,
        requirements: &Requirements,
        request: &RecordRequest,
        options: &SorterOptions,
    ) -> Result<Sorter, Error> {
        let (sort, fields) = request.as_sort()?;
        // SAFETY: the same contract.
        unsafe { Sorter::build(device, requirements, &sort, options, Extras { fields, ..Extras::default() }) }
    }

    /// A sorter with what not every sorter has.
    ///
    /// # Safety
    ///
    /// As for [`new_visited`](Self::new_visited); with `pushed`, the device has pushed descriptors enabled.
    pub(super) unsafe fn build(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SortRequest,
        options: &SorterOptions,
        extras: Extras<'_>,
    ) -> Result<Sorter, Error> {
        let Extras { pushed, visitor, segments, fields } = extras;
        request.check()?;
        let visits = visitor.map_or(Visits::default(), |(visitor, _)| visitor.visits());
        visits.check(request)?;
        #[cfg(feature = "testing")]
        let faults = options.faults;
        #[cfg(not(feature = "testing"))]
        let faults = Faults::default();
        let mut profile = requirements.profile.clone();
        profile.small_storage &= !faults.no_small_storage;
        options.tuning.as_ref().map_or(Ok(()), Tuning::check)?;
        let tuning = options.tuning.clone().unwrap_or_else(|| Tuning::for_device(&profile));
        let algorithm = request.algorithm.unwrap_or_else(|| tuning.algorithm());
        let mut desc = ShapeDesc {
            subgroup: options.subgroup,
            specialization: options.specialization,
            visits,
            segments,
            fields,
            withhold: faults.withhold,
            ring_bits: faults.ring_bits,
            ..ShapeDesc::new(&profile, &tuning, request, algorithm)
        };
        desc.quirks.decide_apart |= faults.decide_apart;
        desc.quirks.keep_loops &= !faults.unroll;
        desc.addressed = choose_addresses(&desc, options);
        let shape = Shape::fit(&desc)?;
        check_device(&profile, &shape, visitor.map(|(visitor, _)| visitor.push_bytes()))?;
        let emulates = shape.ranking.subgroup.emulated && options.subgroup == SubgroupChoice::Auto;
        let warning = emulates.then(|| requirements.first_to_say_why_emulated(device.handle())).flatten();
        if let Some(warning) = &warning {
            log::warn!("{warning}");
        }
        // One element more than a single workgroup sorts needs every kernel of any count, and so does one more than a tile of segments.
        let tile = shape.windows.map_or(0, |windows| abi::SPLIT_TILE_BLOCKS * windows.block.elements());
        let capacity = shape.single.elements().max(tile) + 1;
        let plan =
            Plan { indirect: !pushed, segment_capacity: capacity, ..Plan::new(request, algorithm, shape, capacity) };
        log::info!(
            "{}: {request}: tuning {} ({}), {}",
            profile.name,
            tuning.name,
            tuning.evidence,
            describe(request, plan.algorithm, &tuning, &shape)
        );
        let kernels = plan.kernels(&[Count::Host(1), Count::Host(capacity), Count::Device]);
        let specs: Vec<_> = kernels.into_iter().map(|kernel| specialize(kernel, &shape, request)).collect();
        let with_visitor = |(visitor, set_layout): (&Visitor, vk::DescriptorSetLayout)| -> Result<_, Error> {
            let modules: Vec<_> = specs.iter().map(|spec| spec.module).collect();
            let words = visitor.words(&modules, request)?;
            let needs_set = words.iter().any(|words| spirv::has_set(words, VISITOR_SET));
            if needs_set && set_layout == vk::DescriptorSetLayout::null() {
                let reason = "its code has resources in set 1, but the layout of that set is null".into();
                return Err(Error::Visitor { name: visitor.name().into(), reason });
            }
            Ok(VisitorDesc { words, set_layout, push_bytes: visitor.push_bytes() })
        };
        let shared = options.pipelines.clone().filter(|_| visitor.is_none()).unwrap_or_default();
        let desc = PipelineDesc {
            kernels: &specs,
            required_subgroup_size: requirements.required_subgroup_size,
            addressed: shape.addressed,
            segmented: segments.is_some(),
            pushed,
            cache: options.pipeline_cache,
            shared: &shared,
            visitor: visitor.map(with_visitor).transpose()?,
        };
        // SAFETY: device and cache are as `Pipelines::new` asks, by this function's contract.
        let pipelines = unsafe { Pipelines::new(device, &desc) }.map_err(|error| match (error, visitor) {
            (Error::Module { module, reason }, Some((visitor, _))) => {
                Error::Visitor { name: visitor.name().into(), reason: format!("kernel {module}: {reason}") }
            }
            (error, _) => error,
        })?;
        let inner = SorterInner {
            pipelines,
            shared,
            request: *request,
            algorithm,
            most: find_most(&profile, request, algorithm, shape),
            profile,
            shape,
            debug_utils: options.debug_utils.clone(),
            faults,
            warning,
            indirect: !pushed,
            visitor: visitor.map(|(visitor, layout)| (visitor.push_bytes(), layout != vk::DescriptorSetLayout::null())),
        };
        Ok(Sorter { inner: Arc::new(inner) })
    }

    /// Bytes of scratch for a sort of up to `capacity` elements. The buffer needs the usage flags
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
    /// buffers that a visitor replaces. If it computes the keys, their size is 0 bytes.
    pub fn buffers(&self, capacity: u32) -> BufferSizes {
        self.inner.buffers(capacity, capacity.into())
    }

    /// Usage flags that buffers of keys and values need: `STORAGE_BUFFER`, and with [`Access::Addresses`] also
    /// `SHADER_DEVICE_ADDRESS`.
    pub fn element_usage(&self) -> vk::BufferUsageFlags {
        self.inner.element_usage()
    }

    /// The largest number of elements that this sorter can sort on its device.
    pub fn max_count(&self) -> u32 {
        self.inner.most.0
    }

    /// Elements of a tile, which one workgroup takes in a pass, in a sort of up to `capacity` elements.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    #[doc(hidden)]
    pub fn tile_size(&self, capacity: u32) -> Result<u32, Error> {
        Ok(self.inner.plan(capacity)?.tile)
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        &self.inner.request
    }

    /// The algorithm that sorts `count` elements here.
    pub fn algorithm(&self, count: u32) -> Algorithm {
        self.inner.unchecked_plan(count).algorithm_for(count)
    }

    /// How the kernels access keys and values; never [`Access::Auto`].
    pub fn access(&self) -> Access {
        if self.inner.shape.addressed { Access::Addresses } else { Access::Descriptors }
    }

    /// The launch configuration of the kernels: workgroup, items, subgroup.
    #[doc(hidden)]
    pub fn shape(&self) -> &Shape {
        &self.inner.shape
    }
}

/// What not every sorter has.
#[derive(Clone, Copy, Default)]
pub(super) struct Extras<'a> {
    /// Whether descriptors are pushed, instead of bound.
    pub pushed: bool,
    /// A visitor with the layout of its set.
    pub visitor: Option<(&'a Visitor, vk::DescriptorSetLayout)>,
    /// The request of a sort of segments.
    pub segments: Option<&'a SegmentedRequest>,
    /// What the keys of records are composed of.
    pub fields: Option<Fields>,
}

/// The descriptor set of a visitor's resources.
const VISITOR_SET: u32 = 1;

/// A sorter in one line: its kernels, and the reasons for them. `algorithm` is the one that sorts.
fn describe(request: &SortRequest, algorithm: Algorithm, tuning: &Tuning, shape: &Shape) -> String {
    let why = match (request.algorithm, tuning.look_back) {
        (Some(_), _) => "as asked",
        (None, true) => "look-back is known to work here",
        (None, false) => "look-back is not known to work here",
    };
    let reached = if shape.addressed { ", elements by address" } else { "" };
    let subgroup = if shape.ranking.subgroup.emulated { "emulated subgroups" } else { "subgroups" };
    format!(
        "{algorithm} ({why}), {} invocations x {} items, {subgroup} of {}, ranking by {:?}{reached}",
        shape.tile.invocations, shape.tile.items, shape.ranking.subgroup.size, shape.ranking.method
    )
}
