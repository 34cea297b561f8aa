//! Why an endpoint cannot be set up, and why a call to it failed.

use quipu_http::CertificatesError;

use crate::http::AddressError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(transparent)]
    Roots(#[from] CertificatesError),
    #[error("the key cannot be sent: it has a character that is not allowed in a header")]
    Key,
    #[error("no model is named for the endpoint")]
    NoModel,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// It failed too often and is not called for a while.
    #[error("it failed several times and is not called for a while")]
    LeftAlone,
    /// It could not be reached, broke off, took too long or said that it is not able to answer now.
    #[error("{reason}")]
    Unavailable { reason: String },
    #[error("it refused with status {status}: {reason}")]
    Refused { status: u16, reason: String },
    #[error("{reason}")]
    WrongAnswer { reason: String },
}
