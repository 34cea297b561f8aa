//! Checks of receipts: schema, hash, place in the chain, signatures. Whoever checks one trusts nothing that is
//! written in it.

use quipu_core::{DocumentKind, State, rules::harn::FIELD_AGENT, state::DocumentEntry};
use quipu_replay::receipt::{
    Finding, Mismatch, Proven, ReceiptKey, SignatureState, Trusted, Verdict, check_export, verify,
};
use quipu_wire::{
    harn::{
        HarnError, HarnErrorCode, JsonObject, Receipt, ReceiptVerification, Sha256,
        VerifyReceiptRequest,
    },
    json::timestamp::{parse_ms, rfc3339},
};
use serde_json::{Value, json};

use crate::{
    Caller, Harness,
    receipt::{notary::previous::previous_receipt, receipts::canonical_value},
    task::tasks::TaskView,
};

impl Harness {
    /// `POST /v1/receipts/{receipt_id}/verify`: schema, hash, chain and signatures, by the key that the
    /// request trusts or by our own.
    ///
    /// # Errors
    /// Where there is no such receipt, or `trust_anchor` is no key. A receipt that does not hold is no error.
    pub async fn verify_receipt(
        &self,
        caller: &Caller,
        id: &str,
        request: VerifyReceiptRequest,
    ) -> Result<ReceiptVerification, HarnError> {
        let keys = match &request.trust_anchor {
            None => self.options.own_keys(),
            Some(anchor) => vec![anchor.parse::<ReceiptKey>().map_err(|error| {
                HarnError::new(HarnErrorCode::InvalidRequest, error.to_string()).at("trust_anchor")
            })?],
        };
        let (receipt, entry) = self.stored_receipt(caller, id).await?;
        let previous = self
            .reading(move |harness| match harness.receipt_before(&entry)? {
                Before::Nothing => Ok(Some(None)),
                Before::Receipt(entry) => Ok(harness.hash_of(&entry)?.map(Some)),
                Before::Unknown => Ok(None),
            })
            .await?;
        let value = canonical_value(&receipt)?;
        let mut verdict = verify(&value, Trusted { keys: &keys, previous, merkle_root: None });
        let compared = self.compare_with_task(caller, &receipt).await?;
        let proven = match compared {
            Compared::Proven(proven) => proven.as_str().to_owned(),
            Compared::Differs(mismatch) => {
                let place = mismatch.place.clone();
                verdict.findings.push(Finding::Export(mismatch));
                format!("not {place}")
            }
            Compared::Not(why) => format!("not compared: {why}"),
        };
        let checked_at = rfc3339(self.field.origin().now_ms());
        let mut checked = verification(&verdict, &receipt, request.at_time.as_deref(), checked_at);
        checked.details.insert("proven".to_owned(), proven.into());
        Ok(checked)
    }

    /// Compares a receipt with what is kept here of its Task.
    async fn compare_with_task(
        &self,
        caller: &Caller,
        receipt: &Receipt,
    ) -> Result<Compared, HarnError> {
        let task = &receipt.identifiers.task_id;
        let view = self.field.with_state(|state| TaskView::find(state, caller, task));
        let Some(view) = view else { return Ok(Compared::Not("there is no such task".to_owned())) };
        let (caller, id) = (caller.clone(), receipt.receipt_id.clone());
        let exported = self.reading(move |harness| harness.exported(&caller, &view)).await;
        Ok(match exported {
            Ok(export) if export.task.receipt_id.as_ref() != Some(&id) => {
                Compared::Not("the task has a later receipt".to_owned())
            }
            Ok(export) => match check_export(&export) {
                Ok(proven) => Compared::Proven(proven),
                Err(mismatch) => Compared::Differs(mismatch),
            },
            Err(error) if error.code == HarnErrorCode::InternalError => return Err(error),
            // It is too long for one document, or parts of it are gone or not for the caller.
            Err(error) => Compared::Not(error.message),
        })
    }

    /// The receipt before another: of a replay, its source's; of any other Task, the one before in its
    /// Session. Reads storage.
    fn receipt_before(&self, entry: &DocumentEntry) -> Result<Before, HarnError> {
        let (Some(session), Some(task)) = (&entry.owner.session, &entry.owner.task) else {
            return Ok(Before::Unknown);
        };
        // One that was brought here follows another server's.
        if entry.created_by != FIELD_AGENT {
            return Ok(Before::Unknown);
        }
        let replay = self.replay_document(task)?;
        let source = replay.map(|document| document.plan.identity.source_task_id);
        Ok(self.field.with_state(|state| {
            let mut issued = state.documents.of_task(DocumentKind::Receipt, task);
            let Some((own, _)) = issued.find(|(_, issued)| issued.id == entry.id) else {
                return Before::Unknown;
            };
            let before = match &source {
                Some(source) => last_of_task(state, source, own),
                None => previous_receipt(state, session, Some(own)),
            };
            before.map_or(Before::Nothing, |before| Before::Receipt(Box::new(before.clone())))
        }))
    }
}

/// What came of comparing a receipt with its Task.
enum Compared {
    Proven(Proven),
    Differs(Mismatch),
    Not(String),
}

/// The receipt before another, as far as this log knows.
enum Before {
    Nothing,
    Receipt(Box<DocumentEntry>),
    Unknown,
}

/// The last receipt of a Task before an ordinal.
fn last_of_task<'s>(state: &'s State, task: &str, before: usize) -> Option<&'s DocumentEntry> {
    let issued = state.documents.of_task(DocumentKind::Receipt, task).rev();
    let mut earlier = issued.filter(|(ordinal, _)| *ordinal < before);
    earlier.next().map(|(_, entry)| entry)
}

fn verification(
    verdict: &Verdict,
    receipt: &Receipt,
    at_time: Option<&str>,
    checked_at: String,
) -> ReceiptVerification {
    let early = at_time.filter(|at| is_before(at, &receipt.issued_at));
    let early = early.map(|at| format!("time: issued at {}, after {at}", receipt.issued_at));
    // A signature of later proves nothing at that time.
    let signed = receipt.signatures.iter().filter_map(|it| it.signed_at.as_deref());
    let late = at_time.zip(signed.max()).filter(|(at, signed_at)| is_before(at, signed_at));
    let early = early
        .or_else(|| late.map(|(at, signed_at)| format!("time: signed at {signed_at}, after {at}")));
    let mut findings: Vec<Value> = verdict
        .findings
        .iter()
        .map(|finding| json!({"name": finding.name(), "message": finding.to_string()}))
        .collect();
    findings.extend(early.iter().map(|message| json!({"name": "at_time", "message": message})));
    let signatures: Vec<Value> = verdict.signatures.iter().map(signature).collect();
    let mut details = JsonObject::with("findings", findings);
    details.insert("signatures".to_owned(), signatures.into());
    let hash = verdict.computed_hash.as_ref().map(Sha256::to_string);
    details.insert("receipt_hash".to_owned(), hash.into());
    ReceiptVerification {
        valid: verdict.is_valid() && early.is_none(),
        checked_at,
        reason: verdict.reason().or(early),
        details,
    }
}

fn signature(state: &SignatureState) -> Value {
    match state {
        SignatureState::Valid { key_id } => json!({"key_id": key_id, "state": "valid"}),
        SignatureState::Wrong { key_id } => json!({"key_id": key_id, "state": "wrong"}),
        SignatureState::Unknown { key_id } => json!({"key_id": key_id, "state": "unknown"}),
    }
}

fn is_before(one: &str, other: &str) -> bool {
    matches!((parse_ms(one), parse_ms(other)), (Some(one), Some(other)) if one < other)
}
