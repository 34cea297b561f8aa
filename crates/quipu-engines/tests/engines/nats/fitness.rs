//! What servers must promise before they are trusted with a log.

use quipu_engines::{NatsEngine, OpenError};

use quipu_testbed::NatsServers;

#[test]
fn a_server_that_syncs_late_is_refused_with_the_line_to_change() {
    let servers = NatsServers::start(1, "\"2m\"");
    let error = NatsEngine::open(&servers.url()).unwrap_err();
    assert!(matches!(error, OpenError::Unfit { .. }), "{error}");
    assert!(error.advice().contains("sync_interval: always"), "{}", error.advice());
}

#[test]
fn a_server_that_nobody_can_ask_is_refused() {
    let servers = NatsServers::one();
    let url = format!("nats://127.0.0.1:{}", servers.port(0));
    let error = NatsEngine::open(&url).unwrap_err();
    assert!(matches!(error, OpenError::Unfit { .. }), "{error}");
    assert!(error.advice().contains("monitor="), "{}", error.advice());
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let error = NatsEngine::open("nats://me:secret@127.0.0.1:1?monitor=http://127.0.0.1:2");
    let text = error.unwrap_err().to_string();
    assert!(text.contains("127.0.0.1:1") && !text.contains("secret"), "{text}");
}
