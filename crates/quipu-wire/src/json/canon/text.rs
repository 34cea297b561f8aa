//! Strings as RFC 8785 section 3.2.2.2 writes them: the shortest escape where one is required, and
//! every other character as itself.

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
const PLAIN: u8 = 0;
const CONTROL: u8 = b'u';

/// For each byte, the letter after the backslash, or [`PLAIN`].
static ESCAPES: [u8; 256] = escapes();

const fn escapes() -> [u8; 256] {
    let mut table = [PLAIN; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = CONTROL;
        control += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0A] = b'n';
    table[0x0C] = b'f';
    table[0x0D] = b'r';
    table[0x22] = b'"';
    table[0x5C] = b'\\';
    table
}

/// Bytes that are looked at together to see whether any of them needs an escape: mostly none does.
const GLANCED: usize = 16;

/// Appends `text` with its quotes.
pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut copied = 0;
    for (chunk, some) in bytes.chunks(GLANCED).enumerate() {
        if some.as_array().is_some_and(are_plain) {
            continue;
        }
        for (at, &byte) in (chunk * GLANCED..).zip(some) {
            let escape = ESCAPES[usize::from(byte)];
            if escape == PLAIN {
                continue;
            }
            out.extend_from_slice(&bytes[copied..at]);
            copied = at + 1;
            out.extend_from_slice(&[b'\\', escape]);
            if escape == CONTROL {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 0xF));
                out.extend_from_slice(&[b'0', b'0', HEX_DIGITS[high], HEX_DIGITS[low]]);
            }
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// Whether none of these bytes needs an escape, as the table says. Without the table, because only then many are
/// compared at a time.
fn are_plain(bytes: &[u8; GLANCED]) -> bool {
    !bytes.iter().fold(false, |any, byte| any | (*byte < 0x20) | (*byte == b'"') | (*byte == b'\\'))
}
