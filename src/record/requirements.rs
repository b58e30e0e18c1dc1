//! The extensions and features to enable on instance and device, known before the device is created.

mod subgroups;

use std::ffi::CStr;

use ash::vk;

use super::remedies::Remedies;
use crate::error::{Context, Error};
use crate::profile::{DeviceProfile, FixedSubgroups};

/// The extensions and flags of the instance.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct InstanceRequirements {
    /// Extensions to enable.
    pub extensions: Vec<&'static CStr>,
    /// Flags to create the instance with.
    pub flags: vk::InstanceCreateFlags,
}

impl InstanceRequirements {
    /// The lowest Vulkan version for `vk::ApplicationInfo`.
    pub const API_VERSION: u32 = vk::API_VERSION_1_2;

    /// Selects the extensions that vksort needs among the available ones.
    ///
    /// Only drivers that are layered on another API (MoltenVK) need one: the loader lists their devices only to instances
    /// with portability enumeration.
    pub fn select(available: &[vk::ExtensionProperties]) -> Self {
        let mut requirements = Self::default();
        if lists(available, vk::KHR_PORTABILITY_ENUMERATION_NAME) {
            requirements.extensions.push(vk::KHR_PORTABILITY_ENUMERATION_NAME);
            requirements.flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        requirements
    }
}

/// The extensions and features of the device, and its properties.
///
/// The device of a [`Sorter`](crate::Sorter) must be created with everything that is named here. One feature is named only on
/// request: [`with_buffer_addresses`](Self::with_buffer_addresses).
///
/// ```
/// use vksort::ash::vk;
/// use vksort::{InstanceRequirements, Requirements};
///
/// # unsafe fn open(entry: ash::Entry) -> Result<ash::Device, Box<dyn std::error::Error>> {
/// # // SAFETY: never called.
/// # unsafe {
/// let application = vk::ApplicationInfo::default().api_version(InstanceRequirements::API_VERSION);
/// let needed = InstanceRequirements::select(&entry.enumerate_instance_extension_properties(None)?);
/// let extensions: Vec<_> = needed.extensions.iter().map(|name| name.as_ptr()).collect();
/// let info = vk::InstanceCreateInfo::default()
///     .application_info(&application)
///     .flags(needed.flags)
///     .enabled_extension_names(&extensions);
/// let instance = entry.create_instance(&info, None)?;
///
/// let physical_device = instance.enumerate_physical_devices()?[0];
/// let needed = Requirements::query(&instance, physical_device)?;
/// let extensions: Vec<_> = needed.device_extensions().iter().map(|name| name.as_ptr()).collect();
/// let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
/// let mut features = needed.features();
/// let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
/// let device = instance.create_device(physical_device, &features.chain(info), None)?;
/// # Ok(device) } }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Requirements {
    /// Device extensions to enable.
    pub(crate) device_extensions: Vec<&'static CStr>,
    /// The device's properties and limits.
    pub(crate) profile: DeviceProfile,
    /// Whether pipelines may require a subgroup size.
    pub(crate) required_subgroup_size: bool,
    /// The version that the application asked for, if it is known.
    application: Option<u32>,
    /// What callers call the remedies for slow sorts.
    remedies: Remedies,
    /// What the device has.
    offer: Offer,
}

/// What a device has, whether requirements name it or not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Offer {
    buffer_addresses: bool,
    /// Full subgroups that are required.
    full_subgroups: bool,
    /// Whether the device says that its subgroups have no other size than the usual one.
    one_subgroup_size: bool,
}

impl Requirements {
    /// Reads the properties of the device, and selects the extensions and features that vksort needs.
    ///
    /// # Errors
    ///
    /// * [`Error::UnsuitableDevice`] for a device below Vulkan 1.2, without a compute queue, or with MoltenVK before 1.3.
    /// * [`Error::Vulkan`] when the driver fails.
    ///
    /// # Safety
    ///
    /// * `instance` was created for Vulkan 1.2 or newer.
    /// * `physical_device` belongs to `instance`.
    pub unsafe fn query(instance: &ash::Instance, physical_device: vk::PhysicalDevice) -> Result<Self, Error> {
        // SAFETY: the physical device belongs to the instance, by this function's contract.
        let properties = unsafe { instance.get_physical_device_properties(physical_device) };
        let name = text(&properties.device_name);
        let api_version = properties.api_version;
        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical_device) };
        let timestamp_bits = check_suitable(&name, api_version, &families)?;
        // SAFETY: as above; no layer is named.
        let available = unsafe { instance.enumerate_device_extension_properties(physical_device) }
            .context("vkEnumerateDeviceExtensionProperties")?;

        let portability = vk::KHR_PORTABILITY_SUBSET_NAME;
        let size_control = vk::EXT_SUBGROUP_SIZE_CONTROL_NAME;
        // Structures of an extension may be chained only if the device lists it. Drivers of Vulkan 1.3 list the extensions
        // of its core too, because the instance may be of 1.2.
        let can_control = lists(&available, size_control);
        let mut control = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut control_features = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup).push_next(&mut driver);
        let mut storage16 = vk::PhysicalDevice16BitStorageFeatures::default();
        let mut storage8 = vk::PhysicalDevice8BitStorageFeatures::default();
        let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
        let mut feature_chain = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut storage16)
            .push_next(&mut storage8)
            .push_next(&mut addresses);
        if can_control {
            chain = chain.push_next(&mut control);
            feature_chain = feature_chain.push_next(&mut control_features);
        }
        // SAFETY: the chains hold structures of Vulkan 1.2 and of an extension that the device lists.
        unsafe {
            instance.get_physical_device_properties2(physical_device, &mut chain);
            instance.get_physical_device_features2(physical_device, &mut feature_chain);
        }

        check_driver(&name, driver.driver_id, properties.driver_version)?;
        let compute_stage = vk::ShaderStageFlags::COMPUTE;
        let full_subgroups =
            control_features.subgroup_size_control == vk::TRUE && control_features.compute_full_subgroups == vk::TRUE;
        let subgroup_operations = |operations| {
            subgroup.supported_stages.contains(compute_stage) && subgroup.supported_operations.contains(operations)
        };
        let offer = Offer {
            buffer_addresses: addresses.buffer_device_address == vk::TRUE,
            full_subgroups,
            // Properties may be read whatever is enabled.
            one_subgroup_size: can_control
                && [control.min_subgroup_size, control.max_subgroup_size] == [subgroup.subgroup_size; 2],
        };
        let extensions = [(portability, lists(&available, portability)), (size_control, full_subgroups)];
        let device_extensions = extensions.into_iter().filter(|(_, use_it)| *use_it).map(|(name, _)| name).collect();
        let required_subgroup_size = full_subgroups && control.required_subgroup_size_stages.contains(compute_stage);
        let needed = vk::SubgroupFeatureFlags::BASIC
            | vk::SubgroupFeatureFlags::BALLOT
            | vk::SubgroupFeatureFlags::SHUFFLE
            | vk::SubgroupFeatureFlags::ARITHMETIC;
        let limits = properties.limits;
        // SAFETY: the physical device belongs to the instance, by this function's contract.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical_device) };
        let own = memory.memory_heaps_as_slice().iter();
        let own = own.filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        let is_cpu = properties.device_type == vk::PhysicalDeviceType::CPU;
        let threads = || std::thread::available_parallelism().map_or(1, |threads| threads.get() as u32);
        let profile = DeviceProfile {
            name,
            vendor_id: properties.vendor_id,
            device_id: properties.device_id,
            driver_id: driver.driver_id,
            driver_version: properties.driver_version,
            driver: format!("{} {}", text(&driver.driver_name), text(&driver.driver_info)).trim().to_string(),
            api_version,
            is_cpu,
            cpu_threads: if is_cpu { threads() } else { 0 },
            subgroup_size: subgroup.subgroup_size,
            subgroup_range: match required_subgroup_size {
                true => (control.min_subgroup_size, control.max_subgroup_size),
                false => (subgroup.subgroup_size, subgroup.subgroup_size),
            },
            subgroup_operations: subgroup_operations(needed),
            full_subgroups,
            fixed_subgroups: FixedSubgroups::No,
            max_workgroup_subgroups: match required_subgroup_size {
                // Drivers whose only limit is the number of invocations report the largest number.
                true => control.max_compute_workgroup_subgroups.min(limits.max_compute_work_group_invocations),
                false => u32::MAX / 128,
            },
            max_workgroup_invocations: limits
                .max_compute_work_group_invocations
                .min(limits.max_compute_work_group_size[0]),
            max_shared_bytes: limits.max_compute_shared_memory_size,
            max_workgroups: limits.max_compute_work_group_count[0].min(limits.max_compute_work_group_count[1]),
            max_storage_range_bytes: u64::from(limits.max_storage_buffer_range),
            max_storage_buffers: limits
                .max_per_stage_descriptor_storage_buffers
                .min(limits.max_descriptor_set_storage_buffers),
            max_push_bytes: limits.max_push_constants_size,
            small_storage: storage8.storage_buffer8_bit_access == vk::TRUE
                && storage16.storage_buffer16_bit_access == vk::TRUE,
            buffer_addresses: false,
            memory_bytes: own.map(|heap| heap.size).max().unwrap_or_default(),
            storage_alignment_bytes: limits.min_storage_buffer_offset_alignment.max(4),
            timestamp_period_ns: if timestamp_bits > 0 { limits.timestamp_period } else { 0.0 },
        };
        let requirements = Requirements {
            device_extensions,
            profile,
            required_subgroup_size,
            application: None,
            remedies: Remedies::default(),
            offer,
        };
        Ok(requirements.with_fixed_subgroups())
    }

    /// Features to enable on the device.
    pub fn features(&self) -> DeviceFeatures {
        let profile = &self.profile;
        DeviceFeatures {
            storage16: vk::PhysicalDevice16BitStorageFeatures::default()
                .storage_buffer16_bit_access(profile.small_storage),
            storage8: vk::PhysicalDevice8BitStorageFeatures::default()
                .storage_buffer8_bit_access(profile.small_storage),
            addresses: vk::PhysicalDeviceBufferDeviceAddressFeatures::default()
                .buffer_device_address(profile.buffer_addresses),
            subgroup_size_control: profile.full_subgroups.then(|| {
                vk::PhysicalDeviceSubgroupSizeControlFeatures::default()
                    .subgroup_size_control(true)
                    .compute_full_subgroups(true)
            }),
        }
    }

    /// Checks that a device was created with everything that these requirements name. Call it once after merging features, before
    /// creating a [`Sorter`](crate::Sorter), because validation layers do not notice every missing feature.
    ///
    /// The arguments are the extensions and features of the device. A feature that the device enables in the structure of an
    /// extension must be set in the structure of its Vulkan version here.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnabled`] names every missing feature and extension. To omit one on purpose, take the requirements without
    /// it: [`without_subgroup_size_control`](Self::without_subgroup_size_control),
    /// [`without_small_storage`](Self::without_small_storage).
    pub fn check_enabled(
        &self,
        extensions: &[&CStr],
        v11: &vk::PhysicalDeviceVulkan11Features<'_>,
        v12: &vk::PhysicalDeviceVulkan12Features<'_>,
        v13: &vk::PhysicalDeviceVulkan13Features<'_>,
    ) -> Result<(), Error> {
        let (mut v11, mut v12, mut v13) = (*v11, *v12, *v13);
        let features = self.features().pairs(&mut v11, &mut v12, &mut v13);
        let missing = features.into_iter().filter(|(_, needed, enabled)| *needed == vk::TRUE && **enabled != vk::TRUE);
        let mut missing: Vec<String> = missing.map(|(name, ..)| format!("feature {name}")).collect();
        let promoted = |name: &CStr| self.has_promoted() && name == vk::EXT_SUBGROUP_SIZE_CONTROL_NAME;
        let absent = self.device_extensions.iter().filter(|name| !extensions.contains(name) && !promoted(name));
        missing.extend(absent.map(|name| format!("extension {}", name.to_string_lossy())));
        match missing.is_empty() {
            true => Ok(()),
            false => Err(Error::NotEnabled { device: self.profile.name.clone(), missing: missing.join(", ") }),
        }
    }

    /// The same for an application whose `vk::ApplicationInfo` has this `apiVersion`. Call it where the version is known: vksort
    /// cannot ask a device for it.
    ///
    /// * From 1.3 on, many devices sort with their own subgroups though full ones are not enabled: SPIR-V 1.6 promises full
    ///   ones, and is allowed only there. Without the call, subgroups may be emulated, which is slower.
    /// * Below 1.3, what became core in Vulkan 1.3 needs its extension, also on a device of 1.3. [`query`](Self::query) assumes
    ///   that the application asked for the device's version.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] unless it is Vulkan 1.2 or a later version of Vulkan 1.
    pub fn for_api_version(mut self, version: u32) -> Result<Self, Error> {
        let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
        if vk::api_version_variant(version) != 0 || major != 1 || minor < 2 {
            let given = format!("{major}.{minor} ({version:#x})");
            return Err(Error::unsupported("apiVersion", given, "Vulkan 1.2 or a later version of Vulkan 1"));
        }
        self.application = Some(version);
        Ok(self.with_fixed_subgroups())
    }

    /// The same for a device that exists already: with the optional extensions and features that it was created with, and
    /// without all others, which may cost speed. An optional feature of a later version of vksort is not used either, unless the
    /// device has it.
    ///
    /// The arguments are those of [`check_enabled`](Self::check_enabled); [`only_enabled_names`](Self::only_enabled_names) takes
    /// names instead.
    ///
    /// ```
    /// use vksort::Requirements;
    /// use vksort::ash::{Instance, vk};
    ///
    /// # unsafe fn adopt(instance: &Instance, device: vk::PhysicalDevice) -> Result<Requirements, vksort::Error> {
    /// // What the device was created with: Vulkan 1.2, storage of 8 bits but not of 16 bits, no extension.
    /// let v12 = vk::PhysicalDeviceVulkan12Features::default().storage_buffer8_bit_access(true);
    /// # // SAFETY: never called.
    /// let needed = unsafe { Requirements::query(instance, device)? };
    /// Ok(needed.for_api_version(vk::API_VERSION_1_2)?.only_enabled(&[], &<_>::default(), &v12, &<_>::default()))
    /// # }
    /// ```
    pub fn only_enabled(
        mut self,
        extensions: &[&CStr],
        v11: &vk::PhysicalDeviceVulkan11Features<'_>,
        v12: &vk::PhysicalDeviceVulkan12Features<'_>,
        v13: &vk::PhysicalDeviceVulkan13Features<'_>,
    ) -> Self {
        let on = |feature: vk::Bool32| feature == vk::TRUE;
        let control = self.has_promoted() || extensions.contains(&vk::EXT_SUBGROUP_SIZE_CONTROL_NAME);
        if !(control && on(v13.subgroup_size_control) && on(v13.compute_full_subgroups)) {
            self = self.without_subgroup_size_control();
        }
        if !(on(v11.storage_buffer16_bit_access) && on(v12.storage_buffer8_bit_access)) {
            self = self.without_small_storage();
        }
        self.offer.buffer_addresses &= on(v12.buffer_device_address);
        self.with_buffer_addresses()
    }

    /// Whether extensions that became core in Vulkan 1.3 need not be enabled.
    fn has_promoted(&self) -> bool {
        let asked = self.application.is_none_or(|version| version >= vk::API_VERSION_1_3);
        asked && self.profile.api_version >= vk::API_VERSION_1_3
    }

    /// The same without subgroup size control, for a device that was created without it. Subgroup operations are then
    /// emulated, which is slower, unless SPIR-V 1.6 or the driver promises full subgroups
    /// ([`for_api_version`](Self::for_api_version)).
    pub fn without_subgroup_size_control(mut self) -> Self {
        self.device_extensions.retain(|name| *name != vk::EXT_SUBGROUP_SIZE_CONTROL_NAME);
        self.required_subgroup_size = false;
        self.profile.full_subgroups = false;
        self.profile.subgroup_range = (self.profile.subgroup_size, self.profile.subgroup_size);
        self
    }

    /// The same with buffer device addresses if the device has them, so that ranges longer than `maxStorageBufferRange` can be
    /// sorted ([`Access`](crate::Access)).
    pub fn with_buffer_addresses(mut self) -> Self {
        self.profile.buffer_addresses = self.offer.buffer_addresses;
        self
    }

    /// The same without buffer device addresses, for a device or buffers without them. Sorts reach `maxStorageBufferRange` then.
    pub fn without_buffer_addresses(mut self) -> Self {
        self.profile.buffer_addresses = false;
        self
    }

    /// The same without 8- and 16-bit storage, for a device that was created without it. Elements of these sizes are
    /// then written by atomics on words, which is slower.
    pub fn without_small_storage(mut self) -> Self {
        self.profile.small_storage = false;
        self
    }

    /// Device extensions to enable.
    pub fn device_extensions(&self) -> &[&'static CStr] {
        &self.device_extensions
    }

    /// The device's properties and limits.
    pub fn profile(&self) -> &DeviceProfile {
        &self.profile
    }

    /// The same for a device with these extensions, properties and limits.
    #[cfg(feature = "__testing")]
    #[doc(hidden)]
    pub fn as_if(self, device_extensions: Vec<&'static CStr>, profile: DeviceProfile) -> Self {
        Requirements { device_extensions, profile, ..self }
    }

    /// The same with everything that the device offers, for a device that vksort creates.
    #[cfg(feature = "standalone")]
    pub(crate) fn with_everything(self) -> Self {
        self.with_buffer_addresses()
    }

    /// The same without any optional extension or feature, for a device of which nothing is known.
    pub fn least(self) -> Self {
        self.only_enabled(&[], &Default::default(), &Default::default(), &Default::default())
    }
}

/// Features that vksort uses, each if the device has it.
///
/// * To create a device that enables nothing else, use [`chain`](Self::chain).
/// * To add them to your own `vk::PhysicalDeviceVulkan11Features`, `Vulkan12Features` and `Vulkan13Features`, use
///   [`add_to`](Self::add_to).
/// * With other structures, set these fields there. Vulkan allows each feature in one structure of a chain only.
///
/// [`Requirements::check_enabled`] names missing features.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DeviceFeatures {
    /// `storage_buffer16_bit_access`, for keys and values of 16 bits.
    pub storage16: vk::PhysicalDevice16BitStorageFeatures<'static>,
    /// `storage_buffer8_bit_access`, for keys and values of 8 bits.
    pub storage8: vk::PhysicalDevice8BitStorageFeatures<'static>,
    /// `buffer_device_address`, for ranges longer than `maxStorageBufferRange`.
    pub addresses: vk::PhysicalDeviceBufferDeviceAddressFeatures<'static>,
    /// Full subgroups of a known size.
    pub subgroup_size_control: Option<vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>>,
}

impl DeviceFeatures {
    /// The device description with these features enabled. No structure in the chain of `info` may enable one of them already.
    pub fn chain<'a>(&'a mut self, info: vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        let info = info.push_next(&mut self.storage16).push_next(&mut self.storage8).push_next(&mut self.addresses);
        match &mut self.subgroup_size_control {
            Some(control) => info.push_next(control),
            None => info,
        }
    }

    /// Adds the features to the caller's structures, and removes none.
    ///
    /// Chain `v13` if instance and device are of Vulkan 1.3 or newer. Otherwise chain
    /// [`subgroup_size_control`](Self::subgroup_size_control) instead, and pass an unused structure as `v13`.
    ///
    /// ```
    /// use vksort::ash::vk;
    /// # fn merge(
    /// #     requirements: vksort::Requirements,
    /// #     mut extensions: Vec<&'static std::ffi::CStr>,
    /// # ) -> Result<(), vksort::Error> {
    /// let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    /// let mut v12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    /// let mut v13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    /// extensions.extend(requirements.device_extensions());
    /// requirements.features().add_to(&mut v11, &mut v12, &mut v13);
    /// requirements.check_enabled(&extensions, &v11, &v12, &v13)?;
    /// # Ok(()) }
    /// ```
    pub fn add_to(
        &self,
        v11: &mut vk::PhysicalDeviceVulkan11Features<'_>,
        v12: &mut vk::PhysicalDeviceVulkan12Features<'_>,
        v13: &mut vk::PhysicalDeviceVulkan13Features<'_>,
    ) {
        for (_, needed, enabled) in self.pairs(v11, v12, v13) {
            *enabled |= needed;
        }
    }

    /// Each feature with its name, whether it is needed, and where callers have it.
    pub(super) fn pairs<'a>(
        &self,
        v11: &'a mut vk::PhysicalDeviceVulkan11Features<'_>,
        v12: &'a mut vk::PhysicalDeviceVulkan12Features<'_>,
        v13: &'a mut vk::PhysicalDeviceVulkan13Features<'_>,
    ) -> [(&'static str, vk::Bool32, &'a mut vk::Bool32); 5] {
        macro_rules! pair {
            ($name:expr, $own:expr, $theirs:ident, $field:ident) => {
                ($name, $own.$field, &mut $theirs.$field)
            };
        }
        let control = self.subgroup_size_control.unwrap_or_default();
        [
            pair!("storageBuffer16BitAccess", self.storage16, v11, storage_buffer16_bit_access),
            pair!("storageBuffer8BitAccess", self.storage8, v12, storage_buffer8_bit_access),
            pair!("bufferDeviceAddress", self.addresses, v12, buffer_device_address),
            pair!("subgroupSizeControl", control, v13, subgroup_size_control),
            pair!("computeFullSubgroups", control, v13, compute_full_subgroups),
        ]
    }
}

/// Refuses devices that cannot sort; returns the most timestamp bits of a compute queue.
fn check_suitable(device: &str, api_version: u32, families: &[vk::QueueFamilyProperties]) -> Result<u32, Error> {
    // A variant is another standard, such as Vulkan SC.
    if vk::api_version_variant(api_version) != 0 || api_version < vk::API_VERSION_1_2 {
        let given = format!("{}.{}", vk::api_version_major(api_version), vk::api_version_minor(api_version));
        return Err(Error::unsuitable(device, "Vulkan version", given, "1.2 or newer"));
    }
    let compute = families.iter().filter(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let most = compute.map(|family| family.timestamp_valid_bits).max();
    most.ok_or_else(|| Error::unsuitable(device, "number of compute queues", 0, "at least 1"))
}

/// Refuses drivers that are known to sort wrongly.
///
/// MoltenVK before 1.3 sizes arrays by the defaults of specialization constants, and before 1.2.11 it has no arrays of
/// descriptors by default.
fn check_driver(device: &str, driver: vk::DriverId, version: u32) -> Result<(), Error> {
    // Two decimal digits each for major, minor and patch.
    const MOLTENVK: u32 = 1_03_00;
    if driver == vk::DriverId::MOLTENVK && version < MOLTENVK {
        let given = format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100);
        return Err(Error::unsuitable(device, "version of MoltenVK", given, "1.3.0 or newer"));
    }
    Ok(())
}

/// Whether an extension is in a list.
pub(crate) fn lists(available: &[vk::ExtensionProperties], name: &CStr) -> bool {
    available.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}

/// Text from one of Vulkan's fixed-size arrays.
pub(crate) fn text(array: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|&char| char as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(queue_flags: vk::QueueFlags, timestamp_valid_bits: u32) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties { queue_flags, timestamp_valid_bits, ..Default::default() }
    }

    #[test]
    fn unsuitable_devices_are_refused_by_name() {
        let compute = family(vk::QueueFlags::COMPUTE, 36);
        let transfer = family(vk::QueueFlags::TRANSFER, 64);
        assert_eq!(check_suitable("Foo", vk::API_VERSION_1_2, &[transfer, compute]).ok(), Some(36));
        // The second one is of Vulkan SC.
        for (version, text) in [((0, 1, 1, 300), "1.1"), ((1, 1, 0, 0), "1.0")] {
            let version = vk::make_api_version(version.0, version.1, version.2, version.3);
            let message = check_suitable("Foo", version, &[compute]).unwrap_err().to_string();
            assert!(message.contains("Foo") && message.contains(text) && message.contains("1.2 or newer"), "{message}");
        }
        let message = check_suitable("Foo", vk::API_VERSION_1_3, &[transfer]).unwrap_err().to_string();
        assert!(message.contains("Foo") && message.contains("compute queues is 0"), "{message}");
    }

    #[test]
    fn requirements_keep_what_a_device_was_created_with_and_no_more() {
        let names = [vk::EXT_SUBGROUP_SIZE_CONTROL_NAME];
        let profile = DeviceProfile {
            api_version: vk::API_VERSION_1_3,
            full_subgroups: true,
            small_storage: true,
            buffer_addresses: false,
            ..DeviceProfile::default()
        };
        let all = Requirements {
            device_extensions: names.to_vec(),
            profile,
            required_subgroup_size: true,
            application: None,
            remedies: Remedies::default(),
            offer: Offer { buffer_addresses: true, ..Offer::default() },
        };
        let (mut v11, mut v12, mut v13): (_, _, vk::PhysicalDeviceVulkan13Features<'_>) = Default::default();
        all.clone().with_buffer_addresses().features().add_to(&mut v11, &mut v12, &mut v13);
        let kept = |rest: &Requirements| {
            let profile = &rest.profile;
            assert_eq!(profile.full_subgroups, rest.required_subgroup_size);
            [profile.full_subgroups, profile.small_storage, profile.buffer_addresses]
        };
        let rest = |extensions: &[&CStr], v11: &_, v12: &_, v13: &_| {
            let rest = all.clone().only_enabled(extensions, v11, v12, v13);
            assert!(rest.check_enabled(extensions, v11, v12, v13).is_ok(), "{extensions:?}");
            kept(&rest)
        };
        assert_eq!(rest(&names, &v11, &v12, &v13), [true; 3]);
        // The same by names, with any of the features: what is left names no other, so that a feature of a later version of
        // vksort is not assumed either.
        let features: Vec<_> = all.clone().with_buffer_addresses().feature_names().collect();
        let known = DeviceFeatures::default().pairs(&mut v11.clone(), &mut v12.clone(), &mut v13.clone()).len();
        assert_eq!(features.len(), known, "{features:?}");
        for subset in 0..1 << features.len() {
            let enabled = features.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
            let mut enabled: Vec<_> = enabled.map(|(_, name)| *name).collect();
            // Others do not matter, nor do names of another spelling.
            enabled.extend(["timelineSemaphore", "storage_buffer8_bit_access", "buffer\0DeviceAddress"]);
            for extensions in [&[][..], &["VK_KHR_swapchain", "VK_EXT_subgroup_size_control"]] {
                let rest =
                    all.clone().for_api_version(vk::API_VERSION_1_2).unwrap().only_enabled_names(extensions, &enabled);
                rest.check_enabled_names(extensions, &enabled).unwrap();
                assert!(rest.feature_names().all(|name| enabled.contains(&name)), "{rest:?} of {enabled:?}");
                let named = rest.device_extensions.iter().all(|name| extensions.contains(&name.to_str().unwrap()));
                assert!(named, "{rest:?} of {extensions:?}");
            }
        }
        // Subgroup size control is part of Vulkan 1.3, but not for an application that asked for less.
        assert_eq!(rest(&[], &v11, &v12, &v13), [true; 3]);
        let older = all.clone().for_api_version(vk::API_VERSION_1_2).unwrap().only_enabled(&[], &v11, &v12, &v13);
        assert_eq!(kept(&older), [false, true, true]);
        assert_eq!(rest(&names, &v11, &v12, &v13.compute_full_subgroups(false)), [false, true, true]);
        assert_eq!(rest(&names, &v11.storage_buffer16_bit_access(false), &v12, &v13), [true, false, true]);
        assert_eq!(rest(&names, &v11, &v12.buffer_device_address(false), &v13), [true, true, false]);
        assert_eq!(kept(&all.clone().with_buffer_addresses().least()), [false; 3]);
        assert_eq!(kept(&all.clone().least().with_buffer_addresses()), [false; 3]);
    }

    #[test]
    fn versions_that_no_application_can_have_asked_for_are_refused() {
        let any = Requirements {
            device_extensions: Vec::new(),
            profile: DeviceProfile::default(),
            required_subgroup_size: false,
            application: None,
            remedies: Remedies::default(),
            offer: Offer::default(),
        };
        for version in [vk::API_VERSION_1_2, vk::API_VERSION_1_3, vk::make_api_version(0, 1, 2, 198)] {
            assert_eq!(any.clone().for_api_version(version).map(|kept| kept.application).ok(), Some(Some(version)));
        }
        let other_variant = vk::make_api_version(1, 1, 3, 0);
        for version in [0, 1, vk::API_VERSION_1_0, vk::API_VERSION_1_1, other_variant, u32::MAX] {
            let message = any.clone().for_api_version(version).unwrap_err().to_string();
            assert!(
                message.contains(&format!("{version:#x}")) && message.contains("allowed is Vulkan 1.2"),
                "{message}"
            );
        }
    }

    #[test]
    fn versions_of_moltenvk_that_cannot_serve_are_refused_by_name() {
        let check = |driver, version| check_driver("M1", driver, version).map_err(|error| error.to_string());
        assert_eq!(check(vk::DriverId::MOLTENVK, 1_03_00), Ok(()));
        assert_eq!(check(vk::DriverId::MESA_RADV, 1), Ok(()));
        let message = check(vk::DriverId::MOLTENVK, 1_02_11).unwrap_err();
        assert!(message.contains("MoltenVK is 1.2.11") && message.contains("1.3.0 or newer"), "{message}");
    }
}
