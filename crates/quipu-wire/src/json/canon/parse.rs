//! Reads JSON strictly: one text, one value. Refuses duplicate keys, integers that a double cannot
//! hold, numbers beyond a double, deep nesting, and whatever `serde_json` refuses (trailing data,
//! invalid UTF-8, lone surrogates). Does not check what a value means.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, map::Entry};

use super::{
    error::ParseError,
    number::{NumberTokens, is_integer},
    path::Path,
    serializer::MAX_DEPTH,
};
use crate::limits::SAFE_INTEGER_MAX;

/// The first whole number that a double cannot tell from its neighbour.
const TWO_POW_53: f64 = 9_007_199_254_740_992.0;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads one JSON text.
///
/// # Errors
/// Where the text is not strict JSON: see [`ParseError`].
pub fn parse(input: &[u8]) -> Result<Value, ParseError> {
    if input.starts_with(BYTE_ORDER_MARK) {
        let reason = "byte order mark before the value".to_owned();
        return Err(ParseError::Syntax { line: 1, column: 1, reason });
    }
    let mut reading = Reading { tokens: NumberTokens::new(input), numbers: 0, refusal: None };
    let mut deserializer = serde_json::Deserializer::from_slice(input);
    let root = Node { reading: &mut reading, path: &Path::Root, depth: 0 };
    root.deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| reading.refusal.take().unwrap_or_else(|| syntax(&error)))
}

fn syntax(error: &serde_json::Error) -> ParseError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let position = format!(" at line {line} column {column}");
    let reason = text.strip_suffix(&position).unwrap_or(&text).to_owned();
    ParseError::Syntax { line, column, reason }
}

/// What all nodes of one text share.
struct Reading<'i> {
    tokens: NumberTokens<'i>,
    numbers: usize,
    /// Our own reason, kept here because the reader's error type only carries text.
    refusal: Option<ParseError>,
}

/// One value to be read, and where it stands.
struct Node<'r, 'i> {
    reading: &'r mut Reading<'i>,
    path: &'r Path<'r>,
    /// How many arrays and objects are around it.
    depth: usize,
}

impl Node<'_, '_> {
    fn refuse<T, E: de::Error>(self, refusal: fn(String) -> ParseError) -> Result<T, E> {
        self.reading.refusal = Some(refusal(self.path.render()));
        Err(E::custom("refused"))
    }
}

fn too_deep(path: String) -> ParseError {
    ParseError::TooDeep { path }
}

fn integer_too_large(path: String) -> ParseError {
    ParseError::IntegerTooLarge { path }
}

fn number_too_large(path: String) -> ParseError {
    ParseError::NumberTooLarge { path }
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.reading.numbers += 1;
        if value > SAFE_INTEGER_MAX {
            return self.refuse(integer_too_large);
        }
        Ok(Value::from(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.reading.numbers += 1;
        if value.unsigned_abs() > SAFE_INTEGER_MAX {
            return self.refuse(integer_too_large);
        }
        Ok(Value::from(value))
    }

    /// Comes for every number with a fraction or exponent, for integers beyond 64 bits, and for -0.
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        self.reading.numbers += 1;
        let token = self.reading.tokens.nth(self.reading.numbers);
        if token.is_some_and(is_integer) {
            return if value == 0.0 { Ok(Value::from(0)) } else { self.refuse(integer_too_large) };
        }
        let nearest: f64 = token.and_then(|token| token.parse().ok()).unwrap_or(value);
        // Canonical JSON writes these as bare integers, which would then be refused here.
        if (TWO_POW_53..1e21).contains(&nearest.abs()) {
            return self.refuse(integer_too_large);
        }
        match Number::from_f64(nearest) {
            Some(number) => Ok(Value::Number(number)),
            None => self.refuse(number_too_large),
        }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if self.depth == MAX_DEPTH {
            return self.refuse(too_deep);
        }
        let mut elements = Vec::new();
        loop {
            let path = Path::Index(self.path, elements.len());
            let node = Node { reading: &mut *self.reading, path: &path, depth: self.depth + 1 };
            match access.next_element_seed(node)? {
                Some(element) => elements.push(element),
                None => return Ok(Value::Array(elements)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if self.depth == MAX_DEPTH {
            return self.refuse(too_deep);
        }
        let mut members = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            match members.entry(key) {
                Entry::Occupied(twice) => {
                    let path = Path::Key(self.path, twice.key()).render();
                    self.reading.refusal = Some(ParseError::DuplicateKey { path });
                    return Err(de::Error::custom("refused"));
                }
                Entry::Vacant(member) => {
                    let path = Path::Key(self.path, member.key());
                    let depth = self.depth + 1;
                    let node = Node { reading: &mut *self.reading, path: &path, depth };
                    let value = access.next_value_seed(node)?;
                    member.insert(value);
                }
            }
        }
        Ok(Value::Object(members))
    }
}
