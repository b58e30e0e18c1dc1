//! How much memory measuring takes, and how much there is.

use sysinfo::System;
use vksort::DeviceProfile;
use vksort::standalone::Gpu;

/// Bytes on the device and on the host; on a CPU both are the host's.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub device: u64,
    pub host: u64,
}

impl Memory {
    /// What there is: on the host now, on a device in its largest heap, whether or not others use it.
    pub fn available(profile: &DeviceProfile) -> Memory {
        let mut system = System::new();
        system.refresh_memory();
        // A container may have less than the machine.
        let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
        Memory { device: profile.memory_bytes, host: system.available_memory().min(limit) }
    }

    /// Why this much cannot be had, if it cannot.
    pub fn lacking(self, gpu: &Gpu, budget_mib: u64) -> Option<String> {
        let there = Memory::available(gpu.profile());
        let both = self.device + self.host;
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        if mib(both) > budget_mib {
            return Some(format!("{} MiB of memory are needed, allowed are --memory-mib {budget_mib}", mib(both)));
        }
        // What a driver on the CPU says of its heap binds nobody.
        let needs = match gpu.profile().is_cpu {
            true => vec![("host", both, there.host)],
            false => vec![("device", self.device, there.device), ("host", self.host, there.host)],
        };
        let lacking = needs.into_iter().find(|(_, needed, available)| needed > available);
        lacking.map(|(whose, needed, available)| {
            let heap = if whose == "device" { ", the largest heap" } else { "" };
            format!("{} MiB of {whose} memory are needed, available are {} MiB{heap}", mib(needed), available >> 20)
        })
    }
}
