//! Tasks that were accepted are there after `kill -9`, and those of the Field are answered.

use serde_json::{Value, json};

use crate::support::{Client, Server, Settings, verify_is_green, wait_until};

const SUBMIT: &str = "/v1/sessions/session_default/tasks";

fn caller(server: &Server) -> Client {
    server.client().with_header("Harn-Agents-Protocol-Version", "agents-protocol-2026-10-11")
}

fn post(client: &mut Client, path: &str, body: &Value) -> Value {
    let answer = client.post(path, body.to_string());
    assert!((200..300).contains(&answer.status), "{path}: {}", answer.text());
    answer.json()
}

fn events(client: &mut Client, task: &str) -> Vec<Value> {
    let list = client.get(&format!("/v1/tasks/{task}/events?limit=200")).ok();
    list["data"].as_array().unwrap().clone()
}

fn settled(client: &mut Client, task: &str) -> Value {
    wait_until(30, "the task to end", || {
        let task = client.get(&format!("/v1/tasks/{task}")).ok();
        (task["status"] != "WORKING").then_some(task)
    })
}

#[test]
fn after_a_crash_the_field_answers_what_it_accepted_and_workers_go_on() {
    let data = tempfile::tempdir().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = caller(&server);
    let persona = json!({"name": "pricer", "version": "1", "entry_workflow": "external",
        "description": "prices", "autonomy_tier": "act_auto", "receipt_policy": "required"});
    let persona = post(&mut client, "/v1/personas", &persona)["id"].clone();
    let work = post(&mut client, SUBMIT, &json!({"input": "price it", "persona_id": persona}));
    let work = work["id"].as_str().unwrap().to_owned();
    post(&mut client, &format!("/v1/tasks/{work}/claim"), &json!({"lease_ms": 600_000}));
    let dependency = json!({"key": "llm:main:1", "kind": "llm_provider_response", "value": 49});
    post(&mut client, &format!("/v1/tasks/{work}/dependencies"), &dependency);
    let before = events(&mut client, &work);
    let asked: Vec<String> = (0..20)
        .map(|number| {
            let task = post(&mut client, SUBMIT, &json!({"input": format!("question {number}")}));
            assert_eq!(task["status"], "WORKING");
            task["id"].as_str().unwrap().to_owned()
        })
        .collect();
    server.kill();

    let server = Settings::dev(data.path()).start();
    let mut client = caller(&server);
    for task in &asked {
        let ended = settled(&mut client, task);
        assert_eq!(ended["status"], "COMPLETED", "{ended}");
        let told = events(&mut client, task);
        let named = |name: &str| told.iter().filter(|event| event["event"] == name).count();
        for once in ["task.submitted", "task.started", "task.completed", "receipt.issued"] {
            assert_eq!(named(once), 1, "{once}: {told:?}");
        }
    }
    assert_eq!(events(&mut client, &work), before);
    let again = post(&mut client, &format!("/v1/tasks/{work}/dependencies"), &dependency);
    assert_eq!(again["event_id"], before.last().unwrap()["id"]);
    let done = json!({"summary": "49", "output": {"price": 49}});
    let done = post(&mut client, &format!("/v1/tasks/{work}/complete"), &done);
    assert_eq!(done["status"], "COMPLETED");
    server.stop();
    verify_is_green(data.path());
}
