//! Compiles GLSL to SPIR-V: for `build.rs` the kernels, and for `vksort-visitors` kernels with a visitor in them.

use std::num::NonZero;
use std::thread::{self, ScopedJoinHandle};

use shader_compiler::{
    CompileOptions, Compiler, EnvVersion, Error, OptimizationLevel, ResolvedInclude, ShaderKind, TargetEnv,
};

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

/// The compiler's options for all shaders. With `strict`, warnings are errors.
pub fn options<'a>(strict: bool) -> Result<CompileOptions<'a>, String> {
    let mut options = CompileOptions::new().map_err(reason)?;
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_2 as u32);
    options.set_optimization_level(OptimizationLevel::Performance);
    match strict {
        true => options.set_warnings_as_errors(),
        false => options.set_suppress_warnings(),
    }
    Ok(options)
}

/// The SPIR-V of a module.
pub fn compile(compiler: &Compiler, module: &Module, sources: &Sources<'_>) -> Result<Vec<u32>, String> {
    let mut options = options(sources.strict)?;
    for (name, value) in module.macros().iter().chain(sources.macros) {
        options.add_macro_definition(name, Some(&value.to_string()));
    }
    options.set_include_callback(|name, _, includer, _| {
        let (resolved_name, content) = (sources.find)(name, includer)?;
        Ok(ResolvedInclude { resolved_name, content })
    });
    let (label, text) = (sources.find)(&module.file(), sources.folder)?;
    let binary = compiler.compile_into_spirv(&text, ShaderKind::Compute, &label, "main", Some(&options));
    Ok(binary.map_err(reason)?.as_binary().to_vec())
}

/// Calls `one` for each module on all cores, with a compiler for each thread. Returns the results in order.
pub fn on_all_cores<T: Send>(
    modules: &[Module],
    one: impl Fn(&Compiler, &Module) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    // The large modules of a kernel follow each other, so each thread takes every n-th.
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(modules.len().max(1));
    let part = |first: usize| -> Result<Vec<T>, String> {
        let compiler = Compiler::new().map_err(reason)?;
        modules.iter().skip(first).step_by(threads).map(|module| one(&compiler, module)).collect()
    };
    let parts = thread::scope(|scope| {
        let part = &part;
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        let join = |part: ScopedJoinHandle<'_, _>| part.join().expect("a thread ends with a result");
        parts.into_iter().map(join).collect::<Result<Vec<_>, String>>()
    })?;
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    let in_turn = (0..modules.len()).map(|index| parts[index % threads].next().expect("every module is in a part"));
    Ok(in_turn.collect())
}

/// The compiler's messages, without a count of errors.
pub fn reason(error: Error) -> String {
    match error {
        Error::CompilationError(_, messages) => messages.trim_end().to_string(),
        error => error.to_string(),
    }
}
