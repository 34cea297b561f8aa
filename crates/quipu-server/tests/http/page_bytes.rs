//! Lists of large entries: a page ends where it has its bytes, what is left comes on the next one, and nothing is lost or
//! told twice.

use serde_json::{Value, json};

use crate::support::{Client, Reply, Setup, TestServer, attune, committed, register};

const MIB: usize = 1024 * 1024;
/// What a page holds at most, as it is sent.
const PAGE: usize = 8 * MIB;
/// What stands around the entries of a page.
const FRAME: usize = 4096;
const ENTRIES: usize = 12;

/// Follows a list to its end, page by page.
fn all_pages(
    first: &str,
    mut get: impl FnMut(&str) -> Reply,
    entries: &str,
    next: impl Fn(&Value) -> Option<String>,
) -> Vec<String> {
    let (mut ids, mut pages, mut path) = (Vec::new(), 0, Some(first.to_owned()));
    while let Some(at) = path {
        let reply = get(&at);
        assert_eq!(
            reply.status,
            200,
            "{at}: {}",
            reply.text().chars().take(400).collect::<String>()
        );
        assert!(reply.body.len() <= PAGE + FRAME, "{at}: {} bytes", reply.body.len());
        let page = reply.json();
        let listed = page[entries].as_array().unwrap();
        assert!(!listed.is_empty(), "{at}");
        ids.extend(listed.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()));
        pages += 1;
        path = next(&page);
        assert_eq!(page["has_more"].as_bool().unwrap_or_default(), path.is_some(), "{at}");
    }
    assert!(pages > 1, "{first}: it was larger than a page");
    ids
}

/// A server with more units than a page holds, and their ids.
fn filled() -> (TestServer, Client, Vec<String>) {
    let server = TestServer::with(Setup { dev: true, ..Setup::default() });
    let mut client = server.client();
    client.post("/v1/register", &register("a"));
    let text = "x".repeat(MIB - 1024);
    let record = |at| {
        let reply = client.say("a", "/v1/record", &committed(&format!("{at} {text}")));
        reply.json()["memory_unit_id"].as_str().unwrap().to_owned()
    };
    let ids = (0..ENTRIES).map(record).collect();
    (server, client, ids)
}

fn cursor(base: &str) -> impl Fn(&Value) -> Option<String> {
    let base = base.to_owned();
    move |page| page["next_cursor"].as_str().map(|cursor| format!("{base}cursor={cursor}"))
}

#[test]
fn pages_of_large_units_are_small_and_have_all_of_them() {
    let (server, mut client, ids) = filled();
    let units = all_pages(
        "/v1/units?limit=200&order=oldest",
        |path| client.get(path),
        "units",
        |page| {
            page["next_skip"]
                .as_u64()
                .map(|skip| format!("/v1/units?limit=200&order=oldest&skip={skip}"))
        },
    );
    assert_eq!(units, ids);
    let answer = client.say("a", "/v1/attune", &attune());
    assert!(answer.body.len() <= PAGE + FRAME, "{} bytes", answer.body.len());
    let answer = answer.json();
    assert!(!answer["record"].as_array().unwrap().is_empty());
    let warning = answer["warnings"].to_string();
    assert!(warning.contains("do not fit into an answer of 8 MiB"), "{warning}");

    let mut harn = server
        .client()
        .with("Harn-Agents-Protocol-Version", "agents-protocol-2026-10-11")
        .with("akashik-agent", "a");
    let base = "/v1/memories?limit=200&";
    let memories = all_pages(base, |path| harn.get(path), "data", cursor(base));
    assert_eq!(memories.len(), ids.len());
    assert_eq!(memories.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len());
    let session = harn.post("/v1/sessions", &json!({"workspace_id": "workspace_default"})).json();
    let session = session["id"].as_str().unwrap().to_owned();
    let said = format!("/v1/sessions/{session}/messages");
    for at in 0..ENTRIES {
        let text = format!("{at} {}", "y".repeat(MIB - 1024));
        let message = json!({"message": {"role": "user",
            "parts": [{"type": "text", "text": text, "visibility": "public"}]}});
        let reply = harn.post(&said, &message);
        assert!(reply.status < 300, "{}", reply.text().chars().take(400).collect::<String>());
    }
    let base = format!("{said}?limit=200&");
    let messages = all_pages(&base, |path| harn.get(path), "data", cursor(&base));
    assert_eq!(messages.len(), ENTRIES);
}

#[test]
fn pages_of_large_events_are_small_and_have_all_of_them() {
    let server = TestServer::with(Setup { dev: true, ..Setup::default() });
    let mut client = server.client();
    client.post("/v1/register", &register("a"));
    let task = json!({"action": "create",
        "task": {"id": "t", "title": "Large", "intent": {"purpose": "To fill pages"}}});
    assert_eq!(client.say("a", "/v1/coordinate", &task).status, 200);
    let mut harn = server
        .client()
        .with("Harn-Agents-Protocol-Version", "agents-protocol-2026-10-11")
        .with("akashik-agent", "a");
    assert!(harn.post("/v1/tasks/t/claim", &json!({})).status < 300);
    let text = "y".repeat(900 * 1024);
    for at in 0..ENTRIES {
        let event = json!({"event": "agent.message", "payload": {"text": format!("{at} {text}")}});
        let reply = harn.post("/v1/tasks/t/events", &event);
        assert_eq!(reply.status, 201, "{}", reply.text().chars().take(400).collect::<String>());
    }
    let mut listed = |limit: usize| {
        let first = format!("/v1/events?limit={limit}");
        let base = format!("{first}&after_event_id=");
        let next = |page: &Value| page["next_cursor"].as_str().map(|id| format!("{base}{id}"));
        all_pages(&first, |path| harn.get(path), "data", next)
    };
    let all = listed(200);
    assert!(all.len() > ENTRIES, "{all:?}");
    assert_eq!(all, listed(1));
}

#[test]
fn agents_with_many_interests_are_listed_page_by_page() {
    let server = TestServer::with(Setup { dev: true, ..Setup::default() });
    let mut client = server.client();
    let interests: Vec<String> = (0..50).map(|at| format!("{at} {}", "z".repeat(60_000))).collect();
    let names: Vec<String> = (0..5).map(|at| format!("agent-{at}")).collect();
    for name in &names {
        let joining =
            json!({"id": name, "role": "r", "interests": interests, "required_operations": []});
        assert_eq!(client.post("/v1/register", &joining).status, 200);
    }
    let agents = all_pages("/v1/agents", |path| client.get(path), "agents", cursor("/v1/agents?"));
    assert_eq!(agents, names);
    let unknown = client.get("/v1/conflicts?cursor=con-0");
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "INVALID_PAYLOAD"));
    assert_eq!(client.get("/v1/agents?skip=1").status, 400, "what is not known is not ignored");
}
