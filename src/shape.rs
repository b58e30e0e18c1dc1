//! From tuning and request to the exact shape of the kernels on one device: what the specialization constants say.

use crate::abi;
use crate::error::Error;
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, SortRequest};
use crate::tuning::{RankMethod, Tuning};

/// Which subgroup operations the kernels use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SubgroupChoice {
    /// The device's own where they are sure to be right, else emulated ones.
    #[default]
    Auto,
    /// The device's own, at its default size or the tuning's.
    Native,
    /// Emulated through shared memory, at this virtual size: a power of two from 4 to 128.
    Emulated(u32),
}

/// Subgroups as the kernels see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subgroup {
    /// Lanes.
    pub size: u32,
    /// Whether they are emulated through shared memory.
    pub emulated: bool,
}

/// Shape of the kernels of one sorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Subgroups as the ranking kernels see them.
    pub subgroup: Subgroup,
    /// Invocations of a workgroup that ranks and scatters.
    pub workgroup_size: u32,
    /// Elements per invocation and block.
    pub items: u32,
    /// Bits of a digit.
    pub digit_bits: u32,
    /// Digits of a key.
    pub passes: u32,
    /// How equal digits find their order.
    pub rank: RankMethod,
    /// Invocations of a workgroup that counts digits.
    pub histogram_workgroup_size: u32,
    /// Keys per invocation and block in the histogram.
    pub histogram_items: u32,
    /// Invocations of a workgroup that scans tile counts.
    pub scan_workgroup_size: u32,
    /// Tiles to have before a tile is made of several blocks.
    pub min_tiles: u32,
    /// Most blocks of a tile.
    pub max_blocks: u32,
}

const EMULATED_DEFAULT: u32 = 32;
/// Bounds within which no product of a tuning's numbers overflows; far beyond what devices allow.
const MOST_INVOCATIONS: u32 = 4096;
const MOST_ITEMS: u32 = 1024;

impl Shape {
    /// Fits the tuning to the device: halves the workgroup, then the items, until both limits and memory allow.
    pub fn fit(
        profile: &DeviceProfile,
        tuning: &Tuning,
        request: &SortRequest,
        algorithm: Algorithm,
        choice: SubgroupChoice,
    ) -> Result<Shape, Error> {
        let subgroup = choose_subgroup(profile, tuning, choice)?;
        let digit_bits = algorithm.digit_bits();
        let items = if request.value.words() == 0 { tuning.items_keys } else { tuning.items_pairs };
        let unfit = |what: &str, given: String, needed: String| Error::UnsuitableDevice {
            device: profile.name.clone(),
            what: what.into(),
            given,
            needed,
        };
        let rank = if subgroup.size > 16 { RankMethod::Ballot } else { tuning.rank };
        let mut shape = Shape {
            subgroup,
            workgroup_size: tuning.workgroup_size.clamp(subgroup.size, MOST_INVOCATIONS) / subgroup.size
                * subgroup.size,
            items: items.clamp(1, MOST_ITEMS),
            digit_bits,
            passes: request.key.bits() / digit_bits,
            rank,
            histogram_workgroup_size: tuning.histogram_workgroup_size.clamp(1, profile.max_workgroup_invocations),
            histogram_items: tuning.histogram_items.clamp(1, MOST_ITEMS),
            scan_workgroup_size: tuning.scan_workgroup_size.clamp(1, profile.max_workgroup_invocations),
            min_tiles: tuning.min_tiles.max(1),
            max_blocks: tuning.max_blocks.max(1),
        };
        let most_invocations = if subgroup.emulated {
            profile.max_workgroup_invocations
        } else {
            profile.max_workgroup_invocations.min(subgroup.size * profile.max_workgroup_subgroups)
        };
        while shape.workgroup_size > most_invocations || shape.shared_bytes() > profile.max_shared_bytes {
            if shape.workgroup_size >= 2 * subgroup.size {
                shape.workgroup_size = shape.workgroup_size / 2 / subgroup.size * subgroup.size;
            } else if shape.workgroup_size <= most_invocations && shape.items > 1 {
                shape.items /= 2;
            } else if shape.workgroup_size > most_invocations {
                let needed = format!("{} invocations, one subgroup", subgroup.size);
                return Err(unfit("workgroup size limit", format!("{most_invocations} invocations"), needed));
            } else {
                let needed = format!("{} bytes", shape.shared_bytes());
                return Err(unfit("shared memory", format!("{} bytes", profile.max_shared_bytes), needed));
            }
        }
        Ok(shape)
    }

    /// Elements of a block, the most that one workgroup sorts at a time.
    pub fn block(&self) -> u32 {
        self.workgroup_size * self.items
    }

    /// Keys of a block of the histogram.
    pub fn histogram_block(&self) -> u32 {
        self.histogram_workgroup_size * self.histogram_items
    }

    /// Values of a digit.
    pub fn radix(&self) -> u32 {
        1 << self.digit_bits
    }

    /// Words of the shared pool: the ranking counters and the staged block take turns in it.
    pub fn pool_words(&self) -> u32 {
        let counters = self.workgroup_size / self.subgroup.size * self.radix();
        counters.max(self.block())
    }

    /// Shared memory of the kernel that needs most, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        let emulation = match self.subgroup.emulated {
            true => self.workgroup_size + 4 * (self.workgroup_size / self.subgroup.size),
            false => 0,
        };
        4 * (self.pool_words() + abi::SHARED_DIGIT_ARRAYS * self.radix() + abi::SHARED_LOOSE_WORDS + emulation)
    }
}

fn choose_subgroup(profile: &DeviceProfile, tuning: &Tuning, choice: SubgroupChoice) -> Result<Subgroup, Error> {
    let (smallest, largest) = profile.subgroup_range;
    let size = match tuning.subgroup_size {
        Some(size) if (smallest..=largest).contains(&size) => size,
        _ => profile.subgroup_size,
    };
    let size_fits = size.is_power_of_two() && (4..=128).contains(&size);
    // Without full subgroups on request, a driver may leave lanes empty, and the mapping of lanes to elements breaks.
    let sure = profile.subgroup_operations && profile.full_subgroups && size_fits;
    match choice {
        SubgroupChoice::Auto if sure => Ok(Subgroup { size, emulated: false }),
        SubgroupChoice::Auto => Ok(Subgroup { size: EMULATED_DEFAULT, emulated: true }),
        SubgroupChoice::Native if profile.subgroup_operations && size_fits => Ok(Subgroup { size, emulated: false }),
        SubgroupChoice::Native => Err(Error::UnsuitableDevice {
            device: profile.name.clone(),
            what: "subgroup support in compute shaders".into(),
            given: format!("size {size}, ballot and shuffle {}", profile.subgroup_operations),
            needed: "a power of two from 4 to 128 with ballot and shuffle".into(),
        }),
        SubgroupChoice::Emulated(size) if size.is_power_of_two() && (4..=128).contains(&size) => {
            Ok(Subgroup { size, emulated: true })
        }
        SubgroupChoice::Emulated(size) => Err(Error::Unsupported {
            what: "emulated subgroup size".into(),
            given: size.to_string(),
            allowed: "a power of two from 4 to 128".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::request::ValueType;

    fn fit(profile: &DeviceProfile, choice: SubgroupChoice) -> Result<Shape, Error> {
        let request = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::U32) };
        Shape::fit(profile, &Tuning::for_device(profile), &request, Algorithm::OneSweep, choice)
    }

    #[test]
    fn shapes_fit_the_least_that_vulkan_promises_at_every_subgroup_size() {
        for size in [4, 8, 16, 32, 64, 128] {
            for vendor_id in [0x10DE, 0x1002, 0x8086, 0x106B, 0x5143, 0x13B5, 0] {
                let least = DeviceProfile {
                    subgroup_size: size,
                    subgroup_range: (size, size),
                    vendor_id,
                    max_workgroup_invocations: 128,
                    max_workgroup_subgroups: 128 / size,
                    max_shared_bytes: 16384,
                    ..DeviceProfile::default()
                };
                for choice in [SubgroupChoice::Auto, SubgroupChoice::Emulated(size)] {
                    let shape = fit(&least, choice).unwrap();
                    assert_eq!(shape.subgroup.size, size);
                    assert!(shape.shared_bytes() <= 16384 && shape.workgroup_size <= 128, "{shape:?}");
                    assert_eq!(shape.workgroup_size % size, 0);
                }
            }
        }
    }

    #[test]
    fn devices_without_sure_subgroups_get_emulated_ones() {
        let sure = DeviceProfile::default();
        assert!(!fit(&sure, SubgroupChoice::Auto).unwrap().subgroup.emulated);
        for unsure in [
            DeviceProfile { subgroup_operations: false, ..sure.clone() },
            DeviceProfile { full_subgroups: false, ..sure.clone() },
            DeviceProfile { subgroup_size: 1, subgroup_range: (1, 1), ..sure.clone() },
        ] {
            let shape = fit(&unsure, SubgroupChoice::Auto).unwrap();
            assert_eq!(shape.subgroup, Subgroup { size: 32, emulated: true });
        }
    }

    #[test]
    fn absurd_tunings_are_brought_to_what_fits() {
        let profile = DeviceProfile::default();
        for number in [0, 1, 77, u32::MAX] {
            let tuning = Tuning {
                workgroup_size: number,
                items_keys: number,
                items_pairs: number,
                min_tiles: number,
                max_blocks: number,
                histogram_workgroup_size: number,
                histogram_items: number,
                scan_workgroup_size: number,
                ..Tuning::for_device(&profile)
            };
            let request = SortRequest::new(KeyType::U32);
            let shape = Shape::fit(&profile, &tuning, &request, Algorithm::OneSweep, SubgroupChoice::Auto).unwrap();
            assert!(shape.shared_bytes() <= profile.max_shared_bytes && shape.block() >= 32, "{shape:?}");
            for capacity in [0, 1, 1 << 20, crate::plan::MAX_COUNT] {
                let plan = crate::plan::Plan::new(Algorithm::OneSweep, true, shape, capacity);
                assert!(plan.scratch(1).size < 1 << 40 && plan.steps(capacity).count() <= 6);
            }
        }
    }

    #[test]
    fn what_cannot_fit_is_refused_by_name() {
        let tiny = DeviceProfile { max_shared_bytes: 2048, ..DeviceProfile::default() };
        let message = fit(&tiny, SubgroupChoice::Auto).unwrap_err().to_string();
        assert!(message.contains("shared memory") && message.contains("2048"), "{message}");
        let message = fit(&DeviceProfile::default(), SubgroupChoice::Emulated(48)).unwrap_err().to_string();
        assert!(message.contains("48"), "{message}");
        let none = DeviceProfile { subgroup_operations: false, ..DeviceProfile::default() };
        let message = fit(&none, SubgroupChoice::Native).unwrap_err().to_string();
        assert!(message.contains("ballot"), "{message}");
    }
}
