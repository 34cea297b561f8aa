//! Keys, tokens of others, and files that hold secrets.

pub(crate) mod checkpoint_signer;
pub(crate) mod file_watch;
pub mod keys;
pub(crate) mod oauth;
pub(crate) mod receipt_issuer;
pub(crate) mod secret_file;
pub(crate) mod shared_secrets;
pub(crate) mod vault_key;
