//! The Harn Agents Protocol over a Field: its resources as views of the one state, its writes as commands,
//! receipts for whatever ended, and replay. One file per resource, one method per endpoint. Knows nothing
//! of HTTP.

mod caller;
mod sealing;

pub use caller::Caller;
pub use sealing::{Sealer, SealingError};
