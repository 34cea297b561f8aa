//! The resources that clients make and change: workspaces, personas, vaults, quotas, artifacts, memories.

pub(crate) mod artifact;
pub(crate) mod artifact_content;
pub(crate) mod built_in_resources;
pub(crate) mod connector;
pub(crate) mod memory;
pub(crate) mod memory_view;
pub(crate) mod outcome;
pub(crate) mod persona;
pub(crate) mod quota;
pub(crate) mod quota_usage;
pub(crate) mod redaction;
pub(crate) mod skill;
pub(crate) mod tool;
pub(crate) mod vault;
pub(crate) mod workspace;
pub(crate) mod workspace_file;
