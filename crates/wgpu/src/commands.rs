//! Recorded commands, and their submission.

use wgpu::{CommandBuffer, Queue, SubmissionIndex};

/// Recorded commands, in the order of their submission: a sort, or a command buffer of the caller.
#[derive(Debug)]
#[must_use = "commands do nothing before they are submitted"]
pub struct Commands {
    pub(super) buffers: [Option<CommandBuffer>; 2],
}

impl From<CommandBuffer> for Commands {
    fn from(commands: CommandBuffer) -> Commands {
        Commands { buffers: [Some(commands), None] }
    }
}

impl Commands {
    /// Submits commands in order, by one [`Queue::submit`].
    ///
    /// Sorts see what earlier commands wrote, and later commands see sorted elements, as between any commands of wgpu.
    ///
    /// # Panics
    ///
    /// wgpu refuses the whole submission if a buffer was destroyed or is mapped, and reports this as for `Queue::submit`: to the
    /// device's error handler, which panics unless the program has set another one.
    pub fn submit(queue: &Queue, commands: impl IntoIterator<Item = Commands>) -> SubmissionIndex {
        queue.submit(commands.into_iter().flat_map(|commands| commands.buffers).flatten())
    }

    /// The command buffers, for a framework that submits by itself: two of a sort, or one of the caller.
    ///
    /// # Safety
    ///
    /// All of them are submitted by one [`Queue::submit`], in this order, with no command buffer between them.
    pub unsafe fn into_command_buffers(self) -> impl Iterator<Item = CommandBuffer> {
        self.buffers.into_iter().flatten()
    }
}
