//! Modules that ask too much, do too much or are told what they cannot use. Each ends in a word and a sentence.

use serde_json::{Value, json};

use super::modules::*;
use crate::module::*;

#[track_caller]
fn check(source: &str, table: &[(&str, Value)], code: &str) -> Diagnostic {
    let diagnostic = failed(run(&compiled(source), &policy(), &input(), &mut Table::of(table)));
    assert_eq!(diagnostic.code, code, "{diagnostic}");
    assert!(!diagnostic.message.is_empty());
    diagnostic
}

#[test]
fn a_loop_without_end_runs_out_of_steps() {
    check("pub fn entry(input: any) {\n while true { }\n return 1\n}", &[], "execution_fuel");
}

#[test]
fn a_recursion_without_end_runs_out_of_frames() {
    let source = "fn f(n: int) { return 1 + f(n + 1) }\npub fn entry(input: any) { return f(0) }";
    check(source, &[], "frame_limit");
}

#[test]
fn values_that_grow_without_end_are_stopped() {
    let text = "pub fn entry(input: any) {\n let s = \"aaaaaaaaaaaaaaaa\"\n while true { s = s + s }\n return s\n}";
    check(text, &[], "value_byte_limit");
    let list =
        "pub fn entry(input: any) {\n let l: any = [1]\n while true { l = [l] }\n return l\n}";
    check(list, &[], "value_depth_limit");
}

#[test]
fn a_module_cannot_import_another() {
    let source = "import \"./other\"\npub fn entry(input: any) { return 1 }";
    check(source, &[], "portable_import");
}

#[test]
fn a_capability_that_was_not_granted_is_refused_by_name() {
    let source = "pub fn entry(harness: Harness, input: any) { return harness.env.get(\"HOME\") }";
    let diagnostic = check(source, &[], "capability_denied");
    assert!(diagnostic.message.contains("env.get"), "{diagnostic}");
}

#[test]
fn an_answer_of_the_wrong_type_is_refused() {
    let clock = "pub fn entry(harness: Harness, input: any) { return harness.clock.now_ms() }";
    for wrong in [json!("noon"), json!(null), json!({"$float": "nan"}), json!(1.5)] {
        check(clock, &[("time:1", wrong)], "capability_result_type");
    }
    let model =
        "pub fn entry(harness: Harness, input: any) { return harness.llm.call(\"q\").text }";
    for wrong in [json!(7), json!({}), json!({"choices": []}), json!({"transcript": 1})] {
        check(model, &[("llm:main:1", wrong)], "capability_result_type");
    }
    check(clock, &[("time:1", json!({"$int": "9223372036854775808"}))], "input_integer");
}

#[test]
fn answers_and_inputs_that_are_too_large_or_too_deep_are_refused() {
    let source =
        "pub fn entry(harness: Harness, input: any) { return harness.tools.invoke(\"x\") }";
    let large = json!("x".repeat(2 * 1024 * 1024));
    check(source, &[("host:tools.invoke:1", large.clone())], "value_byte_limit");
    let deep = (0..120).fold(json!(1), |inner, _| json!([[inner]]));
    for given in [large, deep] {
        let run = run(
            &compiled("pub fn entry(input: any) { return 1 }"),
            &policy(),
            &given,
            &mut |_: &Request| Answer::Unavailable,
        );
        let diagnostic = failed(run);
        let codes = ["value_byte_limit", "value_depth_limit", "not_canonical"];
        assert!(codes.contains(&diagnostic.code.as_str()), "{diagnostic}");
    }
}

#[test]
fn questions_without_end_are_stopped() {
    let source = "pub fn entry(harness: Harness, input: any) {\n let t = 0\n while true { t = t + harness.clock.now_ms() }\n return t\n}";
    let mut answers = |_: &Request| Answer::Value(json!(1));
    let diagnostic = failed(run(&compiled(source), &policy(), &input(), &mut answers));
    assert_eq!(diagnostic.code, "too_many_calls");
}

#[test]
fn much_work_before_many_questions_is_stopped() {
    let source = "pub fn entry(harness: Harness, input: any) {\n let t = 0\n while t < 60000 { t = t + 1 }\n while true { t = t + harness.clock.now_ms() }\n return t\n}";
    let mut answers = |_: &Request| Answer::Value(json!(1));
    let diagnostic = failed(run(&compiled(source), &policy(), &input(), &mut answers));
    assert_eq!(diagnostic.code, "too_much_work");
}

#[test]
fn a_key_that_would_be_too_long_is_refused() {
    let source = format!(
        "pub fn entry(harness: Harness, input: any) {{ return harness.secrets.read(\"{}\") }}",
        "n".repeat(400)
    );
    check(&source, &[], "key_too_long");
}
