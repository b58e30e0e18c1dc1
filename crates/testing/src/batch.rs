//! Batches: many sorts by one sorter in one submission, each in guarded memory of its own, and each compared in full.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use fastrand::Rng;
use vksort::standalone::{DeviceBuffer, Gpu};
use vksort::{BoundSort, Capacity, Count, Error, Sorter};

use crate::guarded::Parts;
use crate::{records, segmented};

/// What a sort reads, and so what it should leave behind.
#[derive(Clone, Debug)]
pub enum Data {
    /// Keys with their values, as an array or in segments.
    Elements(segmented::Case),
    /// Records, in the segments of a case if there is one.
    Records(Option<segmented::Case>, records::Case),
}

/// A sort of a batch.
#[derive(Clone, Debug)]
pub struct Sort {
    /// What is sorted.
    pub data: Data,
    /// How often. The second sort finds in its scratch what the first one has left.
    pub times: u32,
    /// What scratch holds before: bytes drawn from a seed, or one byte.
    pub scratch: Result<u64, u8>,
    /// Whether another command changes the first bytes of the result, whose barrier is missing: tests have no other way to see a
    /// wrong sort.
    pub spoiled: bool,
}

impl Data {
    /// Room for elements, and for segments.
    pub fn capacity(&self) -> Capacity {
        match self {
            Data::Elements(case) => case.room(),
            Data::Records(of, case) => case.room(of.as_ref()),
        }
    }

    /// The count of the recording.
    pub fn count(&self) -> Count {
        match self {
            Data::Elements(case) => case.given(),
            Data::Records(of, case) => case.given(of.as_ref()),
        }
    }

    fn memory(&self, gpu: &Gpu, scratch_bytes: u64) -> (Vec<u8>, Parts) {
        match self {
            Data::Elements(case) => segmented::memory(gpu, case, scratch_bytes),
            Data::Records(of, case) => records::memory(gpu, of.as_ref(), case, scratch_bytes),
        }
    }

    fn compare(&self, parts: &Parts, before: Vec<u8>, after: &[u8]) -> Result<(), String> {
        match self {
            Data::Elements(case) => segmented::compare(case, parts, before, after, true),
            Data::Records(of, case) => records::compare_memory(of.as_ref(), case, parts, before, after),
        }
    }
}

/// Runs sorts, and says what is wrong with each of them.
///
/// # Errors
///
/// Those of vksort and of the driver, which no sort of the batch should meet.
pub fn run(gpu: &Gpu, sorter: &Sorter, sorts: &[Sort]) -> Result<Vec<Result<(), String>>, Error> {
    let mut all = Vec::new();
    let mut memories = Vec::with_capacity(sorts.len());
    for sort in sorts {
        let (mut before, parts) = sort.data.memory(gpu, sorter.scratch_size(sort.data.capacity())?);
        let scratch = &mut before[parts.scratch.clone().unwrap_or_default()];
        match sort.scratch {
            Ok(seed) => Rng::with_seed(seed).fill(scratch),
            Err(byte) => scratch.fill(byte),
        }
        let base = all.len();
        all.extend_from_slice(&before);
        memories.push((base, before, parts));
    }
    let buffer = gpu.buffer(all.len() as u64)?;
    buffer.write(0, &all)?;
    let bind = |(sort, (base, _, parts)): (&Sort, &(usize, Vec<u8>, Parts))| {
        let buffers = parts.buffers(&buffer, *base, sort.data.capacity());
        // SAFETY: the buffer is of the device, with every usage, and outlives the sort, which is waited for.
        unsafe { sorter.bind(&buffers) }
    };
    let bound: Vec<BoundSort> = sorts.iter().zip(&memories).map(bind).collect::<Result<_, _>>()?;
    let device = gpu.device();
    let record = |commands| {
        for (sort, bound) in sorts.iter().zip(&bound) {
            for turn in 0..sort.times {
                // SAFETY: the buffers are as above, those of each sort apart from all others. Between two sorts of the same there is
                // a barrier.
                unsafe {
                    if turn > 0 {
                        BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, &device.raw, commands);
                    }
                    bound.record(commands, sort.data.count())?;
                }
            }
        }
        Ok(())
    };
    // SAFETY: what is recorded is waited for.
    unsafe { device.execute("a batch of sorts", record) }?;
    for (sort, (base, _, parts)) in sorts.iter().zip(&memories) {
        if sort.spoiled {
            spoil(&buffer, base + parts.result())?;
        }
    }
    buffer.read(0, &mut all)?;
    let judge = |(sort, (base, mut before, parts)): (&Sort, (usize, Vec<u8>, Parts))| {
        let after = &all[base..base + before.len()];
        let scratch = parts.scratch.clone().unwrap_or_default();
        before[scratch.clone()].copy_from_slice(&after[scratch]);
        sort.data.compare(&parts, before, after)
    };
    Ok(sorts.iter().zip(memories).map(judge).collect())
}

/// Changes four bytes.
fn spoil(buffer: &DeviceBuffer, at: usize) -> Result<(), Error> {
    let mut bytes = [0u8; 4];
    buffer.read(at as u64, &mut bytes)?;
    buffer.write(at as u64, &bytes.map(|byte| !byte))
}
