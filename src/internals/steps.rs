//! The steps of a sort as data, for tools that run its kernels without a device.

pub use crate::plan::{Groups, Memory, Places, ScratchRange};

use ash::vk::AccessFlags;

use crate::abi::{Push, spec};
use crate::error::Error;
use crate::kernels::{Kernel, Module};
use crate::plan::{Hazards, MAX_COUNT, Plan, Step, StepName, Work};
use crate::records::Fields;
use crate::request::{Count, SortRequest};
use crate::shape::{Shape, ShapeDesc};
use crate::specialize::specialize;

/// A dispatch, with the specification of its pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// The kernel, and its pass if it has one.
    pub name: StepName,
    /// The SPIR-V module, with the macros of its GLSL.
    pub module: Module,
    /// Value of each specialization constant.
    pub constants: [u32; spec::LEN],
    /// Lanes of its subgroups, if it uses them.
    pub subgroup_size: Option<u32>,
    /// Workgroups.
    pub groups: Groups,
    /// The memory that it moves elements between.
    pub places: Places,
    /// Push constants, but for `count_word` and the addresses.
    pub push: Push,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub enum HostStep {
    /// Zeroes bytes of counters and table, from the start of the counters on.
    Clear {
        /// The number of bytes.
        bytes: u64,
    },
    /// Runs a kernel.
    Dispatch(Box<Dispatch>),
}

/// The steps and the memory of a sort.
#[derive(Clone, Debug)]
pub struct HostSort {
    /// The shape of the kernels.
    pub shape: Shape,
    /// The steps in order.
    pub steps: Vec<HostStep>,
    /// The barrier before each step, if it has one: the accesses that it waits for, and those that wait.
    pub barriers: Vec<Option<(AccessFlags, AccessFlags)>>,
    /// Elements of a tile.
    pub tile: u32,
    /// Scratch in bytes.
    pub scratch_bytes: u64,
    /// The counters.
    pub counters: ScratchRange,
    /// The table.
    pub table: ScratchRange,
}

/// The sort of `count` elements by a sorter for up to `capacity` elements. Without an algorithm in the request, few elements
/// take a single workgroup.
///
/// # Errors
///
/// As for a sorter for the request.
pub fn of(desc: &ShapeDesc<'_>, capacity: u32, count: Count) -> Result<HostSort, Error> {
    let request = desc.request;
    request.check()?;
    let shape = Shape::fit(desc)?;
    let (allowed, limit) = Plan::new(request, desc.algorithm, shape, MAX_COUNT).max_count();
    if capacity > allowed {
        let (given, allowed) = (capacity.into(), allowed.into());
        return Err(Error::TooManyElements { given, allowed, limit: limit.into() });
    }
    Ok(host_sort(&Plan::new(request, desc.algorithm, shape, capacity), Some(count)))
}

/// The sort of so many segments by a sorter for up to `capacity` elements and `segment_capacity` segments; without a count what warms
/// its kernels up, also of a sort without segments.
///
/// # Errors
///
/// As for a sorter for the request.
pub fn of_segments(
    desc: &ShapeDesc<'_>,
    capacity: u32,
    segment_capacity: u32,
    count: impl Into<Option<Count>>,
) -> Result<HostSort, Error> {
    Ok(host_sort(&segmented_plan(desc, capacity, segment_capacity)?, count.into()))
}

/// The dispatch of an inspector beside that sort, if it has one.
///
/// # Errors
///
/// As for a sorter for the request.
pub fn inspection(
    desc: &ShapeDesc<'_>,
    capacity: u32,
    segment_capacity: u32,
    count: Count,
) -> Result<Option<HostStep>, Error> {
    let plan = segmented_plan(desc, capacity, segment_capacity)?;
    let step = |(groups, push)| Step::dispatch(Kernel::Inspect, None, Groups::Direct(groups), push);
    Ok(plan.inspection(count).map(|found| host_step(&plan, step(found))))
}

/// The sort of keys that sorts what a request asks for, and what its keys are composed of if they are.
///
/// # Errors
///
/// As for [`SortRequest::check`].
pub fn resolve(request: &SortRequest) -> Result<(SortRequest, Option<Fields>), Error> {
    request.resolve()
}

fn segmented_plan(desc: &ShapeDesc<'_>, capacity: u32, segment_capacity: u32) -> Result<Plan, Error> {
    desc.request.check()?;
    let plan = Plan::new(desc.request, desc.algorithm, Shape::fit(desc)?, capacity);
    Ok(Plan { segment_capacity, ..plan })
}

fn host_sort(plan: &Plan, count: Option<Count>) -> HostSort {
    let shape = plan.shape;
    let (mut steps, mut barriers) = (Vec::new(), Vec::new());
    let mut hazards = Hazards::new();
    let mut emit = |step| {
        barriers.push(hazards.before(plan, &step).map(|barrier| (barrier.from, barrier.to)));
        steps.push(host_step(plan, step));
    };
    match count {
        Some(count) => plan.each_step(count, &mut emit),
        None => plan.idle_counts().into_iter().for_each(|count| plan.each_step(count, &mut |step| emit(step.idle()))),
    }
    let scratch = plan.scratch();
    HostSort {
        shape,
        steps,
        barriers,
        tile: plan.tile,
        scratch_bytes: scratch.size,
        counters: scratch.counters,
        table: scratch.table,
    }
}

fn host_step(plan: &Plan, step: Step) -> HostStep {
    let Step { name, ends, work } = step;
    match work {
        Work::Clear { bytes } => HostStep::Clear { bytes },
        Work::Dispatch { kernel, groups, push } => {
            let pipeline = specialize(kernel, &plan.shape, &plan.request);
            HostStep::Dispatch(Box::new(Dispatch {
                name,
                module: pipeline.module,
                constants: pipeline.constants,
                subgroup_size: pipeline.subgroup_size,
                groups,
                places: plan.places(ends),
                push,
            }))
        }
    }
}
