//! Tuning as data: which shape and which methods a device sorts with, each row with its evidence.

#[cfg(all(feature = "profiles", feature = "standalone"))]
pub(crate) mod dimensions;
#[cfg(feature = "profiles")]
pub(crate) mod profile;
#[cfg(all(feature = "profiles", feature = "standalone"))]
pub(crate) mod search;

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::abi;
use crate::error::Error;
use crate::profile::{DeviceProfile, driver, vendor};
use crate::request::{Algorithm, SortRequest};
use crate::shape;

/// How equal digits find their order within a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "profiles", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum RankMethod {
    /// One ballot per digit bit; any subgroup size.
    Ballot,
    /// Match masks by shared atomics; any subgroup size.
    Match,
    /// Every invocation ranks neighbouring elements by counters of its own, for subgroups of up to 16 that add up; else
    /// ballots, and also for sorts by address. A workgroup is one subgroup then. For drivers on CPUs.
    Private,
    /// One `subgroupPartitionNV`, where the device has `VK_NV_shader_subgroup_partitioned`; else ballots, and also for
    /// elements of 8 and 16 bits and for sorts by address.
    Partition,
}

impl RankMethod {
    /// Every method.
    pub const ALL: &'static [RankMethod] =
        &[RankMethod::Ballot, RankMethod::Match, RankMethod::Private, RankMethod::Partition];
}

/// Shape and methods of the kernels on one class of devices.
///
/// [`Tuning::for_device`] gives the built-in row; every field can be changed and the result passed as
/// [`SorterOptions::tuning`](crate::SorterOptions). Shapes too large for a device are reduced until they fit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "profiles", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Tuning {
    /// Name of the row.
    pub name: String,
    /// Invocations of a workgroup that ranks and scatters.
    pub workgroup_size: u32,
    /// Elements per invocation when only keys are sorted.
    pub items_keys: u32,
    /// Elements per invocation when values travel along.
    pub items_pairs: u32,
    /// Elements per invocation where one workgroup sorts them all in shared memory; as many of them as fit.
    pub single_items: u32,
    /// Subgroup size to ask for where the device lets pipelines ask; `None` for the device's default.
    pub subgroup_size: Option<u32>,
    /// How equal digits find their order.
    pub rank: RankMethod,
    /// Whether a block is reordered in shared memory before it is written, so that neighbouring invocations write runs
    /// of neighbouring elements. CPUs have no use for that.
    pub staged: bool,
    /// Whether a tile counts its digits and publishes the counts before it ranks its keys, so that later tiles wait less.
    /// It costs one more shared atomic a key. Without it, tiles are single blocks.
    pub early_counts: bool,
    /// Bits of the widest digit of OneSweep: 8, or up to 11 where digits of more than 8 bits save a pass.
    pub digit_bits: u32,
    /// Whether passes are skipped whose digit is the same in all keys.
    pub skip: bool,
    /// Whether an invocation adds up equal digits in a row before it counts them by a shared atomic. Sorted and skewed
    /// inputs need it on GPUs.
    pub merge_runs: bool,
    /// Whether the first pass of a sort of keys alone, or of one that is not stable, ranks keys by one atomic each, without
    /// keeping the order of equal digits. Nobody can tell equal keys apart, or minds.
    pub unordered: bool,
    /// Whether the automatic choice for windows of more than 32 bits is [`Algorithm::Leading`], where look-back is trusted.
    pub leading: bool,
    /// Whether the automatic choice for sorts that need not keep the order of equal keys is the hybrid, where look-back is
    /// trusted.
    pub hybrid: bool,
    /// Whether an argsort whose keys nobody wants moves one word instead of two from the pass before the last to the last:
    /// an index, joined with the one digit of its key that is still needed. For keys of 32 bits or more, as long as
    /// indices leave room for a digit.
    pub join_index: bool,
    /// Workgroups that stay for a whole pass of OneSweep, taking tile after tile with the keys of the next on their way; 0
    /// for a workgroup per tile. Sorts in portions have a workgroup per tile.
    pub resident_workgroups: u32,
    /// Look-back words that an invocation reads at once, 1 to 8.
    pub look_back_words: u32,
    /// Reads of one look-back word before the tile behind it is recounted; fewer on CPUs, whose drivers count turns of loops.
    pub polls: u32,
    /// Tiles to have before a tile is made of several blocks, or of a whole one where it may be a part of one. On CPUs the
    /// built-in rows have one for each thread at least.
    pub min_tiles: u32,
    /// Most blocks of a tile.
    pub max_blocks: u32,
    /// Invocations of a workgroup that counts digits.
    pub histogram_workgroup_size: u32,
    /// Keys per invocation and block in the histogram.
    pub histogram_items: u32,
    /// Invocations of a workgroup that scans tile counts in reduce-then-scan.
    pub scan_workgroup_size: u32,
    /// Whether the driver is asked to unroll the loops over an invocation's items. It pays on GPUs, which hold the items
    /// in registers then; software drivers only take longer to compile.
    pub unroll: bool,
    /// Whether the automatic choice uses look-back (OneSweep) here. Look-back never hangs; this says whether it is
    /// known to be right and quick.
    pub look_back: bool,
    /// What the row rests on.
    pub evidence: Cow<'static, str>,
}

struct Row {
    name: &'static str,
    applies: fn(&DeviceProfile) -> bool,
    workgroup_size: u32,
    items: (u32, u32),
    single_items: u32,
    rank: RankMethod,
    staged: bool,
    early_counts: bool,
    unordered: bool,
    leading: bool,
    digit_bits: u32,
    polls: u32,
    blocks: (u32, u32),
    histogram: (u32, u32),
    scan_workgroup_size: u32,
    unroll: bool,
    look_back: bool,
    evidence: &'static str,
}

/// First row that applies wins; the last one applies to everything.
const ROWS: &[Row] = &[
    Row {
        name: "llvmpipe",
        applies: |p| p.driver_id == driver::LLVMPIPE,
        workgroup_size: 8,
        items: (4096, 4096),
        single_items: 4096,
        rank: RankMethod::Private,
        staged: false,
        early_counts: false,
        unordered: false,
        leading: true,
        digit_bits: 10,
        polls: 8,
        blocks: (2, 1),
        histogram: (8, 8192),
        scan_workgroup_size: 32,
        unroll: false,
        look_back: true,
        evidence: "measured: docs/PERFORMANCE.md",
    },
    Row {
        name: "swiftshader",
        applies: |p| p.driver_id == driver::SWIFTSHADER,
        workgroup_size: 4,
        items: (4096, 4096),
        single_items: 4096,
        rank: RankMethod::Private,
        staged: false,
        early_counts: false,
        unordered: false,
        leading: true,
        digit_bits: 10,
        polls: 8,
        blocks: (2, 1),
        histogram: (4, 8192),
        scan_workgroup_size: 32,
        unroll: false,
        look_back: true,
        evidence: "measured: docs/PERFORMANCE.md",
    },
    Row {
        name: "nvidia",
        applies: |p| p.vendor_id == vendor::NVIDIA,
        workgroup_size: 384,
        items: (20, 20),
        single_items: 28,
        rank: RankMethod::Ballot,
        staged: true,
        early_counts: true,
        unordered: true,
        leading: false,
        digit_bits: 9,
        polls: 256,
        blocks: (1024, 4),
        histogram: (256, 16),
        scan_workgroup_size: 256,
        unroll: true,
        look_back: true,
        evidence: "estimate: CUB's shape for 4-byte keys on sm_90, within 48 KiB of shared memory",
    },
    Row {
        name: "amd",
        applies: |p| p.vendor_id == vendor::AMD,
        workgroup_size: 512,
        items: (14, 14),
        single_items: 28,
        rank: RankMethod::Ballot,
        staged: true,
        early_counts: true,
        unordered: true,
        leading: false,
        digit_bits: 9,
        polls: 256,
        blocks: (1024, 4),
        histogram: (256, 16),
        scan_workgroup_size: 256,
        unroll: true,
        look_back: true,
        evidence: "estimate: from shared-memory and subgroup limits",
    },
    Row {
        name: "intel",
        applies: |p| p.vendor_id == vendor::INTEL,
        workgroup_size: 256,
        items: (16, 16),
        single_items: 16,
        rank: RankMethod::Ballot,
        staged: true,
        early_counts: true,
        unordered: true,
        leading: false,
        digit_bits: 9,
        polls: 64,
        blocks: (512, 4),
        histogram: (256, 16),
        scan_workgroup_size: 256,
        unroll: true,
        look_back: true,
        evidence: "estimate: from shared-memory and subgroup limits",
    },
    Row {
        name: "apple",
        applies: |p| p.vendor_id == vendor::APPLE || p.driver_id == driver::MOLTENVK,
        workgroup_size: 256,
        items: (16, 16),
        single_items: 16,
        rank: RankMethod::Ballot,
        staged: true,
        early_counts: true,
        unordered: true,
        leading: false,
        digit_bits: 9,
        polls: 4,
        blocks: (512, 4),
        histogram: (256, 16),
        scan_workgroup_size: 256,
        unroll: true,
        look_back: false,
        evidence: "estimate: from shared-memory and subgroup limits; no forward progress between workgroups is promised",
    },
    Row {
        name: "mobile",
        applies: |p| [vendor::QUALCOMM, vendor::ARM].contains(&p.vendor_id),
        workgroup_size: 128,
        items: (16, 16),
        single_items: 16,
        rank: RankMethod::Ballot,
        staged: true,
        early_counts: true,
        unordered: true,
        leading: false,
        digit_bits: 9,
        polls: 4,
        blocks: (256, 8),
        histogram: (256, 16),
        scan_workgroup_size: 256,
        unroll: true,
        look_back: false,
        evidence: "estimate: from shared-memory and subgroup limits; no forward progress between workgroups is promised",
    },
    Row {
        name: "unknown",
        applies: |_| true,
        workgroup_size: 128,
        items: (16, 16),
        single_items: 16,
        rank: RankMethod::Ballot,
        staged: true,
        early_counts: true,
        unordered: true,
        leading: false,
        digit_bits: 9,
        polls: 4,
        blocks: (256, 8),
        histogram: (256, 16),
        scan_workgroup_size: 256,
        unroll: true,
        look_back: false,
        evidence: "estimate: within what every device has; nothing is known of this one, so no workgroup waits for another",
    },
];

impl Tuning {
    /// The built-in row for a device.
    pub fn for_device(profile: &DeviceProfile) -> Tuning {
        let row = ROWS.iter().find(|row| (row.applies)(profile)).expect("the last row applies to everything");
        Tuning {
            name: row.name.into(),
            workgroup_size: row.workgroup_size,
            items_keys: row.items.0,
            items_pairs: row.items.1,
            single_items: row.single_items,
            subgroup_size: None,
            rank: row.rank,
            staged: row.staged,
            early_counts: row.early_counts,
            digit_bits: row.digit_bits,
            skip: true,
            merge_runs: row.staged,
            unordered: row.unordered,
            leading: row.leading,
            hybrid: false,
            join_index: true,
            resident_workgroups: 0,
            look_back_words: if row.staged { 4 } else { 1 },
            polls: row.polls,
            min_tiles: row.blocks.0.max(profile.cpu_threads),
            max_blocks: row.blocks.1,
            histogram_workgroup_size: row.histogram.0,
            histogram_items: row.histogram.1,
            scan_workgroup_size: row.scan_workgroup_size,
            unroll: row.unroll,
            look_back: row.look_back,
            evidence: row.evidence.into(),
        }
    }

    /// The algorithm for large inputs of a request that names none.
    pub fn algorithm_for(&self, request: &SortRequest) -> Algorithm {
        if self.leading && self.look_back && Algorithm::Leading.suits(request.bits) {
            Algorithm::Leading
        } else if self.hybrid && self.look_back && Algorithm::Hybrid.serves(request) {
            Algorithm::Hybrid
        } else {
            self.algorithm()
        }
    }

    /// The algorithm for large inputs of usual keys that keep the order of equal ones, when none is asked for.
    pub fn algorithm(&self) -> Algorithm {
        if self.look_back { Algorithm::OneSweep } else { Algorithm::ReduceThenScan { digit_bits: 8 } }
    }

    /// Whether the first pass of such a sort may take any order of equal digits.
    pub(crate) fn ranks_unordered(&self, request: &SortRequest) -> bool {
        self.unordered && !request.shows_ties()
    }

    /// Whether indices of such a sort may be joined with a digit of their key.
    pub(crate) fn joins_index(&self, request: &SortRequest) -> bool {
        self.join_index && request.discards_keys() && request.value.sorts_index() && request.key.bits() >= 32
    }

    /// Checks that every number is one that some device may want.
    ///
    /// A sort is right with any numbers, as shapes are reduced until they fit. What comes from outside the program is
    /// better refused than reduced: a number out of range there is a mistake.
    ///
    /// Errors: [`Error::Unsupported`], which names the field.
    ///
    /// ```
    /// use vksort::{DeviceProfile, Tuning};
    ///
    /// let built_in = Tuning::for_device(&DeviceProfile::default());
    /// assert!(built_in.check().is_ok());
    /// let error = Tuning { digit_bits: 12, ..built_in }.check().unwrap_err();
    /// assert_eq!(error.to_string(), "digit_bits is 12, allowed is 1 to 11");
    /// ```
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |what: &str, given: &dyn Display, allowed: String| {
            Err(Error::Unsupported { what: what.into(), given: given.to_string(), allowed })
        };
        let ranges: [(&str, u32, RangeInclusive<u32>); 14] = [
            ("workgroup_size", self.workgroup_size, 1..=shape::MOST_INVOCATIONS),
            ("items_keys", self.items_keys, 1..=shape::MOST_ITEMS),
            ("items_pairs", self.items_pairs, 1..=shape::MOST_ITEMS),
            ("single_items", self.single_items, 1..=shape::MOST_ITEMS),
            ("subgroup_size", self.subgroup_size.unwrap_or(4), 4..=128),
            ("digit_bits", self.digit_bits, 1..=shape::MOST_DIGIT_BITS),
            ("resident_workgroups", self.resident_workgroups, 0..=MOST_WORKGROUPS),
            ("look_back_words", self.look_back_words, 1..=abi::MOST_LOOK_BACK_WORDS),
            ("polls", self.polls, 1..=MOST_POLLS),
            ("min_tiles", self.min_tiles, 1..=MOST_WORKGROUPS),
            ("max_blocks", self.max_blocks, 1..=MOST_WORKGROUPS),
            ("histogram_workgroup_size", self.histogram_workgroup_size, 1..=shape::MOST_INVOCATIONS),
            ("histogram_items", self.histogram_items, 1..=shape::MOST_ITEMS),
            ("scan_workgroup_size", self.scan_workgroup_size, 1..=shape::MOST_INVOCATIONS),
        ];
        for (what, given, allowed) in ranges {
            if !allowed.contains(&given) {
                return refuse(what, &given, format!("{} to {}", allowed.start(), allowed.end()));
            }
        }
        if let Some(size) = self.subgroup_size.filter(|size| !size.is_power_of_two()) {
            return refuse("subgroup_size", &size, "a power of two from 4 to 128".into());
        }
        for (what, text) in [("name", self.name.as_str()), ("evidence", &self.evidence)] {
            if text.chars().any(char::is_control) {
                return refuse(what, &format!("{text:?}"), "text without control characters".into());
            }
        }
        Ok(())
    }
}

/// Reads of a word beyond which a sort that waits would look as if it hung.
const MOST_POLLS: u32 = 1 << 16;
/// More tiles, or blocks of one, than any device has workgroups for.
const MOST_WORKGROUPS: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_driver_before_vendor() {
        let mut profile = DeviceProfile::default();
        assert_eq!(Tuning::for_device(&profile).name, "unknown");
        assert!(!Tuning::for_device(&profile).look_back, "an unknown device must not wait in look-back");
        profile.vendor_id = vendor::NVIDIA;
        assert_eq!(Tuning::for_device(&profile).name, "nvidia");
        profile.driver_id = driver::LLVMPIPE;
        assert_eq!(Tuning::for_device(&profile).name, "llvmpipe");
    }

    #[test]
    fn every_class_of_devices_has_a_row_with_its_evidence() {
        let of = |vendor_id, driver_id| {
            Tuning::for_device(&DeviceProfile { vendor_id, driver_id, ..DeviceProfile::default() })
        };
        let classes = [
            (vendor::NVIDIA, 0, "nvidia"),
            (vendor::AMD, 0, "amd"),
            (vendor::INTEL, 0, "intel"),
            (vendor::APPLE, 0, "apple"),
            (0, driver::MOLTENVK, "apple"),
            (vendor::QUALCOMM, 0, "mobile"),
            (vendor::ARM, 0, "mobile"),
            (0, driver::LLVMPIPE, "llvmpipe"),
            (0, driver::SWIFTSHADER, "swiftshader"),
            (0, 0, "unknown"),
        ];
        for (vendor_id, driver_id, name) in classes {
            let tuning = of(vendor_id, driver_id);
            assert_eq!(tuning.name, name);
            assert!(tuning.check().is_ok(), "{tuning:?}");
            let (kind, what) = tuning.evidence.split_once(": ").unwrap();
            assert!(["measured", "estimate"].contains(&kind) && !what.is_empty(), "{name}: {}", tuning.evidence);
        }
        assert!(ROWS.iter().all(|row| classes.iter().any(|class| class.2 == row.name)), "a row is not looked at here");
    }

    #[test]
    fn cpus_have_a_tile_for_each_thread() {
        let tiles = |cpu_threads| {
            let profile =
                DeviceProfile { driver_id: driver::LLVMPIPE, is_cpu: true, cpu_threads, ..Default::default() };
            Tuning::for_device(&profile).min_tiles
        };
        assert_eq!([1, 2, 64].map(tiles), [2, 2, 64]);
    }

    #[test]
    fn numbers_out_of_range_are_refused_by_their_field() {
        let tuning = Tuning::for_device(&DeviceProfile::default());
        let refused = [
            ("workgroup_size is 0,", Tuning { workgroup_size: 0, ..tuning.clone() }),
            ("items_keys is 8193,", Tuning { items_keys: 8193, ..tuning.clone() }),
            ("items_pairs is 0,", Tuning { items_pairs: 0, ..tuning.clone() }),
            ("single_items is 0,", Tuning { single_items: 0, ..tuning.clone() }),
            ("subgroup_size is 256,", Tuning { subgroup_size: Some(256), ..tuning.clone() }),
            ("subgroup_size is 48, allowed is a power", Tuning { subgroup_size: Some(48), ..tuning.clone() }),
            ("digit_bits is 0,", Tuning { digit_bits: 0, ..tuning.clone() }),
            ("look_back_words is 9,", Tuning { look_back_words: 9, ..tuning.clone() }),
            ("polls is 4294967295,", Tuning { polls: u32::MAX, ..tuning.clone() }),
            ("min_tiles is 0,", Tuning { min_tiles: 0, ..tuning.clone() }),
            ("max_blocks is 65537,", Tuning { max_blocks: 65537, ..tuning.clone() }),
            ("histogram_workgroup_size is 0,", Tuning { histogram_workgroup_size: 0, ..tuning.clone() }),
            ("histogram_items is 0,", Tuning { histogram_items: 0, ..tuning.clone() }),
            ("scan_workgroup_size is 4096,", Tuning { scan_workgroup_size: 4096, ..tuning.clone() }),
            ("name is ", Tuning { name: "a\nb".into(), ..tuning.clone() }),
            ("evidence is ", Tuning { evidence: "\u{1b}[2J".into(), ..tuning.clone() }),
        ];
        for (start, tuning) in refused {
            let message = tuning.check().unwrap_err().to_string();
            assert!(message.starts_with(start) && !message.contains('\n'), "{message}");
        }
    }
}
