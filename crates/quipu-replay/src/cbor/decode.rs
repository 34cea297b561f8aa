//! Reads deterministic CBOR back into a JSON value, and refuses every other spelling of it: tags,
//! indefinite lengths, numbers that could be shorter, keys out of order. Never allocates on the word
//! of a length alone.

use serde_json::{Map, Number, Value};

use quipu_wire::{json::canon::MAX_DEPTH, limits::SAFE_INTEGER_MAX};

use super::{
    encode::{
        ARRAY, DOUBLE, FALSE, HALF, MAP, NEGATIVE, NULL, SINGLE, TEXT, TRUE, UNSIGNED, as_integer,
    },
    float::{Shortest, from_half, shortest},
};

/// Why bytes are not deterministic CBOR of a JSON value, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {problem}")]
pub struct CborError {
    /// The offset of the item that was refused.
    pub at: usize,
    pub problem: &'static str,
}

/// Reads one value.
///
/// # Errors
/// Where the bytes are not exactly what `encode` writes for some value.
pub fn decode(bytes: &[u8]) -> Result<Value, CborError> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.value(0)?;
    if reader.at < bytes.len() {
        return Err(reader.refuse("more bytes after the value"));
    }
    Ok(value)
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    const fn refuse(&self, problem: &'static str) -> CborError {
        CborError { at: self.at, problem }
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], CborError> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.refuse("the bytes end too early"))?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CborError> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| self.refuse("the bytes end too early"))
    }

    fn value(&mut self, depth: usize) -> Result<Value, CborError> {
        let start = self.at;
        let [initial] = self.array()?;
        let refused = |problem| CborError { at: start, problem };
        match initial {
            FALSE => return Ok(Value::Bool(false)),
            TRUE => return Ok(Value::Bool(true)),
            NULL => return Ok(Value::Null),
            HALF | SINGLE | DOUBLE => return self.float(initial),
            _ => {}
        }
        let major = initial >> 5;
        if matches!(major, ARRAY | MAP) && depth == MAX_DEPTH {
            return Err(refused("nested too deeply"));
        }
        match major {
            UNSIGNED | NEGATIVE => {
                let argument = self.argument(initial)?;
                integer(major, argument)
                    .ok_or_else(|| refused("integer outside -(2^53-1)..=2^53-1"))
            }
            TEXT => self.text(initial).map(|text| Value::String(text.to_owned())),
            ARRAY => {
                let count = self.argument(initial)?;
                (0..count)
                    .map(|_| self.value(depth + 1))
                    .collect::<Result<_, _>>()
                    .map(Value::Array)
            }
            MAP => self.map(initial, depth),
            _ => Err(refused("a kind of item that JSON does not have")),
        }
    }

    /// The argument of an item's first byte, in the fewest bytes.
    fn argument(&mut self, initial: u8) -> Result<u64, CborError> {
        let at = self.at - 1;
        let (argument, least) = match initial & 0x1f {
            small @ 0..24 => (u64::from(small), 0),
            24 => (u64::from(u8::from_be_bytes(self.array()?)), 24),
            25 => (u64::from(u16::from_be_bytes(self.array()?)), 0x100),
            26 => (u64::from(u32::from_be_bytes(self.array()?)), 0x1_0000),
            27 => (u64::from_be_bytes(self.array()?), 0x1_0000_0000),
            _ => return Err(CborError { at, problem: "indefinite or reserved length" }),
        };
        if argument < least {
            return Err(CborError { at, problem: "not in the fewest bytes" });
        }
        Ok(argument)
    }

    fn text(&mut self, initial: u8) -> Result<&'b str, CborError> {
        let at = self.at - 1;
        let length = self.argument(initial)?;
        let length = usize::try_from(length).map_err(|_| self.refuse("the bytes end too early"))?;
        let text = std::str::from_utf8(self.take(length)?);
        text.map_err(|_| CborError { at, problem: "text is not UTF-8" })
    }

    fn map(&mut self, initial: u8, depth: usize) -> Result<Value, CborError> {
        let mut members = Map::new();
        let mut before: &[u8] = &[];
        for _ in 0..self.argument(initial)? {
            let start = self.at;
            let [initial] = self.array()?;
            if initial >> 5 != TEXT {
                return Err(CborError { at: start, problem: "a key that is not text" });
            }
            let key = self.text(initial)?;
            let encoded = self.bytes.get(start..self.at).unwrap_or_default();
            if encoded <= before {
                return Err(CborError { at: start, problem: "keys are doubled or out of order" });
            }
            before = encoded;
            members.insert(key.to_owned(), self.value(depth + 1)?);
        }
        Ok(Value::Object(members))
    }

    fn float(&mut self, initial: u8) -> Result<Value, CborError> {
        let at = self.at - 1;
        let (value, given) = match initial {
            HALF => {
                let bits = u16::from_be_bytes(self.array()?);
                (from_half(bits), Shortest::Half(bits))
            }
            SINGLE => {
                let bits = u32::from_be_bytes(self.array()?);
                (f64::from(f32::from_bits(bits)), Shortest::Single(bits))
            }
            _ => {
                let bits = u64::from_be_bytes(self.array()?);
                (f64::from_bits(bits), Shortest::Double(bits))
            }
        };
        let number = Number::from_f64(value);
        let number = number.ok_or(CborError { at, problem: "a number that is not finite" })?;
        if shortest(value) != given || as_integer(value).is_some() {
            return Err(CborError { at, problem: "not in the fewest bytes" });
        }
        Ok(Value::Number(number))
    }
}

fn integer(major: u8, argument: u64) -> Option<Value> {
    if major == UNSIGNED {
        return (argument <= SAFE_INTEGER_MAX).then(|| Value::from(argument));
    }
    let magnitude =
        i64::try_from(argument).ok().filter(|it| *it < SAFE_INTEGER_MAX.cast_signed())?;
    Some(Value::from(-1 - magnitude))
}
