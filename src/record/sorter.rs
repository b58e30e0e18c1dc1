//! [`Sorter`]: the pipelines of one kind of sort on one device.

use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::inner::SorterInner;
use super::limits::{check_device, choose_addresses, find_most};
use super::memory::SCRATCH_USAGE;
use super::options::{Access, SorterOptions};
use super::pipelines::{PipelineDesc, Pipelines, VisitorDesc};
use super::requirements::Requirements;
use super::slow::{is_first, slow_because};
use crate::error::Error;
use crate::plan::Plan;
use crate::request::{Algorithm, BufferSizes, Capacity, SortRequest};
use crate::shape::{Shape, ShapeDesc};
use crate::specialize::specialize;
use crate::spirv;
use crate::tuning::Tuning;
use crate::visitor::{Visitor, Visits};

/// The pipelines of one kind of sort, for every number of elements and segments.
///
/// A sorter is built once per request and device; [`bind`](Sorter::bind) binds it to buffers, and
/// [`BoundSort::record`](crate::BoundSort::record) puts the sort into a command buffer.
///
/// ```
/// use vksort::ash::vk::{BufferUsageFlags as Usage, CommandBuffer};
/// use vksort::{BufferRange, Capacity, Count, Error, KeyType, Order, Requirements};
/// use vksort::{Segments, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
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
/// let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
/// let sorter = Sorter::new(device, requirements, &request, &SorterOptions::default())?;
///
/// let capacity = 10_000; // elements
/// let depths = allocate(4 * 10_000, Usage::STORAGE_BUFFER);
/// let indices = allocate(4 * 10_000, Usage::STORAGE_BUFFER);
/// let scratch = allocate(sorter.scratch_size(capacity)?.max(4), sorter.scratch_usage());
/// let sort = sorter.bind(&SortBuffers::new(capacity).keys(depths).values(indices).scratch(scratch))?;
///
/// // Every frame, with as many elements as there are then.
/// sort.record(commands, 9_000)?;
///
/// // The splats of each screen tile; another pass writes the offsets, and how many tiles there are.
/// let sorter = Sorter::new(device, requirements, &request.segments(Segments::Offsets), &SorterOptions::default())?;
/// let capacity = Capacity::new(1_000_000).segments(3_600); // splats and tiles
/// let sizes = sorter.buffer_sizes(capacity);
/// let range = |size: Option<u64>| size.map(|size| allocate(size, Usage::STORAGE_BUFFER));
/// let buffers = SortBuffers::new(capacity)
///     .keys(range(sizes.keys))
///     .values(range(sizes.values))
///     .segments(range(sizes.segments))
///     .count(allocate(4, Usage::STORAGE_BUFFER))
///     .scratch(allocate(sorter.scratch_size(capacity)?, sorter.scratch_usage()));
/// let lists = sorter.bind(&buffers)?;
/// lists.record(commands, Count::Device)?;
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
    /// Builds the pipelines for a request.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] for what [`SortRequest::check`] refuses, a tuning or an option out of range, a
    ///   [`top`](SortRequest::top) of more than [`SegmentLimits::max_top`](crate::SegmentLimits::max_top) elements, and a visitor of
    ///   records or segments; [`Error::MissingFeature`] for keys that this build lacks.
    /// * [`Error::UnsuitableDevice`] when the device does not support the request, or a visitor's push constants are more than it has.
    /// * [`Error::Visitor`] for a visitor that does not compile, was compiled for another request, or has resources while the layout of
    ///   its set is null.
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
    ///
    /// With a visitor:
    ///
    /// * The layout of its set is null or belongs to `device`, and has the bindings that the visitor's code declares, for compute.
    /// * `device` was created with the features that the visitor's code uses.
    /// * The bytes of a visitor from bytes were made by `VisitorSource::compile`.
    /// * The visitor's code meets the duties in `docs/VISITORS.md`: it gives the same bits for an index throughout a sort, reads
    ///   and writes within its buffers, ends, and has no barriers, shared memory or subgroup operations.
    pub unsafe fn new(
        device: &ash::Device,
        requirements: &Requirements,
        request: &SortRequest,
        options: &SorterOptions,
    ) -> Result<Sorter, Error> {
        // SAFETY: the same contract.
        unsafe { Sorter::build(device, requirements, request, options, false) }
    }

    /// A sorter whose descriptors are bound, or pushed.
    ///
    /// # Safety
    ///
    /// As for [`new`](Self::new); with `pushed`, the device has pushed descriptors enabled.
    pub(super) unsafe fn build(
        device: &ash::Device,
        requirements: &Requirements,
        asked: &SortRequest,
        options: &SorterOptions,
        pushed: bool,
    ) -> Result<Sorter, Error> {
        let (sort, fields) = asked.resolve()?;
        let request = &sort;
        let visitor = options.visitor.as_ref().map(|(visitor, set_layout)| (visitor, *set_layout));
        let visits = visitor.map_or(Visits::default(), |(visitor, _)| visitor.visits());
        if visitor.is_some() {
            visits.check(asked)?;
        }
        let faults = options.faults;
        let mut profile = requirements.profile.clone();
        profile.small_storage &= !faults.no_small_storage;
        options.tuning.as_ref().map_or(Ok(()), Tuning::check)?;
        let tuning = options.tuning.clone().unwrap_or_else(|| Tuning::for_device(&profile));
        let algorithm = request.algorithm.unwrap_or_else(|| tuning.algorithm());
        let mut desc = ShapeDesc {
            subgroup: options.subgroup,
            specialization: options.specialization,
            visits,
            fields,
            capacity: options.capacity,
            withhold: faults.withhold,
            ring_bits: faults.ring_bits,
            ..ShapeDesc::new(&profile, &tuning, request, algorithm)
        };
        desc.quirks.decide_apart |= faults.decide_apart;
        desc.quirks.keep_loops &= !faults.unroll;
        desc.addressed = choose_addresses(&desc, options)?;
        let shape = Shape::fit(&desc)?;
        check_device(&profile, &shape, visitor.map(|(visitor, _)| visitor.push_bytes()))?;
        let warning =
            slow_because(requirements, options, &tuning, &shape).filter(|text| is_first(device.handle(), text));
        if let Some(warning) = &warning {
            log::warn!("{warning}");
        }
        let capacity = shape.elements_for_all();
        let plan =
            Plan { indirect: !pushed, segment_capacity: capacity, ..Plan::new(request, algorithm, shape, capacity) };
        log::info!(
            "{}: {request}: tuning {} ({}), {}",
            profile.name,
            tuning.name,
            tuning.evidence,
            describe(request, plan.algorithm, &tuning, &shape)
        );
        let kernels = plan.kernels(&plan.idle_counts());
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
            segmented: request.segments.is_some(),
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
            request: *asked,
            sort,
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

    /// Bytes of scratch for a sort with this capacity. The buffer needs the usage flags of [`scratch_usage`](Self::scratch_usage).
    ///
    /// The size is 0 if the sort needs no scratch, and Vulkan has no buffers of 0 bytes. Leave the range out then, or allocate
    /// 4 bytes. A sort bound with this capacity can be recorded with every smaller count.
    ///
    /// A sort of segments takes scratch for the composed keys of records, and if segments may be longer than a
    /// [`block`](crate::SegmentLimits::block), by the request and by the number of elements,
    ///
    /// * to sort, a second copy of keys and values, a third one of keys that are discarded out of place, as composed ones are, and lists:
    ///   with blocks of `b` elements and `n` in all, 528 bytes and 48 for each digit of 8 bits, and for `p = n / (b + 1)` longer segments
    ///   1,084 `p` + 8 `w` + 1,024 `r` bytes, where `w = (n + 255 p) / (3 b / 4) + p` and `r = 2 n / (4 b + 1)`; that is 0.4 bytes for
    ///   each element if `b` is 4,096;
    /// * to sort rows by passes of their own, as [`Tuning`] may ask, for each row what the counters and the table of a plain sort take,
    ///   and a second copy of keys and values, as for a plain sort;
    /// * for the [`top`](SortRequest::top) of rows, or of the whole array, with room for `c` elements of a row to be sorted, 784
    ///   bytes and 8,260 + 4 `c` bytes for each row. `c` is twice the top, at least a quarter of a block, and at most a block, which it
    ///   is for the whole array;
    /// * for that of offsets or ranges, 784 bytes and 8,276 + 4 `c` bytes for each tile of the longer segments. A tile has `t` elements, at
    ///   least 2 `b` + 2, and more if there are many. With a segment capacity of `s` there are at most `n / (b + 1)` tiles, and at most
    ///   `s + n / t`: up to 3 to 6 bytes for each element if `b` is 4,096, and much less for few segments. The sort touches only the
    ///   bytes of segments that are there.
    ///
    /// Each part has whole 256 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`], and [`Error::Unsupported`] for too many segments.
    pub fn scratch_size(&self, capacity: impl Into<Capacity>) -> Result<u64, Error> {
        Ok(self.inner.plan(capacity.into())?.scratch().size)
    }

    /// Usage flags of the scratch buffer: kernels read and write it, a transfer clears it, and it holds the arguments of indirect
    /// dispatches. With [`Access::Addresses`] it needs `SHADER_DEVICE_ADDRESS` as well, and its memory the flag `DEVICE_ADDRESS`.
    pub fn scratch_usage(&self) -> vk::BufferUsageFlags {
        self.inner.element_usage() | SCRATCH_USAGE
    }

    /// The buffers that a sort with this capacity needs, with their sizes: those of [`SortRequest::buffer_sizes`] without the buffers
    /// that a visitor replaces. Scratch is apart, as it may be refused.
    pub fn buffer_sizes(&self, capacity: impl Into<Capacity>) -> BufferSizes {
        self.inner.buffer_sizes(capacity.into())
    }

    /// Usage flags that buffers of keys and values need: `STORAGE_BUFFER`, and with [`Access::Addresses`] also
    /// `SHADER_DEVICE_ADDRESS`.
    pub fn element_usage(&self) -> vk::BufferUsageFlags {
        self.inner.element_usage()
    }

    /// What the offsets of ranges, but that of the count, are multiples of, in bytes.
    #[doc(hidden)]
    pub fn alignment(&self) -> u64 {
        // Addresses are multiples of a key, which may be more than the device asks of offsets.
        self.inner.profile.storage_alignment_bytes.max(self.inner.sort.key.size_bytes()).max(4)
    }

    /// The largest number of elements that this sorter can sort on its device.
    pub fn max_count(&self) -> u32 {
        self.inner.most.0
    }

    /// Elements of a tile, which one workgroup takes in a pass, in a sort with this capacity.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyElements`].
    #[doc(hidden)]
    pub fn tile_size(&self, capacity: u32) -> Result<u32, Error> {
        Ok(self.inner.plan(capacity.into())?.tile)
    }

    /// The request that the sorter was built for.
    pub fn request(&self) -> &SortRequest {
        &self.inner.request
    }

    /// The algorithm that sorts `count` elements here; `None` for segments and first elements, which are sorted by other kernels.
    pub fn algorithm(&self, count: u32) -> Option<Algorithm> {
        self.inner.unchecked_plan(count.into()).algorithm(count)
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
