//! Options of a sorter.

use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::pipelines::PipelineSet;
use crate::shape::{Specialization, SubgroupChoice};
use crate::tuning::Tuning;
use crate::visitor::Visitor;

/// Options of a [`Sorter`](crate::Sorter) in addition to its request. The defaults suit most callers.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct SorterOptions {
    /// Cache for the pipelines; null for none.
    pub pipeline_cache: vk::PipelineCache,
    /// Pipelines to share with other sorters of the device; `None` to share none. With a visitor none are shared.
    pub pipelines: Option<Arc<PipelineSet>>,
    /// Launch configuration and methods, with numbers in range ([`Tuning::check`]); `None` for the built-in row of the device.
    pub tuning: Option<Tuning>,
    /// Which subgroup operations the kernels use.
    pub subgroup: SubgroupChoice,
    /// Whether the host or the driver specializes the kernels.
    pub specialization: Specialization,
    /// How the kernels access keys and values.
    pub access: Access,
    /// The largest number of elements that the sorter will sort, by which tiles are sized and [`Access::Auto`] chooses; `None` if it is
    /// not known. It is not a limit, but more elements may take longer.
    pub capacity: Option<u32>,
    /// The loaded `VK_EXT_debug_utils` functions of the device, for labels of the steps in captures.
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    /// The visitor, and the layout of its resources.
    pub visitor: Option<(Visitor, vk::DescriptorSetLayout)>,
    /// Faults for tests.
    pub(crate) faults: Faults,
}

/// Each setter returns the same options with another value for one thing.
impl SorterOptions {
    /// Cache for the pipelines; null for none.
    pub fn pipeline_cache(self, pipeline_cache: vk::PipelineCache) -> Self {
        SorterOptions { pipeline_cache, ..self }
    }

    /// Pipelines to share with other sorters of the device.
    pub fn pipelines(self, pipelines: impl Into<Option<Arc<PipelineSet>>>) -> Self {
        SorterOptions { pipelines: pipelines.into(), ..self }
    }

    /// Launch configuration and methods, with numbers in range ([`Tuning::check`]).
    pub fn tuning(self, tuning: impl Into<Option<Tuning>>) -> Self {
        SorterOptions { tuning: tuning.into(), ..self }
    }

    /// Which subgroup operations the kernels use.
    pub fn subgroup(self, subgroup: SubgroupChoice) -> Self {
        SorterOptions { subgroup, ..self }
    }

    /// Whether the host or the driver specializes the kernels.
    pub fn specialization(self, specialization: Specialization) -> Self {
        SorterOptions { specialization, ..self }
    }

    /// How the kernels access keys and values.
    pub fn access(self, access: Access) -> Self {
        SorterOptions { access, ..self }
    }

    /// The largest number of elements that the sorter will sort, by which tiles are sized and [`Access::Auto`] chooses.
    pub fn capacity(self, capacity: impl Into<Option<u32>>) -> Self {
        SorterOptions { capacity: capacity.into(), ..self }
    }

    /// The loaded `VK_EXT_debug_utils` functions of the device.
    pub fn debug_utils(self, debug_utils: impl Into<Option<ash::ext::debug_utils::Device>>) -> Self {
        SorterOptions { debug_utils: debug_utils.into(), ..self }
    }

    /// A visitor: code of the caller that computes the keys or values, or receives the result.
    ///
    /// The request is out of place, and has no segments and no records. Buffers that the visitor replaces are not bound;
    /// [`Sorter::buffer_sizes`](crate::Sorter::buffer_sizes) has the others. A visitor in GLSL is compiled when the sorter is built, in
    /// about a second.
    ///
    /// `set_layout` is the layout of the visitor's resources, set 1 in its code, or null if it has none.
    /// [`Sorter::new`](crate::Sorter::new) lists the duties.
    pub fn visitor(self, visitor: impl Into<Visitor>, set_layout: vk::DescriptorSetLayout) -> Self {
        SorterOptions { visitor: Some((visitor.into(), set_layout)), ..self }
    }

    /// Faults for tests.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn faults(self, faults: Faults) -> Self {
        SorterOptions { faults, ..self }
    }
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
            .field("visitor", &self.visitor)
            .finish_non_exhaustive()
    }
}

/// How kernels access keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// By descriptor if the device has enough descriptors and they are large enough for [`SorterOptions::capacity`]
    /// elements, else by address if the device supports it. [`Sorter::access`](crate::Sorter::access) returns the choice.
    #[default]
    Auto,
    /// By descriptor. A range has at most `maxStorageBufferRange` bytes.
    Descriptors,
    /// By device address, with the feature `addresses`. A range may have any length. Its buffer and the scratch buffer need the usage
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
    /// Adds the quirk `decide_apart`.
    pub decide_apart: bool,
    /// Asks the driver to unroll loops, also where it has the quirk `keep_loops`.
    pub unroll: bool,
}
