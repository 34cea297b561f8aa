//! What a worker that replays is told.

use serde_json::json;

use quipu_wire::harn::{ResolutionSource, Sha256};

use super::recordings::three_answers;
use crate::task::*;

#[test]
fn a_worker_is_given_the_recorded_or_the_overridden_answer_and_told_which() {
    let source = three_answers();
    let plan = source
        .admit(json!({"mode": "with_overrides", "override": {
            "llm:main:1": {"kind": "llm_provider_response", "value": "else"}}}))
        .unwrap();
    let mut oracle = Oracle::new(&plan);
    let mut ask = |key: &str, request: &str| {
        let digest = Some(Sha256::of(request.as_bytes()));
        oracle.resolve(key, digest, source.dependency_of(key), &source).unwrap()
    };
    let overridden = ask("llm:main:1", "llm:main:1");
    assert_eq!(overridden.source, ResolutionSource::Overridden);
    assert_eq!(overridden.answer, Answer::Value(json!("else")));
    assert!(!overridden.divergent);
    let recorded = ask("mcp:github:7", "something else");
    assert_eq!(recorded.source, ResolutionSource::Recorded);
    assert_eq!(
        recorded.answer,
        Answer::Value(json!([1, 2])),
        "a question that differs is answered"
    );
    assert!(recorded.divergent);
    ask("mcp:github:7", "something else again");
    let report = oracle.finish();
    assert_eq!(report.request_drift.len(), 1, "asking twice is told once");
    assert_eq!(report.request_drift[0].key, "mcp:github:7");
    assert_eq!(report.consulted.len(), 2);
    assert_eq!(report.first_unavailable, None);
}

#[test]
fn a_key_that_was_never_recorded_fails_the_replay_for_good() {
    let source = three_answers();
    let plan = source.admit(json!({})).unwrap();
    let mut oracle = Oracle::new(&plan);
    let missing = oracle.resolve("llm:main:9", None, None, &source).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "llm_provider_response llm:main:9 is unavailable: it was never recorded"
    );
    let key = "llm:main:1";
    let again = oracle.resolve(key, None, source.dependency_of(key), &source).unwrap_err();
    assert_eq!(again, missing, "the first one is named, whatever is asked later");
    assert_eq!(oracle.finish().first_unavailable, Some(missing));
}

#[test]
fn a_secret_is_given_only_by_an_override() {
    let source = three_answers();
    let key = "secret:token";
    let plan = source.admit(json!({})).unwrap();
    let missing =
        Oracle::new(&plan).resolve(key, None, source.dependency_of(key), &source).unwrap_err();
    assert_eq!(missing.id, key);
    let request = json!({"mode": "with_overrides", "override": {key: {"kind": "secret_value", "value": "s3cret"}}});
    let plan = source.admit(request).unwrap();
    let given = Oracle::new(&plan).resolve(key, None, source.dependency_of(key), &source).unwrap();
    assert_eq!(given.answer, Answer::Value(json!("s3cret")));
}

#[test]
fn where_one_side_says_nothing_of_its_question_nothing_diverges() {
    let mut source = three_answers();
    source.dependency_mut("llm:main:1").request_sha256 = None;
    let plan = source.admit(json!({})).unwrap();
    let mut oracle = Oracle::new(&plan);
    for (key, request) in [("llm:main:1", Some(Sha256::of(b"q"))), ("llm:main:2", None)] {
        let resolved = oracle.resolve(key, request, source.dependency_of(key), &source).unwrap();
        assert!(!resolved.divergent, "{key}");
    }
}
