//! The Vulkan layer: the only place in the crate with unsafe code. It knows devices, pipelines, buffers and command
//! buffers; what a sort consists of comes from [`crate::plan`].
#![allow(unsafe_code)]

mod bind;
mod limits;
#[cfg(feature = "standalone")]
pub(crate) mod owned;
mod pipelines;
mod places;
mod record;
mod requirements;
mod sorter;

// Handles and functions of a device are for every thread; a command buffer's own rules are the caller's duty.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Requirements>();
    shared::<Sorter>();
    shared::<BoundSort>();
    shared::<PipelineSet>();
};

pub use bind::{BoundSort, BufferRange, SortBuffers};
pub use pipelines::PipelineSet;
pub use record::{AccessScope, QueryRange, StepTime, VisitorResources};
pub use requirements::{DeviceFeatures, InstanceRequirements, Requirements};
#[cfg(feature = "testing")]
pub use sorter::Faults;
pub use sorter::{Access, Sorter, SorterOptions};
