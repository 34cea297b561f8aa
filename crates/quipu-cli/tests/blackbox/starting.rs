//! How a server is started: which setting wins, what is refused, how it says where it listens.

use std::fs;

use tempfile::TempDir;

use crate::support::{Settings, finding};

#[test]
fn a_flag_beats_the_environment_and_the_environment_beats_the_file() {
    let place = TempDir::new().unwrap();
    let [by_flag, by_variable, by_file] =
        ["flag", "variable", "file"].map(|name| place.path().join(name));
    let config = place.path().join("quipu.toml");
    fs::write(&config, format!("data = {by_file:?}\ndev = true\nlisten = \"127.0.0.1:0\"\n"))
        .unwrap();
    let bare = Settings::bare().environment("QUIPU_CONFIG", &config);
    let serve = |settings: Settings| {
        let server = settings.start();
        // Without --dev in the file this would need a key.
        server.client().register("a", "tester");
        server.client().record("a", finding("here"));
        server.stop();
    };
    serve(bare.clone());
    assert!(by_file.join("format").exists());
    let with_variable = bare.environment("QUIPU_DATA", &by_variable);
    serve(with_variable.clone());
    assert!(by_variable.join("format").exists());
    serve(with_variable.argument("--data").argument(by_flag.to_str().unwrap()));
    assert!(by_flag.join("format").exists());
}

#[test]
fn a_key_that_the_config_file_does_not_know_is_named_with_its_line() {
    let place = TempDir::new().unwrap();
    let config = place.path().join("quipu.toml");
    fs::write(&config, "dev = true\nmax_log_byte = 5\n").unwrap();
    let data = place.path().join("data");
    let settings = Settings::dev(&data).argument("--config").argument(config.to_str().unwrap());
    let refused = settings.start_refused().stderr;
    assert!(refused.contains("max_log_byte") && refused.contains("line 2"), "{refused}");
    assert!(refused.contains(config.to_str().unwrap()), "{refused}");
    assert!(!data.exists(), "nothing was made");
    let missing = Settings::dev(&data).argument("--config").argument("/nowhere/quipu.toml");
    assert!(missing.start_refused().stderr.contains("/nowhere/quipu.toml"));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let server = Settings::dev(one.path()).start();
    let address = server.address.to_string();
    let refused = Settings::dev(other.path()).argument("--listen").argument(&address);
    let said = refused.start_refused().stderr;
    assert!(said.contains(&address), "{said}");
    assert_eq!(server.client().get("/healthz").status, 200);
}

#[test]
fn a_log_of_another_kind_is_refused_and_one_in_memory_forgets() {
    let data = TempDir::new().unwrap();
    for url in ["postgres://localhost/quipu", "nats://localhost", "nonsense"] {
        let refused = Settings::dev(data.path()).argument("--log").argument(url).start_refused();
        let scheme = url.split(':').next().unwrap();
        assert!(refused.stderr.contains(scheme), "{}", refused.stderr);
    }
    let memory = Settings::dev(data.path()).argument("--log").argument("memory:");
    let server = memory.start();
    server.client().register("a", "tester");
    server.client().record("a", finding("soon forgotten"));
    let log = server.stop().stderr;
    assert!(log.contains("memory"), "{log}");
    let status = memory.start().client().get("/v1/field/status").ok();
    assert_eq!(status["units"]["total"], 0);
}

#[test]
fn log_lines_as_json_are_json_each() {
    let data = TempDir::new().unwrap();
    let settings = Settings::dev(data.path());
    let settings = settings.argument("--log-format").argument("json");
    let server = settings.argument("--log-level").argument("debug").start();
    server.client().with_header("x-request-id", "req-from-test").get("/v1/agents").ok();
    let log = server.stop().stderr;
    assert!(log.contains("req-from-test"), "{log}");
    for line in log.lines() {
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(line);
        assert!(parsed.is_ok_and(|entry| entry["level"].is_string()), "{line}");
    }
}
