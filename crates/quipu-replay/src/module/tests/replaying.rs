//! A recorded run again: exactly, with another answer, from a checkpoint, and where something is missing.

use serde_json::{Value, json};

use quipu_wire::harn::Sha256;

use super::modules::*;
use crate::{
    module::*,
    task::{Material, UnavailableKind},
};

/// Runs live and records.
fn recorded() -> (Value, Recording) {
    let mut table = Table::complete();
    let value = completed(run(&compiled(ASKS), &policy(), &input(), &mut table));
    (value, table.recording())
}

#[track_caller]
fn value_of(replay: &ModuleReplay) -> Value {
    let ModuleEnd::Completed { value, .. } = &replay.end else { panic!("{:?}", replay.end) };
    value.clone()
}

#[track_caller]
fn missing_in(replay: ModuleReplay) -> (UnavailableKind, String) {
    let ModuleEnd::Unavailable(missing) = replay.end else { panic!("{:?}", replay.end) };
    assert_eq!(replay.report.first_unavailable.as_ref(), Some(&missing));
    (missing.kind, missing.id)
}

#[test]
fn an_exact_replay_gives_what_the_run_gave_and_asks_what_it_asked() {
    let (value, recording) = recorded();
    let replay = recording.replay(ASKS, &json!({}));
    assert_eq!(value_of(&replay), value);
    assert_eq!(replay.report.request_drift, []);
    assert_eq!(replay.report.consulted.len(), 5);
    assert_eq!(replay.failure(), None);
}

#[test]
fn another_answer_changes_what_depends_on_it_and_the_questions_that_differ_are_told() {
    let (_, recording) = recorded();
    let other = json!({"llm:main:1": {"kind": "llm_provider_response", "value": "hardly"}});
    let replay = recording.replay(ASKS, &other);
    assert_eq!(value_of(&replay)["verdict"], "approved", "the second answer is still by its key");
    let drifted: Vec<_> = replay.report.request_drift.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(drifted, ["host:tools.invoke:1", "llm:main:2"]);
}

#[test]
fn the_published_override_is_an_answer_that_a_module_understands() {
    let (_, recording) = recorded();
    let published = json!({"id": "chatcmpl_fixture_1",
        "choices": [{"message": {"role": "assistant", "content": "refused"}}]});
    let other = json!({"llm:main:2": {"kind": "llm_provider_response", "value": published}});
    assert_eq!(value_of(&recording.replay(ASKS, &other))["verdict"], "refused");
}

#[test]
fn a_question_that_was_never_recorded_ends_the_replay_and_the_first_is_named() {
    let (_, recording) = recorded();
    let more = ASKS.replace(
        "const second",
        "const u = harness.random.uuid()\n  const v = harness.clock.now_ms()\n  const second",
    );
    let (kind, id) = missing_in(recording.replay(&more, &json!({})));
    assert_eq!((kind, id.as_str()), (UnavailableKind::NeverRecorded, "host:random.uuid:1"));
}

#[test]
fn an_answer_that_is_gone_or_altered_is_named() {
    let (_, mut recording) = recorded();
    recording.find("time:1").material = Material::Value(json!(1));
    recording.find("llm:main:2").material = Material::Gone { reason: "purged".to_owned() };
    assert_eq!(missing_in(recording.replay(ASKS, &json!({}))).1, "time:1");
    let overridden = json!({"time:1": {"kind": "time", "value": 5}});
    assert_eq!(missing_in(recording.replay(ASKS, &overridden)).1, "llm:main:2");
}

#[test]
fn a_secret_comes_from_the_vault_only_if_it_is_the_same() {
    let (_, mut recording) = recorded();
    recording.vault.insert("secret:token".to_owned(), json!("changed since"));
    assert_eq!(missing_in(recording.replay(ASKS, &json!({}))).1, "secret:token");
    let given = json!({"secret:token": {"kind": "secret_value", "value": "something else"}});
    assert_eq!(value_of(&recording.replay(ASKS, &given))["known"], 14);
}

#[test]
fn an_answer_in_an_artifact_is_read_from_it_or_missed() {
    let (value, mut recording) = recorded();
    let answer = json!("mostly");
    let dependency = recording.find("llm:main:1");
    dependency.material = Material::Artifact("artifact_1".to_owned());
    dependency.sha256 = Sha256::of_json(&answer).unwrap();
    assert_eq!(missing_in(recording.replay(ASKS, &json!({}))).1, "artifact_1");
    recording.artifacts.insert("artifact_1".to_owned(), answer);
    assert_eq!(value_of(&recording.replay(ASKS, &json!({}))), value);
}

#[test]
fn an_override_that_the_module_cannot_use_fails_it_in_words() {
    let (_, recording) = recorded();
    let other = json!({"time:1": {"kind": "time", "value": "noon"}});
    let failure = recording.replay(ASKS, &other).failure().unwrap();
    assert_eq!(failure.code, "module_failed");
    assert!(failure.message.contains("capability_result_type"), "{failure:?}");
}

#[test]
fn from_a_checkpoint_the_rest_is_replayed_and_nothing_before_it_is_asked_for() {
    let (value, mut recording) = recorded();
    let module = compiled(ASKS);
    let mut table = Table::complete();
    table.answers.remove("llm:main:2");
    let (_, snapshot) = suspended(run(&module, &policy(), &input(), &mut table));
    recording.find("llm:main:1").material = Material::Gone { reason: "purged".to_owned() };
    let plan = recording.plan(&json!({}));
    let replay =
        replay_module_from(&module, &policy(), &snapshot, &plan, &recording).unwrap().unwrap();
    assert_eq!(value_of(&replay), value);
    let consulted: Vec<_> = replay.report.consulted.iter().map(String::as_str).collect();
    assert_eq!(consulted, ["llm:main:2", "secret:token"]);
    let refused = replay_module_from(&module, &policy(), b"nothing", &plan, &recording).unwrap();
    assert_eq!(refused.unwrap_err(), SnapshotError::NotASnapshot);
}
