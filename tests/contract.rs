//! The contract of `abi` read back from the SPIR-V: bindings, specialization constants, push constants, capabilities,
//! shared memory.

use std::collections::BTreeMap;

use rspirv::binary::parse_words;
use rspirv::dr::{Instruction, Loader, Module, Operand};
use rspirv::spirv::{Capability, Decoration, Op, StorageClass};
use vksort::abi::{self, Push, Ranking, spec};

fn modules() -> impl Iterator<Item = (abi::Module, Module)> {
    abi::modules().into_iter().enumerate().map(|(index, description)| {
        let words = vksort::module_words(index).unwrap();
        let mut loader = Loader::new();
        parse_words(&words, &mut loader).unwrap_or_else(|error| panic!("{}: {error}", description.name()));
        (description, loader.module())
    })
}

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

fn by_id(module: &Module) -> BTreeMap<u32, &Instruction> {
    module.types_global_values.iter().filter_map(|value| Some((value.result_id?, value))).collect()
}

/// Bindings that a module's kernel is to use, in ascending order.
fn expected_bindings(description: &abi::Module) -> Vec<u32> {
    let (counters, table, count) = (abi::BINDING_COUNTERS, abi::BINDING_TABLE, abi::BINDING_COUNT);
    let mut all: Vec<u32> = match description.kernel {
        "arguments" | "histogram" | "ties" | "mend" | "move" => vec![counters, count],
        "single_workgroup" | "gather" => vec![count],
        _ => vec![counters, table, count],
    };
    if !description.addressed {
        all.extend(match description.kernel {
            "arguments" | "scan" => vec![],
            "histogram" | "bounds" | "ties" | "count" => vec![abi::BINDING_KEYS],
            "gather" => vec![abi::BINDING_VALUES],
            _ => vec![abi::BINDING_KEYS, abi::BINDING_VALUES],
        });
    }
    all.sort_unstable();
    all
}

#[test]
fn modules_use_exactly_the_bindings_of_their_kernel() {
    for (description, module) in modules() {
        let values = by_id(&module);
        let mut bindings = Vec::new();
        for (id, binding) in decorations(&module, Decoration::Binding) {
            // An array of descriptors has one for each place; small elements are other views of the same.
            let pointer = values[&values[&id].result_type.unwrap()];
            let pointee = values[&pointer.operands[1].unwrap_id_ref()];
            let by_place = [abi::BINDING_KEYS, abi::BINDING_VALUES].contains(&binding);
            assert_eq!(pointee.class.opcode == Op::TypeArray, by_place, "{}: {binding}", description.name());
            if by_place {
                let length = values[&pointee.operands[1].unwrap_id_ref()];
                assert_eq!(length.operands[0], Operand::LiteralBit32(abi::PLACES), "{}", description.name());
            }
            bindings.push(binding);
        }
        bindings.sort_unstable();
        bindings.dedup();
        assert_eq!(bindings, expected_bindings(&description), "{}", description.name());
        assert!(decorations(&module, Decoration::DescriptorSet).into_values().all(|set| set == 0));
    }
}

#[test]
fn specialization_constants_have_the_contract_s_ids_and_defaults() {
    for (description, module) in modules() {
        let ids = decorations(&module, Decoration::SpecId);
        let values = by_id(&module);
        let mut found: Vec<u32> = ids.values().copied().collect();
        found.sort_unstable();
        found.dedup();
        for (id, spec_id) in &ids {
            let (name, default) = abi::SPECIALIZATION[*spec_id as usize];
            assert_eq!(values[id].operands[0], Operand::LiteralBit32(default), "{}: {name}", description.name());
        }
        // What the host must be able to set is there.
        let mut needed = vec![spec::WORKGROUP_SIZE];
        let digits = [spec::RADIX_BITS, spec::PASSES, spec::WINDOW_LOW, spec::WINDOW_BITS, spec::KEY_FLIP];
        let method = if description.ranking == Ranking::Private { spec::STAGED } else { spec::RANK_METHOD };
        let ranking = [spec::SUBGROUP_SIZE, spec::ITEMS, spec::POOL_WORDS, method];
        needed.extend(match description.kernel {
            "arguments" => vec![spec::MAX_WORKGROUPS],
            "bounds" => [&digits[..], &[spec::REACH, spec::MAX_WORKGROUPS]].concat(),
            "ties" => [&digits[1..], &[spec::ITEMS, spec::MAX_WORKGROUPS]].concat(),
            "mend" => [&digits[1..], &[spec::VALUE_BITS]].concat(),
            "finish" => [&digits[..], &ranking, &[spec::BUCKET_BITS, spec::DISCARD_KEYS]].concat(),
            "scan" => vec![],
            "move" => vec![spec::PASSES, spec::VALUE_BITS],
            "gather" => vec![spec::VALUE_BITS],
            "histogram" => {
                let kinds = [spec::IN_PLACE, spec::DISCARD_KEYS, spec::INDEX_VALUES, spec::JOIN_INDEX];
                [&digits[..], &kinds, &[spec::SKIP, spec::REACH, spec::LEADING]].concat()
            }
            "count" if description.ranking == Ranking::Private => [&digits[..], &[spec::JOIN_INDEX]].concat(),
            "count" => [&digits[..], &[spec::JOIN_INDEX, spec::MERGE_RUNS]].concat(),
            "onesweep" => {
                [&digits[..], &ranking, &[spec::STAGED, spec::JOIN_INDEX, spec::POLLS, spec::WITHHOLD]].concat()
            }
            "scatter" => [&digits[..], &ranking, &[spec::STAGED, spec::JOIN_INDEX]].concat(),
            _ => [&digits[..], &ranking].concat(),
        });
        for id in needed {
            let name = abi::SPECIALIZATION[id].0;
            assert!(found.contains(&(id as u32)), "{} lacks {name}", description.name());
        }
    }
}

#[test]
fn the_workgroup_size_is_specialized() {
    for (description, module) in modules() {
        let ids = decorations(&module, Decoration::SpecId);
        let values = by_id(&module);
        let size = values.values().find(|value| value.class.opcode == Op::SpecConstantComposite);
        let size = size.unwrap_or_else(|| panic!("{} has a fixed workgroup size", description.name()));
        let x = size.operands[0].unwrap_id_ref();
        assert_eq!(ids.get(&x), Some(&(spec::WORKGROUP_SIZE as u32)), "{}", description.name());
    }
}

#[test]
fn push_constants_are_the_words_of_push() {
    for (description, module) in modules() {
        let values = by_id(&module);
        for variable in values.values().filter(|value| value.class.opcode == Op::Variable) {
            if variable.operands[0] != Operand::StorageClass(StorageClass::PushConstant) {
                continue;
            }
            let pointer = values[&variable.result_type.unwrap()];
            let block_id = pointer.operands[1].unwrap_id_ref();
            let block = values[&block_id];
            assert_eq!(block.operands.len(), Push::FIELDS.len() + Push::ADDRESSES.len(), "{}", description.name());
            for member in module.annotations.iter().filter(|a| a.class.opcode == Op::MemberDecorate) {
                if member.operands[0].unwrap_id_ref() == block_id
                    && member.operands[2] == Operand::Decoration(Decoration::Offset)
                {
                    let index = member.operands[1].unwrap_literal_bit32();
                    let words = Push::FIELDS.len() as u32;
                    let addresses = index.saturating_sub(words) * (2 * abi::PLACES - 1);
                    let offset = 4 * (index + addresses);
                    assert_eq!(member.operands[3].unwrap_literal_bit32(), offset, "{}", description.name());
                }
            }
        }
    }
    let push = Push {
        count: 1,
        count_word: 2,
        pass: 3,
        part: 4,
        histogram_part: 5,
        portion: 6,
        portion_tiles: 7,
        route: 8,
        phase: 9,
        segment: 10,
        keys_at: [0xC_0000_000B, 0xE_0000_000D, 0x10_0000_000F],
        values_at: [0x12_0000_0011, 0x14_0000_0013, 0x16_0000_0015],
    };
    assert_eq!(push.words().to_vec(), (1..=22).collect::<Vec<u32>>());
    assert_eq!(Push::SIZE_BYTES as usize, size_of_val(&push.words()));
    assert_eq!(size_of::<Push>(), size_of_val(&push.words()), "a member of Push is in no table");
}

#[test]
fn variants_need_no_capabilities_but_their_own() {
    let subgroup = [Capability::GroupNonUniform, Capability::GroupNonUniformBallot, Capability::GroupNonUniformShuffle];
    let small = [
        Capability::StorageBuffer8BitAccess,
        Capability::UniformAndStorageBuffer8BitAccess,
        Capability::StorageBuffer16BitAccess,
        Capability::UniformAndStorageBuffer16BitAccess,
    ];
    let (indexing, addresses) =
        (Capability::StorageBufferArrayDynamicIndexing, Capability::PhysicalStorageBufferAddresses);
    for (description, module) in modules() {
        let ranks = ["onesweep", "finish", "scatter", "single_workgroup"].contains(&description.kernel);
        let native = ranks && !description.emulated;
        let partitioned = description.ranking == Ranking::Partitioned;
        let private = description.ranking == Ranking::Private;
        let adds = [Capability::GroupNonUniform, Capability::GroupNonUniformArithmetic];
        let used: Vec<Capability> =
            module.capabilities.iter().map(|instruction| instruction.operands[0].unwrap_capability()).collect();
        for capability in &used {
            let allowed = *capability == Capability::Shader
                || native && subgroup.contains(capability)
                || private && adds.contains(capability)
                || partitioned && *capability == Capability::GroupNonUniformPartitionedNV
                || description.small && small.contains(capability)
                || !description.addressed && *capability == indexing
                || description.addressed && *capability == addresses;
            assert!(allowed, "{} needs {capability:?}", description.name());
        }
        let partition = used.contains(&Capability::GroupNonUniformPartitionedNV);
        assert_eq!(partition, partitioned, "{}", description.name());
        let ballots = native && !partitioned;
        assert_eq!(ballots, used.contains(&subgroup[1]), "{}", description.name());
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
            Op::ShiftRightLogical => operand(1) >> operand(2),
            Op::ULessThan => u32::from(operand(1) < operand(2)),
            Op::Select => operand(if operand(1) != 0 { 2 } else { 3 }),
            other => panic!("operation {other:?} on specialization constants"),
        },
        other => panic!("constant of {other:?}"),
    }
}

#[test]
fn shared_memory_is_what_the_host_reckons() {
    use vksort::{Algorithm, DeviceProfile, KeyType, Shape, SortRequest, SubgroupChoice, Tuning};
    let profile = DeviceProfile { vendor_id: 0x10DE, max_shared_bytes: 49152, ..DeviceProfile::default() };
    let tuning = Tuning::for_device(&profile);
    for (description, module) in modules() {
        let choice = if description.emulated { SubgroupChoice::Emulated(64) } else { SubgroupChoice::Native };
        let request = SortRequest::new(KeyType::U32);
        let shape = Shape::fit(&profile, &tuning, &request, Algorithm::OneSweep, choice).unwrap();
        let mut set = abi::SPECIALIZATION.map(|(_, default)| default);
        set[spec::WORKGROUP_SIZE] = shape.workgroup_size;
        set[spec::SUBGROUP_SIZE] = shape.subgroup.size;
        let by_itself = ["finish", "single_workgroup"].contains(&description.kernel);
        set[spec::ITEMS] = if by_itself { shape.single_items } else { shape.items };
        set[spec::POOL_WORDS] = shape.pool_words(shape.workgroup_size * set[spec::ITEMS]);
        set[spec::PASSES] = shape.passes;
        set[spec::REACH] = shape.reach();
        set[spec::BUCKET_BITS] = shape.bucket_bits();
        let (ids, values) = (decorations(&module, Decoration::SpecId), by_id(&module));
        let shared: u32 = values
            .values()
            .filter(|value| value.class.opcode == Op::Variable)
            .filter(|value| value.operands[0] == Operand::StorageClass(StorageClass::Workgroup))
            .map(|value| words_of(values[&value.result_type.unwrap()].operands[1].unwrap_id_ref(), &values, &ids, &set))
            .sum();
        let reckoned = match description.kernel {
            "histogram" => shape.histogram_shared_bytes(),
            // The single workgroup may have a larger pool than others.
            _ => shape.shared_bytes() - 4 * (shape.pool_words(shape.single_block()) - set[spec::POOL_WORDS]),
        };
        assert!(4 * shared <= reckoned, "{}: {} of {reckoned}", description.name(), 4 * shared);
        if ["onesweep", "histogram"].contains(&description.kernel) {
            assert!(4 * shared + 64 > reckoned, "{} is reckoned with too much", description.name());
        }
    }
}
