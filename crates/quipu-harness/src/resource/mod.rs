//! The resources that are documents of the Field: workspaces, personas, vaults, artifacts, memories.

pub(crate) mod artifact;
pub(crate) mod branch;
pub(crate) mod built_in;
pub(crate) mod built_in_resources;
pub(crate) mod connector;
pub(crate) mod content;
pub(crate) mod delivery;
pub(crate) mod document;
pub(crate) mod memory;
pub(crate) mod memory_view;
pub(crate) mod outcome;
pub(crate) mod persona;
pub(crate) mod quota;
pub(crate) mod quota_usage;
pub(crate) mod redaction;
pub(crate) mod sealing;
pub(crate) mod skill;
pub(crate) mod vault;
pub(crate) mod workspace;
