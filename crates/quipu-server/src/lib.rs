//! The HTTP surface: routes, authentication, OpenAPI, metrics, TLS, and the loop that accepts
//! connections.
//!
//! A request goes through `entrance` (request id, log line, metrics, panics), the router, and, if it
//! is an operation, through `request`, the one pipeline that judges what every operation has in
//! common. `Server` takes requests from connections, `Embedded` from the program around it. This crate knows nothing of storage and holds no rule of a Field.

mod app;
mod clock;
mod ids;
mod limits;
mod net;
mod observe;
mod pipeline;
mod routes;
pub mod secrets;

pub use app::embedded::{EmbedError, Embedded, EmbeddedOptions};
pub use app::server::{BindError, Options, Server};
pub use axum::body::Body;
pub use limits::{REQUESTS_PER_SECOND, WRITE_TIMEOUT};
pub use net::handles::raise_file_handles;
pub use net::tls::{TlsError, TlsFiles, TlsReload};
pub use observe::log_meter::LogMeter;
pub use observe::metrics::{MetricsHandle, install_metrics};
pub use pipeline::options::{HarnOptions, HarnSetupError, PushOptions};
pub use quipu_harness::{ModuleHost, ModuleProcesses, ModuleRunner};
pub use routes::openapi;
pub use secrets::keys::{KeyStore, KeyStoreError};
pub use secrets::oauth::{KeySetError, OAuthOptions};
pub use secrets::receipt_issuer::{ReceiptIssuer, SecretError};
pub use secrets::shared_secrets::{Secrets, SecretsError};
pub use secrets::vault_key::{VaultKey, VaultKeyError};
