//! What reading this protocol's requests needs beyond the common reader: open objects, changes,
//! times, digests. Paths start at the body, so that a refusal's `param` is what the client wrote.

use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{Change, JsonObject, Sha256};
use crate::{
    json::reader::{ObjectReader, ReadError, check_id},
    limits::{CONTENT_BYTES_MAX, LIST_ENTRIES_MAX, TEXT_BYTES_MAX},
};

/// Starts reading a request's body.
pub(super) fn body(value: Value) -> Result<ObjectReader, ReadError> {
    ObjectReader::new("", value)
}

impl ObjectReader {
    /// Takes a text that must be there and must not be blank.
    pub(super) fn require_text(&mut self, key: &str) -> Result<String, ReadError> {
        self.take_nonblank(key)?
            .ok_or_else(|| self.refuse(key, "is required and must not be blank"))
    }

    /// Takes a text that must be there and may be long or empty.
    pub(super) fn require_content(&mut self, key: &str) -> Result<String, ReadError> {
        self.take_text(key, CONTENT_BYTES_MAX)?.ok_or_else(|| self.refuse(key, "is required"))
    }

    /// Takes one of a set of words, which must be there.
    pub(super) fn require_word<T>(
        &mut self,
        key: &str,
        words: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ReadError> {
        self.take_word(key, words, parse)?
            .ok_or_else(|| self.refuse(key, format!("is required: one of {words}")))
    }

    /// Takes whatever is there, null included; absent is refused.
    pub(super) fn require_value(&mut self, key: &str) -> Result<Value, ReadError> {
        if !self.has(key) {
            return Err(self.refuse(key, "is required"));
        }
        Ok(self.take(key).unwrap_or(Value::Null))
    }

    /// Takes an open object; absent is none.
    pub(super) fn take_map(&mut self, key: &str) -> Result<Option<JsonObject>, ReadError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(JsonObject(map))),
            Some(_) => Err(self.refuse(key, "must be an object")),
        }
    }

    /// Takes an open object that must be there.
    pub(super) fn require_map(&mut self, key: &str) -> Result<JsonObject, ReadError> {
        self.take_map(key)?.ok_or_else(|| self.refuse(key, "is required and must be an object"))
    }

    /// Takes `metadata`; absent is empty.
    pub(super) fn take_metadata(&mut self) -> Result<JsonObject, ReadError> {
        Ok(self.take_map("metadata")?.unwrap_or_default())
    }

    pub(super) fn take_ids(&mut self, key: &str) -> Result<Vec<String>, ReadError> {
        let path = self.path_of(key);
        let ids = self.take_texts(key)?;
        for (index, id) in ids.iter().enumerate() {
            check_id(id).map_err(|problem| ReadError::new(format!("{path}[{index}]"), problem))?;
        }
        Ok(ids)
    }

    /// Takes a list of texts that must be there, though it may be empty.
    pub(super) fn require_texts(&mut self, key: &str) -> Result<Vec<String>, ReadError> {
        if !self.has(key) {
            return Err(self.refuse(key, "is required"));
        }
        self.take_texts(key)
    }

    /// Takes what a PATCH says of a text.
    pub(super) fn take_change(&mut self, key: &str) -> Result<Change<String>, ReadError> {
        if !self.has(key) {
            return Ok(Change::Keep);
        }
        Ok(self.take_text(key, TEXT_BYTES_MAX)?.map_or(Change::Clear, Change::Set))
    }

    /// Takes a list of texts if the member is there.
    pub(super) fn take_texts_change(
        &mut self,
        key: &str,
    ) -> Result<Option<Vec<String>>, ReadError> {
        if self.has(key) { self.take_texts(key).map(Some) } else { Ok(None) }
    }

    pub(super) fn take_time(&mut self, key: &str) -> Result<Option<String>, ReadError> {
        let Some(text) = self.take_text(key, TEXT_BYTES_MAX)? else { return Ok(None) };
        if is_timestamp(&text) {
            return Ok(Some(text));
        }
        Err(self
            .refuse(key, "must be a time in the form of RFC 3339, such as 2026-04-25T19:16:14Z"))
    }

    /// Takes a digest in the form `sha256:<hex>`.
    pub(super) fn take_digest(&mut self, key: &str) -> Result<Option<Sha256>, ReadError> {
        let Some(text) = self.take_text(key, TEXT_BYTES_MAX)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error| self.refuse(key, format!("{error}")))
    }

    /// Takes a list of objects, each with its path.
    pub(super) fn take_objects(&mut self, key: &str) -> Result<Vec<Self>, ReadError> {
        self.take_array(key, LIST_ENTRIES_MAX)?
            .into_iter()
            .map(|(path, value)| Self::new(&path, value))
            .collect()
    }
}

/// Whether a text is a time as RFC 3339 has it.
#[must_use]
pub fn is_timestamp(text: &str) -> bool {
    OffsetDateTime::parse(text, &Rfc3339).is_ok()
}
