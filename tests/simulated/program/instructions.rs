//! The instructions of functions as steps.

use super::*;

impl Builder {
    pub(super) fn read(&mut self, label: u32, instruction: &Instruction, blocks: &[Block]) {
        let operands = &instruction.operands;
        let result = instruction.result_id.unwrap_or_default();
        let to = self.at.get(&result).copied().unwrap_or_default();
        let words = instruction.result_type.map_or(0, |of| self.words(of));
        let at = |operand: usize| self.register(&operands[operand]);
        let op = instruction.class.opcode;
        let step = match op {
            // Registers and variables have their places; the way of phis is that of jumps.
            Op::Variable | Op::Phi | Op::SelectionMerge | Op::LoopMerge | Op::Undef | Op::Label | Op::Nop => return,
            Op::Bitcast | Op::CopyObject | Op::CopyLogical => Step::Copy { to, from: at(0), words },
            Op::CompositeConstruct => return self.construct(result, to, operands),
            Op::CompositeExtract => {
                let offset = self.offset_in(self.of[&id(&operands[0])], &operands[1..]);
                Step::Copy { to, from: at(0) + offset, words }
            }
            Op::CompositeInsert => {
                let (part, offset) =
                    (self.words_of(&operands[0]), self.offset_in(self.of[&id(&operands[1])], &operands[2..]));
                self.emit(result, Step::Copy { to, from: at(1), words });
                Step::Copy { to: to + offset, from: self.register(&operands[0]), words: part }
            }
            Op::VectorShuffle => {
                let first = self.words_of(&operands[0]);
                for (component, selected) in (to..).zip(&operands[2..]) {
                    let selected = number(selected);
                    let from = match selected < first {
                        true => self.register(&operands[0]) + selected,
                        false => self.register(&operands[1]) + selected - first,
                    };
                    self.emit(result, Step::Copy { to: component, from, words: 1 });
                }
                return;
            }
            Op::VectorExtractDynamic => {
                Step::Pick { to, from: at(0), index: at(1), words: self.words_of(&operands[0]) }
            }
            Op::Not | Op::LogicalNot | Op::SNegate | Op::FNegate | Op::BitCount | Op::BitReverse => {
                Step::Unary { op, to, a: at(0), words, bits: 32 }
            }
            Op::ConvertUToF | Op::ConvertSToF | Op::ConvertFToU | Op::ConvertFToS => {
                Step::Unary { op, to, a: at(0), words, bits: 32 }
            }
            Op::UConvert => {
                Step::Unary { op, to, a: at(0), words, bits: 8 * self.scalar(instruction.result_type.unwrap()).1 }
            }
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended => Step::Wide { op, to, a: at(0), b: at(1) },
            Op::Select => {
                // A condition for each component, or one for all.
                let step = if self.words_of(&operands[0]) > 1 { 1 } else { 0 };
                Step::Select { to, condition: at(0), step, a: at(1), b: at(2), words }
            }
            Op::BitFieldInsert => Step::Field { op, to, operands: [at(0), at(1), at(2), at(3)], words },
            Op::BitFieldSExtract | Op::BitFieldUExtract => {
                Step::Field { op, to, operands: [at(0), at(1), at(2), at(2)], words }
            }
            Op::ExtInst => {
                let Operand::LiteralExtInstInteger(number) = operands[1] else { panic!("{:?}", operands[1]) };
                let extended = GlslStd450Op::from_u32(number).unwrap_or_else(|| panic!("GLSL.std.450 has no {number}"));
                let operand = |index: usize| at((2 + index).min(operands.len() - 1));
                Step::Extended { op: extended, to, operands: [operand(0), operand(1), operand(2)], words }
            }
            Op::AccessChain | Op::InBoundsAccessChain => return self.access(result, to, operands),
            Op::Load => Step::Load { to, pointer: at(0), cells: self.cells(&operands[0]) },
            Op::Store => Step::Store { pointer: at(0), from: at(1), cells: self.cells(&operands[0]) },
            Op::AtomicLoad | Op::AtomicStore | Op::AtomicIAdd | Op::AtomicUMax | Op::AtomicAnd | Op::AtomicOr => {
                assert!(self.constants[&id(&operands[2])] == 0, "atomics of kernels are relaxed");
                let value = operands.get(3).map_or(0, |value| self.register(value));
                let (class, is_used) = (self.cells(&operands[0]).class, self.used.contains(&result));
                Step::Atomic { op, to, pointer: at(0), value, class, is_used }
            }
            Op::MemoryBarrier => Step::Fence { semantics: self.constants[&id(&operands[1])] },
            Op::ControlBarrier => {
                let constant = |operand: usize| self.constants[&id(&operands[operand])];
                let workgroup = constant(0) == SCOPE_WORKGROUP;
                assert!(workgroup || constant(0) == SCOPE_SUBGROUP);
                Step::Collective(Collective {
                    op,
                    to,
                    value: 0,
                    lane: 0,
                    operation: 0,
                    workgroup,
                    semantics: constant(2),
                })
            }
            Op::GroupNonUniformIAdd | Op::GroupNonUniformUMax => {
                let Operand::GroupOperation(operation) = operands[1] else { panic!("{:?}", operands[1]) };
                let operation = operation as u32;
                Step::Collective(Collective {
                    op,
                    to,
                    value: at(2),
                    lane: 0,
                    operation,
                    workgroup: false,
                    semantics: 0,
                })
            }
            Op::GroupNonUniformElect => {
                Step::Collective(Collective { op, to, value: 0, lane: 0, operation: 0, workgroup: false, semantics: 0 })
            }
            Op::GroupNonUniformBallot
            | Op::GroupNonUniformShuffle
            | Op::GroupNonUniformShuffleXor
            | Op::GroupNonUniformBroadcast
            | Op::GroupNonUniformBroadcastFirst => {
                let (first, last) = (operands.len().min(2) - 1, operands.len() - 1);
                let (value, lane) = (at(first), at(last));
                Step::Collective(Collective { op, to, value, lane, operation: 0, workgroup: false, semantics: 0 })
            }
            Op::Branch => return self.jump(label, id(&operands[0]), blocks),
            Op::BranchConditional => {
                let (branch, condition) = (self.steps.len(), at(0));
                self.emit(label, Step::Unreachable);
                self.jump(label, id(&operands[1]), blocks);
                let otherwise = self.steps.len() as u32;
                self.jump(label, id(&operands[2]), blocks);
                self.steps[branch] = Step::Branch { condition, then: branch as u32 + 1, otherwise };
                return;
            }
            Op::Switch => {
                let (switch, selector) = (self.steps.len(), at(0));
                self.emit(label, Step::Unreachable);
                let default = self.steps.len() as u32;
                self.jump(label, id(&operands[1]), blocks);
                let mut cases = Vec::new();
                for case in operands[2..].chunks_exact(2) {
                    cases.push((number(&case[0]), self.steps.len() as u32));
                    self.jump(label, id(&case[1]), blocks);
                }
                self.steps[switch] = Step::Switch { selector, cases: cases.into(), default };
                return;
            }
            Op::FunctionCall => {
                let function = id(&operands[0]);
                let parameters = self.functions[&function].1.clone();
                for (parameter, argument) in parameters.into_iter().zip(&operands[1..]) {
                    let (from, words) = (self.register(argument), self.words_of(argument));
                    self.emit(result, Step::Copy { to: parameter, from, words });
                }
                Step::Call { function, to, words }
            }
            Op::Return => Step::Return { from: None, words: 0 },
            Op::ReturnValue => Step::Return { from: Some(at(0)), words: self.words_of(&operands[0]) },
            Op::Unreachable => Step::Unreachable,
            _ => {
                let extra = if operands.len() == 2 { at(1) } else { panic!("kernels have no {op:?}") };
                Step::Binary { op, to, a: at(0), b: extra, words }
            }
        };
        self.emit(if result == 0 { label } else { result }, step);
    }

    fn construct(&mut self, result: u32, mut to: u32, parts: &[Operand]) {
        for part in parts {
            let (from, words) = (self.register(part), self.words_of(part));
            self.emit(result, Step::Copy { to, from, words });
            to += words;
        }
    }

    /// The words before a part of a value, by literal indices.
    fn offset_in(&self, of: u32, indices: &[Operand]) -> u32 {
        let Some((first, rest)) = indices.split_first() else { return 0 };
        let index = number(first);
        let (before, part) = match &self.types[&of] {
            Type::Vector { of, .. } => (index, *of),
            Type::Array { of, .. } => (index * self.words(*of), *of),
            Type::Struct { members } => {
                let before = members[..index as usize].iter().map(|member| self.words(*member)).sum();
                (before, members[index as usize])
            }
            other => panic!("{other:?} has no parts"),
        };
        before + self.offset_in(part, rest)
    }

    /// The number of scalars of a type, and the bytes of each.
    fn scalar(&self, of: u32) -> (u32, u32) {
        match &self.types[&of] {
            Type::Scalar { bytes } => (1, *bytes),
            Type::Vector { of, count } => (*count, self.scalar(*of).1),
            _ => (self.words(of), 4),
        }
    }

    fn cells(&self, pointer: &Operand) -> Cells {
        let Type::Pointer { class, to } = self.types[&self.of[&id(pointer)]] else {
            panic!("{pointer:?} is no pointer")
        };
        let in_bytes = matches!(class, Class::Push | Class::Buffer | Class::Address);
        let is_plain = matches!(self.types[&to], Type::Scalar { .. } | Type::Vector { .. });
        assert!(!in_bytes || is_plain, "kernels load scalars and vectors from buffers");
        let (count, bytes) = self.scalar(to);
        Cells { class, count, bytes, is_whole: !is_plain }
    }

    fn access(&mut self, result: u32, to: u32, operands: &[Operand]) {
        let Type::Pointer { class, to: mut of } = self.types[&self.of[&id(&operands[0])]] else { panic!("no pointer") };
        let in_bytes = matches!(class, Class::Push | Class::Buffer | Class::Address);
        let (mut offset, mut indices) = (0, Vec::new());
        for operand in &operands[1..] {
            let constant = self.constants.get(&id(operand)).copied();
            let (part, stride, length, descriptor) = match &self.types[&of] {
                Type::Struct { members } => {
                    let member = constant.expect("members have constant indices");
                    offset += match in_bytes {
                        true => self.offsets[&(of, member)],
                        false => members[..member as usize].iter().map(|member| self.words(*member)).sum(),
                    };
                    of = members[member as usize];
                    continue;
                }
                Type::Vector { of, count } => (*of, if in_bytes { self.scalar(*of).1 } else { 1 }, Some(*count), false),
                Type::Array { of: part, length } => match (in_bytes, self.strides.get(&of)) {
                    (true, Some(stride)) => (*part, *stride, *length, false),
                    (true, None) => (*part, 1, *length, true),
                    (false, _) => (*part, self.words(*part), *length, false),
                },
                other => panic!("{other:?} has no parts"),
            };
            of = part;
            match constant.filter(|_| !descriptor) {
                Some(index) => {
                    assert!(length.is_none_or(|length| index < length), "a constant index is out of bounds");
                    offset += index * stride;
                }
                None => indices.push(Index { register: self.register(operand), stride, length, descriptor }),
            }
        }
        let base = self.register(&operands[0]);
        self.emit(result, Step::Access { to, base, class, offset, indices: indices.into() });
    }
}

const SCOPE_WORKGROUP: u32 = 2;
const SCOPE_SUBGROUP: u32 = 3;
