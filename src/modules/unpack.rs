//! Unpacks SPIR-V: the modules of a kernel together, as differences, which are then deflated. `build/pack.rs` packs them.
//!
//! An instruction resembles the previous instruction of its opcode: types are equal, and ids are close. So every operand is
//! stored as the difference to the operand at the same position of that instruction. Numbers are in base 128: first the
//! opcodes and lengths of all instructions, then the operands, opcode by opcode through all modules, and of each opcode
//! position by position. The variants of a kernel share most code, and this order brings it within the window of deflate. The
//! result has about a tenth of the bytes; modules packed one by one take a sixth, and deflate alone a third.

use miniz_oxide::inflate;

/// Words before the first instruction.
const HEADER_WORDS: usize = 5;

/// Unpacks one module; `None` for bytes that are not packed, or an index beyond the last module.
pub fn unpack(bytes: &[u8], index: usize) -> Option<Vec<u32>> {
    let bytes = inflate::decompress_to_vec(bytes).ok()?;
    let mut bytes = bytes.iter();
    // The words of all modules, the range of each module, and the positions of operands.
    let (mut words, mut modules) = (Vec::new(), Vec::new());
    // By opcode, as sorting the operands takes longer than decoding them.
    let mut operands = vec![Vec::new(); OPCODES];
    for _module in 0..pull(&mut bytes)? {
        let start = words.len();
        let end = start + pull(&mut bytes)? as usize;
        words.resize(start + HEADER_WORDS, 0);
        operands[HEADER as usize].push(start..words.len());
        while words.len() < end {
            let (opcode, length) = (pull(&mut bytes)?, pull(&mut bytes)?);
            words.push(length << 16 | opcode);
            let first = words.len();
            words.resize(first + length.checked_sub(1)? as usize, 0);
            operands.get_mut(opcode as usize)?.push(first..words.len());
        }
        modules.push(start..end);
    }
    for mut alike in operands {
        // Those that have an operand at the position.
        let mut position = 0;
        alike.retain(|place| position < place.len());
        while !alike.is_empty() {
            let mut before = 0u32;
            let mut ended = false;
            for place in &alike {
                let difference = pull(&mut bytes)?;
                before = before.wrapping_add(difference >> 1 ^ (difference & 1).wrapping_neg());
                words[place.start + position] = before;
                ended |= place.len() == position + 1;
            }
            position += 1;
            if ended {
                alike.retain(|place| position < place.len());
            }
        }
    }
    words.get(modules.get(index)?.clone()).map(<[u32]>::to_vec)
}

/// Beyond every opcode, the largest of which are those of vendors' extensions.
const OPCODES: usize = 1 << 13;

/// The opcode under which a module's header is packed: `OpNop`, which has no operands itself.
const HEADER: u32 = 0;

/// Takes a number, seven bits per byte, lowest first. The top bit is set if more bytes follow.
fn pull(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u32> {
    let mut number = u32::from(*bytes.next()?);
    if number <= 0x7F {
        return Some(number);
    }
    number &= 0x7F;
    for shift in (7..32).step_by(7) {
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
    use crate::modules::pack::pack;

    #[test]
    fn what_was_packed_is_unpacked() {
        let header = vec![0x0723_0203, 0x0001_0500, 13, 100, 0];
        let instructions = [0x0002_0011, 1, 0x0003_000E, 0, u32::MAX, 0x0001_00FD, 0x0003_000E, u32::MAX, 1 << 31];
        let modules =
            [[&header[..], &instructions].concat(), header.clone(), [&header[..], &instructions[2..]].concat()];
        let packed = pack(&modules);
        for (index, words) in modules.iter().enumerate() {
            assert_eq!(unpack(&packed, index).as_ref(), Some(words));
        }
        assert_eq!(unpack(&packed, modules.len()), None);
        assert_eq!(unpack(&packed[..packed.len() - 1], 0), None);
        assert_eq!(unpack(&[], 0), None);
    }
}
