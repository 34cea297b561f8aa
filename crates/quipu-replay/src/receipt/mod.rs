//! Receipts of the wire format `receipt-2026-04-25`: made from facts, hashed, chained, signed, read in
//! each of their forms, and verified by anybody with the public key.

mod bound_event;
mod bound_task;
mod check_export;
mod document;
mod facts;
mod issue_replay;
mod issue_task;
mod key;
mod materials;
mod read_export;
mod seal;
mod verify;

#[cfg(test)]
mod tests;

pub use crate::schema::Breach;
pub use crate::secrets::SecretHashing;
pub use bound_event::{BOUND, event_binding, replayed_line};
pub use bound_task::{BoundArtifact, EVENT_LOG_FORM, Members, Run, TaskBinding};
pub use check_export::{BoundLog, Mismatch, Proven, bound_log, check_export};
pub use document::{DOCUMENT_BYTES_MAX, DocumentError, Form, read_document};
pub use facts::{EventLogFact, IssuerFacts, ReplayFacts, RunFacts, TaskFacts};
pub use issue_replay::issue_replay;
pub use issue_task::issue_task;
pub use key::{KeyError, ReceiptKey, ReceiptSigner, SIGNATURE_ALGORITHM};
pub use materials::DependencyFact;
pub use read_export::{check_document, read_export};
pub use seal::{SealError, canonical_bytes, preimage, receipt_hash, seal};
pub use verify::{Finding, SignatureState, Trusted, Verdict, verify};
