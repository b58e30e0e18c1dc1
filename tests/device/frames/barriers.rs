//! The caller's barriers around a sort, left out: which of them the validation layer finds. The guide's page about barriers
//! promises what this test sees.

use ash::vk;
use vksort::{AccessScope, Algorithm, Count, Verifier};
use vksort_testing::Failed;

use super::frame::{Bound, Scratch, pairs, record_into, small_blocks, sorter};
use super::vulkan::{Buffer, Vulkan};

const ONE_TIME: vk::CommandBufferUsageFlags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;

/// What is beside the sort, without a barrier in between.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Beside {
    /// A copy writes the keys before it.
    CopyBefore,
    /// A compute shader writes them: another sort.
    ComputeBefore,
    /// A copy reads the result.
    CopyAfter,
    /// A compute shader reads it: a verifier.
    ComputeAfter,
    /// A copy writes the next keys.
    WriteAfter,
}

const BESIDE: [Beside; 5] =
    [Beside::CopyBefore, Beside::ComputeBefore, Beside::CopyAfter, Beside::ComputeAfter, Beside::WriteAfter];

/// How the two reach the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Recorded {
    OneCommandBuffer,
    TwoCommandBuffers,
    TwoSubmissions,
}

struct Frame<'a> {
    vulkan: &'a Vulkan,
    bound: &'a Bound,
    verifier: &'a Verifier,
    host: Buffer,
    count: Count,
}

impl Frame<'_> {
    fn copy(&self, commands: vk::CommandBuffer) {
        let keys = self.host.range(0, 4 * self.bound.sort.capacity().elements as usize);
        self.bound.copy_keys(self.vulkan, commands, keys);
    }

    fn record(&self, beside: Beside, is_first: bool, commands: vk::CommandBuffer) -> Result<(), Failed> {
        let sorts_first = !matches!(beside, Beside::CopyBefore | Beside::ComputeBefore);
        match beside {
            _ if sorts_first == is_first => self.bound.record(commands, self.count)?,
            Beside::CopyBefore | Beside::WriteAfter => self.copy(commands),
            Beside::ComputeBefore => self.bound.record(commands, self.count)?,
            Beside::CopyAfter => self.bound.download(self.vulkan, commands, self.host),
            Beside::ComputeAfter => vulkan!(self.verifier.record_after(commands, self.count))?,
        }
        Ok(())
    }

    /// Runs both without a barrier in between, and returns whether a hazard was reported.
    fn is_reported(&self, beside: Beside, recorded: Recorded) -> Result<bool, Failed> {
        let (vulkan, done) = (self.vulkan, self.vulkan.fence()?);
        let begin = || vulkan.commands(vulkan.sorting, vk::CommandBufferLevel::PRIMARY);
        let (first, second) = (begin()?, begin()?);
        record_into(vulkan, first, ONE_TIME, |commands| {
            self.record(beside, true, commands)?;
            if recorded == Recorded::OneCommandBuffer { self.record(beside, false, commands) } else { Ok(()) }
        })?;
        record_into(vulkan, second, ONE_TIME, |commands| {
            if recorded == Recorded::OneCommandBuffer { Ok(()) } else { self.record(beside, false, commands) }
        })?;
        if recorded == Recorded::TwoSubmissions {
            vulkan.submit(vulkan.sorting, &[first], vk::Fence::null())?;
            vulkan.submit(vulkan.sorting, &[second], done)?;
        } else {
            vulkan.submit(vulkan.sorting, &[first, second], done)?;
        }
        vulkan.wait(done)?;
        let messages = vulkan.take_messages();
        // For the next case, the elements are as if nothing had used them.
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let all = AccessScope::new(vk::PipelineStageFlags::ALL_COMMANDS, all);
        vulkan.at_once(|commands| vulkan.barrier(commands, all, all))?;
        match messages.iter().find(|message| !message.contains(super::HAZARD)) {
            Some(other) => Err(format!("{beside:?}, {recorded:?}: {other}").into()),
            None => Ok(!messages.is_empty()),
        }
    }
}

/// The layer finds each barrier that is left out, but for those before a sort of many elements: there the sort's first barrier
/// orders what compute shaders and copies have written. It must not stop at the tenth message of a kind.
pub fn left_out(vulkan: &Vulkan) -> Result<String, Failed> {
    let mut found = 0;
    for (capacity, algorithm) in
        [(100, Algorithm::SingleWorkgroup), (10_000, Algorithm::OneSweep), (10_000, Algorithm::ReduceThenScan)]
    {
        let request = pairs().algorithm(algorithm);
        let sorter = sorter(vulkan, &request, &small_blocks(vulkan))?;
        let capacity = sorter.max_count().min(capacity);
        let scratch = Scratch::filled(vulkan, &sorter, capacity)?;
        let bound = Bound::new(vulkan, &sorter, &scratch, capacity)?;
        let bytes = bound.sort.report_size() as usize;
        let report = vulkan.local_buffer(bytes, vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let verifier = vulkan!(bound.sort.verifier(report.range(0, bytes)))?;
        let host = vulkan.host_buffer(2 * bound.layout.bytes)?;
        let _idle = vulkan.idle_on_drop();
        vulkan.at_once(|commands| bound.upload(vulkan, commands, host))?;
        for count in [Count::Host(capacity), Count::Device] {
            let frame = Frame { vulkan, bound: &bound, verifier: &verifier, host, count };
            for beside in BESIDE {
                for recorded in [Recorded::OneCommandBuffer, Recorded::TwoCommandBuffers, Recorded::TwoSubmissions] {
                    let is_before = matches!(beside, Beside::CopyBefore | Beside::ComputeBefore);
                    let expected = !is_before || algorithm == Algorithm::SingleWorkgroup;
                    if frame.is_reported(beside, recorded)? != expected {
                        let what = if expected { "no hazard" } else { "a hazard" };
                        return Err(
                            format!("{algorithm}, {count:?}, {beside:?}, {recorded:?}: {what} was reported").into()
                        );
                    }
                    found += u32::from(expected);
                }
            }
        }
    }
    Ok(format!("{found} barriers found missing"))
}
