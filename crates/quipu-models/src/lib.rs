//! Model back-ends. All of them are optional, and all of them may fail: whoever uses one goes on
//! without it. A local transformer ([`LocalModel`]), and whatever speaks the OpenAI protocol.
//!
//! This crate knows nothing of Fields, units or storage.

mod limits;
mod transformer;

pub use transformer::{DirectoryError, LocalModel};
