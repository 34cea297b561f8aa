//! Keeps secrets that a module was given out of what it says. It finds them as they were given; a module that turns
//! one around or encodes it first is not caught, so grant secrets only to modules that were read.

use serde_json::Value;

use super::limits::SECRET_BYTES_MIN;

const CONCEALED: &str = "[secret]";

#[derive(Default)]
pub(super) struct Secrecy {
    texts: Vec<String>,
}

impl Secrecy {
    pub(super) fn learn(&mut self, secret: &Value) {
        match secret {
            Value::String(text) if text.len() >= SECRET_BYTES_MIN => {
                if !self.texts.contains(text) {
                    self.texts.push(text.clone());
                    // The longest first, so that a secret within another does not leave the rest of it.
                    self.texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.learn(value)),
            Value::Object(members) => members.values().for_each(|value| self.learn(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Whether a secret is in a value, names of members included.
    pub(super) fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in_text(text),
            Value::Array(values) => values.iter().any(|value| self.is_in(value)),
            Value::Object(members) => {
                members.iter().any(|(name, value)| self.is_in_text(name) || self.is_in(value))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// A value without the secrets in it: a plain digest of a short secret can be guessed.
    pub(super) fn concealed(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.conceal(text)),
            Value::Array(values) => values.iter().map(|value| self.concealed(value)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                members.map(|(name, value)| (self.conceal(name), self.concealed(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A text without the secrets in it.
    pub(super) fn conceal(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, secret| text.replace(secret, CONCEALED))
    }

    fn is_in_text(&self, text: &str) -> bool {
        self.texts.iter().any(|secret| text.contains(secret))
    }
}
