//! The hash of a receipt: what it covers, and how a receipt is bound to it. Exactly two members are left
//! out, `chain.receipt_hash` and `signatures`; everything else counts.

use serde_json::Value;

use quipu_wire::{
    harn::{Receipt, Sha256},
    json::canon::{self, CanonError},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("a receipt must be an object")]
    NotAnObject,
    #[error("the receipt has no canonical JSON")]
    Canon(#[from] CanonError),
    #[error("the receipt cannot be written as JSON: {0}")]
    Json(String),
}

/// The bytes that a receipt's hash is of.
///
/// # Errors
/// Where the value is no object or has no canonical form.
pub fn preimage(receipt: &Value) -> Result<Vec<u8>, SealError> {
    let mut receipt = receipt.as_object().ok_or(SealError::NotAnObject)?.clone();
    receipt.remove("signatures");
    if let Some(Value::Object(chain)) = receipt.get_mut("chain") {
        chain.remove("receipt_hash");
    }
    Ok(canon::to_vec(&receipt)?)
}

/// The hash that a receipt must carry.
///
/// # Errors
/// As [`preimage`].
pub fn receipt_hash(receipt: &Value) -> Result<Sha256, SealError> {
    preimage(receipt).map(|bytes| Sha256::of(&bytes))
}

/// The whole receipt in canonical JSON: what is stored, sent and compared.
///
/// # Errors
/// Where the receipt has no canonical form.
pub fn canonical_bytes(receipt: &Receipt) -> Result<Vec<u8>, SealError> {
    Ok(canon::to_vec(receipt)?)
}

/// Gives a receipt its hash. Signatures come after.
///
/// # Errors
/// Where the receipt has no canonical form.
pub fn seal(mut receipt: Receipt) -> Result<Receipt, SealError> {
    let value =
        serde_json::to_value(&receipt).map_err(|error| SealError::Json(error.to_string()))?;
    receipt.chain.receipt_hash = Some(receipt_hash(&value)?);
    Ok(receipt)
}
