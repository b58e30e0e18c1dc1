//! A check in front of a kernel's code: whether its subgroups have the size that it was made for.
//!
//! The check is put into modules for the drivers that need it. A specialization constant would leave it in those of all others,
//! where validation layers take its store for one of every sort.

use ::spirv::{BuiltIn, Decoration, Op, StorageClass};

use super::instruction::{Instruction, SpirvError, emit, instructions};
use crate::abi;

/// What a module checks first. If it fails, the module does nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// A workgroup of so many invocations consists of subgroups of this size. Otherwise the size that they have is written to the
    /// word `COUNTERS_REFUSED` of the counters.
    Subgroups {
        /// Invocations of a workgroup, a multiple of the size.
        invocations: u32,
        /// The size.
        size: u32,
    },
    /// The word is 0: no kernel before this one has failed.
    Word,
}

/// The word of a module with the bound of its ids.
const BOUND: usize = 3;
const DEVICE: u32 = ::spirv::Scope::Device as u32;

impl Check {
    /// The module with the check.
    pub(super) fn insert(self, words: &[u32]) -> Result<Vec<u32>, SpirvError> {
        let all = instructions(words)?;
        // The first from here on of this kind, with these operands behind its first.
        let find = |from: usize, op: Op, rest: &[u32]| {
            let is_it = |one: &Instruction<'_>| one.op == op && one.operands().get(1..=rest.len()) == Some(rest);
            let found = all.iter().skip(from).position(is_it).map(|index| from + index);
            found.ok_or_else(|| SpirvError { at: 0, reason: format!("is no kernel: no opcode is {}", op as u32) })
        };
        // These types may be declared once only, and every kernel has them.
        let of_type = |op, rest: &[u32]| find(0, op, rest).map(|index| all[index].operands()[0]);
        let (uint, bool) = (of_type(Op::TypeInt, &[32, 0])?, of_type(Op::TypeBool, &[])?);
        let (entry, annotations, globals) =
            (find(0, Op::EntryPoint, &[])?, find(0, Op::Decorate, &[])?, find(0, Op::Function, &[])?);
        let label = find(find(0, Op::Function, &all[entry].operands()[1..2])?, Op::Label, &[])?;
        let code = (label + 1..all.len()).find(|index| all[*index].op != Op::Variable).unwrap_or(label);
        let first = all[label].operands()[0];

        let [block, to_block, to_word, counters, to_input, subgroups] =
            std::array::from_fn(|index| words[BOUND] + index as u32);
        let [zero, device, expected, invocations, start, failed] =
            std::array::from_fn(|index| subgroups + 1 + index as u32);
        let [place, given, fails, size, bound] = std::array::from_fn(|index| failed + 1 + index as u32);
        let (storage, input) = (StorageClass::StorageBuffer as u32, StorageClass::Input as u32);
        let (number, read_only) = (BuiltIn::NumSubgroups as u32, Decoration::NonWritable as u32);
        type Added<'a> = &'a [(Op, &'a [u32])];
        let word: Added<'_> = &[(Op::AccessChain, &[to_word, place, counters, zero])];
        let (workgroup, lanes, interface) = match self {
            Check::Subgroups { invocations, size } => (invocations, size, &[counters, subgroups][..]),
            Check::Word => (0, 1, &[counters][..]),
        };
        let interface = [all[entry].operands(), interface].concat();
        // Layers may take a buffer for one that is written, unless it says otherwise.
        let annotation: Added<'_> = match self {
            Check::Subgroups { .. } => &[(Op::Decorate, &[subgroups, Decoration::BuiltIn as u32, number])],
            Check::Word => &[(Op::Decorate, &[counters, read_only]), (Op::MemberDecorate, &[block, 0, read_only])],
        };
        let (variable, read, failure): (Added<'_>, Added<'_>, Added<'_>) = match self {
            Check::Subgroups { .. } => (
                &[(Op::TypePointer, &[to_input, input, uint]), (Op::Variable, &[to_input, subgroups, input])],
                &[(Op::Load, &[uint, given, subgroups])],
                &[
                    (Op::UDiv, &[uint, size, invocations, given]),
                    word[0],
                    (Op::AtomicStore, &[place, device, zero, size]),
                ],
            ),
            Check::Word => (&[], &[word[0], (Op::Load, &[uint, given, place])], &[]),
        };
        let (mut out, mut copied) = (Vec::new(), 0);
        // Copies up to an instruction, and adds others, perhaps in its place.
        let mut add = |before: usize, replaces: bool, added: &[Added<'_>]| {
            out.extend_from_slice(&words[copied..all[before].at]);
            added.iter().copied().flatten().for_each(|(op, operands)| emit(&mut out, *op, operands));
            copied = all[before].at + if replaces { all[before].words.len() } else { 0 };
        };
        add(entry, true, &[&[(Op::EntryPoint, &interface)]]);
        let shared: Added<'_> = &[
            (Op::Decorate, &[block, Decoration::Block as u32]),
            (Op::MemberDecorate, &[block, 0, Decoration::Offset as u32, 4 * abi::COUNTERS_REFUSED]),
            (Op::Decorate, &[counters, Decoration::DescriptorSet as u32, 0]),
            (Op::Decorate, &[counters, Decoration::Binding as u32, abi::BINDING_COUNTERS]),
        ];
        add(annotations, false, &[shared, annotation]);
        let shared: Added<'_> = &[
            (Op::TypeStruct, &[block, uint]),
            (Op::TypePointer, &[to_block, storage, block]),
            (Op::TypePointer, &[to_word, storage, uint]),
            (Op::Variable, &[to_block, counters, storage]),
            (Op::Constant, &[uint, zero, 0]),
            (Op::Constant, &[uint, device, DEVICE]),
            (Op::Constant, &[uint, expected, workgroup / lanes]),
            (Op::Constant, &[uint, invocations, workgroup]),
        ];
        add(globals, false, &[shared, variable]);
        // The check is a block in front of the first one, which keeps its label, because later blocks may name it. Variables of
        // the function stay in front.
        add(label, true, &[&[(Op::Label, &[start])]]);
        let branch: Added<'_> = &[
            (Op::INotEqual, &[bool, fails, given, expected]),
            (Op::SelectionMerge, &[first, 0]),
            (Op::BranchConditional, &[fails, failed, first]),
            (Op::Label, &[failed]),
        ];
        add(code, false, &[read, branch, failure, &[(Op::Return, &[]), (Op::Label, &[first])]]);
        out.extend_from_slice(&words[all[code].at..]);
        out[BOUND] = bound;
        Ok(out)
    }
}
