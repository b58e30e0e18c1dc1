//! The SPIR-V of every kernel, embedded.

use crate::abi::spec;
use crate::kernels::{self, Module};

/// SPIR-V of every module of [`kernels::modules`], in that order.
pub const MODULES: &[&[u8]] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// A module that is built.
fn bytes(module: &Module) -> &'static [u8] {
    let index = kernels::modules().iter().position(|built| built == module).expect("the closest module is built");
    MODULES[index]
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The words of a module.
pub(crate) fn words(module: &Module) -> Vec<u32> {
    bytes(module).chunks_exact(4).map(word).collect()
}

/// Which specialization constants a module has.
pub(crate) fn specialized(module: &Module) -> [bool; spec::LEN] {
    const HEADER_WORDS: usize = 5;
    const OP_FUNCTION: u32 = 54;
    const OP_DECORATE: u32 = 71;
    const SPEC_ID: u32 = 1;
    let bytes = bytes(module);
    let at = |index: usize| word(&bytes[4 * index..]);
    let mut found = [false; spec::LEN];
    let mut index = HEADER_WORDS;
    while 4 * index < bytes.len() {
        // The first word of an instruction has its length above its opcode.
        let (length, opcode) = ((at(index) >> 16).max(1) as usize, at(index) & 0xFFFF);
        match opcode {
            OP_FUNCTION => break,
            OP_DECORATE if at(index + 2) == SPEC_ID => found[at(index + 3) as usize] = true,
            _ => {}
        }
        index += length;
    }
    found
}
