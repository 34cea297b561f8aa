//! The routes beside the protocol: is the server well, what does it count, how is it spoken to; and
//! what is answered where there is no route.

mod console;
mod document;
mod metrics;
mod pages;
mod probes;
mod routes;
mod unknown;

pub(crate) use document::SurfaceApi;
pub(crate) use routes::router;
