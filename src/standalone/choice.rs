//! The choice of a device.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use ash::vk;

use super::instance::{self, PhysicalDevice};
use crate::error::Error;
#[cfg(doc)]
use crate::record::InstanceRequirements;
use crate::record::Requirements;

/// Environment variable that names a device if the options name none.
const VARIABLE: &str = "VKSORT_DEVICE";

/// Which device to open.
///
/// As text (`--device` of the programs, `VKSORT_DEVICE`): `best`, an index, or a part of the device's name, such as `4090`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceChoice {
    /// The best suitable device: discrete before integrated before virtual before CPU.
    #[default]
    Best,
    /// By its index in [`Gpu::devices`](crate::standalone::Gpu::devices). If no device has the index, this is the first
    /// device whose name contains the number.
    Index(usize),
    /// The first device whose name contains this text, ignoring case.
    Name(String),
}

impl DeviceChoice {
    /// The choice in `VKSORT_DEVICE`, or the best device when it is not set.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] when the variable is not valid Unicode.
    pub fn from_env() -> Result<DeviceChoice, Error> {
        match std::env::var(VARIABLE) {
            Ok(text) => Ok(text.parse().unwrap_or_else(|never: Infallible| match never {})),
            Err(std::env::VarError::NotPresent) => Ok(DeviceChoice::Best),
            Err(std::env::VarError::NotUnicode(text)) => {
                let allowed = "best, a number, or a part of a device's name, as valid Unicode";
                Err(Error::unsupported(format!("environment variable {VARIABLE}"), format!("{text:?}"), allowed))
            }
        }
    }

    /// The chosen device of the caller's instance, with its requirements.
    ///
    /// # Errors
    ///
    /// * [`Error::NoDriver`] when the instance has no device.
    /// * [`Error::NoDevice`] when the choice names no device of the instance. It lists them.
    /// * [`Error::UnsuitableDevice`] when the device cannot sort.
    /// * [`Error::Vulkan`] from the driver.
    ///
    /// # Safety
    ///
    /// * The instance is alive, and was created for the version of Vulkan in [`InstanceRequirements`] or a later one.
    pub unsafe fn find(&self, instance: &ash::Instance) -> Result<(vk::PhysicalDevice, Requirements), Error> {
        // SAFETY: by this function's contract.
        let device = select(self, unsafe { instance::devices(instance) }?)?;
        Ok((device.raw, device.requirements?))
    }
}

impl FromStr for DeviceChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.trim() {
            "" | "best" => DeviceChoice::Best,
            text => text.parse().map(DeviceChoice::Index).unwrap_or_else(|_| DeviceChoice::Name(text.into())),
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Best => f.write_str("best"),
            DeviceChoice::Index(index) => write!(f, "index {index}"),
            DeviceChoice::Name(name) => write!(f, "name {name:?}"),
        }
    }
}

/// The kind of a device, and its rank among devices.
pub(crate) fn kind(kind: vk::PhysicalDeviceType) -> (&'static str, u32) {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => ("discrete", 0),
        vk::PhysicalDeviceType::INTEGRATED_GPU => ("integrated", 1),
        vk::PhysicalDeviceType::VIRTUAL_GPU => ("virtual", 2),
        vk::PhysicalDeviceType::CPU => ("CPU", 3),
        _ => ("other", 4),
    }
}

/// The chosen device. If it was chosen by index or name and cannot sort, it holds the reason.
pub(crate) fn select(choice: &DeviceChoice, mut devices: Vec<PhysicalDevice>) -> Result<PhysicalDevice, Error> {
    let index = index_of(choice, &devices)?;
    Ok(devices.swap_remove(index))
}

/// The index of the chosen device.
pub(crate) fn index_of(choice: &DeviceChoice, devices: &[PhysicalDevice]) -> Result<usize, Error> {
    if devices.is_empty() {
        return Err(Error::NoDriver);
    }
    let named = |part: &str| {
        let part = part.to_lowercase();
        devices.iter().position(|device| device.name.to_lowercase().contains(&part))
    };
    let suitable = |(_, device): &(usize, &PhysicalDevice)| {
        device.requirements.as_ref().inspect_err(|error| log::info!("passed over: {error}")).is_ok()
    };
    let found = match choice {
        DeviceChoice::Best => {
            let suitable = devices.iter().enumerate().filter(suitable);
            suitable.min_by_key(|(_, device)| kind(device.kind).1).map(|(index, _)| index)
        }
        DeviceChoice::Index(index) if *index < devices.len() => Some(*index),
        DeviceChoice::Index(number) => named(&number.to_string()),
        DeviceChoice::Name(name) => named(name),
    };
    found.ok_or_else(|| {
        // A driver that failed says more than that nothing fits.
        let failed = |device: &PhysicalDevice| match &device.requirements {
            Err(error @ Error::Vulkan { .. }) => Some(error.clone()),
            _ => None,
        };
        if let (DeviceChoice::Best, Some(error)) = (choice, devices.iter().find_map(failed)) {
            return error;
        }
        let names: Vec<String> =
            devices.iter().enumerate().map(|(index, device)| format!("{index}: {}", device.name)).collect();
        Error::NoDevice { given: choice.to_string(), available: names.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, kind: vk::PhysicalDeviceType) -> PhysicalDevice {
        let refused = Error::unsupported("test", 0, 1);
        PhysicalDevice { raw: vk::PhysicalDevice::null(), name: name.into(), kind, requirements: Err(refused) }
    }

    #[test]
    fn devices_are_found_by_index_and_by_part_of_the_name() {
        let list = || {
            vec![
                device("llvmpipe", vk::PhysicalDeviceType::CPU),
                device("Foo GT 4090", vk::PhysicalDeviceType::DISCRETE_GPU),
            ]
        };
        assert_eq!(select(&DeviceChoice::Index(1), list()).unwrap().name, "Foo GT 4090");
        assert_eq!(select(&"4090".parse().unwrap(), list()).unwrap().name, "Foo GT 4090", "a number of a name");
        assert_eq!(select(&DeviceChoice::Name("LLVM".into()), list()).unwrap().name, "llvmpipe");
        let message = select(&DeviceChoice::Index(2), list()).err().unwrap().to_string();
        assert!(message.contains("index 2") && message.contains("1: Foo GT"), "{message}");
        let message = select(&DeviceChoice::Best, Vec::new()).err().unwrap().to_string();
        assert!(message.contains("mesa-vulkan-drivers") && message.contains("VK_DRIVER_FILES"), "{message}");
        let message = select(&DeviceChoice::Best, list()).err().unwrap().to_string();
        assert!(message.contains("best"), "unsuitable devices are never the best: {message}");
        let failed = Error::Vulkan {
            call: "vkEnumerateDeviceExtensionProperties",
            result: vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        };
        let devices =
            || list().into_iter().map(|device| PhysicalDevice { requirements: Err(failed.clone()), ..device });
        let message = select(&DeviceChoice::Best, devices().collect()).err().unwrap().to_string();
        assert!(message.contains("vkEnumerateDeviceExtensionProperties"), "a driver that failed is named: {message}");
        let message = select(&DeviceChoice::Index(2), devices().collect()).err().unwrap().to_string();
        assert!(message.contains("index 2"), "a device that is not there is no failure: {message}");
    }
}
