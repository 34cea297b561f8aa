//! Which certificates an https endpoint is checked against: those of a file, or the system's own.
//! No roots are built in, because they grow old with the binary.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};

/// Where operating systems keep their certificates in one file.
const SYSTEM_BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// Why an https endpoint cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RootsError {
    /// The system has no certificates where we look.
    #[error("no certificates to check an https endpoint against were found on this system")]
    NoneFound,
    /// A file cannot be used.
    #[error("cannot use the certificates in {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// What an https endpoint is checked with.
#[derive(Debug, Clone)]
pub struct Roots(pub(super) Arc<ClientConfig>);

impl Roots {
    /// Reads the certificates of a PEM file, or the system's where none is named.
    pub fn load(file: Option<&Path>) -> Result<Self, RootsError> {
        let found = SYSTEM_BUNDLES.iter().map(Path::new).find(|path| path.exists());
        let path = file.or(found).ok_or(RootsError::NoneFound)?;
        let refuse = |reason: String| RootsError::File { path: path.to_owned(), reason };
        let mut store = RootCertStore::empty();
        let certificates = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| refuse(error.to_string()))?;
        let (taken, _) = store.add_parsable_certificates(certificates);
        if taken == 0 {
            return Err(refuse("there is no usable certificate in it".to_owned()));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| refuse(error.to_string()))?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_refused_and_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Roots::load(Some(file.path())).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot use the certificates in {}: there is no usable certificate in it",
                file.path().display()
            )
        );
        let missing = Roots::load(Some(Path::new("no/such.pem"))).unwrap_err().to_string();
        assert!(missing.contains("no/such.pem"), "{missing}");
    }
}
