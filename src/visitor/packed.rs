//! Compiled visitors as bytes.

use super::interface::{Interface, Visits};
use crate::checksum;
use crate::error::Error;
use crate::kernels::{self, Module};
use crate::modules::{self, unpack};
use crate::request::SortRequest;

/// The first bytes.
const MAGIC: &[u8; 8] = b"vksortV1";
/// The words that follow: the digest of the kernels, the low half of the rest's checksum, the interface, two lengths, the bits of
/// the modules.
const HEAD_WORDS: usize = 2 + 1 + 4 + 2 + MODULE_WORDS;
/// Words with a bit for each module.
const MODULE_WORDS: usize = modules::COUNT.div_ceil(32);

/// The modules of a visitor for one kind of request.
#[derive(Clone)]
pub(super) struct Packed {
    pub name: String,
    pub interface: Interface,
    /// The modules, in the order of [`kernels::modules`].
    modules: Vec<Module>,
    packed: Vec<u8>,
}

/// The bytes of modules, which are in the order of [`kernels::modules`].
#[cfg(feature = "__compile")]
pub fn to_bytes(name: &str, interface: Interface, modules: &[Module], words: &[Vec<u32>]) -> Vec<u8> {
    let mut bits = [0u32; MODULE_WORDS];
    for (index, module) in kernels::modules().iter().enumerate() {
        bits[index / 32] |= u32::from(modules.contains(module)) << (index % 32);
    }
    let Interface { visits: Visits { keys, values, output }, push_bytes, key_words, value_words, discards } = interface;
    let flags = [keys, values, output, discards].iter().rev().fold(0, |bits, set| bits << 1 | u32::from(*set));
    let packed = modules::pack::pack(words);
    let lengths = [name.len() as u32, packed.len() as u32];
    let rest = [&[flags, push_bytes, key_words, value_words][..], &lengths, &bits].concat();
    let rest: Vec<u8> = rest.into_iter().flat_map(u32::to_le_bytes).collect();
    let rest = [&rest[..], name.as_bytes(), &packed].concat();
    let (digest, sum) = (modules::SOURCES_DIGEST.to_le_bytes(), (checksum::of(&rest) as u32).to_le_bytes());
    [&MAGIC[..], &digest, &sum, &rest].concat()
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
        let [low, high, sum, flags, push_bytes, key_words, value_words, name, packed, bits @ ..] = words;
        if u64::from(high) << 32 | u64::from(low) != modules::SOURCES_DIGEST {
            return refuse("it was compiled by another version of vksort, needed is the version that sorts");
        }
        let rest = &bytes[MAGIC.len() + 12..];
        let (name, packed) = (name as usize, packed as usize);
        if checksum::of(rest) as u32 != sum || bytes.len() - head != name.saturating_add(packed) {
            return refuse("the bytes are not whole");
        }
        let [keys, values, output, discards] = std::array::from_fn(|bit| flags >> bit & 1 == 1);
        let visits = Visits { keys, values, output };
        let interface = Interface { visits, push_bytes, key_words, value_words, discards };
        let built = kernels::modules().into_iter().enumerate();
        let modules = built.filter(|(index, _)| bits[index / 32] >> (index % 32) & 1 == 1).map(|(_, module)| module);
        let (name, packed) = bytes[head..].split_at(name);
        Ok(Packed {
            name: String::from_utf8_lossy(name).into_owned(),
            interface,
            modules: modules.collect(),
            packed: packed.to_vec(),
        })
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
            let index = self.modules.iter().position(|other| other == module).ok_or_else(missing)?;
            unpack::unpack(&self.packed, index).ok_or_else(|| refuse("the bytes are not whole".into()))
        };
        modules.iter().map(word).collect()
    }
}
