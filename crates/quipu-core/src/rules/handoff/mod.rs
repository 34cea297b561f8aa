//! HANDOFF: the rule, the package, why it is refused, and what is answered.

mod answer;
mod error;
mod package;
mod rule;

pub(super) use answer::is_same;
pub use answer::{read, readable, respond, respond_list, subject};
pub use error::Error;
pub use rule::{AUTHORITY_READ, HandoffCommand, decide, next_status};
