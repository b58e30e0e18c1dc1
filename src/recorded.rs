//! What a tuning makes of a sort, so that tunings can be compared before anything is compiled.

use crate::plan::{Plan, Step};
use crate::profile::DeviceProfile;
use crate::request::{Count, SortRequest};
use crate::shape::{Shape, ShapeDesc};
use crate::specialize::{KernelSpec, specialize};
use crate::tuning::Tuning;

/// The steps of a sort, and its kernels with their constants.
///
/// Two tunings with equal records run the same commands, so one of them need not be measured. [`Tuning::recorded`] makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSort {
    steps: Vec<Step>,
    kernels: Vec<KernelSpec>,
}

impl Tuning {
    /// What a sort of `count` elements of one array records on a device; `None` if the device does not support the sort with this
    /// tuning, and for records, segments and first elements, whose commands it does not know.
    ///
    /// ```
    /// use vksort::{DeviceProfile, KeyType, SortRequest, Tuning};
    ///
    /// let device = DeviceProfile::default();
    /// let request = SortRequest::new(KeyType::U32);
    /// let tuning = Tuning::for_device(&device);
    /// let mut renamed = tuning.clone();
    /// renamed.name = "mine".into();
    /// assert!(renamed.recorded(&device, &request, 1 << 20) == tuning.recorded(&device, &request, 1 << 20));
    /// ```
    pub fn recorded(&self, device: &DeviceProfile, request: &SortRequest, count: u32) -> Option<RecordedSort> {
        if request.records.is_some() || request.segments.is_some() {
            return None;
        }
        let algorithm = request.algorithm.unwrap_or_else(|| self.algorithm());
        let shape = Shape::fit(&ShapeDesc::new(device, self, request, algorithm)).ok()?;
        let plan = Plan::new(request, algorithm, shape, count);
        let mut steps = Vec::new();
        plan.each_step(Count::Host(count), &mut |step| steps.push(step));
        let kernels = plan.kernels(&[Count::Host(count)]);
        let kernels = kernels.into_iter().map(|kernel| specialize(kernel, &shape, request)).collect();
        Some(RecordedSort { steps, kernels })
    }
}
