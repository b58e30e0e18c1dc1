//! What drivers get instead of the kept SPIR-V: every kernel module is rewritten with drawn constants, and held against what
//! SPIRV-Tools make of it.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use rspirv::binary::{Assemble, parse_words};
use rspirv::dr::{Instruction, Loader, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, LoopControl, MAGIC_NUMBER, Op};
use vksort::__private::{Rewrite, abi, kernels, module_words};

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
    kernels::modules().into_iter().map(|module| (module.name(), module_words(&module).unwrap()))
}

fn parse(words: &[u32]) -> Module {
    let mut loader = Loader::new();
    parse_words(words, &mut loader).unwrap_or_else(|error| panic!("{error}"));
    loader.module()
}

/// A module of instructions, each an opcode with all operands, results among them.
fn module_of(instructions: &[(Op, &[u32])]) -> Vec<u32> {
    let mut words = vec![MAGIC_NUMBER, 0x0001_0500, 0, 100_000, 0];
    for (op, operands) in instructions {
        words.push((operands.len() as u32 + 1) << 16 | *op as u32);
        words.extend_from_slice(operands);
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
        // Room for a key of each invocation, of the widest ones.
        "POOL_WORDS" => rng.u32(4096..8000),
        "RADIX_BITS" => rng.u32(2..=11),
        "WINDOW_BITS" | "KEY_BITS" => 8 << rng.u32(0..5),
        "VALUE_BITS" => [0, 8, 16, 32, 64, 96, 128][rng.usize(0..7)],
        "GATHER_SPLITS" => rng.u32(2..=8),
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

/// Everything of a module but what folding changes: of constants their ids and types stay.
fn without_constants(mut module: Module) -> Vec<u32> {
    let size = (Decoration::BuiltIn, &[Operand::BuiltIn(BuiltIn::WorkgroupSize)][..]);
    let stays =
        |what: Option<(Decoration, &[Operand])>| what != Some(size) && what.map(|d| d.0) != Some(Decoration::SpecId);
    module.annotations.retain(|annotation| stays(decoration(annotation)));
    module.execution_modes.iter_mut().for_each(|mode| mode.operands.truncate(2));
    for value in &mut module.types_global_values {
        let name = format!("{:?}", value.class.opcode);
        if name.contains("Constant") && !name.ends_with("Composite") {
            *value = Instruction::new(Op::Undef, value.result_type, value.result_id, vec![]);
        } else if name == "SpecConstantComposite" {
            *value =
                Instruction::new(Op::ConstantComposite, value.result_type, value.result_id, value.operands.clone());
        }
    }
    module.assemble()
}

#[test]
fn constants_are_folded_and_nothing_else_changes() {
    let mut rng = fastrand::Rng::with_seed(seed());
    for (name, words) in modules() {
        let before = without_constants(parse(&words));
        for given in [defaults(), drawn_constants(&mut rng), drawn_constants(&mut rng)] {
            let after = parse(&fold(&words, &given));
            let [mode] = &after.execution_modes[..] else { panic!("{:?}", after.execution_modes) };
            let size = [given[abi::spec::WORKGROUP_SIZE], 1, 1].map(Operand::LiteralBit32);
            assert_eq!(mode.operands[1], Operand::ExecutionMode(ExecutionMode::LocalSize), "{name}");
            assert_eq!(mode.operands[2..], size, "{name}");
            let of_specialization = |value: &&Instruction| format!("{:?}", value.class.opcode).starts_with("Spec");
            assert_eq!(after.types_global_values.iter().find(of_specialization), None, "{name}");
            let decorations: Vec<_> = after.annotations.iter().filter_map(decoration).collect();
            assert!(decorations.iter().all(|(what, _)| *what != Decoration::SpecId), "{name}");
            assert!(decorations.iter().all(|(_, of)| *of != [Operand::BuiltIn(BuiltIn::WorkgroupSize)]), "{name}");
            assert!(without_constants(after) == before, "{name} with {given:?}");
        }
        assert!(fold(&words, &[]) == fold(&words, &defaults()), "{name}: constants without a value keep their default");
        assert!(Rewrite::default().apply(&words).unwrap() == words, "{name}: nothing changes unless it is asked for");
    }
}

/// The constant that an operation on others becomes, where it has a defined result. A boolean is 0 or 1.
fn folded(operation: Op, operands: &[u32]) -> Option<u32> {
    let (word, result) = (1, 2);
    let ids: Vec<u32> = (10..).take(operands.len()).collect();
    let constants: Vec<[u32; 3]> = ids.iter().zip(operands).map(|(id, value)| [word, *id, *value]).collect();
    let (operands, integer) = ([&[word, result, operation as u32], &ids[..]].concat(), [word, 32, 0]);
    let mut instructions: Vec<(Op, &[u32])> = vec![(Op::TypeInt, &integer)];
    instructions.extend(constants.iter().map(|constant| (Op::Constant, &constant[..])));
    instructions.push((Op::SpecConstantOp, &operands));
    let words = Rewrite { constants: Some(&[]), ..Rewrite::default() }.apply(&module_of(&instructions)).ok()?;
    match words[..] {
        [.., head, of, id, value] if [head, of, id] == [4 << 16 | Op::Constant as u32, word, result] => Some(value),
        _ => panic!("{operation:?} became {words:?}"),
    }
}

#[test]
fn operations_have_the_results_of_the_specification() {
    let (top, most) = (1 << 31, u32::MAX);
    let table: [(Op, &[u32], Option<u32>); 42] = [
        (Op::IAdd, &[most, 2], Some(1)),
        (Op::ISub, &[0, 1], Some(most)),
        (Op::IMul, &[(1 << 16) + 1, 1 << 16], Some(1 << 16)),
        (Op::UDiv, &[most, 2], Some(top - 1)),
        (Op::UDiv, &[1, 0], None),
        (Op::UMod, &[most, 16], Some(15)),
        (Op::UMod, &[1, 0], None),
        (Op::ShiftLeftLogical, &[3, 31], Some(top)),
        (Op::ShiftLeftLogical, &[1, 32], None),
        (Op::ShiftRightLogical, &[top, 31], Some(1)),
        (Op::ShiftRightLogical, &[top, 32], None),
        (Op::BitwiseOr, &[12, 10], Some(14)),
        (Op::BitwiseXor, &[12, 10], Some(6)),
        (Op::BitwiseAnd, &[12, 10], Some(8)),
        (Op::Not, &[1], Some(most - 1)),
        (Op::LogicalNot, &[0], Some(1)),
        (Op::LogicalNot, &[1], Some(0)),
        (Op::LogicalOr, &[0, 0], Some(0)),
        (Op::LogicalOr, &[1, 1], Some(1)),
        (Op::LogicalAnd, &[0, 1], Some(0)),
        (Op::LogicalAnd, &[1, 1], Some(1)),
        (Op::LogicalEqual, &[0, 0], Some(1)),
        (Op::LogicalEqual, &[0, 1], Some(0)),
        (Op::LogicalNotEqual, &[1, 1], Some(0)),
        (Op::LogicalNotEqual, &[1, 0], Some(1)),
        (Op::Select, &[1, 7, 8], Some(7)),
        (Op::Select, &[0, 7, 8], Some(8)),
        (Op::IEqual, &[top, top], Some(1)),
        (Op::IEqual, &[top, 0], Some(0)),
        (Op::INotEqual, &[top, top], Some(0)),
        (Op::INotEqual, &[top, 0], Some(1)),
        // The top bit is no sign.
        (Op::UGreaterThan, &[top, 1], Some(1)),
        (Op::UGreaterThan, &[top, top], Some(0)),
        (Op::UGreaterThanEqual, &[1, top], Some(0)),
        (Op::UGreaterThanEqual, &[top, top], Some(1)),
        (Op::ULessThan, &[1, top], Some(1)),
        (Op::ULessThan, &[top, top], Some(0)),
        (Op::ULessThanEqual, &[top, 1], Some(0)),
        (Op::ULessThanEqual, &[top, top], Some(1)),
        (Op::IAdd, &[1], None),
        (Op::Select, &[1, 2], None),
        (Op::FAdd, &[1, 2], None),
    ];
    for (operation, operands, expected) in table {
        assert_eq!(folded(operation, operands), expected, "{operation:?} of {operands:?}");
    }
}

#[test]
fn a_rewritten_module_is_valid_and_stays_as_it_is() {
    let mut rng = fastrand::Rng::with_seed(seed());
    for (name, words) in modules() {
        let [once, again] = [(); 2].map(|()| drawn_constants(&mut rng));
        let rewrite = |given, words: &[u32]| {
            Rewrite { constants: Some(given), keep_loops: true, declare_aliases: true }.apply(words).unwrap()
        };
        let folded = rewrite(&once, &words);
        assert!(rewrite(&again, &folded) == folded, "{name}");
        for (given, words) in [(&once, folded), (&defaults(), rewrite(&defaults(), &words))] {
            validate(&words, &format!("{name} with {given:?}"));
        }
    }
}

/// Where SPIR-V 1.6 is to promise full subgroups, the version of a module is raised and nothing else.
#[test]
fn modules_are_valid_as_spirv_1_6() {
    for (name, mut words) in modules() {
        assert_eq!(words[1], 0x0001_0500, "{name}");
        words[1] = 0x0001_0600;
        run("spirv-val", &["--target-env", "vulkan1.3", "-"], &words, &name);
    }
}

fn validate(words: &[u32], name: &str) {
    run("spirv-val", &["--target-env", "vulkan1.2", "-"], words, name);
}

/// Runs one of SPIRV-Tools on a module and returns what it prints; `None` where the tool is not installed.
fn run(tool: &str, arguments: &[&str], input: &[impl bytemuck::NoUninit], name: &str) -> Option<Vec<u8>> {
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            assert!(std::env::var_os("CI").is_none(), "{tool} is missing, which the package spirv-tools has");
            println!("skipped: {tool} is not installed");
            return None;
        }
        child => child.unwrap_or_else(|error| panic!("{tool}: {error}")),
    };
    // The tools read all of it before they print.
    child.stdin.take().expect("it is piped").write_all(bytemuck::cast_slice(input)).expect("the tool reads");
    let output = child.wait_with_output().expect("the tool ends");
    assert!(output.status.success(), "{tool} on {name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// The words of a module with these values of its constants, as spirv-opt folds it.
fn folded_by_spirv_opt(words: &[u32], given: &[u32], name: &str) -> Option<Vec<u32>> {
    let pairs: Vec<String> = given.iter().enumerate().map(|(id, value)| format!("{id}:{value}")).collect();
    let set = format!("--set-spec-const-default-value={}", pairs.join(" "));
    let passes = [&set, "--freeze-spec-const", "--fold-spec-const-op-composite", "-", "-o", "-"];
    let output = run("spirv-opt", &passes, words, name)?;
    Some(ash::util::read_spv(&mut std::io::Cursor::new(output)).expect("it prints whole words"))
}

/// The instructions of all functions, the lengths of arrays, and the names of ids, with constants in place of their ids.
fn with_constants(words: &[u32]) -> Vec<Instruction> {
    let literal = |constant: &Instruction| match constant.class.opcode {
        Op::Constant => Some(constant.operands[0].clone()),
        Op::ConstantTrue => Some(Operand::LiteralBit32(1)),
        Op::ConstantFalse => Some(Operand::LiteralBit32(0)),
        _ => None,
    };
    let module = parse(words);
    let all = &module.types_global_values;
    let constants: BTreeMap<u32, Operand> =
        all.iter().filter_map(|value| Some((value.result_id?, literal(value)?))).collect();
    let arrays = all.iter().filter(|value| [Op::TypeArray, Op::ConstantComposite].contains(&value.class.opcode));
    let functions = module.functions.iter().flat_map(|function| function.all_inst_iter());
    let mut instructions: Vec<Instruction> = arrays.chain(functions).cloned().collect();
    for operand in instructions.iter_mut().flat_map(|instruction| &mut instruction.operands) {
        if let Operand::IdRef(id) = operand
            && let Some(constant) = constants.get(id)
        {
            *operand = constant.clone();
        }
    }
    instructions
}

#[test]
fn spirv_opt_folds_kernels_to_the_same() {
    let mut rng = fastrand::Rng::with_seed(seed());
    for (name, words) in modules() {
        let given = drawn_constants(&mut rng);
        let Some(theirs) = folded_by_spirv_opt(&words, &given, &name) else { return };
        let (ours, theirs) = (with_constants(&fold(&words, &given)), with_constants(&theirs));
        let differs = ours.iter().zip(&theirs).find(|(a, b)| a != b);
        assert!(differs.is_none() && ours.len() == theirs.len(), "{name} with {given:?}: {differs:?}");
    }
}

#[test]
fn what_cannot_be_rewritten_is_named() {
    let spec_id = Decoration::SpecId as u32;
    let error = |words: &[u32]| Rewrite { constants: Some(&[0]), ..Rewrite::default() }.apply(words).unwrap_err();
    let operation = |operation: Op, operand: u32| {
        error(&module_of(&[
            (Op::Decorate, &[4, spec_id, 0]),
            (Op::TypeInt, &[2, 32, 0]),
            (Op::SpecConstant, &[2, 4, 1]),
            (Op::SpecConstantOp, &[2, 5, operation as u32, 4, operand]),
        ]))
    };
    let cases = [
        (
            operation(Op::UDiv, 4),
            "the instruction at word 17 cannot be folded: opcode 134 of [4, 4], which are Some([0, 0])",
        ),
        (
            operation(Op::SDiv, 4),
            "the instruction at word 17 cannot be folded: opcode 135 of [4, 4], which are Some([0, 0])",
        ),
        (operation(Op::IAdd, 9), "the instruction at word 17 cannot be folded: opcode 128 of [4, 9], which are None"),
        (error(&[]), "the instruction at word 0 is none: the module has no header of SPIR-V"),
        (error(&module_of(&[])[..4]), "the instruction at word 0 is none: the module has no header of SPIR-V"),
        (error(&[0x0302_2307; 9]), "the instruction at word 0 is none: the module has no header of SPIR-V"),
        (error(&[module_of(&[]), vec![0]].concat()), "the instruction at word 5 has 0 words, there are 1"),
        (error(&[module_of(&[]), vec![3 << 16, 0]].concat()), "the instruction at word 5 has 3 words, there are 2"),
    ];
    for (given, expected) in cases {
        assert_eq!(given.to_string(), expected);
    }
}

#[test]
fn damaged_modules_do_not_panic() {
    let mut rng = fastrand::Rng::with_seed(seed());
    let constants = drawn_constants(&mut rng);
    let rewrite = Rewrite { constants: Some(&constants), keep_loops: true, declare_aliases: true };
    let module = modules().map(|(_, words)| words).min_by_key(Vec::len).expect("there are modules");
    // It ends early, or has other words.
    for length in 0..module.len() {
        let _ = rewrite.apply(&module[..length]);
    }
    for _ in 0..20_000 {
        let mut words = module.clone();
        for _ in 0..rng.usize(1..6) {
            let at = rng.usize(1..words.len());
            words[at] = match rng.u32(0..4) {
                0 => rng.u32(..),
                // An instruction of another length or opcode.
                1 => words[at] ^ 1 << rng.u32(16..20),
                2 => words[at] & 0xFFFF_0000 | rng.u32(0..340),
                _ => rng.u32(0..200),
            };
        }
        let _ = rewrite.apply(&words);
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
            let control = Operand::LoopControl(LoopControl::UNROLL);
            if merge.operands[2] == control {
                merge.operands[2] = Operand::LoopControl(LoopControl::DONT_UNROLL);
                changes += 1;
            }
        }
        assert!(parse(&kept).assemble() == expected.assemble(), "{name}");
    }
    assert!(changes > 0, "no kernel asks to unroll a loop");
}

#[test]
fn buffers_that_may_be_one_memory_are_declared_so() {
    for (description, (name, words)) in kernels::modules().iter().zip(modules()) {
        let rewrite = Rewrite { declare_aliases: true, ..Rewrite::default() };
        let (before, after) = (parse(&words), parse(&rewrite.apply(&words).unwrap()));
        let is_aliased = |annotation: &&Instruction| decoration(annotation) == Some((Decoration::Aliased, &[]));
        let is_restricted = |annotation: &Instruction| decoration(annotation) == Some((Decoration::Restrict, &[]));
        assert!(!before.annotations.iter().any(is_restricted), "{name}");
        // Keys and values are what may be one memory; all else is one range of scratch each.
        let of_elements = |annotation: &&Instruction| {
            let elements = |at: &Operand| at.unwrap_literal_bit32() < abi::BINDING_COUNTERS;
            let binding = matches!(decoration(annotation), Some((Decoration::Binding, [at])) if elements(at));
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
