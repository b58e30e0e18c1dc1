//! A kernel's SPIR-V module as a list of steps: every id has its words in an invocation's registers, every variable its words in
//! a memory, and every access chain its strides and bounds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rspirv::binary::parse_words;
use rspirv::dr::{Block, Instruction, Loader, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, GlslStd450Op, Op, StorageClass};

/// The memory of a pointer, with the unit of its offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Variables of an invocation, in words.
    Private,
    /// Shared memory, in words.
    Shared,
    /// Built-in variables, in words.
    Input,
    /// Push constants, in bytes.
    Push,
    /// A descriptor, in bytes. The pointer's first word names the descriptor.
    Buffer,
    /// An address of two words, in bytes.
    Address,
}

/// What a step reads or writes in memory.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    pub class: Class,
    /// Scalars.
    pub count: u32,
    /// Bytes of a scalar in buffers.
    pub bytes: u32,
    /// Whether it is an array or a struct. Copied as a whole, it may have parts that nothing has written.
    pub is_whole: bool,
}

/// A dynamic index of an access chain.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    pub register: u32,
    pub stride: u32,
    /// Indices from here on are out of bounds; `None` for arrays that end with their buffer.
    pub length: Option<u32>,
    /// Whether it selects a descriptor.
    pub descriptor: bool,
}

/// One step of a kernel. Registers are numbers of words in the invocation's register file.
#[derive(Clone, Debug)]
pub enum Step {
    Copy {
        to: u32,
        from: u32,
        words: u32,
    },
    Pick {
        to: u32,
        from: u32,
        index: u32,
        words: u32,
    },
    Unary {
        op: Op,
        to: u32,
        a: u32,
        words: u32,
        bits: u32,
    },
    Binary {
        op: Op,
        to: u32,
        a: u32,
        b: u32,
        words: u32,
    },
    Wide {
        op: Op,
        to: u32,
        a: u32,
        b: u32,
    },
    Select {
        to: u32,
        condition: u32,
        step: u32,
        a: u32,
        b: u32,
        words: u32,
    },
    Field {
        op: Op,
        to: u32,
        operands: [u32; 4],
        words: u32,
    },
    Extended {
        op: GlslStd450Op,
        to: u32,
        operands: [u32; 3],
        words: u32,
    },
    Access {
        to: u32,
        base: u32,
        class: Class,
        offset: u32,
        indices: Box<[Index]>,
    },
    /// Variables of a function are undefined when it begins.
    Forget {
        offset: u32,
        words: u32,
    },
    Load {
        to: u32,
        pointer: u32,
        cells: Cells,
    },
    Store {
        pointer: u32,
        from: u32,
        cells: Cells,
    },
    Atomic {
        op: Op,
        to: u32,
        pointer: u32,
        value: u32,
        class: Class,
        /// Whether anything uses its result.
        is_used: bool,
    },
    Jump {
        to: u32,
    },
    Branch {
        condition: u32,
        then: u32,
        otherwise: u32,
    },
    Switch {
        selector: u32,
        cases: Box<[(u32, u32)]>,
        default: u32,
    },
    Call {
        function: u32,
        to: u32,
        words: u32,
    },
    Return {
        from: Option<u32>,
        words: u32,
    },
    /// Makes stores visible beyond the workgroup.
    Fence {
        semantics: u32,
    },
    Collective(Collective),
    Unreachable,
}

impl Step {
    /// Whether workgroups tell each other something by it.
    pub fn is_between_workgroups(&self) -> bool {
        match self {
            Step::Fence { .. } => true,
            Step::Atomic { class, .. } => *class != Class::Shared,
            _ => false,
        }
    }
}

/// A step of all lanes of a subgroup, or of all invocations of the workgroup.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    pub op: Op,
    pub to: u32,
    pub value: u32,
    /// The lane of a shuffle or of a broadcast.
    pub lane: u32,
    /// The group operation of a sum.
    pub operation: u32,
    /// Whether it takes the workgroup, which barriers do that are not of the subgroup.
    pub workgroup: bool,
    /// Memory semantics of a barrier.
    pub semantics: u32,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Program {
    pub steps: Vec<Step>,
    /// The id whose instruction a step comes from, for messages.
    pub ids: Vec<u32>,
    /// The steps that an invocation has reached, of those that are barriers or fences.
    reached: Arc<[AtomicBool]>,
    pub entry: u32,
    /// Constants, followed by room for the results.
    pub registers: Vec<u32>,
    pub private_words: u32,
    pub shared_words: u32,
    /// The built-in variables, each with its offset in the input.
    pub inputs: Vec<(BuiltIn, u32)>,
    pub input_words: u32,
    pub workgroup_size: u32,
}

#[derive(Clone, Debug)]
enum Type {
    Void,
    Scalar { bytes: u32 },
    Vector { of: u32, count: u32 },
    Array { of: u32, length: Option<u32> },
    Struct { members: Vec<u32> },
    Pointer { class: Class, to: u32 },
    Function,
}

#[derive(Default)]
struct Builder {
    types: HashMap<u32, Type>,
    /// The type of each id with a result.
    of: HashMap<u32, u32>,
    strides: HashMap<u32, u32>,
    offsets: HashMap<(u32, u32), u32>,
    bindings: HashMap<u32, u32>,
    built_ins: HashMap<u32, BuiltIn>,
    constants: HashMap<u32, u32>,
    at: HashMap<u32, u32>,
    registers: Vec<u32>,
    private_words: u32,
    shared_words: u32,
    input_words: u32,
    inputs: Vec<(BuiltIn, u32)>,
    steps: Vec<Step>,
    ids: Vec<u32>,
    labels: HashMap<u32, u32>,
    functions: HashMap<u32, (u32, Vec<u32>)>,
    /// The ids that instructions of functions name.
    used: HashSet<u32>,
}

/// What registers and variables hold before they are written.
pub const GARBAGE: u32 = 0xC5C5_C5C5;

fn id(operand: &Operand) -> u32 {
    operand.id_ref_any().unwrap_or_else(|| panic!("{operand:?} is no id"))
}

fn number(operand: &Operand) -> u32 {
    match operand {
        Operand::LiteralBit32(number) => *number,
        other => panic!("{other:?} is no number"),
    }
}

fn class_of(class: StorageClass) -> Class {
    match class {
        StorageClass::Function | StorageClass::Private => Class::Private,
        StorageClass::Workgroup => Class::Shared,
        StorageClass::Input => Class::Input,
        StorageClass::PushConstant => Class::Push,
        StorageClass::StorageBuffer => Class::Buffer,
        StorageClass::PhysicalStorageBuffer => Class::Address,
        other => panic!("variables are in {other:?}"),
    }
}

impl Program {
    /// Reads a module without specialization constants.
    pub fn new(words: &[u32]) -> Program {
        let mut loader = Loader::new();
        parse_words(words, &mut loader).unwrap_or_else(|error| panic!("{error}"));
        let module = loader.module();
        let mut builder = Builder::default();
        builder.read_decorations(&module);
        for instruction in &module.types_global_values {
            builder.read_global(instruction);
        }
        let instructions =
            module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instructions);
        builder.used =
            instructions.flat_map(|instruction| &instruction.operands).filter_map(Operand::id_ref_any).collect();
        for function in &module.functions {
            let parameters = function.parameters.iter().map(|parameter| builder.result(parameter)).collect();
            let result = function.def.as_ref().and_then(|def| def.result_id).expect("a function has an id");
            builder.functions.insert(result, (0, parameters));
        }
        for function in &module.functions {
            builder.read_function(function.def.as_ref().and_then(|def| def.result_id).unwrap(), &function.blocks);
        }
        let [entry] = &module.entry_points[..] else { panic!("a module has one entry point") };
        let [mode] = &module.execution_modes[..] else { panic!("a module has one execution mode") };
        let entry = builder.functions[&id(&entry.operands[1])].0;
        builder.resolve();
        Program {
            reached: builder.steps.iter().map(|_| AtomicBool::new(false)).collect(),
            steps: builder.steps,
            ids: builder.ids,
            entry,
            registers: builder.registers,
            private_words: builder.private_words,
            shared_words: builder.shared_words,
            inputs: builder.inputs,
            input_words: builder.input_words,
            workgroup_size: mode.operands[2..5].iter().map(number).product(),
        }
    }

    /// The barriers and fences.
    pub fn barriers(&self) -> Vec<u32> {
        let is_barrier = |step: &Step| match step {
            Step::Collective(collective) => collective.op == Op::ControlBarrier,
            step => matches!(step, Step::Fence { .. }),
        };
        (0..).zip(&self.steps).filter(|(_, step)| is_barrier(step)).map(|(at, _)| at).collect()
    }

    /// Whether an invocation has reached a barrier or fence.
    pub fn has_reached(&self, at: u32) -> bool {
        self.reached[at as usize].load(Ordering::Relaxed)
    }

    /// Keeps in mind that an invocation has reached a barrier or fence.
    pub fn reach(&self, at: u32) {
        self.reached[at as usize].store(true, Ordering::Relaxed);
    }

    /// The program with another step.
    pub fn with(&self, at: u32, step: Step) -> Program {
        let mut program = self.clone();
        program.steps[at as usize] = step;
        program
    }
}

impl Builder {
    fn read_decorations(&mut self, module: &Module) {
        for annotation in &module.annotations {
            match (annotation.class.opcode, &annotation.operands[..]) {
                (Op::Decorate, [target, Operand::Decoration(decoration), rest @ ..]) => match (decoration, rest) {
                    (Decoration::ArrayStride, [stride]) => _ = self.strides.insert(id(target), number(stride)),
                    (Decoration::Binding, [binding]) => _ = self.bindings.insert(id(target), number(binding)),
                    (Decoration::BuiltIn, [Operand::BuiltIn(built_in)]) => {
                        self.built_ins.insert(id(target), *built_in);
                    }
                    _ => {}
                },
                (
                    Op::MemberDecorate,
                    [target, member, Operand::Decoration(Decoration::Offset), Operand::LiteralBit32(offset)],
                ) => _ = self.offsets.insert((id(target), number(member)), *offset),
                _ => {}
            }
        }
    }

    fn read_global(&mut self, instruction: &Instruction) {
        let operands = &instruction.operands;
        let result = instruction.result_id.unwrap_or_default();
        let read = match instruction.class.opcode {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Scalar { bytes: 4 },
            Op::TypeInt | Op::TypeFloat => {
                assert!(number(&operands[0]) <= 32, "kernels use no types of 64 bits");
                Type::Scalar { bytes: number(&operands[0]) / 8 }
            }
            Op::TypeVector => Type::Vector { of: id(&operands[0]), count: number(&operands[1]) },
            Op::TypeArray => Type::Array { of: id(&operands[0]), length: Some(self.constants[&id(&operands[1])]) },
            Op::TypeRuntimeArray => Type::Array { of: id(&operands[0]), length: None },
            Op::TypeStruct => Type::Struct { members: operands.iter().map(id).collect() },
            Op::TypePointer => match operands[0] {
                Operand::StorageClass(class) => Type::Pointer { class: class_of(class), to: id(&operands[1]) },
                ref other => panic!("{other:?} is no storage class"),
            },
            Op::TypeForwardPointer => return,
            Op::TypeFunction => Type::Function,
            Op::Constant => {
                self.constants.insert(result, number(&operands[0]));
                return self.constant(instruction, &[number(&operands[0])]);
            }
            Op::ConstantTrue => return self.constant(instruction, &[1]),
            Op::ConstantFalse => return self.constant(instruction, &[0]),
            Op::ConstantComposite => {
                let parts = operands.iter().flat_map(|part| {
                    let (at, words) = (self.at[&id(part)], self.words(self.of[&id(part)]));
                    self.registers[at as usize..][..words as usize].to_vec()
                });
                let parts: Vec<u32> = parts.collect();
                return self.constant(instruction, &parts);
            }
            Op::ConstantNull => {
                let words = self.words(instruction.result_type.unwrap());
                return self.constant(instruction, &vec![0; words as usize]);
            }
            Op::Undef => {
                self.result(instruction);
                return;
            }
            Op::Variable => return self.global_variable(instruction),
            other => panic!("{other:?} is no global instruction of a kernel"),
        };
        self.types.insert(result, read);
    }

    fn constant(&mut self, instruction: &Instruction, words: &[u32]) {
        let at = self.result(instruction) as usize;
        self.registers[at..][..words.len()].copy_from_slice(words);
    }

    fn global_variable(&mut self, instruction: &Instruction) {
        assert!(instruction.operands.len() == 1, "variables of kernels have no initial values");
        let variable = instruction.result_id.unwrap();
        let Type::Pointer { class, to } = self.types[&instruction.result_type.unwrap()] else { panic!("no pointer") };
        let words = match class {
            Class::Private | Class::Shared | Class::Input => self.words(to),
            Class::Push | Class::Buffer | Class::Address => 0,
        };
        let take = |all: &mut u32| std::mem::replace(all, *all + words);
        match class {
            Class::Private => {
                let offset = take(&mut self.private_words);
                self.constant(instruction, &[offset]);
            }
            Class::Shared => {
                let offset = take(&mut self.shared_words);
                self.constant(instruction, &[offset]);
            }
            Class::Input => {
                let offset = take(&mut self.input_words);
                self.inputs.push((self.built_ins[&variable], offset));
                self.constant(instruction, &[offset]);
            }
            Class::Push => self.constant(instruction, &[0]),
            Class::Buffer => self.constant(instruction, &[self.bindings[&variable] * DESCRIPTORS, 0]),
            Class::Address => panic!("addresses have no variables"),
        }
    }

    /// Words of a value of a type in registers.
    fn words(&self, of: u32) -> u32 {
        match &self.types[&of] {
            Type::Void | Type::Function => 0,
            Type::Scalar { .. } => 1,
            Type::Vector { count, .. } => *count,
            Type::Array { of, length } => length.expect("only buffers have arrays without length") * self.words(*of),
            Type::Struct { members } => members.iter().map(|member| self.words(*member)).sum(),
            Type::Pointer { class: Class::Buffer | Class::Address, .. } => 2,
            Type::Pointer { .. } => 1,
        }
    }

    /// The registers of a result.
    fn result(&mut self, instruction: &Instruction) -> u32 {
        let (of, result) = (instruction.result_type.unwrap(), instruction.result_id.unwrap());
        let (at, words) = (self.registers.len(), self.words(of));
        self.registers.resize(at + words as usize, GARBAGE);
        self.of.insert(result, of);
        self.at.insert(result, at as u32);
        at as u32
    }

    /// Registers of no id.
    fn spare(&mut self, words: u32) -> u32 {
        let at = self.registers.len();
        self.registers.resize(at + words as usize, GARBAGE);
        at as u32
    }

    fn register(&self, operand: &Operand) -> u32 {
        self.at[&id(operand)]
    }

    fn words_of(&self, operand: &Operand) -> u32 {
        self.words(self.of[&id(operand)])
    }

    fn emit(&mut self, id: u32, step: Step) {
        self.steps.push(step);
        self.ids.push(id);
    }

    fn read_function(&mut self, function: u32, blocks: &[Block]) {
        self.functions.get_mut(&function).expect("all are known").0 = self.steps.len() as u32;
        // Phis name results of later blocks, so every result gets its registers first.
        let (first, before) = (self.private_words, self.steps.len());
        self.emit(function, Step::Unreachable);
        for instruction in blocks.iter().flat_map(|block| &block.instructions) {
            if instruction.class.opcode == Op::Variable {
                assert!(instruction.operands.len() == 1, "variables of kernels have no initial values");
                let Type::Pointer { to, .. } = self.types[&instruction.result_type.unwrap()] else { panic!() };
                let words = self.words(to);
                let offset = self.private_words;
                self.private_words += words;
                self.constant(instruction, &[offset]);
            } else if instruction.result_id.is_some() {
                self.result(instruction);
            }
        }
        self.steps[before] = Step::Forget { offset: first, words: self.private_words - first };
        for block in blocks {
            let label = block.label.as_ref().and_then(|label| label.result_id).expect("blocks have labels");
            self.labels.insert(label, self.steps.len() as u32);
            for instruction in &block.instructions {
                self.read(label, instruction, blocks);
            }
        }
    }

    /// Emits the moves of a block's phis on the way from another block; gives the label to jump to, which is the block's own or
    /// that of the moves.
    fn phis(&mut self, from: u32, to: u32, blocks: &[Block]) -> Vec<(u32, u32, u32)> {
        let label = |block: &&Block| block.label.as_ref().and_then(|label| label.result_id) == Some(to);
        let block = blocks.iter().find(label).expect("jumps stay in the function");
        let phis = block.instructions.iter().take_while(|instruction| instruction.class.opcode == Op::Phi);
        phis.map(|phi| {
            let pair = phi.operands.chunks_exact(2).find(|pair| id(&pair[1]) == from).expect("phis know every way");
            (self.at[&phi.result_id.unwrap()], self.register(&pair[0]), self.words(phi.result_type.unwrap()))
        })
        .collect()
    }

    /// Emits a jump to a block with the moves of its phis, which happen at once.
    fn jump(&mut self, from: u32, to: u32, blocks: &[Block]) {
        let moves = self.phis(from, to, blocks);
        let moves: Vec<_> = moves.into_iter().map(|(to, from, words)| (to, from, words, self.spare(words))).collect();
        for &(_, from, words, aside) in &moves {
            self.emit(to, Step::Copy { to: aside, from, words });
        }
        for &(at, _, words, aside) in &moves {
            self.emit(to, Step::Copy { to: at, from: aside, words });
        }
        self.emit(to, Step::Jump { to });
    }

    /// Replaces labels and functions by positions.
    fn resolve(&mut self) {
        let Builder { steps, labels, functions, .. } = self;
        for step in steps {
            match step {
                Step::Jump { to } => *to = labels[to],
                Step::Call { function, .. } => *function = functions[function].0,
                _ => {}
            }
        }
    }
}

/// Descriptors of a binding, at most.
pub const DESCRIPTORS: u32 = 4;

mod instructions;
