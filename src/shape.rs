//! From tuning and request to the exact shape of the kernels on one device: what the specialization constants say.

use crate::abi;
use crate::error::Error;
use crate::profile::DeviceProfile;
use crate::request::{Algorithm, BitRange, SortRequest, ValueType};
use crate::tuning::{RankMethod, Tuning};
use crate::turns;

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
    /// The bits that count, shared out evenly among the passes.
    pub window: BitRange,
    /// Bits of the widest digit.
    pub digit_bits: u32,
    /// Digits of a key.
    pub passes: u32,
    /// Whether a block is reordered in shared memory before it is written.
    pub staged: bool,
    /// Elements per invocation where a single workgroup sorts them all in shared memory.
    pub single_items: u32,
    /// Whether a tile's counts are published before its keys are ranked.
    pub early_counts: bool,
    /// How equal digits find their order.
    pub rank: RankMethod,
    /// Whether two ranking counters share a word, as shared memory is short.
    pub packed: bool,
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
    /// Workgroups that stay for a pass of OneSweep; 0 for a workgroup per tile.
    pub resident_workgroups: u32,
    /// Tiles that a workgroup may take, one after the other.
    pub most_tiles: u32,
}

const EMULATED_DEFAULT: u32 = 32;
/// Bounds within which no product of a tuning's numbers overflows; far beyond what devices allow.
pub(crate) const MOST_INVOCATIONS: u32 = 2048;
pub(crate) const MOST_ITEMS: u32 = 8192;
/// Of a digit whose counters cost little.
const USUAL_DIGIT_BITS: u32 = 8;
/// What a place has room for above the rank of an element in its block.
pub(crate) const MOST_DIGIT_BITS: u32 = 11;
/// Words of keys that an invocation holds which ranks by counters of its own: SwiftShader has no stack for twice as many.
const HELD_WORDS: u32 = 4096;
/// Lanes of the largest subgroup in which each has counters of its own.
const MOST_PRIVATE_LANES: u32 = 16;
/// Tiles that a workgroup may take where nothing ends its loops.
const ANY_TILES: u32 = 1 << 15;
/// Items per invocation of a single workgroup that are worth a smaller workgroup.
const SINGLE_ITEMS: u32 = 16;

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
        let most = match algorithm {
            algorithm if algorithm.looks_back() => widest_digit(profile, tuning.digit_bits, &subgroup),
            _ => algorithm.digit_bits(),
        };
        let (passes, digit_bits) = share_bits(profile, request.bits, most);
        let rank = match tuning.rank {
            RankMethod::Partition if subgroup.emulated || !profile.subgroup_partition => RankMethod::Ballot,
            RankMethod::Private if !counts_privately(profile, &subgroup) => RankMethod::Ballot,
            rank => rank,
        };
        // Fewer subgroups keep the counters as many when their digits are wider. Where blocks are staged, neighbours
        // need the subgroups.
        let wider = if tuning.staged { 0 } else { digit_bits.saturating_sub(USUAL_DIGIT_BITS) };
        let workgroup_size = tuning.workgroup_size.clamp(subgroup.size, MOST_INVOCATIONS);
        let fewer = match rank {
            // What the counters of one subgroup's invocations come to is known without a look at others.
            RankMethod::Private => subgroup.size,
            _ => (workgroup_size >> wider).max(workgroup_size.min(2 * subgroup.size)),
        };
        let unfit = |what: &str, given: String, needed: String| Error::UnsuitableDevice {
            device: profile.name.clone(),
            what: what.into(),
            given,
            needed,
        };
        let key_words = request.key.bits().div_ceil(32);
        // Wide keys take more registers each where items are held in registers, and fewer invocations have more items.
        let held = |items: u32| {
            let items = if tuning.unroll { items / key_words } else { items };
            let items = items.clamp(1, MOST_ITEMS) * workgroup_size / fewer;
            if rank == RankMethod::Private { items.min(HELD_WORDS / key_words) } else { items }
        };
        let mut items = held(if request.value.size_bytes() == 0 { tuning.items_keys } else { tuning.items_pairs });
        let single_items = held(tuning.single_items);
        let item_turns = turns::of_item(rank, subgroup.size, digit_bits);
        while items * item_turns > turns::TILE {
            items /= 2;
        }
        let mut shape = Shape {
            subgroup,
            workgroup_size: fewer / subgroup.size * subgroup.size,
            items,
            window: request.bits,
            digit_bits,
            passes,
            staged: tuning.staged,
            single_items: items.min(single_items),
            early_counts: tuning.early_counts,
            rank,
            packed: false,
            histogram_workgroup_size: tuning.histogram_workgroup_size.clamp(1, profile.max_workgroup_invocations),
            histogram_items: tuning.histogram_items.clamp(1, MOST_ITEMS),
            scan_workgroup_size: tuning.scan_workgroup_size.clamp(1, profile.max_workgroup_invocations),
            min_tiles: tuning.min_tiles.max(1),
            max_blocks: if tuning.early_counts { tuning.max_blocks.max(1) } else { 1 },
            resident_workgroups: tuning.resident_workgroups,
            most_tiles: 1,
        };
        let most_invocations = if subgroup.emulated {
            profile.max_workgroup_invocations
        } else {
            profile.max_workgroup_invocations.min(subgroup.size * profile.max_workgroup_subgroups)
        };
        while shape.workgroup_size > most_invocations || shape.shared_bytes() > profile.max_shared_bytes {
            if shape.workgroup_size <= most_invocations && shape.can_pack() {
                shape.packed = true;
            // A single workgroup gets along with fewer items, so these give way first when no tile is staged.
            } else if !shape.staged && shape.workgroup_size <= most_invocations && shape.single_items > SINGLE_ITEMS {
                shape.single_items /= 2;
            } else if shape.workgroup_size >= 2 * subgroup.size {
                shape.workgroup_size = shape.workgroup_size / 2 / subgroup.size * subgroup.size;
            } else if shape.workgroup_size <= most_invocations && shape.items.max(shape.single_items) > 1 {
                shape.items = (shape.items / 2).max(1);
                shape.single_items = (shape.single_items / 2).max(1);
            } else if shape.workgroup_size > most_invocations {
                let needed = format!("{} invocations, one subgroup", subgroup.size);
                return Err(unfit("workgroup size limit", format!("{most_invocations} invocations"), needed));
            } else if shape.rank == RankMethod::Match && !shape.small_match() {
                let tuning = Tuning { rank: RankMethod::Ballot, ..tuning.clone() };
                return Shape::fit(profile, &tuning, request, algorithm, choice);
            } else {
                let needed = format!("{} bytes", shape.shared_bytes());
                return Err(unfit("shared memory", format!("{} bytes", profile.max_shared_bytes), needed));
            }
        }
        if profile.is_cpu {
            shape.max_blocks = shape.max_blocks.min(turns::most_blocks(shape.items, item_turns));
        }
        while !turns::allow_single_block(&shape, request) && shape.single_items > 1 {
            shape.single_items /= 2;
        }
        shape.single_items = shape.most_single_items(profile, request, single_items);
        if rank == RankMethod::Private {
            // The next tile's elements may be shared out otherwise than this one's.
            shape.resident_workgroups = 0;
            shape.histogram_workgroup_size = shape.histogram_workgroup_size.max(subgroup.size).min(most_invocations);
        }
        if shape.resident_workgroups > 0 {
            // Drivers that end loops are those of CPUs. The loops over digits count too.
            let digits = shape.radix().div_ceil(shape.workgroup_size) * (shape.workgroup_size / subgroup.size + 8);
            let turns = shape.max_blocks.saturating_mul(shape.items * item_turns + digits);
            shape.most_tiles = if profile.is_cpu { (turns::TILE / 4 / turns).clamp(1, 8) } else { ANY_TILES };
        }
        if shape.histogram_shared_bytes() > profile.max_shared_bytes {
            let needed = format!("{} bytes", shape.histogram_shared_bytes());
            return Err(unfit("shared memory", format!("{} bytes", profile.max_shared_bytes), needed));
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

    /// The most elements that a single workgroup sorts.
    pub fn single_block(&self) -> u32 {
        self.workgroup_size * self.single_items
    }

    /// As many items of a single workgroup as shared memory and turns allow, from those that there are up to `wished`.
    fn most_single_items(&self, profile: &DeviceProfile, request: &SortRequest, wished: u32) -> u32 {
        let fits = |single_items: u32| {
            let shape = Shape { single_items, ..*self };
            shape.shared_bytes() <= profile.max_shared_bytes
                && turns::allow_single_block(&shape, request)
                && (shape.single_block() <= 0xFFFF || !shape.packed)
        };
        let (mut least, mut beyond) = (self.single_items, wished.max(self.single_items) + 1);
        while beyond - least > 1 {
            let middle = least + (beyond - least) / 2;
            if fits(middle) { least = middle } else { beyond = middle }
        }
        least
    }

    /// Elements of a segment of a hybrid's finish, which is more of them where a run does not end with it.
    pub fn segment(&self) -> u32 {
        (self.single_block() / 2).max(1)
    }

    /// Elements that a segment has room for behind its own; the longest run that is sure to fit.
    pub fn reach(&self) -> u32 {
        self.single_block() - self.segment()
    }

    /// Elements that each invocation looks through for ties: neighbours, whose memory GPUs fetch together.
    pub fn tie_items(&self) -> u32 {
        if self.staged { 8 } else { 512 }
    }

    /// Elements of a part in which a workgroup looks for ties.
    pub fn tie_part(&self) -> u32 {
        self.histogram_workgroup_size * self.tie_items()
    }

    /// Logarithm of the buckets by which a finish ranks a segment: four a word, and as many words as fit into it.
    pub fn bucket_bits(&self) -> u32 {
        2 + self.segment().ilog2()
    }

    /// Words of the shared pool of a kernel that stages so many elements, if any: the ranking counters, a recount, and
    /// staged elements take turns in it.
    pub fn pool_words(&self, staged: u32) -> u32 {
        let counters = self.radix() >> u32::from(self.packed);
        let masks = match self.rank {
            RankMethod::Match if !self.small_match() => self.radix() * self.subgroup.size.div_ceil(32),
            _ => 0,
        };
        let ranking = match self.rank {
            RankMethod::Private => 0,
            _ => self.workgroup_size / self.subgroup.size * (counters + masks),
        };
        ranking.max(self.radix()).max(staged)
    }

    /// Whether match masks and counters share words.
    pub(crate) fn small_match(&self) -> bool {
        self.rank == RankMethod::Match && self.subgroup.size <= 16
    }

    /// Whether two counters in a word would save memory: not where tiles are written from the counters, nor where they
    /// are packed otherwise.
    fn can_pack(&self) -> bool {
        let packed = Shape { packed: true, ..*self };
        let saves = packed.shared_bytes() < self.shared_bytes();
        let packs = self.staged && !self.small_match() && self.rank != RankMethod::Private;
        packs && self.block().max(self.single_block()) <= 0xFFFF && saves
    }

    /// Workgroups that share a tile's elements in a gather of such values. Large values are more work than keys, and a
    /// loop over all of a tile's words would be longer than some drivers let loops be.
    pub(crate) fn gather_splits(&self, value: ValueType) -> u32 {
        let words = value.size_bytes().div_ceil(4);
        // Turns of an invocation's loops over the largest tile.
        let largest = u64::from(self.block()) * u64::from(self.max_blocks);
        let group = u64::from(self.histogram_workgroup_size);
        let turns = if words <= group {
            largest.div_ceil((group / words.max(1)).max(1))
        } else {
            largest * words.div_ceil(group)
        };
        turns.div_ceil(turns::GATHER).clamp(1, largest) as u32
    }

    /// Shared memory of the histogram, in bytes.
    pub fn histogram_shared_bytes(&self) -> u32 {
        histogram_bytes(self.passes, self.digit_bits)
    }

    /// Shared memory of the ranking kernel that needs most, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        let emulation = match self.subgroup.emulated {
            true => self.workgroup_size + 4 * (self.workgroup_size / self.subgroup.size),
            false => 0,
        };
        // The single workgroup stages its elements whatever the others do.
        let staged = if self.staged { self.block() } else { 0 };
        4 * (self.pool_words(staged.max(self.single_block()))
            + abi::SHARED_DIGIT_ARRAYS * self.radix()
            + abi::SHARED_LOOSE_WORDS
            + emulation)
    }
}

/// Whether each invocation can have counters of its own, and add them up with its subgroup's.
fn counts_privately(profile: &DeviceProfile, subgroup: &Subgroup) -> bool {
    profile.subgroup_arithmetic && !subgroup.emulated && subgroup.size <= MOST_PRIVATE_LANES
}

/// Bits of the widest digit up to those that are wished for whose counters one subgroup has room for.
fn widest_digit(profile: &DeviceProfile, wished: u32, subgroup: &Subgroup) -> u32 {
    let emulation = if subgroup.emulated { subgroup.size + 4 } else { 0 };
    let bytes = |bits: u32| 4 * (((1 + abi::SHARED_DIGIT_ARRAYS) << bits) + abi::SHARED_LOOSE_WORDS + emulation);
    let mut bits = wished.clamp(1, MOST_DIGIT_BITS);
    while bits > USUAL_DIGIT_BITS && bytes(bits) > profile.max_shared_bytes {
        bits -= 1;
    }
    bits
}

/// Shared memory of the histogram for so many digits, in bytes: a count for each value, and what is known of each digit.
fn histogram_bytes(passes: u32, digit_bits: u32) -> u32 {
    let counts = 1u32 << digit_bits;
    4 * (passes * (counts + counts.div_ceil(abi::HISTOGRAM_CHUNK) + 2) + abi::SHARED_LOOSE_WORDS)
}

/// Passes for the window, and the bits of the widest digit: as few passes as possible, their digits as even as possible.
///
/// Digits of more than 8 bits cost every pass more counters; they are used where they save one pass in four or more.
fn share_bits(profile: &DeviceProfile, window: BitRange, most: u32) -> (u32, u32) {
    let digit_bits = |passes: u32| window.len().div_ceil(passes.max(1)).max(1);
    let fewest = |most: u32| {
        let mut passes = window.len().div_ceil(most);
        // The histogram counts all digits at once.
        while histogram_bytes(passes, digit_bits(passes)) > profile.max_shared_bytes
            && digit_bits(passes) > 1
            && passes < abi::MAX_PASSES
        {
            passes += 1;
        }
        passes
    };
    let (wide, usual) = (fewest(most), fewest(most.min(USUAL_DIGIT_BITS)));
    let passes = if 4 * usual.saturating_sub(wide) >= usual { wide } else { usual };
    (passes, digit_bits(passes))
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
    fn counters_share_words_before_workgroups_shrink() {
        let profile = DeviceProfile { subgroup_size: 8, subgroup_range: (8, 8), ..DeviceProfile::default() };
        let tuning = Tuning { workgroup_size: 256, items_keys: 4, staged: true, ..Tuning::for_device(&profile) };
        let request = SortRequest::new(KeyType::U32);
        let fit = |tuning: &Tuning| Shape::fit(&profile, tuning, &request, Algorithm::OneSweep, SubgroupChoice::Auto);
        let shape = fit(&Tuning { rank: RankMethod::Ballot, ..tuning.clone() }).unwrap();
        assert!(shape.packed && shape.workgroup_size == 256, "{shape:?}");
        let shape = fit(&Tuning { rank: RankMethod::Match, ..tuning.clone() }).unwrap();
        assert!(!shape.packed && shape.workgroup_size == 128, "match masks take the other half: {shape:?}");
        let shape = fit(&Tuning { rank: RankMethod::Ballot, items_keys: 512, ..tuning }).unwrap();
        assert!(shape.block() <= 0xFFFF || !shape.packed, "{shape:?}");
    }

    #[test]
    fn counters_of_their_own_are_for_small_subgroups_that_add_up() {
        let row =
            Tuning::for_device(&DeviceProfile { driver_id: crate::profile::driver::LLVMPIPE, ..Default::default() });
        let of = |size: u32| DeviceProfile { subgroup_size: size, subgroup_range: (size, size), ..Default::default() };
        let fit = |profile: &DeviceProfile| {
            let tuning = Tuning { resident_workgroups: 7, ..row.clone() };
            Shape::fit(profile, &tuning, &SortRequest::new(KeyType::U32), Algorithm::OneSweep, SubgroupChoice::Auto)
                .unwrap()
        };
        for size in [4, 8, 16] {
            let shape = fit(&of(size));
            assert_eq!((shape.rank, shape.resident_workgroups), (RankMethod::Private, 0));
            assert!(shape.histogram_workgroup_size >= size && shape.histogram_workgroup_size % size == 0, "{shape:?}");
            assert_eq!(shape.workgroup_size, size, "a workgroup is one subgroup");
        }
        for other in [of(32), DeviceProfile { subgroup_arithmetic: false, ..of(8) }] {
            let shape = fit(&other);
            assert_eq!((shape.rank, shape.resident_workgroups), (RankMethod::Ballot, 7));
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
                single_items: number,
                min_tiles: number,
                max_blocks: number,
                histogram_workgroup_size: number,
                histogram_items: number,
                scan_workgroup_size: number,
                digit_bits: number,
                subgroup_size: Some(number),
                polls: number,
                ..Tuning::for_device(&profile)
            };
            let request = SortRequest::new(KeyType::U32);
            let shape = Shape::fit(&profile, &tuning, &request, Algorithm::OneSweep, SubgroupChoice::Auto).unwrap();
            assert!(shape.shared_bytes() <= profile.max_shared_bytes && shape.block() >= 32, "{shape:?}");
            for capacity in [0, 1, 1 << 20, crate::plan::MAX_COUNT] {
                let plan = crate::plan::Plan::new(&request, Algorithm::OneSweep, shape, capacity, None);
                assert!(plan.scratch().size < 1 << 40);
                assert!(plan.steps(crate::plan::Count::Host(capacity)).count() as u32 <= 2 + 2 * shape.passes * 5 + 1);
            }
        }
    }

    #[test]
    fn windows_take_as_few_passes_as_they_can_with_even_digits() {
        let profile = DeviceProfile::default();
        for (bits, passes, digit_bits) in
            [(0, 0, 1), (1, 1, 1), (8, 1, 8), (9, 2, 5), (16, 2, 8), (17, 3, 6), (32, 4, 8), (64, 8, 8), (128, 16, 8)]
        {
            assert_eq!(share_bits(&profile, (0..bits).into(), 8), (passes, digit_bits), "{bits} bits");
        }
        for (bits, passes, digit_bits) in [(9, 1, 9), (16, 2, 8), (18, 2, 9), (27, 3, 9), (32, 4, 8), (36, 5, 8)] {
            assert_eq!(share_bits(&profile, (0..bits).into(), 9), (passes, digit_bits), "{bits} bits, wide digits");
        }
        for (bits, passes, digit_bits) in [(10, 1, 10), (20, 2, 10), (30, 3, 10), (40, 5, 8), (64, 8, 8), (128, 16, 8)]
        {
            assert_eq!(share_bits(&profile, (0..bits).into(), 10), (passes, digit_bits), "{bits} bits, wider digits");
        }
        let least = DeviceProfile { max_shared_bytes: 16384, ..profile };
        assert_eq!(share_bits(&least, (0..128).into(), 8), (19, 7), "256 counters for each of 16 digits do not fit");
    }

    #[test]
    fn workgroups_stay_for_as_many_tiles_as_drivers_let_loops_turn() {
        let request = SortRequest::new(KeyType::U32);
        let most = |is_cpu: bool, items: u32, resident_workgroups: u32| {
            let profile = DeviceProfile { is_cpu, ..DeviceProfile::default() };
            let tuning = Tuning { items_keys: items, resident_workgroups, ..Tuning::for_device(&profile) };
            Shape::fit(&profile, &tuning, &request, Algorithm::OneSweep, SubgroupChoice::Auto).unwrap().most_tiles
        };
        assert_eq!((most(false, 16, 0), most(true, 16, 0)), (1, 1));
        assert_eq!(most(false, 16, 64), ANY_TILES);
        assert!((2..=8).contains(&most(true, 4, 64)), "{}", most(true, 4, 64));
        assert_eq!(most(true, 1024, 64), 1);
    }

    #[test]
    fn masks_and_wide_digits_give_way_where_they_cannot_fit() {
        let request = SortRequest::new(KeyType::U64);
        for (size, max_shared_bytes) in [(64, 32768), (128, 32768), (32, 16384), (128, 16384)] {
            let profile = DeviceProfile { max_shared_bytes, ..DeviceProfile::default() };
            let tuning =
                Tuning { rank: RankMethod::Match, digit_bits: 10, staged: false, ..Tuning::for_device(&profile) };
            let choice = SubgroupChoice::Emulated(size);
            let shape = Shape::fit(&profile, &tuning, &request, Algorithm::OneSweep, choice).unwrap();
            assert!(shape.shared_bytes() <= max_shared_bytes, "{shape:?}");
        }
    }

    #[test]
    fn what_cannot_fit_is_refused_by_name() {
        let tiny = DeviceProfile { max_shared_bytes: 64, ..DeviceProfile::default() };
        let message = fit(&tiny, SubgroupChoice::Auto).unwrap_err().to_string();
        assert!(message.contains("shared memory") && message.contains("64"), "{message}");
        let message = fit(&DeviceProfile::default(), SubgroupChoice::Emulated(48)).unwrap_err().to_string();
        assert!(message.contains("48"), "{message}");
        let none = DeviceProfile { subgroup_operations: false, ..DeviceProfile::default() };
        let message = fit(&none, SubgroupChoice::Native).unwrap_err().to_string();
        assert!(message.contains("ballot"), "{message}");
    }
}
