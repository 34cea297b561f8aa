//! Reads a receipt from bytes in each of its forms: bare JSON, the API's resource around it, an exported Task with it, or
//! CBOR. Strict: a text with two readings is no receipt.

use serde_json::Value;

use quipu_wire::json::canon::{self, ParseError};

use crate::cbor::{self, CborError};

/// An exported Task has the contents of its Artifacts in it.
pub const DOCUMENT_BYTES_MAX: usize = 128 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The receipt itself as JSON.
    Json,
    /// The resource of the API, with the receipt in `wire.payload`.
    Resource,
    /// An exported Task, with its receipt in `receipt`.
    Export,
    /// Deterministic CBOR.
    Cbor,
}

impl Form {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Resource => "JSON resource",
            Self::Export => "exported task",
            Self::Cbor => "CBOR",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("the document has {0} bytes, at most {DOCUMENT_BYTES_MAX} are read")]
    TooLarge(usize),
    #[error("the document is not strict JSON")]
    Json(#[from] ParseError),
    #[error("the document is not deterministic CBOR")]
    Cbor(#[from] CborError),
    #[error("the resource has no receipt in wire.payload")]
    NoPayload,
    #[error("the exported task has no receipt")]
    NoReceipt,
}

/// Reads a document. What it says is not judged here.
///
/// # Errors
/// Where the bytes are neither strict JSON nor deterministic CBOR.
pub fn read_document(bytes: &[u8]) -> Result<(Value, Form), DocumentError> {
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Err(DocumentError::TooLarge(bytes.len()));
    }
    // A map of CBOR starts with a byte that no JSON text can start with.
    if bytes.first().is_some_and(|first| (0xa0..=0xbf).contains(first)) {
        return Ok((cbor::decode(bytes)?, Form::Cbor));
    }
    let mut value = canon::parse(bytes)?;
    match value.get("object").and_then(Value::as_str) {
        Some("receipt") => {}
        Some("task_export") => {
            return match value.get_mut("receipt").map(Value::take) {
                Some(receipt @ Value::Object(_)) => Ok((receipt, Form::Export)),
                _ => Err(DocumentError::NoReceipt),
            };
        }
        _ => return Ok((value, Form::Json)),
    }
    match value.pointer_mut("/wire/payload").map(Value::take) {
        Some(payload @ Value::Object(_)) => Ok((payload, Form::Resource)),
        _ => Err(DocumentError::NoPayload),
    }
}
