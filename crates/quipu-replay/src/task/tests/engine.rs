//! The three modes, and what happens when something is missing.

use serde_json::{Value, json};

use crate::receipt::SecretHashing;
use quipu_wire::harn::{DeltaOperation, OutcomeStatus, ReplayMode, Sha256};

use super::recordings::{Recording, three_answers};
use crate::task::*;

#[expect(clippy::needless_pass_by_value, reason = "a literal reads better without a reference")]
fn overriding(key: &str, kind: &str, value: Value) -> Value {
    json!({"mode": "with_overrides", "override": {key: {"kind": kind, "value": value, "reason": "what if"}}})
}

#[test]
fn an_exact_replay_repeats_every_event_in_order_with_all_six_members() {
    let recording = three_answers();
    let (events, outcome) = recording.run(json!({}));
    assert_eq!(events.len(), recording.events.len());
    for (number, (event, source)) in events.iter().zip(&recording.events).enumerate() {
        assert_eq!(event.event, source.event);
        assert_eq!(event.payload.sha256(), source.payload_sha256);
        assert_eq!(event.sequence, number as u64);
        assert_eq!(event.replay.source_task_id, "task_source_01");
        assert_eq!(event.replay.replay_task_id, "task_replay_01");
        assert_eq!(event.replay.original_event_id.as_ref(), Some(&source.event_id));
        assert_eq!(
            event.replay.replay_cursor.as_deref(),
            Some(format!("replay:{number:010}").as_str())
        );
        assert_eq!(event.replay.mode, Some(ReplayMode::Exact));
        assert_eq!(event.replay.override_key, None);
        assert_ne!(event.event_id, source.event_id);
    }
    assert!(events.is_sorted_by(|one, other| one.event_id < other.event_id));
    assert_eq!(outcome.first_unavailable, None);
    assert_eq!(outcome.applied, []);
    assert_eq!(outcome.lifecycle.final_state, Some(OutcomeStatus::Succeeded));
    assert_eq!(outcome.lifecycle.started_at.as_deref(), Some("2026-05-01T08:00:01Z"));
}

#[test]
fn an_override_changes_its_own_event_and_no_other() {
    let recording = three_answers();
    let (_, exact) = recording.run(json!({}));
    let (events, outcome) = recording.run(overriding(
        "llm:main:1",
        "llm_provider_response",
        json!({"content": "else"}),
    ));
    let changed: Vec<_> =
        events.iter().filter(|event| event.replay.override_key.is_some()).collect();
    let [event] = changed.as_slice() else { panic!("{changed:?}") };
    assert_eq!(event.replay.override_key.as_deref(), Some("llm:main:1"));
    assert_eq!(event.replay.receipt_delta_id.as_deref(), Some("delta_llm_main_1"));
    let after = Sha256::of_json(&json!({"content": "else"})).unwrap();
    assert_eq!(event.payload.sha256(), after);
    let [applied] = outcome.applied.as_slice() else { panic!("{outcome:?}") };
    assert_eq!((applied.key.as_str(), applied.operation), ("llm:main:1", DeltaOperation::Replace));
    assert_eq!(applied.before, Some(recording.dependency_of("llm:main:1").unwrap().sha256));
    assert_eq!(applied.after, after);
    assert_eq!(applied.reason.as_deref(), Some("what if"));
    assert_eq!(outcome.event_log_sha256, exact.event_log_sha256, "the source is the same");
    assert_eq!(outcome.changed_dependencies().len(), 1);
}

#[test]
fn overriding_nothing_is_an_exact_replay_by_another_name() {
    let recording = three_answers();
    let (exact, one) = recording.run(json!({}));
    let (same, other) = recording.run(json!({"mode": "with_overrides"}));
    assert_eq!(exact.len(), same.len());
    assert!(
        exact.iter().zip(&same).all(|(a, b)| a.payload == b.payload && a.event_id == b.event_id)
    );
    assert_eq!(other.event_log_sha256, one.event_log_sha256);
}

#[test]
fn a_checkpoint_is_where_a_replay_begins() {
    let recording = three_answers();
    let boundary = recording.checkpoint("artifact_mid").unwrap();
    for named in [
        json!({"mode": "from_checkpoint", "checkpoint_id": "artifact_mid"}),
        json!({"mode": "from_checkpoint", "checkpoint_event_id": boundary.event_id}),
        json!({"mode": "from_checkpoint", "checkpoint_id": "artifact_mid", "checkpoint_event_id": boundary.event_id}),
    ] {
        let (events, outcome) = recording.run(named);
        let later = recording.events.iter().filter(|event| event.sequence > boundary.sequence);
        let originals: Vec<_> =
            events.iter().map(|it| it.replay.original_event_id.clone().unwrap()).collect();
        assert_eq!(originals, later.map(|event| event.event_id.clone()).collect::<Vec<_>>());
        assert_eq!(outcome.first_unavailable, None);
        assert_eq!(outcome.lifecycle.created_at.as_deref(), Some("2026-05-01T08:00:00Z"));
    }
}

#[test]
fn the_state_at_a_checkpoint_and_the_payload_of_an_event_can_be_substituted() {
    let recording = three_answers();
    let request = json!({"mode": "from_checkpoint", "checkpoint_id": "artifact_mid", "override": {
        "checkpoint:artifact_mid": {"kind": "checkpoint_value", "value": {"n": 2}}}});
    let (_, outcome) = recording.run(request);
    assert_eq!(outcome.applied[0].key, "checkpoint:artifact_mid");
    assert_eq!(outcome.first_unavailable, None);
    let last = &recording.events.last().unwrap().event_id;
    let key = event_key(last);
    let (events, outcome) =
        recording.run(overriding(&key, "event_payload", json!({"summary": "x"})));
    assert_eq!(events.last().unwrap().replay.override_key.as_ref(), Some(&key));
    assert_eq!(outcome.applied[0].event_id, *last);
}

#[test]
fn a_time_of_the_lifecycle_is_replaced_by_its_override() {
    let mut recording = Recording::new();
    recording.answer("time:started_at", json!("2026-05-01T08:00:01Z"));
    let recording = recording.completed();
    let (_, outcome) =
        recording.run(overriding("time:started_at", "time", json!("2030-01-01T00:00:00Z")));
    assert_eq!(outcome.lifecycle.started_at.as_deref(), Some("2030-01-01T00:00:00Z"));
    assert_eq!(outcome.lifecycle.completed_at.as_deref(), Some("2026-05-01T08:00:03Z"));
}

#[test]
fn an_answer_that_is_gone_fails_an_exact_replay_and_is_added_by_an_override() {
    let mut recording = three_answers();
    recording.dependency_mut("mcp:github:7").material =
        Material::Gone { reason: "it was purged".to_owned() };
    recording.dependency_mut("llm:main:2").material =
        Material::Gone { reason: "it was purged".to_owned() };
    let (events, outcome) = recording.run(json!({}));
    let missing = outcome.first_unavailable.unwrap();
    assert_eq!(missing.to_string(), "mcp_tool_return mcp:github:7 is unavailable: it was purged");
    assert_eq!(missing.override_key.as_deref(), Some("mcp:github:7"));
    assert_eq!(missing.sequence, Some(events.len() as u64), "nothing is emitted from there on");
    let both = json!({"mode": "with_overrides", "override": {
        "mcp:github:7": {"kind": "mcp_tool_return", "value": 1},
        "llm:main:2": {"kind": "llm_provider_response", "value": 2}}});
    let (_, outcome) = recording.run(both);
    assert_eq!(outcome.first_unavailable, None);
    for applied in &outcome.applied {
        assert_eq!((applied.operation, applied.before), (DeltaOperation::Add, None));
    }
    let keys: Vec<_> = outcome.applied.iter().map(|applied| applied.key.as_str()).collect();
    assert_eq!(keys, ["llm:main:2", "mcp:github:7"], "by key, not by event");
}

#[test]
fn an_altered_answer_is_not_replayed() {
    let mut recording = three_answers();
    recording.dependency_mut("llm:main:1").material = Material::Value(json!("forged"));
    let (_, outcome) = recording.run(json!({}));
    let missing = outcome.first_unavailable.unwrap();
    assert_eq!(missing.id, "llm:main:1");
    assert!(!missing.to_string().contains("forged"));
}

#[test]
fn the_first_missing_artifact_memory_or_receipt_is_named() {
    for (kind, word) in [
        (ReferenceKind::Artifact, "artifact"),
        (ReferenceKind::Memory, "memory"),
        (ReferenceKind::Receipt, "receipt"),
    ] {
        let mut recording = three_answers();
        let reference =
            Reference { kind, id: "x_01".to_owned(), sha256: Some(Sha256::of(b"then")) };
        recording.events[3].references.push(reference);
        let failed =
            |recording: &Recording| recording.run(json!({})).1.first_unavailable.unwrap().failure();
        let failure = failed(&recording);
        assert_eq!(failure.code, "replay_dependency_unavailable");
        let first = &failure.details["first_unavailable"];
        assert_eq!(
            (&first["kind"], &first["id"], &first["event_id"], &first["sequence"]),
            (&json!(word), &json!("x_01"), &json!("event_0003"), &json!(3))
        );
        let changed = Availability::Present(Some(Sha256::of(b"now")));
        recording.stored.insert((kind, "x_01".to_owned()), changed);
        assert!(failed(&recording).message.contains("no longer what was recorded"));
        let same = Availability::Present(Some(Sha256::of(b"then")));
        recording.stored.insert((kind, "x_01".to_owned()), same);
        assert_eq!(recording.run(json!({})).1.first_unavailable, None);
    }
}

#[test]
fn an_answer_in_an_artifact_needs_the_artifact() {
    let mut recording = three_answers();
    let dependency = recording.dependency_mut("llm:main:1");
    dependency.material = Material::Artifact("artifact_answer".to_owned());
    let sha256 = dependency.sha256;
    let missing = recording.run(json!({})).1.first_unavailable.unwrap();
    assert_eq!(
        (missing.id.as_str(), missing.override_key.as_deref()),
        ("artifact_answer", Some("llm:main:1"))
    );
    let there = (ReferenceKind::Artifact, "artifact_answer".to_owned());
    recording.stored.insert(there, Availability::Present(Some(sha256)));
    assert_eq!(recording.run(json!({})).1.first_unavailable, None);
}

#[test]
fn a_recording_without_its_end_or_with_events_out_of_order_fails() {
    let mut recording = three_answers();
    recording.events.pop();
    let last = recording.events.last().unwrap().event_id.clone();
    assert_eq!(recording.run(json!({})).1.first_unavailable.unwrap().id, last);
    let mut recording = three_answers();
    recording.events.swap(2, 3);
    for event in &mut recording.events {
        event.previous_event_id = None;
    }
    let missing = recording.run(json!({})).1.first_unavailable.unwrap();
    assert_eq!(
        (missing.id.as_str(), missing.reason.as_str()),
        ("event_0002", "events are out of order")
    );
}

#[test]
fn two_streams_are_compared_up_to_their_first_difference() {
    let side = |event: &str, said: &str| quipu_wire::harn::EventSide {
        event_id: "e".to_owned(),
        event: event.to_owned(),
        sequence: 0,
        sha256: Sha256::of(said.as_bytes()),
    };
    let source = [side("a", "1"), side("b", "2"), side("c", "3")];
    let compare = |other: &[quipu_wire::harn::EventSide]| {
        let mut compared = Comparison::default();
        for index in 0..source.len().max(other.len()) + 1 {
            compared.next(source.get(index).cloned(), other.get(index).cloned());
        }
        compared
    };
    let same = compare(&source);
    assert_eq!((same.events_compared, same.first_difference), (3, None));
    let other = [side("a", "1"), side("b", "x"), side("c", "3")];
    let found = compare(&other).first_difference.unwrap();
    assert_eq!((found.index, found.source.unwrap().sha256), (1, Sha256::of(b"2")));
    let shorter = compare(&source[..2]);
    assert_eq!((shorter.events_compared, shorter.first_difference.unwrap().replay), (3, None));
}

#[test]
fn a_replay_that_is_called_off_ends_as_canceled() {
    let recording = three_answers();
    let plan = recording.admit(json!({})).unwrap();
    let mut replayer = Replayer::new(plan.into());
    for event in &recording.events[..3] {
        replayer.step(event, &recording).unwrap();
    }
    let outcome = replayer.cancel();
    assert_eq!(outcome.lifecycle.final_state, Some(OutcomeStatus::Canceled));
    assert_eq!((outcome.events, outcome.first_unavailable), (3, None));
}

#[test]
fn a_plan_that_is_kept_has_no_secret_and_comes_to_the_same() {
    let recording = three_answers();
    let request = json!({"mode": "with_overrides", "override": {
        "secret:token": {"kind": "secret_value", "value": "another"},
        "llm:main:1": {"kind": "llm_provider_response", "value": null}}});
    for secrets in [SecretHashing::Omit, SecretHashing::Keyed([3; 32])] {
        let plan = recording.admit(request.clone()).unwrap();
        let kept = plan.clone().without_secrets(&secrets);
        let text = serde_json::to_string(&kept).unwrap();
        assert!(!text.contains("another"), "{text}");
        let read: ReplayPlan = serde_json::from_str(&text).unwrap();
        assert_eq!(read, kept);
        assert_eq!(read.digest(&secrets), plan.digest(&secrets));
        let (emitted, outcome) = recording.run_plan(&read);
        assert_eq!((emitted.len(), outcome.first_unavailable), (9, None));
    }
}

#[test]
fn a_failure_says_again_what_was_missing() {
    let mut recording = three_answers();
    let gone = Material::Gone { reason: "it was erased".to_owned() };
    recording.dependency_mut("mcp:github:7").material = gone;
    let (_, outcome) = recording.run(json!({}));
    let missing = outcome.first_unavailable.unwrap();
    assert_eq!(Unavailable::of_failure(&missing.failure()), Some(missing.clone()));
    let mut other = missing.failure();
    other.code = "task_failed".to_owned();
    assert_eq!(Unavailable::of_failure(&other), None);
}
