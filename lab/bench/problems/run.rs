//! Running the ways to solve one problem, in turns.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use ash::vk;
use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use vksort::standalone::{DeviceBuffer, Gpu};
use vksort::{BoundSegments, BoundSort, BufferRange, Count, SegmentBuffers, SortBuffers};

use super::maker::{AnySorter, Maker, Planned};
use super::problem::{Problem, What};
use super::{elements, records};
use crate::case::{Case, How};
use crate::measure::{Measured, WARM_UP};

/// A way that is bound to its buffers.
enum Bound {
    Sort(BoundSort),
    Segments(BoundSegments),
    Parts(Vec<BoundSort>, u32),
}

struct Ready {
    planned: Planned,
    bound: Bound,
    /// Where the sorted keys and values are.
    results: [DeviceBuffer; 2],
    measured: Measured,
}

/// The buffers that all ways share.
struct Shared {
    keys_out: DeviceBuffer,
    values_out: DeviceBuffer,
    scratch: DeviceBuffer,
    count: DeviceBuffer,
}

/// Measures each way to solve a problem of up to `n` elements, in turns. Each result of the first round is verified. A way
/// that the device does not have is said and left out; without the first one nothing is measured.
pub fn measure(gpu: &Gpu, problem: &Problem, n: u32, seed: u64, runs: u32) -> Result<Vec<Measured>> {
    let maker = Maker(gpu);
    let n = problem.count(n);
    let (planned, segments) = match problem.what {
        What::Elements(elements) => elements::plan(&maker, problem, &elements, n, seed)?,
        What::Records(records) => records::plan(&maker, &records, n, seed)?,
    };
    let mut sizes = [4; 3];
    for way in &planned {
        let (buffers, scratch) = way.sorter.sizes(way.capacity)?;
        for (most, size) in sizes.iter_mut().zip([buffers.keys_out, buffers.values_out, Some(scratch)]) {
            *most = size.unwrap_or(0).max(*most);
        }
    }
    let [keys_out, values_out, scratch] = sizes.map(|size| gpu.buffer(size));
    let shared = Shared { keys_out: keys_out?, values_out: values_out?, scratch: scratch?, count: gpu.buffer(4)? };
    shared.count.write(0, &[segments])?;

    let mut ready = Vec::new();
    for planned in planned {
        let how = How::Problem { request: planned.request, name: problem.name, way: planned.way, segments };
        let case = Case { suite: problem.suite, name: problem.case(planned.way), how, data: problem.data };
        let name = case.name.clone();
        ready.push(Ready::new(planned, case, n, &shared).with_context(|| name)?);
    }
    let timer = Timer::new(gpu)?;
    let progress = ProgressBar::new(u64::from(WARM_UP + runs) * ready.len() as u64);
    for round in 0..WARM_UP + runs {
        for ready in &mut ready {
            let name = ready.measured.case.name.clone();
            ready.run(&timer, round).with_context(|| format!("{name} of {n} elements"))?;
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(ready.into_iter().map(|ready| ready.measured).collect())
}

/// A part of a buffer.
fn part(buffer: &DeviceBuffer, offset: u64, size: u64) -> BufferRange {
    BufferRange { buffer: buffer.raw(), offset, size, usage: None }
}

#[allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]
impl Ready {
    fn new(planned: Planned, case: Case, n: u32, shared: &Shared) -> Result<Ready> {
        let (sizes, scratch) = planned.sorter.sizes(planned.capacity)?;
        let of = |buffer: &DeviceBuffer, size: Option<u64>| size.map(|size| part(buffer, 0, size));
        let given_values = planned.values.as_ref();
        let buffers = SortBuffers {
            keys: part(&planned.keys, 0, sizes.keys),
            values: given_values.and_then(|values| of(values, sizes.values)),
            keys_out: of(&shared.keys_out, sizes.keys_out),
            values_out: of(&shared.values_out, sizes.values_out),
            scratch: of(&shared.scratch, (scratch > 0).then_some(scratch)),
            count: (planned.count == Count::Device).then(|| part(&shared.count, 0, 4)),
            capacity: planned.capacity,
        };
        let results = [
            if sizes.keys_out.is_some() { &shared.keys_out } else { &planned.keys },
            if sizes.values_out.is_some() { &shared.values_out } else { given_values.unwrap_or(&shared.values_out) },
        ];
        let results = results.map(Clone::clone);
        let (mut shape, mut algorithm) = (None, String::new());
        let bound = match &planned.sorter {
            AnySorter::One(sorter) => {
                // SAFETY: the buffers are of the device, have every usage, and outlive the sort.
                let bound = unsafe { sorter.bind(&buffers)? };
                shape = Some(*sorter.shape());
                algorithm = bound.algorithm(planned.capacity).to_string();
                Bound::Sort(bound)
            }
            AnySorter::Segments { sorter, words, segments } => {
                let words = words.as_ref().map(|words| part(words, 0, words.size()));
                let buffers = SegmentBuffers { elements: buffers, segments: words, segment_capacity: *segments };
                // SAFETY: as above.
                Bound::Segments(unsafe { sorter.bind(&buffers)? })
            }
            AnySorter::Parts { sorter, length, parts, .. } => {
                let bytes = sorter.buffers(*length).keys;
                let bind = |index: u32| {
                    let at = |buffer: &DeviceBuffer| part(buffer, u64::from(index) * bytes, bytes);
                    let keys_out = Some(at(&shared.keys_out));
                    let buffers = SortBuffers { keys_out, ..SortBuffers::in_place(at(&planned.keys), *length) };
                    // SAFETY: as above. Sorts of one workgroup share no scratch.
                    unsafe { sorter.bind(&buffers) }
                };
                Bound::Parts((0..*parts).map(bind).collect::<Result<_, _>>()?, *length)
            }
        };
        let floor_bytes = planned.floor.div_ceil(n.max(1).into());
        let measured = Measured {
            case,
            n,
            gpu: Vec::new(),
            cpu: Vec::new(),
            wall: Vec::new(),
            recording: Vec::new(),
            steps: Vec::new(),
            shape,
            algorithm,
            floor_bytes,
        };
        Ok(Ready { planned, bound, results, measured })
    }

    /// One run, which is verified in the first round.
    fn run(&mut self, timer: &Timer<'_>, round: u32) -> Result<()> {
        if let Some([keys, values]) = &self.planned.restored {
            self.planned.keys.write(0, keys)?;
            if let Some(buffer) = &self.planned.values {
                buffer.write(0, values)?;
            }
        }
        let count = self.planned.count;
        let times = timer.time(|commands| {
            // SAFETY: one run after the other, on buffers that outlive it.
            unsafe {
                match &self.bound {
                    Bound::Sort(sort) => sort.record(commands, count, None),
                    Bound::Segments(sort) => sort.record(commands, count, None),
                    Bound::Parts(sorts, length) => {
                        sorts.iter().try_for_each(|sort| sort.record(commands, *length, None))
                    }
                }
            }
        })?;
        if round == 0 {
            for ((what, right), result) in ["keys", "values"].iter().zip(&mut self.planned.right).zip(&self.results) {
                let right = std::mem::take(right);
                let mut found = vec![0; right.len()];
                result.read(0, &mut found)?;
                ensure!(found == right, "verification failed: {what} are not those of a stable sort");
            }
        }
        if round >= WARM_UP {
            let more = self.planned.sorter.stands_for();
            self.measured.gpu.extend(times.device.map(|ns| more * ns));
            self.measured.cpu.extend(times.cpu.map(|ns| more * ns));
            self.measured.wall.push(more * times.wall);
            self.measured.recording.push(more * times.recording);
        }
        Ok(())
    }
}

/// Nanoseconds that a run took.
struct Times {
    device: Option<f64>,
    cpu: Option<f64>,
    wall: f64,
    recording: f64,
}

/// Two timestamps around what is recorded, where the device has them.
struct Timer<'a> {
    gpu: &'a Gpu,
    queries: vk::QueryPool,
}

#[allow(unsafe_code, reason = "timestamps are written by Vulkan")]
impl Timer<'_> {
    fn new(gpu: &Gpu) -> Result<Timer<'_>> {
        let device = gpu.device();
        if device.timestamp_bits == 0 {
            return Ok(Timer { gpu, queries: vk::QueryPool::null() });
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        // SAFETY: the device is alive; `Drop` destroys the pool, once.
        Ok(Timer { gpu, queries: unsafe { device.raw.create_query_pool(&info, None)? } })
    }

    /// Submits what is recorded, and waits until it is done.
    fn time(&self, record: impl FnOnce(vk::CommandBuffer) -> Result<(), vksort::Error>) -> Result<Times> {
        let (device, profile) = (self.gpu.device(), self.gpu.profile());
        let has_queries = self.queries != vk::QueryPool::null();
        let stamp = |commands, query| {
            if has_queries {
                let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                // SAFETY: the command buffer is recording outside of a render pass, and the pool has two queries.
                unsafe { device.raw.cmd_write_timestamp(commands, stage, self.queries, query) };
            }
        };
        let mut recording = 0.0;
        let (start, cpu) = (Instant::now(), ProcessTime::now());
        let record = |commands| {
            if has_queries {
                // SAFETY: as above.
                unsafe { device.raw.cmd_reset_query_pool(commands, self.queries, 0, 2) };
            }
            stamp(commands, 0);
            let before = Instant::now();
            record(commands)?;
            recording = before.elapsed().as_nanos() as f64;
            stamp(commands, 1);
            Ok(())
        };
        // SAFETY: what is recorded uses buffers that live until it has completed.
        unsafe { device.execute("a run", record)? };
        let (wall, cpu) = (start.elapsed().as_nanos() as f64, cpu.elapsed().as_nanos() as f64);
        let ticks = || -> Result<f64> {
            let mut ticks = [0u64; 2];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            // SAFETY: both queries were written by commands that are done.
            unsafe { device.raw.get_query_pool_results(self.queries, 0, &mut ticks, flags)? };
            let taken = ticks[1].wrapping_sub(ticks[0]) & (u64::MAX >> (64 - device.timestamp_bits));
            Ok(taken as f64 * f64::from(profile.timestamp_period_ns))
        };
        let on_device = has_queries.then(ticks).transpose()?;
        Ok(Times { device: on_device, cpu: profile.is_cpu.then_some(cpu), wall, recording })
    }
}

impl Drop for Timer<'_> {
    #[allow(unsafe_code, reason = "the pool is Vulkan's")]
    fn drop(&mut self) {
        let device = self.gpu.device();
        if !device.is_lost() {
            // SAFETY: every run was waited for, and the pool, which may be null, goes once.
            unsafe { device.raw.destroy_query_pool(self.queries, None) };
        }
    }
}
