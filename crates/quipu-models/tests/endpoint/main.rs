//! Endpoints that answer, and endpoints that fail in every way they can.
#![cfg(test)]

mod chat;
mod embeddings;
mod tls;

use std::{sync::Arc, time::Duration};

use quipu_models::{Endpoint, EndpointOptions, testing::TestEndpoint};

/// Longer than any answer takes on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);
/// For endpoints that never answer.
const IMPATIENT: Duration = Duration::from_millis(100);

fn options(server: &TestEndpoint) -> EndpointOptions {
    EndpointOptions {
        url: server.url(),
        model: "words".to_owned(),
        key: Some("sk-secret".to_owned()),
        ca: None,
        timeout: PATIENT,
    }
}

fn endpoint(server: &TestEndpoint) -> Arc<Endpoint> {
    Endpoint::new(&options(server)).unwrap()
}

fn impatient(server: &TestEndpoint) -> Arc<Endpoint> {
    Endpoint::new(&EndpointOptions { timeout: IMPATIENT, ..options(server) }).unwrap()
}

#[test]
fn an_endpoint_needs_an_address_a_model_and_a_sendable_key() {
    let server = TestEndpoint::start().unwrap();
    let right = options(&server);
    for (wrong, said) in [
        (EndpointOptions { url: "nowhere".to_owned(), ..right.clone() }, "address"),
        (EndpointOptions { model: String::new(), ..right.clone() }, "no model"),
        (EndpointOptions { key: Some("se\ncret".to_owned()), ..right.clone() }, "key"),
        (
            EndpointOptions {
                url: "https://localhost/v1".to_owned(),
                ca: Some("no/such.pem".into()),
                ..right
            },
            "no/such.pem",
        ),
    ] {
        let error = Endpoint::new(&wrong).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains("cret"), "{error}");
    }
}

#[test]
fn the_key_is_shown_by_nothing() {
    let server = TestEndpoint::start().unwrap();
    let shown = format!("{:?} {:?}", options(&server), endpoint(&server));
    assert!(!shown.contains("sk-secret"), "{shown}");
}
