//! The buffers of a sort, as the caller gives them.

use ash::vk;

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
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

    /// No buffer, for keys that a [`Visitor`](crate::Visitor) makes, and for capacity 0.
    pub const NONE: BufferRange = BufferRange { buffer: vk::Buffer::null(), offset: 0, size: 0, usage: None };
}

/// The buffers of one sort. Ranges must not overlap.
///
/// Keys and values take `capacity` elements each, rounded up to whole words of 4 bytes. Bytes after the last element keep
/// their content. With capacity 0 every range may be left out, because Vulkan has no buffers of 0 bytes.
///
/// `R` is the type of a range: a [`BufferRange`], or a range of a buffer that vksort owns.
#[derive(Clone, Copy, Debug)]
pub struct SortBuffers<R = BufferRange> {
    /// The keys, or the records of [`Sorter::of_records`](crate::Sorter::of_records). A request in place sorts them here.
    /// [`BufferRange::NONE`] if a visitor makes them or the capacity is 0.
    pub keys: R,
    /// The values, if the request reads any. A request in place writes sorted values or indices here.
    pub values: Option<R>,
    /// The sorted keys, or records, of a request out of place that does not discard them.
    pub keys_out: Option<R>,
    /// The sorted values or indices of a request out of place.
    pub values_out: Option<R>,
    /// At least [`Sorter::scratch_size`](crate::Sorter::scratch_size) bytes with the usage flags
    /// [`Sorter::SCRATCH_USAGE`](crate::Sorter::SCRATCH_USAGE); not needed when the size is 0.
    pub scratch: Option<R>,
    /// Four bytes with the number of elements, for sorts that are recorded with [`Count::Device`](crate::Count::Device).
    /// The offset may be any multiple of 4 bytes.
    pub count: Option<R>,
    /// The largest count that the sort will be recorded with.
    pub capacity: u32,
}

impl<R> SortBuffers<R> {
    /// Keys without values or scratch, for a request in place. For a request out of place add `keys_out`, and `values_out` where there
    /// are values: `SortBuffers { keys_out: Some(sorted), ..SortBuffers::in_place(keys, capacity) }`.
    pub fn in_place(keys: R, capacity: u32) -> Self {
        SortBuffers { keys, values: None, keys_out: None, values_out: None, scratch: None, count: None, capacity }
    }
}
