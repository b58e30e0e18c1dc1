//! What a sorter shares with the sorts that are bound to it.

use std::sync::Arc;

use ash::vk;

use super::options::Faults;
use super::pipelines::{PipelineSet, Pipelines};
use crate::plan::Plan;
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, BufferSizes, Capacity, SortRequest};
use crate::shape::Shape;
use crate::visitor::Visits;

/// The part of a sorter that its bound sorts share.
pub(crate) struct SorterInner {
    pub pipelines: Pipelines,
    /// Pipelines that other sorters of the device share with this one.
    pub shared: Arc<PipelineSet>,
    /// What the caller asked for.
    pub request: SortRequest,
    /// The sort of keys that it takes.
    pub sort: SortRequest,
    pub profile: DeviceProfile,
    pub algorithm: Algorithm,
    pub shape: Shape,
    /// The largest number of elements, and the limit that it follows from.
    pub most: (u32, &'static str),
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    pub faults: Faults,
    /// The warning that the sorter has logged.
    pub warning: Option<String>,
    /// Whether sorts with a count on the device dispatch indirectly, so that scratch needs the usage for it.
    pub indirect: bool,
    /// Bytes of the visitor's push constants, and whether it has a descriptor set.
    pub visitor: Option<(u32, bool)>,
}

impl SorterInner {
    /// The buffers that the sort needs: those of the request without the buffers that a visitor replaces.
    pub fn buffer_sizes(&self, capacity: Capacity) -> BufferSizes {
        let (sizes, Visits { keys, values, output }) =
            (self.sort.resolved_sizes(self.shape.fields, capacity), self.shape.visits);
        BufferSizes {
            keys: sizes.keys.filter(|_| !keys),
            values: sizes.values.filter(|_| !values),
            keys_out: sizes.keys_out.filter(|_| !output),
            values_out: sizes.values_out.filter(|_| !output),
            segments: sizes.segments,
        }
    }

    /// The usage flags that buffers of keys and values need.
    pub fn element_usage(&self) -> vk::BufferUsageFlags {
        let addresses = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let reached = if self.shape.addressed { addresses } else { vk::BufferUsageFlags::empty() };
        vk::BufferUsageFlags::STORAGE_BUFFER | reached
    }

    /// The plan for a capacity, without a check of limits.
    pub fn unchecked_plan(&self, capacity: Capacity) -> Plan {
        let Capacity { elements, segments } = capacity;
        // One array is one segment.
        let whole = self.sort.segments.is_some_and(|of| of.counts_elements());
        let segment_capacity = if whole { 1 } else { segments };
        let plan = Plan::new(&self.sort, self.algorithm, self.shape, elements);
        Plan { indirect: self.indirect, segment_capacity, ..plan }
    }
}
