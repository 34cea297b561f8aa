//! The certificates that an https server is checked against: those of a file, or those that the system trusts. None
//! are built in, because they grow old with the binary.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificatesError {
    #[error("no certificates to check an https endpoint against were found on this system")]
    NoneFound,
    #[error("cannot use the certificates in {}: {reason}", path.display())]
    File { path: PathBuf, reason: String },
}

/// Servers are checked against the certificates of a PEM file.
pub fn with_certificates_of(path: &Path) -> Result<Arc<ClientConfig>, CertificatesError> {
    let refuse = |reason: String| CertificatesError::File { path: path.to_owned(), reason };
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| refuse(error.to_string()))?;
    trusting(certificates).ok_or_else(|| refuse("there is no usable certificate in it".to_owned()))
}

/// Servers are checked against the certificates that the system trusts.
pub fn system_certificates() -> Result<Arc<ClientConfig>, CertificatesError> {
    trusting(rustls_native_certs::load_native_certs().certs).ok_or(CertificatesError::NoneFound)
}

/// Nothing where none of them can be used.
fn trusting(certificates: Vec<CertificateDer<'static>>) -> Option<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    let (taken, _) = roots.add_parsable_certificates(certificates);
    if taken == 0 {
        return None;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks the versions of TLS that are safe")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Some(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_refused_and_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = with_certificates_of(file.path()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot use the certificates in {}: there is no usable certificate in it",
                file.path().display()
            )
        );
        let missing = with_certificates_of(Path::new("no/such.pem")).unwrap_err().to_string();
        assert!(missing.contains("no/such.pem"), "{missing}");
    }
}
