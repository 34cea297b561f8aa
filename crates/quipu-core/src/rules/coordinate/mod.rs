//! COORDINATE: the rule, who may do what, why it is refused, and what is answered.

mod answer;
mod authority;
mod error;
mod rule;

pub(super) use answer::is_same;
pub use answer::{read, respond, subject};
pub use authority::AUTHORITY_READ;
pub use error::Error;
pub use rule::{CoordinateCommand, decide, expire, is_read};
