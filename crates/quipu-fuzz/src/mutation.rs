//! Changes to an input: small ones, and pieces of another input or of words that mean something.

use crate::dice::Dice;

/// The longest input that is made.
const BYTES_MAX: usize = 64 * 1024;
/// Bytes at the borders of what lengths and kinds are written with.
const BORDERS: [u8; 12] = [0, 1, 0x17, 0x18, 0x1b, 0x7f, 0x80, 0x9f, 0xbf, 0xc2, 0xfe, 0xff];

/// A changed copy of an input.
pub(crate) fn mutated(dice: &mut Dice, from: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let mut bytes = from.to_vec();
    for _ in 0..=dice.below(4) {
        change(dice, &mut bytes, other, words);
    }
    bytes.truncate(BYTES_MAX);
    bytes
}

fn change(dice: &mut Dice, bytes: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    let at = dice.below(bytes.len() + 1);
    match dice.below(9) {
        0 => put(bytes, at, |byte| *byte ^= 1 << (at % 8)),
        1 => {
            let border = *dice.one_of(&BORDERS).unwrap_or(&0);
            put(bytes, at, |byte| *byte = border);
        }
        2 => {
            let any = dice.byte();
            put(bytes, at, |byte| *byte = any);
        }
        3 => {
            let end = (at + 1 + dice.below(16)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        4 => bytes.truncate(at),
        5 => {
            let piece = piece(dice, bytes);
            for _ in 0..=dice.below(3) {
                bytes.splice(at..at, piece.iter().copied());
            }
        }
        6 => {
            let piece = piece(dice, other);
            bytes.splice(at..at, piece);
        }
        7 => {
            let piece = piece(dice, other);
            let end = (at + piece.len()).min(bytes.len());
            bytes.splice(at..end, piece);
        }
        _ => {
            let word = dice.one_of(words).copied().unwrap_or("\u{0}");
            bytes.splice(at..at, word.bytes());
        }
    }
}

fn put(bytes: &mut [u8], at: usize, change: impl FnOnce(&mut u8)) {
    if let Some(byte) = bytes.get_mut(at) {
        change(byte);
    }
}

fn piece(dice: &mut Dice, of: &[u8]) -> Vec<u8> {
    let start = dice.below(of.len());
    let end = (start + 1 + dice.below(32)).min(of.len());
    of.get(start..end).unwrap_or_default().to_vec()
}
