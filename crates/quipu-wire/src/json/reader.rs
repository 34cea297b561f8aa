//! Reads a JSON object field by field, so that every refusal names the field, says what was
//! expected and what was found, and so that keys nobody asked for are known by name.

use std::fmt;

use serde_json::{Map, Value};

use crate::{
    error::{error_code::ErrorCode, protocol_error::ProtocolError},
    limits::{ID_BYTES_MAX, LIST_ENTRIES_MAX, SAFE_INTEGER_MAX, TEXT_BYTES_MAX},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ReadError {
    /// Where, such as `payload.intent.purpose`.
    pub path: String,
    /// What is wrong.
    pub problem: Problem,
    pub code: ErrorCode,
}

/// What is wrong with a value, as a fragment. What was found stands apart, for who must not repeat it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What it must be.
    pub wanted: String,
    /// What it is.
    pub found: Option<String>,
}

impl Problem {
    /// What a value must be, and what was found in its place.
    pub fn found(wanted: impl Into<String>, found: impl fmt::Display) -> Self {
        Self { wanted: wanted.into(), found: Some(found.to_string()) }
    }
}

impl From<String> for Problem {
    fn from(wanted: String) -> Self {
        Self { wanted, found: None }
    }
}

impl From<&str> for Problem {
    fn from(wanted: &str) -> Self {
        wanted.to_owned().into()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wanted)?;
        self.found.as_ref().map_or(Ok(()), |found| write!(f, ", got {found}"))
    }
}

impl ReadError {
    /// A plain `INVALID_PAYLOAD` at a path.
    #[must_use]
    pub fn new(path: impl Into<String>, problem: impl Into<Problem>) -> Self {
        Self { path: path.into(), problem: problem.into(), code: ErrorCode::InvalidPayload }
    }

    /// The same refusal under another code.
    #[must_use]
    pub fn with_code(mut self, code: ErrorCode) -> Self {
        self.code = code;
        self
    }
}

impl From<ReadError> for ProtocolError {
    fn from(error: ReadError) -> Self {
        Self::new(error.code, error.to_string())
    }
}

/// An object being read. Every `take_*` removes the key; a JSON null reads as absent.
#[derive(Debug)]
pub struct ObjectReader {
    path: String,
    map: Map<String, Value>,
}

impl ObjectReader {
    /// Starts reading `value`, which must be an object.
    pub fn new(path: &str, value: Value) -> Result<Self, ReadError> {
        if let Value::Object(map) = value {
            return Ok(Self { path: path.to_owned(), map });
        }
        Err(ReadError::new(path, expected("an object", &value)))
    }

    #[must_use]
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A refusal at a key of this object.
    #[must_use]
    pub fn refuse(&self, key: &str, problem: impl Into<Problem>) -> ReadError {
        ReadError::new(self.path_of(key), problem)
    }

    /// Whether the key is there at all, null included.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Takes whatever is under the key, null read as absent.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key).filter(|value| !value.is_null())
    }

    /// Takes a string of at most `bytes_max` bytes.
    pub fn take_text(&mut self, key: &str, bytes_max: usize) -> Result<Option<String>, ReadError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() > bytes_max => {
                Err(self.refuse(key, too_long(bytes_max, &text)))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.refuse(key, expected("a string", &other))),
        }
    }

    /// Takes a free text, where blank is as good as absent.
    pub fn take_nonblank(&mut self, key: &str) -> Result<Option<String>, ReadError> {
        Ok(self.take_text(key, TEXT_BYTES_MAX)?.filter(|text| !text.trim().is_empty()))
    }

    /// Takes an identifier: not empty, not too long, free of control characters.
    pub fn take_id(&mut self, key: &str) -> Result<Option<String>, ReadError> {
        let Some(id) = self.take_text(key, ID_BYTES_MAX)? else { return Ok(None) };
        check_id(&id).map_err(|problem| self.refuse(key, problem))?;
        Ok(Some(id))
    }

    /// Takes an identifier that must be there.
    pub fn require_id(&mut self, key: &str) -> Result<String, ReadError> {
        self.take_id(key)?.ok_or_else(|| self.refuse(key, "is required"))
    }

    /// Takes an integer from 0 to 2^53 - 1.
    pub fn take_integer(&mut self, key: &str) -> Result<Option<u64>, ReadError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match as_integer(&value) {
            Some(number) if number <= SAFE_INTEGER_MAX => Ok(Some(number)),
            _ => Err(self.refuse(key, expected("an integer from 0 to 2^53 - 1", &value))),
        }
    }

    /// Takes a number from 0.0 to 1.0.
    pub fn take_fraction(&mut self, key: &str) -> Result<Option<f64>, ReadError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.as_f64() {
            // Adding zero turns -0.0, which canonical JSON cannot write, into 0.0.
            Some(number) if (0.0..=1.0).contains(&number) => Ok(Some(number + 0.0)),
            _ => Err(self.refuse(key, expected("a number from 0.0 to 1.0", &value))),
        }
    }

    pub fn take_bool(&mut self, key: &str) -> Result<Option<bool>, ReadError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.refuse(key, expected("true or false", &other))),
        }
    }

    pub fn take_object(&mut self, key: &str) -> Result<Option<Self>, ReadError> {
        let path = self.path_of(key);
        self.take(key).map(|value| Self::new(&path, value)).transpose()
    }

    /// Takes an array of at most `entries_max` values, each with its path.
    pub fn take_array(
        &mut self,
        key: &str,
        entries_max: usize,
    ) -> Result<Vec<(String, Value)>, ReadError> {
        let path = self.path_of(key);
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) if items.len() > entries_max => Err(self.refuse(
                key,
                Problem::found(format!("must hold at most {entries_max} entries"), items.len()),
            )),
            Some(Value::Array(items)) => Ok(items
                .into_iter()
                .enumerate()
                .map(|(index, item)| (format!("{path}[{index}]"), item))
                .collect()),
            Some(other) => Err(self.refuse(key, expected("an array", &other))),
        }
    }

    pub fn take_texts(&mut self, key: &str) -> Result<Vec<String>, ReadError> {
        self.take_array(key, LIST_ENTRIES_MAX)?
            .into_iter()
            .map(|(path, value)| {
                let Value::String(text) = value else {
                    return Err(ReadError::new(path, expected("a string", &value)));
                };
                if text.len() > TEXT_BYTES_MAX {
                    return Err(ReadError::new(path, too_long(TEXT_BYTES_MAX, &text)));
                }
                Ok(text)
            })
            .collect()
    }

    /// Takes one of the words that `parse` knows.
    pub fn take_word<T>(
        &mut self,
        key: &str,
        words: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.as_str().and_then(parse) {
            Some(word) => Ok(Some(word)),
            None => Err(self.refuse(key, expected(&format!("one of {words}"), &value))),
        }
    }

    /// Takes an array of words that `parse` knows, at most `entries_max` of them.
    pub fn take_words<T>(
        &mut self,
        key: &str,
        entries_max: usize,
        words: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ReadError> {
        self.take_array(key, entries_max)?
            .into_iter()
            .map(|(path, value)| {
                let word = value.as_str().and_then(&parse);
                word.ok_or_else(|| {
                    ReadError::new(path, expected(&format!("one of {words}"), &value))
                })
            })
            .collect()
    }

    /// The keys that nobody took, as paths, in order.
    #[must_use]
    pub fn leftovers(self) -> Vec<String> {
        self.map.keys().map(|key| self.path_of(key)).collect()
    }

    /// Refuses keys that nobody took, where ignoring one would do harm.
    pub fn refuse_leftovers(self) -> Result<(), ReadError> {
        match self.leftovers().into_iter().next() {
            None => Ok(()),
            Some(path) => Err(ReadError::new(path, "is not known here, and nothing was done")),
        }
    }

    /// Leftover keys as warnings: a client learns that what it sent had no effect.
    #[must_use]
    pub fn warnings(self) -> Vec<String> {
        self.leftovers().into_iter().map(|path| ignored(&path)).collect()
    }
}

fn ignored(path: &str) -> String {
    const ASSIGNED: [&str; 4] = ["id", "epoch", "source", "status"];
    let is_unit = |object: &str| object == "payload" || object.starts_with("payload.units[");
    let assigned = path
        .rsplit_once('.')
        .is_some_and(|(object, key)| is_unit(object) && ASSIGNED.contains(&key));
    if assigned {
        format!("{path} was ignored: the Field assigns it")
    } else {
        format!("{path} was ignored: unknown field")
    }
}

/// Checks an identifier that arrived outside of an object, such as in a header.
pub fn check_id(id: &str) -> Result<(), Problem> {
    if id.trim().is_empty() {
        return Err("must not be empty".into());
    }
    if id.len() > ID_BYTES_MAX {
        return Err(too_long(ID_BYTES_MAX, id));
    }
    if id.chars().any(char::is_control) {
        return Err("must not contain control characters".into());
    }
    Ok(())
}

/// Reads an integer that may be written as `3` or `3.0`; both are the same number in JSON.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "guarded: whole, not negative, and within the exact range of a double"
)]
fn as_integer(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let exact = number >= 0.0 && number.fract() == 0.0 && number <= SAFE_INTEGER_MAX as f64;
        exact.then_some(number as u64)
    })
}

fn too_long(bytes_max: usize, text: &str) -> Problem {
    Problem::found(format!("must be at most {bytes_max} bytes"), text.len())
}

fn expected(what: &str, found: &Value) -> Problem {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let short: String = text.chars().take(40).collect();
            let dots = if short.len() < text.len() { "…" } else { "" };
            format!("\"{short}{dots}\"")
        }
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    Problem::found(format!("must be {what}"), found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reader(value: Value) -> ObjectReader {
        ObjectReader::new("payload", value).unwrap()
    }

    #[test]
    fn a_refusal_names_the_path_and_what_was_found() {
        let error = reader(json!({"n": "x"})).take_integer("n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "payload.n: must be an integer from 0 to 2^53 - 1, got \"x\""
        );
        let error = reader(json!({"list": ["a", 3]})).take_texts("list").unwrap_err();
        assert_eq!(error.to_string(), "payload.list[1]: must be a string, got 3");
    }

    #[test]
    fn a_word_that_is_not_known_is_named_by_its_place_in_the_list() {
        let parse = |word: &str| (word == "a").then_some(());
        let error = reader(json!({"list": ["a", "b"]})).take_words("list", 9, "`a`", parse);
        let text = error.unwrap_err().to_string();
        assert_eq!(text, "payload.list[1]: must be one of `a`, got \"b\"");
    }

    #[test]
    fn null_reads_as_absent() {
        assert_eq!(reader(json!({"n": null})).take_integer("n"), Ok(None));
    }

    #[test]
    fn whole_floats_are_integers_and_others_are_not() {
        assert_eq!(reader(json!({"n": 3.0})).take_integer("n"), Ok(Some(3)));
        assert!(reader(json!({"n": 3.5})).take_integer("n").is_err());
        assert!(reader(json!({"n": -1})).take_integer("n").is_err());
        assert!(reader(json!({"n": 1u64 << 60})).take_integer("n").is_err());
    }

    #[test]
    fn ids_are_not_blank_not_long_and_free_of_control_characters() {
        for bad in ["", "  ", "a\nb", &"x".repeat(ID_BYTES_MAX + 1)] {
            assert!(reader(json!({"id": bad})).take_id("id").is_err(), "{bad:?}");
        }
        assert_eq!(reader(json!({"id": "é-1"})).take_id("id"), Ok(Some("é-1".to_owned())));
    }

    #[test]
    fn what_nobody_took_is_a_warning_that_says_who_assigns_it() {
        let mut object = reader(json!({"content": "c", "epoch": 3, "mood": "good"}));
        object.take_text("content", 10).unwrap();
        assert_eq!(
            object.warnings(),
            [
                "payload.epoch was ignored: the Field assigns it",
                "payload.mood was ignored: unknown field"
            ]
        );
    }
}
