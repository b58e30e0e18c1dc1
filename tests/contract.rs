//! The contract of `abi` read back from the SPIR-V: bindings, specialization constants, push constants, capabilities,
//! shared memory; and the SPIR-V kept in the repository against the one that was built.

use std::collections::BTreeMap;
use std::path::Path;

use rspirv::binary::parse_words;
use rspirv::dr::{Instruction, Loader, Module, Operand};
use rspirv::spirv::{Capability, Decoration, Op, StorageClass};
use vksort::abi::{self, Push, spec};

fn modules() -> impl Iterator<Item = (&'static abi::Module, Module)> {
    abi::MODULES.iter().zip(vksort::MODULES).map(|(description, bytes)| {
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let mut loader = Loader::new();
        parse_words(&words, &mut loader).unwrap_or_else(|error| panic!("{}: {error}", description.name));
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
    let values: &[u32] = match description.value_words {
        0 => &[],
        _ => &[abi::BINDING_VALUES_IN, abi::BINDING_VALUES_OUT],
    };
    let own: &[u32] = match description.source {
        "histogram.comp" => &[abi::BINDING_KEYS_IN, abi::BINDING_COUNTERS],
        "count.comp" => &[abi::BINDING_KEYS_IN, abi::BINDING_TABLE],
        "scan.comp" => &[abi::BINDING_COUNTERS, abi::BINDING_TABLE],
        "single_workgroup.comp" => &[abi::BINDING_KEYS_IN, abi::BINDING_KEYS_OUT],
        _ => &[abi::BINDING_KEYS_IN, abi::BINDING_KEYS_OUT, abi::BINDING_COUNTERS, abi::BINDING_TABLE],
    };
    let mut all = [own, values].concat();
    all.sort_unstable();
    all
}

#[test]
fn modules_use_exactly_the_bindings_of_their_kernel() {
    for (description, module) in modules() {
        let mut bindings: Vec<u32> = decorations(&module, Decoration::Binding).into_values().collect();
        bindings.sort_unstable();
        assert_eq!(bindings, expected_bindings(description), "{}", description.name);
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
            assert_eq!(values[id].operands[0], Operand::LiteralBit32(default), "{}: {name}", description.name);
        }
        // What the host must be able to set is there.
        let mut needed = vec![spec::WORKGROUP_SIZE];
        needed.extend(match description.source {
            "scan.comp" => vec![],
            "histogram.comp" => vec![spec::ITEMS, spec::RADIX_BITS, spec::PASSES, spec::KEY_FLIP],
            "count.comp" => vec![spec::ITEMS, spec::RADIX_BITS, spec::KEY_FLIP, spec::KEY_FLIP_NEGATIVE],
            "onesweep.comp" => {
                vec![spec::SUBGROUP_SIZE, spec::POOL_WORDS, spec::POLLS, spec::WITHHOLD, spec::RANK_METHOD]
            }
            _ => vec![spec::SUBGROUP_SIZE, spec::POOL_WORDS, spec::RANK_METHOD],
        });
        for id in needed {
            let name = abi::SPECIALIZATION[id].0;
            assert!(found.contains(&(id as u32)), "{} lacks {name}", description.name);
        }
    }
}

#[test]
fn the_workgroup_size_is_specialized() {
    for (description, module) in modules() {
        let ids = decorations(&module, Decoration::SpecId);
        let values = by_id(&module);
        let size = values.values().find(|value| value.class.opcode == Op::SpecConstantComposite);
        let size = size.unwrap_or_else(|| panic!("{} has a fixed workgroup size", description.name));
        let x = size.operands[0].unwrap_id_ref();
        assert_eq!(ids.get(&x), Some(&(spec::WORKGROUP_SIZE as u32)), "{}", description.name);
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
            assert_eq!(block.operands.len(), Push::FIELDS.len(), "{}", description.name);
            for member in module.annotations.iter().filter(|a| a.class.opcode == Op::MemberDecorate) {
                if member.operands[0].unwrap_id_ref() == block_id
                    && member.operands[2] == Operand::Decoration(Decoration::Offset)
                {
                    let index = member.operands[1].unwrap_literal_bit32();
                    assert_eq!(member.operands[3].unwrap_literal_bit32(), 4 * index, "{}", description.name);
                }
            }
        }
    }
    let push = Push { count: 1, tiles: 2, pass: 3, shift: 4, blocks: 5 };
    assert_eq!(push.words(), [1, 2, 3, 4, 5]);
    assert_eq!(Push::SIZE_BYTES as usize, size_of_val(&push.words()));
    assert_eq!(size_of::<Push>(), size_of_val(&push.words()), "a member of Push is not in FIELDS");
}

#[test]
fn only_native_ranking_needs_subgroup_capabilities_and_nothing_needs_more() {
    let subgroup = [Capability::GroupNonUniform, Capability::GroupNonUniformBallot, Capability::GroupNonUniformShuffle];
    for (description, module) in modules() {
        let ranks = ["onesweep.comp", "scatter.comp", "single_workgroup.comp"].contains(&description.source);
        let used: Vec<Capability> =
            module.capabilities.iter().map(|instruction| instruction.operands[0].unwrap_capability()).collect();
        for capability in &used {
            let native = ranks && !description.emulated && subgroup.contains(capability);
            assert!(native || *capability == Capability::Shader, "{} needs {capability:?}", description.name);
        }
        assert_eq!(ranks && !description.emulated, used.contains(&subgroup[1]), "{}", description.name);
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
            Op::IAdd => operand(1).wrapping_add(operand(2)),
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
        set[spec::ITEMS] = shape.items;
        set[spec::POOL_WORDS] = shape.pool_words();
        let (ids, values) = (decorations(&module, Decoration::SpecId), by_id(&module));
        let shared: u32 = values
            .values()
            .filter(|value| value.class.opcode == Op::Variable)
            .filter(|value| value.operands[0] == Operand::StorageClass(StorageClass::Workgroup))
            .map(|value| words_of(values[&value.result_type.unwrap()].operands[1].unwrap_id_ref(), &values, &ids, &set))
            .sum();
        assert!(4 * shared <= shape.shared_bytes(), "{}: {} of {}", description.name, 4 * shared, shape.shared_bytes());
        if description.source == "onesweep.comp" {
            assert!(4 * shared + 64 > shape.shared_bytes(), "{} is reckoned with too much", description.name);
        }
    }
}

/// Only where the GLSL was compiled does this prove anything: without the feature, the kept modules are the built ones.
#[test]
fn kept_spirv_is_what_the_glsl_compiles_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv");
    if !folder.is_dir() {
        println!("skipped: {} is not here", folder.display());
        return;
    }
    for (description, built) in abi::MODULES.iter().zip(vksort::MODULES) {
        let file = folder.join(format!("{}.spv", description.name));
        let kept = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(kept == *built, "{} is not what the GLSL compiles to; run scripts/spirv.sh", file.display());
    }
}
