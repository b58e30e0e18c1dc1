//! Modules of random operations on specialization constants: every one is folded to its value in the reference, or the
//! first without a defined result is named.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rspirv::spirv::{Decoration, Op};

use super::super::{Rewrite, SpirvError};
use super::{Line, Operation, Values, module_of, parse, seed};

const BOOL: u32 = 1;
/// Unsigned integers; the next id is that of signed ones.
const WORD: u32 = 2;

/// An operation, and what chooses its operands and its result's type among those there are.
type Node = (Operation, [prop::sample::Index; 3], bool);

/// Expressions over words and booleans that the host sets.
#[derive(Clone, Debug)]
struct Expressions {
    words: Vec<u32>,
    bools: Vec<bool>,
    nodes: Vec<Node>,
}

fn expressions() -> impl Strategy<Value = Expressions> {
    let edges =
        [0, 1, 2, 3, 5, 31, 32, 33, i32::MAX as u32, i32::MIN as u32, i32::MIN as u32 + 1, u32::MAX - 1, u32::MAX];
    let word = prop_oneof![prop::sample::select(edges.to_vec()), any::<u32>()];
    let scalars: Vec<Operation> =
        Operation::ALL.iter().copied().filter(|operation| *operation != Operation::CompositeExtract).collect();
    let node = (prop::sample::select(scalars), any::<[prop::sample::Index; 3]>(), any::<bool>());
    let parts = (prop::collection::vec(word, 2..5), prop::collection::vec(any::<bool>(), 1..3));
    (parts, prop::collection::vec(node, 1..8)).prop_map(|((words, bools), nodes)| Expressions { words, bools, nodes })
}

/// Types of an operation's operands and of its result.
fn signature(operation: Operation, alternative: bool) -> (Vec<u32>, u32) {
    let word = WORD + u32::from(alternative);
    match operation {
        Operation::SNegate | Operation::Not => (vec![WORD], word),
        Operation::LogicalNot => (vec![BOOL], BOOL),
        Operation::Select if alternative => (vec![BOOL; 3], BOOL),
        Operation::Select => (vec![BOOL, WORD, WORD], word),
        _ => match format!("{operation:?}") {
            name if name.starts_with("Logical") => (vec![BOOL; 2], BOOL),
            name if name.contains("Equal") || name.contains("Than") => (vec![WORD; 2], BOOL),
            _ => (vec![WORD; 2], word),
        },
    }
}

impl Expressions {
    /// The module's words, the constants given to it, and the ids of the operations.
    fn module(&self) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let given: Vec<u32> =
            self.words.iter().copied().chain(self.bools.iter().map(|truth| (*truth).into())).collect();
        let constants: Vec<u32> = (10..).take(given.len()).collect();
        let (mut words, mut bools) = (constants.clone(), constants.clone());
        bools.drain(..self.words.len());
        words.truncate(self.words.len());
        let decorations = constants.iter().enumerate();
        let mut instructions: Vec<(Op, Vec<u32>)> =
            decorations.map(|(index, id)| (Op::Decorate, vec![*id, Decoration::SpecId as u32, index as u32])).collect();
        instructions.push((Op::TypeBool, vec![BOOL]));
        instructions.push((Op::TypeInt, vec![WORD, 32, 0]));
        instructions.push((Op::TypeInt, vec![WORD + 1, 32, 1]));
        instructions.extend(words.iter().map(|id| (Op::SpecConstant, vec![WORD, *id, 7])));
        instructions.extend(bools.iter().map(|id| (Op::SpecConstantFalse, vec![BOOL, *id])));
        let results: Vec<u32> = (100..).take(self.nodes.len()).collect();
        for ((operation, choices, alternative), id) in self.nodes.iter().zip(&results) {
            let (takes, makes) = signature(*operation, *alternative);
            let mut operands = vec![makes, *id, *operation as u32];
            let there = |of| if of == BOOL { &bools } else { &words };
            operands.extend(takes.iter().zip(choices).map(|(of, choice)| *choice.get(there(*of))));
            instructions.push((Op::SpecConstantOp, operands));
            if makes == BOOL { &mut bools } else { &mut words }.push(*id);
        }
        let instructions: Vec<Line<'_>> = instructions.iter().map(|(op, operands)| (*op, &operands[..])).collect();
        (module_of(&instructions), given, results)
    }
}

#[test]
fn operations_are_folded_to_the_values_of_the_reference() {
    let seed = seed();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config { cases: 4000, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new_with_rng(config, rng).run(&expressions(), |drawn| {
        let (words, given, results) = drawn.module();
        let values = Values::of(&parse(&words), &given);
        let folded = Rewrite { constants: Some(&given), ..Rewrite::default() }.apply(&words);
        match results.iter().find(|id| values[id].is_none()) {
            Some(undefined) => {
                let named = matches!(&folded, Err(SpirvError::Undefined { id, .. }) if id == undefined);
                prop_assert!(named, "%{undefined}: {folded:?}");
            }
            None => {
                let folded = folded.map_err(|error| TestCaseError::fail(error.to_string()))?;
                let constants = Values::of(&parse(&folded), &[]);
                for id in results {
                    prop_assert_eq!(constants[&id], values[&id], "%{}", id);
                }
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("VKSORT_SEED={seed}: {error}"));
}

#[test]
fn results_at_the_edges_are_those_of_the_specification() {
    let (least, most) = (i32::MIN as u32, i32::MAX as u32);
    let minus = |number: u32| number.wrapping_neg();
    let table = [
        (Operation::IAdd, u32::MAX, 1, Some(0)),
        (Operation::ISub, 0, 1, Some(u32::MAX)),
        (Operation::IMul, 1 << 16, 1 << 16, Some(0)),
        (Operation::UDiv, u32::MAX, 2, Some(most)),
        (Operation::UDiv, 1, 0, None),
        (Operation::UMod, 1, 0, None),
        (Operation::SDiv, minus(7), 2, Some(minus(3))),
        (Operation::SDiv, 7, 0, None),
        (Operation::SDiv, least, minus(1), None),
        (Operation::SRem, minus(7), 3, Some(minus(1))),
        (Operation::SRem, 7, minus(3), Some(1)),
        (Operation::SRem, least, minus(1), None),
        (Operation::SMod, minus(7), 3, Some(2)),
        (Operation::SMod, 7, minus(3), Some(minus(2))),
        (Operation::SMod, minus(6), 3, Some(0)),
        (Operation::SMod, minus(7), minus(3), Some(minus(1))),
        (Operation::SMod, 7, 0, None),
        (Operation::ShiftLeftLogical, 3, 31, Some(least)),
        (Operation::ShiftLeftLogical, 1, 32, None),
        (Operation::ShiftRightLogical, least, 31, Some(1)),
        (Operation::ShiftRightArithmetic, least, 31, Some(u32::MAX)),
        (Operation::ShiftRightArithmetic, least, 32, None),
        (Operation::BitwiseXor, 12, 10, Some(6)),
        (Operation::SLessThan, least, most, Some(1)),
        (Operation::ULessThan, least, most, Some(0)),
        (Operation::SGreaterThanEqual, minus(1), minus(1), Some(1)),
    ];
    for (operation, a, b, expected) in table {
        let (_, makes) = signature(operation, false);
        let words = module_of(&[
            (Op::TypeBool, &[BOOL]),
            (Op::TypeInt, &[WORD, 32, 0]),
            (Op::Constant, &[WORD, 10, a]),
            (Op::Constant, &[WORD, 11, b]),
            (Op::SpecConstantOp, &[makes, 12, operation as u32, 10, 11]),
        ]);
        let folded = Rewrite { constants: Some(&[]), ..Rewrite::default() }.apply(&words);
        let found = folded.ok().and_then(|folded| Values::of(&parse(&folded), &[])[&12]);
        assert_eq!(found, expected, "{operation:?} of {a} and {b}");
    }
}
