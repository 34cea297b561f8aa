//! Ids as parts of a path.

/// An id as one segment of a path: whatever it holds, it is not taken for more than that.
pub(crate) fn segment(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_one_segment() {
        assert_eq!(segment("mem-01_a"), "mem-01_a");
        assert_eq!(segment("../a?b#c d"), "%2E%2E%2Fa%3Fb%23c%20d");
        assert_eq!(segment("ä"), "%C3%A4");
    }
}
