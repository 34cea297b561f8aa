//! Reads JSON by pointer. A failure says what was found instead.

use serde_json::Value;

use crate::actors::check::{Checked, ensure, wrong};

/// Typed access to a JSON answer. A pointer is as in RFC 6901: `/conflict/status`.
pub(crate) trait JsonAccess {
    fn at(&self, pointer: &str) -> Checked<&Value>;
    fn text(&self, pointer: &str) -> Checked<&str>;
    fn number(&self, pointer: &str) -> Checked<f64>;
    fn integer(&self, pointer: &str) -> Checked<u64>;
    fn flag(&self, pointer: &str) -> Checked<bool>;
    fn list(&self, pointer: &str) -> Checked<&[Value]>;
    /// A list of strings.
    fn texts(&self, pointer: &str) -> Checked<Vec<String>>;
    /// Whether the value is absent or null.
    fn is_nothing(&self, pointer: &str) -> bool;
    /// Fails unless the object has each of these keys.
    fn has_keys(&self, what: &str, keys: &[&str]) -> Checked;
}

impl JsonAccess for Value {
    fn at(&self, pointer: &str) -> Checked<&Value> {
        self.pointer(pointer).map_or_else(|| wrong(format!("{pointer} is missing")), Ok)
    }

    fn text(&self, pointer: &str) -> Checked<&str> {
        let found = self.at(pointer)?;
        found.as_str().map_or_else(|| not(pointer, found, "a string"), Ok)
    }

    fn number(&self, pointer: &str) -> Checked<f64> {
        let found = self.at(pointer)?;
        found.as_f64().map_or_else(|| not(pointer, found, "a number"), Ok)
    }

    fn integer(&self, pointer: &str) -> Checked<u64> {
        let found = self.at(pointer)?;
        found.as_u64().map_or_else(|| not(pointer, found, "an integer of at least 0"), Ok)
    }

    fn flag(&self, pointer: &str) -> Checked<bool> {
        let found = self.at(pointer)?;
        found.as_bool().map_or_else(|| not(pointer, found, "true or false"), Ok)
    }

    fn list(&self, pointer: &str) -> Checked<&[Value]> {
        let found = self.at(pointer)?;
        found.as_array().map_or_else(|| not(pointer, found, "a list"), |list| Ok(list.as_slice()))
    }

    fn texts(&self, pointer: &str) -> Checked<Vec<String>> {
        let strings = self.list(pointer)?.iter();
        strings.map(|entry| entry.text("").map(str::to_owned)).collect()
    }

    fn is_nothing(&self, pointer: &str) -> bool {
        self.pointer(pointer).is_none_or(Self::is_null)
    }

    fn has_keys(&self, what: &str, keys: &[&str]) -> Checked {
        for key in keys {
            ensure(self.get(key).is_some(), format!("{what} has no {key:?}: {self}"))?;
        }
        Ok(())
    }
}

fn not<T>(pointer: &str, found: &Value, expected: &str) -> Checked<T> {
    wrong(format!("{pointer} is {found}, expected {expected}"))
}

/// Adds the keys of `over` to the object `under`, replacing those it has.
pub(crate) fn with(mut under: Value, over: Value) -> Value {
    if let (Some(map), Value::Object(more)) = (under.as_object_mut(), over) {
        map.extend(more);
    }
    under
}

pub(crate) fn without(mut object: Value, key: &str) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.remove(key);
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn says_what_was_there_instead() {
        let value = json!({"a": {"b": 1}});
        assert_eq!(value.integer("/a/b"), Ok(1));
        assert_eq!(value.text("/a/b").unwrap_err().to_string(), "/a/b is 1, expected a string");
        assert_eq!(value.text("/a/c").unwrap_err().to_string(), "/a/c is missing");
        assert!(value.is_nothing("/c"));
        assert!(value.has_keys("value", &["a", "z"]).is_err());
    }

    #[test]
    fn lays_objects_over_each_other() {
        let laid = with(json!({"a": 1, "b": 2}), json!({"b": 3}));
        assert_eq!(without(laid, "a"), json!({"b": 3}));
    }
}
