//! The instructions of a SPIR-V module.

use ::spirv::{MAGIC_NUMBER, Op};

/// Words before the first instruction: magic, version, generator, bound of the ids, schema.
pub(super) const HEADER_WORDS: usize = 5;

/// Why a module cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the instruction at word {at} {reason}")]
pub struct SpirvError {
    /// Its first word in the given module.
    pub(super) at: usize,
    pub(super) reason: String,
}

/// One instruction of a module.
pub(super) struct Instruction<'a> {
    /// Its first word in the module.
    pub at: usize,
    /// `Nop` for an unknown opcode.
    pub op: Op,
    pub words: &'a [u32],
}

impl<'a> Instruction<'a> {
    pub fn operands(&self) -> &'a [u32] {
        &self.words[1..]
    }
}

/// The instructions of a module. The first word of each has its length in the upper half and its opcode in the lower.
pub(super) fn instructions(words: &[u32]) -> Result<Vec<Instruction<'_>>, SpirvError> {
    if words.len() < HEADER_WORDS || words[0] != MAGIC_NUMBER {
        return Err(SpirvError { at: 0, reason: "is none: the module has no header of SPIR-V".into() });
    }
    let mut instructions = Vec::new();
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let (length, left) = ((words[at] >> 16) as usize, words.len() - at);
        if length == 0 || length > left {
            return Err(SpirvError { at, reason: format!("has {length} words, there are {left}") });
        }
        let op = Op::from_u32(words[at] & 0xFFFF).unwrap_or(Op::Nop);
        instructions.push(Instruction { at, op, words: &words[at..at + length] });
        at += length;
    }
    Ok(instructions)
}

/// Appends an instruction of less than 2^16 words.
pub(super) fn emit(out: &mut Vec<u32>, op: Op, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | op as u32);
    out.extend_from_slice(operands);
}
