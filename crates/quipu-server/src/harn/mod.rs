//! The Harn Agents Protocol over HTTP: the way in, and one file per resource. What a resource is, and what
//! becomes of it, is `quipu-harness`'s.
#![expect(
    dead_code,
    reason = "the entrance is whole before the first resource that needs all of it"
)]

mod agent_card;
mod answer;
mod credentials;
mod discovery;
mod document;
mod entrance;
mod harnesses;
mod identity;
mod options;
mod path;
pub(crate) mod paths;
mod query;
mod refusal;
mod routes;
mod runtime;
mod upgrade;

pub(crate) use document::{HarnApi, security_scheme};
pub(crate) use harnesses::Harnesses;
pub(crate) use identity::receipt_signer;
pub use identity::{ReceiptIssuer, SecretError};
pub use options::{HarnOptions, HarnSetupError};
pub(crate) use refusal::HarnRefused;
pub(crate) use routes::router;
