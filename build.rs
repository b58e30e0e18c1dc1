//! Compiles `glsl/*.comp` to SPIR-V, or takes the modules kept in `spirv/` when the feature `shaderc` is off.

use std::path::Path;
use std::{env, fs};

#[allow(dead_code)]
#[path = "src/abi.rs"]
mod abi;
#[allow(dead_code)]
#[path = "src/kernels.rs"]
mod kernels;

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for input in ["build.rs", "src/abi.rs", "src/kernels.rs", "glsl", "spirv"] {
        println!("cargo::rerun-if-changed={input}");
    }
    let out = Path::new(&out);
    if let Err(message) = modules(Path::new(&root), out) {
        // One `cargo::error` per line keeps the compiler's file, line and message readable.
        for line in message.lines() {
            println!("cargo::error={line}");
        }
        return;
    }
    fs::write(out.join("modules.rs"), embed(out)).expect("OUT_DIR is writable");
}

/// The table of embedded modules, in the order of `kernels::modules`.
fn embed(out: &Path) -> String {
    let mut text = String::from("&[\n");
    for module in kernels::modules() {
        let file = out.join(format!("{}.spv", module.name()));
        text += &format!("    include_bytes!({:?}),\n", file.display().to_string());
    }
    text + "]\n"
}

#[cfg(not(feature = "shaderc"))]
fn modules(root: &Path, out: &Path) -> Result<(), String> {
    for module in kernels::modules() {
        let file = root.join("spirv").join(format!("{}.spv", module.name()));
        fs::copy(&file, out.join(format!("{}.spv", module.name())))
            .map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

#[cfg(feature = "shaderc")]
fn modules(root: &Path, out: &Path) -> Result<(), String> {
    let glsl = root.join("glsl");
    let contract = abi::glsl();
    fs::write(out.join("abi.glsl"), &contract).map_err(|error| format!("abi.glsl: {error}"))?;

    let compiler = shaderc::Compiler::new().map_err(|error| error.to_string())?;
    for module in kernels::modules() {
        let mut options = shaderc::CompileOptions::new().map_err(|error| error.to_string())?;
        options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_2 as u32);
        options.set_optimization_level(shaderc::OptimizationLevel::Performance);
        options.set_warnings_as_errors();
        for (name, value) in module.macros() {
            options.add_macro_definition(name, Some(&value.to_string()));
        }
        options.set_include_callback(|name, _, includer, _| {
            let content = match name {
                "abi.glsl" => contract.clone(),
                _ => fs::read_to_string(glsl.join(name))
                    .map_err(|error| format!("{name}, included by {includer}: {error}"))?,
            };
            Ok(shaderc::ResolvedInclude { resolved_name: format!("glsl/{name}"), content })
        });
        let label = format!("glsl/{}.comp", module.kernel.name());
        let source = root.join(&label);
        let text = fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
        let binary = compiler
            .compile_into_spirv(&text, shaderc::ShaderKind::Compute, &label, "main", Some(&options))
            .map_err(|error| format!("module {}: {error}", module.name()))?;
        let file = out.join(format!("{}.spv", module.name()));
        fs::write(&file, binary.as_binary_u8()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}
