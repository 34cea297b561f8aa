//! Servers that are spoken to in secret, and that prove who they are.

use quipu_engines::NatsEngine;
use quipu_log::{
    Engine, Head,
    conformance::{Chain, field},
};
use quipu_testbed::NatsServers;

use crate::support::Certificates;

#[test]
fn a_log_over_tls_is_written_and_a_stranger_is_refused() {
    let certificates = Certificates::make();
    let (certificate, key) = (certificates.certificate(), certificates.key());
    // The interval is the last of its block, so another block may follow it.
    let and_tls = format!(
        "always }}\ntls {{ cert_file: \"{}\", key_file: \"{}\"",
        certificate.display(),
        key.display()
    );
    let servers = NatsServers::start(1, &and_tls);
    let plain = servers.url();
    let secure = plain.replace("nats://", "tls://");
    let authority = certificates.authority();
    let engine = NatsEngine::open(&format!("{secure}&tlsca={}", authority.display())).unwrap();
    engine.append(&field("f"), &Head::EMPTY, &Chain::new(1).take(3)).unwrap();
    assert_eq!(engine.head(&field("f")).unwrap().position, 3);

    let stranger = Certificates::make();
    let other = stranger.authority();
    NatsEngine::open(&format!("{secure}&tlsca={}", other.display())).unwrap_err();
}
