//! What a Field can be asked, one file for each operation, as methods of its handle. What is no operation of the
//! protocol is in `harn`, `log`, `units`, `status`, `proofs`, `nodes` and `enrich`.

mod attune;
mod compact;
mod coordinate;
mod deregister;
mod detect;
mod enrich;
mod first_answer;
mod handoff;
mod harn;
mod least_authority;
mod log;
mod merge;
mod models;
mod nodes;
mod proofs;
mod record;
mod register;
mod replay;
mod restore;
mod retract;
mod session;
mod status;
mod subscribe;
mod units;

pub use harn::HarnOutcome;
pub use models::{ModelInUse, ModelRole};
