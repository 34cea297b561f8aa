//! Replays that the server carries out itself.

use quipu_wire::harn::{
    DeltaOperation, Determinism, HarnErrorCode, OutcomeStatus, Sha256, TaskState,
};
use serde_json::{Value, json};

use super::runs::{World, asked_under, caller};

fn canonical(receipt: &quipu_wire::harn::Receipt, ids: [&str; 2]) -> String {
    let mut receipt = receipt.clone();
    receipt.signatures.clear();
    receipt.chain.receipt_hash = None;
    let text = serde_json::to_string(&receipt).unwrap();
    text.replace(ids[0], "T").replace(ids[1], "R")
}

#[tokio::test]
async fn an_exact_replay_is_a_new_task_that_ends_as_its_source_did() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = world.replayed(&task, json!({})).await;
    assert_eq!(replay.status, TaskState::Completed);
    assert_eq!(replay.session_id, "session_default");
    assert_eq!(replay.envelope.id, task.replace("task_", "task_replay_"));
    let receipt = world.receipt(&replay.envelope.id).await;
    assert_eq!(receipt.replay_input.determinism, Determinism::ByteDeterministic);
    assert_eq!(receipt.deltas, Some(Vec::new()));
    let source = world.receipt(&task).await;
    assert_eq!(receipt.chain.previous_receipt_hash, source.chain.receipt_hash);
    assert_eq!(receipt.lifecycle.completed_at, source.lifecycle.completed_at);
    assert_eq!(receipt.signatures.len(), 1);
}

#[tokio::test]
async fn two_exact_replays_have_the_same_receipt_but_for_ids() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let one = world.replayed(&task, json!({})).await.envelope.id;
    let other = world.replayed(&task, json!({})).await.envelope.id;
    assert_eq!(other, format!("{one}_2"));
    let (first, second) = (world.receipt(&one).await, world.receipt(&other).await);
    // The longer id first: it starts with the shorter one.
    let second = canonical(&second, [&other, &second.receipt_id]);
    let second = second.replace(other.strip_prefix("task_").unwrap(), "X");
    let first = canonical(&first, [&one, &first.receipt_id]);
    assert_eq!(first.replace(one.strip_prefix("task_").unwrap(), "X"), second);
}

#[tokio::test]
async fn replayed_events_lie_between_start_and_end_and_say_what_they_repeat() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = world.replayed(&task, json!({})).await.envelope.id;
    let events = world.events(&replay).await;
    let names: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
    let replayed: Vec<_> = events.iter().filter(|event| event.replayed).collect();
    let source = world.events(&task).await;
    let run: Vec<&str> = source
        .iter()
        .map(|event| event.event.as_str())
        .filter(|name| *name != "receipt.issued")
        .collect();
    // The receipt and its log are no part of the run.
    let (log, run) = run.split_last().unwrap();
    assert_eq!(*log, "artifact.created");
    let again: Vec<&str> = replayed.iter().map(|event| event.event.as_str()).collect();
    // How the source ended is an event of the replay's run, and no end of the replay.
    let told: Vec<String> =
        run.iter().map(|name| name.replace("task.completed", "replay.event_replayed")).collect();
    assert_eq!(told, again, "{names:?}");
    let mut last = replayed.iter().filter_map(|event| event.payload.get("event"));
    assert_eq!((last.next(), last.next()), (Some(&json!("task.completed")), None));
    let ends = names.iter().filter(|name| **name == "task.completed").count();
    assert_eq!(ends, 1, "a stream has one end: {names:?}");
    assert_eq!(names[..3], ["task.submitted", "task.started", "replay.started"]);
    let end = ["replay.completed", "task.completed", "artifact.created", "receipt.issued"];
    assert_eq!(names[names.len() - 4..], end);
    for (event, original) in replayed.iter().zip(&source) {
        let replay_of = event.replay.as_ref().unwrap();
        assert_eq!(replay_of.source_task_id, task);
        assert_eq!(replay_of.replay_task_id, replay);
        assert_eq!(replay_of.original_event_id.as_ref(), Some(&original.envelope.id));
        assert_eq!(event.envelope.created_at, original.envelope.created_at);
    }
    let ids: Vec<&String> = events.iter().map(|event| &event.envelope.id).collect();
    assert!(ids.is_sorted(), "{ids:#?}");
    assert!(events.iter().map(|event| event.sequence).is_sorted());
    let before: Vec<Option<&String>> =
        events.iter().map(|event| event.previous_event_id.as_ref()).collect();
    assert_eq!(before[1..], ids.iter().map(|id| Some(*id)).collect::<Vec<_>>()[..ids.len() - 1]);
}

#[tokio::test]
async fn replayed_events_are_paged_and_read_one_by_one_like_others() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let replay = world.replayed(&task, json!({})).await.envelope.id;
    let whole = world.events(&replay).await;
    for limit in 1..=whole.len() {
        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let page = world.page(&replay, after.as_deref(), limit).await;
            let Some(last) = page.last() else { break };
            after = Some(last.envelope.id.clone());
            read.extend(page);
        }
        assert_eq!(read, whole, "in pages of {limit}");
    }
    for event in &whole {
        let one = world.harness.event(&caller("boss"), &event.envelope.id).await.unwrap();
        assert_eq!(one, *event);
    }
    let beyond = whole.iter().rfind(|event| event.replayed).unwrap().envelope.id.clone();
    let unknown = format!("{}9", &beyond[..beyond.len() - 1]);
    let missing = world.harness.event(&caller("boss"), &unknown).await.unwrap_err();
    assert_eq!(missing.code, HarnErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn every_override_is_a_delta_and_no_secret_is_told() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let other = json!({"content": "99 dollars"});
    let body = json!({"mode": "with_overrides", "reason": "what if", "override": {
        "llm:main:1": {"kind": "llm_provider_response", "value": other, "reason": "dearer"},
        "secret:token": {"kind": "secret_value", "value": "tok-other"},
    }});
    let replay = world.replayed(&task, body).await;
    assert_eq!(replay.status, TaskState::Completed);
    let receipt = world.receipt(&replay.envelope.id).await;
    let deltas = receipt.deltas.clone().unwrap();
    let [llm, secret] = deltas.as_slice() else { panic!("{deltas:?}") };
    assert_eq!(llm.override_key.as_deref(), Some("llm:main:1"));
    let recorded = Sha256::of_json(&json!({"content": "49 dollars"})).unwrap();
    assert_eq!(llm.before_sha256, Some(recorded));
    assert_eq!(llm.after_sha256, Some(Sha256::of_json(&other).unwrap()));
    assert_eq!(llm.reason.as_deref(), Some("dearer"));
    assert_eq!(llm.operation, DeltaOperation::Replace);
    assert_eq!(secret.reason.as_deref(), Some("what if"));
    assert_ne!(secret.after_sha256, Sha256::of_json(&json!("tok-other")).ok());
    let events = world.events(&replay.envelope.id).await;
    let told = serde_json::to_string(&(&receipt, &events)).unwrap();
    assert!(!told.contains("tok-canary") && !told.contains("tok-other"));
    assert!(!told.contains("99 dollars"), "an override is for the receipt alone by default");
    let substituted: Vec<_> =
        events.iter().filter_map(|event| event.replay.as_ref()?.override_key.clone()).collect();
    assert_eq!(substituted, ["llm:main:1", "secret:token"]);
    let kept = world.harness.field().commits(1, 1000).unwrap();
    let bytes: Vec<u8> =
        kept.iter().flat_map(|commit| &commit.bodies).flat_map(body_bytes).collect();
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("tok-canary") && !text.contains("tok-other"));
}

fn body_bytes(stored: &quipu_log::StoredBody) -> Vec<u8> {
    match &stored.content {
        quipu_log::BodyContent::Present(body) => body.json.clone(),
        quipu_log::BodyContent::Erased => Vec::new(),
    }
}

#[tokio::test]
async fn from_a_checkpoint_only_what_came_after_is_replayed() {
    let world = World::new().await;
    let (task, checkpoint) = world.run().await;
    let body = json!({"mode": "from_checkpoint", "checkpoint_id": checkpoint});
    let replay = world.replayed(&task, body).await;
    assert_eq!(replay.status, TaskState::Completed);
    let replayed: Vec<_> = world.events(&replay.envelope.id).await;
    let keys: Vec<&str> = replayed
        .iter()
        .filter(|event| event.replayed)
        .filter_map(|event| event.payload.get("key").and_then(Value::as_str))
        .collect();
    assert_eq!(keys, ["secret:token", "llm:main:2"]);
    let receipt = world.receipt(&replay.envelope.id).await;
    assert_eq!(receipt.metadata.get("checkpoint_id"), Some(&json!(checkpoint)));
    let source = world.events(&task).await;
    let made = source.iter().find(|event| event.event.as_str() == "vendor.checkpoint.created");
    let by_event = json!({"mode": "from_checkpoint",
        "checkpoint_id": checkpoint, "checkpoint_event_id": made.unwrap().envelope.id});
    assert_eq!(world.replayed(&task, by_event).await.status, TaskState::Completed);
}

#[tokio::test]
async fn what_cannot_be_carried_out_is_refused_and_names_the_parameter() {
    let world = World::new().await;
    let (task, checkpoint) = world.run().await;
    let llm = |more: Value| {
        let mut it = json!({"kind": "llm_provider_response", "value": 1});
        it.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"mode": "with_overrides", "override": {"llm:main:1": it}})
    };
    let wrong = format!("sha256:{}", "a".repeat(64));
    let first = world.events(&task).await[0].envelope.id.clone();
    let cases = [
        (json!({"mode": "sideways"}), "mode"),
        (
            json!({"mode": "exact", "override": {"llm:main:1": {"kind": "time", "value": 1}}}),
            "override",
        ),
        (llm(json!({"sha256": wrong})), "override.llm:main:1.sha256"),
        (llm(json!({"kind": "host_fact"})), "override.llm:main:1.kind"),
        (llm(json!({"event_id": "event_nope"})), "override.llm:main:1.event_id"),
        (llm(json!({"artifact_id": "artifact_nope"})), "override.llm:main:1.artifact_id"),
        (
            json!({"mode": "with_overrides", "override":
            {"llm:nope:1": {"kind": "llm_provider_response", "value": 1}}}),
            "override.llm:nope:1",
        ),
        (json!({"mode": "from_checkpoint"}), "checkpoint_id"),
        (json!({"mode": "from_checkpoint", "checkpoint_id": "artifact_nope"}), "checkpoint_id"),
        (json!({"mode": "from_checkpoint", "checkpoint_event_id": first}), "checkpoint_event_id"),
        (
            json!({"mode": "from_checkpoint", "checkpoint_id": checkpoint,
            "override": {"llm:main:1": {"kind": "llm_provider_response", "value": 1}}}),
            "override.llm:main:1",
        ),
        (json!({"metadata": {"executor": "nobody"}}), "metadata.executor"),
    ];
    let before = world.harness.field().head();
    for (body, param) in cases {
        let refused = world.replay(&task, body.clone()).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::InvalidRequest, "{body}");
        assert_eq!(refused.param.as_deref(), Some(param), "{body}");
    }
    assert_eq!(world.harness.field().head(), before);
    let open = world.submit().await;
    let refused = world.replay(&open, json!({})).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
    let refused = world.replay("task_nope", json!({})).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn the_same_key_replays_once() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let asked = asked_under("boss", "again");
    let request = quipu_wire::harn::ReplayTaskRequest::default();
    let one = world.harness.replay_task(&asked, &task, request.clone()).await.unwrap();
    let other = world.harness.replay_task(&asked, &task, request).await.unwrap();
    assert_eq!(one.envelope.id, other.envelope.id);
}

#[tokio::test]
async fn a_replay_of_a_replay_has_that_replay_as_its_source() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let body = json!({"mode": "with_overrides", "override": {
        "mcp:crm:1": {"kind": "mcp_tool_return", "value": {"tier": "tin"}}}});
    let first = world.replayed(&task, body).await.envelope.id;
    let second = world.replayed(&first, json!({})).await;
    assert_eq!(second.status, TaskState::Completed);
    let of_first = world.events(&first).await;
    let of_second = world.events(&second.envelope.id).await;
    let ids: Vec<&String> =
        of_first.iter().filter(|e| e.replayed).map(|e| &e.envelope.id).collect();
    let repeats = of_second.iter().filter(|event| event.replayed);
    let repeats: Vec<&String> = repeats
        .map(|event| event.replay.as_ref().unwrap().original_event_id.as_ref().unwrap())
        .collect();
    assert_eq!(repeats, ids);
    let receipt = world.receipt(&second.envelope.id).await;
    assert_eq!(receipt.deltas, Some(Vec::new()), "it repeats the answers of its source");
    assert_eq!(receipt.chain.previous_receipt_hash, world.receipt(&first).await.chain.receipt_hash);
    let back = json!({"mode": "with_overrides", "override": {
        "mcp:crm:1": {"kind": "mcp_tool_return", "value": {"tier": "gold"}}}});
    let third = world.replayed(&first, back).await.envelope.id;
    let deltas = world.receipt(&third).await.deltas.unwrap();
    assert_eq!(deltas[0].before_sha256, Sha256::of_json(&json!({"tier": "tin"})).ok());
}

#[tokio::test]
async fn a_replay_that_was_interrupted_comes_to_the_same_after_a_restart() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let done = world.replayed(&task, json!({})).await.envelope.id;
    let before = (world.receipt(&done).await, world.events(&done).await);
    let world = world.reopen().await;
    assert_eq!((world.receipt(&done).await, world.events(&done).await), before);
    let next = world.replayed(&task, json!({})).await;
    assert_eq!(next.status, TaskState::Completed);
}

#[tokio::test]
async fn the_divergence_shows_the_first_difference_and_the_changed_answers() {
    let world = World::new().await;
    let (task, _) = world.run().await;
    let same = world.replayed(&task, json!({})).await.envelope.id;
    let none = world.harness.divergence(&caller("boss"), &same).await.unwrap();
    assert!(!none.diverged && none.first_difference.is_none() && none.output.equal, "{none:?}");
    let body = json!({"mode": "with_overrides", "override": {
        "mcp:crm:1": {"kind": "mcp_tool_return", "value": {"tier": "tin"}},
        "llm:main:2": {"kind": "llm_provider_response", "value": {"content": "ship it"}}}});
    let other = world.replayed(&task, body).await.envelope.id;
    let some = world.harness.divergence(&caller("boss"), &other).await.unwrap();
    assert!(some.diverged);
    let keys: Vec<&str> = some.dependencies.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["mcp:crm:1"], "a substitute that says the same is no change");
    let first = some.first_difference.unwrap();
    let source = world.events(&task).await;
    let tool = source.iter().find(|event| event.payload.get("key") == Some(&json!("mcp:crm:1")));
    assert_eq!(first.source.unwrap().event_id, tool.unwrap().envelope.id);
    let replayed = world.harness.event(&caller("boss"), &first.replay.unwrap().event_id).await;
    assert_eq!(replayed.unwrap().payload.get("key"), Some(&json!("mcp:crm:1")));
    assert_eq!(some.output.source, Some(json!({"price": 49})));
    assert_eq!(some.output.replay, None, "nothing ran, so nobody knows");
    let refused = world.harness.divergence(&caller("boss"), &task).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::Conflict);
}

#[tokio::test]
async fn a_source_that_failed_is_replayed_to_the_same_failure() {
    let world = World::new().await;
    let task = world.submit().await;
    world.claim("worker", &task).await;
    world.record(&task, "llm:main:1", json!("no")).await;
    let request = quipu_wire::harn::FailTaskRequest::parse(
        json!({"code": "model_refused", "message": "it said no"}),
    );
    let asked = super::runs::asked("worker");
    world.harness.fail_task(&asked, &task, request.unwrap()).await.unwrap();
    world.settled(&task).await;
    let replay = world.replayed(&task, json!({})).await;
    assert_eq!(replay.status, TaskState::Failed);
    assert_eq!(replay.failure.unwrap().code, "model_refused");
    let receipt = world.receipt(&replay.envelope.id).await;
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
    assert_eq!(receipt.replay_input.determinism, Determinism::ByteDeterministic);
}
