//! Small things that tell: readiness to anybody, counts to a key of another Field, keys in plain text.

use tempfile::TempDir;

use crate::{
    keys::start_with_key,
    support::{Settings, quipu},
};

#[test]
fn readiness_names_fields_to_the_operator_alone() {
    let data = TempDir::new().unwrap();
    let (server, key) = start_with_key(data.path());
    let ready = server.client().get("/readyz").ok();
    // Beside the status there is the state of the clock, which names nothing.
    let told: Vec<&str> = ready.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!((ready["status"].as_str(), told), (Some("ready"), vec!["clock", "status"]));
    let ready = server.client().with_key(&key).get("/readyz").ok();
    assert_eq!(ready["fields"][0]["name"], "default");
}

#[test]
fn counts_of_other_fields_are_not_shown_to_a_key_of_one() {
    let data = TempDir::new().unwrap();
    let (server, key) = start_with_key(data.path());
    for field in ["secret-plan", "open-plan"] {
        server.client().with_key(&key).with_header("quipu-field", field).register("a", "tester");
    }
    let place = data.path().to_str().unwrap();
    let new = ["key", "create", "--data", place, "--agent", "*", "--authority", "8"];
    let made = quipu(new.into_iter().chain(["--field", "open-plan"])).succeeded();
    let bound = made.stdout.lines().last().unwrap();
    let counts = server.client().with_key(bound).get("/metrics").text();
    assert!(counts.contains("open-plan"), "{counts}");
    assert!(!counts.contains("secret-plan") && !counts.contains("default"), "{counts}");
    assert!(!counts.contains("quipu_http_requests_total"), "{counts}");
}

#[test]
fn listening_for_other_machines_without_tls_is_warned_of() {
    let start = |listen: &str| {
        let data = TempDir::new().unwrap();
        let server = Settings::new(data.path()).argument("--listen").argument(listen).start();
        server.stop().stderr
    };
    let log = start("0.0.0.0:0");
    assert!(log.contains("UNENCRYPTED") && log.contains("--tls-cert"), "{log}");
    let log = start("127.0.0.1:0");
    assert!(!log.contains("UNENCRYPTED"), "{log}");
}
