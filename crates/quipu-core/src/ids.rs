//! The ids that a Field gives: a prefix and 26 characters that sort by time of making. Ids are drawn
//! by an [`Origin`](crate::origin::Origin) and only written and read here.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 26;

/// Writes 128 bits as 26 characters of Crockford's alphabet, so that text order is number order.
fn encode(bits: u128) -> [u8; LENGTH] {
    let mut left = bits;
    let mut text = [b'0'; LENGTH];
    for letter in text.iter_mut().rev() {
        let digit = usize::try_from(left & 31).unwrap_or(0);
        *letter = ALPHABET.get(digit).copied().unwrap_or(b'0');
        left >>= 5;
    }
    text
}

/// 26 letters and digits for 128 bits, such that text order is number order.
#[must_use]
pub fn letters(bits: u128) -> String {
    encode(bits).iter().map(|letter| char::from(*letter)).collect()
}

/// The digit of each byte; 32 and more where it is none. Ids are read as often as events are.
#[expect(clippy::indexing_slicing, reason = "worked out by the compiler, which would refuse it")]
const DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let mut digit: u8 = 0;
    while digit < 32 {
        digits[ALPHABET[digit as usize] as usize] = digit;
        digit += 1;
    }
    digits
};

fn decode(text: &str) -> Option<u128> {
    if text.len() != LENGTH || text.as_bytes().first()? > &b'7' {
        return None;
    }
    text.bytes().try_fold(0u128, |bits, byte| {
        let digit = DIGITS.get(usize::from(byte)).filter(|digit| **digit < 32)?;
        Some((bits << 5) | u128::from(*digit))
    })
}

/// Reads an id from a text where it stands: ids are read too often to copy each first.
struct Text<T>(fn(&str) -> Option<T>);

impl<T> de::Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an id")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).ok_or_else(|| E::custom(format!("not an id: {text}")))
    }
}

macro_rules! id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u128);

        impl $name {
            /// The id with these bits.
            #[must_use]
            pub const fn from_bits(bits: u128) -> Self {
                Self(bits)
            }

            #[must_use]
            pub const fn bits(self) -> u128 {
                self.0
            }

            /// Reads an id that was written by [`Display`](std::fmt::Display).
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                text.strip_prefix($prefix).and_then(decode).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($prefix)?;
                f.write_str(std::str::from_utf8(&encode(self.0)).unwrap_or_default())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(Text(Self::parse))
                } else {
                    u128::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

id! {
    /// The id of a memory unit, such as `mem-01jz7x3k5v9m2n4p6q8r0s1t3v`.
    UnitId, "mem-"
}
id! {
    ConflictId, "conflict-"
}
id! {
    /// The id of a session whose creator names none.
    SessionId, "session-"
}
id! {
    /// The id of a task whose maker names none.
    TaskId, "task-"
}
id! {
    HandoffId, "handoff-"
}
id! {
    SubscriptionId, "sub-"
}
id! {
    /// The id of the trace of an ATTUNE.
    TraceId, "trace-"
}

#[cfg(test)]
mod tests {
    use super::UnitId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_id_reads_back_and_sorts_as_its_bits(a: u128, b: u128) {
            let (x, y) = (UnitId::from_bits(a), UnitId::from_bits(b));
            prop_assert_eq!(UnitId::parse(&x.to_string()), Some(x));
            prop_assert_eq!(x.to_string().cmp(&y.to_string()), a.cmp(&b));
        }
    }

    #[test]
    fn what_is_not_an_id_is_not_read_as_one() {
        for text in ["", "mem-", "mem-002", "mem-8zzzzzzzzzzzzzzzzzzzzzzzzz", "mem-é"] {
            assert_eq!(UnitId::parse(text), None, "{text}");
        }
    }
}
