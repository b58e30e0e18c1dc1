//! Every kernel module is rewritten with drawn constants, and held against values from [`reference`] and against the
//! tools of SPIRV-Tools.

mod expressions;
mod malformed;
mod reference;
mod tools;

use rspirv::binary::{Assemble, parse_words};
use rspirv::dr::{Instruction, Loader, Module, Operand};
use rspirv::spirv::{self, BuiltIn, Decoration, ExecutionMode, Op};

use super::constants::Operation;
use super::{Rewrite, code};
use crate::abi;
use reference::Values;

/// The seed of what is drawn (`VKSORT_SEED`), printed for the day a test fails.
fn seed() -> u64 {
    let seed = match std::env::var("VKSORT_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("VKSORT_SEED is {text:?}, allowed is a number")),
        Err(_) => fastrand::u64(..),
    };
    println!("VKSORT_SEED={seed}");
    seed
}

/// The words of every kernel module, with its name.
fn modules() -> impl Iterator<Item = (String, Vec<u32>)> {
    crate::kernels::modules().into_iter().map(|module| (module.name(), crate::modules::words(&module).unwrap()))
}

fn parse(words: &[u32]) -> Module {
    let mut loader = Loader::new();
    parse_words(words, &mut loader).unwrap_or_else(|error| panic!("{error}"));
    loader.module()
}

/// An instruction: its opcode with all operands, results among them.
type Line<'a> = (Op, &'a [u32]);

fn module_of(instructions: &[Line<'_>]) -> Vec<u32> {
    let mut words = vec![spirv::MAGIC_NUMBER, 0x0001_0500, 0, 1000, 0];
    for (opcode, operands) in instructions {
        super::emit(&mut words, *opcode as u16, operands);
    }
    words
}

fn fold(words: &[u32], given: &[u32]) -> Vec<u32> {
    Rewrite { constants: Some(given), ..Rewrite::default() }.apply(words).unwrap_or_else(|error| panic!("{error}"))
}

/// Constants that make valid modules of all kernels, as sorts may have them.
fn drawn_constants(rng: &mut fastrand::Rng) -> Vec<u32> {
    let draw = |(name, default): abi::Named| match name {
        "WORKGROUP_SIZE" => 128 << rng.u32(0..4),
        "SUBGROUP_SIZE" => 4 << rng.u32(0..6),
        "ITEMS" | "PASSES" => rng.u32(1..=32),
        "POOL_WORDS" => rng.u32(3000..8000),
        "RADIX_BITS" => rng.u32(2..=11),
        "WINDOW_BITS" | "KEY_BITS" => 8 << rng.u32(0..5),
        "VALUE_BITS" => [0, 8, 16, 32, 64, 96, 128][rng.usize(0..7)],
        "LOOK_BACK_WORDS" | "GATHER_SPLITS" | "BUCKET_BITS" => rng.u32(2..=8),
        "RANK_METHOD" => rng.u32(0..3),
        _ if name.contains("FLIP") => rng.u32(..),
        _ if default <= 1 => rng.u32(0..2),
        _ => rng.u32(default / 2..2 * default),
    };
    abi::SPECIALIZATION.map(draw).to_vec()
}

fn defaults() -> Vec<u32> {
    abi::SPECIALIZATION.iter().map(|(_, default)| *default).collect()
}

/// What an annotation says, of one target without members.
fn decoration(annotation: &Instruction) -> Option<(Decoration, &[Operand])> {
    match &annotation.operands[..] {
        [Operand::IdRef(_), Operand::Decoration(decoration), rest @ ..] if annotation.class.opcode == Op::Decorate => {
            Some((*decoration, rest))
        }
        _ => None,
    }
}

fn is_workgroup_size(annotation: &Instruction) -> bool {
    decoration(annotation) == Some((Decoration::BuiltIn, &[Operand::BuiltIn(BuiltIn::WorkgroupSize)]))
}

/// The literals of the mode `LocalSize`, of which a kernel has one.
fn local_size(module: &Module) -> [u32; 3] {
    let [mode] = &module.execution_modes[..] else { panic!("{} execution modes", module.execution_modes.len()) };
    assert_eq!(mode.operands[1], Operand::ExecutionMode(ExecutionMode::LocalSize));
    std::array::from_fn(|axis| mode.operands[2 + axis].unwrap_literal_bit32())
}

/// The instruction that a constant should be folded to.
fn folded(old: &Instruction, values: &Values) -> Instruction {
    let value = || values[&old.result_id.expect("constants have an id")].expect("the result is defined");
    let is_bool = |module_type| values.bool_types.contains(&module_type);
    let (opcode, operands) = match old.class.opcode {
        Op::SpecConstantComposite => (Op::ConstantComposite, old.operands.clone()),
        Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstantOp | Op::SpecConstant => {
            match old.result_type.is_some_and(is_bool) {
                true => (if value() != 0 { Op::ConstantTrue } else { Op::ConstantFalse }, vec![]),
                false => (Op::Constant, vec![Operand::LiteralBit32(value())]),
            }
        }
        _ => return old.clone(),
    };
    Instruction::new(opcode, old.result_type, old.result_id, operands)
}

#[test]
fn constants_are_folded_and_nothing_else_changes() {
    let mut rng = fastrand::Rng::with_seed(seed());
    for (name, words) in modules() {
        let before = parse(&words);
        for given in [defaults(), drawn_constants(&mut rng), drawn_constants(&mut rng)] {
            let after = parse(&fold(&words, &given));
            let values = Values::of(&before, &given);
            let mut expected = before.clone();
            expected.types_global_values.iter_mut().for_each(|value| *value = folded(value, &values));
            let size = before.annotations.iter().find(|annotation| is_workgroup_size(annotation));
            let size = values.composite(size.expect("kernels have a size").operands[0].unwrap_id_ref());
            for (axis, part) in size.into_iter().enumerate() {
                expected.execution_modes[0].operands[2 + axis] = Operand::LiteralBit32(part);
            }
            let is_spec_id = |annotation: &Instruction| matches!(decoration(annotation), Some((Decoration::SpecId, _)));
            expected.annotations.retain(|annotation| !is_spec_id(annotation) && !is_workgroup_size(annotation));
            assert!(after.assemble() == expected.assemble(), "{name} with {given:?}");
            // Said once more, without the reference.
            assert_eq!(local_size(&after), [given[abi::spec::WORKGROUP_SIZE], 1, 1], "{name}");
            let of_specialization = |value: &&Instruction| format!("{:?}", value.class.opcode).starts_with("Spec");
            assert_eq!(after.types_global_values.iter().find(of_specialization), None, "{name}");
        }
    }
}

#[test]
fn arrays_have_the_length_that_the_constants_say() {
    let mut given = defaults();
    given[abi::spec::POOL_WORDS] = 7321;
    given[abi::spec::ITEMS] = 19;
    given[abi::spec::RADIX_BITS] = 7;
    let (_, words) = modules().find(|(name, _)| name == "onesweep_32").expect("there is such a module");
    let module = parse(&fold(&words, &given));
    let literal = |id: u32| {
        let constant = module.types_global_values.iter().find(|value| value.result_id == Some(id));
        constant.expect("lengths are constants").operands[0].unwrap_literal_bit32()
    };
    let arrays = module.types_global_values.iter().filter(|value| value.class.opcode == Op::TypeArray);
    let lengths: Vec<u32> = arrays.map(|array| literal(array.operands[1].unwrap_id_ref())).collect();
    for needed in [7321, 19, 1 << 7] {
        assert!(lengths.contains(&needed), "{needed} in {lengths:?}");
    }
}

#[test]
fn a_folded_module_stays_as_it_is() {
    let mut rng = fastrand::Rng::with_seed(seed());
    for (name, words) in modules() {
        let [once, again] = [(); 2].map(|()| drawn_constants(&mut rng));
        let rewrite = |given, words: &[u32]| {
            Rewrite { constants: Some(given), keep_loops: true, declare_aliases: true }.apply(words).unwrap()
        };
        let words = rewrite(&once, &words);
        assert!(rewrite(&again, &words) == words, "{name}");
    }
}

#[test]
fn constants_without_a_value_keep_their_default() {
    for (name, words) in modules() {
        assert!(fold(&words, &[]) == fold(&words, &defaults()), "{name}");
    }
}

#[test]
fn nothing_changes_unless_it_is_asked_for() {
    for (name, words) in modules() {
        assert!(Rewrite::default().apply(&words).unwrap() == words, "{name}");
    }
}

#[test]
fn only_loop_controls_change_when_loops_are_kept() {
    let mut changes = 0;
    for (name, words) in modules() {
        let kept = Rewrite { keep_loops: true, ..Rewrite::default() }.apply(&words).unwrap();
        let mut expected = parse(&words);
        let blocks = expected.functions.iter_mut().flat_map(|function| &mut function.blocks);
        for merge in blocks.flat_map(|block| &mut block.instructions).filter(|i| i.class.opcode == Op::LoopMerge) {
            let control = Operand::LoopControl(spirv::LoopControl::UNROLL);
            if merge.operands[2] == control {
                merge.operands[2] = Operand::LoopControl(spirv::LoopControl::DONT_UNROLL);
                changes += 1;
            }
        }
        assert!(parse(&kept).assemble() == expected.assemble(), "{name}");
    }
    assert!(changes > 0, "no kernel asks to unroll a loop");
}

#[test]
fn buffers_that_may_be_one_memory_are_declared_so() {
    for (description, (name, words)) in crate::kernels::modules().iter().zip(modules()) {
        let rewrite = Rewrite { declare_aliases: true, ..Rewrite::default() };
        let (before, after) = (parse(&words), parse(&rewrite.apply(&words).unwrap()));
        let is_aliased = |annotation: &&Instruction| decoration(annotation) == Some((Decoration::Aliased, &[]));
        let is_restricted = |annotation: &Instruction| decoration(annotation) == Some((Decoration::Restrict, &[]));
        assert!(!before.annotations.iter().any(is_restricted), "{name}");
        // Keys and values by place are what may be one memory; all else is one range of scratch each.
        let of_elements = |annotation: &&Instruction| {
            let places = [abi::BINDING_KEYS, abi::BINDING_VALUES].map(Operand::LiteralBit32);
            let binding = matches!(decoration(annotation), Some((Decoration::Binding, [at])) if places.contains(at));
            binding && !description.addressed
        };
        let targets = |filter: &dyn Fn(&&Instruction) -> bool| {
            let mut ids: Vec<u32> =
                after.annotations.iter().filter(filter).map(|found| found.operands[0].unwrap_id_ref()).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(targets(&is_aliased), targets(&of_elements), "{name}");
        let mut without = after.clone();
        without.annotations.retain(|annotation| !is_aliased(&annotation));
        assert!(without.assemble() == before.assemble(), "{name}");
    }
}

#[test]
fn numbers_are_those_of_the_specification() {
    for operation in Operation::ALL {
        let opcode = Op::from_u32(*operation as u32).expect("it is an opcode");
        assert_eq!(format!("{operation:?}"), format!("{opcode:?}"));
    }
    let opcodes = [
        (code::EXECUTION_MODE, Op::ExecutionMode),
        (code::TYPE_BOOL, Op::TypeBool),
        (code::TYPE_INT, Op::TypeInt),
        (code::TYPE_ARRAY, Op::TypeArray),
        (code::TYPE_POINTER, Op::TypePointer),
        (code::CONSTANT_TRUE, Op::ConstantTrue),
        (code::CONSTANT_FALSE, Op::ConstantFalse),
        (code::CONSTANT, Op::Constant),
        (code::CONSTANT_COMPOSITE, Op::ConstantComposite),
        (code::CONSTANT_NULL, Op::ConstantNull),
        (code::SPEC_CONSTANT_TRUE, Op::SpecConstantTrue),
        (code::SPEC_CONSTANT_FALSE, Op::SpecConstantFalse),
        (code::SPEC_CONSTANT, Op::SpecConstant),
        (code::SPEC_CONSTANT_COMPOSITE, Op::SpecConstantComposite),
        (code::SPEC_CONSTANT_OP, Op::SpecConstantOp),
        (code::VARIABLE, Op::Variable),
        (code::DECORATE, Op::Decorate),
        (code::LOOP_MERGE, Op::LoopMerge),
        (code::EXECUTION_MODE_ID, Op::ExecutionModeId),
    ];
    for (given, opcode) in opcodes {
        assert_eq!(u32::from(given), opcode as u32, "{opcode:?}");
    }
    assert_eq!(super::MAGIC, spirv::MAGIC_NUMBER);
    assert_eq!(code::MODE_LOCAL_SIZE, ExecutionMode::LocalSize as u32);
    assert_eq!(code::MODE_LOCAL_SIZE_ID, ExecutionMode::LocalSizeId as u32);
    assert_eq!(code::STORAGE_BUFFER, spirv::StorageClass::StorageBuffer as u32);
    assert_eq!(code::DECORATION_SPEC_ID, Decoration::SpecId as u32);
    assert_eq!(code::DECORATION_BUILT_IN, Decoration::BuiltIn as u32);
    assert_eq!(code::DECORATION_RESTRICT, Decoration::Restrict as u32);
    assert_eq!(code::DECORATION_ALIASED, Decoration::Aliased as u32);
    assert_eq!(code::DECORATION_BINDING, Decoration::Binding as u32);
    assert_eq!(code::DECORATION_DESCRIPTOR_SET, Decoration::DescriptorSet as u32);
    assert_eq!(code::BUILT_IN_WORKGROUP_SIZE, BuiltIn::WorkgroupSize as u32);
    assert_eq!(code::LOOP_UNROLL, spirv::LoopControl::UNROLL.bits());
    assert_eq!(code::LOOP_DONT_UNROLL, spirv::LoopControl::DONT_UNROLL.bits());
}
