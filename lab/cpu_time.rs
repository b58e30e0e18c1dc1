//! CPU time of recorded sorts, for measurements on software drivers of machines that are shared.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use anyhow::Result;
use ash::vk::CommandBuffer;
use cpu_time::ProcessTime;
use vksort::BufferRange;
use vksort::standalone::{DeviceBuffer, Gpu};

/// The first bytes of a buffer.
pub fn range(buffer: &DeviceBuffer, bytes: u64) -> BufferRange {
    BufferRange { buffer: buffer.raw(), offset: 0, size: bytes, usage: None }
}

/// The median of five runs behind one that compiles, in milliseconds of CPU time. What is recorded may only use buffers that live until
/// it has completed.
pub fn median(gpu: &Gpu, mut record: impl FnMut(CommandBuffer) -> Result<(), vksort::Error>) -> Result<f64> {
    let mut times = Vec::new();
    for run in 0..6 {
        let before = ProcessTime::now();
        // SAFETY: what is recorded uses buffers that live until it has completed.
        unsafe { gpu.device().execute("a run", &mut record)? };
        if run > 0 {
            times.push(1e3 * before.elapsed().as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[2])
}
