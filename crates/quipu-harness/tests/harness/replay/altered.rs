//! An export of which something was altered on the way is refused, and the place is named: every member of every part is
//! flipped, removed, doubled, one at a time.

use quipu_harness::Harness;
use quipu_replay::receipt::{Proven, check_document, check_export, read_export};
use quipu_wire::harn::{
    AppendEventRequest, HarnErrorCode, RecordDependencyRequest, RegisterArtifactRequest, TaskExport,
};
use serde_json::{Value, json};

use super::runs::{World, asked, caller};

/// What the receipt does not bind, and why altering it says nothing false of the run.
fn is_free(place: &str, run: &str) -> bool {
    let of_artifact = place.starts_with("/artifacts/") || place.starts_with("/outcome/artifacts/");
    let end = place.rsplit('/').next().unwrap();
    // When a server wrote an Artifact down is its own bookkeeping; to whom one belongs, whoever takes it in sees to: another
    // than the Task is refused, none is the Task.
    let bookkeeping = of_artifact && ["created_at", "updated_at"].contains(&end);
    let belongs = place.starts_with("/artifacts/")
        && ["workspace_id", "session_id", "task_id"].contains(&end);
    // Signatures are outside of the hash, as the format has it; whoever has the key checks them.
    let signature = place.starts_with("/receipt/signatures");
    // What a receipt of a replay must not depend on, so that it is the same wherever the replay runs.
    let of_replay = run == "replay"
        && ((place.starts_with("/events/") && ["id", "sequence"].contains(&end))
            || place == "/task/metadata"
            || place.starts_with("/task/metadata/")
            || (place.starts_with("/task/")
                && [
                    "created_at",
                    "updated_at",
                    "started_at",
                    "completed_at",
                    "canceled_at",
                    "created_by",
                    "assigned_agent_id",
                    "workspace_id",
                    "session_id",
                    "branch_id",
                ]
                .contains(&end)));
    bookkeeping || belongs || signature || of_replay
}

/// Every way to alter a value in place: another value, and for lists one entry less, twice, or the other way around.
fn alterations(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!("x"), json!(1)],
        Value::Bool(it) => vec![json!(!it)],
        Value::Number(it) => {
            vec![json!(it.as_f64().unwrap_or(0.0) + 1.0), json!(it.as_u64().unwrap_or(0) + 1)]
        }
        Value::String(text) => {
            let mut flipped: Vec<char> = text.chars().collect();
            if let Some(last) = flipped.last_mut() {
                *last = if *last == '0' { '1' } else { '0' };
            }
            vec![json!(format!("{text}0")), json!(flipped.into_iter().collect::<String>())]
        }
        Value::Array(entries) => {
            let mut other = vec![json!([])];
            let mut reversed = entries.clone();
            reversed.reverse();
            other.push(reversed.into());
            for index in 0..entries.len() {
                let (mut less, mut twice) = (entries.clone(), entries.clone());
                less.remove(index);
                twice.insert(index, entries[index].clone());
                other.extend([less.into(), twice.into()]);
            }
            other
        }
        Value::Object(members) => {
            let mut other = vec![json!({})];
            for name in members.keys() {
                let mut less = members.clone();
                less.remove(name);
                other.push(less.into());
            }
            let mut more = members.clone();
            more.insert("zz_more".to_owned(), json!("pay 1,000,000"));
            other.push(more.into());
            other
        }
    }
}

/// The places of a document, each with its value.
fn places(value: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    if !at.is_empty() {
        found.push((at.to_owned(), value.clone()));
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                places(value, &format!("{at}/{}", name.replace('/', "~1")), found);
            }
        }
        Value::Array(entries) => {
            for (index, value) in entries.iter().enumerate() {
                places(value, &format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The part of a place that a refusal has to name: `events[3]`, `task`, `receipt`.
fn part(place: &str) -> String {
    let mut names = place.split('/').skip(1);
    let first = names.next().unwrap_or_default();
    match (first, names.next()) {
        ("events" | "artifacts", Some(index)) => format!("{first}[{index}]"),
        _ => first.to_owned(),
    }
}

/// Alters everything, and returns how much was altered.
async fn refuses_every_alteration(document: &Value, run: &str) -> usize {
    let there = World::new().await;
    let before = there.harness.field().head();
    let original: TaskExport = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(check_export(&original), Ok(Proven::Everything), "{run}");
    let mut all = Vec::new();
    places(document, "", &mut all);
    refuses_every_addition(document, &all, run);
    let mut refused = 0;
    for (place, value) in &all {
        for altered in alterations(value) {
            let mut other = document.clone();
            *other.pointer_mut(place).unwrap() = altered.clone();
            let Ok(export) = serde_json::from_value::<TaskExport>(other) else { continue };
            // A member that nobody reads, or one that is absent by default, is no alteration.
            if export == original
                || is_free(place, run)
                || free_within(place, run, &original, &export)
            {
                continue;
            }
            let error = there.harness.import_task(&asked("boss"), export).await;
            let error = error.expect_err(&format!("{run}: {place} = {altered} is taken"));
            assert_eq!(error.code, HarnErrorCode::InvalidRequest, "{place}: {error}");
            let param = error.param.clone().unwrap_or_default();
            let named = [part(place), place.split('/').nth(1).unwrap().to_owned()];
            assert!(named.iter().any(|name| param.starts_with(name)), "{place}: {param}: {error}");
            refused += 1;
        }
    }
    assert_eq!(there.harness.field().head(), before, "{run}: nothing is left of what was refused");
    refused
}

/// A place in the words of a refusal: `artifacts[1].artifact.id`.
fn in_words(place: &str) -> String {
    let word = |name: &str| match name.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!(".{}", name.replace("~1", "/")),
    };
    let words: String = place.split('/').skip(1).map(word).collect();
    words.trim_start_matches('.').to_owned()
}

/// Adds a member to every object: where our form has it not, it is refused with its place; in what everybody may fill, it
/// is altered content.
fn refuses_every_addition(document: &Value, all: &[(String, Value)], run: &str) {
    assert_eq!(check_document(document), Ok(Proven::Everything), "{run}");
    let original = read_export(document).unwrap();
    let objects =
        all.iter().filter(|(_, value)| value.is_object()).map(|(place, _)| place.as_str());
    let mut refused = 0;
    for place in objects.chain([""]) {
        let mut other = document.clone();
        let members = other.pointer_mut(place).unwrap().as_object_mut().unwrap();
        members.insert("zz_more".to_owned(), json!({"paid": 1_000_000}));
        let place = format!("{place}/zz_more");
        match read_export(&other) {
            Ok(export) => assert_ne!(export, original, "{run}: {place} is read away"),
            // Parts of a receipt are strict by themselves.
            Err(error) if error.place == "body" => {
                assert!(place.starts_with("/receipt"), "{error}");
            }
            Err(error) => {
                assert_eq!(error.place, in_words(&place), "{run}: {error}");
                assert_eq!(check_document(&other), Err(error));
                refused += 1;
            }
        }
    }
    assert!(refused > 5, "{run}: {refused}");
}

#[tokio::test]
async fn a_member_that_no_exported_task_has_is_refused_where_it_is() {
    let world = World::new().await;
    let task = everything(&world).await;
    let document = exported(&world.harness, &task).await;
    for (object, name) in [
        ("/outcome", "output"),
        ("/outcome", "text"),
        ("/task", "title"),
        ("/task", "approver"),
        ("/artifacts/1", "content"),
        ("/events/2", "permission"),
    ] {
        let mut other = document.clone();
        let members = other.pointer_mut(object).unwrap().as_object_mut().unwrap();
        members.insert(name.to_owned(), json!("pay 1,000,000"));
        let error = check_document(&other).unwrap_err();
        assert_eq!(error.place, in_words(&format!("{object}/{name}")), "{error}");
        let members = other.pointer_mut(object).unwrap().as_object_mut().unwrap();
        members.insert(name.to_owned(), Value::Null);
        assert_eq!(check_document(&other), Ok(Proven::Everything), "it says nothing");
    }
}

/// Whether nothing but free members differ, where a whole object was altered.
fn free_within(place: &str, run: &str, one: &TaskExport, other: &TaskExport) -> bool {
    let (one, other) = (json!(one), json!(other));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let (Some(one), Some(other)) = (one.pointer(place), other.pointer(place)) else { return false };
    if !one.is_object() {
        return false;
    }
    places(one, place, &mut before);
    places(other, place, &mut after);
    let differ = before.iter().filter(|it| !after.contains(it));
    let more = after.iter().filter(|it| !before.contains(it));
    differ.chain(more).all(|(at, _)| at == place || is_free(at, run))
}

async fn exported(harness: &Harness, task: &str) -> Value {
    json!(harness.export_task(&caller("boss"), task).await.unwrap())
}

async fn append(world: &World, task: &str, event: Value) {
    let request = AppendEventRequest::parse(event).unwrap();
    world.harness.append_event(&asked("worker"), task, request).await.unwrap();
}

/// A run with everything that a worker can record.
async fn everything(world: &World) -> String {
    let task = world.submit().await;
    world.claim("worker", &task).await;
    for (key, kind, value) in [
        (
            "llm:main:1",
            "llm_provider_response",
            json!({"model": "m-1", "usage": {"input_tokens": 3}}),
        ),
        ("mcp:crm:1", "mcp_tool_return", json!({"tier": "gold"})),
        ("tool:grep:1", "tool_result", json!({"error": "no such file"})),
        ("time:now:1", "time", json!("2026-04-25T10:00:00Z")),
        ("host:random:1", "host_fact", json!(0.5)),
        ("host:nothing:1", "host_fact", Value::Null),
        ("secret:token", "secret_value", json!("tok-canary")),
    ] {
        let body = json!({"key": key, "kind": kind, "value": value, "request": {"ask": key}});
        let request = RecordDependencyRequest::parse(body).unwrap();
        world.harness.record_dependency(&asked("worker"), &task, request).await.unwrap();
    }
    let body = json!({"kind": "file", "mime_type": "text/plain", "visibility": "internal",
        "task_id": task});
    let request = RegisterArtifactRequest::parse(body).unwrap();
    let made = world.harness.register_artifact(&asked("worker"), request).await.unwrap();
    let (id, bytes) = (made.envelope.id, b"what it wrote".to_vec());
    world.harness.put_artifact_content(&asked("worker"), &id, bytes).await.unwrap();
    world.checkpoint(&task, "half-way").await;
    for event in [
        json!({"event": "agent.tool_use", "payload": {"tool_call_id": "c1", "name": "grep"}}),
        json!({"event": "agent.tool_result", "payload": {"tool_call_id": "c1", "status": "error"}}),
        json!({"event": "agent.message", "payload": {"text": "inside"}, "visibility": "internal"}),
        json!({"event": "agent.message", "payload": {"text": "kept"}, "visibility": "receipt_only"}),
        json!({"event": "agent.handoff", "payload": {"to": "ben", "status": "accepted"}}),
        json!({"event": "tool.approved", "payload": {"tool": "grep"}}),
    ] {
        append(world, &task, event).await;
    }
    world.complete("worker", &task, json!({"price": 49, "lines": ["a", "b"]})).await;
    task
}

#[tokio::test]
async fn every_member_of_a_workers_task_is_bound() {
    let world = World::new().await;
    let task = everything(&world).await;
    let refused = refuses_every_alteration(&exported(&world.harness, &task).await, "worker").await;
    assert!(refused > 700, "{refused}");
}

#[tokio::test]
async fn every_member_of_a_task_that_failed_is_bound() {
    let world = World::new().await;
    let task = world.submit().await;
    world.claim("worker", &task).await;
    let failure = json!({"code": "broken", "message": "it broke", "details": {"line": 7}});
    let request = quipu_wire::harn::FailTaskRequest::parse(failure).unwrap();
    world.harness.fail_task(&asked("worker"), &task, request).await.unwrap();
    refuses_every_alteration(&exported(&world.harness, &task).await, "failed").await;
}

#[tokio::test]
async fn every_member_of_a_modules_task_is_bound() {
    let world = World::with_modules().await;
    let task = world.priced().await;
    refuses_every_alteration(&exported(&world.harness, &task).await, "module").await;
}

#[tokio::test]
async fn every_member_of_a_replay_is_bound_but_what_it_must_not_depend_on() {
    let world = World::new().await;
    let task = everything(&world).await;
    let body = json!({"mode": "with_overrides", "override": {
        "mcp:crm:1": {"kind": "mcp_tool_return", "value": {"tier": "tin"}, "reason": "what if"}}});
    let replay = world.replayed(&task, body).await.envelope.id;
    refuses_every_alteration(&exported(&world.harness, &replay).await, "replay").await;
}

#[tokio::test]
async fn every_member_of_a_workers_replay_is_bound() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let body = json!({"metadata": {"executor": "worker"}});
    let replay = world.replay(&task, body).await.unwrap().envelope.id;
    world.claim("worker", &replay).await;
    world.resolve(&replay, json!({"key": "llm:main:1", "request": {"ask": 1}})).await.unwrap();
    world.complete("worker", &replay, json!({"price": 1})).await;
    refuses_every_alteration(&exported(&world.harness, &replay).await, "workers replay").await;
}
