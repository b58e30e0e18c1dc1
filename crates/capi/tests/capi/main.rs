//! The C API, called as C calls it: what it gives, and what it refuses.
#![allow(unsafe_code, reason = "functions of C have no safe form")]

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ash::vk;
use vksort::{BufferRange, KeyType, Requirements, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
use vksort_capi::{device::*, names::*, outcome::*, record::*, sorter::*, types::*, vrdx};

/// Calls a function of the C API.
macro_rules! c {
    ($call:expr) => {{
        // SAFETY: pointers are null, or lead to what the test owns; handles of Vulkan are those of its device.
        let result = unsafe { $call };
        result
    }};
}

/// A structure with its size, and all else zero.
macro_rules! sized {
    ($name:ident { $($field:ident: $value:expr),* $(,)? }) => {{
        let mut made: $name = zeroed();
        made.struct_size = size_of::<$name>() as u32;
        $(made.$field = $value;)*
        made
    }};
}

mod functions;
mod logged;
mod records;
mod refused;
mod segments;
mod verified;
#[cfg(feature = "visitors")]
mod visited;

/// A structure of the header in which all is zero.
fn zeroed<T: Copy>() -> T {
    // SAFETY: it is made of integers, handles and pointers that may be null.
    unsafe { std::mem::zeroed() }
}

fn text() -> String {
    // SAFETY: it is never null, and ends with a zero.
    unsafe { CStr::from_ptr(last_error_text()) }.to_str().unwrap().to_string()
}

/// Expects a code, and a text with these parts.
#[track_caller]
fn refused(result: VksortResult, code: VksortResult, parts: &[&str]) {
    let text = text();
    assert_eq!(result, code, "{text}");
    for part in parts {
        assert!(text.contains(part), "{text:?} is without {part:?}");
    }
}

#[track_caller]
fn done(result: VksortResult) {
    assert_eq!(result, VKSORT_SUCCESS, "{}", text());
}

/// What all tests share; never destroyed.
struct Vulkan {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    /// A handle of the device's requirements, as a number.
    requirements: usize,
}

fn vulkan() -> &'static Vulkan {
    static VULKAN: OnceLock<Vulkan> = OnceLock::new();
    VULKAN.get_or_init(|| {
        // SAFETY: the Vulkan library is trusted to be one; what is created is created with what is found to be needed.
        unsafe {
            let entry = ash::Entry::load().unwrap();
            let mut needed = sized!(VksortInstanceRequirements {});
            let get = Some(entry.static_fn().get_instance_proc_addr);
            done(get_instance_requirements(get, &mut needed));
            let extensions: &[*const c_char] = match needed.extension_count {
                0 => &[],
                count => std::slice::from_raw_parts(needed.extensions, count as usize),
            };
            let application = vk::ApplicationInfo::default().api_version(needed.api_version);
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .flags(vk::InstanceCreateFlags::from_raw(needed.flags))
                .enabled_extension_names(extensions);
            let instance = entry.create_instance(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let info = sized!(VksortRequirementsInfo {
                get_instance_proc_addr: get,
                instance: instance.handle(),
                physical_device: physical,
            });
            let mut requirements = null_mut();
            done(create_requirements(&info, &mut requirements));
            let mut needed = sized!(VksortDeviceRequirements {});
            done(get_device_requirements(requirements, &mut needed));
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let names = std::slice::from_raw_parts(needed.extensions, needed.extension_count as usize);
            let push = vk::KHR_PUSH_DESCRIPTOR_NAME;
            let available = instance.enumerate_device_extension_properties(physical).unwrap();
            let pushes = available.iter().any(|extension| extension.extension_name_as_c_str() == Ok(push));
            let names: Vec<_> = names.iter().copied().chain(pushes.then_some(push.as_ptr())).collect();
            let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            info.p_next = needed.features.cast();
            let device = instance.create_device(physical, &info, None).unwrap();
            done(check_device(requirements, (&raw const info).cast()));
            let queue = device.get_device_queue(0, 0);
            Vulkan { entry, instance, physical, device, queue, requirements: requirements.expose_provenance() }
        }
    })
}

impl Vulkan {
    fn requirements(&self) -> VksortRequirements {
        std::ptr::with_exposed_provenance_mut(self.requirements)
    }

    fn get(&self) -> PFN_vkGetInstanceProcAddr {
        Some(self.entry.static_fn().get_instance_proc_addr)
    }

    fn info(&self) -> VksortRequirementsInfo {
        sized!(VksortRequirementsInfo {
            get_instance_proc_addr: self.get(),
            instance: self.instance.handle(),
            physical_device: self.physical,
        })
    }

    fn vrdx_info(&self) -> VksortVrdxInfo {
        sized!(VksortVrdxInfo {
            get_instance_proc_addr: self.get(),
            instance: self.instance.handle(),
            physical_device: self.physical,
            device: self.device.handle(),
        })
    }

    fn sorter_info(&self, request: &VksortSortRequest) -> VksortSorterInfo {
        sized!(VksortSorterInfo { device: self.device.handle(), requirements: self.requirements(), request: request })
    }

    #[track_caller]
    fn sorter(&self, request: &VksortSortRequest) -> VksortSorter {
        let mut sorter = null_mut();
        done(c!(create_sorter(&self.sorter_info(request), &mut sorter)));
        sorter
    }

    /// A buffer in mapped memory; never destroyed.
    fn buffer(&self, size: u64, usage: u32) -> (VksortBufferRange, *mut u8) {
        let usage_flags = vk::BufferUsageFlags::from_raw(usage);
        let info = vk::BufferCreateInfo::default().size(size).usage(usage_flags);
        // SAFETY: the memory is of a type that the buffer allows, and bound once.
        unsafe {
            let buffer = self.device.create_buffer(&info, None).unwrap();
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let types = self.instance.get_physical_device_memory_properties(self.physical);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let fits = |kind: &u32| {
                needs.memory_type_bits >> kind & 1 == 1
                    && types.memory_types[*kind as usize].property_flags.contains(wanted)
            };
            let kind = (0..types.memory_type_count).find(fits).unwrap();
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let mut info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            if usage_flags.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
                info = info.push_next(&mut flags);
            }
            let memory = self.device.allocate_memory(&info, None).unwrap();
            self.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let mapped = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).unwrap();
            (VksortBufferRange { buffer, offset: 0, size, usage, reserved: 0 }, mapped.cast())
        }
    }

    fn commands(&self) -> vk::CommandBuffer {
        let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
        // SAFETY: the device is alive.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default().flags(flags);
            let pool = self.device.create_command_pool(&info, None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            self.device.allocate_command_buffers(&info).unwrap()[0]
        }
    }

    /// Runs what `record` records.
    fn run(&self, record: impl FnOnce(vk::CommandBuffer)) {
        static QUEUE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let commands = self.commands();
        // SAFETY: the command buffer is new, and the queue is locked.
        unsafe {
            self.device.begin_command_buffer(commands, &Default::default()).unwrap();
            record(commands);
            self.device.end_command_buffer(commands).unwrap();
            let fence = self.device.create_fence(&Default::default(), None).unwrap();
            let commands = [commands];
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            let _locked = QUEUE.lock().unwrap();
            self.device.queue_submit(self.queue, &submits, fence).unwrap();
            self.device.wait_for_fences(&[fence], true, 60_000_000_000).unwrap();
        }
    }
}

fn u32_keys() -> VksortSortRequest {
    sized!(VksortSortRequest { key: VKSORT_KEY_U32 })
}

/// A sorter's buffers for so many elements, with their mapped memory in the order of the fields.
fn buffers_of(sorter: VksortSorter, capacity: u32) -> (VksortBuffers, [*mut u8; 6]) {
    let mut needs = sized!(VksortBufferRequirements {});
    done(c!(get_buffer_requirements(sorter, capacity, &mut needs)));
    buffers_for(&needs, capacity)
}

/// Buffers of these sizes, without a count of no elements.
fn buffers_for(needs: &VksortBufferRequirements, capacity: u32) -> (VksortBuffers, [*mut u8; 6]) {
    let mut mapped = [null_mut(); 6];
    let mut buffers = sized!(VksortBuffers { capacity: capacity });
    let fields = [
        (&mut buffers.keys, needs.keys),
        (&mut buffers.values, needs.values),
        (&mut buffers.keys_out, needs.keys_out),
        (&mut buffers.values_out, needs.values_out),
        (&mut buffers.scratch, needs.scratch),
        (&mut buffers.count, if capacity > 0 { needs.count } else { zeroed() }),
    ];
    for ((range, need), mapped) in fields.into_iter().zip(&mut mapped) {
        if need.size > 0 {
            (*range, *mapped) = vulkan().buffer(need.size, need.usage);
        }
    }
    (buffers, mapped)
}

fn bound(sorter: VksortSorter, buffers: &VksortBuffers) -> VksortSort {
    let mut sort = null_mut();
    done(c!(bind(sorter, buffers, &mut sort)));
    sort
}

#[test]
fn the_table_of_capabilities_is_that_of_the_crate() {
    let mut capabilities = sized!(VksortCapabilities {});
    done(c!(get_capabilities(&mut capabilities)));
    assert_eq!(capabilities.key_types as usize, KeyType::ALL.len());
    assert_eq!(capabilities.algorithms, VKSORT_ALGORITHM_SINGLE_WORKGROUP);
    assert_eq!(capabilities.max_value_bytes, ValueType::MAX_BYTES);
    let version = env!("CARGO_PKG_VERSION");
    let packed = capabilities.version;
    let parts = (vk::api_version_major(packed), vk::api_version_minor(packed), vk::api_version_patch(packed));
    assert_eq!(format!("{}.{}.{}", parts.0, parts.1, parts.2), version);
    assert_eq!((packed, parts), (VKSORT_VERSION, (VKSORT_VERSION_MAJOR, VKSORT_VERSION_MINOR, VKSORT_VERSION_PATCH)));
    for (index, key) in KeyType::ALL.iter().enumerate() {
        let mut properties = sized!(VksortKeyTypeProperties {});
        done(c!(get_key_type_properties(index as u32 + 1, &mut properties)));
        // SAFETY: names are static texts.
        let name = unsafe { CStr::from_ptr(properties.name) };
        assert_eq!((name.to_str(), properties.bits), (Ok(key.name()), key.bits()));
        assert_eq!(properties.flags & VKSORT_KEY_IS_FLOAT != 0, key.is_float());
        assert_eq!(properties.flags & VKSORT_KEY_IS_SIGNED != 0, key.is_signed());
        assert!(properties.flags & VKSORT_KEY_IS_BUILT != 0 && properties.algorithms == 0b1110);
    }
}

/// Words that follow from a seed.
fn words(count: usize) -> Vec<u32> {
    let seed =
        std::env::var("VKSORT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("VKSORT_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| random.u32(..)).collect()
}

#[test]
fn every_field_of_a_request_does_what_it_says() {
    let vulkan = vulkan();
    let count = 30_000usize;
    // Few values, so that there are equal keys.
    let keys: Vec<u32> = words(count).into_iter().map(|word| ((word % 5_000) << 3) | (word >> 29)).collect();
    let pairs = VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 4, ..u32_keys() };
    let requests = [
        u32_keys(),
        pairs,
        VksortSortRequest { order: VKSORT_ORDER_DESCENDING, ..pairs },
        VksortSortRequest { low_bit: 3, ..pairs },
        VksortSortRequest { low_bit: 2, high_bit: 9, ..pairs },
        VksortSortRequest { placement: VKSORT_PLACEMENT_OUT_OF_PLACE, ..pairs },
        VksortSortRequest { value: VKSORT_VALUE_INDEX, value_bytes: 0, ..pairs },
        VksortSortRequest {
            key_output: VKSORT_KEY_OUTPUT_DISCARDED,
            placement: VKSORT_PLACEMENT_OUT_OF_PLACE,
            ..pairs
        },
        VksortSortRequest { key: VKSORT_KEY_I32, ..pairs },
        VksortSortRequest { flags: VKSORT_REQUEST_NOT_STABLE, ..u32_keys() },
        VksortSortRequest { algorithm: VKSORT_ALGORITHM_ONESWEEP, ..pairs },
        VksortSortRequest { algorithm: VKSORT_ALGORITHM_REDUCE_THEN_SCAN, ..pairs },
    ];
    for (index, request) in requests.iter().enumerate() {
        let signed = request.key == VKSORT_KEY_I32;
        let keys: Vec<u32> = keys.iter().map(|key| if signed { key.wrapping_mul(0x9E37_79B9) } else { *key }).collect();
        let high = if request.high_bit == 0 { 32 } else { request.high_bit };
        let rank = |key: u32| {
            let key = if signed { key ^ 1 << 31 } else { key };
            let digit = (u64::from(key) >> request.low_bit) & ((1 << (high - request.low_bit)) - 1);
            if request.order == VKSORT_ORDER_DESCENDING { u64::MAX - digit } else { digit }
        };
        let info = VksortSorterInfo { access: index as u32 % 2, ..vulkan.sorter_info(request) };
        let mut sorter = null_mut();
        done(c!(create_sorter(&info, &mut sorter)));
        let (buffers, mapped) = buffers_of(sorter, count as u32);
        let sort = bound(sorter, &buffers);
        let out = request.placement == VKSORT_PLACEMENT_OUT_OF_PLACE;
        let discarded = request.key_output == VKSORT_KEY_OUTPUT_DISCARDED;
        for sorted in [count, count / 2] {
            let on_device = sorted < count;
            // SAFETY: the buffers hold so many words, and the device is not using them.
            unsafe {
                mapped[0].cast::<u32>().copy_from_nonoverlapping(keys.as_ptr(), count);
                if !mapped[1].is_null() {
                    (0..count).for_each(|at| mapped[1].cast::<u32>().add(at).write(at as u32));
                }
                mapped[5].cast::<u32>().write(sorted as u32);
            }
            let given = if on_device { VKSORT_COUNT_ON_DEVICE } else { sorted as u64 };
            vulkan.run(|commands| done(c!(cmd_sort(commands, sort, given, null()))));
            let mut order: Vec<u32> = (0..sorted as u32).collect();
            order.sort_by_key(|at| rank(keys[*at as usize]));
            let read = |memory: *mut u8| {
                // SAFETY: the buffer holds so many words, and the device has finished.
                unsafe { std::slice::from_raw_parts(memory.cast::<u32>(), sorted) }.to_vec()
            };
            if !discarded {
                let expected: Vec<u32> = order.iter().map(|at| keys[*at as usize]).collect();
                assert!(
                    read(mapped[if out { 2 } else { 0 }]) == expected,
                    "keys of request {index}, {sorted} elements"
                );
            }
            if request.value != VKSORT_VALUE_NONE {
                assert!(read(mapped[if out { 3 } else { 1 }]) == order, "values of request {index}, {sorted} elements");
            }
        }
        done(destroy_sort(sort));
        done(destroy_sorter(sorter));
    }
}

#[test]
fn steps_are_named_and_timed() {
    let vulkan = vulkan();
    let sorter = vulkan.sorter(&u32_keys());
    let (buffers, _) = buffers_of(sorter, 20_000);
    let sort = bound(sorter, &buffers);
    let (mut queries, mut steps) = (0, 0);
    done(c!(get_query_count(sort, 20_000, &mut queries)));
    done(c!(get_step_times(sort, 20_000, 0, null(), 64, &mut steps, null_mut())));
    assert_eq!(steps + 1, queries);
    let ticks: Vec<u64> = (0..queries.into()).collect();
    let mut times = vec![VksortStepTime { nanoseconds: -1.0, name: [1; VKSORT_STEP_NAME_SIZE], reserved: 1 }; 2];
    steps = 2;
    let code = c!(get_step_times(sort, 20_000, queries, ticks.as_ptr(), 64, &mut steps, times.as_mut_ptr()));
    assert_eq!((code, steps), (VKSORT_INCOMPLETE, 2));
    // SAFETY: names end with a zero.
    assert_eq!(unsafe { CStr::from_ptr(times[0].name.as_ptr()) }, c"clear");
    assert!(times.iter().all(|time| time.nanoseconds >= 0.0));
}

/// Recordings of a batch, and batches.
const RECORDINGS: u32 = 50;
const BATCHES: u32 = 400;
/// What a call through C may add.
const MOST: Duration = Duration::from_micros(1);

#[test]
fn recording_through_c_adds_less_than_a_microsecond() {
    let vulkan = vulkan();
    let (count, request) = (1 << 20, VksortSortRequest { value: VKSORT_VALUE_BYTES, value_bytes: 4, ..u32_keys() });
    let sorter = vulkan.sorter(&request);
    let (buffers, _) = buffers_of(sorter, count);
    let sort = bound(sorter, &buffers);
    let range = |range: VksortBufferRange| BufferRange::new(range.buffer, range.size);
    let same =
        SortBuffers::new(count).keys(range(buffers.keys)).values(range(buffers.values)).scratch(range(buffers.scratch));
    let request = SortRequest::new(KeyType::U32).value(ValueType::U32);
    // SAFETY: the device was created with what requirements name, and lives on.
    let rust = unsafe {
        let requirements = Requirements::query(&vulkan.instance, vulkan.physical).unwrap();
        let sorter = Sorter::new(&vulkan.device, &requirements, &request, &SorterOptions::default()).unwrap();
        sorter.bind(&same).unwrap()
    };
    let commands = vulkan.commands();
    let time = |record: &dyn Fn()| {
        // SAFETY: the command buffer is never submitted.
        unsafe { vulkan.device.begin_command_buffer(commands, &Default::default()).unwrap() };
        let started = Instant::now();
        (0..RECORDINGS).for_each(|_| record());
        let taken = started.elapsed() / RECORDINGS;
        // SAFETY: as above.
        unsafe { vulkan.device.end_command_buffer(commands).unwrap() };
        taken
    };
    // The same by a call that takes its buffers, where the device can push descriptors.
    let info = vulkan.vrdx_info();
    let mut pushed = null_mut();
    let pushes = c!(vrdx::create(&info, &mut pushed)) == VKSORT_SUCCESS;
    let (mut size, mut usage) = (0, 0);
    let mut each = sized!(VksortVrdxSort {
        element_count: count,
        keys_buffer: buffers.keys.buffer,
        values_buffer: buffers.values.buffer,
    });
    if pushes {
        done(c!(vrdx::get_storage_requirements(pushed, count, 1, &mut size, &mut usage)));
        each.storage_buffer = vulkan.buffer(size, usage).0.buffer;
        let beyond = VksortVrdxSort { query_pool: vk::Handle::from_raw(1), query: u32::MAX - 14, ..each };
        refused(c!(vrdx::cmd_sort(commands, pushed, &beyond)), VKSORT_ERROR_VALUE, &["query is 4294967281"]);
    }
    // They take turns.
    let (mut by_c, mut by_rust, mut by_push) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        by_c.push(time(&|| done(c!(cmd_sort(commands, sort, count.into(), null())))));
        // SAFETY: the command buffer is recording, and never submitted.
        by_rust.push(time(&|| unsafe { rust.record(commands, count).unwrap() }));
        if pushes {
            by_push.push(time(&|| done(c!(vrdx::cmd_sort(commands, pushed, &each)))));
        }
    }
    for (how, times) in [("C", &mut by_c), ("Rust", &mut by_rust), ("vksort_vrdx.h", &mut by_push)] {
        times.sort();
        if let [least, ..] = times[..] {
            println!("recording pairs through {how}: {least:?} at least, {:?} in the median", times[times.len() / 2]);
        }
    }
    let (c, rust) = (by_c[0], by_rust[0]);
    assert!(c <= rust + MOST, "{c:?} through C, {rust:?} through Rust, allowed are {MOST:?} more");
}
