//! The contract of `abi` read back from the SPIR-V: bindings, specialization constants, push constants, capabilities,
//! shared memory.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::binary::parse_words;
use rspirv::dr::{Instruction, Loader, Module, Operand};
use rspirv::spirv::{BuiltIn, Capability, Decoration, Op, StorageClass};
use vksort::__private::abi::{self, Own, Push, spec};
use vksort::__private::kernels::{self, Binding, Kernel, Ranking, Usage, Variants};
use vksort::__private::steps::{self, HostStep};
use vksort::__private::{ShapeDesc, checksum, module_words, vendor};
use vksort::{Algorithm, Count, DeviceProfile, KeyType, Placement, Segments, SortRequest, Tuning, ValueType};

fn modules() -> impl Iterator<Item = (kernels::Module, Module)> {
    kernels::modules().into_iter().map(|description| {
        let words = module_words(&description).unwrap();
        let mut loader = Loader::new();
        parse_words(&words, &mut loader).unwrap_or_else(|error| panic!("{}: {error}", description.name()));
        (description, loader.module())
    })
}

/// The addresses before the single words of the push constants.
const ADDRESSES: u32 = 4;

/// Values of one decoration by the id they decorate.
fn decorations(module: &Module, wanted: Decoration) -> BTreeMap<u32, u32> {
    let mut found = BTreeMap::new();
    for annotation in module.annotations.iter().filter(|annotation| annotation.class.opcode == Op::Decorate) {
        if annotation.operands[1] == Operand::Decoration(wanted)
            && let Operand::LiteralBit32(value) = annotation.operands[2]
        {
            found.insert(annotation.operands[0].unwrap_id_ref(), value);
        }
    }
    found
}

/// Variables that have a decoration, be it on themselves or on the members of their block.
fn decorated(module: &Module, wanted: Decoration) -> Vec<u32> {
    let values = by_id(module);
    let of = |annotation: &&Instruction| annotation.operands.contains(&Operand::Decoration(wanted));
    let ids: Vec<u32> = module.annotations.iter().filter(of).map(|one| one.operands[0].unwrap_id_ref()).collect();
    let block = |id: u32| {
        let pointee = values[&values[&id].result_type?].operands[1].unwrap_id_ref();
        match values[&pointee].class.opcode {
            Op::TypeArray => Some(values[&pointee].operands[0].unwrap_id_ref()),
            _ => Some(pointee),
        }
    };
    let variables =
        values.values().filter(|value| value.class.opcode == Op::Variable).filter_map(|value| value.result_id);
    variables.filter(|id| ids.contains(id) || block(*id).is_some_and(|block| ids.contains(&block))).collect()
}

fn by_id(module: &Module) -> BTreeMap<u32, &Instruction> {
    module.types_global_values.iter().filter_map(|value| Some((value.result_id?, value))).collect()
}

/// The bindings of keys and values.
const ELEMENTS: &[u32] =
    &[abi::BINDING_KEYS_FROM, abi::BINDING_KEYS_TO, abi::BINDING_VALUES_FROM, abi::BINDING_VALUES_TO];

/// The number of a binding.
fn number_of(binding: Binding) -> u32 {
    match binding {
        Binding::KeysFrom => abi::BINDING_KEYS_FROM,
        Binding::KeysTo => abi::BINDING_KEYS_TO,
        Binding::ValuesFrom => abi::BINDING_VALUES_FROM,
        Binding::ValuesTo => abi::BINDING_VALUES_TO,
        Binding::Counters => abi::BINDING_COUNTERS,
        Binding::Table => abi::BINDING_TABLE,
        Binding::Segments => abi::BINDING_SEGMENTS,
    }
}

/// What a module may read and write at each binding by its kernel's row. By address, elements have no bindings.
fn said(description: &kernels::Module) -> BTreeMap<u32, (bool, bool)> {
    let uses = description.kernel.row().uses.iter();
    let bound = uses.map(|(binding, usage)| (number_of(*binding), (*usage != Usage::Write, *usage != Usage::Read)));
    bound.filter(|(number, _)| !description.addressed || !ELEMENTS.contains(number)).collect()
}

/// What the instructions of a module do to each binding: whether any reads it, and whether any writes it.
fn used_bindings(module: &Module) -> BTreeMap<u32, (bool, bool)> {
    let bindings = decorations(module, Decoration::Binding);
    // The binding that each pointer points into.
    let mut pointers = bindings.clone();
    let mut used: BTreeMap<u32, (bool, bool)> = BTreeMap::new();
    for instruction in module.functions.iter().flat_map(|function| function.all_inst_iter()) {
        let opcode = instruction.class.opcode;
        let Some(Operand::IdRef(first)) = instruction.operands.first() else { continue };
        let Some(&binding) = pointers.get(first) else { continue };
        let (reads, writes) = match opcode {
            Op::AccessChain => {
                pointers.insert(instruction.result_id.unwrap(), binding);
                continue;
            }
            Op::Load | Op::AtomicLoad => (true, false),
            Op::Store | Op::AtomicStore => (false, true),
            _ if format!("{opcode:?}").starts_with("Atomic") => (true, true),
            other => panic!("{other:?} on a storage buffer"),
        };
        let entry = used.entry(binding).or_default();
        *entry = (entry.0 || reads, entry.1 || writes);
    }
    used
}

/// Barriers are derived from the rows of the kernels. So a row says all that a module does, and nothing that none of its modules
/// does.
#[test]
fn rows_say_what_kernels_read_and_write() {
    let mut done: BTreeMap<&str, BTreeMap<u32, (bool, bool)>> = BTreeMap::new();
    for (description, module) in modules() {
        let said = said(&description);
        let used = used_bindings(&module);
        for (binding, (reads, writes)) in used {
            if binding == abi::BINDING_COUNT {
                assert!(!writes, "{} writes the caller's count", description.name());
                continue;
            }
            let (may_read, may_write) = said.get(&binding).copied().unwrap_or_default();
            assert!(!reads || may_read, "{} reads binding {binding}", description.name());
            assert!(!writes || may_write, "{} writes binding {binding}", description.name());
            let all = done.entry(description.kernel.name()).or_default().entry(binding).or_default();
            *all = (all.0 || reads, all.1 || writes);
        }
        // Validation layers see what a module only reads. Views of what a kernel writes are not all written by each module.
        let read_only = decorated(&module, Decoration::NonWritable);
        let stores = said.iter().any(|(binding, (_, writes))| ELEMENTS.contains(binding) && *writes);
        for (id, binding) in decorations(&module, Decoration::Binding) {
            let writes =
                if ELEMENTS.contains(&binding) { stores } else { said.get(&binding).is_some_and(|said| said.1) };
            assert_eq!(read_only.contains(&id), !writes, "{}: binding {binding} read-only", description.name());
        }
    }
    for row in kernels::KERNELS {
        let module = kernels::modules().into_iter().find(|module| module.kernel == row.kernel.of_modules()).unwrap();
        let (name, said) = (row.kernel.name(), said(&module));
        assert_eq!(done.get(module.kernel.name()), Some(&said), "{name}: what its modules do, and their row");
        // A kernel with the modules of another one does a part of what these do.
        for (binding, usage) in row.uses {
            let (reads, writes) = said[&number_of(*binding)];
            assert!((reads || *usage == Usage::Write) && (writes || *usage == Usage::Read), "{name}: {binding:?}");
        }
    }
}

#[test]
fn modules_use_exactly_the_bindings_of_their_kernel() {
    for (description, module) in modules() {
        let values = by_id(&module);
        let mut bindings = Vec::new();
        for (id, binding) in decorations(&module, Decoration::Binding) {
            // A binding is one buffer; small elements are other views of the same.
            let pointer = values[&values[&id].result_type.unwrap()];
            let pointee = values[&pointer.operands[1].unwrap_id_ref()];
            assert_eq!(pointee.class.opcode, Op::TypeStruct, "{}: {binding}", description.name());
            bindings.push(binding);
        }
        bindings.sort_unstable();
        bindings.dedup();
        // Where longer segments are has been found by then, as many as there are.
        let count = (description.kernel != Kernel::Split).then_some(abi::BINDING_COUNT);
        let mut expected: Vec<u32> = said(&description).into_keys().chain(count).collect();
        expected.sort_unstable();
        assert_eq!(bindings, expected, "{}", description.name());
        assert!(decorations(&module, Decoration::DescriptorSet).into_values().all(|set| set == 0));
    }
}

#[test]
fn specialization_constants_have_the_contract_s_ids_and_defaults() {
    let mut used = [false; spec::LEN];
    for (description, module) in modules() {
        let values = by_id(&module);
        for (id, spec_id) in decorations(&module, Decoration::SpecId) {
            let (name, default) = abi::SPECIALIZATION[spec_id as usize];
            assert_eq!(values[&id].operands[0], Operand::LiteralBit32(default), "{}: {name}", description.name());
            used[spec_id as usize] = true;
        }
    }
    for ((name, _), used) in abi::SPECIALIZATION.iter().zip(used) {
        assert!(used, "no kernel has {name}");
    }
}

#[test]
fn the_workgroup_size_is_specialized() {
    for (description, module) in modules() {
        let ids = decorations(&module, Decoration::SpecId);
        let built_in = [Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(BuiltIn::WorkgroupSize)];
        let size = module.annotations.iter().find(|annotation| annotation.operands[1..] == built_in);
        let size = size.unwrap_or_else(|| panic!("{} has a fixed workgroup size", description.name()));
        let x = by_id(&module)[&size.operands[0].unwrap_id_ref()].operands[0].unwrap_id_ref();
        assert_eq!(ids.get(&x), Some(&(spec::WORKGROUP_SIZE as u32)), "{}", description.name());
    }
}

/// The push constants of a module: the type of their block, if it has one.
fn push_block(module: &Module) -> Option<u32> {
    let values = by_id(module);
    let is_push = |value: &&&Instruction| {
        value.class.opcode == Op::Variable && value.operands[0] == Operand::StorageClass(StorageClass::PushConstant)
    };
    let pointer = values.values().find(is_push)?.result_type?;
    Some(values[&pointer].operands[1].unwrap_id_ref())
}

#[test]
fn push_constants_are_the_words_of_push() {
    for (description, module) in modules() {
        let Some(block_id) = push_block(&module) else { continue };
        let block = by_id(&module)[&block_id];
        assert_eq!(block.operands.len(), Push::members(true), "{}", description.name());
        for member in module.annotations.iter().filter(|a| a.class.opcode == Op::MemberDecorate) {
            if member.operands[0].unwrap_id_ref() == block_id
                && member.operands[2] == Operand::Decoration(Decoration::Offset)
            {
                let index = member.operands[1].unwrap_literal_bit32();
                // Addresses come first, of two words each.
                let offset = 4 * (index + index.min(ADDRESSES));
                assert_eq!(member.operands[3].unwrap_literal_bit32(), offset, "{}", description.name());
            }
        }
    }
    let own = Own::Split { capacity: 12, row_length: 13, most_windows: 14, most_parents: 15, most_rows: 16 };
    let addresses = [0x2_0000_0001, 0x4_0000_0003, 0x6_0000_0005, 0x8_0000_0007];
    let push = Push { addresses, count: 9, count_word: 10, pass: 11, own, window_low: 17, key_flip: 18, low_flip: 19 };
    assert_eq!(push.words(None)[..Push::WORDS].to_vec(), (1..=19).collect::<Vec<u32>>());
    for (name, place) in own.places() {
        assert_eq!(push.words(None)[Push::FIRST_OWN + *place as usize], 12 + place, "{name}");
    }
    const { assert!(Push::SIZE_BYTES <= 128, "no more than 128 bytes are sure to be had") };
}

/// The words of a step's own that a module loads, by their places.
fn own_words_of(module: &Module) -> BTreeSet<u32> {
    let (values, Some(block)) = (by_id(module), push_block(module)) else { return BTreeSet::new() };
    let of_block = |id: u32| {
        let variable = values.get(&id).filter(|value| value.class.opcode == Op::Variable)?;
        (values[&variable.result_type?].operands[1].unwrap_id_ref() == block).then_some(())
    };
    let first = Push::FIRST_OWN as u32 - ADDRESSES;
    let chains = module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions);
    chains
        .filter(|chain| chain.class.opcode == Op::AccessChain && of_block(chain.operands[0].unwrap_id_ref()).is_some())
        .map(|chain| values[&chain.operands[1].unwrap_id_ref()].operands[0].unwrap_literal_bit32())
        .filter_map(|member| member.checked_sub(first).filter(|place| *place < 5))
        .collect()
}

#[test]
fn kernels_load_only_those_words_of_their_own_that_their_steps_have() {
    let profile = DeviceProfile { vendor_id: vendor::NVIDIA, max_shared_bytes: 49_152, ..DeviceProfile::default() };
    let mut given = BTreeMap::<_, BTreeSet<u32>>::new();
    let tuning = Tuning::for_device(&profile);
    let keys = SortRequest::new(KeyType::U32);
    let values = keys.value(ValueType::Bytes(64)).placement(Placement::OutOfPlace);
    let mut requests = vec![keys, values, values.placement(Placement::InPlace), keys.bits(0..8)];
    requests.extend([Segments::Offsets, Segments::Rows { stride: 1 << 20 }].map(|layout| keys.segments(layout)));
    requests.extend([8, 64].map(|longest| keys.segments(Segments::Offsets).up_to(longest)));
    for layout in [Segments::Offsets, Segments::Rows { stride: 1 << 20 }] {
        requests.push(keys.value(ValueType::Index).placement(Placement::OutOfPlace).segments(layout).top(40));
    }
    let finished = Tuning { finish_tiles: Some(1), ..tuning.clone() };
    let tunings = |request: &SortRequest| if request == &keys { vec![&tuning, &finished] } else { vec![&tuning] };
    for request in requests {
        for (algorithm, tuning) in
            Algorithm::ALL.iter().flat_map(|all| tunings(&request).into_iter().map(move |t| (all, t)))
        {
            let desc = ShapeDesc::new(&profile, tuning, &request, *algorithm);
            let sort = match request.segments {
                None => steps::of(
                    &desc,
                    if algorithm == &Algorithm::SingleWorkgroup { 1000 } else { 1 << 20 },
                    Count::Device,
                ),
                Some(_) => steps::of_segments(&desc, 1 << 20, 100, Count::Device),
            };
            let steps = sort.unwrap().steps;
            for dispatch in steps.iter().filter_map(|step| match step {
                HostStep::Dispatch(dispatch) => Some(dispatch),
                HostStep::Clear { .. } => None,
            }) {
                let places = dispatch.push.own.places().iter().map(|(_, place)| place);
                given.entry(dispatch.module.kernel.name()).or_default().extend(places);
            }
        }
    }
    // Records, verifiers and inspectors take steps of their own.
    let place_of = |own: Own| own.places().iter().map(|(_, place)| *place).collect();
    given.insert("compose", place_of(Own::Compose { part: 0, composes_all: 0 }));
    given.insert("verify", place_of(Own::Verify { workgroups: 0, checks: 0, verify_stage: 0 }));
    given.insert("inspect", place_of(Own::Inspect { capacity: 0, row_length: 0, longest: 0 }));
    let mut loaded = 0;
    for (description, module) in modules() {
        let (words, name) = (own_words_of(&module), description.name());
        let given = given.get(description.kernel.name()).unwrap_or_else(|| panic!("no step runs {name}"));
        assert!(words.is_subset(given), "{name} loads {words:?} of {given:?}");
        loaded += words.len();
    }
    assert!(loaded > modules().count(), "only {loaded} words are loaded");
}

/// Drivers lay shared variables out in the order in which functions name them. Where another variable than the pool came first,
/// RADV and anv of Mesa 25 and 26 took up to 4 % more instructions, because its accesses had offsets that rule out wide accesses.
#[test]
fn the_pool_is_the_first_shared_variable() {
    let mut pools = 0;
    for (description, module) in modules() {
        let (ids, values) = (decorations(&module, Decoration::SpecId), by_id(&module));
        let shared = |value: &&Instruction| {
            value.class.opcode == Op::Variable && value.operands[0] == Operand::StorageClass(StorageClass::Workgroup)
        };
        let is_pool = |value: &Instruction| {
            let array = values[&values[&value.result_type.unwrap()].operands[1].unwrap_id_ref()];
            array.class.opcode == Op::TypeArray
                && ids.get(&array.operands[1].unwrap_id_ref()) == Some(&(spec::POOL_WORDS as u32))
        };
        let places: Vec<bool> = module.types_global_values.iter().filter(shared).map(is_pool).collect();
        let Variants { subgroups, private, .. } = description.kernel.row().variants;
        let staged = subgroups && private && description.ranking != Ranking::Private;
        // The variables of emulated subgroups are whole vectors, and move nothing.
        if staged && !description.emulated {
            assert!(places[0], "{}: the pool is not the first shared variable", description.name());
            pools += 1;
        }
    }
    assert!(pools > 0, "no module has a pool");
}

#[test]
fn variants_need_no_capabilities_but_their_own() {
    let subgroup = [
        Capability::GroupNonUniform,
        Capability::GroupNonUniformArithmetic,
        Capability::GroupNonUniformBallot,
        Capability::GroupNonUniformShuffle,
    ];
    let small = [
        Capability::StorageBuffer8BitAccess,
        Capability::UniformAndStorageBuffer8BitAccess,
        Capability::StorageBuffer16BitAccess,
        Capability::UniformAndStorageBuffer16BitAccess,
    ];
    let addresses = Capability::PhysicalStorageBufferAddresses;
    for (description, module) in modules() {
        let Variants { subgroups, private: ranks, .. } = description.kernel.row().variants;
        let native = subgroups && !description.emulated;
        let private = description.ranking == Ranking::Private;
        let adds = [Capability::GroupNonUniform, Capability::GroupNonUniformArithmetic];
        let used: Vec<Capability> =
            module.capabilities.iter().map(|instruction| instruction.operands[0].unwrap_capability()).collect();
        for capability in &used {
            let allowed = *capability == Capability::Shader
                || native && subgroup.contains(capability)
                || private && adds.contains(capability)
                || description.small && small.contains(capability)
                || description.addressed && *capability == addresses;
            assert!(allowed, "{} needs {capability:?}", description.name());
        }
        // What ranks elements asks which lanes have a digit; what only moves them between lanes does not.
        let asks = native && ranks;
        assert_eq!(asks, used.contains(&Capability::GroupNonUniformBallot), "{}", description.name());
        let shuffles = native && !ranks;
        assert!(!shuffles || used.contains(&Capability::GroupNonUniformShuffle), "{}", description.name());
    }
}

/// Length of an array type for given specialization values, in words.
fn words_of(id: u32, values: &BTreeMap<u32, &Instruction>, ids: &BTreeMap<u32, u32>, set: &[u32; spec::LEN]) -> u32 {
    let instruction = values[&id];
    match instruction.class.opcode {
        Op::TypeInt | Op::TypeFloat | Op::TypeBool => 1,
        Op::TypeArray => {
            let element = words_of(instruction.operands[0].unwrap_id_ref(), values, ids, set);
            element * number(instruction.operands[1].unwrap_id_ref(), values, ids, set)
        }
        other => panic!("shared memory of type {other:?}"),
    }
}

/// Value of a (specialization) constant.
fn number(id: u32, values: &BTreeMap<u32, &Instruction>, ids: &BTreeMap<u32, u32>, set: &[u32; spec::LEN]) -> u32 {
    let instruction = values[&id];
    let operand = |index: usize| number(instruction.operands[index].unwrap_id_ref(), values, ids, set);
    match instruction.class.opcode {
        Op::Constant => instruction.operands[0].unwrap_literal_bit32(),
        Op::SpecConstant => set[ids[&id] as usize],
        Op::SpecConstantOp => match instruction.operands[0].unwrap_literal_spec_constant_op_integer() {
            Op::ShiftLeftLogical => operand(1) << operand(2),
            Op::IMul => operand(1) * operand(2),
            Op::UDiv => operand(1) / operand(2),
            Op::UMod => operand(1) % operand(2),
            Op::IAdd => operand(1).wrapping_add(operand(2)),
            Op::ISub => operand(1).wrapping_sub(operand(2)),
            Op::ShiftRightLogical => operand(1) >> operand(2),
            Op::ULessThan => u32::from(operand(1) < operand(2)),
            Op::UGreaterThan => u32::from(operand(1) > operand(2)),
            Op::IEqual => u32::from(operand(1) == operand(2)),
            Op::INotEqual => u32::from(operand(1) != operand(2)),
            Op::Select => operand(if operand(1) != 0 { 2 } else { 3 }),
            other => panic!("operation {other:?} on specialization constants"),
        },
        other => panic!("constant of {other:?}"),
    }
}

#[test]
fn shared_memory_is_what_the_host_computes() {
    use vksort::__private::{Shape, ShapeDesc};
    use vksort::{Algorithm, DeviceProfile, KeyType, Segments, SortRequest, SubgroupChoice, Tuning};
    let profile = DeviceProfile { vendor_id: 0x10DE, max_shared_bytes: 49152, ..DeviceProfile::default() };
    let tuning = Tuning::for_device(&profile);
    let finished = Tuning { finish_tiles: Some(1), ..tuning.clone() };
    for (description, module) in modules() {
        let finishes = [Kernel::Sample, Kernel::Runs, Kernel::Histogram].contains(&description.kernel)
            && description.ranking != Ranking::Private;
        let of_segments = [Kernel::Segments, Kernel::Split].contains(&description.kernel);
        let mut request = SortRequest::new(KeyType::U32);
        if of_segments {
            request = request.segments(Segments::Offsets);
        }
        let subgroup = if description.emulated { SubgroupChoice::Emulated(64) } else { SubgroupChoice::Native };
        let desc = ShapeDesc {
            subgroup,
            ..ShapeDesc::new(&profile, if finishes { &finished } else { &tuning }, &request, Algorithm::OneSweep)
        };
        let shape = Shape::fit(&desc).unwrap();
        let mut set = abi::SPECIALIZATION.map(|(_, default)| default);
        set[spec::SUBGROUP_SIZE] = shape.ranking.subgroup.size;
        let by_itself = match description.kernel {
            Kernel::SingleWorkgroup | Kernel::Sample => Some(shape.single),
            Kernel::Runs => shape.finish.map(|finish| finish.window),
            _ => shape.windows.map(|windows| windows.block),
        };
        (set[spec::WORKGROUP_SIZE], set[spec::ITEMS], set[spec::POOL_WORDS]) = match by_itself {
            Some(block) => (block.invocations, block.items, shape.ranking.single_pool_words(block)),
            None => (shape.tile.invocations, shape.tile.items, shape.ranking.tile_pool_words(shape.tile)),
        };
        set[spec::PASSES] = shape.passes;
        set[spec::FINISHES] = finishes.into();
        set[spec::VALUE_BITS] = 32;
        set[spec::RADIX_BITS] = shape.windows.map_or(set[spec::RADIX_BITS], |windows| windows.digit_bits);
        if of_segments {
            set[spec::SEGMENT_LAYOUT] = abi::LAYOUT_CHILDREN;
        }
        let (ids, values) = (decorations(&module, Decoration::SpecId), by_id(&module));
        let shared: u32 = values
            .values()
            .filter(|value| value.class.opcode == Op::Variable)
            .filter(|value| value.operands[0] == Operand::StorageClass(StorageClass::Workgroup))
            .map(|value| words_of(values[&value.result_type.unwrap()].operands[1].unwrap_id_ref(), &values, &ids, &set))
            .sum();
        let reckoned = match description.kernel {
            Kernel::Histogram => vksort::__private::histogram_bytes(shape.digits(), shape.ranking.digit_bits),
            Kernel::SingleWorkgroup => shape.ranking.single_bytes(shape.single),
            Kernel::Sample | Kernel::Runs => {
                vksort::__private::finish_bytes(shape.finish.unwrap().window, description.key_words)
            }
            Kernel::Segments | Kernel::Split => shape.shared_bytes(),
            _ => shape.ranking.tile_bytes(shape.tile),
        };
        assert!(4 * shared <= reckoned, "{}: {} of {reckoned}", description.name(), 4 * shared);
        let exact = [Kernel::OneSweep, Kernel::Histogram].contains(&description.kernel);
        if exact && description.ranking != Ranking::Private {
            assert!(4 * shared + 64 > reckoned, "{} is reckoned with too much", description.name());
        }
    }
}

/// Compiled visitors of an earlier version are taken by [`abi::KERNELS`] alone.
#[test]
fn the_number_of_the_contract_is_raised_with_it() {
    let now = format!("{} {:016x}", abi::KERNELS, checksum(abi::glsl(None).as_bytes()));
    assert_eq!(
        include_str!("contracts.txt").lines().next_back(),
        Some(&*now),
        "abi.glsl has changed. If compiled visitors no longer work beside the host and the other kernels, abi::KERNELS is raised, \
         which a patch release may not do. Then the last line of tests/host/contracts.txt becomes the number and the digest"
    );
}
