//! The examples of the recording API.

use std::time::Duration;

use rspirv::dr::Operand;
use rspirv::spirv::Op;
use vksort_testing::Failed;

use vksort_testing::process::{example, run_within};
use vksort_testing::validating;

/// The examples of the recording API, as their users run them.
pub fn examples() -> Result<(), Failed> {
    for (name, words) in [
        ("record", ["device ", "algorithm ", "verified "]),
        ("frames", ["device ", "frame 5 ", "verified "]),
        ("records", ["device ", "request ", "verified "]),
    ] {
        let mut command = example(name);
        if validating() {
            command.arg("--validate");
        }
        let output = run_within(Duration::from_secs(120), &mut command);
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let found = words.iter().all(|word| stdout.contains(word));
        if !output.status.success() || !found {
            return Err(format!("{name}: {}\n{stdout}{stderr}", output.status).into());
        }
        let output = run_within(Duration::from_secs(120), example(name).arg("--no-such-flag"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        let refused =
            output.status.code() == Some(1) && stderr.contains("--no-such-flag") && stderr.lines().count() == 1;
        assert!(refused, "{name}: {stderr}");
    }
    Ok(())
}

/// The shader of the example `frames` is compiled with its source in it, which is the one that is kept beside it.
pub fn shader_of_frames() -> Result<(), Failed> {
    let source = include_str!("../../../examples/frames/cull.comp");
    let spirv = rspirv::dr::load_bytes(include_bytes!("../../../examples/frames/cull.spv"))
        .map_err(|error| error.to_string())?;
    let embedded: String = spirv
        .debug_string_source
        .iter()
        .filter(|instruction| matches!(instruction.class.opcode, Op::Source | Op::SourceContinued))
        .flat_map(|instruction| &instruction.operands)
        .filter_map(|operand| if let Operand::LiteralString(text) = operand { Some(text.as_str()) } else { None })
        .collect();
    assert!(
        embedded == source,
        "examples/frames/cull.spv is not compiled from cull.comp, whose first lines say how to"
    );
    Ok(())
}
