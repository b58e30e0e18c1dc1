//! Compiling visitors into the kernels.

use super::interface::Interface;
use super::packed;
use super::source::VisitorSource;
use crate::abi::{self, Push, VisitorPush};
use crate::compile::{Sources, compile, on_all_cores};
use crate::error::Error;
use crate::kernels::{self, Module, Sorts};
use crate::request::{Algorithm, SortRequest};

// `SOURCES`: the files of `glsl/` by name.
include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The folder of the kernels in messages. No file of the caller has such a name.
const FOLDER: &str = "vksort:glsl/";
/// The name by which kernels include the caller's text.
const VISITOR: &str = "caller/visitor.glsl";
/// The start of the names by which callers include the visitors that come with vksort.
const READY: &str = "vksort/";

impl VisitorSource {
    /// Compiles the visitor into the kernels that sort by a request on any device, in a few seconds. The result is for
    /// [`Visitor::from_bytes`](crate::Visitor::from_bytes).
    ///
    /// The bytes can also be used for requests with another order, other bits, or another key type of as many words.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] with the compiler's messages, each with file and line; [`Error::Unsupported`] for a request that
    /// does not fit the visitor; otherwise as for [`SortRequest::check`].
    pub fn compile(&self, request: &SortRequest) -> Result<Vec<u8>, Error> {
        request.check()?;
        self.visits.check(request)?;
        let modules = modules_of(request);
        let words = self.words(&modules, request)?;
        Ok(packed::to_bytes(&self.name, self.interface(request), &modules, &words))
    }

    fn interface(&self, request: &SortRequest) -> Interface {
        Interface::new(self.visits, self.push_bytes, request)
    }

    /// Compiles modules with the visitor in them.
    pub(super) fn words(&self, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
        let macros = self.interface(request).macros();
        let words = on_all_cores(modules, |compiler, module| {
            let find = |name: &str, includer: &str| find(self, module.addressed, name, includer);
            let sources = Sources { macros: &macros, strict: false, folder: FOLDER, find: &find };
            let words = compile(compiler, module, &sources)?;
            let (given, offset) = (self.push_bytes, VisitorPush::offset(self.push_bytes));
            let members = Push::members(module.addressed);
            // The compiler put the library's members after the visitor's, at a multiple of 4 bytes.
            match crate::spirv::push_offset(&words, members) {
                Some(found) if found != offset => {
                    Err(format!("its push constants take {found} bytes, but push_bytes is {given}"))
                }
                _ => Ok(words),
            }
        });
        words.map_err(|reason| Error::Visitor { name: self.name.clone(), reason })
    }
}

/// Every module that a sort by the request may use, on any device.
fn modules_of(request: &SortRequest) -> Vec<Module> {
    let algorithm = request.algorithm;
    let by = |this: Algorithm| algorithm.is_none_or(|asked| asked == this);
    let serves = |sorts: Sorts| match sorts {
        Sorts::All => true,
        Sorts::OfTiles => algorithm != Some(Algorithm::SingleWorkgroup),
        Sorts::LookBack => by(Algorithm::OneSweep),
        Sorts::ReduceThenScan => by(Algorithm::ReduceThenScan),
        Sorts::Single => by(Algorithm::SingleWorkgroup),
        Sorts::Gathered => request.value.is_gathered(),
        Sorts::Segmented | Sorts::Records | Sorts::None => false,
    };
    let narrow = |bytes: u64| (1..4).contains(&bytes);
    let small = narrow(request.key.size_bytes()) || narrow(request.value.size_bytes());
    let key_words = request.key.words();
    kernels::modules()
        .into_iter()
        .filter(|module| serves(module.kernel.row().sorts) && (small || !module.small))
        .filter(|module| !module.kernel.row().variants.keys || module.key_words == key_words)
        .collect()
}

/// A file that a kernel or the caller's text includes: its name in messages, and its text.
fn find(source: &VisitorSource, addressed: bool, name: &str, includer: &str) -> Result<(String, String), String> {
    let of_kernels = |name: &str| SOURCES.iter().find(|(file, _)| *file == name).map(|(_, text)| text.to_string());
    if includer.starts_with(FOLDER) {
        let text = match name {
            VISITOR => return Ok((source.name.clone(), source.text.clone())),
            "abi.glsl" => {
                let name = &format!("{} (push constants)", source.name);
                Some(abi::glsl(Some(VisitorPush { name, members: &source.push_members, addressed })))
            }
            name => of_kernels(name),
        };
        return text.map(|text| (format!("{FOLDER}{name}"), text)).ok_or_else(|| "no file of vksort".into());
    }
    if let Some((_, text)) = source.includes.iter().find(|(file, _)| file == name) {
        return Ok((name.to_string(), text.clone()));
    }
    let ready = name.strip_prefix(READY).and_then(|name| of_kernels(&format!("visitors/{name}")));
    ready.map(|text| (name.to_string(), text)).ok_or_else(|| format!("{name:?} is not among the visitor's includes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::plan::Plan;
    use crate::profile::DeviceProfile;
    use crate::request::{Count, Placement, ValueType};
    use crate::shape::{Shape, ShapeDesc, SubgroupChoice};
    use crate::specialize::specialize;
    use crate::tuning::{RankMethod, Tuning};

    /// A build script does not know the device.
    #[test]
    fn every_module_that_a_sort_may_take_is_compiled_beforehand() {
        let profile = DeviceProfile::default();
        let mut taken = 0;
        for &key in KeyType::ALL {
            for value in [ValueType::None, ValueType::Bytes(2), ValueType::Index, ValueType::Bytes(40)] {
                for algorithm in [None].into_iter().chain(Algorithm::ALL.iter().copied().map(Some)) {
                    let request =
                        SortRequest::new(key).value(value).algorithm(algorithm).placement(Placement::OutOfPlace);
                    let compiled = modules_of(&request);
                    for (rank, look_back, addressed, emulated) in [
                        (RankMethod::Ballot, true, false, false),
                        (RankMethod::Ballot, false, false, false),
                        (RankMethod::Private, true, false, false),
                        (RankMethod::Ballot, true, true, false),
                        (RankMethod::Match, false, false, true),
                    ] {
                        let tuning = Tuning { rank, look_back, ..Tuning::for_device(&profile) };
                        let algorithm = algorithm.unwrap_or(tuning.algorithm());
                        let subgroup = if emulated { SubgroupChoice::Emulated(8) } else { SubgroupChoice::Auto };
                        let desc = ShapeDesc::new(&profile, &tuning, &request, algorithm);
                        let shape = Shape::fit(&ShapeDesc { addressed, subgroup, ..desc }).unwrap();
                        let plan = Plan::new(&request, algorithm, shape, shape.single.elements() + 1);
                        for kernel in plan.kernels(&[Count::Host(1), Count::Host(plan.capacity), Count::Device]) {
                            let module = specialize(kernel, &shape, &request).module;
                            assert!(compiled.contains(&module), "{request}: {}", module.name());
                            taken += 1;
                        }
                    }
                }
            }
        }
        assert!(taken > 1000);
    }
}
