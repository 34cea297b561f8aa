//! The server without a listener: a program that holds the data directory itself asks by a function
//! call. Requests go through the same routes, checks, limits and metrics as those of a connection.

use std::{fmt, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{Request, Response},
};
use http_body_util::Full;
use quipu_field::Fields;
use quipu_log::{EngineError, FieldName};
use quipu_wire::limits::AUTHORITY_MAX;

use crate::{
    app::service::{Service, ServiceError, ServiceOptions},
    pipeline::options::{HarnOptions, HarnSetupError, PushOptions},
    secrets::keys::KeyStore,
};

/// How to answer without a listener.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// How long streams and requests under way may take once this is closed.
    pub shutdown_grace: Duration,
    pub push: PushOptions,
    pub harn: HarnOptions,
    /// The authority of every request, from 0 to 10. No key is asked for.
    pub authority: u8,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            shutdown_grace: Duration::from_secs(10),
            push: PushOptions::default(),
            harn: HarnOptions::default(),
            authority: AUTHORITY_MAX,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error(transparent)]
    Harn(#[from] HarnSetupError),
    #[error("cannot open the field {field}")]
    Field {
        field: FieldName,
        #[source]
        source: EngineError,
    },
}

/// A server inside this process. Whoever holds it is trusted like a caller of `--dev`: no key is
/// asked for, and every request has the authority of the options. There are no WebSockets.
///
/// Close it before the process ends: what was acknowledged is safe either way, but only a Field that
/// was closed opens fast and without a jump of its clock.
pub struct Embedded {
    service: Service,
    grace: Duration,
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").finish_non_exhaustive()
    }
}

impl Embedded {
    /// Opens the default Field and starts what goes on beside requests, on the current runtime.
    /// `keys` names the directory in which the signing keys are kept; its keys are not asked for.
    pub async fn open(
        options: EmbeddedOptions,
        fields: Arc<Fields>,
        keys: Arc<KeyStore>,
    ) -> Result<Self, EmbedError> {
        let made_of = ServiceOptions {
            dev: true,
            push: options.push,
            harn: &options.harn,
            throttle: None,
            keyless_authority: options.authority,
            secure: false,
            listens: None,
            // Nobody reaches us from elsewhere; a document that names an address names this one.
            address: "http://localhost".to_owned(),
        };
        let service = Service::open(made_of, fields, keys).await.map_err(|error| match error {
            ServiceError::Harn(error) => EmbedError::Harn(error),
            ServiceError::Field { field, source } => EmbedError::Field { field, source },
        })?;
        service.start();
        Ok(Self { service, grace: options.shutdown_grace })
    }

    /// Answers a request. The path and the headers are those of the HTTP binding; a stream of events
    /// comes as a body that goes on. Safe to give up at any time, like a connection that is cut.
    pub async fn answer(&self, request: Request<Bytes>) -> Response<Body> {
        // Closing waits for it.
        let _at_work = self.service.stopping.subscribe();
        let Ok(response) = self.service.entrance.serve(request.map(Full::new)).await;
        response
    }

    /// Ends streams with a last word, lets requests under way finish, and closes all Fields. What
    /// is asked later is refused by the Field.
    pub async fn close(&self) {
        self.service.close(self.grace).await;
    }
}
