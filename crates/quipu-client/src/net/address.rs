//! Where a Quipu server is, and how it is checked that it is the one.

use std::{path::PathBuf, sync::Arc};

use hyper::header::HeaderValue;
use quipu_http::{ServerAddress, with_certificates_of};
use rustls::ClientConfig;

use crate::error::ClientError;

#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) server: ServerAddress,
    pub(crate) authority: HeaderValue,
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

impl Address {
    pub(crate) fn parse(url: &str, ca_cert: Option<&PathBuf>) -> Result<Self, ClientError> {
        let refuse =
            |reason: &str| ClientError::Url { url: url.to_owned(), reason: reason.to_owned() };
        let (server, uri) = ServerAddress::parse(url).map_err(|error| refuse(error.reason))?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(refuse("it must have no path"));
        }
        let authority = HeaderValue::from_str(&server.authority)
            .map_err(|_| ClientError::Header { name: "the host".to_owned() })?;
        let tls = match (server.secure, ca_cert) {
            (false, _) => None,
            (true, Some(path)) => Some(with_certificates_of(path)?),
            (true, None) => return Err(ClientError::NoRoots { url: url.to_owned() }),
        };
        Ok(Self { url: url.to_owned(), server, authority, tls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_server_address_and_says_why() {
        for (url, reason) in [
            ("127.0.0.1:7070", "http://"),
            ("ftp://host", "http://"),
            ("http://host/path", "no path"),
            ("", "cannot be read"),
        ] {
            let error = Address::parse(url, None).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn https_asks_for_the_certificates_it_needs() {
        let error = Address::parse("https://host", None).unwrap_err();
        assert!(matches!(error, ClientError::NoRoots { .. }), "{error}");
        let nowhere = PathBuf::from("no-such-file.pem");
        let error = Address::parse("https://host", Some(&nowhere)).unwrap_err();
        assert!(error.to_string().contains("no-such-file.pem"), "{error}");
    }
}
