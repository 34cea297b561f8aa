//! Base64 as RFC 4648 section 4 has it, with padding, in the one spelling each value has.
//! Written by hand because it is smaller than a dependency, and because a proof must have only one text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    let (whole, rest) = bytes.as_chunks::<3>();
    for [a, b, c] in whole {
        push_digits(&mut text, [*a, *b, *c], 4);
    }
    match rest {
        [a] => {
            push_digits(&mut text, [*a, 0, 0], 2);
            text.push_str("==");
        }
        [a, b] => {
            push_digits(&mut text, [*a, *b, 0], 3);
            text.push('=');
        }
        _ => {}
    }
    text
}

/// The bytes of `text`, or nothing if it is not exactly what [`encode`] writes for them: also a missing padding,
/// white space, and bits behind the last byte that are not zero are refused.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let (quads, []) = text.as_bytes().as_chunks::<4>() else { return None };
    let Some((last, whole)) = quads.split_last() else { return Some(Vec::new()) };
    let mut bytes = Vec::with_capacity(quads.len() * 3);
    for quad in whole {
        bytes.extend(three_bytes(quad)?);
    }
    match *last {
        [a, b, b'=', b'='] => match three_bytes(&[a, b, b'A', b'A'])? {
            [first, 0, 0] => bytes.push(first),
            _ => return None,
        },
        [a, b, c, b'='] => match three_bytes(&[a, b, c, b'A'])? {
            [first, second, 0] => bytes.extend([first, second]),
            _ => return None,
        },
        quad => bytes.extend(three_bytes(&quad)?),
    }
    Some(bytes)
}

fn push_digits(text: &mut String, [a, b, c]: [u8; 3], digits: usize) {
    let word = u32::from_be_bytes([0, a, b, c]);
    for shift in [18, 12, 6, 0].into_iter().take(digits) {
        let value = usize::try_from((word >> shift) & 0x3f).unwrap_or_default();
        text.extend(ALPHABET.get(value).copied().map(char::from));
    }
}

fn three_bytes(quad: &[u8; 4]) -> Option<[u8; 3]> {
    let mut word = 0;
    for digit in quad {
        word = word << 6 | value_of(*digit)?;
    }
    let [_, a, b, c] = u32::to_be_bytes(word);
    Some([a, b, c])
}

fn value_of(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
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
