//! Keys: what a caller proves itself with. A key names an agent or any, carries an authority, and may
//! be bound to one Field. Only hashes are stored; a secret is shown once, when it is made.

mod file;
mod key;
mod routes;
mod store;

pub use key::{Credential, IssuedKey, KeyAgent, KeyInfo, NewKey};
pub(crate) use routes::{KeyApi, router};
pub use store::{KeyStore, KeyStoreError};
