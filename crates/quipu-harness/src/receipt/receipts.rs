//! Receipts, read as the API's resource or bare. What is stored is the receipt itself.

use quipu_core::{DocumentKind, state::DocumentEntry};
use quipu_replay::{cbor, receipt::canonical_bytes};
use quipu_wire::{
    harn::{
        CardSignature, HarnError, JsonObject, List, RECEIPT_SCHEMA, Receipt, ReceiptResource,
        ReceiptResourceObject, ReceiptWireEnvelope, ResourceEnvelope, ResourceKind,
        ResourcePointer,
    },
    json::{canon, timestamp::rfc3339},
};
use serde_json::Value;

use crate::{
    Caller, Harness,
    handle::{
        failure::{harn_error, internal_error},
        page::Page,
    },
    not_found,
};

impl Harness {
    /// `GET /v1/tasks/{task_id}/receipts`, oldest first.
    ///
    /// # Errors
    /// Where there is no such Task that the caller may know of.
    pub async fn task_receipts(
        &self,
        caller: &Caller,
        task: &str,
        page: Page,
    ) -> Result<List<ReceiptResource>, HarnError> {
        self.check_task(caller, task)?;
        let taken = self.field.with_state(|state| {
            let issued = state.documents.of_task(DocumentKind::Receipt, task);
            page.take(issued.map(|(ordinal, entry)| (ordinal as u64, entry.clone())))
        });
        let read = move |harness: &Self| {
            taken.list(|entry| {
                harness.load_receipt(&entry).map(|receipt| receipt_resource(&receipt, &entry))
            })
        };
        self.reading(read).await
    }

    /// `GET /v1/receipts/{receipt_id}`: the resource around the receipt.
    ///
    /// # Errors
    /// Where there is none that the caller may know of.
    pub async fn receipt(&self, caller: &Caller, id: &str) -> Result<ReceiptResource, HarnError> {
        let (receipt, entry) = self.stored_receipt(caller, id).await?;
        Ok(receipt_resource(&receipt, &entry))
    }

    /// The receipt itself in canonical JSON.
    ///
    /// # Errors
    /// Where there is none that the caller may know of.
    pub async fn receipt_json(&self, caller: &Caller, id: &str) -> Result<Vec<u8>, HarnError> {
        let (receipt, _) = self.stored_receipt(caller, id).await?;
        canonical_bytes(&receipt).map_err(|error| internal_error(error.to_string()))
    }

    /// The receipt itself in deterministic CBOR.
    ///
    /// # Errors
    /// Where there is none that the caller may know of.
    pub async fn receipt_cbor(&self, caller: &Caller, id: &str) -> Result<Vec<u8>, HarnError> {
        let (receipt, _) = self.stored_receipt(caller, id).await?;
        cbor::encode(&canonical_value(&receipt)?).map_err(|error| internal_error(error.to_string()))
    }

    pub(crate) async fn stored_receipt(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(Receipt, DocumentEntry), HarnError> {
        let entry = self.entry(caller, DocumentKind::Receipt, id);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Receipt, id))?;
        let of = entry.clone();
        let receipt = self.reading(move |harness| harness.load_receipt(&of)).await?;
        Ok((receipt, entry))
    }

    fn load_receipt(&self, entry: &DocumentEntry) -> Result<Receipt, HarnError> {
        let receipt = self.field.body_at(entry.at).map_err(|error| harn_error(&error))?;
        receipt.ok_or_else(|| not_found(ResourceKind::Receipt, &entry.id))
    }
}

fn receipt_resource(receipt: &Receipt, entry: &DocumentEntry) -> ReceiptResource {
    let object = receipt.subject.object.as_str().to_owned();
    let subject = ResourcePointer { object, id: receipt.subject.id.clone() };
    let signature = receipt.signatures.first().map(|signature| CardSignature {
        algorithm: signature.algorithm.clone(),
        key_id: signature.key_id.clone(),
        value: signature.signature.clone(),
    });
    let mut envelope = ResourceEnvelope::new(&entry.id, rfc3339(entry.created_ms));
    envelope.updated_at = rfc3339(entry.updated_ms);
    let summary = format!("{} {} {}", subject.object, subject.id, receipt.lifecycle.final_state);
    let issued_at = receipt.issued_at.clone();
    let issuer = receipt.issuer.id.clone();
    let payload = match canonical_value(receipt) {
        Ok(Value::Object(map)) => Some(JsonObject(map)),
        _ => None,
    };
    ReceiptResource {
        object: ReceiptResourceObject::Receipt,
        envelope,
        subject: subject.clone(),
        format: RECEIPT_SCHEMA.to_owned(),
        summary,
        issued_at: issued_at.clone(),
        issuer,
        wire: Some(ReceiptWireEnvelope {
            schema_version: RECEIPT_SCHEMA.to_owned(),
            subject,
            issued_at,
            payload,
            signature,
        }),
        verification: None,
    }
}

/// The receipt as its canonical text reads, numbers included.
pub(crate) fn canonical_value(receipt: &Receipt) -> Result<Value, HarnError> {
    let bytes = canonical_bytes(receipt).map_err(|error| internal_error(error.to_string()))?;
    canon::parse(&bytes).map_err(|error| internal_error(error.to_string()))
}
