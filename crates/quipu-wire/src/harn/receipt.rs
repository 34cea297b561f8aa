//! Receipt: the resource around a receipt of the wire format, and the request that checks one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CardSignature, JsonObject, ResourceEnvelope, ResourcePointer, reading};
use crate::{json::reader::ReadError, words::words};

/// The media type of a receipt in deterministic CBOR.
pub const RECEIPT_CBOR: &str = "application/vnd.harn.receipt+cbor; schema=receipt-2026-04-25";
/// The media type that asks for the bare canonical receipt.
pub const RECEIPT_JSON: &str = "application/vnd.harn.receipt+json; schema=receipt-2026-04-25";

words! {
    /// The word in `object` of this resource.
    ReceiptResourceObject {
        /// Always this one.
        Receipt = "receipt",
    }
}

/// The receipt itself, with what finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReceiptWireEnvelope {
    /// Always `receipt-2026-04-25`.
    pub schema_version: String,
    /// What it proves.
    pub subject: ResourcePointer,
    /// The time at which it was issued.
    pub issued_at: String,
    /// The whole receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<JsonObject>,
    /// Its first signature.
    pub signature: Option<CardSignature>,
}

/// What a check of a receipt found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReceiptVerification {
    /// Whether it holds.
    pub valid: bool,
    /// When it was checked.
    pub checked_at: String,
    /// The first thing that is wrong.
    pub reason: Option<String>,
    /// Everything that was found.
    #[serde(default)]
    pub details: JsonObject,
}

/// A Receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReceiptResource {
    /// Always `receipt`.
    pub object: ReceiptResourceObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// What it proves.
    pub subject: ResourcePointer,
    /// Always `receipt-2026-04-25`.
    pub format: String,
    /// What it proves, in words.
    pub summary: String,
    /// The time at which it was issued.
    pub issued_at: String,
    /// By whom.
    pub issuer: String,
    /// The receipt itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<ReceiptWireEnvelope>,
    /// What the last check found.
    pub verification: Option<ReceiptVerification>,
}

/// The body of `POST /v1/receipts/{receipt_id}/verify`, which may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VerifyReceiptRequest {
    /// The key to trust, as the agent card writes it; the server's own keys if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_anchor: Option<String>,
    /// The moment to judge at.
    pub at_time: Option<String>,
}

impl VerifyReceiptRequest {
    /// Reads the body; absent is all defaults.
    ///
    /// # Errors
    /// Where a member is malformed; the error names it.
    pub fn parse(value: Option<Value>) -> Result<Self, ReadError> {
        let Some(value) = value else { return Ok(Self::default()) };
        let mut object = reading::body(value)?;
        Ok(Self {
            trust_anchor: object.take_nonblank("trust_anchor")?,
            at_time: object.take_time("at_time")?,
        })
    }
}
