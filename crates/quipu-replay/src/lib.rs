//! Replay of recorded Tasks, running of modules, receipts and their verification. Pure: no clock, no randomness, no
//! HTTP, no storage. What a run consumed comes in as recorded events; what a replay did goes out
//! as events, a receipt and, where it failed, the first thing that was unavailable.
//!
//! The rooms from the lowest to the highest; each uses only those before it: `cbor`, `schema` and `secrets`, then `task`,
//! `receipt` and `module`.

pub mod cbor;
pub mod module;
pub mod receipt;
mod schema;
mod secrets;
pub mod task;
