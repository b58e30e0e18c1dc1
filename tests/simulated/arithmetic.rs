//! Operations on words. An operation without a defined result is an error, as drivers may give anything.

use rspirv::spirv::{GlslStd450Op, Op};

pub fn unary(op: Op, a: u32, bits: u32) -> Result<u32, String> {
    let float = f32::from_bits(a);
    Ok(match op {
        Op::Not => !a,
        Op::LogicalNot => a ^ 1,
        Op::SNegate => a.wrapping_neg(),
        Op::FNegate => (-float).to_bits(),
        Op::BitCount => a.count_ones(),
        Op::BitReverse => a.reverse_bits(),
        Op::UConvert if bits < 32 => a & ((1 << bits) - 1),
        Op::UConvert => a,
        Op::ConvertUToF => (a as f32).to_bits(),
        Op::ConvertSToF => (a as i32 as f32).to_bits(),
        Op::ConvertFToU if float > -1.0 && float < 4_294_967_296.0 => float as u32,
        Op::ConvertFToS if float > -2_147_483_649.0 && float < 2_147_483_648.0 => float as i32 as u32,
        _ => return Err(format!("{op:?} of {a:#x}, which has no result")),
    })
}

pub fn binary(op: Op, a: u32, b: u32) -> Result<u32, String> {
    let (signed_a, signed_b) = (a as i32, b as i32);
    let (float_a, float_b) = (f32::from_bits(a), f32::from_bits(b));
    let some = |result: Option<u32>| result.ok_or_else(|| format!("{op:?} of {a:#x} and {b:#x}, which has no result"));
    Ok(match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => some(a.checked_div(b))?,
        Op::UMod => some(a.checked_rem(b))?,
        Op::SDiv => some(signed_a.checked_div(signed_b).map(|result| result as u32))?,
        Op::ShiftLeftLogical => some(a.checked_shl(b))?,
        Op::ShiftRightLogical => some(a.checked_shr(b))?,
        Op::ShiftRightArithmetic => some(signed_a.checked_shr(b).map(|result| result as u32))?,
        Op::BitwiseOr | Op::LogicalOr => a | b,
        Op::BitwiseAnd | Op::LogicalAnd => a & b,
        Op::BitwiseXor | Op::LogicalNotEqual => a ^ b,
        Op::IEqual | Op::LogicalEqual => (a == b).into(),
        Op::INotEqual => (a != b).into(),
        Op::ULessThan => (a < b).into(),
        Op::ULessThanEqual => (a <= b).into(),
        Op::UGreaterThan => (a > b).into(),
        Op::UGreaterThanEqual => (a >= b).into(),
        Op::SLessThan => (signed_a < signed_b).into(),
        Op::SLessThanEqual => (signed_a <= signed_b).into(),
        Op::SGreaterThan => (signed_a > signed_b).into(),
        Op::SGreaterThanEqual => (signed_a >= signed_b).into(),
        Op::FAdd => (float_a + float_b).to_bits(),
        Op::FSub => (float_a - float_b).to_bits(),
        Op::FMul => (float_a * float_b).to_bits(),
        Op::FDiv => (float_a / float_b).to_bits(),
        Op::FOrdLessThan => (float_a < float_b).into(),
        Op::FOrdLessThanEqual => (float_a <= float_b).into(),
        Op::FOrdGreaterThan => (float_a > float_b).into(),
        Op::FOrdGreaterThanEqual => (float_a >= float_b).into(),
        _ => return Err(format!("{op:?}, which no kernel had when this was written")),
    })
}

/// Operations with two results: the low and the high part.
pub fn wide(op: Op, a: u32, b: u32) -> (u32, u32) {
    let split = |wide: u64| (wide as u32, (wide >> 32) as u32);
    match op {
        Op::IAddCarry => split(u64::from(a) + u64::from(b)),
        Op::ISubBorrow => (a.wrapping_sub(b), u32::from(a < b)),
        _ => split(u64::from(a) * u64::from(b)),
    }
}

/// Operations on a field of bits: of a base and what is inserted, or of a base alone.
pub fn field(op: Op, [base, insert, offset, count]: [u32; 4]) -> Result<u32, String> {
    let (offset, count) = if op == Op::BitFieldInsert { (offset, count) } else { (insert, offset) };
    if offset > 32 || count > 32 || offset + count > 32 {
        return Err(format!("{op:?} of {count} bits from bit {offset} on, which has no result"));
    }
    let mask = if count == 32 { u32::MAX } else { (1 << count) - 1 };
    if count == 0 {
        return Ok(if op == Op::BitFieldInsert { base } else { 0 });
    }
    let extracted = base >> offset & mask;
    Ok(match op {
        Op::BitFieldInsert => base & !(mask << offset) | (insert & mask) << offset,
        Op::BitFieldSExtract if extracted >> (count - 1) == 1 => extracted | !mask,
        _ => extracted,
    })
}

/// Operations of GLSL.std.450.
pub fn extended(op: GlslStd450Op, [a, b, c]: [u32; 3]) -> Result<u32, String> {
    Ok(match op {
        GlslStd450Op::UMin => a.min(b),
        GlslStd450Op::UMax => a.max(b),
        GlslStd450Op::UClamp if b <= c => a.clamp(b, c),
        GlslStd450Op::SMin => (a as i32).min(b as i32) as u32,
        GlslStd450Op::SMax => (a as i32).max(b as i32) as u32,
        GlslStd450Op::SClamp if b as i32 <= c as i32 => (a as i32).clamp(b as i32, c as i32) as u32,
        GlslStd450Op::FindUMsb => a.checked_ilog2().unwrap_or(u32::MAX),
        GlslStd450Op::FindILsb => {
            if a == 0 {
                u32::MAX
            } else {
                a.trailing_zeros()
            }
        }
        _ => return Err(format!("{op:?} of {a:#x}, {b:#x} and {c:#x}, which has no result or which no kernel had")),
    })
}

/// An atomic that reads and writes: the new word, and the bits of it that do not depend on the old one.
pub fn atomic(op: Op, old: u32, value: u32) -> (u32, u32) {
    match op {
        Op::AtomicIAdd => (old.wrapping_add(value), 0),
        Op::AtomicUMax => (old.max(value), 0),
        Op::AtomicAnd => (old & value, !value),
        Op::AtomicOr => (old | value, value),
        other => unreachable!("{other:?} is not read"),
    }
}
