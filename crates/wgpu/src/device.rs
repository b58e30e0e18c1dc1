//! Devices of wgpu, with what sorts need of them.

use std::fmt;
use std::sync::Arc;

use ash::vk;
use vksort::__private::seams::{Remedies, VersionFeatures};
use vksort::{DeviceFeatures, DeviceProfile, PipelineSet, Requirements};
use wgpu::hal::api::Vulkan;
use wgpu::hal::vulkan::InstanceShared;
use wgpu::{Adapter, BindGroup, Buffer, DeviceDescriptor, Features, Queue};

use super::error::Error;
use super::guarded::{failed, guarded};

/// A device of wgpu on the Vulkan backend, with the features that it was created with: what sorters are built for.
///
/// * [`open`](Self::open) creates a device with everything that sorts use.
/// * [`new`](Self::new) takes a device that wgpu has created. Its sorts may be slower, because wgpu does not enable full subgroups.
///
/// Clones are the same device. It keeps wgpu's device alive.
#[derive(Clone)]
pub struct Device {
    pub(super) inner: Arc<DeviceInner>,
}

/// Fields are dropped in this order: wgpu's device last.
pub(super) struct DeviceInner {
    /// The functions of `device`.
    pub raw: ash::Device,
    pub requirements: Requirements,
    pub pipelines: Arc<PipelineSet>,
    pub debug_utils: Option<ash::ext::debug_utils::Device>,
    /// A pipeline that does nothing, for dispatches that tell wgpu which buffers a sort uses.
    pub nothing: wgpu::ComputePipeline,
    pub device: wgpu::Device,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("device", &self.profile().name).finish_non_exhaustive()
    }
}

impl Device {
    /// Creates a device with what the description asks for and what sorts use: full subgroups, and 8- and 16-bit storage,
    /// each if the adapter has it.
    ///
    /// Call it instead of [`Adapter::request_device`]. wgpu treats the device like any other.
    ///
    /// ```no_run
    /// # fn open(adapter: &vksort_wgpu::wgpu::Adapter) -> Result<(), vksort_wgpu::Error> {
    /// let (device, queue, for_sorts) = vksort_wgpu::Device::open(adapter, &Default::default())?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::Unsupported`] for an adapter of another backend than Vulkan, and for features or limits that the
    ///   adapter lacks.
    /// * [`vksort::Error::UnsuitableDevice`] for a device that cannot sort.
    /// * [`Error::Wgpu`] or [`vksort::Error::Vulkan`] when wgpu or the driver fails.
    pub fn open(adapter: &Adapter, desc: &DeviceDescriptor<'_>) -> Result<(wgpu::Device, Queue, Device), Error> {
        // SAFETY: the handles are not destroyed here.
        let hal = unsafe { adapter.as_hal::<Vulkan>() };
        let backend = adapter.get_info().backend;
        let hal = hal.ok_or_else(|| Error::unsupported("backend of the wgpu adapter", backend, "Vulkan"))?;
        check_description(adapter, desc)?;
        let instance = hal.shared_instance();
        let (raw_instance, physical) = (instance.raw_instance(), hal.raw_physical_device());
        // SAFETY: the physical device belongs to the instance.
        let requirements = unsafe { query(instance, physical)? };

        let mut extensions = hal.required_device_extensions(desc.required_features);
        let own = requirements.device_extensions().iter().filter(|name| !extensions.contains(name));
        let own: Vec<_> = own.copied().collect();
        extensions.extend(own);
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        // The family and the queue that wgpu takes.
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let mut theirs = hal.physical_device_features(&extensions, desc.required_features);
        let mut ours = requirements.features();
        let info = theirs.add_to_device_create(info);
        // SAFETY: `info` chains structures of `theirs`, which live and are borrowed by it alone; the device belongs to the
        // instance, and has the extensions and features of both sides.
        let raw = unsafe {
            let info = merge(info, &mut ours);
            raw_instance.create_device(physical, &info, None).map_err(Error::vulkan("vkCreateDevice"))?
        };
        #[cfg(feature = "__testing")]
        let raw = CREATED.get()(raw);
        let (features, limits, hints) = (desc.required_features, &desc.required_limits, &desc.memory_hints);
        // wgpu calls it at the end of the device, also if it refuses the device. wgpu does not destroy the device itself then.
        // The adapter keeps the instance alive.
        let (ending, instance) = (raw.clone(), adapter.clone());
        let destroy = move || {
            // SAFETY: wgpu has destroyed what it made of the device; this is called once.
            unsafe { ending.destroy_device(None) };
            drop(instance);
        };
        // SAFETY: the device was created from this adapter, with at least these extensions and features, and with this
        // queue.
        let opened =
            unsafe { hal.device_from_raw(raw, Some(Box::new(destroy)), &extensions, features, limits, hints, 0, 0) };
        let opened = opened.map_err(|error| failed("vulkan::Adapter::device_from_raw", error))?;
        // wgpu takes locks of its own.
        drop(hal);
        // SAFETY: as above; the description was checked against the adapter.
        let made = unsafe { adapter.create_device_from_hal::<Vulkan>(opened, desc) };
        let (device, queue) = made.map_err(|error| failed("Adapter::create_device_from_hal", error))?;
        // SAFETY: the device was just created with what these requirements name.
        let this = unsafe { Device::with_requirements(&device, requirements)? };
        Ok((device, queue, this))
    }

    /// Takes a device that [`Adapter::request_device`] has created, with any features, and limits that allow compute and a
    /// storage buffer.
    ///
    /// wgpu never enables full subgroups and 8-bit storage. Subgroups are emulated, unless SPIR-V 1.6 or the driver promises full
    /// ones ([`Requirements::for_api_version`]), and elements of 8 and 16 bits are written by atomics.
    ///
    /// ```no_run
    /// # fn take(device: &vksort_wgpu::wgpu::Device) -> Result<(), vksort_wgpu::Error> {
    /// let for_sorts = vksort_wgpu::Device::new(device)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::Unsupported`] for a device of another backend than Vulkan.
    /// * [`vksort::Error::UnsuitableDevice`] for a device that cannot sort.
    /// * [`Error::Wgpu`] or [`vksort::Error::Vulkan`] when wgpu or the driver fails.
    pub fn new(device: &wgpu::Device) -> Result<Device, Error> {
        // SAFETY: nothing is destroyed here, and the physical device belongs to the instance.
        let requirements = unsafe {
            let hal = device.as_hal::<Vulkan>().ok_or_else(|| foreign(device))?;
            query(hal.shared_instance(), hal.raw_physical_device())?
        };
        let requirements = requirements.without_subgroup_size_control().without_small_storage();
        // SAFETY: of these requirements none is left.
        unsafe { Device::with_requirements(device, requirements) }
    }

    /// Takes a device that was created by other means, such as `create_device_from_hal`.
    ///
    /// # Errors
    ///
    /// * [`vksort::Error::Unsupported`] for a device of another backend than Vulkan.
    /// * [`Error::Wgpu`] when wgpu fails.
    ///
    /// # Safety
    ///
    /// * `requirements` was queried for the physical device of `device`, and `device` was created with the extensions
    ///   and features that it names.
    pub unsafe fn with_requirements(device: &wgpu::Device, requirements: Requirements) -> Result<Device, Error> {
        // Buffers of wgpu have no addresses unless they serve ray tracing.
        let requirements = requirements.without_buffer_addresses();
        // SAFETY: not destroyed here.
        let (raw, debug_utils) = unsafe {
            let hal = device.as_hal::<Vulkan>().ok_or_else(|| foreign(device))?;
            let (raw, instance) = (hal.raw_device().clone(), hal.shared_instance());
            let labels = instance.extensions().contains(&ash::ext::debug_utils::NAME);
            let functions = labels.then(|| ash::ext::debug_utils::Device::new(instance.raw_instance(), &raw));
            (raw, functions)
        };
        let nothing = guarded(device, "Device::create_compute_pipeline", || nothing(device))?;
        let (device, pipelines) = (device.clone(), Arc::default());
        let inner = DeviceInner { raw, requirements, pipelines, debug_utils, nothing, device };
        Ok(Device { inner: Arc::new(inner) })
    }

    /// The device's properties and limits, as far as its sorts use them.
    pub fn profile(&self) -> &DeviceProfile {
        self.inner.requirements.profile()
    }

    /// Bind groups over a range, as many as wgpu's limit on a binding asks for.
    pub(super) fn bind_groups(&self, label: &str, buffer: &Buffer, offset: u64, bytes: u64) -> Vec<BindGroup> {
        let (limits, layout) = (self.inner.device.limits(), self.inner.nothing.get_bind_group_layout(0));
        let (alignment, most) = (limits.min_storage_buffer_offset_alignment, limits.max_storage_buffer_binding_size);
        let group = |(offset, bytes)| {
            let binding = wgpu::BufferBinding { buffer, offset, size: wgpu::BufferSize::new(bytes) };
            self.inner.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(label),
                layout: &layout,
                entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(binding) }],
            })
        };
        parts(offset, bytes, alignment.into(), most).map(group).collect()
    }
}

/// Offsets and lengths of bindings that cover a range. The first one may begin before it, at an allowed offset.
fn parts(offset: u64, bytes: u64, alignment: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    let (start, end) = (offset / alignment * alignment, offset + bytes);
    let step = (most / alignment * alignment).max(alignment);
    (start..end).step_by(step as usize).map(move |start| (start, step.min(end - start)))
}

/// A pipeline over one storage buffer, of which it uses the length alone.
fn nothing(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let label = Some("vksort: nothing");
    let source = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(1) fn main() { _ = arrayLength(&words); }";
    let source = wgpu::ShaderSource::Wgsl(source.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    })
}

/// Adds features to the description of a device. A structure that is already chained takes those of its own.
///
/// # Safety
///
/// * The structures that `info` chains live, may be written, and nothing else accesses them.
unsafe fn merge<'a>(mut info: vk::DeviceCreateInfo<'a>, ours: &'a mut DeviceFeatures) -> vk::DeviceCreateInfo<'a> {
    let mut needed = VersionFeatures::from(*ours);
    // SAFETY: the chain is valid and may be written, by this function's contract.
    let [has16, has8, _, has_control, _] = unsafe { needed.meet(info.p_next, |own, theirs| *theirs |= *own) };
    if !has16 {
        info = info.push_next(&mut ours.storage16);
    }
    if !has8 {
        info = info.push_next(&mut ours.storage8);
    }
    match &mut ours.subgroup_size_control {
        Some(control) if !has_control => info.push_next(control),
        _ => info,
    }
}

#[cfg(feature = "__testing")]
thread_local! {
    /// What becomes of a device that this thread creates, before wgpu has it.
    pub static CREATED: std::cell::Cell<fn(ash::Device) -> ash::Device> =
        const { std::cell::Cell::new(std::convert::identity) };
}

/// Refuses features and limits that the adapter lacks, as `Adapter::request_device` does.
fn check_description(adapter: &Adapter, desc: &DeviceDescriptor<'_>) -> Result<(), Error> {
    let lacks = desc.required_features - adapter.features();
    if !lacks.is_empty() {
        return Err(Error::unsupported("required_features", lacks, "only what the adapter has"));
    }
    let experimental = desc.required_features & Features::all_experimental_mask();
    if !experimental.is_empty() && !desc.experimental_features.is_enabled() {
        let allowed = "none unless experimental_features are enabled";
        return Err(Error::unsupported("required_features", experimental, allowed));
    }
    let mut first = None;
    desc.required_limits.check_limits_with_fail_fn(&adapter.limits(), true, |name, given, allowed| {
        first = first.take().or(Some((name, given, allowed)));
    });
    match first {
        Some((name, given, allowed)) => {
            let allowed = format!("the adapter's {allowed} or a weaker limit");
            Err(Error::unsupported(format!("required_limits.{name}"), given, allowed))
        }
        None => Ok(()),
    }
}

/// What a program does against emulated subgroups. wgpu knows the version of its instance.
const REMEDIES: Remedies =
    Remedies { features: "as vksort_wgpu::Device::open does", version: "give it to wgpu with the instance" };

/// What vksort could use of a physical device.
///
/// # Safety
///
/// The physical device belongs to the instance.
unsafe fn query(instance: &InstanceShared, physical: vk::PhysicalDevice) -> Result<Requirements, Error> {
    let version = instance.instance_api_version();
    if version < vk::API_VERSION_1_2 {
        let given = format!("{}.{}", vk::api_version_major(version), vk::api_version_minor(version));
        return Err(Error::unsupported("Vulkan version of the loader", given, "1.2 or newer"));
    }
    // SAFETY: by this function's contract; wgpu creates instances for Vulkan 1.3 where the loader knows 1.1, and here it
    // knows 1.2. Whoever brings an instance of his own to wgpu tells it the version that he asked for.
    let requirements = unsafe { Requirements::query(instance.raw_instance(), physical)? };
    Ok(requirements.with_remedies(REMEDIES).for_api_version(version.min(vk::API_VERSION_1_3))?)
}

pub(super) fn foreign(device: &wgpu::Device) -> Error {
    Error::unsupported("backend of the wgpu device", device.adapter_info().backend, "Vulkan")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_cover_a_range_and_keep_the_limits() {
        let (alignment, most) = (256, 1000);
        for (offset, bytes) in [(0, 4), (4, 252), (252, 8), (512, 768), (1020, 4), (260, 5000), (0, 0)] {
            let all: Vec<_> = parts(offset, bytes, alignment, most).collect();
            let end = all.iter().fold(offset / alignment * alignment, |at, (start, length)| {
                assert_eq!(*start, at, "{offset}, {bytes}: {all:?}");
                assert!(start % alignment == 0 && *length > 0 && *length <= most, "{offset}, {bytes}: {all:?}");
                start + length
            });
            assert_eq!(end, if bytes == 0 { offset } else { offset + bytes }, "{all:?}");
        }
    }

    #[test]
    fn features_go_into_structures_that_are_chained() {
        let mut ours = DeviceFeatures::default();
        ours.storage16 = ours.storage16.storage_buffer16_bit_access(true);
        ours.storage8 = ours.storage8.storage_buffer8_bit_access(true);
        let control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
        ours.subgroup_size_control = Some(control.subgroup_size_control(true).compute_full_subgroups(true));
        let mut storage16 = vk::PhysicalDevice16BitStorageFeatures::default().storage_push_constant16(true);
        let mut control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default().subgroup_size_control(true);
        let info = vk::DeviceCreateInfo::default().push_next(&mut storage16).push_next(&mut control);
        // SAFETY: the chained structures are the two above.
        let info = unsafe { merge(info, &mut ours) };
        let mut types = Vec::new();
        let mut next = info.p_next.cast::<vk::BaseInStructure<'_>>();
        // SAFETY: the chain holds the structures above and those of `ours`.
        while let Some(structure) = unsafe { next.as_ref() } {
            types.push(structure.s_type);
            next = structure.p_next;
        }
        types.sort();
        let mut expected = [
            vk::StructureType::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
            vk::StructureType::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
            vk::StructureType::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        ];
        expected.sort();
        assert_eq!(types, expected, "each structure once");
        assert_eq!((storage16.storage_push_constant16, storage16.storage_buffer16_bit_access), (vk::TRUE, vk::TRUE));
        assert_eq!((control.subgroup_size_control, control.compute_full_subgroups), (vk::TRUE, vk::TRUE));
        assert_eq!(ours.storage8.storage_buffer8_bit_access, vk::TRUE);
    }
}
