//! Sorts of wgpu's buffers: between the caller's commands, with guard bytes, and in every way that wgpu could get wrong.
#![allow(unsafe_code, reason = "binding has a duty that wgpu cannot check")]

mod cost;
mod memory;
mod messages;
mod records;
mod refused;
mod segments;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use libtest_mimic::{Arguments, Failed, Trial};
use memory::{Elements, read, words};
use pollster::block_on;
use vksort::{
    Algorithm, BitRange, Count, KeyOutput, KeyType, Order, Placement, Segments, SortBuffers, SortRequest, Tuning,
    ValueType,
};
use vksort_testing::patterns::{Pattern, generate};
use vksort_testing::segmented::Case;
use vksort_testing::{oracle, seed, validating};
use vksort_wgpu::wgpu::hal::api::Vulkan;
use vksort_wgpu::wgpu::{
    self, Adapter, Backends, Buffer, BufferSlice, BufferUsages, DeviceDescriptor, Features, Instance,
    InstanceDescriptor, InstanceFlags, Limits, Queue,
};
use vksort_wgpu::{BoundSort, Commands, Device, Error, Sorter, SorterOptions};

/// A trial with its name.
type Named = (&'static str, fn() -> Result<(), Failed>);

/// A device with what its sorts need.
struct Bench {
    device: wgpu::Device,
    queue: Queue,
    sorts: Device,
}

fn instance() -> Instance {
    let flags = if validating() { InstanceFlags::VALIDATION | InstanceFlags::DEBUG } else { InstanceFlags::empty() };
    let desc = InstanceDescriptor::new_without_display_handle();
    Instance::new(InstanceDescriptor { backends: Backends::VULKAN, flags, ..desc })
}

/// The adapter that the variables of the driver leave.
fn adapter() -> Adapter {
    let mut adapters = block_on(instance().enumerate_adapters(Backends::VULKAN));
    assert!(!adapters.is_empty(), "wgpu finds no Vulkan adapter to test on");
    adapters.swap_remove(0)
}

fn open(desc: &DeviceDescriptor<'_>) -> Result<Bench, Error> {
    let (device, queue, sorts) = Device::open(&adapter(), desc)?;
    Ok(Bench { device, queue, sorts })
}

/// The device that trials share; `main` closes it, as layers end the process badly that still know a device then.
static BENCH: Mutex<Option<Arc<Bench>>> = Mutex::new(None);

fn bench() -> Arc<Bench> {
    let mut bench = BENCH.lock().unwrap_or_else(PoisonError::into_inner);
    let open = || Arc::new(open(&DeviceDescriptor::default()).unwrap_or_else(|error| panic!("no device: {error}")));
    Arc::clone(bench.get_or_insert_with(open))
}

impl Bench {
    fn sorter(&self, request: &SortRequest) -> Result<Sorter, Error> {
        Sorter::new(&self.sorts, request, &SorterOptions::default())
    }

    fn buffer(&self, size: u64, usage: BufferUsages) -> Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    }

    /// A compute pass of one pipeline over these buffers, in an encoder of its own.
    fn pass(&self, source: &str, buffers: &[&Buffer], groups: u32) -> Commands {
        let source = wgpu::ShaderSource::Wgsl(source.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let resources = (0..).zip(buffers.iter().map(|buffer| buffer.as_entire_binding()));
        let entries: Vec<_> = resources.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        let layout = &pipeline.get_bind_group_layout(0);
        let group =
            self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(groups, 1, 1);
        drop(pass);
        encoder.finish().into()
    }

    /// Copies all of a buffer into a new one that the host can read.
    fn copy(&self, from: &Buffer) -> (Commands, Buffer) {
        let to = self.buffer(from.size(), BufferUsages::COPY_DST | BufferUsages::MAP_READ);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, &to, 0, from.size());
        (encoder.finish().into(), to)
    }
}

fn bind(sorter: &Sorter, buffers: SortBuffers<BufferSlice<'_>>) -> Result<BoundSort, Error> {
    // SAFETY: the buffers are of the device's instance, and live during the call.
    unsafe { sorter.bind(&buffers) }
}

fn pairs() -> SortRequest {
    SortRequest::new(KeyType::F32).value(ValueType::U32)
}

/// Requests of every kind that binds buffers in another way.
fn requests() -> Vec<(&'static str, SortRequest)> {
    let out = Placement::OutOfPlace;
    let (pairs, descending) = (pairs(), Order::Descending);
    vec![
        ("keys", SortRequest::new(KeyType::U32)),
        ("pairs-descending", pairs.order(descending)),
        ("u64-wide-values-out", SortRequest::new(KeyType::U64).value(ValueType::Bytes(12)).placement(out)),
        ("u8-out", SortRequest::new(KeyType::U8).placement(out).order(descending)),
        ("u16-bytes", SortRequest::new(KeyType::U16).value(ValueType::Bytes(1))),
        ("index-out", pairs.value(ValueType::Index).placement(out)),
        ("argsort", pairs.value(ValueType::Index).placement(out).key_output(KeyOutput::Discarded)),
        ("gathered", pairs.value(ValueType::Bytes(40))),
        ("window", SortRequest::new(KeyType::I32).bits(BitRange { low: 5, high: 19 })),
    ]
}

/// Counts from none to several tiles, from the host and from the device, with all bytes compared.
fn request(request: SortRequest) -> Result<(), Failed> {
    let bench = bench();
    let sorter = bench.sorter(&request)?;
    let capacity = 30_000.min(sorter.max_count());
    let elements = Elements::new(&bench, &sorter, capacity)?;
    for (pattern, count) in [
        (Pattern::Uniform, Count::Host(capacity)),
        (Pattern::Special, Count::Host(777)),
        (Pattern::FewDistinct, Count::Device),
        (Pattern::Uniform, Count::Host(1)),
        (Pattern::Uniform, Count::Host(0)),
    ] {
        let keys = generate(pattern, request.key, capacity as usize, seed());
        elements.sort(&bench, &keys, count, 20_123).map_err(|error| {
            let text = error.message().unwrap_or_default();
            Failed::from(format!("{pattern:?}, {count:?}: {text}"))
        })?;
    }
    Ok(())
}

/// The keys that [`WRITE`] writes.
fn written(count: u32, frame: u32) -> Vec<u32> {
    (0..count).map(|index| (index.wrapping_add(frame * 77)).wrapping_mul(0x9E37_79B9) >> 3).collect()
}

/// Writes keys with their indices and the number of keys, as a culling pass does. The frame comes from the host.
const WRITE: &str = "
    @group(0) @binding(0) var<storage, read_write> keys: array<u32>;
    @group(0) @binding(1) var<storage, read_write> values: array<u32>;
    @group(0) @binding(2) var<storage, read_write> count: array<u32>;
    @group(0) @binding(3) var<storage, read_write> frame: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&keys) {
            keys[id.x] = ((id.x + frame[0] * 77u) * 0x9E3779B9u) >> 3u;
            values[id.x] = id.x;
        }
        if id.x == 0u { count[1] = arrayLength(&keys) - frame[0]; }
    }";

fn expect_words(what: &str, given: &[u32], expected: &[u32]) -> Result<(), Failed> {
    let (given, expected) = (bytemuck::cast_slice(given), bytemuck::cast_slice(expected));
    oracle::difference(what, 4, given, expected).map_or(Ok(()), |difference| Err(difference.into()))
}

/// Many frames in flight, each between a pass that writes on the device and one that copies. Nothing is held or waited for:
/// sorter, sort and buffers go right behind the last submission.
fn frames() -> Result<(), Failed> {
    let bench = bench();
    let (count, frames) = (20_000u32, 24);
    let request = SortRequest::new(KeyType::U32).value(ValueType::U32);
    let sorter = bench.sorter(&request)?;
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let [keys, values, number, frame] = [count, count, 2, 1].map(|words| bench.buffer(u64::from(words) * 4, usage));
    let scratch = bench.buffer(sorter.scratch_size(count)?, sorter.scratch_usage());
    let buffers = SortBuffers::new(count)
        .keys(keys.slice(..))
        .values(values.slice(..))
        .count(number.slice(4..))
        .scratch(scratch.slice(..));
    // A second sort of the same elements shares the scratch, and undoes the first.
    let again = request.order(Order::Descending);
    let (sort, reverse) = (bind(&sorter, buffers)?, bind(&bench.sorter(&again)?, buffers)?);
    drop(sorter);
    let mut results = Vec::new();
    for index in 0..frames {
        bench.queue.write_buffer(&frame, 0, &u32::to_le_bytes(index));
        let write = bench.pass(WRITE, &[&keys, &values, &number, &frame], count.div_ceil(64));
        let (copy_keys, keys_after) = bench.copy(&keys);
        let (copy_values, values_after) = bench.copy(&values);
        let sorts = [reverse.record(Count::Device)?, sort.record(Count::Device)?];
        let [first, second] = sorts;
        Commands::submit(&bench.queue, [write, first, second, copy_keys, copy_values]);
        results.push((index, keys_after, values_after));
    }
    // What wgpu tracks lives until the device is done with it, also when it is destroyed and not only dropped.
    keys.destroy();
    scratch.destroy();
    drop((sort, reverse, keys, values, number, frame, scratch));
    for (index, keys_after, values_after) in results {
        let input = written(count, index);
        let sorted = (count - index) as usize;
        let mut indices = oracle::argsort(&again, bytemuck::cast_slice(&input[..sorted]));
        // The second sort is stable over what the first has left.
        indices.sort_by_key(|&at| input[at as usize]);
        let keys: Vec<u32> = indices.iter().map(|&at| input[at as usize]).collect();
        let (keys, values) = ([&keys, &input[sorted..]].concat(), {
            let rest: Vec<u32> = (sorted as u32..count).collect();
            [indices, rest].concat()
        });
        expect_words(&format!("keys of frame {index}"), &words(&read(&bench, &keys_after)?), &keys)?;
        expect_words(&format!("values of frame {index}"), &words(&read(&bench, &values_after)?), &values)?;
    }
    Ok(())
}

/// wgpu fills memory with zeros before its first use that it knows of. The sort's use has to be one of them: a result would
/// be lost otherwise. The limit on bindings makes it learn of the buffers in parts.
fn only_written_by_the_sort() -> Result<(), Failed> {
    let limits = Limits { max_storage_buffer_binding_size: 16 << 10, ..Limits::default() };
    let bench = open(&DeviceDescriptor { required_limits: limits, ..Default::default() })?;
    let count = 50_000u32;
    let request = SortRequest::new(KeyType::U32).value(ValueType::Index).placement(Placement::OutOfPlace);
    let sorter = bench.sorter(&request)?;
    let size = u64::from(count) * 4;
    let keys = bench.buffer(size, BufferUsages::STORAGE | BufferUsages::COPY_DST);
    let result = || bench.buffer(size + 512, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let input = written(count, 3);
    bench.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&input));
    let expected = oracle::argsort(&request, bytemuck::cast_slice(&input));
    for together in [true, false] {
        let (keys_out, values_out) = (result(), result());
        let part = 256..256 + size;
        let buffers = SortBuffers::new(count)
            .keys(keys.slice(..))
            .keys_out(keys_out.slice(part.clone()))
            .values_out(values_out.slice(part));
        let sort = bind(&sorter, buffers)?;
        let (copy, after) = bench.copy(&values_out);
        let (copy_keys, keys_after) = bench.copy(&keys_out);
        let sort = sort.record(count)?;
        if together {
            Commands::submit(&bench.queue, [sort, copy, copy_keys]);
        } else {
            Commands::submit(&bench.queue, [sort]);
            Commands::submit(&bench.queue, [copy, copy_keys]);
        }
        let around = |middle: &[u32]| [&[0; 64][..], middle, &[0; 64]].concat();
        let sorted: Vec<u32> = expected.iter().map(|&at| input[at as usize]).collect();
        let what = if together { "in one submission" } else { "in two submissions" };
        expect_words(&format!("indices, {what}"), &words(&read(&bench, &after)?), &around(&expected))?;
        expect_words(&format!("keys, {what}"), &words(&read(&bench, &keys_after)?), &around(&sorted))?;
    }
    Ok(())
}

/// A device of `request_device` sorts without any feature.
fn plain_device() -> Result<(), Failed> {
    let adapter = adapter();
    let (device, queue) = block_on(adapter.request_device(&DeviceDescriptor::default()))?;
    let sorts = Device::new(&device)?;
    let profile = sorts.profile();
    assert!(!profile.full_subgroups && !profile.small_storage, "{profile:?}");
    // wgpu's instances are of Vulkan 1.3, and software drivers have one subgroup size.
    if profile.api_version >= vksort::ash::vk::API_VERSION_1_3 {
        assert_eq!(profile.fixed_subgroups, vksort::FixedSubgroups::Spirv16);
        let text = format!("{:?}", Sorter::new(&sorts, &pairs(), &SorterOptions::default())?);
        assert!(text.contains("emulated: false"), "{text}");
    }
    let bench = Bench { device, queue, sorts };
    let bytes = SortRequest::new(KeyType::U16).value(ValueType::Bytes(1));
    let wide = SortRequest::new(KeyType::U128).value(ValueType::Bytes(12));
    let mut requests = vec![pairs(), bytes, wide];
    requests.extend(Algorithm::ALL.iter().map(|algorithm| pairs().algorithm(*algorithm)));
    for request in requests {
        let sorter = bench.sorter(&request)?;
        let most = if request.algorithm == Some(Algorithm::SingleWorkgroup) { 500 } else { 20_000 };
        let elements = Elements::new(&bench, &sorter, most)?;
        let keys = generate(Pattern::Uniform, request.key, most as usize, seed());
        for count in [Count::Host(most), Count::Device] {
            elements.sort(&bench, &keys, count, most)?;
        }
    }
    let rows = bytes.segments(Segments::RowsOf { stride: 333 });
    let keys = generate(Pattern::Uniform, KeyType::U16, 1000, seed());
    segments::sort(&bench, &Case::new(rows, u32::MAX, vec![9, 400, 200], 3, keys))
}

/// The device of `open` has the subgroups and the storage of small elements that the physical device has.
fn opened_device() -> Result<(), Failed> {
    let bench = bench();
    let profile = bench.sorts.profile();
    assert!(profile.full_subgroups && profile.small_storage, "{profile:?}");
    let expected = Tuning::for_device(profile);
    let sorter = Sorter::new(&bench.sorts, &pairs(), &SorterOptions::default().tuning(expected))?;
    let text = format!("{sorter:?}");
    assert!(text.contains("emulated: false"), "{text}");
    // Features that share a structure with those of sorts.
    let wanted = Features::SHADER_F16 & adapter().features();
    let bench = open(&DeviceDescriptor { required_features: wanted, ..Default::default() })?;
    assert_eq!(bench.device.features(), wanted);
    Ok(())
}

/// Sorters share pipelines, which a sorter uses longer than the one that made them.
fn shared_pipelines() -> Result<(), Failed> {
    let bench = open(&DeviceDescriptor::default())?;
    let first = bench.sorter(&pairs())?;
    let sorter = bench.sorter(&pairs())?;
    drop(first);
    let elements = Elements::new(&bench, &sorter, 20_000)?;
    let keys = generate(Pattern::Uniform, KeyType::F32, 20_000, seed());
    elements.sort(&bench, &keys, Count::Host(20_000), 0)
}

/// wgpu panics when raw commands come into an encoder with commands of its own. If it stops to, a sort can go into the
/// caller's encoder.
fn encoders_are_not_shared() -> Result<(), Failed> {
    let bench = open(&DeviceDescriptor::default())?;
    let buffer = bench.buffer(1024, BufferUsages::COPY_DST);
    let mut encoder = bench.device.create_command_encoder(&Default::default());
    encoder.clear_buffer(&buffer, 0, None);
    // SAFETY: nothing is done with the command buffer.
    let mix = AssertUnwindSafe(|| unsafe { encoder.as_hal_mut::<Vulkan, _, _>(|encoder| encoder.is_some()) });
    let message = match catch_unwind(mix) {
        Ok(_) => return Err("wgpu takes raw commands beside its own".into()),
        Err(panic) => panic.downcast_ref::<&str>().copied().unwrap_or_default().to_string(),
    };
    assert!(message.contains("Mixing"), "{message}");
    Ok(())
}

/// The times of steps are there once the commands have completed, and belong to one recording. They need no handles that
/// the caller still holds.
fn step_times() -> Result<(), Failed> {
    let bench = bench();
    let sorter = bench.sorter(&SortRequest::new(KeyType::U32))?;
    let count = 50_000;
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let keys = bench.buffer(4 * u64::from(count), usage);
    let mut input = written(count, 1);
    bench.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&input));
    let sort = bind(&sorter, SortBuffers::new(count).keys(keys.slice(..)))?;
    let (dropped, never) = sort.record_timed(count)?;
    drop(dropped);
    let (first, times) = sort.record_timed(count)?;
    let (second, few) = sort.record_timed(1)?;
    drop((sort, sorter));
    assert!(times.read()?.is_none(), "nothing has been submitted");
    let (copy, after) = bench.copy(&keys);
    let started = Instant::now();
    Commands::submit(&bench.queue, [first, second, copy]);
    input.sort();
    expect_words("keys", &words(&read(&bench, &after)?), &input)?;
    let most = started.elapsed().as_nanos() as f64;
    let (steps, few) = (times.read()?.expect("it has completed"), few.read()?.expect("it has completed"));
    let names: Vec<String> = steps.iter().map(|step| step.name.to_string()).collect();
    assert!(names.len() > 3 && names.contains(&"histogram".to_string()), "{names:?}");
    assert!(few.len() < steps.len(), "{few:?}");
    let sum: f64 = steps.iter().chain(&few).map(|step| step.nanoseconds).sum();
    assert!(sum > 0.0 && sum <= most, "the steps take {sum} ns of {most} ns");
    assert!(never.read()?.is_none(), "it was not submitted");
    Ok(())
}

/// A framework submits by itself; the parts come in order.
fn framework() -> Result<(), Failed> {
    let bench = bench();
    let request = SortRequest::new(KeyType::U32);
    let sorter = bench.sorter(&request)?;
    let keys = bench.buffer(4 * 5000, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
    let mut input = written(5000, 1);
    bench.queue.write_buffer(&keys, 0, bytemuck::cast_slice(&input));
    let sort = bind(&sorter, SortBuffers::new(5000).keys(keys.slice(..)))?;
    // SAFETY: all parts go into one submission.
    let index = unsafe {
        let (copy, after) = bench.copy(&keys);
        let parts: Vec<_> =
            [sort.record(5000)?, copy].into_iter().flat_map(|part| part.into_command_buffers()).collect();
        assert_eq!(parts.len(), 3);
        bench.queue.submit(parts);
        after
    };
    input.sort();
    expect_words("keys", &words(&read(&bench, &index)?), &input)
}

fn main() -> ExitCode {
    messages::listen();
    let arguments = Arguments::from_args();
    // wgpu's own errors, which no trial expects, panic; the layer's are logged on the thread whose call they are about.
    let trial = |name: String, work: fn() -> Result<(), Failed>| Trial::test(name, move || messages::none_in(work));
    let mut trials: Vec<Trial> = requests()
        .into_iter()
        .map(|(name, one)| Trial::test(format!("request/{name}"), move || messages::none_in(|| request(one))))
        .collect();
    let others: [Named; 9] = [
        ("encoders_are_not_shared", encoders_are_not_shared),
        ("recording_takes_microseconds", cost::recording_takes_microseconds),
        ("shared_pipelines", shared_pipelines),
        ("step_times", step_times),
        ("frames", frames),
        ("only_written_by_the_sort", only_written_by_the_sort),
        ("plain_device", plain_device),
        ("opened_device", opened_device),
        ("framework", framework),
    ];
    let suites = [&others[..], &refused::TRIALS, &segments::TRIALS, &records::TRIALS];
    trials.extend(suites.concat().into_iter().map(|(name, work)| trial(name.into(), work)));
    trials.push(Trial::test("messages/layer_is_heard", messages::layer_is_heard));
    if !arguments.list {
        let bench = bench();
        let profile = bench.sorts.profile();
        let subgroup = profile.subgroup_size;
        println!(
            "device {} ({}), subgroup {subgroup}, validation {}, VKSORT_SEED={}",
            profile.name,
            profile.driver,
            validating(),
            seed()
        );
        if let Ok(expected) = std::env::var("VKSORT_EXPECT_SUBGROUP") {
            assert_eq!(subgroup.to_string(), expected, "the configuration did not take effect: subgroup size");
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    BENCH.lock().unwrap_or_else(PoisonError::into_inner).take();
    conclusion.exit_code()
}
