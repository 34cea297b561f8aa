//! Where a server is, and how it is checked that it is the one: the address taken apart, and the
//! certificates of an https server.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyper::{Uri, header::HeaderValue};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::error::ClientError;

/// Where a server is.
#[derive(Debug)]
pub(crate) struct Address {
    /// As it was given.
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) authority: HeaderValue,
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

impl Address {
    pub(crate) fn parse(url: &str, ca_cert: Option<&PathBuf>) -> Result<Self, ClientError> {
        let refuse =
            |reason: &str| ClientError::Url { url: url.to_owned(), reason: reason.to_owned() };
        let uri: Uri = url.parse().map_err(|_| refuse("it cannot be read"))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) | None => return Err(refuse("it must begin with http:// or https://")),
        };
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(refuse("it must have no path"));
        }
        let host = uri.host().ok_or_else(|| refuse("it names no host"))?;
        let authority = uri.authority().map_or(host, |authority| authority.as_str());
        let authority = HeaderValue::from_str(authority)
            .map_err(|_| ClientError::Header { name: "the host".to_owned() })?;
        let tls = match (secure, ca_cert) {
            (false, _) => None,
            (true, Some(path)) => Some(tls_config(path)?),
            (true, None) => return Err(ClientError::NoRoots { url: url.to_owned() }),
        };
        Ok(Self {
            url: url.to_owned(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port: uri.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            authority,
            tls,
        })
    }
}

fn tls_config(path: &Path) -> Result<Arc<ClientConfig>, ClientError> {
    let refuse = |reason: String| ClientError::Roots { path: path.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|e| refuse(e.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|e| refuse(e.to_string()))?;
        roots.add(certificate).map_err(|e| refuse(e.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refuse("there is no certificate in it".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| refuse(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_addresses_with_and_without_a_port() {
        let plain = Address::parse("http://localhost", None).unwrap();
        assert_eq!((plain.host.as_str(), plain.port), ("localhost", 80));
        let six = Address::parse("http://[::1]:7070/", None).unwrap();
        assert_eq!((six.host.as_str(), six.port), ("::1", 7070));
        assert_eq!(six.authority, "[::1]:7070");
    }

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
