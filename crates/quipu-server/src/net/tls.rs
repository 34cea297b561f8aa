//! TLS from a certificate chain and a key in PEM files.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain, the server's own first.
    pub cert: PathBuf,
    /// The private key of the first certificate.
    pub key: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read a certificate from {path}")]
    Certificate {
        path: PathBuf,
        #[source]
        source: pem::Error,
    },
    #[error("cannot read a private key from {path}")]
    Key {
        path: PathBuf,
        #[source]
        source: pem::Error,
    },
    #[error("cannot use the certificate in {cert} with the key in {key}")]
    Pair {
        cert: PathBuf,
        key: PathBuf,
        #[source]
        source: rustls::Error,
    },
}

/// What makes connections TLS connections, by the certificate that was read last.
#[derive(Clone)]
pub struct TlsReload(Arc<RwLock<TlsAcceptor>>);

impl std::fmt::Debug for TlsReload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsReload").finish_non_exhaustive()
    }
}

impl TlsReload {
    pub(crate) fn open(files: &TlsFiles) -> Result<Self, TlsError> {
        Ok(Self(Arc::new(RwLock::new(acceptor(files)?))))
    }

    /// Reads the files again: connections from now on get what is in them. Those that are open keep theirs.
    ///
    /// # Errors
    /// Where they cannot be used; then everything stays as it was.
    pub fn read_again(&self, files: &TlsFiles) -> Result<(), TlsError> {
        let acceptor = acceptor(files)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = acceptor;
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads the files and makes what turns a connection into a TLS connection.
fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let no_certificate = |source| TlsError::Certificate { path: files.cert.clone(), source };
    let chain: Vec<_> = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect)
        .map_err(no_certificate)?;
    if chain.is_empty() {
        return Err(no_certificate(pem::Error::NoItemsFound));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|source| TlsError::Key { path: files.key.clone(), source })?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|source| TlsError::Pair {
            cert: files.cert.clone(),
            key: files.key.clone(),
            source,
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
