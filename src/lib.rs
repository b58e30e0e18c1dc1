//! Radix sort for data that already lives in Vulkan buffers.

pub mod abi;
mod error;
mod key;
mod plan;
mod profile;
mod request;
mod shape;
#[cfg(feature = "standalone")]
pub mod standalone;
mod tuning;
mod vk;

pub use error::Error;
pub use key::{Key, KeyType, Order};
pub use plan::{MAX_COUNT, StepName};
pub use profile::DeviceProfile;
pub use request::{Algorithm, SortRequest, ValueType};
pub use shape::{Shape, Subgroup, SubgroupChoice};
pub use tuning::{RankMethod, Tuning};
pub use vk::{
    AccessScope, BoundSort, BufferRange, InstanceRequirements, QueryRange, Requirements, SortBuffers, Sorter,
    SorterOptions, StepTime,
};
#[doc(hidden)]
pub use vk::{Faults, MODULES};
