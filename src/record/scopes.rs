//! [`AccessScope`]: one side of a barrier.

use ash::vk;

/// Pipeline stages with the accesses in them, for the caller's barriers around a sort.
///
/// The constants are common scopes of callers. [`BoundSort::INPUT_SCOPE`](crate::BoundSort::INPUT_SCOPE) and [`BoundSort::OUTPUT_SCOPE`](crate::BoundSort::OUTPUT_SCOPE) are the scopes of
/// the sort itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessScope {
    /// Stages.
    pub stages: vk::PipelineStageFlags,
    /// Accesses.
    pub access: vk::AccessFlags,
}

impl AccessScope {
    /// Reads of storage buffers by compute shaders.
    pub const COMPUTE_READ: AccessScope =
        AccessScope::new(vk::PipelineStageFlags::COMPUTE_SHADER, vk::AccessFlags::SHADER_READ);
    /// Writes to storage buffers by compute shaders.
    pub const COMPUTE_WRITE: AccessScope =
        AccessScope::new(vk::PipelineStageFlags::COMPUTE_SHADER, vk::AccessFlags::SHADER_WRITE);
    /// Reads by copies.
    pub const TRANSFER_READ: AccessScope =
        AccessScope::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_READ);
    /// Writes by copies, fills and updates.
    pub const TRANSFER_WRITE: AccessScope =
        AccessScope::new(vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE);
    /// Reads of storage buffers by vertex shaders.
    pub const VERTEX_SHADER_READ: AccessScope =
        AccessScope::new(vk::PipelineStageFlags::VERTEX_SHADER, vk::AccessFlags::SHADER_READ);
    /// Reads of index buffers by draws.
    pub const INDEX_READ: AccessScope =
        AccessScope::new(vk::PipelineStageFlags::VERTEX_INPUT, vk::AccessFlags::INDEX_READ);
    /// Reads of the arguments of indirect draws and dispatches.
    pub const INDIRECT_READ: AccessScope =
        AccessScope::new(vk::PipelineStageFlags::DRAW_INDIRECT, vk::AccessFlags::INDIRECT_COMMAND_READ);
    /// Reads by the host after it has waited for the commands.
    pub const HOST_READ: AccessScope = AccessScope::new(vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);

    /// Accesses in some stages.
    pub const fn new(stages: vk::PipelineStageFlags, access: vk::AccessFlags) -> AccessScope {
        AccessScope { stages, access }
    }

    /// The scope of both.
    pub const fn union(self, other: AccessScope) -> AccessScope {
        AccessScope {
            stages: vk::PipelineStageFlags::from_raw(self.stages.as_raw() | other.stages.as_raw()),
            access: vk::AccessFlags::from_raw(self.access.as_raw() | other.access.as_raw()),
        }
    }

    /// The stages as `synchronization2` has them.
    pub const fn stages2(self) -> vk::PipelineStageFlags2 {
        vk::PipelineStageFlags2::from_raw(self.stages.as_raw() as u64)
    }

    /// The accesses as `synchronization2` has them.
    pub const fn access2(self) -> vk::AccessFlags2 {
        vk::AccessFlags2::from_raw(self.access.as_raw() as u64)
    }

    /// The memory barrier from this scope to another. Pass the stages to `vkCmdPipelineBarrier` beside it.
    ///
    /// ```
    /// # use ash::vk;
    /// use vksort::{AccessScope, BoundSort};
    ///
    /// // From a compute pass that writes keys, to the sort; with synchronization2 in `barrier2_to`.
    /// # unsafe fn between(device: &ash::Device, commands: vk::CommandBuffer) {
    /// let (from, to) = (AccessScope::COMPUTE_WRITE, BoundSort::INPUT_SCOPE);
    /// let memory = [from.barrier_to(to)];
    /// # // SAFETY: never called.
    /// # unsafe {
    /// device.cmd_pipeline_barrier(commands, from.stages, to.stages, Default::default(), &memory, &[], &[]);
    /// # } }
    /// ```
    pub fn barrier_to(self, other: AccessScope) -> vk::MemoryBarrier<'static> {
        vk::MemoryBarrier::default().src_access_mask(self.access).dst_access_mask(other.access)
    }

    /// Records the barrier from this scope to another.
    ///
    /// # Safety
    ///
    /// `commands` is recording, on a queue family with the stages of both.
    pub unsafe fn record_barrier(self, other: AccessScope, device: &ash::Device, commands: vk::CommandBuffer) {
        let (memory, flags) = ([self.barrier_to(other)], vk::DependencyFlags::empty());
        // SAFETY: by this function's contract.
        unsafe { device.cmd_pipeline_barrier(commands, self.stages, other.stages, flags, &memory, &[], &[]) };
    }

    /// The memory barrier from this scope to another, for `vkCmdPipelineBarrier2`.
    pub fn barrier2_to(self, other: AccessScope) -> vk::MemoryBarrier2<'static> {
        vk::MemoryBarrier2::default()
            .src_stage_mask(self.stages2())
            .src_access_mask(self.access2())
            .dst_stage_mask(other.stages2())
            .dst_access_mask(other.access2())
    }
}

/// The scope of both: [`union`](AccessScope::union), which can also be used in constants.
impl std::ops::BitOr for AccessScope {
    type Output = AccessScope;

    fn bitor(self, other: AccessScope) -> AccessScope {
        self.union(other)
    }
}

impl AccessScope {
    /// The scope of one side of a barrier of the plan.
    pub(super) fn of(access: vk::AccessFlags) -> AccessScope {
        let (read, write) = (AccessScope::COMPUTE_READ, AccessScope::COMPUTE_WRITE);
        let parts = [read, write, AccessScope::INDIRECT_READ, AccessScope::TRANSFER_WRITE];
        let nothing = AccessScope::new(vk::PipelineStageFlags::empty(), vk::AccessFlags::empty());
        parts.into_iter().filter(|part| access.contains(part.access)).fold(nothing, AccessScope::union)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_barriers_are_their_accesses_with_the_stages() {
        use vk::{AccessFlags as A, PipelineStageFlags as S};
        let scope = |access| {
            let scope = AccessScope::of(access);
            assert_eq!(scope.access, access);
            scope.stages
        };
        assert_eq!(scope(A::SHADER_READ), S::COMPUTE_SHADER);
        assert_eq!(scope(A::SHADER_WRITE), S::COMPUTE_SHADER);
        assert_eq!(scope(A::TRANSFER_WRITE), S::TRANSFER);
        assert_eq!(scope(A::INDIRECT_COMMAND_READ), S::DRAW_INDIRECT);
        let all = A::SHADER_READ | A::SHADER_WRITE | A::TRANSFER_WRITE;
        assert_eq!(scope(all), S::COMPUTE_SHADER | S::TRANSFER);
        let both = AccessScope::COMPUTE_WRITE | AccessScope::INDEX_READ;
        assert_eq!(both, AccessScope::new(S::COMPUTE_SHADER | S::VERTEX_INPUT, A::SHADER_WRITE | A::INDEX_READ));
    }
}
