//! The protocol's objects as a state knows them, without their free text, and how that is filled in. An outline
//! is taken from a state in one go, so that the state can be let go of before the log is asked for texts.

mod conflict;
mod handoff;
mod session;
mod task;
mod texts;
mod unit;

pub use conflict::ConflictOutline;
pub use handoff::HandoffOutline;
pub use session::SessionOutline;
pub use task::TaskOutline;
pub use texts::{ERASED, Texts};
pub use unit::UnitOutline;
