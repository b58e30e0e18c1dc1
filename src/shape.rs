//! From tuning and request to the shape of the kernels on one device: their launch configuration, after clamping to the device's
//! limits.

mod loop_budget;
mod sizes;
mod windows;

use std::ops::RangeInclusive;

use crate::abi;
use crate::error::Error;
use crate::kernels::SOFTWARE_DRIVERS;
use crate::profile::{DeviceProfile, FixedSubgroups, Quirks};
use crate::records::Fields;
use crate::request::{Algorithm, BitRange, SortRequest};
use crate::segments::Segments;
use crate::tuning::{MAX_DIGIT_BITS, MAX_INVOCATIONS, MAX_ITEMS, RankMethod, Tuning};
use crate::visitor::Visits;
pub(crate) use loop_budget::most_verified;
use sizes::MAX_BLOCK;
pub use sizes::{Block, Finish, Histogram, Ranking, Shape, Subgroup, Windows, finish_bytes, histogram_bytes};

/// Which subgroup operations the kernels use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SubgroupChoice {
    /// The device's own if they are sure to be full, else emulated ones.
    #[default]
    Auto,
    /// The device's own, at its default size or the tuning's. A device whose subgroups are not sure to be full is refused.
    Native,
    /// Emulated through shared memory, at this virtual size: a power of two from 4 to 128.
    Emulated(u32),
}

/// Whether the host or the driver sets the specialization constants of the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Specialization {
    /// The host for drivers that handle specialization constants badly, else the driver.
    #[default]
    Auto,
    /// The driver.
    Driver,
    /// The host: it folds constants into the SPIR-V, and the driver sees plain numbers.
    Host,
}

/// The input of [`Shape::fit`].
#[derive(Clone, Copy, Debug)]
pub struct ShapeDesc<'a> {
    /// The device.
    pub profile: &'a DeviceProfile,
    /// The preferred launch configuration and methods.
    pub tuning: &'a Tuning,
    /// The kind of sort.
    pub request: &'a SortRequest,
    /// The algorithm for more elements than one workgroup sorts.
    pub algorithm: Algorithm,
    /// Which subgroup operations the kernels use.
    pub subgroup: SubgroupChoice,
    /// Whether keys and values are accessed by address.
    pub addressed: bool,
    /// The most elements that will be sorted, if that is known.
    pub capacity: Option<u32>,
    /// The buffers that the caller's code replaces.
    pub visits: Visits,
    /// What keys are composed of, in a sort of records.
    pub fields: Option<Fields>,
    /// Whether the host or the driver specializes the kernels.
    pub specialization: Specialization,
    /// The quirks of the driver.
    pub quirks: Quirks,
    /// Fault injection: tiles whose index is a multiple of this never publish; 0 for none.
    pub withhold: u32,
    /// Fault injection: bits of the number of slots in the look-back ring. With few slots, small sorts use each several
    /// times.
    pub ring_bits: Option<u32>,
}

impl<'a> ShapeDesc<'a> {
    /// Keys and values by descriptor, and no faults.
    pub fn new(
        profile: &'a DeviceProfile,
        tuning: &'a Tuning,
        request: &'a SortRequest,
        algorithm: Algorithm,
    ) -> ShapeDesc<'a> {
        ShapeDesc {
            profile,
            tuning,
            request,
            algorithm,
            subgroup: SubgroupChoice::Auto,
            addressed: false,
            capacity: None,
            visits: Visits::default(),
            fields: None,
            specialization: Specialization::Auto,
            quirks: profile.quirks(),
            withhold: 0,
            ring_bits: None,
        }
    }
}

const EMULATED_DEFAULT: u32 = 32;
/// Widest digit that is used without saving a quarter of the passes.
const USUAL_DIGIT_BITS: u32 = 8;
/// How many words of keys an invocation holds at most with private counters. SwiftShader's stack is too small for twice as many.
const HELD_WORDS: u32 = 4096;
/// Most items of an invocation where kernels copy them.
const MAX_COPIED_ITEMS: u32 = 64;
/// The most tiles of a sorter for few elements: twice the multiprocessors of an H100, where more tiles take as long as larger ones.
const FEW_TILES: u32 = 256;
/// Lanes of the largest subgroup with private counters.
const MAX_PRIVATE_LANES: u32 = 16;
/// Lanes of a subgroup up to which comparing digits takes fewer instructions than ballots.
const MAX_COMPARED_LANES: u32 = 16;
/// Bits of the largest number of slots of a ring: far more slots than a device runs workgroups.
const MAX_RING_BITS: u32 = 12;
/// Bits of the number of slots of a ring on CPUs. A thread may be suspended while the others go round a small ring, and must then
/// recount all tiles back to an anchor, for which lavapipe's loops have too few iterations: it sorted 2^23 keys wrongly with 16
/// threads on two cores. With so many slots no word is overwritten of elements that a descriptor reaches.
const CPU_RING_BITS: u32 = 18;
/// Bits of the epoch in the first word of a slot, beside a state of 2 bits.
pub const EPOCH_BITS: u32 = 30 - abi::LOW_BITS;
/// The largest number of blocks in a tile of reduce-then-scan, where nothing else limits it.
const MAX_BLOCKS: u32 = 8;
/// The least window that has room for a small segment, and the largest whose slots have 15 bits.
const WINDOWS: RangeInclusive<u32> = 4..=1 << 15;
// A private count has 16 bits.
const _: () = assert!(HELD_WORDS < 1 << 15);
// Private counters have no places. With or without them, a look-back word holds the count of a tile, which is one block.
const _: () = assert!(MAX_BLOCK >> abi::LOW_BITS == 0 && (MAX_PRIVATE_LANES * HELD_WORDS) >> abi::LOW_BITS == 0);

impl Shape {
    /// Elements whose sort needs every kernel of any count: one more than a single workgroup sorts, and than a tile of segments has.
    pub fn elements_for_all(&self) -> u32 {
        let tile = self.windows.map_or(0, |windows| abi::SPLIT_TILE_BLOCKS * windows.block.elements());
        let finish = self.finish.map_or(0, |finish| finish.tiles.saturating_mul(self.tile.elements()));
        self.single.elements().max(tile).max(finish).saturating_add(1)
    }

    /// Clamps the tuning to the device: halves workgroups, then their items, until limits and shared memory allow it.
    ///
    /// # Errors
    ///
    /// [`Error::UnsuitableDevice`] names the limit that even the smallest shape exceeds; [`Error::Unsupported`] an emulated
    /// subgroup size that is not a power of two from 4 to 128.
    pub fn fit(desc: &ShapeDesc<'_>) -> Result<Shape, Error> {
        let subgroup = choose_subgroup(desc)?;
        let method = choose_rank(desc, &subgroup);
        match fit_method(desc, subgroup, method) {
            // Match masks take more memory than counters.
            Err(_) if method == RankMethod::Match => fit_method(desc, subgroup, RankMethod::Ballot),
            fitted => fitted,
        }
    }
}

/// Elements per invocation of a window of long rows at most, in registers: compilers for AMD's GPUs spill 28.
const MOST_TOP_ITEMS: u32 = 16;

impl Shape {
    /// The longest segment on a CPU, if segments beyond a block are listed.
    pub(crate) fn most_listed(&self, profile: &DeviceProfile, request: &SortRequest) -> Option<u32> {
        let (windows, counting) = (self.windows.filter(|_| profile.is_cpu)?, self.histogram.block.invocations);
        match (windows.rounds > 0, windows.lists_rows()) {
            (true, _) => Some(loop_budget::most_split(&self.ranking, self.passes, windows.block, request)),
            (_, true) => Some(loop_budget::most_narrowed(&self.ranking, self.passes, windows.block, request, counting)),
            _ => None,
        }
    }
}

/// The largest number up to `most` that fits, where `least` fits, and with a number all below it.
pub(crate) fn largest(least: u32, most: u32, fits: impl Fn(u32) -> bool) -> u32 {
    let (mut fitting, mut largest, mut next) = (least, most, most);
    while fitting < largest {
        if fits(next) {
            fitting = next
        } else {
            largest = next - 1
        }
        next = largest - (largest - fitting) / 2;
    }
    fitting
}

/// Items of an invocation where keys have so many words: unrolled loops hold them in registers.
fn per_key_word(quirks: &Quirks, items: u32, key_words: u32) -> u32 {
    let items = if quirks.keep_loops { items } else { items / key_words };
    items.clamp(1, MAX_ITEMS)
}

/// The shape with a ranking method.
fn fit_method(desc: &ShapeDesc<'_>, subgroup: Subgroup, method: RankMethod) -> Result<Shape, Error> {
    let &ShapeDesc { profile, tuning, request, quirks, .. } = desc;
    let limits = Limits::new(profile, &subgroup);
    limits.check(profile)?;
    let widest = widest_digit(profile, tuning.digit_bits, &subgroup, limits.granularity);
    let (passes, digit_bits) = share_bits(profile, request.bits, widest);
    let key_words = request.key.words();
    let staged_items = tuning.staged_items.map_or(MAX_ITEMS, |items| per_key_word(&quirks, items, key_words));
    let ranking = Ranking { subgroup, method, key_words, digit_bits, staged_items };
    let fit = Fit { desc, ranking, passes, limits };

    let wished = fit.wished_tile();
    let tile = fit.tile(wished);
    let most_ring_bits = most_ring_bits(profile, digit_bits);
    let ring_bits = desc.ring_bits.map_or(most_ring_bits, |bits| bits.min(most_ring_bits));
    let windows = request.segments.map(|segments| fit.windows(&segments, (tile, ring_bits))).transpose()?;
    let shape = Shape {
        ranking,
        passes,
        tile,
        tile_blocks: if profile.is_cpu { loop_budget::most_blocks(&ranking, tile).min(MAX_BLOCKS) } else { MAX_BLOCKS },
        single: fit.single(wished.items),
        histogram: fit.histogram(),
        scan_workgroup_size: counting(profile, tuning.scan_workgroup_size),
        knobs: tuning.knobs(request, method),
        polls: {
            let polls = tuning.polls.max(1);
            if profile.is_cpu { polls.min(loop_budget::most_polls(&ranking, tile)) } else { polls }
        },
        ring_bits,
        quirks,
        fixed_subgroups: match subgroup.emulated || profile.full_subgroups {
            true => FixedSubgroups::No,
            false => profile.fixed_subgroups,
        },
        min_tiles: tuning.min_tiles.max(1),
        max_workgroups: profile.max_workgroups.max(1),
        addressed: desc.addressed,
        visits: desc.visits,
        windows,
        finish: fit.finish(tile),
        fields: desc.fields,
        small_storage: profile.small_storage && !quirks.no_aliased_views,
        specializes_on_host: match desc.specialization {
            Specialization::Auto => quirks.weak_specialization,
            specialization => specialization == Specialization::Host,
        },
        // Emulated subgroup operations need all invocations.
        subgroups_rest: !quirks.wide_subgroup_barriers && !subgroup.emulated,
        withhold: desc.withhold,
    };
    let needed = shape.shared_bytes();
    if needed > profile.max_shared_bytes {
        let (given, needed) = (format!("{} bytes", profile.max_shared_bytes), format!("{needed} bytes"));
        return Err(Error::unsuitable(&profile.name, "shared memory", given, needed));
    }
    Ok(shape)
}

/// The limits of workgroups that rank.
#[derive(Clone, Copy)]
struct Limits {
    /// Workgroup size granularity. If subgroups are emulated, they also fill the device's own: lavapipe of
    /// Mesa 22.3 loses lanes of a subgroup that is not full, after a branch with barriers that no workgroup takes.
    granularity: u32,
    /// The largest workgroup, in invocations.
    invocations: u32,
}

impl Limits {
    fn new(profile: &DeviceProfile, subgroup: &Subgroup) -> Limits {
        let (own, most) = (profile.subgroup_size, profile.max_workgroup_invocations);
        let fills = subgroup.emulated && own.is_power_of_two() && own <= most.min(128);
        Limits {
            granularity: if fills { subgroup.size.max(own) } else { subgroup.size },
            invocations: match subgroup.emulated {
                true => most,
                false => most.min(subgroup.size.saturating_mul(profile.max_workgroup_subgroups)),
            },
        }
    }

    /// Refuses a device whose workgroups hold no subgroup.
    fn check(&self, profile: &DeviceProfile) -> Result<(), Error> {
        if self.invocations >= self.granularity {
            return Ok(());
        }
        let given = format!("{} invocations", self.invocations);
        let needed = format!("{} invocations, one subgroup", self.granularity);
        Err(Error::unsuitable(&profile.name, "workgroup size limit", given, needed))
    }

    /// The block, with its workgroup halved, then its items, until it fits. The smallest may not.
    fn reduce(&self, mut block: Block, fits: impl Fn(Block) -> bool) -> Block {
        while block.invocations > self.invocations || !fits(block) {
            if block.invocations >= 2 * self.granularity {
                block.invocations = block.invocations / 2 / self.granularity * self.granularity;
            } else if block.items > 1 {
                block.items /= 2;
            } else {
                break;
            }
        }
        block
    }
}

/// The parts of a shape, each fitted to the device by itself.
struct Fit<'a> {
    desc: &'a ShapeDesc<'a>,
    ranking: Ranking,
    passes: u32,
    limits: Limits,
}

impl Fit<'_> {
    /// The block that a tuning wishes for, before limits reduce it.
    fn wished(&self, invocations: u32, items: u32) -> Block {
        let (granularity, key_words) = (self.limits.granularity, self.ranking.key_words);
        let subgroups = invocations.clamp(granularity, MAX_INVOCATIONS) / granularity;
        let items = per_key_word(&self.desc.quirks, items, key_words);
        match self.ranking.method {
            // Private counters are added up within one subgroup.
            RankMethod::Private => {
                Block { invocations: granularity, items: (items * subgroups).min(HELD_WORDS / key_words) }
            }
            _ => {
                let mut block = Block { invocations: subgroups * granularity, items };
                // Where loops are kept, arrays of items are copied when functions take them. The kernels of private counters have
                // no such functions; for the others, more invocations take the place of items.
                while self.desc.quirks.keep_loops && block.items > MAX_COPIED_ITEMS {
                    let most = MAX_INVOCATIONS / granularity * granularity;
                    block = Block { invocations: (2 * block.invocations).min(most), items: block.items / 2 };
                }
                block
            }
        }
    }

    /// The tile that the tuning wishes for, within the loop budget of CPUs.
    fn wished_tile(&self) -> Block {
        let ShapeDesc { tuning, request, capacity, .. } = self.desc;
        let items = if request.value.size_bytes() == 0 { tuning.items_keys } else { tuning.items_pairs };
        // A row is a sort of its own, of which the last tile should not be small beside the others.
        let most = match request.segments.map(|segments| segments.layout) {
            Some(Segments::Rows { stride }) => Some(stride),
            _ => *capacity,
        };
        let few = |few: &u32| {
            // Keys of several words were not measured.
            self.ranking.key_words == 1
                && most.is_some_and(|most| most <= (FEW_TILES * tuning.workgroup_size).saturating_mul(*few))
        };
        let items = tuning.few_items.filter(few).map_or(items, |few| items.min(few));
        self.within_budget(self.wished(tuning.workgroup_size, items))
    }

    fn within_budget(&self, tile: Block) -> Block {
        if self.desc.profile.is_cpu { loop_budget::reduce_items(&self.ranking, tile) } else { tile }
    }

    /// The workgroup that ranks and scatters.
    fn tile(&self, wished: Block) -> Block {
        let fits = |tile: Block| self.fits(tile, self.ranking.tile_bytes(tile));
        // In a smaller workgroup, an invocation has more digits.
        self.within_budget(self.limits.reduce(wished, fits))
    }

    /// Whether a block of this many bytes fits shared memory.
    fn fits(&self, block: Block, bytes: u32) -> bool {
        bytes <= self.desc.profile.max_shared_bytes && self.ranking.has_ranks_for(block)
    }

    /// The single workgroup: as few invocations as a block of at most `tile_items` needs, then as many items as fit.
    fn single(&self, tile_items: u32) -> Block {
        let &ShapeDesc { profile, tuning, request, .. } = self.desc;
        let fits = |single: Block| self.fits(single, self.ranking.single_bytes(single));
        let wished = self.wished(tuning.single_workgroup_size.unwrap_or(tuning.workgroup_size), tuning.single_items);
        let few = Block { items: wished.items.min(tile_items), ..wished };
        let Block { invocations, .. } = self.limits.reduce(few, fits);
        let items = largest(1, wished.items, |items| {
            let single = Block { invocations, items };
            let in_budget = !profile.is_cpu || loop_budget::allows_single(&self.ranking, self.passes, single, request);
            fits(single) && in_budget
        });
        Block { invocations, items }
    }

    /// How a sort that may end with a finish sorts runs. Its two passes leave the elements where an even number of passes does, which is
    /// where they belong.
    fn finish(&self, tile: Block) -> Option<Finish> {
        let &ShapeDesc { profile, tuning, request, algorithm, .. } = self.desc;
        let tiles = tuning.finish_tiles?;
        let reached = self.desc.capacity.is_none_or(|capacity| capacity.div_ceil(tile.elements()) >= tiles);
        let whole = request.bits == BitRange::from(0..request.key.bits()) && request.key.bits() >= u32::BITS;
        let served = self.ranking.staged()
            && self.ranking.digit_bits == USUAL_DIGIT_BITS
            && self.passes.is_multiple_of(2)
            && algorithm == Algorithm::OneSweep
            && [0, 4].contains(&request.value.sorted_bytes())
            && request.segments.is_none()
            && self.desc.visits == Visits::default()
            && self.desc.fields.is_none();
        let key_words = self.ranking.key_words;
        let wished = self.wished(tuning.workgroup_size, tuning.segment_items);
        let window = self.limits.reduce(wished, |window| finish_bytes(window, key_words) <= profile.max_shared_bytes);
        let bytes = finish_bytes(window, key_words).max(histogram_bytes(self.passes + 2, self.ranking.digit_bits));
        let has_room = bytes <= profile.max_shared_bytes;
        // Of more elements, uniform runs are longer than half a window of any device.
        let longest = |count| window.elements() + count / abi::FINISH_SHARE;
        let fits = |count| loop_budget::allows_run(window, longest(count), profile.is_cpu);
        let most = largest(1, 1 << 27, fits);
        let serves = reached && whole && served && has_room && window.items > 1 && window.elements() < 1 << 16;
        (serves && tiles.saturating_mul(tile.elements()) <= most).then_some(Finish { window, tiles, most })
    }

    /// The workgroups that count digits.
    fn histogram(&self) -> Histogram {
        let &ShapeDesc { profile, tuning, .. } = self.desc;
        let wished = counting(profile, tuning.histogram_workgroup_size);
        let invocations = match self.ranking.method {
            RankMethod::Private => wished.max(self.ranking.subgroup.size).min(self.limits.invocations),
            _ => wished,
        };
        // A size with which the device can run the workgroup in full subgroups.
        let subgroup_size = tuning.histogram_subgroup_size.filter(|&size| {
            // Wider keys take more registers, so that drivers choose smaller subgroups.
            self.ranking.key_words <= 2
                && profile.full_subgroups
                && size.is_power_of_two()
                && (profile.subgroup_range.0..=profile.subgroup_range.1).contains(&size)
                && invocations.is_multiple_of(size)
                && invocations / size <= profile.max_workgroup_subgroups
        });
        Histogram { block: Block { invocations, items: tuning.histogram_items.clamp(1, MAX_ITEMS) }, subgroup_size }
    }
}

/// Invocations of a workgroup that counts digits or scans counts.
fn counting(profile: &DeviceProfile, wished: u32) -> u32 {
    wished.min(profile.max_workgroup_invocations).clamp(1, MAX_INVOCATIONS)
}

/// Bits of the number of slots of a ring: on GPUs it takes 4 MiB with its anchors and the counters, on CPUs what a descriptor reaches.
fn most_ring_bits(profile: &DeviceProfile, digit_bits: u32) -> u32 {
    const TABLE_BYTES: u64 = (4 << 20) - (64 << 10);
    let (bytes, most) = match profile.is_cpu {
        true => (profile.max_storage_range_bytes, CPU_RING_BITS),
        false => (TABLE_BYTES, MAX_RING_BITS),
    };
    let slots = bytes / u64::from((4 * abi::SLOT_WORDS) << digit_bits);
    // Each four slots come with an anchor.
    (slots / 5 * 4).max(1).ilog2().min(most)
}

/// The preferred ranking method, or one that suits the device, the elements and their access.
fn choose_rank(desc: &ShapeDesc<'_>, subgroup: &Subgroup) -> RankMethod {
    let own_modules = !subgroup.emulated && !desc.addressed;
    let narrow = subgroup.size <= MAX_PRIVATE_LANES;
    match desc.tuning.rank {
        RankMethod::Private if own_modules && narrow && SOFTWARE_DRIVERS => RankMethod::Private,
        // Each emulated ballot takes three barriers of the workgroup, for every bit of a digit.
        _ if subgroup.emulated => RankMethod::Match,
        RankMethod::Match => RankMethod::Match,
        RankMethod::Compare if subgroup.size <= MAX_COMPARED_LANES => RankMethod::Compare,
        _ => RankMethod::Ballot,
    }
}

/// Bits of the widest digit, up to the preferred ones, whose counters for the smallest workgroup fit shared memory.
fn widest_digit(profile: &DeviceProfile, wished: u32, subgroup: &Subgroup, invocations: u32) -> u32 {
    let subgroups = invocations / subgroup.size;
    let emulation = if subgroup.emulated { invocations + 4 * subgroups } else { 0 };
    // Counters of each subgroup, bases, and each subgroup's sums of digits.
    let bytes = |bits: u32| {
        let radix = 1u32 << bits;
        4 * ((subgroups + 1) * radix + radix.div_ceil(invocations) * subgroups + abi::SHARED_LOOSE_WORDS + emulation)
    };
    // On CPUs, the fewest invocations of a workgroup are those of a subgroup.
    let takes_long = |bits: u32| profile.is_cpu && 1 << bits > loop_budget::MAX_DIGITS_EACH * subgroup.size;
    let fits = |bits: u32| bytes(bits) <= profile.max_shared_bytes && (bits <= USUAL_DIGIT_BITS || !takes_long(bits));
    largest(1, wished.clamp(1, MAX_DIGIT_BITS), fits)
}

/// Passes for the window, and the bits of the widest digit: as few passes as possible, their digits as even as possible.
///
/// Digits of more than 8 bits cost every pass more counters; they are used where they save one pass in four or more.
fn share_bits(profile: &DeviceProfile, window: BitRange, most: u32) -> (u32, u32) {
    let digit_bits = |passes: u32| window.len().div_ceil(passes.max(1)).max(1);
    // The counters have tickets and routes for MAX_PASSES passes.
    let most = most.max(window.len().div_ceil(abi::MAX_PASSES));
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

/// The device's own subgroups, or emulated ones.
///
/// # Errors
///
/// As for [`Shape::fit`].
pub(crate) fn choose_subgroup(desc: &ShapeDesc<'_>) -> Result<Subgroup, Error> {
    let &ShapeDesc { profile, tuning, .. } = desc;
    let (smallest, largest) = profile.subgroup_range;
    let size = match tuning.subgroup_size {
        Some(size) if (smallest..=largest).contains(&size) => size,
        _ => profile.subgroup_size,
    };
    let serves = |size: u32| size.is_power_of_two() && (4..=128).contains(&size);
    // Without full subgroups, a driver may leave lanes empty, and the mapping of lanes to elements breaks.
    let full = profile.has_full_subgroups();
    let sure = profile.subgroup_operations && full && serves(size);
    match desc.subgroup {
        SubgroupChoice::Auto | SubgroupChoice::Native if sure => Ok(Subgroup { size, emulated: false }),
        SubgroupChoice::Auto => Ok(Subgroup { size: EMULATED_DEFAULT, emulated: true }),
        SubgroupChoice::Native => {
            let operations = profile.subgroup_operations;
            let given = format!("size {size}, ballot, shuffle and arithmetic {operations}, full subgroups {full}");
            let needed = "a power of two from 4 to 128 with ballot, shuffle, arithmetic and full subgroups";
            Err(Error::unsuitable(&profile.name, "subgroup support in compute shaders", given, needed))
        }
        SubgroupChoice::Emulated(size) if serves(size) => Ok(Subgroup { size, emulated: true }),
        SubgroupChoice::Emulated(size) => {
            Err(Error::unsupported("emulated subgroup size", size, "a power of two from 4 to 128"))
        }
    }
}
