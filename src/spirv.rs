//! Rewrites SPIR-V modules before a driver sees them, without a device: folds specialization constants, keeps loops as
//! loops, declares which buffers may be the same memory.
//!
//! Drivers differ in their support of specialization constants, above all as sizes of arrays. A folded module has none: it
//! equals the output of a compiler for a source with the plain numbers.
//!
//! Folding leaves control flow unchanged. Every driver can remove branches on a constant; removing them here would take changes
//! of phis, merge blocks and loop headers, without need.

mod fold;
mod instruction;

use std::collections::{BTreeMap, BTreeSet};

use ::spirv::{Decoration, LoopControl, Op, StorageClass};

use fold::Folding;
pub use instruction::SpirvError;
use instruction::{HEADER_WORDS, Instruction, emit, instructions};

use crate::abi;

/// The changes to make to a module; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rewrite<'a> {
    /// Values of the specialization constants, by `SpecId`. A constant beyond the slice keeps its default. A boolean one is
    /// true unless its value is 0. `None` leaves specialization to the driver.
    ///
    /// No `SpecId` remains. The size of the workgroup goes to the execution mode `LocalSize`, and the decoration
    /// `WorkgroupSize`, which has precedence, is removed.
    pub constants: Option<&'a [u32]>,
    /// Replaces the loop control `Unroll` by `DontUnroll`.
    pub keep_loops: bool,
    /// Adds the decoration `Aliased` to storage buffers that may be the same memory: those of keys and values, variables that share
    /// a binding, and arrays of descriptors. Without it, drivers may assume that they are distinct.
    pub declare_aliases: bool,
}

impl Rewrite<'_> {
    /// The module with these changes. Every other instruction stays unchanged.
    ///
    /// # Errors
    ///
    /// * `words` is not a whole SPIR-V module.
    /// * An operation on specialization constants has no defined result, such as a division by zero, or no kernel has it.
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
                // Only the mask without operands: other masks are followed by iteration counts.
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

/// Variables without `Aliased` that may be the same memory as another variable, or as another element of themselves.
///
/// What a kernel reads and what it writes may be the same buffer in place. Variables that share a binding are views of it, and two
/// elements of an array of a visitor's descriptors may be one buffer. `Restrict` declares that a variable has no alias.
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
    let moves =
        |variable| places.get(variable).is_some_and(|(set, binding)| *set == 0 && *binding < abi::BINDING_COUNTERS);
    let aliased =
        buffers.iter().filter(|(variable, pointer)| arrays.contains(pointer) || shares(variable) || moves(variable));
    aliased.map(|(variable, _)| *variable).filter(|variable| !declared.contains(variable)).collect()
}

/// Whether a module has resources in a descriptor set; not for invalid SPIR-V.
pub(crate) fn has_set(words: &[u32], set: u32) -> bool {
    let decorates = |instruction: &Instruction<'_>| {
        instruction.op == Op::Decorate && matches!(instruction.operands(), &[_, SET, found] if found == set)
    };
    instructions(words).is_ok_and(|instructions| instructions.iter().any(decorates))
}

/// Whether a module indexes an array of storage buffers by a number that is no constant; not for invalid SPIR-V.
pub(crate) fn varies_in_buffers(words: &[u32]) -> bool {
    // Arrays, pointers to arrays of buffers, what has such a type, and constants, by id.
    let (mut arrays, mut pointers, mut bases) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut constants = BTreeSet::new();
    for instruction in instructions(words).unwrap_or_default() {
        match (instruction.op, instruction.operands()) {
            (Op::TypeArray | Op::TypeRuntimeArray, &[array, ..]) => _ = arrays.insert(array),
            (Op::TypePointer, &[pointer, STORAGE_BUFFER, to]) if arrays.contains(&to) => _ = pointers.insert(pointer),
            (Op::Variable | Op::FunctionParameter, &[kind, id, ..]) if pointers.contains(&kind) => _ = bases.insert(id),
            (Op::Constant | Op::SpecConstant | Op::SpecConstantOp, &[_, id, ..]) => _ = constants.insert(id),
            (Op::AccessChain | Op::InBoundsAccessChain, &[_, _, base, index, ..])
                if bases.contains(&base) && !constants.contains(&index) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}
