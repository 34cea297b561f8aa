//! Runs that go on after their worker, or the server, died: at every step, with every answer paid for once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Barrier},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Client, Server, Settings, verify_is_green, wait_until};

const VERSION: &str = "agents-protocol-2026-04-25";
const LEASE_MS: u64 = 300;

fn caller(server: &Server, agent: &str) -> Client {
    let client = server.client().with_header("Harn-Agents-Protocol-Version", VERSION);
    client.with_header("Akashik-Agent", agent)
}

fn send(client: &mut Client, path: &str, body: &Value) -> (u16, Value) {
    let answer = client.post(path, body.to_string());
    (answer.status, if answer.status == 204 { Value::Null } else { answer.json() })
}

fn post(client: &mut Client, path: &str, body: &Value) -> Value {
    let (status, answer) = send(client, path, body);
    assert!((200..300).contains(&status), "{path}: {status} {answer}");
    answer
}

fn persona(client: &mut Client) -> Value {
    let body = json!({"name": "pricer", "version": "1", "entry_workflow": "external", "description": "prices",
        "autonomy_tier": "act_auto", "receipt_policy": "required"});
    post(client, "/v1/personas", &body)["id"].clone()
}

fn submit(client: &mut Client, persona: &Value, metadata: &Value) -> String {
    let body = json!({"session_id": "session_default", "persona_id": persona, "input": "price it", "metadata": metadata});
    post(client, "/v1/tasks", &body)["id"].as_str().unwrap().to_owned()
}

/// What is paid for: how often each call was made.
#[derive(Default)]
struct Market {
    calls: BTreeMap<String, u32>,
}

impl Market {
    fn call(&mut self, key: &str) -> Value {
        *self.calls.entry(key.to_owned()).or_default() += 1;
        json!({"answer": key})
    }
}

const KEYS: [&str; 3] = ["llm:main:1", "mcp:crm:1", "llm:main:2"];

/// One worker's attempt, which dies after so many steps. Steps are what a worker sends, and the calls that it pays for
/// are recorded in the same step: whoever dies in between has lost what nobody else could know of.
fn attempt(client: &mut Client, task: &str, market: &mut Market, steps: usize) -> bool {
    let mut left = steps;
    let mut step = || {
        left = left.checked_sub(1)?;
        Some(())
    };
    let mut run = || -> Option<()> {
        step()?;
        post(client, &format!("/v1/tasks/{task}/claim"), &json!({"lease_ms": LEASE_MS}));
        for key in KEYS {
            step()?;
            let ask = json!({"key": key, "request": {"ask": key}});
            let found = post(client, &format!("/v1/tasks/{task}/dependencies/resolve"), &ask);
            if found["source"] == "recorded" {
                assert_eq!(found["value"], json!({"answer": key}));
                continue;
            }
            step()?;
            let body = json!({"key": key, "kind": if key.starts_with("llm") { "llm_provider_response" } else { "mcp_tool_return" },
                "request": {"ask": key}, "value": market.call(key)});
            post(client, &format!("/v1/tasks/{task}/dependencies"), &body);
        }
        step()?;
        let done = json!({"summary": "done", "output": {"price": 49}});
        post(client, &format!("/v1/tasks/{task}/complete"), &done);
        Some(())
    };
    run().is_some()
}

fn free(client: &mut Client, task: &str) {
    wait_until(30, "the lease to run out", || {
        let task = client.get(&format!("/v1/tasks/{task}")).ok();
        task["assigned_agent_id"].is_null().then_some(())
    });
}

#[test]
fn a_worker_that_dies_at_any_step_is_followed_by_one_that_pays_for_nothing_twice() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut alice = caller(&server, "alice");
    let persona = persona(&mut alice);
    for steps in 0..8 {
        let task = submit(&mut alice, &persona, &json!({}));
        let mut market = Market::default();
        let mut first = caller(&server, "first");
        assert!(!attempt(&mut first, &task, &mut market, steps), "{steps} steps are not enough");
        free(&mut alice, &task);
        let mut second = caller(&server, "second");
        assert!(attempt(&mut second, &task, &mut market, usize::MAX));
        assert!(market.calls.values().all(|calls| *calls == 1), "{steps}: {:?}", market.calls);
        assert_eq!(market.calls.len(), KEYS.len());
        let listed = alice.get(&format!("/v1/tasks/{task}/dependencies")).ok();
        let keys: Vec<_> =
            listed["data"].as_array().unwrap().iter().map(|it| it["key"].clone()).collect();
        assert_eq!(keys, KEYS.map(Value::from));
        // The first comes back: it is told so, and what it recorded stays.
        let done = json!({"summary": "late"});
        let late = send(&mut first, &format!("/v1/tasks/{task}/complete"), &done);
        assert_eq!(late.0, 409, "{}", late.1);
    }
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn a_server_that_is_killed_at_any_step_lost_nothing_that_it_acknowledged() {
    let data = TempDir::new().unwrap();
    let mut market = Market::default();
    let mut server = Settings::dev(data.path()).start();
    let mut alice = caller(&server, "alice");
    let persona = persona(&mut alice);
    let retry = json!({"queue": "prices", "retry": {"max_attempts": 100}});
    let task = submit(&mut alice, &persona, &retry);
    let mut attempts = 0;
    for steps in 1.. {
        let mut worker = caller(&server, "worker");
        let done = attempt(&mut worker, &task, &mut market, steps);
        attempts += 1;
        server.kill();
        server = Settings::dev(data.path()).start();
        let mut alice = caller(&server, "alice");
        if done {
            break;
        }
        free(&mut alice, &task);
        let shown = alice.get(&format!("/v1/tasks/{task}")).ok();
        assert_eq!(shown["metadata"]["retry_state"]["failed_attempts"], json!(attempts), "{shown}");
    }
    assert!(market.calls.values().all(|calls| *calls == 1), "{:?}", market.calls);
    let mut alice = caller(&server, "alice");
    let ended = wait_until(30, "the task to end", || {
        let task = alice.get(&format!("/v1/tasks/{task}")).ok();
        (task["status"] == "COMPLETED").then_some(task)
    });
    assert!(ended["receipt_id"].is_string(), "{ended}");
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn of_many_that_claim_at_once_each_gets_another_task_and_nobody_the_same() {
    const WORKERS: usize = 8;
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut alice = caller(&server, "alice");
    let persona = persona(&mut alice);
    let queue = json!({"queue": "prices"});
    let wanted: Vec<String> =
        (0..WORKERS - 2).map(|_| submit(&mut alice, &persona, &queue)).collect();
    let together = Arc::new(Barrier::new(WORKERS));
    let workers: Vec<_> = (0..WORKERS)
        .map(|number| {
            let (mut client, together) =
                (caller(&server, &format!("w{number}")), Arc::clone(&together));
            std::thread::spawn(move || {
                together.wait();
                send(&mut client, "/v1/tasks/claim", &json!({"queue": "prices"}))
            })
        })
        .collect();
    let answers: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    let mut taken: Vec<String> = answers
        .iter()
        .filter(|(status, _)| *status == 200)
        .map(|(_, task)| task["id"].as_str().unwrap().to_owned())
        .collect();
    taken.sort();
    let mut wanted = wanted;
    wanted.sort();
    assert_eq!(taken, wanted);
    assert_eq!(answers.iter().filter(|(status, _)| *status == 204).count(), 2, "{answers:?}");
    server.stop();
}

#[test]
fn an_answer_of_64_mib_is_there_for_the_next_worker_and_for_a_replay_after_a_crash() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut alice = caller(&server, "alice");
    let persona = persona(&mut alice);
    let task = submit(&mut alice, &persona, &json!({}));
    let mut first = caller(&server, "first");
    post(&mut first, &format!("/v1/tasks/{task}/claim"), &json!({"lease_ms": 600_000}));
    let body = json!({"kind": "dataset", "mime_type": "application/json", "visibility": "internal", "task_id": task});
    let artifact = post(&mut first, "/v1/artifacts", &body)["id"].as_str().unwrap().to_owned();
    let content = format!("/v1/artifacts/{artifact}/content");
    let large: Vec<u8> =
        (0..64 * 1024 * 1024u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let put = first.try_request("PUT", &content, &large).unwrap();
    assert_eq!(put.status, 200, "{}", put.text());
    let dependency = json!({"key": "llm:main:1", "kind": "llm_provider_response", "request": 1, "artifact_id": artifact});
    post(&mut first, &format!("/v1/tasks/{task}/dependencies"), &dependency);
    server.kill();

    let server = Settings::dev(data.path()).start();
    let mut second = caller(&server, "first");
    let ask = json!({"key": "llm:main:1", "request": 1});
    let found = post(&mut second, &format!("/v1/tasks/{task}/dependencies/resolve"), &ask);
    assert_eq!((&found["source"], &found["artifact_id"]), (&json!("recorded"), &json!(artifact)));
    let got = second.try_request("GET", &content, b"").unwrap();
    assert!(got.status == 200 && got.body == large, "{} bytes", got.body.len());
    post(&mut second, &format!("/v1/tasks/{task}/complete"), &json!({"summary": "done"}));
    let body = json!({"strict": true, "metadata": {"executor": "worker"}});
    let replay = post(&mut second, &format!("/v1/tasks/{task}/replay"), &body);
    let replay = replay["id"].as_str().unwrap().to_owned();
    post(&mut second, &format!("/v1/tasks/{replay}/claim"), &json!({}));
    let again = post(&mut second, &format!("/v1/tasks/{replay}/dependencies/resolve"), &ask);
    assert_eq!(again["artifact_id"], json!(artifact));
    post(&mut second, &format!("/v1/tasks/{replay}/complete"), &json!({"summary": "done"}));
    let in_process = post(&mut second, &format!("/v1/tasks/{task}/replay"), &json!({}));
    let in_process = in_process["id"].as_str().unwrap().to_owned();
    wait_until(60, "the replay to end", || {
        let task = second.get(&format!("/v1/tasks/{in_process}")).ok();
        (task["status"] == "COMPLETED").then_some(())
    });
    server.stop();
}
