//! The report about one device that users send: what `devices --report` and `measure.sh` write, and `reports` reads.
//!
//! It has no names of users, machines and files.

mod text;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use vksort::ash::vk::{self, api_version_major, api_version_minor, api_version_patch};
use vksort::standalone::Gpu;
use vksort::{DeviceProfile, Tuning};
use vksort_profiles::{MeasuredSort, ProfiledDevice, Quartiles, TuningProfile};

/// The version of the format, which any change of a field changes.
pub const FORMAT: u32 = 1;

/// All that is known of a device. What did not run is missing or empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceReport {
    format: u32,
    pub vksort: Build,
    /// The day in UTC, as 2026-01-31.
    pub date: String,
    /// What was run.
    pub command: String,
    pub device: Device,
    /// The built-in row of the device.
    pub row: Row,
    pub selftest: Option<SelfTest>,
    /// What measure.sh ran.
    pub steps: Vec<Step>,
    pub figures: Vec<Figure>,
    /// The fastest tuning that `tune` found.
    pub best: Option<Best>,
    /// A checksum of all before it. Anyone can compute it anew, so it tells of accidents alone.
    digest: String,
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    pub version: String,
    /// A hash of the kernels' SPIR-V.
    pub kernels: String,
    /// Commit, target and compiler, where a bundle of scripts/pack.sh says so.
    pub build: Option<String>,
    /// Operating system and processor.
    pub system: String,
}

/// What vksort looks at in a device, by the names of [`DeviceProfile`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    pub identity: ProfiledDevice,
    /// The newest version of Vulkan that the device supports.
    pub vulkan: String,
    pub is_cpu: bool,
    pub cpu_threads: u32,
    pub subgroup_size: u32,
    pub smallest_subgroup: u32,
    pub largest_subgroup: u32,
    pub subgroup_operations: bool,
    pub full_subgroups: bool,
    pub fixed_subgroups: String,
    pub max_workgroup_subgroups: u32,
    pub max_workgroup_invocations: u32,
    pub max_shared_bytes: u32,
    pub max_workgroups: u32,
    pub max_storage_range_bytes: u64,
    pub max_storage_buffers: u32,
    pub max_push_bytes: u32,
    pub small_storage: bool,
    pub buffer_addresses: bool,
    pub memory_bytes: u64,
    pub storage_alignment_bytes: u64,
    pub timestamp_period_ns: f32,
}

/// A tuning. Its knobs are kept as they were written, so that a report stays readable when a later version has others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: String,
    pub evidence: String,
    pub knobs: Map<String, Value>,
}

/// The sorts of `devices --selftest`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTest {
    pub seed: u64,
    pub kinds: Vec<Kind>,
}

/// What the sorts of one kind came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    pub request: String,
    /// The launch configuration, if the kind ran.
    pub shape: String,
    pub state: State,
    pub right: u32,
    pub wrong: u32,
    /// The first fault: what was wrong with a sort, or the error that ended the kind.
    pub fault: Option<String>,
}

/// Whether a kind ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It did.
    Ran,
    /// The device does not support it.
    Unsupported,
    /// The time was over.
    NoTime,
    /// It began, and something ended the program before it was done.
    Began,
}

/// What a self-test says of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every sort was right, of all kinds that the device supports.
    Right,
    /// Every sort was right, but there was no time for so many kinds.
    SoFar(usize),
    /// A sort was wrong, or none was right.
    Wrong,
}

/// A step of measure.sh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub step: String,
    pub state: String,
    pub seconds: u64,
    /// Tests; 0 where the step runs none.
    pub passed: u32,
    pub failed: u32,
    /// Names of the tests that failed; a crash names none.
    pub failures: Vec<String>,
}

/// How long a sort of `bench` takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The suite of `bench`; `tuned` for the sizes with the best tuning.
    pub suite: String,
    pub case: String,
    pub request: String,
    pub data: String,
    pub algorithm: String,
    /// The row, with what the case changes in it.
    pub tuning: String,
    pub elements: u64,
    pub runs: u32,
    pub clock: Clock,
    #[serde(deserialize_with = "quartiles")]
    pub ns: Quartiles,
    /// How many times as fast it is as another sorter on the same device.
    pub over: Option<Over>,
}

/// What took a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The device's timestamps.
    Device,
    /// The CPU time of the process.
    Cpu,
    /// The host's clock.
    Host,
}

/// A ratio of medians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    pub peer: String,
    pub speed: f64,
}

/// What a search for a tuning found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    pub date: String,
    /// The built-in row if nothing was faster.
    pub tuning: Row,
    pub measured: Vec<MeasuredSort>,
}

impl DeviceReport {
    /// What can be said of a device before anything runs on it.
    pub fn of(gpu: &Gpu, command: String) -> DeviceReport {
        DeviceReport {
            format: FORMAT,
            vksort: Build {
                version: vksort::VERSION.into(),
                kernels: vksort::__private::kernels_digest(),
                build: None,
                system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            },
            date: super::calendar::today(),
            command,
            device: Device::of(gpu.profile()),
            row: Row::of(gpu.tuning()),
            selftest: None,
            steps: Vec::new(),
            figures: Vec::new(),
            best: None,
            digest: String::new(),
        }
    }
}

impl Device {
    fn of(profile: &DeviceProfile) -> Device {
        // Without `..`, so that what a later version looks at is not forgotten here.
        let DeviceProfile {
            name: _,
            vendor_id: _,
            device_id: _,
            driver_id: _,
            driver_version: _,
            driver: _,
            api_version: version,
            is_cpu,
            cpu_threads,
            subgroup_size,
            subgroup_range: (smallest_subgroup, largest_subgroup),
            subgroup_operations,
            full_subgroups,
            ref fixed_subgroups,
            max_workgroup_subgroups,
            max_workgroup_invocations,
            max_shared_bytes,
            max_workgroups,
            max_storage_range_bytes,
            max_storage_buffers,
            max_push_bytes,
            small_storage,
            buffer_addresses,
            memory_bytes,
            storage_alignment_bytes,
            timestamp_period_ns,
        } = *profile;
        Device {
            identity: ProfiledDevice::of(profile),
            vulkan: vulkan(version),
            is_cpu,
            cpu_threads,
            subgroup_size,
            smallest_subgroup,
            largest_subgroup,
            subgroup_operations,
            full_subgroups,
            fixed_subgroups: format!("{fixed_subgroups:?}"),
            max_workgroup_subgroups,
            max_workgroup_invocations,
            max_shared_bytes,
            max_workgroups,
            max_storage_range_bytes,
            max_storage_buffers,
            max_push_bytes,
            small_storage,
            buffer_addresses,
            memory_bytes,
            storage_alignment_bytes,
            timestamp_period_ns,
        }
    }

    /// A profile with what the rows of tunings ask for; the rest is made up.
    pub fn profile(&self) -> DeviceProfile {
        let ProfiledDevice { vendor_id, device_id, ref name, driver_id, driver_version, ref driver } = self.identity;
        DeviceProfile {
            name: name.clone(),
            vendor_id,
            device_id,
            driver_id: vk::DriverId::from_raw(driver_id),
            driver_version,
            driver: driver.clone(),
            is_cpu: self.is_cpu,
            cpu_threads: self.cpu_threads,
            subgroup_size: self.subgroup_size,
            subgroup_range: (self.smallest_subgroup, self.largest_subgroup),
            ..DeviceProfile::default()
        }
    }
}

/// A version of Vulkan as text.
pub fn vulkan(version: u32) -> String {
    format!("{}.{}.{}", api_version_major(version), api_version_minor(version), api_version_patch(version))
}

impl Row {
    fn of(tuning: &Tuning) -> Row {
        let value = vksort_profiles::tuning::serialize(tuning, serde_json::value::Serializer);
        let Ok(Value::Object(mut knobs)) = value else { unreachable!("a tuning is an object in JSON") };
        let mut take =
            |name: &str| knobs.remove(name).and_then(|text| Some(text.as_str()?.to_string())).unwrap_or_default();
        let (name, evidence) = (take("name"), take("evidence"));
        Row { name, evidence, knobs }
    }

    /// The tuning, if this version of vksort has the same knobs.
    pub fn tuning(&self) -> anyhow::Result<Tuning> {
        let mut fields = self.knobs.clone();
        fields.insert("name".into(), self.name.clone().into());
        fields.insert("evidence".into(), self.evidence.clone().into());
        Ok(vksort_profiles::tuning::deserialize(Value::Object(fields))?)
    }
}

impl From<&TuningProfile> for Best {
    fn from(profile: &TuningProfile) -> Best {
        Best { date: profile.date.clone(), tuning: Row::of(&profile.tuning), measured: profile.measured.clone() }
    }
}

impl SelfTest {
    /// Whether every sort was right, and whether all ran.
    pub fn verdict(&self) -> Verdict {
        let clean = |kind: &Kind| kind.wrong == 0 && kind.fault.is_none();
        let left_out = self.kinds.iter().filter(|kind| matches!(kind.state, State::NoTime | State::Began)).count();
        match self.kinds.iter().all(clean) && self.kinds.iter().any(|kind| kind.right > 0) {
            false => Verdict::Wrong,
            true if left_out > 0 => Verdict::SoFar(left_out),
            true => Verdict::Right,
        }
    }

    /// How many sorts were right, and how many were wrong.
    pub fn sorts(&self) -> (u64, u64) {
        let sum = |of: fn(&Kind) -> u32| self.kinds.iter().map(|kind| u64::from(of(kind))).sum();
        (sum(|kind| kind.right), sum(|kind| kind.wrong))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Right => f.write_str("RIGHT"),
            Verdict::SoFar(1) => f.write_str("RIGHT SO FAR (1 kind did not run)"),
            Verdict::SoFar(kinds) => write!(f, "RIGHT SO FAR ({kinds} kinds did not run)"),
            Verdict::Wrong => f.write_str("WRONG"),
        }
    }
}

/// Quartiles of times, in their order.
fn quartiles<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quartiles, D::Error> {
    let Quartiles { q25, median, q75 } = Quartiles::deserialize(deserializer)?;
    match 0.0 <= q25 && q25 <= median && median <= q75 {
        true => Ok(Quartiles { q25, median, q75 }),
        false => Err(serde::de::Error::custom(format!(
            "q25, median and q75 are {q25}, {median} and {q75}, allowed are numbers from 0 on in ascending order"
        ))),
    }
}
