//! Folding of specialization constants, instruction by instruction. A module has execution modes first, then
//! decorations, then types and constants in an order in which operands precede their use.

use std::collections::{BTreeMap, BTreeSet};

use ::spirv::{BuiltIn, Decoration, ExecutionMode, Op};

use super::instruction::{Instruction, SpirvError, emit};

const LOCAL_SIZE: u32 = ExecutionMode::LocalSize as u32;
const SPEC_ID: u32 = Decoration::SpecId as u32;
const BUILT_IN: u32 = Decoration::BuiltIn as u32;
const WORKGROUP_SIZE: u32 = BuiltIn::WorkgroupSize as u32;

#[derive(Default)]
pub(super) struct Folding<'a> {
    /// Values by `SpecId`.
    given: &'a [u32],
    /// `SpecId` by constant.
    spec_ids: BTreeMap<u32, u32>,
    bool_types: BTreeSet<u32>,
    /// Values of constants that are an integer of 32 bits, or a boolean as 0 or 1.
    scalars: BTreeMap<u32, u32>,
    /// Position of the three numbers of `LocalSize` in the output.
    local_size: Option<usize>,
    /// The constant with the decoration `WorkgroupSize`.
    workgroup_size: Option<u32>,
    /// The values of its parts.
    size: Vec<u32>,
}

impl<'a> Folding<'a> {
    pub fn new(given: &'a [u32]) -> Self {
        Folding { given, ..Folding::default() }
    }

    /// Appends the folded form of an instruction.
    pub fn rewrite(&mut self, instruction: &Instruction<'_>, out: &mut Vec<u32>) -> Result<(), SpirvError> {
        let scalar = |id: &u32| self.scalars.get(id).copied();
        match (instruction.op, instruction.operands()) {
            (Op::Decorate, &[id, SPEC_ID, spec_id]) => _ = self.spec_ids.insert(id, spec_id),
            (Op::Decorate, &[id, BUILT_IN, WORKGROUP_SIZE]) => self.workgroup_size = Some(id),
            (Op::SpecConstant, &[result_type, id, default]) => self.constant(out, result_type, id, default),
            (Op::SpecConstantTrue, &[result_type, id]) => self.constant(out, result_type, id, 1),
            (Op::SpecConstantFalse, &[result_type, id]) => self.constant(out, result_type, id, 0),
            (Op::SpecConstantOp, &[result_type, id, operation, ref operands @ ..]) => {
                let known: Option<Vec<u32>> = operands.iter().map(scalar).collect();
                let op = Op::from_u32(operation).unwrap_or(Op::Nop);
                let Some(value) = known.as_deref().and_then(|known| evaluate(op, known)) else {
                    // Operations are given by number, because the names of all of them would add 80 kB to a program.
                    let reason = format!("cannot be folded: opcode {operation} of {operands:?}, which are {known:?}");
                    return Err(SpirvError { at: instruction.at, reason });
                };
                self.constant(out, result_type, id, value);
            }
            (Op::SpecConstantComposite, operands @ &[_, id, ref parts @ ..]) => {
                if self.workgroup_size == Some(id) {
                    self.size = parts.iter().filter_map(scalar).collect();
                }
                emit(out, Op::ConstantComposite, operands);
            }
            (op, operands) => {
                match (op, operands) {
                    (Op::ExecutionMode, &[_, LOCAL_SIZE, ..]) => self.local_size = Some(out.len() + 3),
                    (Op::TypeBool, &[id]) => _ = self.bool_types.insert(id),
                    (Op::Constant, &[_, id, value]) => _ = self.scalars.insert(id, value),
                    (Op::ConstantTrue, &[_, id]) => _ = self.scalars.insert(id, 1),
                    (Op::ConstantFalse, &[_, id]) => _ = self.scalars.insert(id, 0),
                    _ => {}
                }
                out.extend_from_slice(instruction.words);
            }
        }
        Ok(())
    }

    /// Appends a scalar constant, with the value for its `SpecId` or else this default.
    fn constant(&mut self, out: &mut Vec<u32>, result_type: u32, id: u32, value: u32) {
        let given = self.spec_ids.get(&id).and_then(|spec_id| self.given.get(*spec_id as usize));
        let mut value = given.copied().unwrap_or(value);
        if self.bool_types.contains(&result_type) {
            value = value.min(1);
            emit(out, if value == 1 { Op::ConstantTrue } else { Op::ConstantFalse }, &[result_type, id]);
        } else {
            emit(out, Op::Constant, &[result_type, id, value]);
        }
        self.scalars.insert(id, value);
    }

    /// Replaces the literals of the workgroup's size, which is now known.
    pub fn write_workgroup_size(self, out: &mut [u32]) {
        let numbers = self.local_size.and_then(|at| out.get_mut(at..)).unwrap_or_default();
        numbers.iter_mut().zip(self.size).for_each(|(number, size)| *number = size);
    }
}

/// The result of an operation, if it is defined. Booleans are 0 or 1.
///
/// The list holds the operations of the kernels, and similar ones. A kernel with another operation fails a test.
fn evaluate(operation: Op, operands: &[u32]) -> Option<u32> {
    let (a, b) = match (operation, operands) {
        (Op::Not, &[a]) => return Some(!a),
        (Op::LogicalNot, &[a]) => return Some(a ^ 1),
        (Op::Select, &[condition, accepted, rejected]) => {
            return Some(if condition == 1 { accepted } else { rejected });
        }
        (_, &[a, b]) => (a, b),
        _ => return None,
    };
    match operation {
        Op::IAdd => Some(a.wrapping_add(b)),
        Op::ISub => Some(a.wrapping_sub(b)),
        Op::IMul => Some(a.wrapping_mul(b)),
        // These have no result for some operands, the same as in Rust.
        Op::UDiv => a.checked_div(b),
        Op::UMod => a.checked_rem(b),
        Op::ShiftLeftLogical => a.checked_shl(b),
        Op::ShiftRightLogical => a.checked_shr(b),
        Op::BitwiseOr | Op::LogicalOr => Some(a | b),
        Op::BitwiseXor | Op::LogicalNotEqual => Some(a ^ b),
        Op::BitwiseAnd | Op::LogicalAnd => Some(a & b),
        Op::IEqual | Op::LogicalEqual => Some((a == b).into()),
        Op::INotEqual => Some((a != b).into()),
        Op::UGreaterThan => Some((a > b).into()),
        Op::UGreaterThanEqual => Some((a >= b).into()),
        Op::ULessThan => Some((a < b).into()),
        Op::ULessThanEqual => Some((a <= b).into()),
        _ => None,
    }
}
