//! An open JSON object: the protocol's `metadata` and everything else whose members it does not
//! fix. A type of its own, so that an array or a text can never stand where an object must.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonObject(pub Map<String, Value>);

impl JsonObject {
    /// An object with one member.
    #[must_use]
    pub fn with(key: &str, value: impl Into<Value>) -> Self {
        let mut object = Self::default();
        object.0.insert(key.to_owned(), value.into());
        object
    }
}

/// Reads a member that may be absent and whose null is a value like any other.
pub fn null_too<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Deref for JsonObject {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for JsonObject {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl From<Map<String, Value>> for JsonObject {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for JsonObject {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new().into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for JsonObject {}
