//! The Vulkan layer: the only place in the crate with unsafe code. It knows devices, pipelines, buffers and command
//! buffers; what a sort consists of comes from [`crate::plan`].
#![allow(unsafe_code)]

mod bind;
#[cfg(feature = "standalone")]
pub(crate) mod owned;
mod pipelines;
mod places;
mod record;
mod requirements;
mod sorter;

pub use bind::{BoundSort, BufferRange, SortBuffers};
pub use record::{AccessScope, QueryRange, StepTime};
pub use requirements::{DeviceFeatures, InstanceRequirements, Requirements};
pub use sorter::{Access, Faults, Sorter, SorterOptions};
