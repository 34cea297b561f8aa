//! Why an endpoint cannot be set up, and why a call to it failed.

use quipu_http::CertificatesError;

use crate::http::AddressError;

/// Why an endpoint cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Its address is wrong.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// There is nothing to check its certificate against.
    #[error(transparent)]
    Roots(#[from] CertificatesError),
    /// The key cannot be sent.
    #[error("the key cannot be sent: it has a character that is not allowed in a header")]
    Key,
    /// No model is named.
    #[error("no model is named for the endpoint")]
    NoModel,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// It failed too often and is not called for a while.
    #[error("it failed before and is left alone for a while")]
    LeftAlone,
    /// It could not be reached, broke off, took too long or said that it is not able to answer now.
    #[error("{reason}")]
    Unavailable {
        /// What happened.
        reason: String,
    },
    /// It refuses this request and would refuse it again.
    #[error("it refused with status {status}: {reason}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its error text, shortened.
        reason: String,
    },
    /// Its answer is invalid.
    #[error("{reason}")]
    WrongAnswer {
        /// What is wrong with it.
        reason: String,
    },
}
