//! Properties and limits of a device: plain data, read once. Tuning and plans follow from it.

use ash::vk;

/// Properties and limits of a device that decide how it sorts.
///
/// [`Requirements::query`](crate::Requirements::query) fills it in. All fields are public, so that plans can be studied
/// without the device. A later version may add fields: end a profile of your own with `..DeviceProfile::default()`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// The device's name.
    pub name: String,
    /// PCI vendor id, or Khronos's number for vendors without one.
    pub vendor_id: u32,
    /// The vendor's number for the device.
    pub device_id: u32,
    /// Vulkan's number for the driver.
    pub driver_id: vk::DriverId,
    /// The driver's version, in the driver's own encoding.
    pub driver_version: u32,
    /// The driver's name and version.
    pub driver: String,
    /// The newest Vulkan version that the device supports, packed as by `vk::make_api_version`.
    pub api_version: u32,
    /// Whether the device is a CPU.
    pub is_cpu: bool,
    /// Threads of the host where the device is a CPU, else 0.
    pub cpu_threads: u32,
    /// Subgroup size of shaders that request no size.
    pub subgroup_size: u32,
    /// Smallest and largest subgroup size that a shader may request; both are `subgroup_size` if it may request none.
    pub subgroup_range: (u32, u32),
    /// Whether compute shaders may use ballots and shuffles, and add up the values of a subgroup.
    pub subgroup_operations: bool,
    /// Whether pipelines can require full subgroups.
    pub full_subgroups: bool,
    /// What is known of the subgroups of pipelines that require nothing.
    pub fixed_subgroups: FixedSubgroups,
    /// `maxComputeWorkgroupSubgroups`: the largest number of subgroups in a workgroup of a required subgroup size.
    pub max_workgroup_subgroups: u32,
    /// `maxComputeWorkGroupInvocations`.
    pub max_workgroup_invocations: u32,
    /// `maxComputeSharedMemorySize`, in bytes.
    pub max_shared_bytes: u32,
    /// The smaller of `maxComputeWorkGroupCount` in x and y.
    pub max_workgroups: u32,
    /// `maxStorageBufferRange`, in bytes.
    pub max_storage_range_bytes: u64,
    /// How many storage buffers a compute shader may access by descriptors.
    pub max_storage_buffers: u32,
    /// `maxPushConstantsSize`, in bytes.
    pub max_push_bytes: u32,
    /// Whether storage buffers may hold elements of 8 and of 16 bits.
    pub small_storage: bool,
    /// Whether shaders may access buffers by address. [`Requirements::query`](crate::Requirements::query) leaves it out until
    /// [`with_buffer_addresses`](crate::Requirements::with_buffer_addresses) asks for it.
    pub buffer_addresses: bool,
    /// Size of the largest heap of the device's own memory, in bytes.
    pub memory_bytes: u64,
    /// `minStorageBufferOffsetAlignment`, in bytes; sorts use at least 4.
    pub storage_alignment_bytes: u64,
    /// Nanoseconds per timestamp tick; 0 when compute queues have no timestamps.
    pub timestamp_period_ns: f32,
}

/// What is known of subgroups where pipelines require neither a size nor full ones, and workgroups are a multiple of
/// [`DeviceProfile::subgroup_size`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FixedSubgroups {
    /// They may have fewer lanes, so kernels emulate subgroups.
    #[default]
    No,
    /// Those of SPIR-V 1.6 are full, because the device has one size alone.
    Spirv16,
    /// The driver's are full, and of this size.
    Driver,
}

impl DeviceProfile {
    /// Whether kernels may rely on full subgroups of the device's own: by a feature, or as [`fixed_subgroups`](Self::fixed_subgroups)
    /// says.
    pub fn has_full_subgroups(&self) -> bool {
        self.full_subgroups || self.fixed_subgroups != FixedSubgroups::No
    }

    /// What is known of subgroups without a feature. `ruled` says that modules may be of SPIR-V 1.6 and that the device has one
    /// size alone, so that Vulkan promises full ones.
    pub(crate) fn find_fixed_subgroups(&self, ruled: bool) -> FixedSubgroups {
        use driver::*;
        let apple = self.vendor_id == vendor::APPLE;
        match (self.driver_id, self.subgroup_size) {
            // Their compilers choose the lanes of each kernel, by its registers, and some leave lanes empty.
            (ANV | INTEL_WINDOWS | TURNIP | QUALCOMM | SAMSUNG | IMAGINATION | IMAGINATION_MESA, _)
            // The driver below decides.
            | (DOZEN | VENUS, _) => FixedSubgroups::No,
            // On GPUs of AMD and Intel, what MoltenVK reports is disputed.
            (MOLTENVK, _) if !apple => FixedSubgroups::No,
            _ if ruled => FixedSubgroups::Spirv16,
            // These GPUs have warps of one size.
            (NVIDIA | NVK | HONEYKRISP | KOSMICKRISP | MOLTENVK, 32) => FixedSubgroups::Driver,
            // A subgroup is a vector of LP_NATIVE_VECTOR_WIDTH bits, or of 128; a workgroup runs them one after the other.
            (LLVMPIPE, 4 | 8 | 16) | (SWIFTSHADER, 4) => FixedSubgroups::Driver,
            // They usually run full subgroups of the size that they report, but a setting may change it: with
            // RADV_PERFTEST=cswave32 waves have 32 lanes, though 64 are reported.
            (AMD | AMDVLK | RADV, _) => FixedSubgroups::No,
            _ => FixedSubgroups::No,
        }
    }

    /// The known quirks of the device's driver.
    pub(crate) fn quirks(&self) -> Quirks {
        use driver::*;
        let is = |drivers: &[vk::DriverId]| drivers.contains(&self.driver_id);
        Quirks {
            // MoltenVK before 1.3 sizes arrays by the default value of a specialization constant. Dozen translates to a language
            // without specialization constants. The proprietary drivers of phones specialize late: arrays sized by a constant may
            // stay in memory, and loops bounded by a constant may stay loops.
            weak_specialization: is(&[MOLTENVK, DOZEN, QUALCOMM, ARM, IMAGINATION]),
            // In Mesa's v3dv (26.1), and in llvmpipe of some release after 22.3, every barrier waits for the whole workgroup. Known
            // to be right are drivers whose machine code waits only at the barriers of the workgroup (NVK, RADV, anv, Turnip,
            // Honeykrisp, NVIDIA's assembler), and software drivers that pass the tests.
            wide_subgroup_barriers: !(is(&[ANV, HONEYKRISP, NVIDIA, NVK, RADV, SWIFTSHADER, TURNIP])
                || self.driver_id == LLVMPIPE && self.driver.contains("Mesa 22.")),
            slow_unrolled_branches: is(&[SWIFTSHADER]),
            // SPIRV-Cross, on which MoltenVK is built, cannot express them in Metal.
            no_aliased_views: is(&[MOLTENVK]),
            // Metal before 3.2 has no fences between workgroups, on GPUs of every vendor. Mesa's driver names Mesa as the vendor.
            decide_apart: self.vendor_id == vendor::APPLE || is(&[MOLTENVK, HONEYKRISP]),
            keep_loops: is(&[LLVMPIPE, SWIFTSHADER]),
        }
    }
}

/// Where a driver deviates from Vulkan, or from what GPUs do. A sort is correct if every quirk of the driver is set; a quirk
/// that the driver does not have only makes it slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quirks {
    /// Specialization constants are known or suspected to be handled badly.
    pub weak_specialization: bool,
    /// A subgroup barrier may wait for all subgroups of the workgroup, against the specification. Subgroups that pass fewer
    /// barriers than others read too early there, or wait forever.
    pub wide_subgroup_barriers: bool,
    /// The compiler may take all memory for branches in unrolled loops.
    pub slow_unrolled_branches: bool,
    /// Two arrays of descriptors at one binding are not supported, so elements of 8 and 16 bits are parts of words.
    pub no_aliased_views: bool,
    /// There are no fences between workgroups of a dispatch, so a separate dispatch decides the routes instead of the histogram's
    /// last workgroup.
    pub decide_apart: bool,
    /// The driver is asked not to unroll loops over items. GPUs hold items in registers, which takes unrolled loops; software
    /// drivers only take longer to compile them.
    pub keep_loops: bool,
}

/// PCI and Khronos numbers of vendors.
#[allow(missing_docs, reason = "the names of vendors")]
pub mod vendor {
    pub const NVIDIA: u32 = 0x10DE;
    pub const AMD: u32 = 0x1002;
    pub const INTEL: u32 = 0x8086;
    pub const APPLE: u32 = 0x106B;
    pub const QUALCOMM: u32 = 0x5143;
    pub const ARM: u32 = 0x13B5;
}

/// Numbers of `VkDriverId`.
#[allow(missing_docs, reason = "the names of drivers")]
pub mod driver {
    use ash::vk::DriverId;

    /// Of drivers without a number, or that no row knows.
    pub const UNKNOWN: DriverId = DriverId::from_raw(0);
    /// AMD's own driver.
    pub const AMD: DriverId = DriverId::from_raw(1);
    /// AMD's open driver.
    pub const AMDVLK: DriverId = DriverId::from_raw(2);
    /// Mesa's driver for GPUs of AMD.
    pub const RADV: DriverId = DriverId::from_raw(3);
    /// NVIDIA's own driver.
    pub const NVIDIA: DriverId = DriverId::from_raw(4);
    pub const INTEL_WINDOWS: DriverId = DriverId::from_raw(5);
    /// Mesa's driver for GPUs of Intel.
    pub const ANV: DriverId = DriverId::from_raw(6);
    pub const IMAGINATION: DriverId = DriverId::from_raw(7);
    pub const QUALCOMM: DriverId = DriverId::from_raw(8);
    pub const ARM: DriverId = DriverId::from_raw(9);
    pub const SWIFTSHADER: DriverId = DriverId::from_raw(10);
    pub const LLVMPIPE: DriverId = DriverId::from_raw(13);
    /// Mesa's driver for GPUs of Qualcomm.
    pub const TURNIP: DriverId = DriverId::from_raw(18);
    /// Mesa's driver for GPUs of NVIDIA.
    pub const NVK: DriverId = DriverId::from_raw(24);
    /// Mesa's driver for GPUs of Apple.
    pub const HONEYKRISP: DriverId = DriverId::from_raw(26);
    /// Apple's GPUs by Mesa, on Metal.
    pub const KOSMICKRISP: DriverId = DriverId::from_raw(28);
    pub const MOLTENVK: DriverId = DriverId::from_raw(14);
    pub const DOZEN: DriverId = DriverId::from_raw(23);
    pub const SAMSUNG: DriverId = DriverId::from_raw(21);
    /// Mesa's driver for guests of virtual machines.
    pub const VENUS: DriverId = DriverId::from_raw(22);
    pub const IMAGINATION_MESA: DriverId = DriverId::from_raw(25);
}

/// A device with common limits of Vulkan 1.2 and subgroups of 32 lanes.
impl Default for DeviceProfile {
    fn default() -> Self {
        DeviceProfile {
            name: "example".into(),
            vendor_id: 0,
            device_id: 0,
            driver_id: driver::UNKNOWN,
            driver_version: 0,
            driver: "example".into(),
            api_version: vk::API_VERSION_1_2,
            is_cpu: false,
            cpu_threads: 0,
            subgroup_size: 32,
            subgroup_range: (32, 32),
            subgroup_operations: true,
            full_subgroups: true,
            fixed_subgroups: FixedSubgroups::No,
            max_workgroup_subgroups: 32,
            max_workgroup_invocations: 1024,
            max_shared_bytes: 32768,
            max_workgroups: 65535,
            max_storage_range_bytes: 1 << 32,
            max_storage_buffers: 16,
            max_push_bytes: 128,
            small_storage: true,
            buffer_addresses: true,
            memory_bytes: 8 << 30,
            storage_alignment_bytes: 64,
            timestamp_period_ns: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subgroups_are_fixed_where_the_driver_or_vulkan_says_so() {
        use FixedSubgroups::*;
        use driver::*;
        let of = |driver_id, vendor_id, subgroup_size| {
            let profile = DeviceProfile { driver_id, vendor_id, subgroup_size, ..DeviceProfile::default() };
            [false, true].map(|ruled| profile.find_fixed_subgroups(ruled))
        };
        for driver in [NVIDIA, NVK, HONEYKRISP, KOSMICKRISP] {
            assert_eq!(of(driver, 0, 32), [Driver, Spirv16], "{driver:?}");
            assert_eq!(of(driver, 0, 64), [No, Spirv16], "{driver:?} with a size that it is not known for");
        }
        for (driver, sizes) in [(LLVMPIPE, &[4, 8, 16][..]), (SWIFTSHADER, &[4])] {
            sizes.iter().for_each(|size| assert_eq!(of(driver, 0, *size), [Driver, Spirv16], "{driver:?}"));
        }
        for driver in [RADV, AMD, AMDVLK] {
            assert_eq!(of(driver, vendor::AMD, 64), [No, Spirv16], "{driver:?}");
        }
        assert_eq!(of(MOLTENVK, vendor::APPLE, 32), [Driver, Spirv16]);
        for vendor in [vendor::AMD, vendor::INTEL] {
            assert_eq!(of(MOLTENVK, vendor, 32), [No, No]);
        }
        for driver in [ANV, INTEL_WINDOWS, TURNIP, QUALCOMM, DOZEN, VENUS, IMAGINATION, IMAGINATION_MESA, SAMSUNG] {
            assert_eq!(of(driver, 0, 32), [No, No], "{driver:?}");
        }
        // Of other drivers nothing is known but what Vulkan promises.
        for driver in [UNKNOWN, ARM, vk::DriverId::from_raw(99)] {
            assert_eq!(of(driver, 0, 16), [No, Spirv16], "{driver:?}");
        }
    }
}
