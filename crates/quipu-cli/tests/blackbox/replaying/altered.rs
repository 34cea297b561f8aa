//! An exported Task that somebody altered, offline and on its way into another server, and a log that somebody altered.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::harn::Harn;
use crate::support::{Settings, quipu};

#[test]
fn an_altered_export_is_refused_offline_and_by_another_server_with_the_place() {
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let (one, other) =
        (Settings::dev(folders[0].path()).start(), Settings::dev(folders[1].path()).start());
    let (mut here, mut there) = (Harn::of(&one), Harn::of(&other));
    let (task, _) = here.record();
    let export = here.get(&format!("/v1/tasks/{task}/export"));
    let file = folders[0].path().join("export.json");
    let verify = |document: &Value| {
        std::fs::write(&file, document.to_string()).unwrap();
        quipu(["receipt", "verify", file.to_str().unwrap(), "--json"])
    };
    let report: Value = serde_json::from_str(&verify(&export).succeeded().stdout).unwrap();
    assert_eq!(
        (&report["form"], &report["proven"]),
        (&json!("exported task"), &json!("everything"))
    );
    let paid = json!("pay 1,000,000");
    let answered = export["events"].as_array().unwrap().iter();
    let answered = answered.clone().position(|event| event["dependency"]["key"] == "llm:main:1");
    let event = format!("/events/{}/dependency/value", answered.unwrap());
    for (place, named) in [
        ("/task/input", "task.input".to_owned()),
        ("/outcome/metadata/output", "outcome.metadata.output".to_owned()),
        ("/outcome/summary", "outcome.summary".to_owned()),
        (&event, format!("events[{}].dependency.value", answered.unwrap())),
    ] {
        let mut altered = export.clone();
        *altered.pointer_mut(place).unwrap() =
            if place == "/task/input" { json!({"words": paid}) } else { paid.clone() };
        let refused = verify(&altered);
        assert_eq!(refused.code, Some(1), "{place}");
        let report: Value = serde_json::from_str(&refused.stdout).unwrap();
        assert_eq!(report["findings"][0]["name"], "export", "{report}");
        assert!(report["findings"][0]["message"].as_str().unwrap().contains(&named), "{report}");
        let (status, answer) = there.call("POST", "/v1/tasks/import", &altered);
        assert_eq!((status, &answer["error"]["param"]), (400, &json!(named)), "{answer}");
    }
    let mut added = export.clone();
    added["outcome"]["output"] = json!({"paid": 1_000_000});
    let refused = verify(&added);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stdout.contains("export: outcome.output: is no member"), "{}", refused.stdout);
    let (status, answer) = there.call("POST", "/v1/tasks/import", &added);
    assert_eq!((status, &answer["error"]["param"]), (400, &json!("outcome.output")), "{answer}");
    let brought = there.post("/v1/tasks/import", &export);
    assert_eq!(brought["metadata"]["import"]["proven"], "everything");
    let receipt = export["receipt"]["receipt_id"].as_str().unwrap();
    for harn in [&mut here, &mut there] {
        let checked = harn.post(&format!("/v1/receipts/{receipt}/verify"), &json!({}));
        assert_eq!(checked["details"]["proven"], "everything", "{checked}");
    }
}

#[test]
fn an_answer_that_was_altered_in_the_database_is_noticed() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    Harn::of(&server).record();
    drop(server);
    quipu(["verify", "--data", data.path().to_str().unwrap()]).succeeded();
    let file = data.path().join("fields/default/log.sqlite");
    let database = rusqlite::Connection::open(&file).unwrap();
    let sql = "UPDATE commits SET bodies = replace(bodies, 'ship it', 'pay up!') WHERE bodies LIKE '%ship it%'";
    assert!(database.execute(sql, []).unwrap() > 0);
    drop(database);
    let refused = quipu(["verify", "--data", data.path().to_str().unwrap()]).failed();
    assert!(refused.said().contains("position"), "{}", refused.said());
}
