//! The warning of a sorter that takes longer than it could.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use ash::vk;

use super::options::SorterOptions;
use super::requirements::Requirements;
use crate::kernels::SOFTWARE_DRIVERS;
use crate::profile::DeviceProfile;
use crate::shape::{Shape, SubgroupChoice};
use crate::tuning::{RankMethod, Tuning};

/// Why sorts take longer on a device than they could, and what the caller can do against it.
pub(super) fn slow_because(
    requirements: &Requirements,
    options: &SorterOptions,
    tuning: &Tuning,
    shape: &Shape,
) -> Option<String> {
    let emulates = shape.ranking.subgroup.emulated && options.subgroup == SubgroupChoice::Auto;
    if emulates { Some(requirements.why_emulated()) } else { why_slow(&requirements.profile, tuning, shape) }
}

/// The same of the ranking method that drivers on the CPU have in their rows.
fn why_slow(profile: &DeviceProfile, tuning: &Tuning, shape: &Shape) -> Option<String> {
    let lacks = !SOFTWARE_DRIVERS && profile.is_cpu && tuning.rank == RankMethod::Private && !shape.addressed;
    let why = "sorts on the CPU take several times as long without the cargo feature software-drivers of vksort";
    lacks.then(|| format!("{}: {why}", profile.name))
}

/// Whether nobody has said this of the device. Vulkan does not tell when a device is destroyed, so a device with the handle of another one
/// says what that one has not said.
pub(super) fn is_first(device: vk::Device, text: &str) -> bool {
    static SAID: Mutex<BTreeSet<(vk::Device, String)>> = Mutex::new(BTreeSet::new());
    SAID.lock().unwrap_or_else(PoisonError::into_inner).insert((device, text.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::profile::driver;
    use crate::request::{Algorithm, SortRequest};
    use crate::shape::ShapeDesc;

    #[test]
    fn a_build_without_the_kernels_of_software_drivers_says_so_on_them_alone() {
        let request = SortRequest::new(KeyType::U32);
        for (is_cpu, driver_id) in [(true, driver::LLVMPIPE), (true, driver::SWIFTSHADER), (false, driver::UNKNOWN)] {
            let profile = DeviceProfile { is_cpu, driver_id, subgroup_size: 8, ..DeviceProfile::default() };
            let row = Tuning::for_device(&profile);
            let shape = Shape::fit(&ShapeDesc::new(&profile, &row, &request, Algorithm::OneSweep)).unwrap();
            assert_eq!(why_slow(&profile, &row, &shape).is_some(), is_cpu && !SOFTWARE_DRIVERS);
            let ballot = Tuning { rank: RankMethod::Ballot, ..row };
            assert_eq!(why_slow(&profile, &ballot, &shape), None, "that is what was asked for");
        }
    }

    #[test]
    fn each_text_is_said_once_for_a_device() {
        let devices = [7, 8].map(<vk::Device as vk::Handle>::from_raw);
        let said =
            [(0, "one"), (0, "one"), (0, "other"), (1, "one")].map(|(device, text)| is_first(devices[device], text));
        assert_eq!(said, [true, false, true, true]);
    }
}
