//! Compiling visitors into the kernels.

use std::sync::Arc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass};
use vksort::__private::compile::{
    Interface, Module, Push, SOURCES, Sorts, Sources, VisitorPush, check, compile, glsl, modules, on_all_cores,
    to_bytes, visitor,
};
use vksort::{Algorithm, Error, SortRequest, Visitor, Visits};

use crate::source::VisitorSource;

/// The folder of the kernels in messages. No file of the caller has such a name.
const FOLDER: &str = "vksort:glsl/";
/// The name by which kernels include the caller's text.
const VISITOR: &str = "caller/visitor.glsl";
/// The start of the names by which callers include the visitors that come with vksort.
const READY: &str = "vksort/";

impl VisitorSource {
    /// Compiles the visitor into the kernels that sort by a request on any device, in a few seconds. The result is for
    /// [`Visitor::from_bytes`].
    ///
    /// The bytes can also be used for requests with another order, other bits, or another key type of as many words.
    ///
    /// # Errors
    ///
    /// [`Error::Visitor`] with the compiler's messages, each with file and line; [`Error::Unsupported`] for a request that
    /// does not fit the visitor; otherwise as for [`SortRequest::check`].
    pub fn compile(&self, request: &SortRequest) -> Result<Vec<u8>, Error> {
        check(self.visits, request)?;
        let modules = modules_of(request);
        let words = self.words(&modules, request)?;
        Ok(to_bytes(&self.name, self.interface(request), &modules, &words))
    }

    fn interface(&self, request: &SortRequest) -> Interface {
        Interface::new(self.visits, self.push_bytes, request)
    }

    /// Compiles modules with the visitor in them.
    fn words(&self, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
        let macros = macros(&self.interface(request));
        let words = on_all_cores(modules, |compiler, module| {
            let find = |name: &str, includer: &str| find(self, module.addressed, name, includer);
            let sources = Sources { macros: &macros, strict: false, folder: FOLDER, find: &find };
            let words = compile(compiler, module, &sources)?;
            let (given, offset) = (self.push_bytes, VisitorPush::offset(self.push_bytes));
            // The compiler put the library's members after the visitor's, at a multiple of 4 bytes.
            match push_offset(&words, Push::members(module.addressed)) {
                Some(found) if found != offset => {
                    Err(format!("its push constants take {found} bytes, but push_bytes is {given}"))
                }
                _ => Ok(words),
            }
        });
        words.map_err(|reason| Error::Visitor { name: self.name.clone(), reason })
    }
}

impl From<VisitorSource> for Visitor {
    /// A visitor that is compiled when a sorter is made with it, for that sorter's request and device.
    fn from(source: VisitorSource) -> Visitor {
        let (name, visits, push_bytes) = (source.name.clone(), source.visits, source.push_bytes);
        visitor(name, visits, push_bytes, Arc::new(move |modules, request| source.words(modules, request)))
    }
}

/// The macros with which a kernel includes a visitor.
fn macros(interface: &Interface) -> Vec<(&'static str, u32)> {
    let Visits { keys, values, output, .. } = interface.visits;
    let flags = [("VISITED", true), ("VISITED_KEYS", keys), ("VISITED_VALUES", values), ("VISITED_OUTPUT", output)];
    let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| (name, 1));
    // Kernels that move no keys compile the visitor's function for keys all the same.
    let sizes = [("KEY_WORDS", interface.key_words), ("VISITED_VALUE_WORDS", interface.value_words)];
    flags.chain(sizes).chain([("VISITED_DISCARDS", interface.discards.into())]).collect()
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
        Sorts::Segmented | Sorts::Records | Sorts::Finished | Sorts::None => false,
    };
    let narrow = |bytes: u64| (1..4).contains(&bytes);
    let small = narrow(request.key.size_bytes()) || narrow(request.value.size_bytes());
    let key_words = request.key.bits().div_ceil(32);
    modules()
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
                Some(glsl(Some(VisitorPush { name, members: &source.push_members, addressed })))
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

/// The offset of the last `members` members of the push constants, in bytes; `None` where a module has fewer.
fn push_offset(words: &[u32], members: usize) -> Option<u32> {
    let module = rspirv::dr::load_words(words).ok()?;
    let defines = |id: u32| module.types_global_values.iter().find(move |other| other.result_id == Some(id));
    let is_push = |other: &&Instruction| {
        other.class.opcode == Op::Variable
            && other.operands.first() == Some(&Operand::StorageClass(StorageClass::PushConstant))
    };
    let pointer = defines(module.types_global_values.iter().find(is_push)?.result_type?)?;
    let block = defines(pointer.operands[1].unwrap_id_ref())?;
    let first = block.operands.len().checked_sub(members)? as u32;
    let named =
        [Operand::IdRef(block.result_id?), Operand::LiteralBit32(first), Operand::Decoration(Decoration::Offset)];
    let offset = module.annotations.iter().find(|other| other.operands.starts_with(&named))?.operands.get(3)?;
    Some(offset.unwrap_literal_bit32())
}

#[cfg(test)]
mod tests {
    use vksort::__private::steps::{self, HostStep};
    use vksort::__private::{ShapeDesc, visitor_words};
    use vksort::{Algorithm, Count, DeviceProfile, KeyType, Placement, RankMethod, SubgroupChoice, Tuning, ValueType};

    use super::*;

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
                        let desc = ShapeDesc { addressed, subgroup, ..desc };
                        let sort = |capacity, count| steps::of(&desc, capacity, count).unwrap();
                        let capacity = match algorithm {
                            Algorithm::SingleWorkgroup => 1,
                            _ => sort(1, Count::Device).shape.single.elements() + 1,
                        };
                        for count in [Count::Host(1), Count::Host(capacity), Count::Device] {
                            for step in sort(capacity, count).steps {
                                let HostStep::Dispatch(dispatch) = step else { continue };
                                let module = dispatch.module;
                                assert!(compiled.contains(&module), "{request}: {}", module.name());
                                taken += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(taken > 1000);
    }

    fn indexing(index: &str) -> VisitorSource {
        let text = format!(
            "layout(set = 1, binding = 0) readonly buffer Visited {{ uint visited[]; }} visited_parts[2];
             KEY visit_key(uint index) {{ return visited_parts[{index}].visited[index]; }}"
        );
        VisitorSource::new("parts.glsl").text(text).visits(Visits::NONE.keys(true))
    }

    #[test]
    fn arrays_of_buffers_that_are_indexed_by_data_are_refused_unless_the_feature_is_said_to_be_there() {
        let request = SortRequest::new(KeyType::U32).placement(Placement::OutOfPlace);
        let histogram = modules().into_iter().find(|module| module.name() == "histogram_32").unwrap();
        let check = |visitor: Visitor| visitor_words(&visitor, &[histogram], &request).map(|_| ());
        for index in ["1", "PASSES > 3 ? 1 : 0"] {
            check(indexing(index).into()).unwrap();
        }
        for index in ["index & 1", "push.count & 1"] {
            let bytes = indexing(index).compile(&request).unwrap();
            for visitor in [Visitor::from(indexing(index)), Visitor::from_bytes(&bytes).unwrap()] {
                let refused = check(visitor.clone()).unwrap_err().to_string();
                assert!(refused.contains("parts.glsl"), "{refused}");
                assert!(refused.contains("shaderStorageBufferArrayDynamicIndexing"), "{refused}");
                check(visitor.with_dynamic_indexing()).unwrap();
            }
        }
    }
}
