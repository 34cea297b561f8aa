//! A server that asks models: what it gains while they answer, and that it loses nothing while they fail.

use std::path::Path;

use quipu_models::testing::{Behaviour, TestEndpoint};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Client, Server, Settings, finding, scope, units_of, verify_is_green, wait_until,
};

fn with_embedder(data: &Path, endpoint: &TestEndpoint) -> Settings {
    Settings::dev(data)
        .argument("--embedder")
        .argument(&endpoint.url())
        .argument("--embedder-model=words")
        .argument("--detect=false")
        .argument("--models-timeout-ms=100")
        .environment("QUIPU_MODELS_KEY", "sk-hidden")
}

fn enrichment(client: &mut Client) -> Value {
    client.get("/readyz").ok()["fields"][0]["enrichment"].clone()
}

fn by_status(client: &mut Client) -> Value {
    client.get("/v1/field/status").ok()["units"]["by_status"].clone()
}

fn until_enriched(client: &mut Client, units: u64) {
    wait_until(60, "all units have their vectors and are active", || {
        let found = enrichment(client);
        let done = found["done"] == units && found["failing"] == false;
        (done && by_status(client) == json!({"active": units})).then_some(())
    });
}

fn until_failing(client: &mut Client) {
    wait_until(60, "the embedder is known to fail", || {
        (enrichment(client)["failing"] == true).then_some(())
    });
}

#[test]
fn units_wait_for_an_endpoint_that_fails_in_any_way_and_become_active_when_it_recovers() {
    let (data, endpoint) = (TempDir::new().unwrap(), TestEndpoint::start().unwrap());
    let server = with_embedder(data.path(), &endpoint).start();
    let mut client = server.client();
    client.register("a", "tester");
    client.record("a", finding("a ship"));
    until_enriched(&mut client, 1);
    let mut units = 1;
    for behaviour in [
        Behaviour::Hang,
        Behaviour::Status(500, "down".to_owned()),
        Behaviour::HalfWay,
        Behaviour::Fewer(1),
        Behaviour::Dimensions(7),
        Behaviour::Body("{\"data\": [{\"embedding\": [NaN]}]}".to_owned()),
    ] {
        endpoint.always(behaviour.clone());
        let first = client.record("a", finding("it is not known yet that the endpoint fails"));
        assert_eq!(first["status"], "accepted", "{behaviour:?}");
        until_failing(&mut client);
        let second = client.record("a", finding("now it is known"));
        assert_eq!(second["status"], "accepted");
        let warning = second["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("ENRICHMENT_FAILED"), "{warning}");
        assert_eq!(by_status(&mut client)["pending_enrichment"], 1);
        units += 2;
        let found = units_of(&client.attune("a", scope(100)));
        assert_eq!(found.len(), units, "what waits for its vector is found all the same");
        endpoint.always(Behaviour::Answer);
        until_enriched(&mut client, u64::try_from(units).unwrap());
    }
    assert_eq!(endpoint.seen()[0].authorization.as_deref(), Some("Bearer sk-hidden"));
    let said = server.stop().said();
    assert!(said.contains("the model failed") && said.contains("answers again"), "{said}");
    assert!(!said.contains("sk-hidden"));
}

#[test]
fn a_server_stops_in_order_while_its_endpoint_hangs_and_goes_on_after_a_restart() {
    let (data, endpoint) = (TempDir::new().unwrap(), TestEndpoint::start().unwrap());
    endpoint.always(Behaviour::Hang);
    let settings = with_embedder(data.path(), &endpoint);
    let server = settings.start();
    let mut client = server.client();
    client.register("a", "tester");
    client.record("a", finding("a ship"));
    until_failing(&mut client);
    client.record("a", finding("a boat"));
    server.stop();
    endpoint.always(Behaviour::Answer);
    let server = settings.start();
    let mut client = server.client();
    until_enriched(&mut client, 2);
    let asked = endpoint.seen().len();
    server.kill();
    let server = settings.start();
    until_enriched(&mut server.client(), 2);
    assert_eq!(endpoint.seen().len(), asked, "the vectors were kept");
    server.stop();
    verify_is_green(data.path());
}

fn tiny_model() -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    crates.join("quipu-models/tests/tiny-bert").display().to_string()
}

fn with_directory(data: &Path, directory: &str) -> Settings {
    Settings::dev(data).argument("--embedder").argument(directory)
}

#[test]
fn a_local_model_gives_vectors_and_metrics_tell_how_many() {
    let data = TempDir::new().unwrap();
    let server = with_directory(data.path(), &tiny_model()).start();
    let mut client = server.client();
    client.register("a", "tester");
    for text in ["the market grows by a third", "the deployment was rolled back"] {
        client.record("a", finding(text));
    }
    until_enriched(&mut client, 2);
    let metrics = String::from_utf8(client.get("/metrics").body).unwrap();
    for line in ["vectors", "vectors_wanted"]
        .map(|name| format!("quipu_field_{name}{{field=\"default\"}} 2"))
    {
        assert!(metrics.contains(&line), "{metrics}");
    }
    assert!(metrics.contains("quipu_field_embedder_up{field=\"default\"} 1"), "{metrics}");
}

#[test]
fn a_directory_that_is_no_model_is_refused_at_the_start() {
    let (data, empty) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let said = with_directory(data.path(), empty.path().to_str().unwrap()).start_refused().said();
    assert!(said.contains("holds no usable model") && said.contains("config.json"), "{said}");
}

fn with_summarizer(data: &Path, endpoint: &TestEndpoint) -> Server {
    Settings::dev(data)
        .argument("--summarizer")
        .argument(&endpoint.url())
        .argument("--summarizer-model=writer")
        .argument("--models-timeout-ms=100")
        .start()
}

/// The text of the one summary that a COMPACT makes, and its warnings.
fn summary(client: &mut Client) -> (String, Value) {
    client.register("a", "tester");
    client.record("a", finding("The ship sails to Kiel on Monday."));
    client.record("a", finding("The ship sails to Kiel with 40 people."));
    let compact = json!({"strategy": "summarize", "filter": {"types": ["finding"]}});
    let answer = client.operate("COMPACT", "a", compact).ok();
    assert_eq!(answer["synthesis_units_created"], 1, "{answer}");
    let units = units_of(&client.attune("a", scope(10)));
    (units[0]["content"].as_str().unwrap().to_owned(), answer["warnings"].clone())
}

#[test]
fn a_summarizer_writes_and_where_it_fails_the_units_speak_for_themselves() {
    let endpoint = TestEndpoint::start().unwrap();
    endpoint.write("The ship sails to Kiel on Monday with 40 people.");
    let data = TempDir::new().unwrap();
    let server = with_summarizer(data.path(), &endpoint);
    let (text, warnings) = summary(&mut server.client());
    assert!(text.ends_with("The ship sails to Kiel on Monday with 40 people."), "{text}");
    assert_eq!(warnings, Value::Null);
    for behaviour in [Behaviour::Hang, Behaviour::Status(400, "no".to_owned()), Behaviour::HalfWay]
    {
        endpoint.always(behaviour);
        let data = TempDir::new().unwrap();
        let server = with_summarizer(data.path(), &endpoint);
        let (text, warnings) = summary(&mut server.client());
        assert!(text.contains("a: The ship sails to Kiel on Monday; with 40 people."), "{text}");
        assert!(warnings[0].as_str().unwrap().contains("summarizer failed"), "{warnings}");
    }
    let endpoint = TestEndpoint::start().unwrap();
    for (lie, reason) in [
        ("The ship sails to Kiel on Monday with 400 people.".to_owned(), "a figure that"),
        ("The ship sails to Kiel on Monday, 40 people. ".repeat(40), "not shorter"),
        ("Somebody goes somewhere.".to_owned(), "loses too much"),
    ] {
        endpoint.write(&lie);
        let data = TempDir::new().unwrap();
        let server = with_summarizer(data.path(), &endpoint);
        let (text, warnings) = summary(&mut server.client());
        assert!(text.contains("a: The ship sails to Kiel on Monday; with 40 people."), "{text}");
        assert!(warnings[0].as_str().unwrap().contains(reason), "{warnings}");
    }
}

/// How many conflicts a scan finds between two units that disagree.
fn conflicts_found(endpoint: &TestEndpoint) -> u64 {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path())
        .argument("--judge")
        .argument(&endpoint.url())
        .argument("--judge-model=arbiter")
        .argument("--models-timeout-ms=100")
        .argument("--detect=false")
        .start();
    let mut client = server.client();
    client.register("a", "tester");
    client.record("a", finding("The API limit is 100 requests per second."));
    client.record("a", finding("The API limit is 500 requests per second."));
    let found = client.operate("DETECT", "a", json!({"mode": "scan"})).ok();
    found["scan_coverage"]["new_conflicts_found"].as_u64().unwrap()
}

#[test]
fn a_judge_may_deny_what_detection_finds_and_where_it_fails_the_verdict_stands() {
    let endpoint = TestEndpoint::start().unwrap();
    endpoint.write("{\"contradiction\": true, \"reason\": \"both cannot be\"}");
    assert_eq!(conflicts_found(&endpoint), 1);
    endpoint.write("{\"contradiction\": false}");
    assert_eq!(conflicts_found(&endpoint), 0);
    endpoint.always(Behaviour::Status(500, String::new()));
    assert_eq!(conflicts_found(&endpoint), 1);
}
