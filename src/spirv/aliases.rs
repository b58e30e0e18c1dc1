//! Which storage buffers may be the same memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{Instruction, SpirvError, code};

/// Variables that may be the same memory as another, or as themselves by another index, and do not say so yet.
///
/// The elements of an array of descriptors are bound one by one, and in place two of them are one buffer. Variables that
/// share a binding are views of it. One with `Restrict` is the author's word to the contrary.
pub(super) fn undeclared(instructions: &[Instruction<'_>]) -> Result<Vec<u32>, SpirvError> {
    let (mut sets, mut bindings) = (BTreeMap::new(), BTreeMap::new());
    let (mut declared, mut arrays) = (BTreeSet::new(), BTreeSet::new());
    let (mut pointees, mut buffers) = (BTreeMap::new(), Vec::new());
    for instruction in instructions {
        let operand = |index| instruction.operand(index);
        match instruction.opcode {
            code::DECORATE => {
                let target = operand(0)?;
                match operand(1)? {
                    code::DECORATION_DESCRIPTOR_SET => {
                        sets.insert(target, operand(2)?);
                    }
                    code::DECORATION_BINDING => {
                        bindings.insert(target, operand(2)?);
                    }
                    code::DECORATION_ALIASED | code::DECORATION_RESTRICT => {
                        declared.insert(target);
                    }
                    _ => {}
                }
            }
            code::TYPE_ARRAY => {
                arrays.insert(operand(0)?);
            }
            code::TYPE_POINTER => {
                pointees.insert(operand(0)?, operand(2)?);
            }
            code::VARIABLE if operand(2)? == code::STORAGE_BUFFER => buffers.push((operand(1)?, operand(0)?)),
            _ => {}
        }
    }
    let place = |id: &u32| Some((*sets.get(id)?, *bindings.get(id)?));
    let mut variables_at = BTreeMap::new();
    for at in buffers.iter().filter_map(|(id, _)| place(id)) {
        *variables_at.entry(at).or_insert(0) += 1;
    }
    let shares = |id: &u32| place(id).is_some_and(|at| variables_at[&at] > 1);
    let is_array = |pointer: &u32| pointees.get(pointer).is_some_and(|pointee| arrays.contains(pointee));
    let aliased = buffers.iter().filter(|(id, pointer)| (shares(id) || is_array(pointer)) && !declared.contains(id));
    Ok(aliased.map(|(id, _)| *id).collect())
}
