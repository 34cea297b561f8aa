//! The HTTP surface: routes, authentication, OpenAPI, metrics, TLS, and the loop that accepts
//! connections.
//!
//! A request goes through `entrance` (request id, log line, metrics, panics), the router, and, if it
//! is an operation, through `request`, the one pipeline that judges what every operation has in
//! common. `Server` takes requests from connections, `Embedded` from the program around it. This crate knows nothing of storage and holds no rule of a Field.

mod akashik;
mod answer;
mod app;
mod auth;
mod bare_refusal;
mod body;
mod clock;
mod embedded;
mod entrance;
mod field_choice;
mod file_watch;
mod harn;
mod ids;
pub mod keys;
mod limits;
mod listener;
mod log_meter;
mod mcp;
mod metrics;
mod oauth;
mod openapi;
mod paths;
mod position;
mod proofs;
mod request;
mod request_id;
mod secret_file;
mod sender;
mod server;
mod service;
mod shared_secrets;
mod surface;
mod throttle;
mod tls;
mod write_limit;

pub use axum::body::Body;
pub use embedded::{EmbedError, Embedded, EmbeddedOptions};
pub use harn::{HarnOptions, HarnSetupError, ReceiptIssuer, SecretError, VaultKey, VaultKeyError};
pub use keys::{KeyStore, KeyStoreError};
pub use limits::{REQUESTS_PER_SECOND, WRITE_TIMEOUT};
pub use log_meter::LogMeter;
pub use metrics::{MetricsHandle, install_metrics};
pub use oauth::{KeySetError, OAuthOptions};
pub use openapi::openapi;
pub use server::{BindError, Options, PushOptions, Server};
pub use shared_secrets::{Secrets, SecretsError};
pub use tls::{TlsError, TlsFiles};
