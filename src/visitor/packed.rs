//! Compiled visitors as bytes.

use super::interface::{Interface, Visits};
use crate::error::Error;
use crate::kernels::Module;
use crate::modules::unpack;
use crate::request::SortRequest;
use crate::{abi, checksum};

/// The first bytes.
const MAGIC: &[u8; 8] = b"vksortV1";
/// The words that follow: the number of the kernels' contract, the low half of the rest's checksum, the interface, and the lengths of
/// the visitor's name, of the names of its modules, and of the modules.
const HEAD_WORDS: usize = 2 + 4 + 3;
/// Words in front of what the checksum is of.
const UNSUMMED_WORDS: usize = 2;

/// The modules of a visitor for one kind of request.
#[derive(Clone)]
pub(super) struct Packed {
    pub name: String,
    pub interface: Interface,
    /// The names of the modules, as versions of vksort may have others, in another order.
    modules: Vec<String>,
    packed: Vec<u8>,
}

/// The bytes of modules.
#[cfg(feature = "__compile")]
pub fn to_bytes(name: &str, interface: Interface, modules: &[Module], words: &[Vec<u32>]) -> Vec<u8> {
    let names = modules.iter().map(Module::name).collect::<Vec<_>>().join(" ");
    let Interface { visits: Visits { keys, values, output }, push_bytes, key_words, value_words, discards } = interface;
    let flags = [keys, values, output, discards].iter().rev().fold(0, |bits, set| bits << 1 | u32::from(*set));
    let packed = crate::modules::pack::pack(words);
    let lengths = [name.len(), names.len(), packed.len()].map(|bytes| bytes as u32);
    let rest = [&[flags, push_bytes, key_words, value_words][..], &lengths].concat();
    let rest: Vec<u8> = rest.into_iter().flat_map(u32::to_le_bytes).collect();
    let rest = [&rest[..], name.as_bytes(), names.as_bytes(), &packed].concat();
    let (number, sum) = (abi::KERNELS.to_le_bytes(), (checksum::of(&rest) as u32).to_le_bytes());
    [&MAGIC[..], &number, &sum, &rest].concat()
}

impl Packed {
    pub fn from_bytes(bytes: &[u8]) -> Result<Packed, Error> {
        let refuse = |reason: &str| Err(Error::Visitor { name: "from bytes".into(), reason: reason.into() });
        let head = MAGIC.len() + 4 * HEAD_WORDS;
        if bytes.len() < head || !bytes.starts_with(MAGIC) {
            return refuse("the bytes are no compiled visitor of VisitorSource::compile or vksort-compile-visitor");
        }
        let words = bytes[MAGIC.len()..head].as_chunks().0;
        let words: [u32; HEAD_WORDS] = std::array::from_fn(|at| u32::from_le_bytes(words[at]));
        let [number, sum, flags, push_bytes, key_words, value_words, lengths @ ..] = words;
        if number != abi::KERNELS {
            let needed = abi::KERNELS;
            return refuse(&format!(
                "it was compiled for kernels of contract {number}, needed is {needed}: compile it again by this version of vksort"
            ));
        }
        let rest = &bytes[MAGIC.len() + 4 * UNSUMMED_WORDS..];
        let [name, names, packed] = lengths.map(|bytes| bytes as usize);
        let whole = name.checked_add(names).and_then(|both| both.checked_add(packed)) == Some(bytes.len() - head);
        if checksum::of(rest) as u32 != sum || !whole {
            return refuse("the bytes are not whole");
        }
        let [keys, values, output, discards] = std::array::from_fn(|bit| flags >> bit & 1 == 1);
        let visits = Visits { keys, values, output };
        let interface = Interface { visits, push_bytes, key_words, value_words, discards };
        let (name, rest) = bytes[head..].split_at(name);
        let (names, packed) = rest.split_at(names);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let modules = text(names).split(' ').map(String::from).collect();
        Ok(Packed { name: text(name), interface, modules, packed: packed.to_vec() })
    }

    pub fn words(&self, modules: &[Module], request: &SortRequest) -> Result<Vec<Vec<u32>>, Error> {
        let refuse = |reason: String| Error::Visitor { name: self.name.clone(), reason };
        let Interface { visits, push_bytes, .. } = self.interface;
        if Interface::new(visits, push_bytes, request) != self.interface {
            return Err(refuse(format!("it was compiled for another request than {request}")));
        }
        let word = |module: &Module| {
            let missing =
                || refuse(format!("it was compiled without the kernel {}, for another request", module.name()));
            let index = self.modules.iter().position(|other| *other == module.name()).ok_or_else(missing)?;
            unpack::unpack(&self.packed, index).ok_or_else(|| refuse("the bytes are not whole".into()))
        };
        modules.iter().map(word).collect()
    }
}
