//! The routes beside the protocol: is the server well, what does it count, how is it spoken to; and
//! what is answered where there is no route.

pub(crate) mod files;
mod keys;
pub(crate) mod metrics;
mod pages;
pub(crate) mod probes;
mod proofs;
mod table;
pub(crate) mod unknown;

pub(crate) use pages::OPENAPI;
pub(crate) use table::routes;
