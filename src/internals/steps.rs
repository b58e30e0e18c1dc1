//! The steps of a sort as data, for tools that run its kernels without a device.

use crate::abi::{Push, spec};
use crate::error::Error;
use crate::kernels::Module;
use crate::plan::{Groups, Plan, Step, StepName, Work};
use crate::profile::DeviceProfile;
use crate::request::{Count, SortRequest};
use crate::shape::{Shape, ShapeDesc};
use crate::specialize::specialize;
use crate::tuning::Tuning;

/// A dispatch, with the specification of its pipeline.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The kernel, and its pass if it has one.
    pub name: StepName,
    /// The SPIR-V module, with the macros of its GLSL.
    pub module: Module,
    /// Value of each specialization constant.
    pub constants: [u32; spec::LEN],
    /// Workgroups.
    pub workgroups: u32,
    /// Push constants.
    pub push: Push,
}

/// One step.
#[derive(Clone, Debug)]
pub enum HostStep {
    /// Zeroes bytes of counters and table, counted from the start of the counters.
    Clear {
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// Runs a kernel.
    Dispatch(Box<Dispatch>),
}

/// A sort with a count from the host.
#[derive(Clone, Debug)]
pub struct HostSort {
    /// The steps in order.
    pub steps: Vec<HostStep>,
    /// Elements of a tile.
    pub tile: u32,
    /// Whether the target is the source.
    pub in_place: bool,
    /// Bytes of the counters.
    pub counter_bytes: u64,
    /// Bytes from the start of the counters to that of the table.
    pub table_offset: u64,
    /// Bytes of the table.
    pub table_bytes: u64,
}

/// The sort of `count` elements on a device, by a sorter for up to `capacity` elements. Tiles whose index is a multiple of
/// `withhold` never publish their counts; 0 for none.
///
/// # Errors
///
/// As for a sorter for the request.
pub fn of(
    profile: &DeviceProfile,
    tuning: &Tuning,
    request: &SortRequest,
    capacity: u32,
    count: u32,
    withhold: u32,
) -> Result<HostSort, Error> {
    request.check()?;
    let algorithm = request.algorithm.unwrap_or(tuning.algorithm());
    let desc = ShapeDesc { withhold, ..ShapeDesc::new(profile, tuning, request, algorithm) };
    let shape = Shape::fit(&desc)?;
    let plan = Plan::new(request, algorithm, shape, capacity);
    let mut steps = Vec::new();
    plan.each_step(Count::Host(count), &mut |Step { name, work }| {
        steps.push(match work {
            Work::Clear { offset, bytes } => HostStep::Clear { offset, bytes },
            Work::Dispatch { kernel, groups, push, .. } => {
                let Groups::Direct(workgroups) = groups else { unreachable!("the host knows the count") };
                let pipeline = specialize(kernel, &shape, request);
                let (module, constants) = (pipeline.module, pipeline.constants);
                HostStep::Dispatch(Box::new(Dispatch { name, module, constants, workgroups, push }))
            }
        });
    });
    let scratch = plan.scratch();
    Ok(HostSort {
        steps,
        tile: plan.tile_size(),
        in_place: request.in_place(),
        counter_bytes: scratch.counters.size,
        table_offset: scratch.table.offset - scratch.counters.offset,
        table_bytes: scratch.table.size,
    })
}
