//! The order of object keys in RFC 8785 section 3.2.3: by UTF-16 code units.

use std::cmp::Ordering;

/// Compares two UTF-8 texts by their UTF-16 code units without converting either.
///
/// UTF-8 sorts by code point, and UTF-16 differs from that in one place: characters beyond U+FFFF
/// are written with surrogates (D800..DFFF) and so come before U+E000..U+FFFF. The first byte that
/// differs decides, and it can only differ across these two groups where it is a leading byte.
pub(super) fn by_utf16(left: &[u8], right: &[u8]) -> Ordering {
    match left.iter().zip(right).find(|(l, r)| l != r) {
        Some((&l, &r)) => rank(l).cmp(&rank(r)),
        None => left.len().cmp(&right.len()),
    }
}

/// Lifts the leading bytes of U+E000..U+FFFF over those of the supplementary planes (F0..F4).
/// Continuation bytes (80..BF) and all other leading bytes keep their rank.
fn rank(byte: u8) -> u8 {
    match byte {
        0xEE | 0xEF => byte + 0x10,
        other => other,
    }
}
