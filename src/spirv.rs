//! Rewrites SPIR-V modules before a driver sees them, without a device: folds specialization constants, keeps loops as
//! loops, declares which buffers may be the same memory.
//!
//! Drivers differ most in what they make of specialization constants, above all of arrays that are sized by them. A
//! folded module has none left: it is what a compiler would have made had the numbers stood in the source.
//!
//! Control flow stays as it is. Branches on a constant are left for the driver to remove, as every driver can: removing
//! them here would mean to mend phis, merge blocks and loop headers, for nothing that a driver gets wrong.

mod fold;

use std::collections::{BTreeMap, BTreeSet};

use ::spirv::{Decoration, LoopControl, MAGIC_NUMBER, Op, StorageClass};

use fold::Folding;

/// Words before the first instruction: magic, version, generator, bound of the ids, schema.
const HEADER_WORDS: usize = 5;

/// Why a module cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the instruction at word {at} {reason}")]
pub struct SpirvError {
    /// Its first word in the module as it was given.
    at: usize,
    reason: String,
}

/// The changes to make to a module; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rewrite<'a> {
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
    /// * An operation on specialization constants has no defined result, such as a division by zero, or is none that the
    ///   kernels have.
    pub fn apply(&self, words: &[u32]) -> Result<Vec<u32>, SpirvError> {
        let instructions = instructions(words)?;
        let mut aliased = if self.declare_aliases { undeclared_aliases(&instructions) } else { Vec::new() };
        let mut folding = self.constants.map(Folding::new);
        let mut out = words[..HEADER_WORDS].to_vec();
        for instruction in &instructions {
            if instruction.op == Op::Decorate {
                for variable in aliased.drain(..) {
                    emit(&mut out, Op::Decorate, &[variable, ALIASED]);
                }
            }
            match (instruction.op, instruction.operands()) {
                // Only the bare wish: counts of iterations stand behind other masks.
                (Op::LoopMerge, &[merge, next, UNROLL]) if self.keep_loops => {
                    emit(&mut out, Op::LoopMerge, &[merge, next, LoopControl::DONT_UNROLL.bits()]);
                }
                _ => match &mut folding {
                    Some(folding) => folding.rewrite(instruction, &mut out)?,
                    None => out.extend_from_slice(instruction.words),
                },
            }
        }
        if let Some(folding) = folding {
            folding.write_workgroup_size(&mut out);
        }
        Ok(out)
    }
}

const UNROLL: u32 = LoopControl::UNROLL.bits();
const ALIASED: u32 = Decoration::Aliased as u32;
const RESTRICT: u32 = Decoration::Restrict as u32;
const SET: u32 = Decoration::DescriptorSet as u32;
const BINDING: u32 = Decoration::Binding as u32;
const STORAGE_BUFFER: u32 = StorageClass::StorageBuffer as u32;

/// One instruction of a module.
struct Instruction<'a> {
    /// Its first word in the module.
    at: usize,
    /// `Nop` for one that is not known.
    op: Op,
    words: &'a [u32],
}

impl<'a> Instruction<'a> {
    fn operands(&self) -> &'a [u32] {
        &self.words[1..]
    }
}

/// The instructions of a module. The first word of each has its length in the upper half and its opcode in the lower.
fn instructions(words: &[u32]) -> Result<Vec<Instruction<'_>>, SpirvError> {
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
fn emit(out: &mut Vec<u32>, op: Op, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | op as u32);
    out.extend_from_slice(operands);
}

/// Variables that may be the same memory as another, or as themselves by another index, and do not say so yet.
///
/// The elements of an array of descriptors are bound one by one, and in place two of them are one buffer. Variables that
/// share a binding are views of it. One with `Restrict` is the author's word to the contrary.
fn undeclared_aliases(instructions: &[Instruction<'_>]) -> Vec<u32> {
    let mut places: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let (mut declared, mut arrays, mut buffers) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for instruction in instructions {
        match (instruction.op, instruction.operands()) {
            (Op::Decorate, &[variable, SET, set]) => places.entry(variable).or_default().0 = set,
            (Op::Decorate, &[variable, BINDING, binding]) => places.entry(variable).or_default().1 = binding,
            (Op::Decorate, &[variable, ALIASED | RESTRICT]) => _ = declared.insert(variable),
            (Op::TypeArray, &[array, ..]) => _ = arrays.insert(array),
            // From here on `arrays` holds the pointers to arrays too.
            (Op::TypePointer, &[pointer, _, to]) if arrays.contains(&to) => _ = arrays.insert(pointer),
            (Op::Variable, &[pointer, variable, STORAGE_BUFFER, ..]) => buffers.push((variable, pointer)),
            _ => {}
        }
    }
    let at = |place| buffers.iter().filter(|(variable, _)| places.get(variable) == Some(place)).count();
    let shares = |variable| places.get(variable).is_some_and(|place| at(place) > 1);
    let aliased = buffers.iter().filter(|(variable, pointer)| arrays.contains(pointer) || shares(variable));
    aliased.map(|(variable, _)| *variable).filter(|variable| !declared.contains(variable)).collect()
}

/// Where the last so many members of the push constants begin, in bytes; `None` for a module that is none, or has not so many.
#[cfg(feature = "runtime-shaders")]
pub(crate) fn push_offset(words: &[u32], members: usize) -> Option<u32> {
    const PUSH_CONSTANT: u32 = StorageClass::PushConstant as u32;
    const OFFSET: u32 = Decoration::Offset as u32;
    let instructions = instructions(words).ok()?;
    let pointer = instructions.iter().find_map(|instruction| match (instruction.op, instruction.operands()) {
        (Op::Variable, &[pointer, _, PUSH_CONSTANT, ..]) => Some(pointer),
        _ => None,
    })?;
    let block = instructions.iter().find_map(|instruction| match (instruction.op, instruction.operands()) {
        (Op::TypePointer, &[found, _, block]) if found == pointer => Some(block),
        _ => None,
    })?;
    let all = instructions.iter().find_map(|instruction| match (instruction.op, instruction.operands()) {
        (Op::TypeStruct, [found, types @ ..]) if *found == block => Some(types.len()),
        _ => None,
    })?;
    let first = all.checked_sub(members)? as u32;
    instructions.iter().find_map(|instruction| match (instruction.op, instruction.operands()) {
        (Op::MemberDecorate, &[found, member, OFFSET, offset]) if found == block && member == first => Some(offset),
        _ => None,
    })
}
