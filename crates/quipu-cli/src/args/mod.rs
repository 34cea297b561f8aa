//! Options that several commands share, and the configuration file.

pub(crate) mod client_args;
pub(crate) mod config;
pub(crate) mod config_fields;
pub(crate) mod config_harn;
pub(crate) mod config_models;
