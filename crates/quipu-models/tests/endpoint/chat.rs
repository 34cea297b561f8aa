//! `/chat/completions`: summaries, and what is not taken for one.

use quipu_models::{
    ChatModel, RemoteJudge, RemoteSummarizer,
    testing::{Behaviour, TestEndpoint},
};
use quipu_recall::{
    Claim, Disagreement, Method, Summarizer,
    detect::{Judge, JudgeError, Opinion},
};

use super::endpoint;

fn start() -> (TestEndpoint, RemoteSummarizer) {
    let server = TestEndpoint::start().unwrap();
    let summarizer = RemoteSummarizer::new(ChatModel::new(endpoint(&server)));
    (server, summarizer)
}

#[test]
fn a_summary_is_what_the_model_writes_without_control_characters() {
    let (server, summarizer) = start();
    server.write("  The market grows.\u{1b}[31m\nTests are green.\u{0} ");
    let text = summarizer.summarize("2026-03-01 ada, finding: the market grows", 100).unwrap();
    assert_eq!(text, "The market grows.[31m\nTests are green.");
    assert_eq!(summarizer.name(), "words");
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.authorization.as_deref(), Some("Bearer sk-secret"));
    assert!(seen.body["messages"][1]["content"].as_str().unwrap().contains("the market grows"));
    assert!(seen.body["messages"][0]["content"].as_str().unwrap().contains("75 words"));
}

#[test]
fn long_notes_are_cut() {
    let (server, summarizer) = start();
    summarizer.summarize(&"é".repeat(100_000), 100).unwrap();
    let sent = server.seen()[0].body["messages"][1]["content"].as_str().unwrap().len();
    assert!(sent <= 48 * 1024, "{sent}");
}

#[test]
fn what_is_no_text_is_no_summary() {
    for body in [
        "{}",
        "{\"choices\": []}",
        "{\"choices\": [{\"message\": {\"content\": null}}]}",
        "{\"choices\": [{\"message\": {\"content\": \" \\n \"}}]}",
        "no json",
    ] {
        let (server, summarizer) = start();
        server.next([Behaviour::Body(body.to_owned())]);
        let error = summarizer.summarize("notes", 100).unwrap_err();
        assert!(error.to_string().starts_with("no summary: "), "{error}");
    }
    let (server, summarizer) = start();
    server.write(&"long ".repeat(10_000));
    assert!(summarizer.summarize("notes", 100).is_err());
}

fn opinion(written: &str) -> Result<Opinion, JudgeError> {
    let server = TestEndpoint::start().unwrap();
    server.write(written);
    let judge = RemoteJudge::new(ChatModel::new(endpoint(&server)));
    let claim = |content| Claim { content, assumptions: &[], confidence: None, author: 0 };
    let verdict = Disagreement {
        method: Method::Semantic,
        reason: "colours differ".to_owned(),
        sureness: 0.7,
    };
    let opinion = judge.judge(&claim("it is red"), &claim("it is blue"), &verdict);
    let asked = server.seen()[0].body["messages"][1]["content"].as_str().unwrap().to_owned();
    for said in ["it is red", "it is blue", "colours differ"] {
        assert!(asked.contains(said), "{asked}");
    }
    opinion
}

#[test]
fn a_judge_confirms_or_denies_also_within_other_words() {
    let yes = Ok(Opinion::Confirmed(Some("both cannot be".to_owned())));
    let object = "{\"contradiction\": true, \"reason\": \"both\\ncannot be\"}";
    assert_eq!(opinion(object), yes);
    assert_eq!(opinion(&format!("Sure:\n```json\n{object}\n```")), yes);
    assert_eq!(opinion("{\"contradiction\": true}"), Ok(Opinion::Confirmed(None)));
    assert_eq!(opinion("{\"contradiction\": false}"), Ok(Opinion::Denied));
}

#[test]
fn what_is_no_ruling_is_no_opinion() {
    for written in ["yes", "{}", "{\"contradiction\": \"maybe\"}", "}{", "[]"] {
        assert!(opinion(written).is_err(), "{written}");
    }
}
