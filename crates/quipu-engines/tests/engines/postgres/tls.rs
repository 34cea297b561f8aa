//! A server that is spoken to in secret, and that proves who it is.

use quipu_engines::PostgresEngine;
use quipu_log::{
    Engine, Head,
    conformance::{Chain, field},
};
use quipu_testbed::PostgresServer;

use crate::support::Certificates;

#[test]
fn a_log_over_tls_is_written_and_a_stranger_is_refused() {
    let certificates = Certificates::make();
    let mut server = PostgresServer::start();
    server.kill();
    certificates.copy_to(&server.data());
    server.run(&["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key"]);
    // Nobody comes in without TLS.
    let rules = "hostssl all all 127.0.0.1/32 trust\nlocal all all trust\n";
    std::fs::write(server.data().join("pg_hba.conf"), rules).unwrap();
    server.sql("SELECT pg_reload_conf()");

    let authority = certificates.authority();
    let secure =
        format!("{}?sslmode=verify-full&sslrootcert={}", server.url(), authority.display());
    let engine = PostgresEngine::open(&secure).unwrap();
    engine.append(&field("f"), &Head::EMPTY, &Chain::new(1).take(3)).unwrap();
    assert_eq!(engine.head(&field("f")).unwrap().position, 3);

    let stranger = Certificates::make();
    let other = stranger.authority();
    for wrong in [
        "sslmode=disable".to_owned(),
        format!("sslmode=verify-full&sslrootcert={}", other.display()),
    ] {
        PostgresEngine::open(&format!("{}?{wrong}", server.url())).unwrap_err();
    }
}
