//! Running the ways to solve one problem, in turns.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use ash::vk;
use cpu_time::ProcessTime;
use vksort::standalone::{DeviceBuffer, Gpu};
use vksort::{BoundSort, BufferRange, Count, QueryRange, SortBuffers};

use super::maker::{Maker, Planned};
use super::problem::{Problem, What};
use super::{elements, records};
use crate::case::{Case, How};
use crate::measure::{Bench, Measured, Rounds, WARM_UP};
use vksort_lab::awake::Awake;

/// A way that is bound to its buffers: one sort, or one for each of its parts.
struct Ready {
    planned: Planned,
    sorts: Vec<BoundSort>,
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
pub fn measure(bench: &Bench<'_>, problem: &Problem, n: u32, seed: u64, rounds: Rounds) -> Result<Vec<Measured>> {
    let gpu = bench.gpu;
    let maker = Maker(gpu);
    let n = problem.count(n);
    let (planned, segments) = match problem.what {
        What::Elements(elements) => elements::plan(&maker, problem, &elements, n, seed)?,
        What::Records(records) => records::plan(&maker, &records, n, seed)?,
    };
    let mut sizes = [4; 3];
    for way in &planned {
        let results = way.results()?;
        sizes = std::array::from_fn(|at| results[at].max(sizes[at]));
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
    let timer = Timer::new(gpu, ready.iter().map(Ready::query_count).max().unwrap_or(2))?;
    for round in 0..rounds.all() {
        let started = Instant::now();
        for ready in &mut ready {
            let name = ready.measured.case.name.clone();
            bench.is_at(format!("{name} of {n}, round {} of {}", round + 1, rounds.all()));
            ready
                .run(&timer, &bench.awake, round, rounds.is_stepped(round))
                .with_context(|| format!("{name} of {n} elements"))?;
        }
        bench.last_round.set(started.elapsed());
    }
    Ok(ready.into_iter().map(|ready| ready.measured).collect())
}

#[allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]
impl Ready {
    fn new(planned: Planned, case: Case, n: u32, shared: &Shared) -> Result<Ready> {
        let Planned { sorter, capacity, keys, values, words, parts, .. } = &planned;
        let (sizes, scratch) = (sorter.buffer_sizes(*capacity), sorter.scratch_size(*capacity)?);
        let bind = |part: u32| {
            let at = |buffer: Option<&DeviceBuffer>, size: Option<u64>| {
                let (buffer, size) = buffer.zip(size)?;
                Some(BufferRange::new(buffer.raw(), size).offset(u64::from(part) * size))
            };
            let buffers = SortBuffers::new(*capacity)
                .keys(at(Some(keys), sizes.keys))
                .values(at(values.as_ref(), sizes.values))
                .keys_out(at(Some(&shared.keys_out), sizes.keys_out))
                .values_out(at(Some(&shared.values_out), sizes.values_out))
                .segments(at(words.as_ref(), sizes.segments))
                .scratch((scratch > 0).then(|| BufferRange::new(shared.scratch.raw(), scratch)))
                .count((planned.count == Count::Device).then(|| BufferRange::new(shared.count.raw(), 4)));
            // SAFETY: the buffers are of the device, have every usage, and outlive the sort.
            unsafe { sorter.recording().bind(&buffers) }
        };
        let sorts: Vec<BoundSort> = (0..*parts).map(bind).collect::<Result<_, _>>()?;
        let results = [
            if sizes.keys_out.is_some() { &shared.keys_out } else { keys },
            if sizes.values_out.is_some() { &shared.values_out } else { values.as_ref().unwrap_or(&shared.values_out) },
        ];
        let results = results.map(Clone::clone);
        // Of an array as a whole.
        let (mut shape, mut algorithm) = (None, String::new());
        if let [sort] = &sorts[..]
            && let Some(whole) = sort.algorithm(capacity.elements)
        {
            (shape, algorithm) = (Some(*sorter.shape()), whole.to_string());
        }
        let floor_bytes = planned.floor.div_ceil(n.max(1).into());
        let measured = Measured::new(case, n, shape, algorithm, floor_bytes);
        Ok(Ready { planned, sorts, results, measured })
    }

    /// The most timestamps that a run writes: of each step, or around all parts.
    fn query_count(&self) -> u32 {
        if let [sort] = &self.sorts[..] { sort.query_count(self.planned.count).max(2) } else { 2 }
    }

    /// One run, which is verified in the first round; with a timestamp after each step if it is for these.
    fn run(&mut self, timer: &Timer<'_>, awake: &Awake, round: u32, stepped: bool) -> Result<()> {
        if stepped && (self.sorts.len() != 1 || !timer.has_queries()) {
            return Ok(());
        }
        if let Some([keys, values]) = &self.planned.restored {
            self.planned.keys.write(0, keys)?;
            if let Some(buffer) = &self.planned.values {
                buffer.write(0, values)?;
            }
        }
        let count = self.planned.count;
        let queries = if stepped { self.sorts[0].query_count(count) } else { 2 };
        let alone = awake.pause();
        let times = timer.time(queries, |commands| {
            // SAFETY: one run after the other, on buffers that outlive it.
            unsafe {
                match (&self.sorts[..], timer.range(queries)) {
                    ([sort], Some(queries)) if stepped => sort.record_timed(commands, count, queries),
                    (sorts, _) => {
                        timer.around(commands, || sorts.iter().try_for_each(|sort| sort.record(commands, count)))
                    }
                }
            }
        })?;
        drop(alone);
        if round == 0 {
            for ((what, right), result) in ["keys", "values"].iter().zip(&mut self.planned.right).zip(&self.results) {
                let right = std::mem::take(right);
                let mut found = vec![0; right.len()];
                result.read(0, &mut found)?;
                ensure!(found == right, "verification failed: {what} are not those of a stable sort");
            }
        }
        if round >= WARM_UP {
            let more = self.planned.stands_for;
            if stepped {
                let ticks = times.ticks.unwrap_or_default();
                self.measured.add_steps(self.sorts[0].step_times(count, &ticks, timer.bits())?);
                return Ok(());
            }
            self.measured.gpu.extend(times.ticks.map(|ticks| more * timer.nanoseconds(&ticks)));
            self.measured.cpu.extend(times.cpu.map(|ns| more * ns));
            self.measured.wall.push(more * times.wall);
            self.measured.recording.push(more * times.recording);
        }
        Ok(())
    }
}

/// What a run took.
struct Times {
    /// One before the first step and one after each, where the device has timestamps.
    ticks: Option<Vec<u64>>,
    /// Nanoseconds, as the others.
    cpu: Option<f64>,
    wall: f64,
    recording: f64,
}

/// Timestamps before, between and after steps, where the device has them.
struct Timer<'a> {
    gpu: &'a Gpu,
    queries: vk::QueryPool,
}

#[allow(unsafe_code, reason = "timestamps are written by Vulkan")]
impl Timer<'_> {
    fn new(gpu: &Gpu, queries: u32) -> Result<Timer<'_>> {
        let device = gpu.device();
        if device.timestamp_bits == 0 {
            return Ok(Timer { gpu, queries: vk::QueryPool::null() });
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(queries);
        // SAFETY: the device is alive; `Drop` destroys the pool, once.
        Ok(Timer { gpu, queries: unsafe { device.raw.create_query_pool(&info, None)? } })
    }

    fn has_queries(&self) -> bool {
        self.queries != vk::QueryPool::null()
    }

    /// The queries of a sort that writes so many.
    fn range(&self, count: u32) -> Option<QueryRange> {
        self.has_queries().then_some(QueryRange::new(self.queries, 0, count))
    }

    fn bits(&self) -> u32 {
        self.gpu.device().timestamp_bits
    }

    /// Nanoseconds from the first timestamp to the last one.
    fn nanoseconds(&self, ticks: &[u64]) -> f64 {
        let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
        let taken = last.wrapping_sub(first) & (u64::MAX >> (64 - self.bits()));
        taken as f64 * f64::from(self.gpu.profile().timestamp_period_ns)
    }

    /// Writes a timestamp before and one after what is recorded.
    fn around(
        &self,
        commands: vk::CommandBuffer,
        record: impl FnOnce() -> Result<(), vksort::Error>,
    ) -> Result<(), vksort::Error> {
        let stamp = |query| {
            if self.has_queries() {
                let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                // SAFETY: the command buffer is recording outside of a render pass, and the pool has two queries or more.
                unsafe { self.gpu.device().raw.cmd_write_timestamp(commands, stage, self.queries, query) };
            }
        };
        if self.has_queries() {
            // SAFETY: as above.
            unsafe { self.gpu.device().raw.cmd_reset_query_pool(commands, self.queries, 0, 2) };
        }
        stamp(0);
        record()?;
        stamp(1);
        Ok(())
    }

    /// Submits what is recorded, which writes so many timestamps, and waits until it is done.
    fn time(&self, queries: u32, record: impl FnOnce(vk::CommandBuffer) -> Result<(), vksort::Error>) -> Result<Times> {
        let device = self.gpu.device();
        let mut recording = 0.0;
        let (start, cpu) = (Instant::now(), ProcessTime::now());
        let record = |commands| {
            let before = Instant::now();
            record(commands)?;
            recording = before.elapsed().as_nanos() as f64;
            Ok(())
        };
        // SAFETY: what is recorded uses buffers that live until it has completed.
        unsafe { device.execute("a run", record)? };
        let (wall, cpu) = (start.elapsed().as_nanos() as f64, cpu.elapsed().as_nanos() as f64);
        let ticks = || -> Result<Vec<u64>> {
            let mut ticks = vec![0u64; queries as usize];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            // SAFETY: the queries were written by commands that are done.
            unsafe { device.raw.get_query_pool_results(self.queries, 0, &mut ticks, flags)? };
            Ok(ticks)
        };
        let ticks = self.has_queries().then(ticks).transpose()?;
        let is_cpu = self.gpu.profile().is_cpu;
        Ok(Times { ticks, cpu: is_cpu.then_some(cpu), wall, recording })
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
