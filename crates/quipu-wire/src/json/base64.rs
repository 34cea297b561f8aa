//! Base64 (RFC 4648) in the one spelling that each value has, because a proof must have only one text: a missing or
//! needless padding, white space, and bits behind the last byte that are not zero are refused.

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};

/// The text of `bytes`, in the standard alphabet and with padding.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The bytes of `text`, or nothing if it is not exactly what [`encode`] writes for them.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok()
}

/// The bytes of a text in the alphabet for URLs and without padding, as tokens and their keys are written.
#[must_use]
pub fn decode_url(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gives_the_texts_of_rfc_4648_and_reads_them_back() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(encode(&[0xfb, 0xef, 0xff]), "++//");
    }

    #[test]
    fn refuses_every_other_spelling() {
        for text in [
            "Zg", "Zg=", "Zh==", "Zm9=", "Zm8", "Z", "====", "Z===", "Zm9v=", "Zm9v====",
            "Zg==Zg==", "Zm9v ", " Zm9", "Zm9v\n", "Zm-_", "Zm9é", "Zg=A", "=g==",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn reads_the_alphabet_of_urls_without_padding() {
        assert_eq!(decode_url(""), Some(Vec::new()));
        assert_eq!(decode_url("Zg"), Some(b"f".to_vec()));
        assert_eq!(decode_url("Zm9v"), Some(b"foo".to_vec()));
        assert_eq!(decode_url("--__"), Some(vec![0xfb, 0xef, 0xff]));
    }

    #[test]
    fn refuses_every_other_spelling_for_urls() {
        for text in ["Zg==", "Zh", "Z", "++//", "Zm9v ", "Zm9v\n", "Zé"] {
            assert_eq!(decode_url(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reads_back_any_bytes(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn accepts_a_text_only_if_it_would_write_the_same(text in "[A-Za-z0-9+/]{0,9}={0,3}") {
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}
