//! The routes beside the protocol: is the server well, what does it count, how is it spoken to; and
//! what is answered where there is no route.

mod document;
pub(crate) mod files;
mod keys;
pub(crate) mod metrics;
mod pages;
pub(crate) mod probes;
mod routes;
mod unknown;

pub(crate) use document::SurfaceApi;
pub(crate) use keys::KeyApi;
pub(crate) use routes::router;
