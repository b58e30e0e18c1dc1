//! What a way to solve a problem takes before it is bound, and what must come of it.

use std::rc::Rc;

use anyhow::Result;
use vksort::standalone::{DeviceBuffer, Gpu, Sorter};
use vksort::{Capacity, Count, Error, SortRequest, SorterOptions, Tuning};

use super::problem::{Unfit, Way};

/// A way with its sorter and its buffers.
pub struct Planned {
    pub way: Way,
    pub sorter: Sorter,
    /// How it is described in the results.
    pub request: SortRequest,
    /// What one sort is bound for.
    pub capacity: Capacity,
    /// The count of a recording, which is in a buffer if it is on the device.
    pub count: Count,
    /// Sorts behind each other, of equal parts of the buffers. They share no scratch.
    pub parts: u32,
    /// How many times as long as the parts all takes that they stand for.
    pub stands_for: f64,
    pub keys: DeviceBuffer,
    pub values: Option<DeviceBuffer>,
    /// The words that say where segments are.
    pub words: Option<DeviceBuffer>,
    /// Keys and values before each run, of a sort in place.
    pub restored: Option<[Rc<Vec<u8>>; 2]>,
    /// The sorted keys, and the sorted values.
    pub right: [Vec<u8>; 2],
    /// Bytes that have to be read and written, in all.
    pub floor: u64,
}

impl Planned {
    /// One sort of these keys, from and to buffers of its own.
    pub fn new(way: Way, sorter: Sorter, n: u32, keys: &DeviceBuffer, right: [Vec<u8>; 2]) -> Planned {
        Planned {
            way,
            request: *sorter.request(),
            sorter,
            capacity: n.into(),
            count: n.into(),
            parts: 1,
            stands_for: 1.0,
            keys: keys.clone(),
            values: None,
            words: None,
            restored: None,
            right,
            floor: 0,
        }
    }

    /// Bytes of the sorted keys and values of all parts, and of the scratch.
    pub fn results(&self) -> Result<[u64; 3]> {
        let sizes = self.sorter.buffer_sizes(self.capacity);
        let all = |size: Option<u64>| size.unwrap_or(0) * u64::from(self.parts);
        Ok([all(sizes.keys_out), all(sizes.values_out), self.sorter.scratch_size(self.capacity)?])
    }
}

/// Makes sorters and buffers on a device.
pub struct Maker<'a>(pub &'a Gpu);

impl Maker<'_> {
    /// A sorter of up to `n` elements. A device has limits of its own for segments, and for how many of the first elements are
    /// wanted.
    pub fn sorter(&self, request: &SortRequest, n: u32) -> Result<Sorter> {
        self.tuned(request, n, self.0.tuning().clone())
    }

    /// The same with another tuning than the device's.
    pub fn tuned(&self, request: &SortRequest, n: u32, tuning: Tuning) -> Result<Sorter> {
        request.check()?;
        self.0.sorter(request, &SorterOptions::default().capacity(n).tuning(tuning)).map_err(|error| match error {
            Error::Unsupported { .. } => Unfit(error.to_string()).into(),
            error => error.into(),
        })
    }

    /// A buffer with this content.
    pub fn buffer(&self, bytes: &[u8]) -> Result<DeviceBuffer> {
        let buffer = self.0.buffer((bytes.len() as u64).next_multiple_of(4).max(4))?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }
}
