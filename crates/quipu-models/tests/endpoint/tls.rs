//! Endpoints behind https: checked against the certificates that were named.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use quipu_models::{
    Endpoint, EndpointError, EndpointOptions, RemoteEmbedder, testing::TestEndpoint,
};
use quipu_recall::Embedder;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

/// The certificate that the server's own tests use.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../quipu-server/tests/data").join(name)
}

/// A server that answers every request with one vector.
fn start() -> u16 {
    let chain = vec![CertificateDer::from_pem_file(data("tls-cert.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(data("tls-key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::new(config.clone())).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let mut request = vec![0; 64 * 1024];
            // The request is small and comes whole; a client that does not trust us sends none.
            if stream.read(&mut request).is_ok() {
                let body = "{\"data\": [{\"embedding\": [3.0, 4.0]}]}";
                let length = body.len();
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}").ok();
            }
        }
    });
    port
}

fn embedder(port: u16, ca: Option<PathBuf>) -> Result<RemoteEmbedder, EndpointError> {
    let any = TestEndpoint::start().unwrap();
    let url = format!("https://localhost:{port}/v1");
    let options = EndpointOptions { url, ca, ..super::options(&any) };
    Ok(RemoteEmbedder::new(Endpoint::new(&options)?, None))
}

#[test]
fn an_endpoint_whose_certificate_is_trusted_is_asked() {
    let embedder = embedder(start(), Some(data("tls-cert.pem"))).unwrap();
    let vectors = embedder.embed(&["one"]).unwrap();
    assert!((vectors[0][0] - 0.6).abs() < 1e-6 && (vectors[0][1] - 0.8).abs() < 1e-6);
}

#[test]
fn an_endpoint_whose_certificate_is_not_trusted_gets_nothing() {
    // Any certificates but the server's own: the system's. Where it has none, no endpoint is made.
    let error = match embedder(start(), None) {
        Ok(embedder) => embedder.embed(&["one"]).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("certificate"), "{error}");
}
