//! An endpoint: sends requests, repeats them where that may help, keeps to the time limit, and does not send at all
//! while the endpoint is known to fail. The other files of this folder give requests their meaning.

use std::{path::PathBuf, sync::Arc, time::Duration};

use hyper::{body::Bytes, header::HeaderValue};
use quipu_http::{system_certificates, with_certificates_of};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    breaker::Breaker,
    error::{CallError, EndpointError},
};
use crate::{
    clock,
    http::{Address, Connection, ExchangeError, Reply, block_on},
    limits::{ATTEMPTS, BACKOFF, REASON_BYTES_MAX, RETRY_AFTER_MAX},
};

#[derive(Clone)]
pub struct EndpointOptions {
    /// Its address up to, and without, `/embeddings` or `/chat/completions`.
    pub url: String,
    pub model: String,
    /// The key to present. Never shown and never logged.
    pub key: Option<String>,
    /// The certificates that https is checked against, in PEM; the system's where there is none.
    pub ca: Option<PathBuf>,
    /// How long one attempt may take.
    pub timeout: Duration,
}

impl std::fmt::Debug for EndpointOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndpointOptions").field("model", &self.model).finish_non_exhaustive()
    }
}

/// An endpoint that is set up, and reached when it is first needed.
#[derive(Debug)]
pub struct Endpoint {
    address: Address,
    model: String,
    connection: Connection,
    breaker: Breaker,
    timeout: Duration,
    secret: Secret,
}

/// A secret that must never be logged.
struct Secret(Option<String>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

struct Failed {
    error: CallError,
    again: bool,
    wait: Option<Duration>,
}

impl Endpoint {
    /// Sets an endpoint up. Nothing is sent yet.
    pub fn new(options: &EndpointOptions) -> Result<Arc<Self>, EndpointError> {
        if options.model.is_empty() {
            return Err(EndpointError::NoModel);
        }
        let address = Address::parse(&options.url)?;
        let tls = match (address.server.secure, &options.ca) {
            (false, _) => None,
            (true, Some(file)) => Some(with_certificates_of(file)?),
            (true, None) => Some(system_certificates()?),
        };
        let secret = options.key.clone().filter(|key| !key.is_empty());
        let header = |text: &str| HeaderValue::from_str(text).map_err(|_| EndpointError::Key);
        let key = secret.as_deref().map(|key| header(&format!("Bearer {key}"))).transpose()?;
        let key = key.map(|mut key| {
            key.set_sensitive(true);
            key
        });
        let authority = header(&address.server.authority)?;
        Ok(Arc::new(Self {
            connection: Connection::new(address.clone(), authority, key, tls),
            address,
            model: options.model.clone(),
            breaker: Breaker::default(),
            timeout: options.timeout,
            secret: Secret(secret),
        }))
    }

    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request and reads its answer, with retries where they may help. Blocks, so it must not be called by a
    /// thread that serves sockets.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        path: &str,
        request: &impl Serialize,
    ) -> Result<T, CallError> {
        if !self.breaker.admit(clock::now()) {
            return Err(CallError::LeftAlone);
        }
        let wrong = |reason: String| CallError::WrongAnswer { reason };
        let body = serde_json::to_vec(request).map_err(|error| wrong(error.to_string()))?;
        let answer = block_on(self.attempts(path, Bytes::from(body))).and_then(|body| {
            serde_json::from_slice(&body).map_err(|error| Failed {
                error: wrong(format!("the answer cannot be read: {error}")),
                again: false,
                wait: None,
            })
        });
        answer.map(|answer| self.worked(answer)).map_err(|failed| self.note(failed))
    }

    fn worked<T>(&self, answer: T) -> T {
        self.breaker.succeeded();
        answer
    }

    /// Records a failure. A refused request says nothing about the next one; every other failure counts.
    fn note(&self, failed: Failed) -> CallError {
        if !matches!(failed.error, CallError::Refused { .. }) {
            self.breaker.failed(clock::now(), failed.wait);
        }
        failed.error
    }

    /// Records an answer that could be read but is invalid.
    pub(super) fn distrust(&self, reason: String) -> CallError {
        self.note(Failed { error: CallError::WrongAnswer { reason }, again: false, wait: None })
    }

    async fn attempts(&self, path: &str, body: Bytes) -> Result<Bytes, Failed> {
        let mut attempt = 1;
        loop {
            let exchange = self.connection.post(path, body.clone());
            let failed = match tokio::time::timeout(self.timeout, exchange).await {
                Ok(Ok(reply)) => match self.judge(reply) {
                    Ok(body) => return Ok(body),
                    Err(failed) => failed,
                },
                Ok(Err(error)) => broken(&error),
                Err(_) => unavailable(format!("no answer within {:?}", self.timeout), None),
            };
            let wait = failed.wait.unwrap_or(BACKOFF * (1 << (attempt - 1)));
            if !failed.again || attempt >= ATTEMPTS || wait > RETRY_AFTER_MAX {
                return Err(failed);
            }
            tracing::debug!(endpoint = %self.address, error = %failed.error, "calling the model endpoint again");
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    fn judge(&self, reply: Reply) -> Result<Bytes, Failed> {
        let Reply { status, retry_after, body } = reply;
        match status {
            200 => Ok(body),
            408 | 425 | 429 | 500..=599 => {
                let said = self.error_text(&body);
                Err(unavailable(format!("it answered with status {status}: {said}"), retry_after))
            }
            _ => {
                let error = CallError::Refused { status, reason: self.error_text(&body) };
                Err(Failed { error, again: false, wait: None })
            }
        }
    }

    /// The error text of an endpoint: one short line without our key.
    fn error_text(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body.get(..4 * REASON_BYTES_MAX).unwrap_or(body));
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(secret) = &self.secret.0 {
            text = text.replace(secret, "(the key)");
        }
        text.retain(|letter| !letter.is_control());
        text.truncate(text.floor_char_boundary(REASON_BYTES_MAX));
        text
    }
}

fn unavailable(reason: String, wait: Option<Duration>) -> Failed {
    Failed { error: CallError::Unavailable { reason }, again: true, wait }
}

fn broken(error: &ExchangeError) -> Failed {
    if matches!(error, ExchangeError::TooLarge) {
        let error = CallError::WrongAnswer { reason: error.to_string() };
        return Failed { error, again: false, wait: None };
    }
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        reason.push_str(&format!(": {error}"));
        cause = error.source();
    }
    unavailable(reason, None)
}
