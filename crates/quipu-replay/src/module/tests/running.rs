//! What a module is given and what comes of it.

use serde_json::{Value, json};

use quipu_wire::harn::{DependencyKind, Sha256};

use super::modules::*;
use crate::module::*;

fn returns(source: &str, table: &[(&str, Value)]) -> Value {
    completed(run(&compiled(source), &policy(), &input(), &mut Table::of(table)))
}

#[test]
fn the_twin_of_the_published_module_runs() {
    let twin = compiled(include_str!("../../../fixtures/replay-twin.harn"));
    let mut nobody = |_: &Request| Answer::Unavailable;
    for (given, message) in [(json!({"message": "hi"}), "hi"), (json!({}), ""), (json!(null), "")] {
        let value = completed(run(&twin, &policy(), &given, &mut nobody));
        assert_eq!(value, json!({"message": message, "verdict": "approved"}));
    }
}

#[test]
fn each_question_has_its_key_its_kind_and_the_digest_of_its_arguments() {
    let mut table = Table::complete();
    let value = completed(run(&compiled(ASKS), &policy(), &input(), &mut table));
    let expected = json!({"verdict": "approved", "at": 1_777_000_000_000_u64,
        "found": [{"title": "a hit", "score": 2}], "known": 12});
    assert_eq!(value, expected);
    let asked: Vec<_> = table.asked.iter().map(|it| (it.key.as_str(), it.kind)).collect();
    let expected = [
        ("llm:main:1", DependencyKind::LlmProviderResponse),
        ("time:1", DependencyKind::Time),
        ("secret:token", DependencyKind::SecretValue),
        ("host:tools.invoke:1", DependencyKind::ToolResult),
        ("llm:main:2", DependencyKind::LlmProviderResponse),
    ];
    assert_eq!(asked, expected);
    let first = &table.asked[0];
    assert_eq!(first.arguments, json!(["Is this fine? a plan"]));
    assert_eq!(first.sha256, Sha256::of_json(&first.arguments).unwrap());
    assert_eq!(first.capability, "llm.call");
}

#[test]
fn a_model_may_be_answered_for_in_plain_words_or_as_a_provider_does() {
    let source = "pub fn entry(harness: Harness, input: any) {\n const a = harness.llm.call(\"q\")\n return [a.text, a.model, a.input_tokens]\n}";
    let completion = json!({"id": "x", "model": "m", "usage": {"prompt_tokens": 7},
        "choices": [{"message": {"role": "assistant", "content": "yes"}}]});
    for (answer, expected) in [
        (json!("yes"), json!(["yes", "", 0])),
        (json!({"text": "yes", "input_tokens": 3}), json!(["yes", "", 3])),
        (completion, json!(["yes", "m", 7])),
    ] {
        assert_eq!(returns(source, &[("llm:main:1", answer)]), expected);
    }
}

#[test]
fn a_failure_of_whoever_is_asked_can_be_caught() {
    let source = "pub fn entry(harness: Harness, input: any) {\n try {\n return harness.tools.invoke(\"x\")\n } catch (e) {\n return e.code\n }\n}";
    let error = json!({"$error": {"code": "timeout", "message": "it took too long"}});
    assert_eq!(returns(source, &[("host:tools.invoke:1", error.clone())]), json!("timeout"));
    let source =
        "pub fn entry(harness: Harness, input: any) {\n return harness.tools.invoke(\"x\")\n}";
    let mut table = Table::of(&[("host:tools.invoke:1", error)]);
    let diagnostic = failed(run(&compiled(source), &policy(), &input(), &mut table));
    assert_eq!(diagnostic.code, "harn_throw");
    assert!(diagnostic.message.contains("it took too long"), "{diagnostic}");
}

#[test]
fn a_secret_is_asked_for_once_however_often_it_is_read() {
    let source = "pub fn entry(harness: Harness, input: any) {\n const a = harness.secrets.read(\"token\")\n const b = harness.secrets.read(\"token\")\n return a == b\n}";
    let mut table = Table::complete();
    let value = completed(run(&compiled(source), &policy(), &input(), &mut table));
    assert_eq!(value, json!(true));
    assert_eq!(table.keys(), ["secret:token"]);
}

#[test]
fn a_secret_does_not_come_out_in_an_output_or_a_diagnostic() {
    let read = "pub fn entry(harness: Harness, input: any) {\n const t = harness.secrets.read(\"token\")\n";
    for (rest, code) in [
        ("return \"bearer \" + t", "secret_returned"),
        ("return {a: [{b: t}]}", "secret_returned"),
        ("throw \"cannot use \" + t", "harn_throw"),
    ] {
        let module = compiled(&format!("{read} {rest}\n}}"));
        let diagnostic = failed(run(&module, &policy(), &input(), &mut Table::complete()));
        assert_eq!(diagnostic.code, code);
        assert!(!format!("{diagnostic:?}").contains("s3cret"), "{diagnostic}");
    }
}

#[test]
fn a_question_says_whether_it_holds_a_secret_and_has_no_digest_of_it() {
    let mut table = Table::complete();
    completed(run(&compiled(ASKS), &policy(), &input(), &mut table));
    let holding = table.asked.iter().filter(|request| request.holds_secret);
    let keys: Vec<_> = holding.map(|request| request.key.as_str()).collect();
    assert_eq!(keys, ["host:tools.invoke:1"]);
    let arguments = json!(["search", {"query": "mostly", "token": "[secret]"}]);
    let digest = Sha256::of_json(&arguments).unwrap();
    assert_eq!(table.asked[3].sha256, digest, "a digest of a secret could be guessed");
}

#[test]
fn a_whole_number_is_the_same_live_as_from_a_recording() {
    let source = "pub fn entry(harness: Harness, input: any) {\n return to_string(harness.clock.timestamp())\n}";
    for live in [json!(2.0), json!(2)] {
        assert_eq!(returns(source, &[("time:1", live)]), json!("2"));
    }
}
