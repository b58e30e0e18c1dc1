//! Tuning as data: launch configuration and methods of the kernels for each class of devices, each row with its evidence.

mod knobs;

use crate::abi::spec;
use crate::error::Error;
use crate::profile::{DeviceProfile, driver, vendor};
use crate::request::{Algorithm, SortRequest};
pub use knobs::{Ballot, Knob, RankMethod, Scale, Tuning};
pub(crate) use knobs::{MAX_DIGIT_BITS, MAX_INVOCATIONS, MAX_ITEMS};

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
        few_items: None,
        staged_items: None,
        single_workgroup_size: None,
        single_items: 16,
        segment_items: 8,
        sweeps_rows: false,
        network_longest: 32,
        subgroup_size: None,
        rank: RankMethod::Ballot,
        few_registers: false,
        ballot: Ballot::ByPlace,
        digit_bits: 9,
        merge_runs: true,
        unordered: true,
        polls: 4,
        min_tiles: 512,
        histogram_workgroup_size: 256,
        histogram_subgroup_size: None,
        histogram_items: 64,
        scan_workgroup_size: 256,
        look_back: false,
        looks_ahead: false,
        finish_tiles: None,
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
        segment_items: 4,
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

/// The common values of the rows of software drivers, whose subgroups have at least `lanes` lanes.
fn cpu(name: &str, lanes: u32) -> Tuning {
    Tuning {
        workgroup_size: lanes,
        items_keys: 4096,
        items_pairs: 4096,
        single_items: 4096,
        segment_items: 4096,
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
#[cfg(feature = "__testing")]
pub fn row_names() -> impl Iterator<Item = String> {
    ROWS.iter().map(|row| (row.tuning)().name)
}

/// What a row of a GPU has where it says nothing else.
#[cfg(feature = "__testing")]
pub fn common_values() -> Tuning {
    gpu("", "")
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
            ..gpu("apple", "compiled: ballots in fewest cycles by Honeykrisp, no spills, see lab/GPU-COMPILERS.md")
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
            ..nvidia("nvk", "compiled: 48 registers by NVK, see lab/GPU-COMPILERS.md")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::NVIDIA,
        tuning: || Tuning {
            // The driver lets as many workgroups share a core as 48 KiB of shared memory hold, and the more elements are under way,
            // the better. Staged in parts, and with 64 registers, two of these fit. Pairs of 20 would take 118 registers.
            workgroup_size: 512,
            items_pairs: 16,
            // On an H100, with a faster look-back: 0.69 to 0.78 of the time for 2^14 to 2^18 elements, 0.94 to 0.98 for 2^20.
            few_items: Some(8),
            staged_items: Some(8),
            few_registers: true,
            ballot: Ballot::ByMask,
            // On an H100 0.97 of the time for keys, 0.95 for keys of 64 bits.
            looks_ahead: true,
            // On an H100 one sort of all elements takes half of the time of dividing rows of 65,536, and less for an argsort.
            sweeps_rows: true,
            // On an H100 digits of 9 bits lose 24 % where they save one of two passes, and gain 4 % where they save one of three.
            digit_bits: 8,
            ..nvidia("nvidia", "measured: docs/PERFORMANCE.md")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::AMD,
        tuning: || Tuning {
            workgroup_size: 512,
            items_keys: 15,
            items_pairs: 15,
            single_items: 28,
            // RDNA issues an instruction of 64 lanes twice. GCN has no smaller subgroups.
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
            segment_items: 8,
            histogram_subgroup_size: Some(32),
            few_registers: false,
            ..intel("intel-xe2", "compiled: fewest instructions a key by anv without spills, see lab/GPU-COMPILERS.md")
        },
    },
    Row {
        applies: |p| p.vendor_id == vendor::INTEL,
        tuning: || Tuning {
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
        tuning: || Tuning { workgroup_size: 128, segment_items: 16, min_tiles: 256, ..gpu("mali", NO_PROGRESS) },
    },
    Row {
        applies: |_| true,
        tuning: || Tuning {
            workgroup_size: 128,
            segment_items: 16,
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

    /// The tuning with another number for a knob; `None` where it is optional, for the device's own number or that of another knob.
    /// Methods are numbered as their [`scale`](Knob::scale) lists them.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a name that no knob has, and for a number that its scale does not allow.
    ///
    /// ```
    /// use vksort::{DeviceProfile, Tuning};
    ///
    /// let row = Tuning::for_device(&DeviceProfile::default());
    /// let narrow = row.with("digit_bits", 4)?;
    /// let error = row.with("digit_bits", 12).unwrap_err();
    /// assert_eq!(error.to_string(), "digit_bits is 12, allowed is 1 to 11");
    /// # Ok::<(), vksort::Error>(())
    /// ```
    pub fn with(&self, knob: &str, number: impl Into<Option<u32>>) -> Result<Tuning, Error> {
        let number = number.into();
        let Some(found) = Tuning::KNOBS.iter().find(|other| other.name == knob) else {
            let names: Vec<_> = Tuning::KNOBS.iter().map(|knob| knob.name).collect();
            return Err(Error::unsupported("the knob", format!("{knob:?}"), names.join(", ")));
        };
        match number {
            None if !found.optional => Err(Error::unsupported(found.name, "none", found.scale.allowed())),
            Some(given) if !found.scale.allows(given) => {
                Err(Error::unsupported(found.name, given, found.scale.allowed()))
            }
            number => Ok(found.with(self, number)),
        }
    }

    /// The algorithm for large inputs of a request that names none.
    pub fn algorithm(&self) -> Algorithm {
        if self.look_back { Algorithm::OneSweep } else { Algorithm::ReduceThenScan }
    }

    /// The knobs that kernels read and that no limit changes, each as a specialization constant with its value.
    pub(crate) fn knobs(&self, request: &SortRequest, rank: RankMethod) -> Knobs {
        // The private counters of an invocation keep the order of equal digits at no cost.
        let looks_ahead = self.looks_ahead && request.value.sorted_bytes() == 0;
        let unordered = self.unordered && !request.shows_ties() && rank != RankMethod::Private;
        [
            (spec::FEW_REGISTERS, self.few_registers.into()),
            (spec::BALLOT, self.ballot as u32),
            (spec::UNORDERED, unordered.into()),
            (spec::MERGE_RUNS, self.merge_runs.into()),
            (spec::LOOKS_AHEAD, looks_ahead.into()),
        ]
    }

    /// Checks that every number is within the range that some device may use.
    ///
    /// A sorter is refused with a number out of range. Numbers within the ranges are clamped to the device's limits, and sizes of
    /// workgroups are rounded to whole subgroups.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`], which names the knob.
    pub fn check(&self) -> Result<(), Error> {
        for knob in Tuning::KNOBS {
            let allowed = knob.scale.allowed();
            if let Some(given) = knob.get(self).filter(|number| !knob.scale.allows(*number)) {
                return Err(Error::unsupported(knob.name, given, allowed));
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
