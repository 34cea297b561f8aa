//! HTTP towards a model: where it is, how it is reached, one request at a time, within bounds.

mod address;
mod connection;
mod runtime;

pub use address::{Address, AddressError};
pub(crate) use connection::Reply;
pub(crate) use connection::{Connection, ExchangeError};
pub(crate) use runtime::block_on;
