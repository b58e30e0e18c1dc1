//! The knobs of a tuning: a table with a row for each, from which [`Tuning`] is made, and their scales.

use std::borrow::Cow;
use std::str::FromStr;

use crate::abi;
use crate::error::Error;

/// Bounds within which no product of a tuning's numbers overflows, far beyond the limits of devices.
pub(crate) const MAX_INVOCATIONS: u32 = 2048;
pub(crate) const MAX_ITEMS: u32 = 8192;
// Private counters of the histogram have 16 bits. Loads of whole vectors give an invocation up to a vector more than its items.
const _: () = assert!(MAX_ITEMS < 1 << 15);
/// Digits whose counters still fit into shared memory.
pub(crate) const MAX_DIGIT_BITS: u32 = 11;
/// The largest number of polls: with more, a waiting sort would look like a hang.
const MAX_POLLS: u32 = 1 << 16;
/// More tiles than any device runs workgroups.
const MAX_TILES: u32 = 1 << 16;

/// How a subgroup ranks equal digits. With emulated subgroups it is always [`Match`](Self::Match).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
}

/// How kernels extract a bit of a digit for its ballot. Which way takes fewer instructions depends on the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum Ballot {
    /// By its position in the digit.
    ByPlace = abi::BALLOT_BY_PLACE,
    /// By a mask that is unknown to the compiler, so that NVIDIA's compiler does not extract each bit twice. Mesa's compiler
    /// for Apple's GPUs then shifts once instead of three times.
    ByMask = abi::BALLOT_BY_MASK,
}

/// What the numbers of a knob count. A switch is 0 or 1, and a method its index among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scale {
    /// Invocations of a workgroup.
    Invocations,
    /// Elements of an invocation.
    Items,
    /// Lanes of a subgroup.
    Lanes,
    /// Bits of a digit.
    DigitBits,
    /// Tiles of a sort.
    Tiles,
    /// Reads of a word.
    Polls,
    /// Off or on.
    Switch,
    /// Several ways to do the same: these names.
    Methods(&'static [&'static str]),
}

impl Scale {
    /// Whether a number is within the range that some device may use.
    pub fn allows(self, number: u32) -> bool {
        match self {
            Scale::Invocations => (1..=MAX_INVOCATIONS).contains(&number),
            Scale::Items => (1..=MAX_ITEMS).contains(&number),
            Scale::Lanes => (4..=128).contains(&number) && number.is_power_of_two(),
            Scale::DigitBits => (1..=MAX_DIGIT_BITS).contains(&number),
            Scale::Tiles => (1..=MAX_TILES).contains(&number),
            Scale::Polls => (1..=MAX_POLLS).contains(&number),
            Scale::Switch => number <= 1,
            Scale::Methods(names) => (number as usize) < names.len(),
        }
    }

    /// The numbers that are allowed, in words.
    pub fn allowed(self) -> String {
        match self {
            Scale::Invocations => format!("1 to {MAX_INVOCATIONS}"),
            Scale::Items => format!("1 to {MAX_ITEMS}"),
            Scale::Lanes => "a power of two from 4 to 128".into(),
            Scale::DigitBits => format!("1 to {MAX_DIGIT_BITS}"),
            Scale::Tiles => format!("1 to {MAX_TILES}"),
            Scale::Polls => format!("1 to {MAX_POLLS}"),
            Scale::Switch => "false or true".into(),
            Scale::Methods(names) => names.join(", "),
        }
    }

    /// A number in words.
    pub fn show(self, number: u32) -> String {
        match self {
            Scale::Switch => (number != 0).to_string(),
            Scale::Methods(names) => names.get(number as usize).copied().unwrap_or("none").into(),
            _ => number.to_string(),
        }
    }
}

/// A knob of a [`Tuning`] as a number, for programs that vary all of them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// What its numbers count.
    pub scale: Scale,
    /// Whether it may be `None`, for the device's or another knob's own.
    pub optional: bool,
    get: fn(&Tuning) -> Option<u32>,
    set: fn(&mut Tuning, Option<u32>),
}

impl Knob {
    /// The knob's number in a tuning.
    pub fn get(&self, tuning: &Tuning) -> Option<u32> {
        (self.get)(tuning)
    }

    /// The tuning with another number. One that the scale does not allow, and `None` where the knob is not optional, leave it as it
    /// is.
    pub fn with(&self, tuning: &Tuning, number: Option<u32>) -> Tuning {
        let mut tuning = tuning.clone();
        if number.map_or(self.optional, |number| self.scale.allows(number)) {
            (self.set)(&mut tuning, number);
        }
        tuning
    }

    /// The knob's number in words.
    pub fn show(&self, tuning: &Tuning) -> String {
        self.get(tuning).map_or("default".into(), |number| self.scale.show(number))
    }
}

/// The type of a knob's field.
trait Field {
    const OPTIONAL: bool = false;
    const METHODS: &'static [&'static str] = &[];
    fn get(&self) -> Option<u32>;
    /// `number` is allowed by the scale, and `None` only if the field is optional.
    fn set(&mut self, number: Option<u32>);
}

impl Field for u32 {
    fn get(&self) -> Option<u32> {
        Some(*self)
    }

    fn set(&mut self, number: Option<u32>) {
        *self = number.unwrap_or(*self);
    }
}

impl Field for Option<u32> {
    const OPTIONAL: bool = true;

    fn get(&self) -> Option<u32> {
        *self
    }

    fn set(&mut self, number: Option<u32>) {
        *self = number;
    }
}

impl Field for bool {
    fn get(&self) -> Option<u32> {
        Some((*self).into())
    }

    fn set(&mut self, number: Option<u32>) {
        *self = number == Some(1);
    }
}

macro_rules! methods {
    ($type:ident: $($variant:ident $name:literal)*) => {
        impl $type {
            /// Every one.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let index = Self::METHODS.iter().position(|name| *name == text);
                let refused = || Error::unsupported(stringify!($type), format!("{text:?}"), Self::METHODS.join(", "));
                index.map(|index| Self::ALL[index]).ok_or_else(refused)
            }
        }

        impl Field for $type {
            const METHODS: &'static [&'static str] = &[$($name),*];

            fn get(&self) -> Option<u32> {
                Self::ALL.iter().position(|method| method == self).map(|index| index as u32)
            }

            fn set(&mut self, number: Option<u32>) {
                *self = number.and_then(|index| Self::ALL.get(index as usize)).copied().unwrap_or(*self);
            }
        }
    };
}

// As in files.
methods!(RankMethod: Ballot "ballot" Match "match" Compare "compare" Private "private");
methods!(Ballot: ByPlace "by-place" ByMask "by-mask");

/// Makes [`Tuning`] and [`Tuning::KNOBS`] from rows: field, type, scale.
macro_rules! knobs {
    ($($(#[$doc:meta])* $field:ident: $type:ty, $scale:ident;)*) => {
        /// Launch configuration and methods of the kernels on one class of devices.
        ///
        /// [`Tuning::for_device`] returns the built-in row. [`with`](Self::with) changes a knob by its name, and
        /// [`SorterOptions::tuning`](crate::SorterOptions) takes the result. Sizes are clamped to the device's limits, and workgroups are
        /// whole subgroups: 7 invocations are those of one subgroup.
        ///
        /// The knobs describe the insides of the kernels, and may change with any version of the crate. [`Tuning::KNOBS`] lists
        /// them.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct Tuning {
            /// Name of the row.
            pub name: String,
            $($(#[$doc])* #[doc(hidden)] pub $field: $type,)*
            /// The evidence for the row.
            pub evidence: Cow<'static, str>,
        }

        impl Tuning {
            /// The knobs. Those with the largest effect come first.
            pub const KNOBS: &'static [Knob] = &[$(Knob {
                name: stringify!($field),
                scale: knobs!(@scale $scale $type),
                optional: <$type as Field>::OPTIONAL,
                get: |tuning| Field::get(&tuning.$field),
                set: |tuning, number| Field::set(&mut tuning.$field, number),
            }),*];
        }
    };
    (@scale Method $type:ty) => { Scale::Methods(<$type as Field>::METHODS) };
    (@scale $scale:ident $type:ty) => { Scale::$scale };
}

knobs! {
    /// Invocations of a workgroup that ranks and scatters.
    workgroup_size: u32, Invocations;
    /// Elements per invocation when only keys are sorted.
    items_keys: u32, Items;
    /// Elements per invocation when values move with the keys.
    items_pairs: u32, Items;
    /// Elements per invocation of a tile in sorters for few elements, instead of the numbers above: those with a
    /// [`capacity`](crate::SorterOptions::capacity) of at most 256 such tiles and keys of up to 32 bits. More, smaller tiles occupy more
    /// of the device. `None` for the same as for many elements.
    few_items: Option<u32>, Items;
    /// Elements per invocation that a sorted tile stages in shared memory at a time; `None` for all. A tile is staged in at most four
    /// parts, and in no smaller ones than counters have room for. Parts cost instructions, and let more elements be under way where
    /// drivers give workgroups little shared memory.
    staged_items: Option<u32>, Items;
    /// How a subgroup ranks equal digits.
    rank: RankMethod, Method;
    /// Bits of the widest digit, up to 11. Digits of more than 8 bits are used only if they save a quarter of the passes.
    digit_bits: u32, DigitBits;
    /// Whether an invocation recomputes digits and packs two ranks into a word, which saves registers for a few more
    /// instructions.
    few_registers: bool, Switch;
    /// How kernels extract a bit of a digit for its ballot.
    ballot: Ballot, Method;
    /// Subgroup size to require, if the device allows it; `None` for the device's default.
    subgroup_size: Option<u32>, Lanes;
    /// Whether the first pass ranks each key by one atomic, without keeping the order of equal digits. It applies to keys
    /// alone and to sorts with `stable: false`, where that order is not visible or does not matter.
    unordered: bool, Switch;
    /// Whether the automatic choice uses look-back (OneSweep). It never hangs, because its waits are bounded; this field says
    /// whether it is known to be correct and fast.
    look_back: bool, Switch;
    /// Whether look-back goes on while keys are ranked, a step for each four of them, so that ranking hides the time of its loads. It
    /// applies to keys alone, because with values registers are few.
    looks_ahead: bool, Switch;
    /// Tiles from which on sorts of keys of 32 bits and more end with a finish, where a sample of the keys says that it pays: two
    /// passes by the leading bits, and a step that sorts runs of equal ones. `None` for never. It applies to OneSweep by digits of 8
    /// bits, for up to 2^27 keys by all their bits, alone, with values of 4 bytes, indices or gathered values.
    finish_tiles: Option<u32>, Tiles;
    /// How many histogram parts there are before parts grow to whole blocks. On software drivers tiles grow in the same way.
    /// Tiles of reduce-then-scan grow beyond one block only above this number. On CPUs the built-in rows have at least one for
    /// each thread.
    min_tiles: u32, Tiles;
    /// Keys per invocation and block in the histogram.
    histogram_items: u32, Items;
    /// Invocations of a workgroup that counts digits.
    histogram_workgroup_size: u32, Invocations;
    /// Subgroup size to require for the histogram of keys of up to 64 bits, if the device allows it. The histogram runs with
    /// any; `None` leaves the choice to the driver. Some drivers compile a kernel for every size before they choose.
    histogram_subgroup_size: Option<u32>, Lanes;
    /// Invocations of a single workgroup that sorts in shared memory; `None` for `workgroup_size`. With more invocations of
    /// fewer elements each, the kernel is shorter and sorts as many elements. With private counters the workgroup is one
    /// subgroup, whose invocations hold all elements.
    single_workgroup_size: Option<u32>, Invocations;
    /// Elements per invocation of a single workgroup that sorts in shared memory, clamped to what fits; also of what is left of long
    /// rows, whose first elements are wanted.
    single_items: u32, Items;
    /// Elements per invocation of a window of segments, clamped to what fits. Its workgroup is one of `workgroup_size`.
    segment_items: u32, Items;
    /// Whether rows of equal length beyond a block are sorted by passes over tiles, each row by itself, instead of being divided by their
    /// top digits. A row needs as many passes as an array.
    sweeps_rows: bool, Switch;
    /// Elements up to which segments are sorted in a few lanes of a subgroup instead of by digits, at most four for each lane: if all are
    /// promised to be so short, or all small segments of a window are.
    network_longest: u32, Items;
    /// Whether an invocation merges runs of equal digits before it counts them by a shared atomic. Sorted and skewed inputs
    /// need it on GPUs.
    merge_runs: bool, Switch;
    /// Polls of a look-back word before the predecessor's counts are recomputed. CPUs use fewer, because their drivers limit loop
    /// iterations.
    polls: u32, Polls;
    /// Invocations of a workgroup that scans tile counts in reduce-then-scan.
    scan_workgroup_size: u32, Invocations;
}
