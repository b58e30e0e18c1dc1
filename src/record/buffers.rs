//! The buffers of a sort, as the caller gives them.

use ash::vk;

use crate::request::Capacity;

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BufferRange {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Where the range starts, in bytes.
    pub offset: u64,
    /// Length of the range in bytes.
    pub size: u64,
    /// The buffer's usage flags, for `bind` to check; `None` if they are not known.
    pub usage: Option<vk::BufferUsageFlags>,
}

impl BufferRange {
    /// The first `size` bytes of a buffer whose usage is not known.
    pub fn new(buffer: vk::Buffer, size: u64) -> Self {
        BufferRange { buffer, offset: 0, size, usage: None }
    }

    /// The same many bytes from this one on.
    pub fn offset(self, offset: u64) -> Self {
        BufferRange { offset, ..self }
    }

    /// The same with the usage flags that the buffer was created with, for `bind` to check.
    pub fn usage(self, usage: impl Into<Option<vk::BufferUsageFlags>>) -> Self {
        BufferRange { usage: usage.into(), ..self }
    }
}

/// The buffers of one sort. Ranges must not overlap.
///
/// Keys and values take as many elements as the capacity says, rounded up to whole words of 4 bytes. Bytes after the last element keep
/// their content. With a capacity of 0 elements every range may be left out, because Vulkan has no buffers of 0 bytes.
/// [`Sorter::buffer_sizes`](crate::Sorter::buffer_sizes) says which ranges a sort needs, and how long they are.
///
/// `R` is the type of a range: a [`BufferRange`], or a range of a buffer that vksort owns.
///
/// ```
/// use vksort::{BufferRange, SortBuffers};
/// # fn buffers(depths: BufferRange, indices: BufferRange, scratch: BufferRange) {
/// let buffers = SortBuffers::new(10_000).keys(depths).values(indices).scratch(scratch);
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SortBuffers<R = BufferRange> {
    /// The keys, or the records. A request in place sorts them here. `None` if a visitor makes the keys.
    pub keys: Option<R>,
    /// The values, if the request reads any. A request in place writes sorted values or indices here.
    pub values: Option<R>,
    /// The sorted keys, or records, of a request out of place that does not discard them.
    pub keys_out: Option<R>,
    /// The sorted values or indices of a request out of place.
    pub values_out: Option<R>,
    /// At least [`Sorter::scratch_size`](crate::Sorter::scratch_size) bytes with the usage flags
    /// [`Sorter::scratch_usage`](crate::Sorter::scratch_usage); not needed when the size is 0.
    pub scratch: Option<R>,
    /// Four bytes with the number of elements or of segments, for sorts that are recorded with
    /// [`Count::Device`](crate::Count::Device), which says which of them. The offset may be any multiple of 4 bytes.
    pub count: Option<R>,
    /// The words that say where segments are, if the request has segments with words ([`Segments::words`](crate::Segments::words)).
    pub segments: Option<R>,
    /// The most that the sort will be recorded with.
    pub capacity: Capacity,
}

/// Each setter returns the same buffers with another range.
impl<R> SortBuffers<R> {
    /// No ranges yet, for a sort of this capacity.
    pub fn new(capacity: impl Into<Capacity>) -> Self {
        let capacity = capacity.into();
        SortBuffers {
            keys: None,
            values: None,
            keys_out: None,
            values_out: None,
            scratch: None,
            count: None,
            segments: None,
            capacity,
        }
    }

    /// The keys, or the records.
    pub fn keys(self, keys: impl Into<Option<R>>) -> Self {
        SortBuffers { keys: keys.into(), ..self }
    }

    /// The values.
    pub fn values(self, values: impl Into<Option<R>>) -> Self {
        SortBuffers { values: values.into(), ..self }
    }

    /// The sorted keys, or records, of a request out of place.
    pub fn keys_out(self, keys_out: impl Into<Option<R>>) -> Self {
        SortBuffers { keys_out: keys_out.into(), ..self }
    }

    /// The sorted values or indices of a request out of place.
    pub fn values_out(self, values_out: impl Into<Option<R>>) -> Self {
        SortBuffers { values_out: values_out.into(), ..self }
    }

    /// The scratch.
    pub fn scratch(self, scratch: impl Into<Option<R>>) -> Self {
        SortBuffers { scratch: scratch.into(), ..self }
    }

    /// The count on the device.
    pub fn count(self, count: impl Into<Option<R>>) -> Self {
        SortBuffers { count: count.into(), ..self }
    }

    /// The words of segments.
    pub fn segments(self, segments: impl Into<Option<R>>) -> Self {
        SortBuffers { segments: segments.into(), ..self }
    }

    /// The capacity.
    pub fn capacity(self, capacity: impl Into<Capacity>) -> Self {
        SortBuffers { capacity: capacity.into(), ..self }
    }
}
