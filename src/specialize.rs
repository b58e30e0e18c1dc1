//! From request and shape to the specification of a pipeline: a module, and the values of its specialization constants.

use crate::abi::{self, spec};
use crate::kernels::{self, Group, Kernel, Module};
use crate::modules;
use crate::profile::FixedSubgroups;
use crate::request::{SortRequest, ValueType};
use crate::segments::IndexFrom;
use crate::shape::{Ranking, Shape};
use crate::tuning::RankMethod;
use crate::visitor::Visits;

/// The specification of a pipeline. Pipelines of one device with equal specifications are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KernelSpec {
    /// The kernel, which may have the modules of another one.
    pub kernel: Kernel,
    /// The SPIR-V module.
    pub module: Module,
    /// Value of each specialization constant; the default if the module does not have it.
    pub constants: [u32; spec::LEN],
    /// The required size of full subgroups, if the pipeline requires them.
    pub subgroup_size: Option<u32>,
    /// Whether the module is given to the driver as SPIR-V 1.6, in which subgroups are full without being required.
    pub spirv_1_6: bool,
    /// Whether the driver is asked to keep loops that the kernel asks to unroll.
    pub keep_loops: bool,
    /// Whether the host folds the constants into the module.
    pub specializes_on_host: bool,
}

/// The specification of a kernel's pipeline.
pub(crate) fn specialize(kernel: Kernel, shape: &Shape, request: &SortRequest) -> KernelSpec {
    let module = module(kernel, shape, request);
    let wanted = constants(kernel, shape, request);
    let has = match shape.visits == Visits::default() {
        true => modules::specialized(&module),
        // The caller's code may use others.
        false => [true; spec::LEN],
    };
    let native = kernel.row().variants.subgroups && !shape.ranking.subgroup.emulated;
    let required = native && shape.fixed_subgroups == FixedSubgroups::No;
    KernelSpec {
        kernel,
        constants: std::array::from_fn(|id| if has[id] { wanted[id] } else { abi::SPECIALIZATION[id].1 }),
        subgroup_size: match kernel {
            Kernel::Histogram => shape.histogram.subgroup_size,
            _ => required.then_some(shape.ranking.subgroup.size),
        },
        spirv_1_6: native && shape.fixed_subgroups == FixedSubgroups::Spirv16,
        // The histogram unrolls a loop over few digits. With private counters it has no branch for each.
        keep_loops: match kernel {
            Kernel::Histogram => shape.quirks.slow_unrolled_branches && module.ranking != kernels::Ranking::Private,
            _ => shape.quirks.keep_loops,
        },
        specializes_on_host: shape.specializes_on_host,
        module,
    }
}

/// The module that holds a kernel in the variant for a request.
fn module(kernel: Kernel, shape: &Shape, request: &SortRequest) -> Module {
    let narrow = |bytes: u64| (1..4).contains(&bytes);
    let small = narrow(request.key.size_bytes()) || narrow(request.value.size_bytes());
    Module {
        kernel,
        key_words: shape.ranking.key_words,
        small: small && shape.small_storage,
        emulated: shape.ranking.subgroup.emulated,
        ranking: match shape.ranking.method {
            RankMethod::Private => kernels::Ranking::Private,
            RankMethod::Ballot | RankMethod::Match | RankMethod::Compare => kernels::Ranking::Chosen,
        },
        addressed: shape.addressed,
    }
    .closest()
}

/// The value of every specialization constant.
fn constants(kernel: Kernel, shape: &Shape, request: &SortRequest) -> [u32; spec::LEN] {
    let (group, short) = (kernel.row().group, shape.windows.and_then(|windows| windows.short));
    let (workgroup_size, items) = match group {
        Group::One => (1, 1),
        Group::Counting => (shape.histogram.block.invocations, 1),
        Group::Scanning => (shape.scan_workgroup_size, 1),
        Group::Tile => (shape.tile.invocations, shape.tile.items),
        Group::Single => (shape.single.invocations, shape.single.items),
        Group::Window => shape.windows.map_or((1, 1), |windows| (windows.block.invocations, windows.block.items)),
        Group::Short => (short.map_or(1, |short| short.invocations), 1),
        Group::Runs => shape.finish.map_or((1, 1), |finish| (finish.window.invocations, finish.window.items)),
    };
    // If values are gathered, their indices move with the keys.
    let (value_bytes, index) = match kernel {
        // Children have indices as values.
        Kernel::Children => (request.value.size_bytes(), false),
        _ if [Kernel::Gather, Kernel::Verify].contains(&kernel) || [Group::Window, Group::Short].contains(&group) => {
            (request.value.size_bytes(), request.value == ValueType::Index)
        }
        _ => (request.value.sorted_bytes(), request.value.sorts_index()),
    };
    let (top_flip_negative, low_flip_negative) = request.key.top_and_low(request.key.code(request.order).flip_negative);

    let mut values = abi::SPECIALIZATION.map(|(_, default)| default);
    values[spec::WORKGROUP_SIZE] = workgroup_size;
    values[spec::SUBGROUP_SIZE] = shape.ranking.subgroup.size;
    values[spec::ITEMS] = items;
    values[spec::POOL_WORDS] = match group {
        Group::Single => shape.ranking.single_pool_words(shape.single),
        _ => shape.ranking.tile_pool_words(shape.tile),
    };
    values[spec::RANK_METHOD] = match shape.ranking.method {
        RankMethod::Ballot | RankMethod::Private => abi::RANK_BALLOT,
        RankMethod::Match => abi::RANK_MATCH,
        RankMethod::Compare => abi::RANK_COMPARE,
    };
    values[spec::RADIX_BITS] = shape.ranking.digit_bits;
    values[spec::PASSES] = shape.passes.max(1);
    values[spec::WINDOW_BITS] = request.bits.len();
    // Without bits there may be no word of the key at that bit.
    values[spec::WINDOW_LOW] = if request.bits.is_empty() { 0 } else { request.bits.low };
    values[spec::KEY_BITS] = request.key.bits();
    values[spec::KEY_FLIP_NEGATIVE] = top_flip_negative;
    values[spec::LOW_FLIP_NEGATIVE] = low_flip_negative;
    values[spec::VALUE_BITS] = 8 * value_bytes as u32;
    values[spec::INDEX_VALUES] = index.into();
    values[spec::IN_PLACE] = request.in_place().into();
    values[spec::DISCARD_KEYS] = request.discards_keys().into();
    values[spec::GATHER_SPLITS] = shape.gather_splits(request.value);
    values[spec::POLLS] = shape.polls;
    values[spec::RING_BITS] = shape.ring_bits;
    values[spec::MAX_WORKGROUPS] = shape.max_workgroups;
    values[spec::WITHHOLD] = shape.withhold;
    values[spec::FINISHES] = shape.finish.is_some().into();
    values[spec::SUBGROUPS_REST] = shape.subgroups_rest.into();
    for (constant, value) in shape.knobs {
        values[constant] = value;
    }
    if let (Kernel::Compose, Some(fields)) = (kernel, shape.fields) {
        values[spec::VALUE_BITS] = 8 * fields.stride;
        let ids = [spec::FIELD_0, spec::FIELD_1, spec::FIELD_2, spec::FIELD_3];
        for (id, constant) in ids.into_iter().zip(fields.constants) {
            values[id] = constant;
        }
    }
    if let Some(windows) = shape.windows {
        values[spec::SEGMENT_LAYOUT] = windows.layout();
        values[spec::TOP] = windows.top;
        if windows.index_from == IndexFrom::Segment && index {
            values[spec::INDEX_VALUES] = abi::INDEX_OF_SEGMENT;
        }
        values[spec::SPLITS] = (windows.rounds > 0 || windows.lists_rows()).into();
        values[spec::OF_ROWS] = windows.sweeps.into();
    }
    if kernel == Kernel::Inspect && shape.windows.is_none() {
        values[spec::SEGMENT_LAYOUT] = abi::LAYOUT_WHOLE;
    }
    if let (Group::Short, Some(short)) = (group, short) {
        values[spec::NETWORK_BITS] = short.slot_bits;
    }
    if kernel == Kernel::Narrow {
        // Digits of keys that it looks at are not whole bytes.
        values[spec::RADIX_BITS] = abi::TOP_DIGIT_BITS;
    }
    if let (Group::Window, Some(windows)) = (group, shape.windows) {
        let ranking = Ranking { digit_bits: windows.digit_bits, ..shape.ranking };
        values[spec::RADIX_BITS] = ranking.digit_bits;
        values[spec::POOL_WORDS] = ranking.single_pool_words(windows.block);
        // The number of a segment is above the slot of its element, and order between equal numbers is all that is left of the keys.
        values[spec::FEW_REGISTERS] = 0;
        values[spec::UNORDERED] = 0;
        values[spec::NETWORK_BITS] = windows.network_bits;
        values[spec::SEGMENT_LAYOUT] = match kernel {
            Kernel::Segments => windows.layout(),
            Kernel::Finish => abi::LAYOUT_SURVIVORS,
            _ => abi::LAYOUT_CHILDREN,
        };
        if kernel.of_modules() == Kernel::Split {
            let ranking = Ranking { digit_bits: abi::SPLIT_BITS, ..shape.ranking };
            values[spec::RADIX_BITS] = ranking.digit_bits;
            // Stages that move no elements have no use for the pool.
            let scatters = kernel == Kernel::Split;
            values[spec::POOL_WORDS] = if scatters { ranking.single_pool_words(windows.block) } else { 1 };
            // Digits are whole bytes if the window is, whatever its passes are.
            values[spec::PASSES] = abi::SPLIT_BITS;
            values[spec::SPLIT_STAGE] = match kernel {
                Kernel::SplitCount => abi::SPLIT_COUNTS,
                Kernel::SplitScan => abi::SPLIT_SCANS,
                Kernel::SplitMove => abi::SPLIT_MOVES,
                _ => abi::SPLIT_SCATTERS,
            };
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::KERNELS;
    use crate::key::{KeyType, Order};
    use crate::profile::DeviceProfile;
    use crate::request::{Algorithm, BitRange, KeyOutput};
    use crate::shape::{ShapeDesc, SubgroupChoice};
    use crate::tuning::Tuning;

    fn spec(kernel: Kernel, request: &SortRequest, with: impl Fn(&mut Tuning)) -> KernelSpec {
        let profile = DeviceProfile { subgroup_size: 8, subgroup_range: (8, 8), ..DeviceProfile::default() };
        let mut tuning = Tuning::for_device(&profile);
        with(&mut tuning);
        let shape = Shape::fit(&ShapeDesc::new(&profile, &tuning, request, Algorithm::OneSweep)).unwrap();
        specialize(kernel, &shape, request)
    }

    #[test]
    fn constants_say_what_the_request_asks_for() {
        let request = SortRequest::new(KeyType::F32)
            .value(ValueType::Index)
            .order(Order::Descending)
            .bits(3..27)
            .key_output(KeyOutput::Discarded);
        let spec = spec(Kernel::OneSweep, &request, |_| {});
        let value = |id: usize| spec.constants[id];
        let numbers = [spec::WINDOW_BITS, spec::PASSES, spec::KEY_BITS, spec::VALUE_BITS];
        assert_eq!(numbers.map(value), [24, 3, 32, 32]);
        assert_eq!([spec::INDEX_VALUES, spec::DISCARD_KEYS].map(value), [1, 1]);
        assert_eq!(value(spec::KEY_FLIP_NEGATIVE), 0x7FFF_FFFF, "negative floats are ordered by their complement");
        assert_eq!((spec.subgroup_size, spec.module.name().as_str()), (Some(8), "onesweep_32"));
    }

    /// They are push constants.
    #[test]
    fn order_and_place_of_the_window_make_no_other_pipeline() {
        for key in KeyType::ALL.iter().copied() {
            let windows = [0..4, 3..7, key.bits() - 4..key.bits()].map(BitRange::from);
            let of = |order, bits| {
                let request = SortRequest::new(key).order(order).bits(bits);
                KERNELS.iter().map(|row| spec(row.kernel, &request, |_| {})).collect::<Vec<_>>()
            };
            let usual = of(Order::Ascending, windows[0]);
            assert!(usual == of(Order::Descending, windows[0]), "{}", key.name());
            // In keys of several words, the window says which of them a digit is in.
            let one_word = key.bits() <= 32;
            for bits in &windows[1..] {
                assert_eq!(usual == of(Order::Ascending, *bits), one_word, "{} {bits}", key.name());
            }
        }
    }

    #[test]
    fn kernels_differ_only_by_the_constants_that_they_have() {
        let keys = SortRequest::new(KeyType::U32);
        let pairs = keys.value(ValueType::U32);
        let same = |kernel| spec(kernel, &keys, |_| {}) == spec(kernel, &pairs, |_| {});
        assert!(same(Kernel::Scan) && same(Kernel::Arguments) && same(Kernel::Count));
        assert!(!same(Kernel::OneSweep) && !same(Kernel::SingleWorkgroup) && !same(Kernel::Histogram));
        let polls = |kernel| spec(kernel, &keys, |_| {}) == spec(kernel, &keys, |tuning| tuning.polls = 99);
        assert!(!polls(Kernel::OneSweep) && polls(Kernel::Scatter) && polls(Kernel::SingleWorkgroup));
    }

    #[test]
    fn every_kernel_has_a_module_and_its_workgroup_size() {
        let profile = DeviceProfile::default();
        let tuning = Tuning { histogram_workgroup_size: 96, scan_workgroup_size: 160, ..Tuning::for_device(&profile) };
        for key in KeyType::ALL.iter().copied() {
            for subgroup in [SubgroupChoice::Native, SubgroupChoice::Emulated(16)] {
                let request = SortRequest::new(key).value(ValueType::Bytes(2));
                let desc = ShapeDesc { subgroup, ..ShapeDesc::new(&profile, &tuning, &request, Algorithm::OneSweep) };
                let shape = Shape::fit(&desc).unwrap();
                for row in KERNELS {
                    let spec = specialize(row.kernel, &shape, &request);
                    let size = spec.constants[spec::WORKGROUP_SIZE];
                    let expected = match row.group {
                        Group::One => 1,
                        Group::Counting => 96,
                        Group::Scanning => 160,
                        Group::Tile => shape.tile.invocations,
                        Group::Single => shape.single.invocations,
                        Group::Window | Group::Short | Group::Runs => 1, // no segments are sorted, and no runs
                    };
                    assert_eq!(size, expected, "{}", spec.module.name());
                    let native = row.variants.subgroups && subgroup == SubgroupChoice::Native;
                    assert_eq!(spec.subgroup_size.is_some(), native, "{}", spec.module.name());
                }
            }
        }
    }
}
