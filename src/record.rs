//! The recording API: with the device of `standalone`, the only place in the crate with unsafe code. It knows devices, pipelines,
//! buffers and command buffers; [`crate::plan`] gives the steps of a sort.
#![allow(unsafe_code)]

mod beside;
mod bind;
mod buffers;
mod chain;
mod commands;
mod inner;
mod inspect;
mod limits;
mod memory;
mod names;
mod options;
mod pipelines;
mod pushed;
mod raw;
mod remedies;
mod requirements;
mod scopes;
mod segments;
mod slow;
mod sorter;
mod verify;

// Every thread may use a device's handles and functions. The rules for command buffers are the caller's duty.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Requirements>();
    shared::<Sorter>();
    shared::<BoundSort>();
    shared::<PipelineSet>();
    shared::<Verifier>();
    shared::<Inspector>();
};

pub use bind::BoundSort;
pub use buffers::{BufferRange, SortBuffers};
pub use chain::{Place, VersionFeatures, feature_in};
pub use commands::{QueryRange, StepTime, VisitorResources};
pub use inspect::{Inspection, Inspector};
#[cfg(feature = "__testing")]
pub use options::Faults;
pub use options::{Access, SorterOptions};
pub use pipelines::PipelineSet;
pub use pushed::{PushedSort, PushedSorter};
pub use raw::{DEVICE_FUNCTIONS, INSTANCE_FUNCTIONS, device_from_raw, instance_from_raw, load_instance};
pub use remedies::Remedies;
pub use requirements::{DeviceFeatures, InstanceRequirements, Requirements};
#[cfg(feature = "standalone")]
pub(crate) use requirements::{lists, text};
pub use scopes::AccessScope;
pub use segments::SegmentLimits;
pub use sorter::Sorter;
pub use verify::Verifier;
