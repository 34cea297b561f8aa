//! The OpenAPI part of the routes beside the protocol.

use utoipa::OpenApi;

use super::{metrics, probes};

/// The routes beside the protocol.
#[derive(OpenApi)]
#[openapi(paths(probes::healthz, probes::readyz, metrics::metrics))]
pub(crate) struct SurfaceApi;
