//! `quipu replay` as a regression test of an agent: an agent records Tasks, is changed, and is run again.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::harn::Harn;
use crate::support::{Finished, Server, Settings, quipu, verify_is_green};

/// An agent that prices things. `BROKEN` says what its last change broke.
const AGENT: &str = r#"
import json, os, sys, urllib.request

URL, TASK, BROKEN = os.environ["QUIPU_URL"], os.environ["QUIPU_TASK"], os.environ.get("BROKEN", "")
HEADERS = {"Harn-Agents-Protocol-Version": "agents-protocol-2026-04-25", "Content-Type": "application/json",
           "Akashik-Agent": "pricer", "Authorization": "Bearer " + os.environ.get("QUIPU_KEY", "")}

def post(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), HEADERS)
    return json.load(urllib.request.urlopen(request))

def ask(key, question):
    return post(f"/v1/tasks/{TASK}/dependencies/resolve", {"key": key, "request": question})["value"]

if BROKEN == "crash":
    sys.exit(3)
post(f"/v1/tasks/{TASK}/claim", {})
price = ask("llm:main:1", {"prompt": "how much?" if BROKEN != "prompt" else "how much, please?"})
tier = ask("mcp:crm:1", {"customer": "Acme"}) if BROKEN != "forgets" else "gold"
total = price * 80 // 100 if tier == "gold" else price
if BROKEN == "open":
    sys.exit(0)
if BROKEN == "hangs":
    import time; time.sleep(60)
post(f"/v1/tasks/{TASK}/complete", {"summary": "priced", "output": {"price": total + (BROKEN == "output")}})
"#;

struct Suite {
    server: Server,
    data: TempDir,
    tasks: Vec<String>,
}

impl Suite {
    fn recorded(count: u32) -> Self {
        let data = TempDir::new().unwrap();
        std::fs::write(data.path().join("agent.py"), AGENT).unwrap();
        let server = Settings::dev(&data.path().join("data")).start();
        let mut harn = Harn::of(&server);
        let persona = json!({"name": "pricer", "version": "1", "entry_workflow": "agent.py", "description": "prices",
            "autonomy_tier": "act_auto", "receipt_policy": "required"});
        let persona = harn.post("/v1/personas", &persona)["id"].clone();
        let mut record = |number: u32| {
            let body = json!({"session_id": "session_default", "persona_id": persona, "input": format!("deal {number}"),
                "metadata": {"suite": if number == 0 { "smoke" } else { "all" }}});
            let task = harn.post("/v1/tasks", &body)["id"].as_str().unwrap().to_owned();
            harn.post(&format!("/v1/tasks/{task}/claim"), &json!({}));
            for (key, kind, request, value) in [
                (
                    "llm:main:1",
                    "llm_provider_response",
                    json!({"prompt": "how much?"}),
                    json!(50 + number),
                ),
                ("mcp:crm:1", "mcp_tool_return", json!({"customer": "Acme"}), json!("gold")),
            ] {
                let body = json!({"key": key, "kind": kind, "request": request, "value": value});
                harn.post(&format!("/v1/tasks/{task}/dependencies"), &body);
            }
            let output =
                json!({"summary": "priced", "output": {"price": (50 + number) * 80 / 100}});
            harn.post(&format!("/v1/tasks/{task}/complete"), &output);
            task
        };
        let tasks = (0..count).map(&mut record).collect();
        // One that the server answers itself: nobody outside can do it again.
        harn.post(
            "/v1/tasks",
            &json!({"session_id": "session_default", "input": "what is known?"}),
        );
        Self { server, data, tasks }
    }

    fn replay(&self, options: &[&str], broken: &str) -> Finished {
        let url = format!("http://{}", self.server.address);
        let agent = self.data.path().join("agent.py");
        let before = ["replay", "--url", &url];
        let after = ["--", "env", &format!("BROKEN={broken}"), "python3", agent.to_str().unwrap()];
        quipu([&before[..], options, &after[..]].concat())
    }

    fn junit(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    fn file(&self) -> std::path::PathBuf {
        self.data.path().join("replay.xml")
    }

    fn end(self) {
        let data: &Path = &self.data.path().join("data");
        self.server.stop();
        verify_is_green(data);
    }
}

#[test]
fn a_suite_of_recorded_tasks_passes_as_long_as_the_agent_does_the_same() {
    let suite = Suite::recorded(3);
    let file = suite.file();
    let all = ["--all", "--strict", "--junit", file.to_str().unwrap()];
    for _ in 0..2 {
        let finished = suite.replay(&all, "");
        let told = finished.succeeded().stdout;
        for task in &suite.tasks {
            assert!(told.contains(&format!("same     {task}")), "{told}");
        }
        // Replays of before are no sources.
        assert!(told.contains("3 replayed: 3 the same, 0 drifted, 0 failed"), "{told}");
    }
    assert!(suite.junit().contains("tests=\"3\" failures=\"0\" errors=\"0\""), "{}", suite.junit());
    let some = ["--all", "--filter", "metadata.suite=smoke", "--json"];
    let told = suite.replay(&some, "").succeeded().stdout;
    let line: Value = serde_json::from_str(told.trim()).unwrap();
    assert_eq!((&line["task_id"], &line["result"]), (&json!(suite.tasks[0]), &json!("same")));
    suite.end();
}

#[test]
fn what_an_agent_does_otherwise_is_named_and_the_exit_says_so() {
    let suite = Suite::recorded(1);
    let file = suite.file();
    for (broken, strict, word, why) in [
        ("prompt", true, "drifted", "llm:main:1"),
        ("forgets", true, "drifted", "never asked for mcp:crm:1"),
        ("output", true, "drifted", "another output"),
        ("prompt", false, "drifted", "asked something else under llm:main:1"),
        ("output", false, "drifted", "another output"),
        ("crash", true, "failed", "exit status: 3"),
        ("open", true, "failed", "left it open"),
        ("hangs", true, "failed", "longer than 2 seconds"),
    ] {
        let mut options = vec![suite.tasks[0].as_str(), "--junit", file.to_str().unwrap()];
        options.extend(strict.then_some("--strict"));
        options.extend(["--timeout", if broken == "hangs" { "2" } else { "60" }]);
        let finished = suite.replay(&options, broken);
        let told = finished.failed().said();
        assert!(told.contains(word) && told.contains(why), "{broken}: {told}");
        let element = if word == "drifted" { "<failure" } else { "<error" };
        assert!(suite.junit().contains(element), "{broken}: {}", suite.junit());
    }
    suite.end();
}

#[test]
fn a_test_of_nothing_is_no_success() {
    let suite = Suite::recorded(0);
    let told = suite.replay(&["--all", "--filter", "metadata.suite=none"], "").failed().said();
    assert!(told.contains("no recorded Task was found"), "{told}");
    suite.end();
}
