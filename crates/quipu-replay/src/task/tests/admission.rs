//! Every reason to refuse a replay before it runs, with its code and its parameter.

use serde_json::{Value, json};

use quipu_wire::harn::{HarnError, ReplayTaskRequest, Sha256, TaskState};

use super::recordings::three_answers;
use crate::task::*;

/// The status and the parameter of a refusal.
#[track_caller]
fn refused(recording: &super::recordings::Recording, request: Value) -> (u16, String) {
    let error: HarnError = recording.admit(request).unwrap_err().into();
    let param = error.param.clone().unwrap();
    assert!(error.code.http_status() == 409 || error.message.starts_with(&param), "{error}");
    (error.code.http_status(), param)
}

#[expect(clippy::needless_pass_by_value, reason = "a literal reads better without a reference")]
fn one(key: &str, fields: Value) -> Value {
    json!({"mode": "with_overrides", "override": {key: fields}})
}

#[test]
fn a_task_that_is_not_over_cannot_be_replayed() {
    for state in TaskState::ALL.iter().filter(|state| !state.is_terminal()) {
        let mut recording = three_answers();
        recording.state = *state;
        assert_eq!(refused(&recording, json!({})), (409, "task_id".to_owned()));
    }
}

#[test]
fn an_override_must_fit_what_was_recorded() {
    let source = three_answers();
    for (request, param) in [
        (
            one("llm:main:9", json!({"kind": "llm_provider_response", "value": 1})),
            "override.llm:main:9",
        ),
        (one("llm:main:1", json!({"kind": "time", "value": 1})), "override.llm:main:1.kind"),
        (
            one(
                "llm:main:1",
                json!({"kind": "llm_provider_response", "value": 1, "event_id": "event_0009"}),
            ),
            "override.llm:main:1.event_id",
        ),
        (
            one(
                "llm:main:1",
                json!({"kind": "llm_provider_response", "value": 1, "sha256": Sha256::of(b"2")}),
            ),
            "override.llm:main:1.sha256",
        ),
        (
            one(
                "llm:main:1",
                json!({"kind": "llm_provider_response", "artifact_id": "artifact_x"}),
            ),
            "override.llm:main:1.artifact_id",
        ),
    ] {
        assert_eq!(refused(&source, request), (400, param.to_owned()));
    }
}

#[test]
fn a_declared_hash_is_that_of_the_canonical_value() {
    let source = three_answers();
    let declared = Sha256::of(br#"{"a":1,"b":2}"#);
    let fields =
        json!({"kind": "llm_provider_response", "value": {"b": 2.0, "a": 1}, "sha256": declared});
    assert_eq!(
        source.admit(one("llm:main:1", fields)).unwrap().overrides["llm:main:1"].sha256,
        declared
    );
}

#[test]
fn in_the_declared_mode_a_placeholder_is_believed() {
    let source = three_answers();
    let placeholder = Sha256::of(b"placeholder");
    let body = one(
        "llm:main:1",
        json!({"kind": "llm_provider_response", "value": 1, "sha256": placeholder}),
    );
    let request = ReplayTaskRequest::parse(Some(body)).unwrap();
    let plan =
        admit(&request, &source, ReplayIdentity::of("task_01"), HashTrust::Declared).unwrap();
    assert_eq!(plan.overrides["llm:main:1"].sha256, placeholder);
}

#[test]
fn value_and_artifact_may_both_be_given_only_if_they_are_the_same() {
    let mut source = three_answers();
    let key = (ReferenceKind::Artifact, "artifact_x".to_owned());
    let both = one(
        "llm:main:1",
        json!({"kind": "llm_provider_response", "value": 1, "artifact_id": "artifact_x"}),
    );
    source.stored.insert(key.clone(), Availability::Present(Some(Sha256::of(b"2"))));
    assert_eq!(refused(&source, both.clone()), (400, "override.llm:main:1.artifact_id".to_owned()));
    source.stored.insert(key, Availability::Present(Some(Sha256::of(b"1"))));
    assert_eq!(source.admit(both).unwrap().overrides["llm:main:1"].sha256, Sha256::of(b"1"));
}

#[test]
fn a_checkpoint_must_exist_and_both_names_must_mean_the_same() {
    let mut source = three_answers();
    source.mark("artifact_late");
    let from = |fields: Value| {
        let mut request = json!({"mode": "from_checkpoint"});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    for (request, param) in [
        (from(json!({"checkpoint_id": "artifact_x"})), "checkpoint_id"),
        (from(json!({"checkpoint_event_id": "event_0000"})), "checkpoint_event_id"),
        (
            from(json!({"checkpoint_id": "artifact_late", "checkpoint_event_id": "event_0004"})),
            "checkpoint_event_id",
        ),
        (
            from(json!({"checkpoint_id": "artifact_mid",
                        "override": {"llm:main:1": {"kind": "llm_provider_response", "value": 1}}})),
            "override.llm:main:1",
        ),
    ] {
        assert_eq!(refused(&source, request), (400, param.to_owned()));
    }
}

#[test]
fn a_time_of_the_lifecycle_must_be_a_time() {
    let mut source = super::recordings::Recording::new();
    source.answer("time:completed_at", json!("2026-05-01T08:00:09Z"));
    let source = source.completed();
    let request = one("time:completed_at", json!({"kind": "time", "value": "later"}));
    assert_eq!(refused(&source, request), (400, "override.time:completed_at.value".to_owned()));
}

#[test]
fn plans_are_the_same_exactly_if_source_mode_and_substitutes_are() {
    let source = three_answers();
    let digest = |request: Value| {
        source.admit(request).unwrap().digest(&crate::receipt::SecretHashing::Omit)
    };
    let with =
        |value: Value| one("llm:main:1", json!({"kind": "llm_provider_response", "value": value}));
    assert_eq!(digest(with(json!({"a": 1, "b": 2}))), digest(with(json!({"b": 2, "a": 1}))));
    assert_ne!(digest(with(json!(1))), digest(with(json!(2))));
    assert_ne!(digest(json!({})), digest(json!({"mode": "with_overrides"})));
}
