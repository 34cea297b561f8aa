//! Tasks that a module works on: installing one, running it, answering it, and replaying it.

mod answering;
mod installing;
pub(crate) mod pricing;
mod replaying;
mod running;
