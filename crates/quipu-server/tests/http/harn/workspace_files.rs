//! Files of a Workspace over HTTP.

use serde_json::{Value, json};

use super::{actors::Actor, refusal, refused};
use crate::support::TestServer;

const FILES: &str = "/v1/workspaces/workspace_default/files";

fn at(path: &str) -> String {
    let encoded: String = path
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("{FILES}?path={encoded}")
}

fn says(content: &str) -> Value {
    json!({"content": content})
}

fn names(listing: &Value) -> Vec<String> {
    assert_eq!(listing["object"], "file_listing", "{listing}");
    let entries = listing["entries"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            let kind = if entry["kind"] == "directory" { "/" } else { "" };
            format!("{}{kind}", entry["name"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn a_file_is_written_read_and_listed_and_its_versions_are_kept() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let written = actor.done("PUT", &at("notes/today.md"), &says("one"));
    assert_eq!((&written["object"], &written["version"]), (&json!("file"), &json!(1)));
    assert_eq!((&written["bytes"], &written["encoding"]), (&json!(3), &json!("utf-8")));
    assert!(written.get("content").is_none());
    let again = actor.done("PUT", &at("notes/today.md"), &says("one"));
    assert_eq!(again, written, "the same again is no new version");
    let second = actor.done("PUT", &at("./notes//today.md").replace("%2F%2F", "%2F"), &says("two"));
    assert_eq!((&second["version"], &second["path"]), (&json!(2), &json!("notes/today.md")));
    let read = actor.read(&at("notes/today.md"));
    assert_eq!((&read["content"], &read["version"]), (&json!("two"), &json!(2)));
    let first = actor.read(&format!("{}&version=1", at("notes/today.md")));
    assert_eq!(
        (&first["content"], &first["artifact_id"]),
        (&json!("one"), &written["artifact_id"])
    );
    let missing = actor.get(&format!("{}&version=3", at("notes/today.md")));
    assert_eq!(refusal(&missing), refused(404, "resource_not_found"));
    for path in ["a.txt", "a/b/c", "a-z", "notes/old.md"] {
        actor.done("PUT", &at(path), &json!({"content": path, "metadata": {"by": "me"}}));
    }
    assert_eq!(names(&actor.read(FILES)), ["a/", "a-z", "a.txt", "notes/"]);
    assert_eq!(names(&actor.read(&at("."))), ["a/", "a-z", "a.txt", "notes/"]);
    let notes = actor.read(&at("notes"));
    assert_eq!(names(&notes), ["old.md", "today.md"]);
    assert_eq!(
        notes["entries"][1],
        json!({"name": "today.md", "path": "notes/today.md", "kind": "file", "size": 3})
    );
    assert_eq!(actor.read(&at("a-z"))["metadata"], json!({"by": "me"}));
    let artifact = written["artifact_id"].as_str().unwrap();
    let content = actor.get(&format!("/v1/artifacts/{artifact}/content"));
    assert_eq!(content.text(), "one", "a version is an Artifact");
}

#[test]
fn the_body_may_say_the_path_and_goes_first() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let body = json!({"path": "in/body", "content": "x"});
    assert_eq!(actor.done("PUT", &at("in/query"), &body)["path"], "in/body");
    assert_eq!(actor.done("PUT", FILES, &body)["path"], "in/body");
}

#[test]
fn no_path_leads_out_of_its_workspace() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let wrong = (400, "invalid_request".to_owned(), "path".to_owned());
    let long = "n".repeat(2000);
    for path in ["/etc/passwd", "../x", "a/../../x", "a//b", "a\\b", "a\u{0}b", "a\nb", "..", &long]
    {
        assert_eq!(actor.refused("PUT", &at(path), &says("x")), wrong, "{path:?}");
        let body = json!({"path": path, "content": "x"});
        assert_eq!(actor.refused("PUT", FILES, &body), wrong, "{path:?}");
        assert_eq!(actor.get(&at(path)).status, 400, "{path:?}");
    }
    for path in ["", ".", "./"] {
        assert_eq!(actor.refused("PUT", &at(path), &says("x")), wrong, "{path:?}");
    }
    let nowhere = "/v1/workspaces/workspace_nowhere/files?path=x";
    assert_eq!(actor.send("PUT", nowhere, &says("x")).status, 404);
    assert_eq!(actor.get(nowhere).status, 404);
    assert_eq!(actor.get(&at("x")).status, 404);
    // One Workspace does not read another's by a path.
    let other = json!({"name": "other", "root": "r"});
    let other = super::actors::id(&actor.made("/v1/workspaces", &other));
    actor.done("PUT", &format!("/v1/workspaces/{other}/files?path=x"), &says("theirs"));
    assert_eq!(actor.get(&at("x")).status, 404);
    assert_eq!(names(&actor.read(&format!("/v1/workspaces/{other}/files"))), ["x"]);
}

#[test]
fn a_file_is_no_directory_and_a_large_one_is_refused() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    actor.done("PUT", &at("a/b"), &says("x"));
    let conflict = (409, "conflict".to_owned(), "path".to_owned());
    assert_eq!(actor.refused("PUT", &at("a"), &says("x")), conflict);
    assert_eq!(actor.refused("PUT", &at("a/b/c"), &says("x")), conflict);
    let invalid = |param: &str| (400, "invalid_request".to_owned(), param.to_owned());
    assert_eq!(actor.refused("PUT", &at("c"), &json!({})), invalid("content"));
    assert_eq!(actor.refused("PUT", &at("c"), &json!({"content": 7})), invalid("content"));
    let large = "x".repeat(quipu_wire::limits::WORKSPACE_FILE_BYTES_MAX);
    actor.done("PUT", &at("large"), &says(&large));
    assert_eq!(actor.read(&at("large"))["content"].as_str().map(str::len), Some(large.len()));
    let larger = actor.refused("PUT", &at("c"), &says(&(large + "x")));
    assert_eq!(larger, invalid("content"));
    let empty = actor.done("PUT", &at("empty"), &says(""));
    assert_eq!(
        (&empty["bytes"], actor.read(&at("empty"))["content"].as_str()),
        (&json!(0), Some(""))
    );
    let emoji = "🧵\u{0}\u{feff}\r\n";
    actor.done("PUT", &at("odd"), &says(emoji));
    assert_eq!(actor.read(&at("odd"))["content"], emoji);
}

#[test]
fn a_weaker_key_replaces_nothing_that_a_stronger_one_wrote_and_reads_need_authority_2() {
    let server = TestServer::start();
    let mut actors = Actor::operator(&server);
    actors.session();
    let mut strong = Actor::agent(&server, "strong", 7);
    let mut weak = Actor::agent(&server, "weak", 5);
    let denied = (403, "permission_denied".to_owned(), String::new());
    strong.done("PUT", &at("plan"), &says("strong"));
    assert_eq!(weak.refused("PUT", &at("plan"), &says("weak")), denied);
    weak.done("PUT", &at("note"), &says("weak"));
    strong.done("PUT", &at("note"), &says("stronger"));
    assert_eq!(weak.refused("PUT", &at("note"), &says("weak")), denied);
    assert_eq!(weak.read(&at("note"))["content"], "stronger");
    let mut reader = Actor::agent(&server, "reader", 2);
    assert_eq!(reader.read(&at("plan"))["content"], "strong");
    assert_eq!(reader.refused("PUT", &at("mine"), &says("x")), denied);
    let mut nobody = Actor::agent(&server, "nobody", 1);
    assert_eq!(nobody.get(&at("plan")).status, 403);
}

#[test]
fn a_file_is_taken_away_with_all_that_it_ever_said() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    actor.session();
    let mut ann = Actor::agent(&server, "ann", 5);
    let mut bob = Actor::agent(&server, "bob", 5);
    let written = ann.done("PUT", &at("cv.txt"), &says("canary-one"));
    ann.done("PUT", &at("cv.txt"), &says("canary-two"));
    let denied = (403, "permission_denied".to_owned(), String::new());
    assert_eq!(bob.refused("DELETE", &at("cv.txt"), &Value::Null), denied);
    assert_eq!(ann.send("DELETE", &at("cv.txt"), &Value::Null).status, 204);
    assert_eq!(ann.send("DELETE", &at("cv.txt"), &Value::Null).status, 404);
    assert_eq!(ann.get(&at("cv.txt")).status, 404);
    assert_eq!(names(&ann.read(FILES)), Vec::<String>::new());
    let artifact = written["artifact_id"].as_str().unwrap();
    assert_eq!(ann.get(&format!("/v1/artifacts/{artifact}/content")).status, 404);
    let anew = bob.done("PUT", &at("cv.txt"), &says("anew"));
    assert_eq!(anew["version"], 1, "the path is free again");
    assert_eq!(bob.read(&at("cv.txt"))["content"], "anew");
    // Taking away one version alone leaves the others.
    let second = bob.done("PUT", &at("cv.txt"), &says("canary-three"));
    let content = format!("/v1/artifacts/{}/content", second["artifact_id"].as_str().unwrap());
    bob.done("DELETE", &content, &Value::Null);
    assert_eq!(refusal(&bob.get(&at("cv.txt"))), refused(404, "resource_not_found"));
    assert_eq!(bob.read(&format!("{}&version=1", at("cv.txt")))["content"], "anew");
    let third = bob.done("PUT", &at("cv.txt"), &says("canary-three"));
    assert_eq!(third["version"], 3, "what was taken away is written anew");
}

#[test]
fn a_write_is_made_once_under_an_idempotency_key() {
    let server = TestServer::start();
    let mut client = super::worker::alice(&server);
    let key = [("idempotency-key", "one")];
    let mut put = |content: &str| {
        client.send("PUT", &at("x"), &key, Some(says(content).to_string().as_bytes()))
    };
    let first = put("a").json();
    assert_eq!(first["version"], 1);
    let reused = put("b");
    assert_eq!(refusal(&reused), refused(409, "idempotency_key_reused"));
    let body = says("b").to_string();
    client.send("PUT", &at("x"), &[], Some(body.as_bytes()));
    let again = client.send("PUT", &at("x"), &key, Some(says("a").to_string().as_bytes()));
    assert_eq!(again.json(), first, "what it came to then");
    assert_eq!(client.get(&at("x")).json()["content"], "b");
}

#[test]
fn a_listing_goes_on_where_it_ended() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    for number in 0..501 {
        let path =
            if number % 2 == 0 { format!("f{number:03}") } else { format!("f{number:03}/x") };
        actor.done("PUT", &at(&path), &says("x"));
    }
    let first = actor.read(FILES);
    assert_eq!(names(&first).len(), 500);
    let next = first["next"].as_str().unwrap().replace('/', "%2F");
    let rest = actor.read(&format!("{FILES}?after={next}"));
    assert_eq!((names(&rest), rest.get("next")), (vec!["f500".to_owned()], None));
}
