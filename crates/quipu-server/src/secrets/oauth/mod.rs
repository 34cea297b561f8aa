//! Access tokens of OAuth2: JSON Web Tokens that an identity provider signed (RFC 7519, RFC 7515, RFC 9068),
//! checked against its public keys in a file. This server issues none.

mod claims;
mod key_set;
mod token;
mod verifier;

pub(crate) use claims::Grant;
pub use key_set::KeySetError;
pub use verifier::OAuthOptions;
pub(crate) use verifier::TokenVerifier;
