//! Compiles a kernel's GLSL. The program that keeps `spirv/` and the library, for visitors, share this file.

use shaderc::{CompileOptions, Compiler, EnvVersion, Error, OptimizationLevel, ResolvedInclude, ShaderKind, TargetEnv};

use crate::kernels::Module;

/// The files of a compilation, and its macros.
pub struct Sources<'a> {
    /// Macros in addition to the module's.
    pub macros: &'a [(&'static str, u32)],
    /// Whether warnings are errors.
    pub strict: bool,
    /// The name of the folder of the kernels in messages.
    pub folder: &'a str,
    /// A file of that folder by its name there, or one that another file includes: its full name in messages, and its text.
    #[allow(clippy::type_complexity)]
    pub find: &'a dyn Fn(&str, &str) -> Result<(String, String), String>,
}

/// The compiler's options for all kernels. With `strict`, warnings are errors.
pub fn options<'a>(strict: bool) -> Result<CompileOptions<'a>, Error> {
    let mut options = CompileOptions::new()?;
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_2 as u32);
    options.set_optimization_level(OptimizationLevel::Performance);
    match strict {
        true => options.set_warnings_as_errors(),
        false => options.set_suppress_warnings(),
    }
    Ok(options)
}

/// The SPIR-V of a module.
pub fn compile(compiler: &Compiler, module: &Module, sources: &Sources<'_>) -> Result<Vec<u32>, Error> {
    let mut options = options(sources.strict)?;
    for (name, value) in module.macros().iter().chain(sources.macros) {
        options.add_macro_definition(name, Some(&value.to_string()));
    }
    options.set_include_callback(|name, _, includer, _| {
        let (resolved_name, content) = (sources.find)(name, includer)?;
        Ok(ResolvedInclude { resolved_name, content })
    });
    let file = format!("{}.comp", module.kernel.name());
    let (label, text) =
        (sources.find)(&file, sources.folder).map_err(|error| Error::InternalError(format!("{file}: {error}")))?;
    let binary = compiler.compile_into_spirv(&text, ShaderKind::Compute, &label, "main", Some(&options))?;
    Ok(binary.as_binary().to_vec())
}
