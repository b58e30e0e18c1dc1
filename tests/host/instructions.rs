//! The instructions of every kernel module, by class, as a table kept in the repository: what a change of the GLSL or of
//! the compiler does to the kernels is seen in its diff.

use std::collections::HashMap;
use std::path::Path;

use rspirv::binary::parse_words;
use rspirv::dr::{Loader, Module, Operand};
use rspirv::spirv::{Op, StorageClass};
use serde::{Deserialize, Serialize};
use vksort::__private::kernels::{self, Kernel, Ranking, Variants};
use vksort::__private::module_words;

const FILE: &str = "lab/record/spirv.csv";

/// Growth that is pointed out, in percent.
const NOTABLE: f64 = 5.0;

/// Words of one module, and the instructions of its functions: as many as stand there, however often they run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    module: String,
    words: u32,
    instructions: u32,
    storage_loads: u32,
    storage_stores: u32,
    shared_loads: u32,
    shared_stores: u32,
    /// On storage and on shared memory.
    atomics: u32,
    subgroup: u32,
    barriers: u32,
    arithmetic: u32,
    control: u32,
    /// Above all access chains and composites, and loads of push constants and built-ins.
    other: u32,
}

fn counts(name: String, words: &[u32]) -> Counts {
    let mut loader = Loader::new();
    parse_words(words, &mut loader).unwrap_or_else(|error| panic!("{name}: {error}"));
    let module = loader.module();
    let memory = memory_of_pointers(&module);
    let mut counts = Counts { module: name, words: words.len() as u32, ..Counts::default() };
    // Labels, parameters and the frame of a function do nothing.
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    for instruction in blocks.flat_map(|block| &block.instructions) {
        let opcode = instruction.class.opcode;
        let place = match opcode {
            Op::Load | Op::Store => memory.get(&instruction.operands[0].unwrap_id_ref()),
            _ => None,
        };
        counts.instructions += 1;
        *class(&mut counts, opcode, place.copied()) += 1;
    }
    counts
}

/// Which memory each pointer of a module points into, by the pointer's id.
fn memory_of_pointers(module: &Module) -> HashMap<u32, StorageClass> {
    let types: HashMap<u32, StorageClass> = module
        .types_global_values
        .iter()
        .filter(|value| value.class.opcode == Op::TypePointer)
        .filter_map(|value| match value.operands[0] {
            Operand::StorageClass(memory) => Some((value.result_id?, memory)),
            _ => None,
        })
        .collect();
    let typed = |value: &rspirv::dr::Instruction| Some((value.result_id?, *types.get(&value.result_type?)?));
    module.all_inst_iter().filter_map(typed).collect()
}

/// The count that an instruction adds to; loads and stores come with the memory that they reach.
fn class(counts: &mut Counts, opcode: Op, memory: Option<StorageClass>) -> &mut u32 {
    let storage = matches!(memory, Some(StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer));
    let shared = memory == Some(StorageClass::Workgroup);
    let name = format!("{opcode:?}");
    match opcode {
        Op::Load if storage => &mut counts.storage_loads,
        Op::Store if storage => &mut counts.storage_stores,
        Op::Load if shared => &mut counts.shared_loads,
        Op::Store if shared => &mut counts.shared_stores,
        Op::ControlBarrier | Op::MemoryBarrier => &mut counts.barriers,
        _ if name.starts_with("Atomic") => &mut counts.atomics,
        _ if name.starts_with("GroupNonUniform") => &mut counts.subgroup,
        _ if is_control(opcode) => &mut counts.control,
        _ if is_arithmetic(opcode, &name) => &mut counts.arithmetic,
        _ if is_other(opcode, &name) => &mut counts.other,
        _ => panic!("{opcode:?} is of no class of the table"),
    }
}

fn is_control(opcode: Op) -> bool {
    let merges = matches!(opcode, Op::Phi | Op::SelectionMerge | Op::LoopMerge | Op::FunctionCall);
    merges || rspirv::grammar::reflect::is_block_terminator(opcode)
}

/// Of integers, floats, bits and truth values, comparisons and conversions among them; the instructions of GLSL's own set
/// are minima and the like.
fn is_arithmetic(opcode: Op, name: &str) -> bool {
    let starts = ["I", "U", "S", "F", "Bit", "Shift", "Logical", "Convert"];
    let others = [Op::Not, Op::ExtInst, Op::Any, Op::All];
    let not = [Op::Store, Op::Undef];
    others.contains(&opcode) || starts.iter().any(|start| name.starts_with(start)) && !not.contains(&opcode)
}

/// Naming places, taking values apart and putting them together, and what is neither storage nor shared.
fn is_other(opcode: Op, name: &str) -> bool {
    let places = [Op::Load, Op::Store, Op::Variable, Op::AccessChain, Op::CopyObject];
    places.contains(&opcode) || name.starts_with("Composite") || name.starts_with("Vector")
}

/// A line for each module that differs, and a mark on those that grew by more than is notable.
fn differences(kept: &[Counts], made: &[Counts]) -> Vec<String> {
    let find = |list: &[Counts], name: &str| list.iter().find(|counts| counts.module == name).cloned();
    let gone = kept.iter().filter(|old| find(made, &old.module).is_none());
    let gone = gone.map(|old| format!("{}: no module any more", old.module));
    let others = made.iter().filter_map(|new| match find(kept, &new.module) {
        None => Some(format!("{}: new, {} instructions", new.module, new.instructions)),
        Some(old) if old == *new => None,
        Some(old) => {
            let percent = 100.0 * f64::from(new.instructions) / f64::from(old.instructions.max(1)) - 100.0;
            let mark = if percent > NOTABLE { format!(", GREW by {percent:.1} %") } else { String::new() };
            let [was, is] = [&old, new].map(|counts| format!("{} ({} words)", counts.instructions, counts.words));
            Some(format!("{}: {was} -> {is} instructions{mark}", new.module))
        }
    });
    gone.chain(others).collect()
}

fn made() -> Vec<Counts> {
    let words = |module| module_words(module).unwrap();
    kernels::modules().iter().map(|module| counts(module.name(), &words(module))).collect()
}

#[test]
fn the_table_of_instructions_is_that_of_the_modules() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let made = made();
    if !file.parent().is_some_and(Path::is_dir) {
        println!("skipped: there is no folder for {}", file.display());
        return;
    }
    let kept: Vec<Counts> = match csv::Reader::from_path(&file) {
        // A table of other columns is one to renew.
        Ok(mut reader) => reader.deserialize().collect::<Result<_, _>>().unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let changes = differences(&kept, &made);
    if std::env::var("VKSORT_WRITE_SPIRV").is_ok_and(|value| value == "1") {
        let mut writer = csv::Writer::from_writer(Vec::new());
        made.iter().for_each(|counts| writer.serialize(counts).unwrap());
        let part = file.with_extension("csv.part");
        std::fs::write(&part, writer.into_inner().unwrap()).unwrap();
        std::fs::rename(&part, &file).unwrap();
        changes.iter().for_each(|change| println!("{change}"));
        return;
    }
    let list = changes.join("\n");
    assert!(kept == made, "{FILE} is not what the modules hold; run scripts/spirv.sh\n{list}");
}

#[test]
fn classes_hold_what_kernels_are_made_of() {
    for (module, counts) in kernels::modules().iter().zip(made()) {
        let sum = counts.storage_loads + counts.storage_stores + counts.shared_loads + counts.shared_stores;
        let sum = sum + counts.atomics + counts.subgroup + counts.barriers + counts.arithmetic + counts.control;
        assert_eq!(sum + counts.other, counts.instructions, "{counts:?}");
        // An inspector writes by atomics.
        let writes = counts.storage_stores > 0 || module.kernel == Kernel::Inspect;
        assert!(writes && counts.arithmetic > 0 && counts.control > 0, "{counts:?}");
        let Variants { subgroups, private, keys, .. } = module.kernel.row().variants;
        let (adds_up, ranks) = (module.ranking == Ranking::Private && keys, subgroups && private);
        assert_eq!(counts.subgroup > 0, subgroups && !module.emulated || adds_up, "{counts:?}");
        // In place, values wait for each other.
        let in_registers = module.kernel == Kernel::Short && !module.emulated;
        assert_eq!(counts.shared_loads > 0, counts.barriers > 0 && !in_registers, "{counts:?}");
        assert!(counts.shared_loads > 0 || !ranks, "{counts:?}");
    }
}

#[test]
fn growth_is_pointed_out() {
    let counts = |module: &str, instructions| Counts { module: module.into(), instructions, ..Counts::default() };
    let kept = [counts("a", 100), counts("b", 100), counts("c", 100), counts("gone", 1)];
    let made = [counts("a", 106), counts("b", 105), counts("c", 100), counts("new", 7)];
    let expected = [
        "gone: no module any more",
        "a: 100 (0 words) -> 106 (0 words) instructions, GREW by 6.0 %",
        "b: 100 (0 words) -> 105 (0 words) instructions",
        "new: new, 7 instructions",
    ];
    assert_eq!(differences(&kept, &made), expected);
}

#[test]
fn modules_are_those_kept_in_the_repository() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv");
    if !folder.is_dir() {
        println!("skipped: {} is not here", folder.display());
        return;
    }
    for module in &kernels::modules() {
        let kept = std::fs::read(folder.join(format!("{}.spv", module.name()))).unwrap();
        let bytes: Vec<u8> = module_words(module).unwrap().into_iter().flat_map(u32::to_le_bytes).collect();
        assert!(bytes == kept, "{}", module.name());
    }
}
