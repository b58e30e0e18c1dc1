//! Values of constants, and of the operations that SPIR-V allows on specialization constants.

use std::collections::BTreeMap;

use super::{Instruction, SpirvError, code, emit};

/// Value of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An integer of 32 bits, signed or not.
    Word(u32),
    Bool(bool),
    /// The ids of its parts.
    Composite(Vec<u32>),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Word(_) => "an integer of 32 bits",
            Value::Bool(_) => "a boolean",
            Value::Composite(_) => "a composite",
        }
    }

    /// Appends the constant of this value.
    pub fn emit(&self, out: &mut Vec<u32>, result_type: u32, id: u32) {
        match self {
            Value::Word(word) => emit(out, code::CONSTANT, &[result_type, id, *word]),
            Value::Bool(true) => emit(out, code::CONSTANT_TRUE, &[result_type, id]),
            Value::Bool(false) => emit(out, code::CONSTANT_FALSE, &[result_type, id]),
            Value::Composite(parts) => emit(out, code::CONSTANT_COMPOSITE, &[&[result_type, id], &parts[..]].concat()),
        }
    }
}

/// Types whose constants can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Word,
    Bool,
}

/// The constants of a module so far, by id. Those of other types than [`Value`] has are left out.
#[derive(Default)]
pub(super) struct Constants {
    scalars: BTreeMap<u32, Scalar>,
    values: BTreeMap<u32, Value>,
}

impl Constants {
    /// Takes in a type or a constant; any other instruction is none of it.
    pub fn declare(&mut self, instruction: &Instruction<'_>) -> Result<(), SpirvError> {
        let operand = |index| instruction.operand(index);
        match instruction.opcode {
            code::TYPE_BOOL => {
                self.scalars.insert(operand(0)?, Scalar::Bool);
            }
            code::TYPE_INT if operand(1)? == 32 => {
                self.scalars.insert(operand(0)?, Scalar::Word);
            }
            code::CONSTANT | code::CONSTANT_TRUE | code::CONSTANT_FALSE | code::CONSTANT_NULL => {
                self.scalar(instruction, None)?;
            }
            code::CONSTANT_COMPOSITE | code::SPEC_CONSTANT_COMPOSITE => {
                operand(1)?;
                self.values.insert(operand(1)?, Value::Composite(instruction.operands[2..].to_vec()));
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes in a scalar constant, with the value given or else its own. There is no value if its type is not folded.
    pub fn scalar(&mut self, instruction: &Instruction<'_>, given: Option<u32>) -> Result<Option<Value>, SpirvError> {
        let (result_type, id) = (instruction.operand(0)?, instruction.operand(1)?);
        let truth = |default| Value::Bool(given.map_or(default, |given| given != 0));
        let value = match (instruction.opcode, self.scalars.get(&result_type)) {
            (code::CONSTANT | code::SPEC_CONSTANT, Some(Scalar::Word)) => {
                let default = instruction.operand(2)?;
                Value::Word(given.unwrap_or(default))
            }
            (code::CONSTANT_TRUE | code::SPEC_CONSTANT_TRUE, Some(Scalar::Bool)) => truth(true),
            (code::CONSTANT_FALSE | code::SPEC_CONSTANT_FALSE, Some(Scalar::Bool)) => truth(false),
            (code::CONSTANT_NULL, Some(Scalar::Word)) => Value::Word(0),
            (code::CONSTANT_NULL, Some(Scalar::Bool)) => Value::Bool(false),
            (code::CONSTANT | code::SPEC_CONSTANT | code::CONSTANT_NULL, None) if given.is_none() => return Ok(None),
            _ => return Err(SpirvError::ResultType { id, result_type, given: "an integer of 32 bits or a boolean" }),
        };
        self.values.insert(id, value.clone());
        Ok(Some(value))
    }

    /// Takes in an `OpSpecConstantOp`: result type, id, opcode, then the operands.
    pub fn operation(&mut self, instruction: &Instruction<'_>) -> Result<Value, SpirvError> {
        let (result_type, id, opcode) = (instruction.operand(0)?, instruction.operand(1)?, instruction.operand(2)?);
        let operation = Operation::of(opcode).ok_or(SpirvError::Operation { id, opcode })?;
        let value = Operands { constants: self, instruction, id }.evaluate(operation)?;
        let fits = match (&value, self.scalars.get(&result_type)) {
            (Value::Word(_), scalar) => scalar == Some(&Scalar::Word),
            (Value::Bool(_), scalar) => scalar == Some(&Scalar::Bool),
            (Value::Composite(_), scalar) => scalar.is_none(),
        };
        if !fits {
            return Err(SpirvError::ResultType { id, result_type, given: value.kind() });
        }
        self.values.insert(id, value.clone());
        Ok(value)
    }

    /// The integer that is an operand of instruction `id`.
    pub fn word(&self, id: u32, operand: u32) -> Result<u32, SpirvError> {
        match self.values.get(&operand) {
            Some(Value::Word(word)) => Ok(*word),
            other => Err(mismatch(id, operand, "an integer of 32 bits", other)),
        }
    }

    /// The ids of a vector's three parts.
    pub fn vector(&self, id: u32) -> Result<[u32; 3], SpirvError> {
        match self.values.get(&id) {
            Some(Value::Composite(parts)) if parts.len() == 3 => Ok([parts[0], parts[1], parts[2]]),
            other => Err(mismatch(id, id, "a vector of three parts", other)),
        }
    }
}

fn mismatch(id: u32, operand: u32, needed: &'static str, given: Option<&Value>) -> SpirvError {
    SpirvError::Operand { id, operand, needed, given: given.map_or("not known as a constant", Value::kind) }
}

macro_rules! operations {
    ($($name:ident = $opcode:literal)*) => {
        /// Operations on specialization constants that are folded, named as in the SPIR-V specification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Operation {
            $($name = $opcode,)*
        }

        impl Operation {
            #[cfg(test)]
            pub const ALL: &[Operation] = &[$(Operation::$name),*];

            fn of(opcode: u32) -> Option<Operation> {
                match opcode {
                    $($opcode => Some(Operation::$name),)*
                    _ => None,
                }
            }
        }
    };
}

// What the capability Shader allows, on scalars. `CompositeInsert` and `VectorShuffle` are left out, as no kernel has
// them; so are conversions, which change the width and so concern types other than integers of 32 bits.
operations! {
    CompositeExtract = 81
    SNegate = 126
    IAdd = 128
    ISub = 130
    IMul = 132
    UDiv = 134
    SDiv = 135
    UMod = 137
    SRem = 138
    SMod = 139
    LogicalEqual = 164
    LogicalNotEqual = 165
    LogicalOr = 166
    LogicalAnd = 167
    LogicalNot = 168
    Select = 169
    IEqual = 170
    INotEqual = 171
    UGreaterThan = 172
    SGreaterThan = 173
    UGreaterThanEqual = 174
    SGreaterThanEqual = 175
    ULessThan = 176
    SLessThan = 177
    ULessThanEqual = 178
    SLessThanEqual = 179
    ShiftRightLogical = 194
    ShiftRightArithmetic = 195
    ShiftLeftLogical = 196
    BitwiseOr = 197
    BitwiseXor = 198
    BitwiseAnd = 199
    Not = 200
}

/// Operands of the operation in an `OpSpecConstantOp`.
struct Operands<'a> {
    constants: &'a Constants,
    instruction: &'a Instruction<'a>,
    id: u32,
}

impl Operands<'_> {
    /// The id or literal of the `index`-th operand.
    fn raw(&self, index: usize) -> Result<u32, SpirvError> {
        self.instruction.operand(3 + index)
    }

    fn value(&self, index: usize) -> Result<&Value, SpirvError> {
        let operand = self.raw(index)?;
        self.constants.values.get(&operand).ok_or_else(|| mismatch(self.id, operand, "a folded constant", None))
    }

    fn word(&self, index: usize) -> Result<u32, SpirvError> {
        self.constants.word(self.id, self.raw(index)?)
    }

    fn bool(&self, index: usize) -> Result<bool, SpirvError> {
        match self.value(index)? {
            Value::Bool(truth) => Ok(*truth),
            other => Err(mismatch(self.id, self.raw(index)?, "a boolean", Some(other))),
        }
    }

    fn evaluate(&self, operation: Operation) -> Result<Value, SpirvError> {
        let words = || Ok((self.word(0)?, self.word(1)?));
        let signed = || Ok((self.word(0)? as i32, self.word(1)? as i32));
        let bools = || Ok((self.bool(0)?, self.bool(1)?));
        // Operations without a defined result for some operands are those that Rust checks.
        let word = |value: Option<u32>| value.map(Value::Word).ok_or_else(|| self.undefined(operation));
        let from_signed = |value: Option<i32>| word(value.map(|value| value as u32));
        match operation {
            Operation::CompositeExtract => self.extract(),
            Operation::SNegate => self.word(0).map(|a| Value::Word(a.wrapping_neg())),
            Operation::Not => self.word(0).map(|a| Value::Word(!a)),
            Operation::IAdd => words().map(|(a, b)| Value::Word(a.wrapping_add(b))),
            Operation::ISub => words().map(|(a, b)| Value::Word(a.wrapping_sub(b))),
            Operation::IMul => words().map(|(a, b)| Value::Word(a.wrapping_mul(b))),
            Operation::UDiv => words().and_then(|(a, b)| word(a.checked_div(b))),
            Operation::SDiv => signed().and_then(|(a, b)| from_signed(a.checked_div(b))),
            Operation::UMod => words().and_then(|(a, b)| word(a.checked_rem(b))),
            // The sign of a remainder is that of the dividend, the sign of a modulus that of the divisor.
            Operation::SRem => signed().and_then(|(a, b)| from_signed(a.checked_rem(b))),
            Operation::SMod => signed().and_then(|(a, b)| {
                let shifted = |rest: i32| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest };
                from_signed(a.checked_rem(b).map(shifted))
            }),
            Operation::ShiftLeftLogical => words().and_then(|(a, b)| word(a.checked_shl(b))),
            Operation::ShiftRightLogical => words().and_then(|(a, b)| word(a.checked_shr(b))),
            Operation::ShiftRightArithmetic => words().and_then(|(a, b)| from_signed((a as i32).checked_shr(b))),
            Operation::BitwiseOr => words().map(|(a, b)| Value::Word(a | b)),
            Operation::BitwiseXor => words().map(|(a, b)| Value::Word(a ^ b)),
            Operation::BitwiseAnd => words().map(|(a, b)| Value::Word(a & b)),
            Operation::LogicalEqual => bools().map(|(a, b)| Value::Bool(a == b)),
            Operation::LogicalNotEqual => bools().map(|(a, b)| Value::Bool(a != b)),
            Operation::LogicalOr => bools().map(|(a, b)| Value::Bool(a || b)),
            Operation::LogicalAnd => bools().map(|(a, b)| Value::Bool(a && b)),
            Operation::LogicalNot => self.bool(0).map(|a| Value::Bool(!a)),
            Operation::Select => {
                let (accepted, rejected) = (self.value(1)?, self.value(2)?);
                Ok(if self.bool(0)? { accepted } else { rejected }.clone())
            }
            Operation::IEqual => words().map(|(a, b)| Value::Bool(a == b)),
            Operation::INotEqual => words().map(|(a, b)| Value::Bool(a != b)),
            Operation::UGreaterThan => words().map(|(a, b)| Value::Bool(a > b)),
            Operation::SGreaterThan => signed().map(|(a, b)| Value::Bool(a > b)),
            Operation::UGreaterThanEqual => words().map(|(a, b)| Value::Bool(a >= b)),
            Operation::SGreaterThanEqual => signed().map(|(a, b)| Value::Bool(a >= b)),
            Operation::ULessThan => words().map(|(a, b)| Value::Bool(a < b)),
            Operation::SLessThan => signed().map(|(a, b)| Value::Bool(a < b)),
            Operation::ULessThanEqual => words().map(|(a, b)| Value::Bool(a <= b)),
            Operation::SLessThanEqual => signed().map(|(a, b)| Value::Bool(a <= b)),
        }
    }

    /// A part of a composite, or a part of that, and so on: the composite's id, then literal indices.
    fn extract(&self) -> Result<Value, SpirvError> {
        let mut part = self.raw(0)?;
        for level in 1..self.instruction.operands.len() - 3 {
            let index = self.raw(level)? as usize;
            part = match self.constants.values.get(&part) {
                Some(Value::Composite(parts)) if index < parts.len() => parts[index],
                other => return Err(mismatch(self.id, part, "a composite with such a part", other)),
            };
        }
        let value = self.constants.values.get(&part);
        value.cloned().ok_or_else(|| mismatch(self.id, part, "a folded constant", None))
    }

    fn undefined(&self, operation: Operation) -> SpirvError {
        let operands: Vec<String> = (0..2).filter_map(|index| Some(self.word(index).ok()?.to_string())).collect();
        SpirvError::Undefined { id: self.id, operation: format!("{operation:?}"), operands: operands.join(" and ") }
    }
}
