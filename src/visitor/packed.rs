//! Compiled visitors as bytes.

use super::interface::{Interface, Visits};
use crate::checksum;
use crate::error::Error;
use crate::kernels::{self, Module};
use crate::modules::{self, pack};
use crate::request::SortRequest;

/// The first bytes.
const MAGIC: &[u8; 8] = b"vksortV1";
/// The words that follow: the digest of the kernels, the low half of the rest's checksum, the interface, two lengths, the bits of
/// the modules.
const HEAD_WORDS: usize = 2 + 1 + 4 + 2 + MODULE_WORDS;
/// Words with a bit for each module.
const MODULE_WORDS: usize = 4;

/// The modules of a visitor for one kind of request.
#[derive(Clone)]
pub(super) struct Packed {
    pub name: String,
    pub interface: Interface,
    /// The modules, in the order of [`kernels::modules`].
    modules: Vec<Module>,
    packed: Vec<u8>,
}

#[cfg(feature = "runtime-shaders")]
fn flags(interface: &Interface) -> u32 {
    let Visits { keys, values, output } = interface.visits;
    [keys, values, output, interface.discards].iter().rev().fold(0, |bits, set| bits << 1 | u32::from(*set))
}

impl Packed {
    /// Packs modules, which are in the order of [`kernels::modules`].
    #[cfg(feature = "runtime-shaders")]
    pub fn new(name: &str, interface: Interface, modules: Vec<Module>, words: &[Vec<u32>]) -> Packed {
        Packed { name: name.into(), interface, modules, packed: pack::pack(words) }
    }

    #[cfg(feature = "runtime-shaders")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bits = [0u32; MODULE_WORDS];
        for (index, module) in kernels::modules().iter().enumerate() {
            bits[index / 32] |= u32::from(self.modules.contains(module)) << (index % 32);
        }
        let Interface { push_bytes, key_words, value_words, .. } = self.interface;
        let lengths = [self.name.len() as u32, self.packed.len() as u32];
        let rest = [&[flags(&self.interface), push_bytes, key_words, value_words][..], &lengths, &bits].concat();
        let rest: Vec<u8> = rest.into_iter().flat_map(u32::to_le_bytes).collect();
        let rest = [&rest[..], self.name.as_bytes(), &self.packed].concat();
        let (digest, sum) = (modules::SOURCES_DIGEST.to_le_bytes(), (checksum::of(&rest) as u32).to_le_bytes());
        [&MAGIC[..], &digest, &sum, &rest].concat()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Packed, Error> {
        let refuse = |reason: &str| Err(Error::Visitor { name: "from bytes".into(), reason: reason.into() });
        let head = MAGIC.len() + 4 * HEAD_WORDS;
        if bytes.len() < head || !bytes.starts_with(MAGIC) {
            return refuse(
                "the bytes are no compiled visitor, needed are those of VisitorSource::compile or vksort-compile-visitor",
            );
        }
        let words: Vec<u32> = bytes[MAGIC.len()..head]
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        if u64::from(words[1]) << 32 | u64::from(words[0]) != modules::SOURCES_DIGEST {
            return refuse("it was compiled by another version of vksort, needed is the version that sorts");
        }
        let rest = &bytes[MAGIC.len() + 12..];
        let (name, packed) = (words[7] as usize, words[8] as usize);
        if checksum::of(rest) as u32 != words[2] || bytes.len() - head != name.saturating_add(packed) {
            return refuse("the bytes are not whole");
        }
        let flag = |bit: u32| words[3] >> bit & 1 == 1;
        let interface = Interface {
            visits: Visits { keys: flag(0), values: flag(1), output: flag(2) },
            discards: flag(3),
            push_bytes: words[4],
            key_words: words[5],
            value_words: words[6],
        };
        let bits = &words[HEAD_WORDS - MODULE_WORDS..];
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
            pack::unpack(&self.packed, index).ok_or_else(|| refuse("the bytes are not whole".into()))
        };
        modules.iter().map(word).collect()
    }
}

const _: () = assert!(modules::COUNT <= 32 * MODULE_WORDS);
