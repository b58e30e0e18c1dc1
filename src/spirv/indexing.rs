//! Branches in the place of dynamic indices, for devices that index arrays of storage buffers by constants alone.
//!
//! Where the index `i` of an access `x = buffers[i].words[k]` is not a constant, each element has the access in a branch:
//!
//! ```text
//! if (i == 0) a = buffers[0].words[k]; else if (i == 1) b = buffers[1].words[k]; else c = buffers[2].words[k];
//! x = phi(a, b, c);
//! ```

use std::collections::{BTreeMap, BTreeSet};

use ::spirv::{Capability, Op, SelectionControl, StorageClass};

use super::instruction::{HEADER_WORDS, Instruction, SpirvError, emit, instructions};

const DYNAMIC_INDEXING: u32 = Capability::StorageBufferArrayDynamicIndexing as u32;
const STORAGE_BUFFER: u32 = StorageClass::StorageBuffer as u32;
/// Most elements of an array that is indexed dynamically, each of which has a copy of the access.
const MAX_ELEMENTS: u32 = 16;

/// The module without dynamic indices of arrays of storage buffers, and without their capability.
pub(super) fn make_constant(words: &[u32]) -> Result<Vec<u32>, SpirvError> {
    let instructions = instructions(words)?;
    let mut branching =
        Branching { found: find(&instructions)?, out: words[..HEADER_WORDS].to_vec(), ..Branching::default() };
    for (index, instruction) in instructions.iter().enumerate() {
        branching.rewrite(instruction, &instructions[index..])?;
    }
    Ok(branching.finish())
}

/// A pointer into an array of storage buffers, through a dynamic index.
#[derive(Clone, Copy)]
struct Pointer<'a> {
    op: Op,
    result_type: u32,
    array: u32,
    index: u32,
    /// What follows the index of the buffer.
    rest: &'a [u32],
    elements: u32,
}

/// What the branches of a module use.
#[derive(Default)]
struct Found<'a> {
    pointers: BTreeMap<u32, Pointer<'a>>,
    /// Most elements that a pointer chooses among.
    most: u32,
    bool_type: u32,
    /// The type of unsigned integers of 32 bits.
    word_type: u32,
    /// Types of 8 and 16 bits, and types that hold them; integers with their conversion.
    small: BTreeMap<u32, Option<Op>>,
}

/// The pointers with a dynamic index. A module has types, constants and variables before its functions.
fn find<'a>(instructions: &[Instruction<'a>]) -> Result<Found<'a>, SpirvError> {
    let mut found = Found::default();
    // Their values; 0 if it is unknown here.
    let mut constants = BTreeMap::new();
    // The lengths of arrays, by type, by pointer to the type, and by variable; 0 if it is unknown here.
    let mut arrays: BTreeMap<u32, u32> = BTreeMap::new();
    // Types of integers of other than 32 bits, and values of these types.
    let mut odd = BTreeSet::new();
    for instruction in instructions {
        match (instruction.op, instruction.operands()) {
            (Op::TypeInt, &[id, bits, _]) if bits != 32 => _ = odd.insert(id),
            (_, &[of, id, ..]) if odd.contains(&of) => _ = odd.insert(id),
            _ => {}
        }
        match (instruction.op, instruction.operands()) {
            (Op::TypeBool, &[id]) => found.bool_type = id,
            (Op::TypeInt, &[id, 32, 0]) => found.word_type = id,
            (Op::TypeInt, &[id, 8 | 16, sign]) => {
                found.small.insert(id, Some(if sign == 0 { Op::UConvert } else { Op::SConvert }));
            }
            (Op::TypeFloat, &[id, 16, ..]) => _ = found.small.insert(id, None),
            (Op::TypeVector, &[id, ref parts @ .., _]) | (Op::TypeStruct, &[id, ref parts @ ..])
                if parts.iter().any(|part| found.small.contains_key(part)) =>
            {
                found.small.insert(id, None);
            }
            (Op::Constant, &[_, id, value, ..]) => _ = constants.insert(id, value),
            (Op::ConstantNull | Op::SpecConstant | Op::SpecConstantOp, &[_, id, ..]) => _ = constants.insert(id, 0),
            (Op::TypeArray, &[array, _, length]) => {
                arrays.insert(array, constants.get(&length).copied().unwrap_or_default());
            }
            (Op::TypeRuntimeArray, &[array, _]) => _ = arrays.insert(array, 0),
            (Op::TypePointer, &[of, STORAGE_BUFFER, to]) | (Op::Variable, &[to, of, STORAGE_BUFFER, ..]) => {
                let length = arrays.get(&to).copied();
                arrays.extend(length.map(|length| (of, length)));
            }
            (op @ (Op::AccessChain | Op::InBoundsAccessChain), &[result_type, id, array, index, ref rest @ ..]) => {
                let Some(&elements) = arrays.get(&array).filter(|_| !constants.contains_key(&index)) else { continue };
                if !(1..=MAX_ELEMENTS).contains(&elements) {
                    let given = if elements == 0 { "an unknown number of".into() } else { elements.to_string() };
                    let reason = format!("selects one of {given} storage buffers, allowed are {MAX_ELEMENTS}");
                    return Err(SpirvError { at: instruction.at, reason });
                }
                if odd.contains(&index) {
                    let reason = "selects a storage buffer by an integer of other than 32 bits".into();
                    return Err(SpirvError { at: instruction.at, reason });
                }
                found.most = found.most.max(elements);
                found.pointers.insert(id, Pointer { op, result_type, array, index, rest, elements });
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The operand of an instruction that is the pointer of its access. The others have a result before it.
fn position_of_pointer(op: Op) -> Option<usize> {
    // The opcodes of atomics are in a row.
    const ATOMICS: std::ops::RangeInclusive<u32> = Op::AtomicLoad as u32..=Op::AtomicXor as u32;
    match op {
        Op::Store | Op::AtomicStore => Some(0),
        Op::Load | Op::ArrayLength | Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => Some(2),
        op => ATOMICS.contains(&(op as u32)).then_some(2),
    }
}

/// Whether an instruction may have a pointer to a buffer, and is not the access.
fn passes_on_pointers(op: Op) -> bool {
    let chains = [Op::AccessChain, Op::InBoundsAccessChain, Op::PtrAccessChain, Op::InBoundsPtrAccessChain];
    let copies = [Op::CopyMemory, Op::CopyMemorySized, Op::CopyObject, Op::Phi, Op::Select];
    chains.contains(&op) || copies.contains(&op) || [Op::FunctionCall, Op::ExtInst].contains(&op)
}

/// An access through a pointer with a dynamic index.
struct Access<'a> {
    op: Op,
    operands: &'a [u32],
    /// The operand that is the pointer.
    position: usize,
    pointer: Pointer<'a>,
    /// The conversion of a small integer, which phis may not have without a further capability, to a word and back.
    conversion: Option<Op>,
}

#[derive(Default)]
struct Branching<'a> {
    found: Found<'a>,
    out: Vec<u32>,
    /// The constants 0, 1, and so on; none before the first function.
    numbers: Vec<u32>,
    /// The label of the current block in the given module, and of the part of it that is being written.
    block: u32,
    part: u32,
    /// Whether the current block has its `LoopMerge` already.
    merged: bool,
    /// The label of the last part of each block that was split.
    last_parts: BTreeMap<u32, u32>,
    /// The new continue target of each loop that was a single block.
    continues: BTreeMap<u32, u32>,
    /// Positions of the given phis in the output, with their blocks.
    phis: Vec<(usize, u32)>,
}

impl Branching<'_> {
    /// Ids that the module does not have. The header holds the next one.
    fn fresh<const N: usize>(&mut self) -> [u32; N] {
        let first = self.out[3];
        self.out[3] = first.wrapping_add(N as u32);
        std::array::from_fn(|index| first.wrapping_add(index as u32))
    }

    /// Appends an instruction, or what takes its place. `ahead` begins with it.
    fn rewrite(&mut self, instruction: &Instruction<'_>, ahead: &[Instruction<'_>]) -> Result<(), SpirvError> {
        let (op, operands) = (instruction.op, instruction.operands());
        let pointers = &self.found.pointers;
        match (op, operands) {
            (Op::Capability, &[DYNAMIC_INDEXING]) => return Ok(()),
            (Op::Name | Op::Decorate, &[id, ..]) if pointers.contains_key(&id) => return Ok(()),
            (Op::AccessChain | Op::InBoundsAccessChain, &[_, id, ..]) if pointers.contains_key(&id) => return Ok(()),
            (Op::LoopMerge, _) if self.merged => return Ok(()),
            (Op::Function, _) if self.numbers.len() < self.found.most as usize => self.declare(),
            (Op::Label, &[block]) => (self.block, self.part, self.merged) = (block, block, false),
            (Op::Phi, _) => self.phis.push((self.out.len(), self.block)),
            (Op::Branch | Op::BranchConditional | Op::Switch, _) if self.continues.contains_key(&self.block) => {
                self.branch_back(instruction);
                return Ok(());
            }
            _ => {}
        }
        let pointers = &self.found.pointers;
        if let Some(position) = position_of_pointer(op)
            && let Some(&pointer) = operands.get(position).and_then(|id| pointers.get(id))
        {
            let conversion = self.found.small.get(&operands[0]).copied().filter(|_| position > 0);
            if conversion == Some(None) {
                let reason = "loads vectors, floats or structures of less than 32 bits through a dynamic index".into();
                return Err(SpirvError { at: instruction.at, reason });
            }
            self.branch(&Access { op, operands, position, pointer, conversion: conversion.flatten() }, ahead);
        } else if passes_on_pointers(op) && operands.iter().any(|id| pointers.contains_key(id)) {
            let reason = format!("passes on a pointer through a dynamic index: opcode {}", op as u32);
            return Err(SpirvError { at: instruction.at, reason });
        } else {
            self.out.extend_from_slice(instruction.words);
        }
        Ok(())
    }

    /// Appends what indices are compared with, in front of the first function.
    fn declare(&mut self) {
        if self.found.bool_type == 0 {
            [self.found.bool_type] = self.fresh();
            emit(&mut self.out, Op::TypeBool, &[self.found.bool_type]);
        }
        for number in 0..self.found.most {
            let [id] = self.fresh();
            emit(&mut self.out, Op::Constant, &[self.found.word_type, id, number]);
            self.numbers.push(id);
        }
    }

    /// Appends an access as branches, which split the current block.
    fn branch(&mut self, access: &Access<'_>, ahead: &[Instruction<'_>]) {
        let mut block = ahead.iter().take_while(|instruction| instruction.op != Op::Label);
        if !self.merged
            && let Some(merge) = block.find(|instruction| instruction.op == Op::LoopMerge)
        {
            // The back edge leads to the first part, which has to end as the header of the loop.
            match merge.operands() {
                // The loop is one block, and its parts need another block to continue with.
                &[end, next, ref control @ ..] if next == self.block => {
                    let [target] = self.fresh();
                    self.continues.insert(self.block, target);
                    emit(&mut self.out, Op::LoopMerge, &[&[end, target], control].concat());
                }
                _ => self.out.extend_from_slice(merge.words),
            }
            [self.part] = self.fresh();
            emit(&mut self.out, Op::Branch, &[self.part]);
            emit(&mut self.out, Op::Label, &[self.part]);
            self.merged = true;
        }
        match (access.position, access.conversion) {
            (0, _) => self.choose(access, 0, 0),
            (_, None) => self.choose(access, 0, access.operands[1]),
            (_, Some(conversion)) => {
                let [word] = self.fresh();
                self.choose(access, 0, word);
                emit(&mut self.out, conversion, &[access.operands[0], access.operands[1], word]);
            }
        }
        self.last_parts.insert(self.block, self.part);
    }

    /// Appends the end of a loop that was one block: its last part leads to the new continue target, and that to the first part.
    fn branch_back(&mut self, end: &Instruction<'_>) {
        let (block, target) = (self.block, self.continues[&self.block]);
        let operands: Vec<u32> = end.operands().iter().map(|id| if *id == block { target } else { *id }).collect();
        emit(&mut self.out, end.op, &operands);
        emit(&mut self.out, Op::Label, &[target]);
        emit(&mut self.out, Op::Branch, &[block]);
    }

    /// Appends the choice among the elements from `element` on. If the access has a result, it is `result`.
    fn choose(&mut self, access: &Access<'_>, element: u32, result: u32) {
        if element + 1 >= access.pointer.elements {
            return self.access(access, element, result);
        }
        let [condition, equal, other, merge, first, rest] = self.fresh();
        let number = self.number(element);
        emit(&mut self.out, Op::IEqual, &[self.found.bool_type, condition, access.pointer.index, number]);
        emit(&mut self.out, Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        emit(&mut self.out, Op::BranchConditional, &[condition, equal, other]);
        emit(&mut self.out, Op::Label, &[equal]);
        self.access(access, element, first);
        emit(&mut self.out, Op::Branch, &[merge]);
        emit(&mut self.out, Op::Label, &[other]);
        self.part = other;
        self.choose(access, element + 1, rest);
        emit(&mut self.out, Op::Branch, &[merge]);
        emit(&mut self.out, Op::Label, &[merge]);
        if access.position > 0 {
            let result_type = access.conversion.map_or(access.operands[0], |_| self.found.word_type);
            emit(&mut self.out, Op::Phi, &[result_type, result, first, equal, rest, self.part]);
        }
        self.part = merge;
    }

    /// Appends the access to one element.
    fn access(&mut self, access: &Access<'_>, element: u32, result: u32) {
        let Pointer { op, result_type, array, rest, .. } = access.pointer;
        let [pointer, small] = self.fresh();
        let head = [result_type, pointer, array, self.number(element)];
        emit(&mut self.out, op, &[&head, rest].concat());
        let mut operands = access.operands.to_vec();
        operands[access.position] = pointer;
        if access.position > 0 {
            operands[1] = access.conversion.map_or(result, |_| small);
        }
        emit(&mut self.out, access.op, &operands);
        if let Some(conversion) = access.conversion {
            emit(&mut self.out, conversion, &[self.found.word_type, result, small]);
        }
    }

    /// The constant of an element. A module with an access outside of functions has none, and is not valid.
    fn number(&self, element: u32) -> u32 {
        self.numbers.get(element as usize).copied().unwrap_or_default()
    }

    /// The module. Phis name the last parts of the blocks before them; in a loop that was one block, its continue target.
    fn finish(mut self) -> Vec<u32> {
        for (at, block) in self.phis {
            let length = (self.out[at] >> 16) as usize;
            for parent in self.out[at..at + length].iter_mut().skip(4).step_by(2) {
                let back = self.continues.get(parent).filter(|_| *parent == block);
                *parent = *back.or(self.last_parts.get(parent)).unwrap_or(parent);
            }
        }
        self.out
    }
}
