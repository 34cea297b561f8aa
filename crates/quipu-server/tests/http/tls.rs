//! HTTP over TLS, with a certificate that was made for these tests and is its own root.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use quipu_field::{Fields, SystemOrigin};
use quipu_log::MemoryEngine;
use quipu_server::{BindError, HarnOptions, KeyStore, Options, Server, TlsError, TlsFiles};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};

use crate::support::{Client, Setup, Stream, TestServer, register};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub(crate) fn files() -> TlsFiles {
    TlsFiles { cert: data("tls-cert.pem"), key: data("tls-key.pem") }
}

fn connect(server: &TestServer) -> Client {
    Client::over(connection(server))
}

/// A connection that trusts the certificate.
pub(crate) fn connection(server: &TestServer) -> Box<dyn Stream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(files().cert).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    Box::new(StreamOwned::new(connection, Client::socket(server.address)))
}

#[test]
fn a_client_that_trusts_the_certificate_is_served() {
    let server = TestServer::with(Setup { tls: Some(files()), ..Setup::default() });
    let mut client = connect(&server).with_key(&server.key(10));
    assert_eq!(client.post("/v1/register", &register("a")).status, 200);
    assert_eq!(client.get("/v1/agents").json()["agents"][0]["id"], "a");
}

#[test]
fn a_client_that_speaks_no_tls_is_turned_away_and_others_are_served() {
    let server = TestServer::with(Setup { tls: Some(files()), ..Setup::default() });
    let mut plain = server.client();
    plain.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut silent = server.client();
    assert_eq!(connect(&server).get("/healthz").status, 200);
    drop(plain);
    silent.write(b"x");
}

#[test]
fn the_certificate_is_read_again_and_what_cannot_be_read_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let own = |name: &str| directory.path().join(name);
    let files_there = TlsFiles { cert: own("cert.pem"), key: own("key.pem") };
    std::fs::copy(files().cert, &files_there.cert).unwrap();
    std::fs::copy(files().key, &files_there.key).unwrap();
    let server = TestServer::with(Setup { tls: Some(files_there.clone()), ..Setup::default() });
    let reload = server.tls.clone().unwrap();
    std::fs::write(&files_there.cert, "no certificate").unwrap();
    assert!(matches!(reload.read_again(&files_there), Err(TlsError::Certificate { .. })));
    assert_eq!(connect(&server).get("/healthz").status, 200, "the one before still holds");
    let other = TlsFiles { cert: own("other.pem"), key: own("other.key") };
    let made = std::process::Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-subj", "/CN=localhost", "-days", "1"])
        .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        .args(["-keyout".as_ref(), other.key.as_os_str(), "-out".as_ref(), other.cert.as_os_str()])
        .output();
    assert!(made.unwrap().status.success());
    reload.read_again(&other).unwrap();
    let asked = connection(&server).write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
    assert!(asked.is_err(), "it shows the other certificate, which nobody trusts");
    reload.read_again(&files()).unwrap();
    assert_eq!(connect(&server).get("/healthz").status, 200);
}

fn bind_error(tls: TlsFiles) -> BindError {
    let directory = tempfile::tempdir().unwrap();
    let keys = Arc::new(KeyStore::open(directory.path()).unwrap());
    let engine = Arc::new(MemoryEngine::new());
    let fields = Arc::new(Fields::new(engine, Arc::new(SystemOrigin), None));
    let options = Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        dev: false,
        tls: Some(tls),
        shutdown_grace: std::time::Duration::ZERO,
        write_timeout: quipu_server::WRITE_TIMEOUT,
        push: quipu_server::PushOptions::default(),
        requests_per_second: None,
        harn: HarnOptions::default(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(Server::bind(options, fields, keys)).unwrap_err()
}

#[test]
fn files_that_are_missing_or_mixed_up_are_named() {
    let missing = PathBuf::from("/nowhere/cert.pem");
    let error = bind_error(TlsFiles { cert: missing.clone(), ..files() });
    let BindError::Tls(TlsError::Certificate { path, .. }) = error else { panic!("{error:?}") };
    assert_eq!(path, missing);
    let error = bind_error(TlsFiles { cert: files().key, key: files().key });
    let BindError::Tls(TlsError::Certificate { path, .. }) = error else { panic!("{error:?}") };
    assert_eq!(path, files().key);
    let error = bind_error(TlsFiles { cert: files().cert, key: files().cert });
    let BindError::Tls(TlsError::Key { path, .. }) = error else { panic!("{error:?}") };
    assert_eq!(path, files().cert);
}
