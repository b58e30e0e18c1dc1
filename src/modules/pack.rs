//! How SPIR-V is kept in a program: as differences, which are then deflated. `build.rs` includes this file to pack; the
//! library unpacks.
//!
//! An instruction resembles the last one of its opcode: types are the same, and ids lie near. So every operand is kept as
//! the difference to the operand at its position there. Numbers are in base 128, first the opcodes and lengths of all
//! instructions, then all operands. That takes about a sixth of the words' bytes; deflating the words alone leaves a third.

use std::collections::HashMap;

use miniz_oxide::{deflate, inflate};

/// Words before the first instruction.
const HEADER_WORDS: usize = 5;

/// The strongest level of the compressor.
const LEVEL: u8 = 10;

/// Packs a module.
#[cfg_attr(not(test), allow(dead_code, reason = "the library unpacks only"))]
pub fn pack(words: &[u32]) -> Vec<u8> {
    let (mut heads, mut operands) = (Vec::new(), Vec::new());
    push(&mut heads, words.len() as u32);
    words[..HEADER_WORDS].iter().for_each(|word| push(&mut operands, *word));
    let mut last = Last::default();
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let (length, opcode) = (words[at] >> 16, words[at] & 0xFFFF);
        push(&mut heads, opcode);
        push(&mut heads, length);
        for (position, word) in words[at + 1..at + length as usize].iter().enumerate() {
            let before = last.of(opcode, position);
            let difference = word.wrapping_sub(*before) as i32;
            // The sign in the lowest bit keeps small differences of either sign short.
            push(&mut operands, (difference << 1 ^ difference >> 31) as u32);
            *before = *word;
        }
        at += length as usize;
    }
    deflate::compress_to_vec(&[heads, operands].concat(), LEVEL)
}

/// Unpacks a module; `None` for bytes that [`pack`] has not made.
#[allow(dead_code, reason = "build.rs packs only")]
pub fn unpack(bytes: &[u8]) -> Option<Vec<u32>> {
    let bytes = inflate::decompress_to_vec(bytes).ok()?;
    let mut bytes = bytes.iter();
    let len = pull(&mut bytes)? as usize;
    let (mut heads, mut at) = (Vec::new(), HEADER_WORDS);
    while at < len {
        let head = (pull(&mut bytes)?, pull(&mut bytes)?);
        at += head.1.max(1) as usize;
        heads.push(head);
    }
    let mut words = Vec::with_capacity(len);
    for _word in 0..HEADER_WORDS {
        words.push(pull(&mut bytes)?);
    }
    let mut last = Last::default();
    for (opcode, length) in heads {
        words.push(length << 16 | opcode);
        for position in 0..length.saturating_sub(1) as usize {
            let difference = pull(&mut bytes)?;
            let before = last.of(opcode, position);
            *before = before.wrapping_add(difference >> 1 ^ (difference & 1).wrapping_neg());
            words.push(*before);
        }
    }
    (words.len() == len && bytes.len() == 0).then_some(words)
}

/// The operands of the last instruction of each opcode, by position; those of longer ones before it stay.
#[derive(Default)]
struct Last(HashMap<u32, Vec<u32>>);

impl Last {
    fn of(&mut self, opcode: u32, position: usize) -> &mut u32 {
        let operands = self.0.entry(opcode).or_default();
        if operands.len() <= position {
            operands.resize(position + 1, 0);
        }
        &mut operands[position]
    }
}

/// Appends a number, seven bits a byte, lowest first; the top bit says that more follow.
fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 0x7F {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn pull(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u32> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let byte = *bytes.next()?;
        number |= u32::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked() {
        let header = [0x0723_0203, 0x0001_0500, 13, 100, 0];
        let instructions = [0x0002_0011, 1, 0x0003_000E, 0, u32::MAX, 0x0001_00FD, 0x0003_000E, u32::MAX, 1 << 31];
        for words in [&header[..], &[&header[..], &instructions].concat()] {
            assert_eq!(unpack(&pack(words)).as_deref(), Some(words));
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        let packed = pack(&[0x0723_0203, 0x0001_0500, 13, 100, 0, 0x0002_0011, 1]);
        assert_eq!(unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(unpack(&[]), None);
        // Announced are more words than there are, and none but they.
        for bytes in [&[9u8, 1, 2, 3, 4, 5][..], &[5, 1, 2, 3, 4, 5, 6], &[5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]] {
            assert_eq!(unpack(&deflate::compress_to_vec(bytes, LEVEL)), None, "{bytes:?}");
        }
    }
}
