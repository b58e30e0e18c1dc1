//! What a device's limits and features mean for a sorter: how many elements it takes, how it reaches them, and what it
//! refuses. The device is said to have less than it has.
#![allow(unsafe_code)]

use std::sync::Arc;

use vksort::__private::ShapeDesc;
use vksort::__private::steps;
use vksort::ash::{self, vk};
use vksort::standalone::{DeviceChoice, Gpu};
use vksort::{
    Access, Algorithm, BufferRange, Capacity, Count, DeviceProfile, Error, InstanceRequirements, KeyField, KeyType,
    Order, PipelineSet, Placement, Requirements, Segments, SortBuffers, SortRequest, Sorter, SorterOptions,
    SubgroupChoice, Tuning, ValueType, Visitor,
};
use vksort_testing::{Trial, visited};

/// A device that was created as the documentation of `Requirements` says.
struct Device {
    requirements: Requirements,
    pipelines: Arc<PipelineSet>,
    raw: ash::Device,
    instance: ash::Instance,
    _entry: ash::Entry,
}

impl Device {
    fn open() -> Device {
        // SAFETY: every object is of the one before it, with what the requirements name; `Drop` destroys them.
        unsafe {
            let entry = ash::Entry::load().unwrap();
            let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None).unwrap());
            let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
            let extensions: Vec<_> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .flags(needed.flags)
                .enabled_extension_names(&extensions);
            let instance = entry.create_instance(&info, None).unwrap();
            let devices = instance.enumerate_physical_devices().unwrap().into_iter();
            let suitable =
                |device| Some((device, Requirements::query(&instance, device).ok()?.with_buffer_addresses()));
            let (physical, requirements) = devices.filter_map(suitable).next().expect("a device to test on");
            let families = instance.get_physical_device_queue_family_properties(physical);
            let compute = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let queue = vk::DeviceQueueCreateInfo::default().queue_family_index(compute.unwrap() as u32);
            let queues = [queue.queue_priorities(&[1.0])];
            let extensions: Vec<_> = requirements.device_extensions().iter().map(|name| name.as_ptr()).collect();
            let mut features = requirements.features();
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
            let raw = instance.create_device(physical, &features.chain(info), None).unwrap();
            Device { requirements, pipelines: Arc::default(), raw, instance, _entry: entry }
        }
    }

    fn profile(&self) -> &DeviceProfile {
        self.requirements.profile()
    }

    /// A sorter as if the device were this one.
    fn sorter(&self, profile: &DeviceProfile, request: &SortRequest, options: SorterOptions) -> Result<Sorter, Error> {
        let extensions = self.requirements.device_extensions().to_vec();
        let requirements = self.requirements.clone().as_if(extensions, profile.clone());
        let options = options.pipelines(Arc::clone(&self.pipelines));
        // SAFETY: the device has what the requirements name, outlives all sorters, and never runs any of them.
        unsafe { Sorter::new(&self.raw, &requirements, request, &options) }
    }

    /// Most elements of a sort, and what is said of one more.
    fn most(&self, profile: &DeviceProfile, request: SortRequest, access: Access) -> (u32, String) {
        let sorter = self.sorter(profile, &request, SorterOptions::default().access(access)).unwrap();
        let most = sorter.max_count();
        // Every descriptor is as long as its range, which holds whole words.
        let tuning = Tuning::for_device(profile);
        let algorithm = request.algorithm.unwrap_or(tuning.algorithm());
        let desc = ShapeDesc::new(profile, &tuning, &request, algorithm);
        // Elements by address have other kernels, and on software drivers other tiles.
        let desc = ShapeDesc { addressed: access == Access::Addresses, ..desc };
        let table = steps::of(&desc, most, Count::Host(1)).unwrap().table.size;
        let elements = request.buffer_sizes(most).keys.filter(|_| access == Access::Descriptors).unwrap_or_default();
        assert!(table.max(elements) <= profile.max_storage_range_bytes, "{most}: {table} and {elements} bytes");
        sorter.scratch_size(most).unwrap();
        let refused = most.checked_add(1).map(|more| sorter.scratch_size(more).unwrap_err().to_string());
        (most, refused.unwrap_or_default())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: nothing was submitted, and no sorter is left.
        unsafe {
            self.raw.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

fn asking(key: KeyType, algorithm: Algorithm) -> SortRequest {
    SortRequest::new(key).algorithm(algorithm)
}

fn pipelines_of_another_device_are_refused_until_none_is_left() {
    let [one, other] = [Device::open(), Device::open()];
    let shared = || SorterOptions::default().pipelines(Arc::clone(&one.pipelines));
    let request = SortRequest::new(KeyType::U32);
    let new = |device: &Device| {
        // SAFETY: each device has what its requirements name, outlives its sorters, and never runs any of them.
        unsafe { Sorter::new(&device.raw, &device.requirements, &request, &shared()) }
    };
    let sorter = new(&one).unwrap();
    let made = one.pipelines.len();
    let refused = new(&other).unwrap_err();
    let (given, allowed) = (other.raw.handle(), one.raw.handle());
    assert!(
        matches!(refused, Error::ForeignPipelines { given: a, allowed: b } if (a, b) == (given, allowed)),
        "{refused}"
    );
    new(&one).unwrap();
    assert_eq!(one.pipelines.len(), made, "the set stays with its device");
    drop(sorter);
    new(&other).unwrap();
}

fn no_elements_need_no_buffers() {
    let device = Device::open();
    let request = SortRequest::new(KeyType::U32).value(ValueType::U32).placement(Placement::OutOfPlace);
    let sorter = device.sorter(device.profile(), &request, SorterOptions::default()).unwrap();
    let nothing = SortBuffers::new(0);
    // SAFETY: there are no buffers.
    let sort = unsafe { sorter.bind(&nothing) }.unwrap();
    assert!(sort.step_names(0).is_empty());
    // SAFETY: as above.
    let refused = unsafe { sorter.bind(&nothing.capacity(1)) }.unwrap_err();
    assert!(matches!(refused, Error::BufferPresence { buffer: "keys", .. }), "{refused}");
    let counted = nothing.count(BufferRange::new(vk::Handle::from_raw(1), 4));
    let refused = sorter.check_buffers(&counted).unwrap_err().to_string();
    let expected = "the capacity of a sort with a count on the device is 0 elements, allowed is at least 1";
    assert_eq!(refused, expected);
    sorter.check_buffers(&nothing.count(BufferRange::new(vk::Buffer::null(), 4))).unwrap();
    // Also without a buffer for it, which would not help.
    assert_eq!(sort.check_count(Count::Device).unwrap_err().to_string(), expected);

    let of_rows = SortRequest::new(KeyType::U32).segments(vksort::Segments::Rows { stride: 10 });
    let sorter = device.sorter(device.profile(), &of_rows, SorterOptions::default()).unwrap();
    let keys = BufferRange::new(vk::Handle::from_raw(1), 40);
    let forgotten = SortBuffers::new(10).keys(keys);
    sorter.check_buffers(&forgotten).unwrap();
    let refused = sorter.check_buffers(&forgotten.count(BufferRange::new(vk::Handle::from_raw(2), 4))).unwrap_err();
    let expected = "the segment capacity of a sort with a count on the device is 0 segments, allowed is at least 1";
    assert_eq!(refused.to_string(), expected);
}

fn ranges_are_held_against_the_device_s_limit_as_they_are_rounded() {
    let device = Device::open();
    for range in [(1u64 << 32) - 1, 1 << 27, (1 << 27) + 2, 4097] {
        let profile = DeviceProfile { max_storage_range_bytes: range, ..device.profile().clone() };
        for key in [KeyType::U8, KeyType::F16, KeyType::U32, KeyType::U128] {
            let reached = range / 4 * 4 / key.size_bytes();
            let request = asking(key, Algorithm::SingleWorkgroup);
            let block = device.sorter(&profile, &request, SorterOptions::default()).unwrap().shape().single.elements();
            let (most, limit) = device.most(&profile, request, Access::Descriptors);
            assert_eq!(u64::from(most), reached.min(block.into()), "{limit}");
            assert!(limit.contains(if most == block { "block" } else { "by address" }), "{limit}");
            if range > 1 << 20 {
                let (most, limit) = device.most(&profile, asking(key, Algorithm::OneSweep), Access::Descriptors);
                assert!(u64::from(most) == reached && limit.contains("by address"), "{most} ({limit})");
            }
        }
    }
    let usual = DeviceProfile { max_storage_range_bytes: u32::MAX.into(), ..device.profile().clone() };
    let bytes = asking(KeyType::U8, Algorithm::OneSweep);
    assert_eq!(device.most(&usual, bytes, Access::Descriptors).0, u32::MAX - 3);
    assert_eq!(device.most(&usual, bytes, Access::Addresses).0, u32::MAX);
}

fn tables_are_held_against_the_device_s_limit() {
    let device = Device::open();
    let narrow = DeviceProfile { max_storage_range_bytes: 1 << 24, ..device.profile().clone() };
    let wide = |algorithm| device.most(&narrow, asking(KeyType::U128, algorithm), Access::Addresses);
    let (count, limit) = wide(Algorithm::ReduceThenScan);
    assert!(count > 1 << 20 && limit.contains("table"), "{count} ({limit})");
    assert_eq!(wide(Algorithm::OneSweep).0, u32::MAX, "a ring is no longer for more elements");
    // Descriptors do not reach so far that the table would be too long.
    let (count, limit) = device.most(&narrow, asking(KeyType::U128, Algorithm::OneSweep), Access::Descriptors);
    assert!(count == 1 << 20 && limit.contains("by address"), "{count} ({limit})");
}

fn elements_are_reached_by_address_where_descriptors_do_not_reach() {
    let device = Device::open();
    let common = DeviceProfile { max_storage_range_bytes: 1 << 20, ..device.profile().clone() };
    let choose = |profile: &DeviceProfile, options: SorterOptions| {
        device.sorter(profile, &SortRequest::new(KeyType::U32), options).unwrap().access()
    };
    let auto = |capacity| SorterOptions::default().capacity(capacity);
    assert_eq!(choose(&common, auto(None)), Access::Descriptors);
    assert_eq!(choose(&common, auto(Some(1 << 18))), Access::Descriptors);
    assert_eq!(choose(&common, auto(Some((1 << 18) + 1))), Access::Addresses);
    // Keys and values from and to somewhere, counters, table and count.
    for (max_storage_buffers, access) in [(7, Access::Descriptors), (6, Access::Addresses)] {
        assert_eq!(choose(&DeviceProfile { max_storage_buffers, ..common.clone() }, auto(None)), access);
    }
    let without = DeviceProfile { buffer_addresses: false, ..common.clone() };
    assert_eq!(choose(&without, auto(Some(1 << 20))), Access::Descriptors);
    let gaps = DeviceProfile { full_subgroups: false, fixed_subgroups: vksort::FixedSubgroups::No, ..common.clone() };
    assert_eq!(choose(&gaps, auto(Some(1 << 20))), Access::Descriptors);
    let emulated = auto(Some(1 << 20)).subgroup(SubgroupChoice::Emulated(32));
    assert_eq!(choose(&common, emulated), Access::Descriptors);
    for access in [Access::Descriptors, Access::Addresses] {
        assert_eq!(choose(&common, auto(Some(1 << 20)).access(access)), access);
    }
}

fn devices_that_lack_a_way_to_reach_elements_are_refused_by_name() {
    let device = Device::open();
    let refusal = |profile: &DeviceProfile, access, subgroup| {
        let options = SorterOptions::default().access(access).subgroup(subgroup);
        device.sorter(profile, &SortRequest::new(KeyType::U32), options).err().map(|error| error.to_string())
    };
    let common = device.profile();
    let (descriptors, addresses) = (Access::Descriptors, Access::Addresses);
    let auto = SubgroupChoice::Auto;
    assert_eq!(refusal(common, descriptors, auto), None);
    assert_eq!(refusal(common, addresses, auto), None);
    let few = DeviceProfile { max_storage_buffers: 4, ..common.clone() };
    let text = refusal(&few, descriptors, auto).unwrap();
    assert!(text.contains("StorageBuffers is 4") && text.contains("at least 7"), "{text}");
    // Addresses take fewer descriptors.
    assert_eq!(refusal(&few, addresses, auto), None);
    let fixed = DeviceProfile { buffer_addresses: false, ..common.clone() };
    assert_eq!(refusal(&fixed, descriptors, auto), None);
    assert!(refusal(&fixed, addresses, auto).unwrap().contains("bufferDeviceAddress is absent"));
    let text = refusal(common, addresses, SubgroupChoice::Emulated(32)).unwrap();
    assert!(text.contains("address") && text.contains("emulated"), "{text}");
}

fn features_that_were_not_enabled_are_named() {
    let all = vec![vk::EXT_SUBGROUP_SIZE_CONTROL_NAME];
    let requirements = Device::open().requirements.clone().as_if(all.clone(), DeviceProfile::default());
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default().multiview(true);
    let (mut v12, mut v13) = (<_>::default(), <_>::default());
    let message = requirements.check_enabled(&[], &v11, &v12, &v13).unwrap_err().to_string();
    for name in [
        "feature storageBuffer16BitAccess",
        "feature storageBuffer8BitAccess",
        "feature bufferDeviceAddress",
        "feature subgroupSizeControl",
        "feature computeFullSubgroups",
        "extension VK_EXT_subgroup_size_control",
    ] {
        assert!(message.contains(name), "{name:?} is not in {message:?}");
    }
    requirements.features().add_to(&mut v11, &mut v12, &mut v13);
    assert_eq!(v11.multiview, vk::TRUE, "what was enabled stays");
    requirements.check_enabled(&all, &v11, &v12, &v13).unwrap();
    v12.buffer_device_address = vk::FALSE;
    let message = requirements.check_enabled(&all, &v11, &v12, &v13).unwrap_err().to_string();
    assert!(message.contains("bufferDeviceAddress") && !message.contains("8Bit"), "{message}");
    // Promoted to Vulkan 1.3, the extension need not be named.
    v12.buffer_device_address = vk::TRUE;
    assert!(requirements.check_enabled(&[], &v11, &v12, &v13).is_err());
    let profile = DeviceProfile { api_version: vk::API_VERSION_1_3, ..DeviceProfile::default() };
    let requirements = requirements.as_if(all, profile);
    requirements.check_enabled(&[], &v11, &v12, &v13).unwrap();
    // But for an instance of an earlier version it is not promoted.
    let asked = |version| requirements.clone().for_api_version(version).unwrap().check_enabled(&[], &v11, &v12, &v13);
    let message = asked(vk::API_VERSION_1_2).unwrap_err().to_string();
    assert!(message.contains("VK_EXT_subgroup_size_control"), "{message}");
    asked(vk::API_VERSION_1_3).unwrap();
    asked(vk::make_api_version(0, 1, 4, 300)).unwrap();
}

fn ranges_are_refused_by_name_with_what_is_given_and_needed() {
    let device = Device::open();
    let profile = DeviceProfile { storage_alignment_bytes: 64, ..device.profile().clone() };
    let request = asking(KeyType::U32, Algorithm::OneSweep).value(ValueType::U32);
    let options = SorterOptions::default().access(Access::Descriptors);
    let sorter = device.sorter(&profile, &request, options).unwrap();
    let size = sorter.scratch_size(1000).unwrap();
    let buffer = vk::Handle::from_raw(1);
    let range = |offset, size| BufferRange::new(buffer, size).offset(offset);
    // All of one buffer that is none: whatever is right about the scratch, keys and values overlap.
    let refused = |scratch: BufferRange| {
        let buffers = SortBuffers::new(1000).keys(range(0, 4000)).values(range(0, 4000)).scratch(scratch);
        // SAFETY: the ranges are refused before anything is done with them.
        unsafe { sorter.bind(&buffers) }.unwrap_err().to_string()
    };
    let usage = sorter.scratch_usage();
    let at = |offset, size| range(offset, size).usage(usage);
    let good = at(1 << 13, size);
    for scratch in [good, good.usage(None)] {
        assert!(refused(scratch).starts_with("buffer ranges keys and values overlap"), "{}", refused(scratch));
    }
    let message = refused(at(1 << 13, size - 1));
    assert_eq!(message, format!("buffer range scratch has {} bytes, needed are {size} bytes", size - 1));
    let message = refused(good.offset(u64::MAX - 63));
    assert!(message.contains(&format!("scratch has {size} bytes from byte 18446744073709551552 on")), "{message}");
    let message = refused(good.offset((1 << 13) + 32));
    assert_eq!(message, "buffer range scratch starts at byte 8224, allowed are multiples of 64");
    for (flag, name) in [
        (vk::BufferUsageFlags::STORAGE_BUFFER, "STORAGE_BUFFER"),
        (vk::BufferUsageFlags::TRANSFER_DST, "TRANSFER_DST"),
        (vk::BufferUsageFlags::INDIRECT_BUFFER, "INDIRECT_BUFFER"),
    ] {
        let message = refused(good.usage(usage & !flag));
        let (given, needed) = message.split_once("needed is").unwrap();
        assert!(message.starts_with("buffer scratch has usage") && !given.contains(name), "{message}");
        assert!(needed.contains(name), "{message}");
    }
}

/// What reaches scratch by address needs the usage for it, which `scratch_usage` names.
fn scratch_is_reached_as_elements_are() {
    let device = Device::open();
    let by_address = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    for access in [Access::Descriptors, Access::Addresses] {
        let options = SorterOptions::default().access(access);
        let sorter = device.sorter(device.profile(), &asking(KeyType::U32, Algorithm::OneSweep), options).unwrap();
        let usage = sorter.scratch_usage();
        assert_eq!(usage.contains(by_address), access == Access::Addresses, "{access:?}: {usage:?}");
        assert!(usage.contains(sorter.element_usage()), "{access:?}: {usage:?}");
        // Any handles: nothing is bound.
        let range = |handle, size| BufferRange::new(vk::Handle::from_raw(handle), size);
        let (buffers, size) = (SortBuffers::new(1000).keys(range(1, 4000)), sorter.scratch_size(1000).unwrap());
        let check = |usage| sorter.check_buffers(&buffers.scratch(range(2, size).usage(usage)));
        check(usage).unwrap();
        let refused = check(usage & !by_address).err().map(|error| error.to_string());
        let named = refused.is_some_and(|text| text.starts_with("buffer scratch") && text.contains("DEVICE_ADDRESS"));
        assert_eq!(named, access == Access::Addresses);
    }
}

/// A visitor is of one array of keys, and of a sorter whose caller answers for its code.
fn visitors_are_refused_where_they_have_no_meaning() {
    let device = Device::open();
    let [kept, _] = visited::kept();
    let visitor = Visitor::from_bytes(&std::fs::read(kept.path()).unwrap()).unwrap();
    let options = SorterOptions::default().visitor(visitor, vk::DescriptorSetLayout::null());
    let refusal = |request| device.sorter(device.profile(), &request, options.clone()).unwrap_err().to_string();
    let records = SortRequest::records(8, [KeyField::new(0, KeyType::U32)]).placement(Placement::OutOfPlace);
    for (request, given) in [
        (kept.request.segments(Segments::Offsets), "of segments"),
        (kept.request.top(10), "of segments"),
        (records, "of records"),
        (records.segments(Segments::Offsets), "of records"),
    ] {
        let expected = format!("the sort of a visitor is {given}, allowed is one of keys, as one array");
        assert_eq!(refusal(request), expected, "{request}");
    }
    let refused = Gpu::best().unwrap().sorter(&kept.request, &options).unwrap_err().to_string();
    assert!(refused.contains("with a visitor, allowed is without one"), "{refused}");
}

/// Vulkan has no buffer of no bytes.
fn ranges_of_no_bytes_may_be_left_out() {
    let device = Device::open();
    let request = SortRequest::new(KeyType::F32).placement(Placement::OutOfPlace).segments(Segments::Offsets);
    let sorter = |request| device.sorter(device.profile(), &request, SorterOptions::default()).unwrap();
    sorter(request).check_buffers(&SortBuffers::new(Capacity::new(0).segments(5))).unwrap();
    let top = sorter(request.top(10));
    // Any handles: nothing is bound.
    let range = |handle, size| BufferRange::new(vk::Handle::from_raw(handle), size);
    let capacity = Capacity::new(1000).segments(0);
    assert_eq!(top.buffer_sizes(capacity).keys_out, Some(0));
    let buffers = SortBuffers::new(capacity).keys(range(1, 4000)).segments(range(2, 4));
    let size = top.scratch_size(capacity).unwrap();
    let buffers = buffers.scratch((size > 0).then(|| range(3, size).usage(top.scratch_usage())));
    top.check_buffers(&buffers).unwrap();
    let mut some = buffers;
    some.capacity = Capacity::new(1000).segments(1);
    let message = top.check_buffers(&some).unwrap_err().to_string();
    assert!(message.contains("keys_out is absent"), "{message}");
}

/// A profile's fields are the caller's to change, and an offset of words is the least that kernels need.
fn an_alignment_of_nothing_is_that_of_a_word() {
    let device = Device::open();
    for storage_alignment_bytes in [0, 1] {
        let profile = DeviceProfile { storage_alignment_bytes, ..device.profile().clone() };
        let request = asking(KeyType::U32, Algorithm::OneSweep);
        let options = SorterOptions::default().access(Access::Descriptors);
        let sorter = device.sorter(&profile, &request, options).unwrap();
        // Any handles: nothing is bound.
        let range = |handle, offset, size| BufferRange::new(vk::Handle::from_raw(handle), size).offset(offset);
        let of = |sorter: &Sorter, count| {
            let scratch = range(2, 0, sorter.scratch_size(1).unwrap());
            SortBuffers::new(1).keys(range(1, 4, 4)).scratch(scratch).count(range(3, count, 4))
        };
        sorter.check_buffers(&of(&sorter, 4)).unwrap();
        let message = sorter.check_buffers(&of(&sorter, 6)).unwrap_err().to_string();
        assert_eq!(message, "buffer range count starts at byte 6, allowed are multiples of 4");
        let options = SorterOptions::default().access(Access::Descriptors);
        let sorter = device.sorter(&profile, &request.value(ValueType::Index), options).unwrap();
        let message = sorter.check_buffers(&of(&sorter, 4).values(range(4, 6, 4))).unwrap_err().to_string();
        assert_eq!(message, "buffer range values starts at byte 6, allowed are multiples of 4");
    }
}

fn what_is_told_of_a_sorter_is_the_algorithm_that_sorts() {
    let device = Device::open();
    for (key, access, algorithm) in [
        (KeyType::U64, Access::Descriptors, Algorithm::ReduceThenScan),
        (KeyType::U32, Access::Addresses, Algorithm::OneSweep),
    ] {
        let request = asking(key, algorithm).bits(1..key.bits());
        let options = SorterOptions::default().access(access);
        let (_, told) = vksort_testing::logs::of(|| device.sorter(device.profile(), &request, options).unwrap());
        let line = told.iter().find(|line| line.contains(&format!(": {request}: "))).unwrap();
        let tuning = Tuning::for_device(device.profile());
        assert!(
            line.contains(&format!("tuning {} ({}), {algorithm} (as asked)", tuning.name, tuning.evidence)),
            "{line}"
        );
        assert_eq!(line.contains("by address"), access == Access::Addresses, "{line}");
    }
}

fn choices_parse_and_print() {
    let parse = |text: &str| text.parse::<DeviceChoice>().unwrap();
    assert_eq!(parse("best"), DeviceChoice::Best);
    assert_eq!(parse("2"), DeviceChoice::Index(2));
    assert_eq!(parse("H200"), DeviceChoice::Name("H200".into()));
    assert_eq!(parse("H200").to_string(), "name \"H200\"");
}

/// The table of a GPU is small; that of a CPU has slots for all the tiles that 32 bits can number here.
fn tiles_are_as_few_as_look_back_tells_apart() {
    let device = Device::open();
    let profile = DeviceProfile { max_storage_range_bytes: (1 << 34) - 4, is_cpu: false, ..device.profile().clone() };
    let tuning = Tuning { digit_bits: 11, workgroup_size: 8, items_keys: 1, ..Tuning::for_device(&profile) };
    let options = SorterOptions::default().tuning(tuning);
    let sorter = device.sorter(&profile, &asking(KeyType::U32, Algorithm::OneSweep), options).unwrap();
    let most = sorter.max_count();
    assert!(most < u32::MAX, "tiles of {} elements", sorter.tile_size(most).unwrap());
    let refused = sorter.scratch_size(most + 1).unwrap_err().to_string();
    assert!(refused.contains("rounds") && refused.contains(&most.to_string()), "{refused}");
}

/// A number of a tuning that is out of its range is refused by every way to a sorter; within the ranges, sizes follow the device.
fn tunings_out_of_range_are_refused() {
    let device = Device::open();
    let (row, request) = (Tuning::for_device(device.profile()), SortRequest::new(KeyType::U32));
    let bad = [
        (Tuning { workgroup_size: 0, ..row.clone() }, "workgroup_size is 0, allowed is 1 to 2048"),
        (Tuning { items_keys: u32::MAX, ..row.clone() }, "items_keys is 4294967295, allowed is 1 to 8192"),
        (Tuning { digit_bits: 32, ..row.clone() }, "digit_bits is 32, allowed is 1 to 11"),
        (Tuning { subgroup_size: Some(7), ..row.clone() }, "subgroup_size is 7, allowed is a power of two"),
    ];
    let gpu = Gpu::best().unwrap();
    for (tuning, part) in bad {
        let options = SorterOptions::default().tuning(tuning.clone());
        let refused = device.sorter(device.profile(), &request, options).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
        let mut keys: Vec<u32> = (0..10_000).rev().collect();
        let refused = Gpu::best().unwrap().with_tuning(tuning).sort(&mut keys, Order::Ascending).unwrap_err();
        assert!(refused.to_string().contains(part) && keys[0] == 9_999, "{refused}");
    }
    // No subgroup has 7 invocations.
    let odd = Tuning { workgroup_size: 7, ..row };
    let mut keys: Vec<u32> = (0..10_000).rev().collect();
    gpu.with_tuning(odd).sort(&mut keys, Order::Ascending).unwrap();
    assert!(keys.is_sorted());
}

/// The feature is named on request only, and not where the device lacks it.
fn buffer_addresses_are_named_on_request() {
    let device = Device::open();
    let mut has = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    // SAFETY: the instance is alive and of Vulkan 1.2, which has the structure.
    let plain = unsafe {
        let physical = device.instance.enumerate_physical_devices().unwrap()[0];
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut has);
        device.instance.get_physical_device_features2(physical, &mut features);
        Requirements::query(&device.instance, physical).unwrap()
    };
    assert!(!plain.profile().buffer_addresses);
    assert_eq!(plain.features().addresses.buffer_device_address, vk::FALSE);
    let with = plain.with_buffer_addresses();
    assert_eq!(with.features().addresses.buffer_device_address, has.buffer_device_address);
    assert_eq!(with.profile().buffer_addresses, has.buffer_device_address == vk::TRUE);
}

/// A type whose size is not that of its low 32 bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Huge([u8; (1 << 32) + 4]);

// SAFETY: it holds bytes alone, any of which are valid.
unsafe impl vksort::bytemuck::Zeroable for Huge {}
// SAFETY: as above.
unsafe impl vksort::bytemuck::Pod for Huge {}

fn sizes_of_values_are_not_cut_off() {
    let none: &mut [Huge] = &mut [];
    let refused = Gpu::best().unwrap().sort_pairs(&mut [0u32; 0], none, Order::Ascending).unwrap_err().to_string();
    assert!(refused.contains("value size") && refused.contains("65536"), "{refused}");
}

pub fn trials() -> Vec<Trial> {
    vksort_testing::trials![
        pipelines_of_another_device_are_refused_until_none_is_left,
        no_elements_need_no_buffers,
        ranges_are_held_against_the_device_s_limit_as_they_are_rounded,
        tables_are_held_against_the_device_s_limit,
        elements_are_reached_by_address_where_descriptors_do_not_reach,
        devices_that_lack_a_way_to_reach_elements_are_refused_by_name,
        features_that_were_not_enabled_are_named,
        ranges_are_refused_by_name_with_what_is_given_and_needed,
        scratch_is_reached_as_elements_are,
        ranges_of_no_bytes_may_be_left_out,
        visitors_are_refused_where_they_have_no_meaning,
        an_alignment_of_nothing_is_that_of_a_word,
        what_is_told_of_a_sorter_is_the_algorithm_that_sorts,
        choices_parse_and_print,
        buffer_addresses_are_named_on_request,
        tiles_are_as_few_as_look_back_tells_apart,
        sizes_of_values_are_not_cut_off,
        tunings_out_of_range_are_refused,
    ]
}
