//! The dispatch of an inspector, which looks at the count and at the words of segments.

use super::Plan;
use crate::abi::{LAYOUT_WHOLE, Own, Push};
use crate::request::Count;

impl Plan {
    /// Workgroups with an invocation for each segment; none if nothing can be sorted. An array is one segment.
    pub fn inspection(&self, count: Count) -> Option<(u32, Push)> {
        let windows = self.shape.windows.as_ref();
        let (row_length, longest) = windows.map_or((0, u32::MAX), |windows| (windows.stride(), windows.longest));
        // Of no elements there may be no words of segments.
        let most = if self.capacity > 0 { self.largest(count) } else { 0 };
        let segments = if windows.is_none_or(|windows| windows.layout() == LAYOUT_WHOLE) { most.min(1) } else { most };
        let push = self.push(count, 0, Own::Inspect { capacity: self.capacity, row_length, longest });
        (segments > 0).then(|| (segments.div_ceil(self.shape.histogram.block.invocations), push))
    }
}
