//! What signals do: SIGTERM ends the process in ten seconds whatever runs, SIGHUP reads the configuration again, and the
//! others do not end it.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    keys::operator_key,
    support::{Settings, finding, quipu, scope, units_of, verify_is_green, wait_until},
};

/// Few steps of which each takes long.
const EATS_TIME: &str = "pub fn go(input: any) {
  while true { const seal = sha256(input.words) }
}";

#[test]
#[expect(clippy::disallowed_methods, reason = "it is about how long the process takes to end")]
fn sigterm_ends_the_process_in_ten_seconds_whatever_runs_and_nothing_acknowledged_is_lost() {
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).argument("--module-seconds").argument("600").start();
    let mut client = server.client();
    client.register("ada", "tester");
    let unit = client.record("ada", finding("kept"))["memory_unit_id"].clone();

    // A module that computes for minutes.
    let mut harn =
        server.client().with_header("Harn-Agents-Protocol-Version", "agents-protocol-2026-10-11");
    let artifact = json!({"kind": "file", "mime_type": "text/x-harn", "visibility": "internal"});
    let artifact = harn.post("/v1/artifacts", artifact.to_string()).json()["id"].clone();
    let path = format!("/v1/artifacts/{}/content", artifact.as_str().unwrap());
    harn.try_request("PUT", &path, EATS_TIME.as_bytes()).unwrap();
    let persona = json!({
        "module_ref": "harn://acme/go@1", "name": "goer", "version": "1", "entry_workflow": "go",
        "description": "goes", "autonomy_tier": "act_auto", "receipt_policy": "required",
        "metadata": {"module_artifact_id": artifact, "capabilities": []},
    });
    let persona = harn.post("/v1/personas", persona.to_string()).json()["id"].clone();
    let submit = json!({"persona_id": persona, "input": {"words": "a".repeat(900_000)}});
    let task = harn.post("/v1/sessions/session_default/tasks", submit.to_string()).json();
    assert_eq!(task["status"], "WORKING", "{task}");

    // Streams that follow, and bodies that do not come.
    let ask = |head: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut following = ask("GET /v1/log/follow HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut first = [0; 12];
    following.read_exact(&mut first).unwrap();
    let slow: Vec<TcpStream> = (0..4)
        .map(|_| {
            ask("POST /v1/record HTTP/1.1\r\nhost: localhost\r\nakashik-agent: ada\r\n\
                 content-type: application/json\r\ncontent-length: 500\r\n\r\n{\"type\"")
        })
        .collect();
    let since = Instant::now();
    let log = server.stop().stderr;
    let took = since.elapsed();
    assert!(took < Duration::from_secs(10), "it took {took:?}: {log}");
    drop((following, slow));

    let server = Settings::dev(data.path()).argument("--module-seconds").argument("1").start();
    let mut client = server.client();
    let answer = client.attune("ada", scope(10));
    assert!(units_of(&answer).iter().any(|found| found["id"] == unit), "{answer}");
    let task = format!("/v1/tasks/{}", task["id"].as_str().unwrap());
    let mut harn =
        server.client().with_header("Harn-Agents-Protocol-Version", "agents-protocol-2026-10-11");
    wait_until(60, "the module ran again and is given up", || {
        (harn.get(&task).ok()["status"] == "FAILED").then_some(())
    });
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn signals_without_a_meaning_do_not_end_the_process() {
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).start();
    for name in ["USR1", "USR2", "HUP"] {
        server.signal(name);
    }
    assert_eq!(server.client().get("/healthz").status, 200);
    let log = server.stop().stderr;
    for name in ["SIGUSR1", "SIGUSR2", "SIGHUP"] {
        assert!(log.contains(name), "{name} is told: {log}");
    }
}

#[test]
fn sighup_reads_the_log_level_and_the_keys_again() {
    let data = tempfile::tempdir().unwrap();
    let config = data.path().join("quipu.toml");
    fs::write(&config, "log_level = \"warn\"\n").unwrap();
    let place = data.path().join("data");
    let settings = Settings::new(&place).argument("--config");
    let server = settings.argument(config.to_str().unwrap()).start();
    let data = place.to_str().unwrap();
    let made = quipu(["key", "create", "--data", data, "--agent", "ada", "--authority", "4"]);
    let secret = operator_key(&made.succeeded().stdout).unwrap();
    fs::write(&config, "log_level = \"debug\"\n").unwrap();
    server.signal("HUP");
    // The keys are also read whenever their file changes, so that a key that holds says nothing of the level.
    server.await_logged("SIGHUP: read again: the log level, the keys");
    wait_until(10, "the new key holds", || {
        let mut client = server.client().with_key(&secret);
        (client.get("/v1/field/status").status == 200).then_some(())
    });
    server.client().with_header("x-request-id", "req-after-hangup").get("/v1/agents");
    fs::write(&config, "log_level = 5\n").unwrap();
    server.signal("HUP");
    server.await_logged("SIGHUP: the settings stay as they are");
    server.client().with_header("x-request-id", "req-after-both").get("/v1/agents");
    let log = server.stop().stderr;
    for request in ["req-after-hangup", "req-after-both"] {
        assert!(log.contains(request), "requests are logged from then on: {log}");
    }
}

/// Writes a certificate with this name, and its key.
fn certify(cert: &Path, key: &Path, name: &str) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-days", "1", "-newkey", "ec"])
        .args(["-pkeyopt", "ec_paramgen_curve:P-256", "-subj", &format!("/CN={name}")])
        .args(["-keyout".as_ref(), key.as_os_str(), "-out".as_ref(), cert.as_os_str()])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Whether a server shows the certificate of this name.
fn certificate_is(address: SocketAddr, name: &str) -> bool {
    let asked = Command::new("openssl")
        .args(["s_client", "-connect", &address.to_string()])
        .stdin(Stdio::null())
        .output();
    let said = String::from_utf8(asked.unwrap().stdout).unwrap().replace(' ', "");
    said.lines().any(|line| line == format!("subject=CN={name}"))
}

#[test]
fn sighup_reads_the_certificate_again_and_keeps_the_one_before_where_it_cannot() {
    let data = tempfile::tempdir().unwrap();
    let (cert, key) = (data.path().join("cert.pem"), data.path().join("key.pem"));
    certify(&cert, &key, "before");
    let settings = Settings::dev(&data.path().join("data"));
    let settings = settings.argument("--tls-cert").argument(cert.to_str().unwrap());
    let server = settings.argument("--tls-key").argument(key.to_str().unwrap()).start();
    assert!(certificate_is(server.address, "before"));
    fs::write(&cert, "no certificate").unwrap();
    server.signal("HUP");
    server.await_logged("as before, because it could not be read: the certificate");
    assert!(certificate_is(server.address, "before"));
    certify(&cert, &key, "after");
    server.signal("HUP");
    wait_until(30, "the other certificate is shown", || {
        certificate_is(server.address, "after").then_some(())
    });
    fs::write(&key, "no key").unwrap();
    server.signal("HUP");
    server.await_logged(key.to_str().unwrap());
    assert!(certificate_is(server.address, "after"));
    let log = server.stop().stderr;
    let said = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(said("SIGHUP: read again: the log level, the keys, the certificate"), 1, "{log}");
    assert_eq!(said("SIGHUP: read again: the log level, the keys; as before"), 2, "{log}");
}
