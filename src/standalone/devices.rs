//! The devices of the system.

use super::choice::kind;
use super::instance::PhysicalDevice;
use crate::error::Error;
use crate::profile::DeviceProfile;
use crate::request::Algorithm;
use crate::tuning::Tuning;

/// A device of the system, with the tuning and the algorithm that vksort chooses for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Index to choose it by.
    pub index: usize,
    /// The device's name.
    pub name: String,
    /// Discrete, integrated, virtual, CPU or other.
    pub kind: &'static str,
    /// Its properties, or the reason why it cannot sort.
    pub profile: Result<DeviceProfile, Error>,
    /// The built-in tuning and the algorithm for large inputs, if it can sort.
    pub plan: Option<(Tuning, Algorithm)>,
}

pub(super) fn describe(devices: Vec<PhysicalDevice>) -> Vec<DeviceInfo> {
    let info = |(index, device): (usize, PhysicalDevice)| {
        let profile = device.requirements.map(|requirements| requirements.with_everything().profile);
        let built_in = profile.as_ref().ok().map(Tuning::for_device);
        let plan = built_in.map(|tuning| (tuning.clone(), tuning.algorithm()));
        DeviceInfo { index, name: device.name, kind: kind(device.kind).0, profile, plan }
    };
    devices.into_iter().enumerate().map(info).collect()
}
