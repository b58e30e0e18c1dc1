//! What is refused: values, buffers and devices, each by an error that names it.

use std::cell::Cell;
use std::sync::OnceLock;

use libtest_mimic::Failed;
use pollster::block_on;
use vksort::ash::{self, vk};
use vksort::{Count, KeyType, SortBuffers, SortRequest};
use vksort_wgpu::CREATED;
use vksort_wgpu::wgpu::{
    self, Adapter, BackendOptions, Backends, BufferUsages, DeviceDescriptor, ErrorFilter, Features, Instance,
    InstanceDescriptor, Limits, NoopBackendOptions,
};
use vksort_wgpu::{Commands, Device, Sorter, SorterOptions};

use crate::{Named, adapter, bench, bind, pairs};
use vksort_testing::expect;

pub const TRIALS: [Named; 7] = [
    ("refused/buffers", buffers),
    ("refused/counts", counts),
    ("refused/destroyed", destroyed),
    ("refused/descriptions", descriptions),
    ("refused/backends", backends),
    ("refused/by-wgpu", by_wgpu),
    ("refused/mapping", mapping),
];

thread_local! {
    /// Whether wgpu refuses the next device that this thread opens.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
    /// The number of opened devices that were destroyed by this thread.
    static DESTROYED: Cell<u32> = const { Cell::new(0) };
}

static DESTROY: OnceLock<vk::PFN_vkDestroyDevice> = OnceLock::new();

unsafe extern "system" fn count_destroyed(device: vk::Device, callbacks: *const vk::AllocationCallbacks<'_>) {
    DESTROYED.set(DESTROYED.get() + 1);
    // SAFETY: the caller's duties are the same; all devices here are of one driver, whose function it is.
    unsafe { DESTROY.get().unwrap()(device, callbacks) };
}

unsafe extern "system" fn no_memory(
    _: vk::Device,
    _: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    _: *mut vk::DescriptorSetLayout,
) -> vk::Result {
    vk::Result::ERROR_OUT_OF_HOST_MEMORY
}

/// The device, which counts its end. If it is to be refused, it has no memory for the first object that wgpu makes of it.
fn counted(raw: ash::Device) -> ash::Device {
    let mut functions = raw.fp_v1_0().clone();
    DESTROY.get_or_init(|| functions.destroy_device);
    functions.destroy_device = count_destroyed;
    if REFUSED.replace(false) {
        functions.create_descriptor_set_layout = no_memory;
    }
    let (v11, v12, v13) = (raw.fp_v1_1().clone(), raw.fp_v1_2().clone(), raw.fp_v1_3().clone());
    ash::Device::from_parts_1_3(raw.handle(), functions, v11, v12, v13)
}

/// A device that wgpu refuses is destroyed, once; another one is destroyed at its end.
fn by_wgpu() -> Result<(), Failed> {
    CREATED.set(counted);
    let open = || Device::open(&adapter(), &DeviceDescriptor::default());
    let before = DESTROYED.get();
    REFUSED.set(true);
    expect(open(), &["vulkan::Adapter::device_from_raw", "memory"])?;
    assert_eq!(DESTROYED.get(), before + 1);
    let opened = open()?;
    assert_eq!(DESTROYED.get(), before + 1);
    drop(opened);
    assert_eq!(DESTROYED.get(), before + 2);
    Ok(())
}

fn buffers() -> Result<(), Failed> {
    let bench = bench();
    let sorter = bench.sorter(&pairs())?;
    let count = 40_000u32;
    let (size, storage) = (u64::from(count) * 4, BufferUsages::STORAGE);
    let good = bench.buffer(4 * size, storage);
    let (keys, values) = (good.slice(..size), good.slice(2 * size..));
    let all = SortBuffers::new(count).keys(keys).values(values);
    bind(&sorter, all)?;

    let other = bench.buffer(size, BufferUsages::COPY_DST);
    let slice = other.slice(..);
    expect(bind(&sorter, all.keys(slice)), &["buffer keys", "TRANSFER_DST", "STORAGE_BUFFER"])?;
    expect(bind(&sorter, all.values(slice)), &["buffer values", "STORAGE_BUFFER"])?;
    expect(bind(&sorter, all.count(slice)), &["buffer count", "STORAGE_BUFFER"])?;
    expect(bind(&sorter, all.scratch(good.slice(..))), &["buffer scratch", "INDIRECT_BUFFER"])?;
    let (given, needed) = ((size - 4).to_string(), size.to_string());
    expect(bind(&sorter, all.keys(good.slice(..size - 4))), &["keys", &given, &needed])?;
    expect(bind(&sorter, all.count(good.slice(size..size + 2))), &["count", "2 bytes", "4 bytes"])?;
    expect(bind(&sorter, all.count(good.slice(size + 2..))), &["count", "multiples of 4"])?;
    expect(bind(&sorter, all.values(good.slice(256..))), &["keys and values overlap"])?;
    expect(bind(&sorter, all.values(None)), &["buffer values is absent"])?;
    expect(bind(&sorter, all.keys_out(values)), &["buffer keys_out is present"])?;
    let small = bench.buffer(256, sorter.scratch_usage());
    let needed = sorter.scratch_size(count)?.to_string();
    expect(bind(&sorter, all.scratch(small.slice(..))), &["scratch", "256 bytes", &needed])?;

    // Another device of the same instance; wgpu knows whose a buffer is.
    let adapter = adapter();
    let open = || Device::open(&adapter, &DeviceDescriptor::default());
    let ((device, queue, sorts), (foreign, _foreign_queue, _)) = (open()?, open()?);
    let desc = wgpu::BufferDescriptor { label: Some("foreign"), size, usage: storage, mapped_at_creation: false };
    let (keys, values) = (device.create_buffer(&desc), foreign.create_buffer(&desc));
    let sorter = Sorter::new(&sorts, &pairs(), &SorterOptions::default())?;
    let mixed = SortBuffers::new(count).keys(keys.slice(..)).values(values.slice(..));
    expect(bind(&sorter, mixed), &["create_bind_group", "foreign", "doesn't match"])?;
    drop(queue);
    Ok(())
}

fn counts() -> Result<(), Failed> {
    let bench = bench();
    let sorter = bench.sorter(&SortRequest::new(KeyType::U32))?;
    let keys = bench.buffer(4000, BufferUsages::STORAGE);
    let sort = bind(&sorter, SortBuffers::new(1000).keys(keys.slice(..)))?;
    expect(sort.record(1001), &["1001", "1000"])?;
    expect(sort.record(Count::Device), &["buffer count is absent"])?;
    // A sort of nothing needs no buffers.
    let none = SortBuffers::new(0);
    Commands::submit(&bench.queue, [bind(&sorter, none)?.record(0)?]);
    expect(bind(&sorter, none.count(keys.slice(..4))), &["count on the device", "0 elements"])?;
    // More scratch than wgpu's limit on a buffer, which would panic if it were left to wgpu.
    let (device, _queue, sorts) = Device::open(
        &adapter(),
        &DeviceDescriptor {
            required_limits: Limits { max_buffer_size: 4096, ..Limits::default() },
            ..Default::default()
        },
    )?;
    let desc =
        wgpu::BufferDescriptor { label: None, size: 4096, usage: BufferUsages::STORAGE, mapped_at_creation: false };
    let keys = device.create_buffer(&desc);
    let options = SorterOptions::default().label("few bytes");
    let sorter = Sorter::new(&sorts, &SortRequest::new(KeyType::U32), &options)?;
    let in_place = SortBuffers::new(sorter.max_count().min(1 << 20)).keys(keys.slice(..));
    expect(bind(&sorter, in_place), &["create_buffer", "few bytes: scratch", "4096"])
}

/// A destroyed buffer is refused by `bind`, and by wgpu when the sort is submitted. Nothing runs then.
fn destroyed() -> Result<(), Failed> {
    let bench = bench();
    let sorter = bench.sorter(&pairs())?;
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let count = 40_000u32;
    let size = u64::from(count) * 4;
    let [keys, values] = [bench.buffer(size, usage), bench.buffer(size, usage)];
    let scratch = bench.buffer(sorter.scratch_size(count)?, sorter.scratch_usage());
    let in_place = SortBuffers::new(count).keys(keys.slice(..));
    let all = in_place.values(values.slice(..)).scratch(scratch.slice(..));
    let sort = bind(&sorter, all)?;
    let recorded = sort.record(count)?;
    values.destroy();
    let scope = bench.device.push_error_scope(ErrorFilter::Validation);
    Commands::submit(&bench.queue, [recorded, bench.copy(&keys).0]);
    let error = block_on(scope.pop()).ok_or("wgpu submits a sort of a destroyed buffer")?;
    assert!(error.to_string().contains("destroyed"), "{error}");
    expect(sort.record(count), &["buffer values", "destroyed"])?;
    expect(bind(&sorter, all), &["buffer values", "destroyed"])?;
    let values = bench.buffer(size, usage);
    let sort = bind(&sorter, all.values(values.slice(..)))?;
    scratch.destroy();
    expect(sort.record(count), &["buffer scratch", "destroyed"])
}

fn descriptions() -> Result<(), Failed> {
    let adapter = adapter();
    let open = |desc| Device::open(&adapter, &desc);
    let lacks = Features::all() - adapter.features() - Features::all_experimental_mask();
    let one = lacks.iter().next().ok_or("the adapter has all features")?;
    let name = one.iter_names().next().map(|(name, _)| name).unwrap_or_default();
    expect(open(DeviceDescriptor { required_features: one, ..Default::default() }), &["required_features", name])?;
    let limits = Limits { max_bind_groups: 999_999, ..Limits::default() };
    let most = adapter.limits().max_bind_groups.to_string();
    let words = ["required_limits.max_bind_groups", "999999", &most];
    expect(open(DeviceDescriptor { required_limits: limits, ..Default::default() }), &words)?;
    if let Some(experimental) = (adapter.features() & Features::all_experimental_mask()).iter().next() {
        let words = ["required_features", "EXPERIMENTAL", "experimental_features"];
        expect(open(DeviceDescriptor { required_features: experimental, ..Default::default() }), &words)?;
    }
    // Sorts tell wgpu of buffers through a compute pass, which takes limits of compute.
    let none = Limits { max_storage_buffers_per_shader_stage: 0, ..Limits::default() };
    expect(open(DeviceDescriptor { required_limits: none, ..Default::default() }), &["of wgpu failed", "torage"])
}

/// Another backend is refused by its name. wgpu's backend that does nothing stands for all of them.
fn backends() -> Result<(), Failed> {
    let noop = NoopBackendOptions { enable: true, ..Default::default() };
    let backend_options = BackendOptions { noop, ..Default::default() };
    let desc = InstanceDescriptor::new_without_display_handle();
    let instance = Instance::new(InstanceDescriptor { backends: Backends::NOOP, backend_options, ..desc });
    let adapters: Vec<Adapter> = block_on(instance.enumerate_adapters(Backends::NOOP));
    let adapter = adapters.first().ok_or("wgpu's backend that does nothing is not there")?;
    expect(Device::open(adapter, &DeviceDescriptor::default()), &["backend", "noop", "Vulkan"])?;
    let (device, _queue) = block_on(adapter.request_device(&DeviceDescriptor::default()))?;
    expect(Device::new(&device), &["backend", "noop", "Vulkan"])
}

/// wgpu refuses a mapping behind the submission, by a panic. The sort is already running then, so nothing of it is destroyed.
fn mapping() -> Result<(), Failed> {
    CREATED.set(counted);
    let before = DESTROYED.get();
    let (device, queue, sorts) = Device::open(&adapter(), &DeviceDescriptor::default())?;
    let count = 1u32 << 22;
    let buffer = |size, usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let keys = buffer(4 * u64::from(count), BufferUsages::STORAGE | BufferUsages::COPY_DST);
    let unreadable = buffer(16, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let input: Vec<u32> = (0..count).map(|index| index.wrapping_mul(0x9E37_79B9)).collect();
    queue.write_buffer(&keys, 0, bytemuck::cast_slice(&input));
    let sorter = Sorter::new(&sorts, &SortRequest::new(KeyType::U32), &SorterOptions::default())?;
    let sort = bind(&sorter, SortBuffers::new(count).keys(keys.slice(..)))?;
    // The commands alone hold the sort from here on, and with it the device.
    let commands = sort.record(count)?;
    drop((sort, sorter));
    let encoder = device.create_command_encoder(&Default::default());
    encoder.map_buffer_on_submit(&unreadable, wgpu::MapMode::Write, .., |_| ());
    let submit = || Commands::submit(&queue, [encoder.finish().into(), commands]);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(submit)).is_err();
    assert!(panicked, "a buffer without the usage MAP_WRITE was mapped for writing");
    device.poll(wgpu::PollType::wait_indefinitely())?;
    drop((keys, unreadable, sorts, queue, device));
    assert_eq!(DESTROYED.get(), before, "a submitted sort was destroyed before it had completed");
    Ok(())
}
