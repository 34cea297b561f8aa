//! One folder for each protocol, one file for each resource or operation.

pub(crate) mod akashik;
mod document;
pub(crate) mod harn;
pub(crate) mod mcp;
pub(crate) mod proofs;
pub(crate) mod site;

pub use document::openapi;
