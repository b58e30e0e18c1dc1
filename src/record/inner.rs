//! What a sorter shares with the sorts that are bound to it.

use std::sync::Arc;

use ash::vk;

use super::options::Faults;
use super::pipelines::{PipelineSet, Pipelines};
use crate::plan::Plan;
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, BufferSizes, SortRequest};
use crate::shape::Shape;
use crate::visitor::Visits;

/// The part of a sorter that its bound sorts share.
pub(crate) struct SorterInner {
    pub pipelines: Pipelines,
    /// Pipelines that other sorters of the device share with this one.
    pub shared: Arc<PipelineSet>,
    pub request: SortRequest,
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
    /// The buffers of elements that the sort needs, of which out of place so many are the result.
    pub fn buffers(&self, capacity: u32, results: u64) -> BufferSizes {
        if let Some(fields) = self.shape.fields {
            return fields.buffers(&self.request, capacity);
        }
        let (sizes, Visits { keys, values, output }) = (self.request.buffers_of(capacity, results), self.shape.visits);
        BufferSizes {
            keys: if keys { 0 } else { sizes.keys },
            values: sizes.values.filter(|_| !values),
            keys_out: sizes.keys_out.filter(|_| !output),
            values_out: sizes.values_out.filter(|_| !output),
        }
    }

    /// The usage flags that buffers of keys and values need.
    pub fn element_usage(&self) -> vk::BufferUsageFlags {
        let addresses = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let reached = if self.shape.addressed { addresses } else { vk::BufferUsageFlags::empty() };
        vk::BufferUsageFlags::STORAGE_BUFFER | reached
    }

    /// The plan for a capacity, without a check of limits.
    pub fn unchecked_plan(&self, capacity: u32) -> Plan {
        Plan { indirect: self.indirect, ..Plan::new(&self.request, self.algorithm, self.shape, capacity) }
    }
}
