//! A tuning that was measured on a device, kept in a file.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use vksort::__private::{files, kernels_digest};
use vksort::{DeviceProfile, KeyType, SortRequest, Tuning, ValueType};

use crate::error::Error;
use crate::tuning;

/// Version of the file's layout and of the meaning of [`Tuning`]'s fields. A change of the fields themselves changes the format too.
const LAYOUT: u32 = 9;

fn format() -> u32 {
    tuning::layout() ^ LAYOUT
}

/// Longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// A [`Tuning`] with its device and its measurements: one JSON file per device.
///
/// The program `tune` of the repository writes profiles. A profile is valid for the device and the driver that it was made
/// with; [`tuning_for`](Self::tuning_for) refuses others.
///
/// With a [`Sorter`](vksort::Sorter) it goes into [`SorterOptions::tuning`](vksort::SorterOptions).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuningProfile {
    /// Version of the file's layout.
    format: u32,
    /// The kernels that were measured, as a hash of their SPIR-V.
    kernels: String,
    /// Version of the crate that measured.
    pub vksort_version: String,
    /// The day of the measurement in UTC, as 2026-01-31.
    pub date: String,
    /// The measured device.
    pub device: ProfiledDevice,
    /// The tuning for the device; the built-in row if nothing was faster.
    #[serde(with = "tuning")]
    pub tuning: Tuning,
    /// The measurements, one for each kind of sort.
    pub measured: Vec<MeasuredSort>,
}

/// The identity of a device and its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfiledDevice {
    /// PCI vendor id, or Khronos's number.
    pub vendor_id: u32,
    /// The vendor's number for the device.
    pub device_id: u32,
    /// The device's name.
    pub name: String,
    /// Vulkan's number for the driver (`VkDriverId`).
    pub driver_id: i32,
    /// The driver's version, in the driver's encoding.
    pub driver_version: u32,
    /// The driver's name and version.
    pub driver: String,
}

/// Kinds of sorts that a tuning is measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SortKind {
    /// Keys of 32 bits alone.
    Keys,
    /// Keys of 32 bits with values of 32 bits.
    Pairs,
    /// Keys of 64 bits alone.
    WideKeys,
    /// A few thousand keys of 32 bits alone, where starting kernels takes most of the time.
    FewKeys,
}

/// Whose clock took the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Clock {
    /// The device's timestamps.
    Device,
    /// The host's clock, where the device has no timestamps.
    Host,
}

/// Times of the built-in row and of the profile's tuning, from interleaved runs.
///
/// If the profile's tuning is the built-in row, both times are equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredSort {
    /// The kind of sort, in place and ascending.
    pub kind: SortKind,
    /// Elements, with uniform keys.
    pub count: u32,
    /// Runs of each.
    pub rounds: u32,
    /// Whose clock took the times.
    pub clock: Clock,
    /// Time of the built-in row, in nanoseconds.
    pub built_in_ns: Quartiles,
    /// Time of the profile's tuning, in nanoseconds.
    pub tuned_ns: Quartiles,
    /// How many times as fast as the built-in row the profile's tuning is, round by round.
    pub ratio: Quartiles,
}

/// Median and quartiles of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quartiles {
    /// A quarter of the numbers is below.
    pub q25: f64,
    /// Half of the numbers are below.
    pub median: f64,
    /// Three quarters of the numbers are below.
    pub q75: f64,
}

impl TuningProfile {
    /// A profile made by this version of vksort on this device, on a day such as `2026-01-31`.
    pub fn new(
        device: &DeviceProfile,
        tuning: Tuning,
        measured: Vec<MeasuredSort>,
        date: impl Into<String>,
    ) -> TuningProfile {
        TuningProfile {
            format: format(),
            kernels: kernels_digest(),
            vksort_version: env!("CARGO_PKG_VERSION").into(),
            date: date.into(),
            device: ProfiledDevice::of(device),
            tuning,
            measured,
        }
    }

    /// Reads a profile.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when the file cannot be read, is not a profile of this version, or holds a field,
    /// name or number that is not allowed.
    pub fn load(path: impl AsRef<Path>) -> Result<TuningProfile, Error> {
        let path = path.as_ref();
        let refuse = |reason: String| Error::File { path: path.display().to_string(), reason };
        let read = || {
            let mut bytes = Vec::new();
            fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error: std::io::Error| refuse(error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(refuse(format!("more than {MAX_BYTES} bytes, allowed are at most {MAX_BYTES}")));
        }
        let text = str::from_utf8(&bytes).map_err(|error| refuse(format!("not a profile, which is JSON: {error}")))?;
        TuningProfile::from_json(text).map_err(refuse)
    }

    /// Writes the profile to a temporary file and renames it, so that the file is always complete.
    ///
    /// # Errors
    ///
    /// [`Error::File`] when the file cannot be written. An older file then stays as it was.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let refuse = |reason: String| Error::File { path: path.display().to_string(), reason };
        files::replace(path, self.to_json().as_bytes()).map_err(|error| refuse(format!("writing it: {error}")))
    }

    /// The profile as text, as [`save`](Self::save) writes it.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("every field has a form in JSON");
        text + "\n"
    }

    /// The tuning, if the device and the driver are those of the profile.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`] for another device; [`Error::Stale`] for this device with another
    /// driver, another version of it, or other kernels. The built-in row sorts correctly in both cases.
    pub fn tuning_for(&self, device: &DeviceProfile) -> Result<Tuning, Error> {
        let (given, needed) = (&self.device, ProfiledDevice::of(device));
        if given.hardware() != needed.hardware() {
            return Err(Error::Foreign { given: given.describe(), needed: needed.describe() });
        }
        if given.driver() != needed.driver() {
            return Err(Error::Stale { given: given.describe_driver(), needed: needed.describe_driver() });
        }
        let kernels = kernels_digest();
        if self.kernels != kernels {
            let of = |version: &str, hash: &str| format!("kernels {hash} of vksort {version}");
            let (given, needed) = (of(&self.vksort_version, &self.kernels), of(env!("CARGO_PKG_VERSION"), &kernels));
            return Err(Error::Stale { given, needed });
        }
        Ok(self.tuning.clone())
    }

    /// A profile from its text, or the reason against it.
    fn from_json(text: &str) -> Result<TuningProfile, String> {
        // Another version may have other fields, so the version comes first.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let Version { format: given } =
            serde_json::from_str(text).map_err(|error| format!("not a profile, which is JSON: {error}"))?;
        let allowed = format();
        if given != allowed {
            return Err(format!("format is {given}, allowed is {allowed}; make it again with this version of vksort"));
        }
        let profile: TuningProfile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        profile.tuning.check().map_err(|error| error.to_string())?;
        Ok(profile)
    }
}

impl ProfiledDevice {
    /// The identity of a device.
    pub fn of(device: &DeviceProfile) -> ProfiledDevice {
        ProfiledDevice {
            vendor_id: device.vendor_id,
            device_id: device.device_id,
            name: device.name.clone(),
            driver_id: device.driver_id.as_raw(),
            driver_version: device.driver_version,
            driver: device.driver.clone(),
        }
    }

    fn hardware(&self) -> (u32, u32, &str) {
        (self.vendor_id, self.device_id, &self.name)
    }

    fn driver(&self) -> (i32, u32, &str) {
        (self.driver_id, self.driver_version, &self.driver)
    }

    fn describe(&self) -> String {
        format!("{:?} ({:04x}:{:04x})", self.name, self.vendor_id, self.device_id)
    }

    fn describe_driver(&self) -> String {
        format!("driver {:?} (version {:#x})", self.driver, self.driver_version)
    }
}

impl SortKind {
    /// Every kind.
    pub const ALL: &[SortKind] = &[SortKind::Keys, SortKind::Pairs, SortKind::WideKeys, SortKind::FewKeys];

    /// The kind's name: `u32 keys`, `u32 pairs`, `u64 keys` or `few keys`.
    pub fn name(self) -> &'static str {
        match self {
            SortKind::Keys => "u32 keys",
            SortKind::Pairs => "u32 pairs",
            SortKind::WideKeys => "u64 keys",
            SortKind::FewKeys => "few keys",
        }
    }

    /// The sort that is measured.
    pub fn request(self) -> SortRequest {
        let (key, value) = match self {
            SortKind::Keys | SortKind::FewKeys => (KeyType::U32, ValueType::None),
            SortKind::Pairs => (KeyType::U32, ValueType::U32),
            SortKind::WideKeys => (KeyType::U64, ValueType::None),
        };
        SortRequest::new(key).value(value)
    }
}

impl Quartiles {
    /// The quartiles of some numbers, interpolated between two neighbours; NaN for no numbers.
    pub fn of(numbers: &[f64]) -> Quartiles {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * sorted.len().saturating_sub(1) as f64;
            let number = |place: f64| sorted.get(place as usize).copied().unwrap_or(f64::NAN);
            let (below, above) = (number(place.floor()), number(place.ceil()));
            below + (above - below) * place.fract()
        };
        Quartiles { q25: at(0.25), median: at(0.5), q75: at(0.75) }
    }
}
