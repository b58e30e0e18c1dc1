//! What constants should be folded to, found by other means: on modules as rspirv reads them, with numbers of 64 bits.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Index;

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, Op};

const MASK: u64 = 0xFFFF_FFFF;

/// Values of a module's scalar constants by id; `None` where an operation has no defined result. Booleans are 0 or 1.
pub struct Values {
    pub bool_types: BTreeSet<u32>,
    scalars: BTreeMap<u32, Option<u32>>,
    composites: BTreeMap<u32, Vec<u32>>,
}

impl Index<&u32> for Values {
    type Output = Option<u32>;

    fn index(&self, id: &u32) -> &Option<u32> {
        &self.scalars[id]
    }
}

impl Values {
    pub fn of(module: &Module, given: &[u32]) -> Self {
        let mut spec_ids = BTreeMap::new();
        for annotation in &module.annotations {
            if annotation.operands[1] == Operand::Decoration(Decoration::SpecId) {
                spec_ids.insert(annotation.operands[0].unwrap_id_ref(), annotation.operands[2].unwrap_literal_bit32());
            }
        }
        let mut values = Values { bool_types: BTreeSet::new(), scalars: BTreeMap::new(), composites: BTreeMap::new() };
        for value in &module.types_global_values {
            let Some(id) = value.result_id else { continue };
            let of_set = spec_ids.get(&id).and_then(|spec_id| given.get(*spec_id as usize)).copied();
            let scalar = match value.class.opcode {
                Op::TypeBool => {
                    values.bool_types.insert(id);
                    continue;
                }
                Op::ConstantComposite | Op::SpecConstantComposite => {
                    let parts = value.operands.iter().map(Operand::unwrap_id_ref).collect();
                    values.composites.insert(id, parts);
                    continue;
                }
                Op::Constant | Op::SpecConstant => Some(of_set.unwrap_or(value.operands[0].unwrap_literal_bit32())),
                Op::ConstantTrue | Op::SpecConstantTrue => Some(of_set.unwrap_or(1).min(1)),
                Op::ConstantFalse | Op::SpecConstantFalse => Some(of_set.unwrap_or(0).min(1)),
                Op::SpecConstantOp => values.operation(value),
                _ => continue,
            };
            values.scalars.insert(id, scalar);
        }
        values
    }

    /// The parts of a composite of scalars.
    pub fn composite(&self, id: u32) -> Vec<u32> {
        self.composites[&id].iter().map(|part| self.scalars[part].expect("the part is defined")).collect()
    }

    fn operation(&self, value: &Instruction) -> Option<u32> {
        let operand = |index: usize| self.scalars[&value.operands[1 + index].unwrap_id_ref()];
        let unsigned = |index| Some(u64::from(operand(index)?));
        let signed = |index| Some(i64::from(operand(index)? as i32));
        let opcode = value.operands[0].unwrap_literal_spec_constant_op_integer();
        let result: i64 = match opcode {
            Op::SNegate => -signed(0)?,
            Op::Not => -1 - signed(0)?,
            Op::LogicalNot => 1 - signed(0)?,
            Op::Select => {
                let (condition, accepted, rejected) = (unsigned(0)?, signed(1)?, signed(2)?);
                condition as i64 * accepted + (1 - condition as i64) * rejected
            }
            _ => Self::of_two(opcode, (unsigned(0)?, unsigned(1)?), (signed(0)?, signed(1)?))?,
        };
        Some((result as u64 & MASK) as u32)
    }

    /// An operation on two operands, which are both read as unsigned and as signed numbers.
    fn of_two(opcode: Op, (a, b): (u64, u64), (sa, sb): (i64, i64)) -> Option<i64> {
        let truth = i64::from;
        let divisible = || sb != 0 && i32::try_from(sa / sb).is_ok();
        Some(match opcode {
            Op::IAdd => sa + sb,
            Op::ISub => sa - sb,
            Op::IMul => sa * sb,
            Op::UDiv if b != 0 => (a / b) as i64,
            Op::UMod if b != 0 => (a - a / b * b) as i64,
            Op::SDiv if divisible() => sa / sb,
            Op::SRem if divisible() => sa - sa / sb * sb,
            Op::SMod if divisible() => sa - (sa as f64 / sb as f64).floor() as i64 * sb,
            Op::ShiftLeftLogical if b < 32 => (a * (1 << b)) as i64,
            Op::ShiftRightLogical if b < 32 => (a / (1 << b)) as i64,
            Op::ShiftRightArithmetic if b < 32 => (sa as f64 / f64::from(b as u32).exp2()).floor() as i64,
            Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => return None,
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => return None,
            Op::BitwiseOr => sa + sb - (sa & sb),
            Op::BitwiseXor => (sa | sb) - (sa & sb),
            Op::BitwiseAnd => sa & sb,
            Op::LogicalOr => truth(a + b > 0),
            Op::LogicalAnd => (a * b) as i64,
            Op::IEqual | Op::LogicalEqual => truth(a == b),
            Op::INotEqual | Op::LogicalNotEqual => truth(a != b),
            Op::UGreaterThan => truth(a > b),
            Op::UGreaterThanEqual => truth(a >= b),
            Op::ULessThan => truth(a < b),
            Op::ULessThanEqual => truth(a <= b),
            Op::SGreaterThan => truth(sa > sb),
            Op::SGreaterThanEqual => truth(sa >= sb),
            Op::SLessThan => truth(sa < sb),
            Op::SLessThanEqual => truth(sa <= sb),
            other => panic!("no reference for {other:?}"),
        })
    }
}
