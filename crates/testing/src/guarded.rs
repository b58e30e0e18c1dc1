//! The memory of a sort: all its ranges in one buffer, with guard bytes around each.

use std::ops::Range;

use vksort::standalone::DeviceBuffer;
use vksort::{BufferRange, BufferSizes, Capacity, DeviceProfile, SortBuffers};

/// What no sort writes.
pub(crate) const GUARD: u8 = 0xA7;

/// What the buffers of a sort hold before it.
pub(crate) struct Content<'a> {
    /// The keys, or records.
    pub keys: &'a [u8],
    /// The caller's values; bytes behind them are guards.
    pub values: &'a [u8],
    /// The words that say where segments are.
    pub words: &'a [u32],
    /// The number on the device, if it comes from there.
    pub counted: Option<u32>,
}

/// The bytes of each range within the memory of its sort.
pub(crate) struct Parts {
    pub keys: Range<usize>,
    pub values: Option<Range<usize>>,
    pub keys_out: Option<Range<usize>>,
    pub values_out: Option<Range<usize>>,
    pub scratch: Option<Range<usize>>,
    words: Option<Range<usize>>,
    count: Option<Range<usize>>,
}

struct Memory {
    bytes: Vec<u8>,
    alignment: usize,
}

impl Memory {
    /// A part with this content, in whole words.
    fn part(&mut self, content: &[u8]) -> Range<usize> {
        let start = self.bytes.len() + self.alignment;
        self.bytes.resize(start, GUARD);
        self.bytes.extend_from_slice(content);
        self.bytes.resize((start + content.len()).next_multiple_of(4), GUARD);
        let part = start..self.bytes.len();
        self.bytes.resize(self.bytes.len().next_multiple_of(self.alignment) + self.alignment, GUARD);
        part
    }
}

impl Content<'_> {
    /// The memory before a sort with buffers of these sizes.
    pub fn lay_out(&self, profile: &DeviceProfile, sizes: BufferSizes, scratch: Vec<u8>) -> (Vec<u8>, Parts) {
        let alignment = profile.storage_alignment_bytes.max(256) as usize;
        let mut memory = Memory { bytes: Vec::new(), alignment };
        let empty = |bytes: u64| vec![GUARD; bytes as usize];
        let keys = memory.part(self.keys);
        let values = sizes.values.map(|bytes| memory.part(&[self.values, &empty(bytes)[self.values.len()..]].concat()));
        let [keys_out, values_out] =
            [sizes.keys_out, sizes.values_out].map(|size| size.map(|bytes| memory.part(&empty(bytes))));
        let scratch = (!scratch.is_empty()).then(|| memory.part(&scratch));
        let words = (!self.words.is_empty()).then(|| memory.part(bytemuck::cast_slice(self.words)));
        // The count is no first word, as in the arguments of a draw.
        let count = self.counted.map(|count| {
            let Range { start, end } = memory.part(bytemuck::cast_slice(&[u32::from_le_bytes([GUARD; 4]), count]));
            start + 4..end
        });
        (memory.bytes, Parts { keys, values, keys_out, values_out, scratch, words, count })
    }
}

impl Parts {
    /// The first byte of a result: of the values if there are any, because keys may be discarded.
    pub fn result(&self) -> usize {
        let outputs = [&self.values_out, &self.keys_out, &self.values];
        outputs.into_iter().flatten().next().unwrap_or(&self.keys).start
    }

    /// The buffers of a sort whose memory begins at this byte of a buffer.
    pub fn buffers(&self, buffer: &DeviceBuffer, base: usize, capacity: Capacity) -> SortBuffers {
        let range =
            |part: &Range<usize>| BufferRange::new(buffer.raw(), part.len() as u64).offset((base + part.start) as u64);
        SortBuffers::new(capacity)
            .keys(range(&self.keys))
            .values(self.values.as_ref().map(range))
            .keys_out(self.keys_out.as_ref().map(range))
            .values_out(self.values_out.as_ref().map(range))
            .scratch(self.scratch.as_ref().map(range))
            .segments(self.words.as_ref().map(range))
            .count(self.count.as_ref().map(range))
    }
}
