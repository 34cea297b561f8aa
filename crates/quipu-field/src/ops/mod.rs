//! What a Field can be asked, one file for each operation, as methods of its handle.

mod attune;
mod compact;
mod coordinate;
mod detect;
mod enrich;
mod first_answer;
mod harn;
mod log;
mod merge;
mod nodes;
mod record;
mod subscribe;
mod units;

pub use harn::HarnOutcome;
