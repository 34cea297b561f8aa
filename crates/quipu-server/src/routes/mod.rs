//! One folder for each protocol, one file for each resource or operation.

pub(crate) mod akashik;
mod all;
mod document;
mod document_limits;
pub(crate) mod harn;
pub(crate) mod mcp;
pub(crate) mod site;

pub use document::openapi;
