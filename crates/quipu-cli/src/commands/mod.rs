//! One file per command: its arguments, its help, and what it does.

pub(crate) mod attune;
pub(crate) mod cli;
pub(crate) mod conformance;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod key;
pub(crate) mod mcp;
pub(crate) mod mcp_caller;
pub(crate) mod moving;
pub(crate) mod proof;
pub(crate) mod receipt;
pub(crate) mod record;
pub(crate) mod register;
mod reload;
pub(crate) mod replay;
mod run;
pub(crate) mod serve;
mod serve_models;
pub(crate) mod status;
pub(crate) mod verify;

pub(crate) use run::run;
