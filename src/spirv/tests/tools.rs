//! SPIRV-Tools judge the results: its validator, and its own passes that fold constants.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::Op;

use super::{Rewrite, defaults, drawn_constants, fold, modules, parse, seed};

/// Runs a tool on a module and returns what it prints; `None` where the tool is not installed.
fn run(tool: &str, arguments: &[&str], words: &[u32], name: &str) -> Option<Vec<u8>> {
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            assert!(std::env::var_os("CI").is_none(), "{tool} is missing, which the package spirv-tools has");
            println!("skipped: {tool} is not installed");
            return None;
        }
        child => child.unwrap_or_else(|error| panic!("{tool}: {error}")),
    };
    // The tools read all of it before they print.
    child.stdin.take().expect("it is piped").write_all(bytemuck::cast_slice(words)).expect("the tool reads");
    let output = child.wait_with_output().expect("the tool ends");
    assert!(output.status.success(), "{tool} on {name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

#[test]
fn rewritten_modules_are_valid() {
    let mut rng = fastrand::Rng::with_seed(seed());
    for (name, words) in modules() {
        for given in [defaults(), drawn_constants(&mut rng)] {
            let rewrite = Rewrite { constants: Some(&given), keep_loops: true, declare_aliases: true };
            let words = rewrite.apply(&words).unwrap();
            let name = format!("{name} with {given:?}");
            if run("spirv-val", &["--target-env", "vulkan1.2", "-"], &words, &name).is_none() {
                return;
            }
        }
    }
}

/// The instructions of all functions, and the lengths of arrays, with constants in place of their ids.
fn with_constants(module: &Module) -> Vec<Instruction> {
    let all = &module.types_global_values;
    let constants: BTreeMap<u32, Operand> =
        all.iter().filter_map(|value| Some((value.result_id?, literal(value)?))).collect();
    let arrays = all.iter().filter(|value| value.class.opcode == Op::TypeArray);
    let functions = module.functions.iter().flat_map(|function| function.all_inst_iter());
    let mut instructions: Vec<Instruction> = arrays.chain(functions).cloned().collect();
    for operand in instructions.iter_mut().flat_map(|instruction| &mut instruction.operands) {
        if let Operand::IdRef(id) = operand
            && let Some(constant) = constants.get(id)
        {
            *operand = constant.clone();
        }
    }
    instructions
}

fn literal(constant: &Instruction) -> Option<Operand> {
    match constant.class.opcode {
        Op::Constant => Some(constant.operands[0].clone()),
        Op::ConstantTrue => Some(Operand::LiteralString("true".into())),
        Op::ConstantFalse => Some(Operand::LiteralString("false".into())),
        _ => None,
    }
}

#[test]
fn spirv_opt_folds_to_the_same() {
    let mut rng = fastrand::Rng::with_seed(seed());
    for (name, words) in modules() {
        let given = drawn_constants(&mut rng);
        let pairs: Vec<String> = given.iter().enumerate().map(|(id, value)| format!("{id}:{value}")).collect();
        let set = format!("--set-spec-const-default-value={}", pairs.join(" "));
        let passes = [&set, "--freeze-spec-const", "--fold-spec-const-op-composite", "-", "-o", "-"];
        let Some(output) = run("spirv-opt", &passes, &words, &name) else { return };
        let theirs = parse(&ash::util::read_spv(&mut std::io::Cursor::new(output)).expect("it prints whole words"));
        let ours = parse(&fold(&words, &given));
        let differs = with_constants(&ours).into_iter().zip(with_constants(&theirs)).find(|(a, b)| a != b);
        assert!(differs.is_none(), "{name} with {given:?}: {differs:?}");
        assert_eq!(with_constants(&ours).len(), with_constants(&theirs).len(), "{name}");
    }
}
