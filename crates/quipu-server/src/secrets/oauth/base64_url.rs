//! Base64 as tokens and keys are written: the alphabet for URLs, no padding, one spelling for each value.

use quipu_wire::json::base64;

/// The bytes of a text; nothing if it is not the one spelling of them.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if text.contains(['+', '/', '=']) {
        return None;
    }
    let mut padded = text.replace('-', "+").replace('_', "/");
    while !padded.len().is_multiple_of(4) {
        padded.push('=');
    }
    base64::decode(&padded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_alphabet_of_urls_without_padding() {
        assert_eq!(decode(""), Some(Vec::new()));
        assert_eq!(decode("Zg"), Some(b"f".to_vec()));
        assert_eq!(decode("Zm9v"), Some(b"foo".to_vec()));
        assert_eq!(decode("--__"), Some(vec![0xfb, 0xef, 0xff]));
    }

    #[test]
    fn refuses_every_other_spelling() {
        for text in ["Zg==", "Zh", "Z", "++//", "Zm9v ", "Zm9v\n", "Zé"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
