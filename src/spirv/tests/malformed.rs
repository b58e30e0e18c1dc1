//! Modules that no kernel has today: other ways to say the size of a workgroup, and words that are no module at all,
//! which are an error that says what is wrong.

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op};

use super::super::Rewrite;
use super::{Line, decoration, drawn_constants, fold, is_workgroup_size, local_size, module_of, modules, parse, seed};

const SPEC_ID: u32 = Decoration::SpecId as u32;

fn error(words: &[u32]) -> String {
    let rewrite = Rewrite { constants: Some(&[5, 0]), keep_loops: true, declare_aliases: true };
    rewrite.apply(words).expect_err("the module is refused").to_string()
}

/// The error for a module with types %1 (of booleans), %2 (of integers) and %3 (of 64 bits), the specialization constants
/// %4 and %5 with ids 0 and 1, and one more instruction.
fn error_of(opcode: Op, operands: &[u32]) -> String {
    error(&module_of(&[
        (Op::Decorate, &[4, SPEC_ID, 0]),
        (Op::Decorate, &[5, SPEC_ID, 1]),
        (Op::Decorate, &[9, SPEC_ID, 1]),
        (Op::TypeBool, &[1]),
        (Op::TypeInt, &[2, 32, 0]),
        (Op::TypeInt, &[3, 64, 0]),
        (Op::SpecConstant, &[2, 4, 1]),
        (Op::SpecConstant, &[2, 5, 1]),
        (Op::SpecConstantTrue, &[1, 9]),
        (opcode, operands),
    ]))
}

#[test]
fn what_cannot_be_folded_is_named() {
    let operation = |operands: &[u32]| error_of(Op::SpecConstantOp, operands);
    let cases = [
        (operation(&[2, 6, Op::UDiv as u32, 4, 5]), "OpSpecConstantOp %6 has no defined result: OpUDiv of 5 and 0"),
        (operation(&[2, 6, Op::FAdd as u32, 4, 5]), "OpSpecConstantOp %6 is of opcode 129, which cannot be folded"),
        (
            operation(&[2, 6, Op::IAdd as u32, 4, 7]),
            "%6 takes %7 as an integer of 32 bits, but that is not known as a constant",
        ),
        (operation(&[2, 6, Op::IAdd as u32, 4, 9]), "%6 takes %9 as an integer of 32 bits, but that is a boolean"),
        (operation(&[1, 6, Op::LogicalNot as u32, 4]), "%6 takes %4 as a boolean, but that is an integer of 32 bits"),
        (
            operation(&[2, 6, Op::CompositeExtract as u32, 4, 0]),
            "%6 takes %4 as a composite with such a part, but that is an integer of 32 bits",
        ),
        (
            operation(&[3, 6, Op::IAdd as u32, 4, 5]),
            "%6 is given a result of type %3, which is not the type of an integer of 32 bits",
        ),
        (operation(&[2, 6, Op::IAdd as u32, 4]), "instruction 52 at word 38 has 5 words, needed are at least 6"),
        (operation(&[2, 6]), "instruction 52 at word 38 has 3 words, needed are at least 4"),
        (error_of(Op::Decorate, &[8, SPEC_ID, 1]), "%8 has SpecId 1, but is no scalar specialization constant"),
        (error_of(Op::Decorate, &[8]), "instruction 71 at word 38 has 2 words, needed are at least 3"),
        (
            error(&module_of(&[
                (Op::Decorate, &[4, SPEC_ID, 0]),
                (Op::TypeInt, &[3, 64, 0]),
                (Op::SpecConstant, &[3, 4, 1, 0]),
            ])),
            "%4 is given a result of type %3, which is not the type of an integer of 32 bits or a boolean",
        ),
        (error(&[]), "the header has 0 words, allowed are at least 5"),
        (error(&module_of(&[])[..4]), "the header has 4 words, allowed are at least 5"),
        (
            error(&[0x0302_2307; 9]),
            "the first word is 0x03022307, a SPIR-V module of this byte order starts with 0x07230203",
        ),
        (error(&[module_of(&[]), vec![0]].concat()), "the instruction at word 5 has 0 words, there are 1"),
        (error(&[module_of(&[]), vec![3 << 16, 0]].concat()), "the instruction at word 5 has 3 words, there are 2"),
    ];
    for (given, expected) in cases {
        assert_eq!(given, expected);
    }
}

#[test]
fn damaged_modules_do_not_panic() {
    let mut rng = fastrand::Rng::with_seed(seed());
    let rewrite = Rewrite { constants: Some(&drawn_constants(&mut rng)), keep_loops: true, declare_aliases: true };
    let (_, module) = modules().min_by_key(|(_, words)| words.len()).expect("there are modules");
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

/// Execution modes and decorations, then a size of %4 (of id 0), 2 and 3 as the composite %8.
fn sized(first: &[Line<'_>]) -> Vec<u32> {
    let rest: [Line<'_>; 9] = [
        (Op::Decorate, &[4, SPEC_ID, 0]),
        (Op::TypeInt, &[2, 32, 0]),
        (Op::TypeVector, &[3, 2, 3]),
        (Op::SpecConstant, &[2, 4, 64]),
        (Op::Constant, &[2, 5, 2]),
        (Op::Constant, &[2, 6, 3]),
        (Op::SpecConstantComposite, &[3, 8, 4, 5, 6]),
        (Op::SpecConstantOp, &[2, 9, Op::CompositeExtract as u32, 8, 0]),
        (Op::SpecConstantOp, &[2, 10, Op::IMul as u32, 9, 6]),
    ];
    module_of(&[first, &rest].concat())
}

const DECORATED: Line<'_> = (Op::Decorate, &[8, Decoration::BuiltIn as u32, BuiltIn::WorkgroupSize as u32]);
const LITERAL: Line<'_> = (Op::ExecutionMode, &[1, ExecutionMode::LocalSize as u32, 7, 8, 9]);
const BY_ID: Line<'_> = (Op::ExecutionModeId, &[1, ExecutionMode::LocalSizeId as u32, 4, 6, 5]);

#[test]
fn the_size_of_a_workgroup_is_said_once() {
    let cases: [(&[Line<'_>], [u32; 3]); 4] = [
        (&[LITERAL, DECORATED], [96, 2, 3]),
        (&[BY_ID, DECORATED], [96, 2, 3]),
        (&[BY_ID], [96, 3, 2]),
        (&[LITERAL], [7, 8, 9]),
    ];
    for (first, expected) in cases {
        let module = parse(&fold(&sized(first), &[96]));
        assert_eq!(local_size(&module), expected, "{first:?}");
        assert!(module.annotations.is_empty(), "{first:?}");
    }
}

#[test]
fn a_size_that_only_a_decoration_says_stays_there() {
    let module = parse(&fold(&sized(&[DECORATED]), &[96]));
    assert!(module.annotations.iter().all(is_workgroup_size) && module.annotations.len() == 1);
    assert!(module.annotations.iter().all(|annotation| decoration(annotation).is_some()));
}

#[test]
fn parts_of_composites_are_folded() {
    let module = parse(&fold(&sized(&[LITERAL]), &[96]));
    let literal = |id| {
        let mut values = module.types_global_values.iter();
        values.find(|value| value.result_id == Some(id)).map(|value| value.operands[0].unwrap_literal_bit32())
    };
    assert_eq!((literal(9), literal(10)), (Some(96), Some(288)));
}
