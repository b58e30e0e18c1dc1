//! Rewrites SPIR-V modules before a driver sees them, without a device: folds specialization constants, keeps loops as
//! loops, declares which buffers may be the same memory.
//!
//! Drivers differ most in what they make of specialization constants, above all of arrays that are sized by them. A
//! folded module has none left: it is what a compiler would have made had the numbers stood in the source.
//!
//! Control flow stays as it is. Branches on a constant are left for the driver to remove, as every driver can: removing
//! them here would mean to mend phis, merge blocks and loop headers, for nothing that a driver gets wrong.

mod aliases;
mod constants;

use std::collections::BTreeMap;

use constants::Constants;

const MAGIC: u32 = 0x0723_0203;
/// Words before the first instruction: magic, version, generator, bound of the ids, schema.
const HEADER_WORDS: usize = 5;

/// Opcodes, storage classes, decorations and masks, named as in the SPIR-V specification.
mod code {
    pub const EXECUTION_MODE: u16 = 16;
    pub const TYPE_BOOL: u16 = 20;
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_POINTER: u16 = 32;
    pub const CONSTANT_TRUE: u16 = 41;
    pub const CONSTANT_FALSE: u16 = 42;
    pub const CONSTANT: u16 = 43;
    pub const CONSTANT_COMPOSITE: u16 = 44;
    pub const CONSTANT_NULL: u16 = 46;
    pub const SPEC_CONSTANT_TRUE: u16 = 48;
    pub const SPEC_CONSTANT_FALSE: u16 = 49;
    pub const SPEC_CONSTANT: u16 = 50;
    pub const SPEC_CONSTANT_COMPOSITE: u16 = 51;
    pub const SPEC_CONSTANT_OP: u16 = 52;
    pub const VARIABLE: u16 = 59;
    pub const DECORATE: u16 = 71;
    pub const LOOP_MERGE: u16 = 246;
    pub const EXECUTION_MODE_ID: u16 = 331;

    pub const MODE_LOCAL_SIZE: u32 = 17;
    pub const MODE_LOCAL_SIZE_ID: u32 = 38;
    pub const STORAGE_BUFFER: u32 = 12;
    pub const DECORATION_SPEC_ID: u32 = 1;
    pub const DECORATION_BUILT_IN: u32 = 11;
    pub const DECORATION_RESTRICT: u32 = 19;
    pub const DECORATION_ALIASED: u32 = 20;
    pub const DECORATION_BINDING: u32 = 33;
    pub const DECORATION_DESCRIPTOR_SET: u32 = 34;
    pub const BUILT_IN_WORKGROUP_SIZE: u32 = 25;
    pub const LOOP_UNROLL: u32 = 1;
    pub const LOOP_DONT_UNROLL: u32 = 2;
}

/// Why a module cannot be rewritten. Ids and positions are those of the module as it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SpirvError {
    #[error("the first word is {0:#010x}, a SPIR-V module of this byte order starts with 0x07230203")]
    Magic(u32),
    #[error("the header has {0} words, allowed are at least 5")]
    Header(usize),
    #[error("the instruction at word {at} has {given} words, there are {left}")]
    Cut { at: usize, given: usize, left: usize },
    #[error("instruction {opcode} at word {at} has {given} words, needed are at least {needed}")]
    Short { at: usize, opcode: u16, given: usize, needed: usize },
    #[error("OpSpecConstantOp %{id} is of opcode {opcode}, which cannot be folded")]
    Operation { id: u32, opcode: u32 },
    #[error("OpSpecConstantOp %{id} has no defined result: Op{operation} of {operands}")]
    Undefined { id: u32, operation: String, operands: String },
    #[error("%{id} takes %{operand} as {needed}, but that is {given}")]
    Operand { id: u32, operand: u32, needed: &'static str, given: &'static str },
    #[error("%{id} is given a result of type %{result_type}, which is not the type of {given}")]
    ResultType { id: u32, result_type: u32, given: &'static str },
    #[error("%{target} has SpecId {spec_id}, but is no scalar specialization constant")]
    SpecId { target: u32, spec_id: u32 },
}

/// The changes to make to a module; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rewrite<'a> {
    /// Values of the specialization constants, by `SpecId`. A constant beyond the slice keeps its default. A boolean one is
    /// true unless its value is 0. `None` leaves specialization to the driver.
    ///
    /// No `SpecId` is left. The size of the workgroup is written to the execution mode `LocalSize`, and the decoration
    /// `WorkgroupSize`, which would go before it, is removed: one place says the size.
    pub constants: Option<&'a [u32]>,
    /// Turns the wish to unroll a loop into the wish not to.
    pub keep_loops: bool,
    /// Decorates storage buffers that may be the same memory as `Aliased`: arrays of descriptors, and variables that
    /// share a binding. Without it, consumers may take them for distinct.
    pub declare_aliases: bool,
}

impl Rewrite<'_> {
    /// The module with these changes. Every other instruction stays as it is, and where it is.
    ///
    /// # Errors
    ///
    /// * `words` is not a whole SPIR-V module.
    /// * A specialization constant that is given a value, or an operation on one, is of a type other than booleans and
    ///   integers of 32 bits.
    /// * An operation has no defined result, such as a division by zero, or is none that compute shaders may have.
    pub fn apply(&self, words: &[u32]) -> Result<Vec<u32>, SpirvError> {
        let instructions = instructions(words)?;
        let mut aliased = match self.declare_aliases {
            true => aliases::undeclared(&instructions)?,
            false => Vec::new(),
        };
        let mut folding = self.constants.map(Folding::new);
        let mut out = words[..HEADER_WORDS].to_vec();
        for instruction in &instructions {
            if instruction.opcode == code::DECORATE {
                for variable in aliased.drain(..) {
                    emit(&mut out, code::DECORATE, &[variable, code::DECORATION_ALIASED]);
                }
            }
            if let Some(folding) = &mut folding
                && folding.rewrite(instruction, &mut out)?
            {
                continue;
            }
            match instruction.operands {
                // Only the bare wish: counts of iterations stand behind other masks.
                [merge, next, code::LOOP_UNROLL] if self.keep_loops && instruction.opcode == code::LOOP_MERGE => {
                    emit(&mut out, code::LOOP_MERGE, &[*merge, *next, code::LOOP_DONT_UNROLL]);
                }
                _ => emit(&mut out, instruction.opcode, instruction.operands),
            }
        }
        if let Some(folding) = folding {
            folding.finish(&mut out)?;
        }
        Ok(out)
    }
}

/// One instruction of a module.
struct Instruction<'a> {
    /// Its first word in the module.
    at: usize,
    opcode: u16,
    operands: &'a [u32],
}

impl Instruction<'_> {
    fn operand(&self, index: usize) -> Result<u32, SpirvError> {
        self.operands.get(index).copied().ok_or(SpirvError::Short {
            at: self.at,
            opcode: self.opcode,
            given: self.operands.len() + 1,
            needed: index + 2,
        })
    }
}

/// The instructions of a module. The first word of each has its length in the upper half and its opcode in the lower.
fn instructions(words: &[u32]) -> Result<Vec<Instruction<'_>>, SpirvError> {
    match words.first() {
        Some(&magic) if magic != MAGIC => return Err(SpirvError::Magic(magic)),
        _ if words.len() < HEADER_WORDS => return Err(SpirvError::Header(words.len())),
        _ => {}
    }
    let mut instructions = Vec::new();
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let (length, left) = ((words[at] >> 16) as usize, words.len() - at);
        if length == 0 || length > left {
            return Err(SpirvError::Cut { at, given: length, left });
        }
        instructions.push(Instruction { at, opcode: words[at] as u16, operands: &words[at + 1..at + length] });
        at += length;
    }
    Ok(instructions)
}

/// Appends an instruction of less than 2^16 words.
fn emit(out: &mut Vec<u32>, opcode: u16, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | u32::from(opcode));
    out.extend_from_slice(operands);
}

/// Folding of specialization constants, instruction by instruction. A module has execution modes first, then
/// decorations, then types and constants in an order in which operands precede their use.
struct Folding<'a> {
    /// Values by `SpecId`.
    given: &'a [u32],
    /// `SpecId` by id, of constants that are still to come.
    spec_ids: BTreeMap<u32, u32>,
    constants: Constants,
    /// Where in the output the three numbers of each `LocalSize` are, and the ids of their values if it had those.
    local_sizes: Vec<(usize, Option<[u32; 3]>)>,
    /// The constant that is decorated as the size of the workgroup.
    workgroup_size: Option<u32>,
}

impl<'a> Folding<'a> {
    fn new(given: &'a [u32]) -> Self {
        Folding {
            given,
            spec_ids: BTreeMap::new(),
            constants: Constants::default(),
            local_sizes: Vec::new(),
            workgroup_size: None,
        }
    }

    /// Appends what an instruction becomes, and says whether it did: if not, the instruction stays as it is.
    fn rewrite(&mut self, instruction: &Instruction<'_>, out: &mut Vec<u32>) -> Result<bool, SpirvError> {
        let operand = |index| instruction.operand(index);
        match instruction.opcode {
            code::EXECUTION_MODE if operand(1)? == code::MODE_LOCAL_SIZE => {
                operand(4)?;
                self.local_sizes.push((out.len() + 3, None));
                return Ok(false);
            }
            code::EXECUTION_MODE_ID if operand(1)? == code::MODE_LOCAL_SIZE_ID => {
                self.local_sizes.push((out.len() + 3, Some([operand(2)?, operand(3)?, operand(4)?])));
                emit(out, code::EXECUTION_MODE, &[operand(0)?, code::MODE_LOCAL_SIZE, 0, 0, 0]);
            }
            code::DECORATE if operand(1)? == code::DECORATION_SPEC_ID => {
                self.spec_ids.insert(operand(0)?, operand(2)?);
            }
            // A module that says its size in no other way keeps the decoration.
            code::DECORATE
                if !self.local_sizes.is_empty()
                    && operand(1)? == code::DECORATION_BUILT_IN
                    && operand(2)? == code::BUILT_IN_WORKGROUP_SIZE =>
            {
                self.workgroup_size = Some(operand(0)?);
            }
            code::SPEC_CONSTANT | code::SPEC_CONSTANT_TRUE | code::SPEC_CONSTANT_FALSE => {
                let given = self.spec_ids.remove(&operand(1)?).and_then(|spec_id| self.given.get(spec_id as usize));
                match self.constants.scalar(instruction, given.copied())? {
                    Some(value) => value.emit(out, operand(0)?, operand(1)?),
                    // Of a type that is not folded, and with its default.
                    None => emit(out, code::CONSTANT, instruction.operands),
                }
            }
            code::SPEC_CONSTANT_COMPOSITE => {
                self.constants.declare(instruction)?;
                emit(out, code::CONSTANT_COMPOSITE, instruction.operands);
            }
            code::SPEC_CONSTANT_OP => self.constants.operation(instruction)?.emit(out, operand(0)?, operand(1)?),
            _ => {
                self.constants.declare(instruction)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes the size of the workgroup, which is known by now.
    fn finish(self, out: &mut [u32]) -> Result<(), SpirvError> {
        if let Some((&target, &spec_id)) = self.spec_ids.first_key_value() {
            return Err(SpirvError::SpecId { target, spec_id });
        }
        // Where both are there, the decoration is the one that counts.
        let decorated = self.workgroup_size.map(|id| self.constants.vector(id)).transpose()?;
        for (at, named) in self.local_sizes {
            let Some(ids) = decorated.or(named) else { continue };
            for (word, id) in out[at..].iter_mut().zip(ids) {
                *word = self.constants.word(id, id)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
