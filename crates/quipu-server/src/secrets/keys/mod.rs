//! Keys: what a caller proves itself with. A key names an agent or any, carries an authority, and may
//! be bound to one Field. Only hashes are stored; a secret is shown once, when it is made.
//! They are in a file of the data directory, or beside a log that several nodes share.

mod document;
mod file;
mod key;
mod names;
mod note;
mod passing;
mod shared;
mod store;

pub(crate) use key::NO_KEY;
pub use key::{Credential, IssuedKey, KeyAgent, KeyInfo, NewKey};
pub(crate) use names::is_reserved;
pub use store::{KeyStore, KeyStoreError};
