//! The inspector, as people use it from a shell: it lists the tools, judges their schemas, and calls one.

use std::process::Command;

use serde_json::{Value, json};

use super::{
    installed::{Node, run},
    ways::Way,
};

const PROGRAM: &str = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// The inspector's answer to one request in one generation (`legacy` or `modern`).
#[track_caller]
fn ask(way: &Way, era: &str, request: &[&str]) -> Value {
    let node = Node::installed();
    let mut inspector: Command = node.command(&node.file(PROGRAM));
    // It keeps what it knows at home.
    inspector.env("HOME", way.directory.path()).current_dir(way.directory.path());
    let target = match way.arguments.as_slice() {
        [flag, url, key] if flag == "--url" => {
            vec![url.clone(), "--header".to_owned(), format!("Authorization: Bearer {key}")]
        }
        command => command.to_vec(),
    };
    inspector.arg("--cli").args(request).args(["--format", "json", "--protocol-era", era]);
    inspector.args(["--connect-timeout", "60000"]);
    // What comes after the command of a server is the server's.
    match target.first().is_some_and(|first| first.starts_with("http")) {
        true => inspector.args(target),
        false => inspector.arg("--").args(target),
    };
    let said = run(&mut inspector);
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error} in {said}"))
}

#[track_caller]
fn lists_and_calls(way: Way) {
    for era in ["legacy", "modern"] {
        let listed = ask(&way, era, &["--method", "tools/list", "--strict"]);
        let listed = listed.get("result").unwrap_or(&listed);
        assert_eq!(listed["tools"].as_array().map(Vec::len), Some(11), "{listed}");
        let unit = json!({"type": "finding", "content": format!("The {era} inspector was here."),
                          "intent": {"purpose": "to look"}, "confidence": {"score": 1.0, "reasoning": "seen"}});
        let call = ["--method", "tools/call", "--tool-name"];
        let unit = unit.to_string();
        let record = [&call[..], &["akashik_record", "--tool-args-json", &unit]].concat();
        let recorded = ask(&way, era, &record);
        assert!(recorded.to_string().contains("accepted"), "{recorded}");
        let scope = json!({"scope": {"role": "looker", "max_units": 5}}).to_string();
        let attune = [&call[..], &["akashik_attune", "--tool-args-json", &scope]].concat();
        let attuned = ask(&way, era, &attune);
        assert!(attuned.to_string().contains("inspector was here"), "{attuned}");
    }
    way.finish();
}

#[test]
fn looks_through_the_standard_streams() {
    lists_and_calls(Way::embedded());
}

#[test]
fn looks_through_http() {
    lists_and_calls(Way::http(None));
}
