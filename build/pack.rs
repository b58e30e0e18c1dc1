//! Packs the modules of a kernel together. `src/modules/unpack.rs` describes the form, and unpacks.

use miniz_oxide::deflate;

/// Words before the first instruction.
const HEADER_WORDS: usize = 5;

/// The opcode under which a module's header is packed: `OpNop`, which has no operands itself.
const HEADER: u32 = 0;

/// The strongest level of the compressor.
const LEVEL: u8 = 10;

/// Packs modules.
pub fn pack(modules: &[Vec<u32>]) -> Vec<u8> {
    let (mut heads, mut instructions) = (Vec::new(), Vec::new());
    push(&mut heads, modules.len() as u32);
    for words in modules {
        push(&mut heads, words.len() as u32);
        let (header, mut rest) = words.split_at(HEADER_WORDS);
        instructions.push((HEADER, header));
        while let [head, ..] = rest {
            let (opcode, length) = (head & 0xFFFF, head >> 16);
            push(&mut heads, opcode);
            push(&mut heads, length);
            instructions.push((opcode, &rest[1..length as usize]));
            rest = &rest[length as usize..];
        }
    }
    instructions.sort_by_key(|(opcode, _)| *opcode);
    let mut bytes = heads;
    for alike in instructions.chunk_by(|one, next| one.0 == next.0) {
        let longest = alike.iter().map(|(_, operands)| operands.len()).max().unwrap_or_default();
        for position in 0..longest {
            let mut before = 0;
            for word in alike.iter().filter_map(|(_, operands)| operands.get(position)) {
                let difference = word.wrapping_sub(before) as i32;
                // The sign is the lowest bit, so that small differences of either sign take few bytes.
                push(&mut bytes, (difference << 1 ^ difference >> 31) as u32);
                before = *word;
            }
        }
    }
    deflate::compress_to_vec(&bytes, LEVEL)
}

/// Appends a number, seven bits per byte, lowest first. The top bit is set if more bytes follow.
fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 0x7F {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
