//! Why a call came to nothing: the Field said no, there was no answer, or the answer was not one.

use std::{fmt, path::PathBuf, time::Duration};

use hyper::{
    HeaderMap, StatusCode,
    body::Bytes,
    header::{HeaderValue, RETRY_AFTER},
};
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::Operation,
    harn::{HarnError, HarnErrorCode, HarnErrorResponse},
};

use crate::limits::{EXCERPT_CHARS, RETRY_AFTER_MAX};

type Cause = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The Field said no. Sending the same again gives the same, unless the refusal says otherwise.
    #[error(transparent)]
    Refused(Box<Refusal>),
    #[error("{url:?} is not the address of a server: {reason}")]
    Url { url: String, reason: String },
    #[error("{url} needs certificates to be checked against: no roots are built in")]
    NoRoots { url: String },
    #[error(transparent)]
    Roots(#[from] quipu_http::CertificatesError),
    #[error("{name} cannot be sent as a header: it has a character that is not allowed there")]
    Header { name: String },
    #[error("the payload cannot be written as JSON")]
    Payload(#[source] serde_json::Error),
    /// There is no connection. Nothing was sent.
    #[error("cannot connect to {url}")]
    Connect {
        url: String,
        #[source]
        source: Cause,
    },
    /// The connection failed before the answer was complete. Whether the call was carried out is not
    /// known; it was sent again as often as the options allow, each time as the same message.
    #[error("no whole answer from {url}")]
    Exchange {
        url: String,
        #[source]
        source: Cause,
    },
    #[error("HTTP {status}, and the answer is not one of a quipu server ({problem}): {start}")]
    Unexpected { status: u16, problem: String, start: String },
    #[error(
        "data directory {} is open in another process: only one can hold it. Run `quipu serve --data {}` and use its address with `Field::connect` from everywhere", dir.display(), dir.display()
    )]
    InUse { dir: PathBuf },
    #[error("cannot open {what}")]
    Open {
        what: String,
        #[source]
        source: Cause,
    },
}

#[derive(Debug, Clone)]
pub struct Refusal {
    pub status: u16,
    pub words: RefusalWords,
    pub body: Bytes,
    /// After how long the server asks to try again.
    pub retry_after: Option<Duration>,
}

#[derive(Debug, Clone)]
pub enum RefusalWords {
    Akashik(ProtocolError),
    Harn(HarnError),
}

impl Refusal {
    /// What went wrong, as a word for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match &self.words {
            RefusalWords::Akashik(error) => error.code.as_str(),
            RefusalWords::Harn(error) => error.code.as_str(),
        }
    }

    /// A sentence that names the value that was refused.
    #[must_use]
    pub fn message(&self) -> &str {
        match &self.words {
            RefusalWords::Akashik(error) => &error.message,
            RefusalWords::Harn(error) => &error.message,
        }
    }

    #[must_use]
    pub const fn operation(&self) -> Option<Operation> {
        match &self.words {
            RefusalWords::Akashik(error) => error.operation,
            RefusalWords::Harn(_) => None,
        }
    }

    /// Whether the caller can correct it, or wait, and try again.
    #[must_use]
    pub const fn recoverable(&self) -> bool {
        match &self.words {
            RefusalWords::Akashik(error) => error.recoverable,
            RefusalWords::Harn(error) => !matches!(
                error.code,
                HarnErrorCode::InternalError | HarnErrorCode::ResourceNotFound
            ),
        }
    }

    /// What to do next, where the Field has an advice.
    #[must_use]
    pub fn suggested_action(&self) -> Option<&str> {
        match &self.words {
            RefusalWords::Akashik(error) => error.suggested_action.as_deref(),
            RefusalWords::Harn(_) => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl std::error::Error for Refusal {}

impl ClientError {
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        if let Self::Refused(refusal) = self { Some(refusal) } else { None }
    }

    /// Whether the Field said no with this code of the Akashik Protocol.
    #[must_use]
    pub fn is(&self, code: ErrorCode) -> bool {
        self.refusal().is_some_and(|refusal| refusal.code() == code.as_str())
    }

    pub(crate) fn broken(url: &str, source: impl Into<Cause>) -> Self {
        Self::Exchange { url: url.to_owned(), source: source.into() }
    }

    pub(crate) fn unexpected(status: StatusCode, problem: impl fmt::Display, body: &[u8]) -> Self {
        let start = String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS).collect();
        Self::Unexpected { status: status.as_u16(), problem: problem.to_string(), start }
    }

    pub(crate) fn refused(status: StatusCode, headers: &HeaderMap, body: Bytes) -> Self {
        let akashik = || serde_json::from_slice(&body).map(RefusalWords::Akashik);
        let words = match serde_json::from_slice::<HarnErrorResponse>(&body) {
            Ok(response) => Ok(RefusalWords::Harn(response.error)),
            Err(_) => akashik(),
        };
        match words {
            Ok(words) => {
                let retry_after = headers.get(RETRY_AFTER).and_then(seconds);
                Self::Refused(Box::new(Refusal {
                    status: status.as_u16(),
                    words,
                    body,
                    retry_after,
                }))
            }
            Err(error) => Self::unexpected(status, error, &body),
        }
    }
}

/// Dates are left aside: our servers write seconds.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    let seconds = value.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}
