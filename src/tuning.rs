//! Tuning as data: the shape and the methods of the kernels for each class of devices, each row with its evidence.

#[cfg(feature = "profiles")]
pub(crate) mod profile;
#[cfg(feature = "profiles")]
pub(crate) mod recorded;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::abi::{self, spec};
use crate::error::Error;
use crate::profile::{DeviceProfile, driver, vendor};
use crate::request::{Algorithm, SortRequest};

/// How a subgroup ranks equal digits. With emulated subgroups it is always [`Match`](Self::Match).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "profiles", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum RankMethod {
    /// One ballot per digit bit; any subgroup size.
    Ballot,
    /// Match masks by shared atomics; any subgroup size.
    Match,
    /// A lane compares its digit with the digit of each lane, for subgroups of at most 16 lanes on devices whose
    /// instructions read another lane's register at no cost. In larger subgroups it falls back to `Ballot`.
    Compare,
    /// Every invocation ranks neighbouring elements by private counters, for drivers on CPUs. A workgroup is then one
    /// subgroup, and blocks are not reordered in shared memory before they are written. It needs subgroup arithmetic and
    /// subgroups of at most 16 lanes. On other devices, and for sorts by address, it falls back to `Ballot`.
    Private,
    /// One `subgroupPartitionNV`, for keys of 32 bits on devices with `VK_NV_shader_subgroup_partitioned`. It falls back to
    /// `Ballot` for other keys, for values of 8 and 16 bits, and for sorts by address.
    Partition,
}

impl RankMethod {
    /// Every method.
    pub const ALL: &'static [RankMethod] =
        &[RankMethod::Ballot, RankMethod::Match, RankMethod::Compare, RankMethod::Private, RankMethod::Partition];
}

/// How kernels extract a bit of a digit for its ballot. Compilers differ in which way they turn into fewest instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "profiles", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[repr(u32)]
#[non_exhaustive]
pub enum Ballot {
    /// By its position in the digit.
    ByPlace = abi::BALLOT_BY_PLACE,
    /// By a mask that is unknown to the compiler, so that NVIDIA's compiler does not extract each bit twice. Mesa's compiler
    /// for Apple's GPUs then shifts once instead of three times.
    ByMask = abi::BALLOT_BY_MASK,
}

impl Ballot {
    /// Every way.
    pub const ALL: &'static [Ballot] = &[Ballot::ByPlace, Ballot::ByMask];
}

/// Shape and methods of the kernels on one class of devices.
///
/// [`Tuning::for_device`] gives the built-in row; every field can be changed and the result passed as
/// [`SorterOptions::tuning`](crate::SorterOptions). Shapes too large for a device are reduced until they fit.
///
/// The fields are the anatomy of the kernels, and may change with any version of the crate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "profiles", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Tuning {
    /// Name of the row.
    pub name: String,
    /// Invocations of a workgroup that ranks and scatters.
    pub workgroup_size: u32,
    /// Elements per invocation when only keys are sorted.
    pub items_keys: u32,
    /// Elements per invocation when values move with the keys.
    pub items_pairs: u32,
    /// Invocations of a single workgroup that sorts in shared memory; `None` for as many as `workgroup_size`. With more
    /// invocations of fewer elements each, the kernel is shorter and sorts as many elements. With private counters the
    /// workgroup is one subgroup, and its invocations take the elements of all.
    pub single_workgroup_size: Option<u32>,
    /// Elements per invocation of a single workgroup that sorts in shared memory, as far as they fit.
    pub single_items: u32,
    /// Subgroup size to require, if the device allows it; `None` for the device's default.
    pub subgroup_size: Option<u32>,
    /// How a subgroup ranks equal digits.
    pub rank: RankMethod,
    /// Whether an invocation computes digits again and keeps two places in a word, which saves registers and takes a few
    /// more instructions.
    pub few_registers: bool,
    /// How kernels extract a bit of a digit for its ballot.
    pub ballot: Ballot,
    /// Bits of the widest digit, up to 11. Digits of more than 8 bits are used if they save a quarter of the passes.
    pub digit_bits: u32,
    /// Whether an invocation merges runs of equal digits before it counts them by a shared atomic. Sorted and skewed inputs
    /// need it on GPUs.
    pub merge_runs: bool,
    /// Whether the first pass ranks each key by one atomic, without keeping the order of equal digits. It applies to keys
    /// alone and to sorts that are not stable, where the order of equal keys is invisible or free.
    pub unordered: bool,
    /// Whether an argsort that discards its keys joins each index with the last digit of its key, so that the last two
    /// passes move one word instead of two. It applies to keys of 32 bits or more, if indices leave room for a digit.
    pub join_index: bool,
    /// Reads of a look-back word before its tile is recounted. CPUs take fewer, as their drivers limit loop iterations.
    pub polls: u32,
    /// Histogram parts to have before they grow to whole blocks. Tiles of software drivers grow likewise. Tiles of
    /// reduce-then-scan grow beyond one block only above this number. On CPUs the built-in rows have at least one for each
    /// thread.
    pub min_tiles: u32,
    /// Invocations of a workgroup that counts digits.
    pub histogram_workgroup_size: u32,
    /// Subgroup size to require for the histogram of keys of up to 64 bits, if the device allows it. The histogram runs with
    /// any; `None` leaves the choice to the driver. Some drivers compile a kernel for every size before they choose.
    pub histogram_subgroup_size: Option<u32>,
    /// Keys per invocation and block in the histogram.
    pub histogram_items: u32,
    /// Invocations of a workgroup that scans tile counts in reduce-then-scan.
    pub scan_workgroup_size: u32,
    /// Whether the automatic choice uses look-back (OneSweep). Look-back never hangs; this field says whether it is known to
    /// be correct and fast.
    pub look_back: bool,
    /// The evidence for the row.
    pub evidence: Cow<'static, str>,
}

/// Specialization constants, each with its value.
pub(crate) type Knobs = [(usize, u32); 5];

/// A row: the class of devices it is for, and the tuning there.
struct Row {
    applies: fn(&DeviceProfile) -> bool,
    tuning: fn() -> Tuning,
}

/// The common values of the rows of GPUs, and the defaults of every row.
fn gpu(name: &str, evidence: &'static str) -> Tuning {
    Tuning {
        name: name.into(),
        workgroup_size: 256,
        items_keys: 16,
        items_pairs: 16,
        single_workgroup_size: None,
        single_items: 16,
        subgroup_size: None,
        rank: RankMethod::Ballot,
        few_registers: false,
        ballot: Ballot::ByPlace,
        digit_bits: 9,
        merge_runs: true,
        unordered: true,
        join_index: true,
        polls: 4,
        min_tiles: 512,
        histogram_workgroup_size: 256,
        histogram_subgroup_size: None,
        histogram_items: 64,
        scan_workgroup_size: 256,
        look_back: false,
        evidence: evidence.into(),
    }
}

/// The common values of the rows of NVIDIA's GPUs: CUB's shape for 4-byte keys on sm_90, two workgroups in 64 KiB of shared
/// memory.
fn nvidia(name: &str, evidence: &'static str) -> Tuning {
    Tuning {
        workgroup_size: 384,
        items_keys: 20,
        items_pairs: 20,
        single_workgroup_size: Some(512),
        single_items: 21,
        histogram_items: 128,
        // One instruction counts the equal digits of a subgroup together; CUB relies on it too.
        merge_runs: false,
        polls: 256,
        min_tiles: 1024,
        look_back: true,
        ..gpu(name, evidence)
    }
}

/// The common values of the rows of Intel's GPUs.
fn intel(name: &str, evidence: &'static str) -> Tuning {
    Tuning {
        polls: 64,
        subgroup_size: Some(16),
        histogram_subgroup_size: Some(16),
        rank: RankMethod::Compare,
        few_registers: true,
        unordered: false,
        look_back: true,
        ..gpu(name, evidence)
    }
}

/// The common values of the rows of Qualcomm's GPUs.
fn adreno(name: &str, evidence: &'static str) -> Tuning {
    Tuning {
        items_keys: 12,
        items_pairs: 12,
        subgroup_size: Some(64),
        rank: RankMethod::Match,
        min_tiles: 256,
        ..gpu(name, evidence)
    }
}

/// The common values of the rows of software drivers, whose subgroups have at least so many lanes.
fn cpu(name: &str, lanes: u32) -> Tuning {
    Tuning {
        workgroup_size: lanes,
        items_keys: 4096,
        items_pairs: 4096,
        single_items: 4096,
        rank: RankMethod::Private,
        digit_bits: 10,
        merge_runs: false,
        unordered: false,
        polls: 8,
        min_tiles: 2,
        histogram_workgroup_size: lanes,
        histogram_items: 8192,
        scan_workgroup_size: 32,
        look_back: true,
        ..gpu(name, "measured: docs/PERFORMANCE.md")
    }
}

/// The names of the built-in rows.
#[cfg(feature = "testing")]
pub fn row_names() -> impl Iterator<Item = String> {
    ROWS.iter().map(|row| (row.tuning)().name)
}

/// First row that applies wins; the last one applies to everything.
const ROWS: &[Row] = &[
    Row { applies: |p| p.driver_id == driver::LLVMPIPE, tuning: || cpu("llvmpipe", 8) },
    Row { applies: |p| p.driver_id == driver::SWIFTSHADER, tuning: || cpu("swiftshader", 4) },
    // Metal decides what workgroups may expect of each other, on GPUs of every vendor. Mesa's driver names Mesa as the vendor.
    Row {
        applies: |p| p.vendor_id == vendor::APPLE || [driver::MOLTENVK, driver::HONEYKRISP].contains(&p.driver_id),
        tuning: || Tuning {
            items_pairs: 20,
            // With more invocations, counters of 9-bit digits would not fit 32 KiB.
            single_workgroup_size: Some(384),
            // A shift takes four times as long as a test of a bit by its mask.
            ballot: Ballot::ByMask,
            ..gpu("apple", "compiled: ballots in fewest cycles by Honeykrisp, no spills, see docs/GPU-COMPILERS.md")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::NVIDIA && p.driver_id == driver::NVK,
        tuning: || Tuning {
            // Compiled by 15 % fewer instructions than a sorter with 384 invocations of 16 items.
            single_workgroup_size: Some(768),
            single_items: 8,
            few_registers: true,
            unordered: false,
            ..nvidia("nvk", "compiled: 48 registers by NVK, see docs/GPU-COMPILERS.md")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::NVIDIA,
        tuning: || Tuning {
            ballot: Ballot::ByMask,
            ..nvidia(
                "nvidia",
                "compiled: 75 instructions for 32 keys on sm_90 by NVIDIA's assembler, see docs/GPU-COMPILERS.md",
            )
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::AMD,
        tuning: || Tuning {
            workgroup_size: 512,
            items_keys: 15,
            items_pairs: 15,
            single_items: 28,
            // RDNA runs an instruction of 64 lanes in two turns. GCN has no smaller subgroups.
            subgroup_size: Some(32),
            polls: 256,
            min_tiles: 1024,
            look_back: true,
            ..gpu("amd", "compiled: fewest instructions a key by RADV, two workgroups in 64 KiB of shared memory")
        },
    },
    Row {
        // From Xe2 on, registers are twice as wide, and subgroups have 16 lanes at least.
        applies: |p| p.vendor_id == vendor::INTEL && p.subgroup_range.0 >= 16,
        tuning: || Tuning {
            items_keys: 24,
            items_pairs: 24,
            single_workgroup_size: Some(512),
            single_items: 12,
            histogram_subgroup_size: Some(32),
            few_registers: false,
            ..intel("intel-xe2", "compiled: fewest instructions a key by anv without spills, see docs/GPU-COMPILERS.md")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::INTEL,
        tuning: || Tuning {
            // Passes that move joined words too would need more registers.
            join_index: false,
            workgroup_size: 384,
            items_keys: 20,
            items_pairs: 16,
            single_workgroup_size: Some(512),
            single_items: 12,
            ..intel(
                "intel",
                "compiled: no spills by anv, and half as many invocations again as with 256 of a workgroup",
            )
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::QUALCOMM && p.name.contains("(TM) 6"),
        tuning: || Tuning {
            // With more, one workgroup fits a core.
            items_pairs: 8,
            ..adreno("adreno-6xx", "compiled: two workgroups fit a core by Turnip, with keys and with pairs")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::QUALCOMM,
        tuning: || {
            adreno("adreno", "compiled: twice the waves by Turnip, and a fifth fewer instructions than by ballots")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::ARM,
        tuning: || Tuning { workgroup_size: 128, min_tiles: 256, ..gpu("mali", NO_PROGRESS) },
    },
    Row {
        applies: |_| true,
        tuning: || Tuning {
            workgroup_size: 128,
            min_tiles: 256,
            ..gpu(
                "unknown",
                "estimate: within what every device has; nothing is known of this one, so no workgroup waits for another",
            )
        },
    },
];

const NO_PROGRESS: &str =
    "estimate: from shared-memory and subgroup limits; no forward progress between workgroups is promised";

impl Tuning {
    /// The built-in row for a device.
    pub fn for_device(profile: &DeviceProfile) -> Tuning {
        let row = ROWS.iter().find(|row| (row.applies)(profile)).expect("the last row applies to everything");
        let tuning = (row.tuning)();
        Tuning { min_tiles: tuning.min_tiles.max(profile.cpu_threads), ..tuning }
    }

    /// The algorithm for large inputs of a request that names none.
    pub fn algorithm(&self) -> Algorithm {
        if self.look_back { Algorithm::OneSweep } else { Algorithm::ReduceThenScan }
    }

    /// The knobs that kernels read and that no limit changes, each as a specialization constant with its value.
    pub(crate) fn knobs(&self, request: &SortRequest, rank: RankMethod) -> Knobs {
        // The private counters of an invocation keep the order of equal digits at no cost.
        let unordered = self.unordered && !request.shows_ties() && rank != RankMethod::Private;
        let joinable = request.discards_keys() && request.value.sorts_index() && request.key.bits() >= 32;
        [
            (spec::FEW_REGISTERS, self.few_registers.into()),
            (spec::BALLOT, self.ballot as u32),
            (spec::UNORDERED, unordered.into()),
            (spec::MERGE_RUNS, self.merge_runs.into()),
            (spec::JOIN_INDEX, (self.join_index && joinable).into()),
        ]
    }

    /// Checks that every number is within the range that some device may use.
    ///
    /// A sort is correct with any numbers, as shapes are reduced until they fit. This check is for numbers from outside the
    /// program, where a number out of range is a mistake.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`], which names the field.
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
        let ranges: [(&str, u32, RangeInclusive<u32>); 11] = [
            ("workgroup_size", self.workgroup_size, 1..=MAX_INVOCATIONS),
            ("items_keys", self.items_keys, 1..=MAX_ITEMS),
            ("items_pairs", self.items_pairs, 1..=MAX_ITEMS),
            ("single_items", self.single_items, 1..=MAX_ITEMS),
            ("single_workgroup_size", self.single_workgroup_size.unwrap_or(1), 1..=MAX_INVOCATIONS),
            ("digit_bits", self.digit_bits, 1..=MAX_DIGIT_BITS),
            ("polls", self.polls, 1..=MAX_POLLS),
            ("min_tiles", self.min_tiles, 1..=MAX_TILES),
            ("histogram_workgroup_size", self.histogram_workgroup_size, 1..=MAX_INVOCATIONS),
            ("histogram_items", self.histogram_items, 1..=MAX_ITEMS),
            ("scan_workgroup_size", self.scan_workgroup_size, 1..=MAX_INVOCATIONS),
        ];
        for (what, given, allowed) in ranges {
            if !allowed.contains(&given) {
                return Err(Error::unsupported(what, given, format!("{} to {}", allowed.start(), allowed.end())));
            }
        }
        let sizes = [("subgroup_size", self.subgroup_size), ("histogram_subgroup_size", self.histogram_subgroup_size)];
        for (what, size) in sizes {
            if let Some(size) = size.filter(|size| !(4..=128).contains(size) || !size.is_power_of_two()) {
                return Err(Error::unsupported(what, size, "a power of two from 4 to 128"));
            }
        }
        for (what, text) in [("name", self.name.as_str()), ("evidence", &self.evidence)] {
            if text.chars().any(char::is_control) {
                return Err(Error::unsupported(what, format!("{text:?}"), "text without control characters"));
            }
        }
        Ok(())
    }
}

/// Bounds within which no product of a tuning's numbers overflows, far beyond the limits of devices.
pub(crate) const MAX_INVOCATIONS: u32 = 2048;
pub(crate) const MAX_ITEMS: u32 = 8192;
// Private counters of the histogram have 16 bits. Loads of whole vectors give an invocation up to a vector more than its items.
const _: () = assert!(MAX_ITEMS < 1 << 15);
/// Digits whose counters still fit into shared memory.
pub(crate) const MAX_DIGIT_BITS: u32 = 11;
/// Most reads of a word: with more, a waiting sort would look like a hang.
const MAX_POLLS: u32 = 1 << 16;
/// More tiles than any device has workgroups for.
const MAX_TILES: u32 = 1 << 16;
