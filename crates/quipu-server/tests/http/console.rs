//! The console's files, and the routes that are there for who looks and keeps order: units as a list, the log
//! as it grows, keys, subscriptions, COMPACT that is only tried.

use std::time::Duration;

use quipu_server::{PushOptions, secrets::keys::KeyAgent};
use serde_json::{Value, json};

use crate::support::{Client, Frame, Setup, Socket, TestServer, committed, register};

#[test]
fn the_console_is_served_to_everybody_under_a_strict_policy() {
    let server = TestServer::start();
    let mut client = server.client();
    let home = client.get("/");
    assert_eq!(home.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = home.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(home.header("x-content-type-options"), Some("nosniff"));
    assert!(!home.text().contains("<script>") && !home.text().contains("style="));
    let script = client.get("/console/app.js");
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(script.header("content-security-policy"), Some(policy));
    let missing = client.get("/console/../keys.json");
    assert_eq!((missing.status, missing.code().as_str()), (404, "ROUTE_NOT_FOUND"));
}

#[test]
fn a_file_that_the_browser_has_is_not_sent_again_and_others_are_packed() {
    let server = TestServer::start();
    let mut client = server.client();
    let plain = client.get("/console/style.css");
    let packed =
        client.send("GET", "/console/style.css", &[("accept-encoding", "br, gzip;q=0.9")], None);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.len() * 2 < plain.body.len());
    let etag = plain.header("etag").unwrap();
    for had in [etag.to_owned(), format!("\"other\", W/{etag}")] {
        let again = client.send("GET", "/console/style.css", &[("if-none-match", &had)], None);
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
}

fn recorded(client: &mut Client) -> Vec<Value> {
    for agent in ["ann", "bob"] {
        client.post("/v1/register", &register(agent));
    }
    let mut ids = Vec::new();
    for (agent, content, kind, task) in [
        ("ann", "The harbour raised its fees.", "finding", "port"),
        ("bob", "Fees fall at the other harbour.", "finding", "rail"),
        ("ann", "We ship by rail.", "decision", "rail"),
    ] {
        let mut unit = committed(content);
        unit["type"] = json!(kind);
        unit["intent"]["task_id"] = json!(task);
        if kind == "decision" {
            unit["relations"] = json!([{"type": "depends_on", "target_id": ids[0]}]);
        }
        ids.push(client.say(agent, "/v1/record", &unit).json()["memory_unit_id"].clone());
    }
    ids
}

fn listed(client: &mut Client, query: &str) -> (Vec<Value>, u64) {
    let reply = client.get(&format!("/v1/units?{query}"));
    assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    let page = reply.json();
    let ids = page["units"].as_array().unwrap().iter().map(|unit| unit["id"].clone()).collect();
    (ids, page["total"].as_u64().unwrap())
}

#[test]
fn units_are_listed_newest_first_and_found_by_what_is_known_of_them() {
    let server = TestServer::start();
    let mut client = server.operator();
    let ids = recorded(&mut client);
    let pick = |places: &[usize]| places.iter().map(|at| ids[*at].clone()).collect::<Vec<_>>();
    let first = ids[0].as_str().unwrap();
    for (query, expected) in [
        (String::new(), pick(&[2, 1, 0])),
        ("order=oldest".to_owned(), pick(&[0, 1, 2])),
        ("type=decision".to_owned(), pick(&[2])),
        ("agent=ann".to_owned(), pick(&[2, 0])),
        ("agent=nobody".to_owned(), pick(&[])),
        ("task=rail&type=finding".to_owned(), pick(&[1])),
        ("status=active".to_owned(), pick(&[2, 1, 0])),
        ("status=retracted".to_owned(), pick(&[])),
        ("q=fee".to_owned(), pick(&[1, 0])),
        ("q=harbours+raise".to_owned(), pick(&[0])),
        ("q=unheard".to_owned(), pick(&[])),
        (format!("relates_to={first}"), pick(&[2])),
        ("since_ms=9007199254740991".to_owned(), pick(&[])),
    ] {
        assert_eq!(
            listed(&mut client, &query),
            (expected.clone(), expected.len() as u64),
            "{query}"
        );
    }
}

#[test]
fn a_page_of_units_says_how_many_there_are_and_cuts_long_texts_where_asked() {
    let server = TestServer::start();
    let mut client = server.operator();
    let ids = recorded(&mut client);
    assert_eq!(listed(&mut client, "skip=1&limit=1"), (vec![ids[1].clone()], 3));
    assert_eq!(listed(&mut client, "skip=9"), (vec![], 3));
    let cut = client.get("/v1/units?limit=1&content_chars=7").json();
    assert_eq!(cut["units"][0]["content"], "We ship");
    for bad in ["limit=0", "type=rumour", "colour=red", "skip=-1"] {
        let reply = client.get(&format!("/v1/units?{bad}"));
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"), "{bad}");
    }
}

#[test]
fn the_list_shows_nobody_more_units_than_each_by_its_id() {
    let server = TestServer::start();
    let mut operator = server.operator();
    recorded(&mut operator);
    let mut in_session = committed("Said among ourselves.");
    in_session["intent"]["purpose"] = json!("to keep it here");
    let body = in_session.to_string();
    let headers = [("akashik-agent", "ann"), ("akashik-session", "inner")];
    operator.post_raw("/v1/record", &headers, body.as_bytes());
    let mut reader = server.client().with_key(&server.key(2));
    assert_eq!(listed(&mut operator, "q=ourselves").1, 1);
    assert_eq!(listed(&mut reader, "q=ourselves"), (vec![], 0));
    assert_eq!(listed(&mut reader, "").1, 3);
    let below = server.client().with_key(&server.key(1)).get("/v1/units");
    assert_eq!(below.code(), "INSUFFICIENT_AUTHORITY");
}

#[test]
fn a_key_is_told_who_it_is() {
    let server = TestServer::start();
    let secret = server.key_for(KeyAgent::Named("ann".to_owned()), 4, Some("team"));
    let told = server.client().with_key(&secret).get("/v1/whoami").json();
    let key = told["key_id"].as_str().unwrap();
    assert!(secret.contains(key));
    assert_eq!(
        told,
        json!({"key_id": key, "agent": "ann", "authority": 4, "field": "team", "roles": [], "dev": false})
    );
    assert_eq!(server.client().get("/v1/whoami").status, 401);
    assert_eq!(TestServer::dev().client().get("/v1/whoami").json()["dev"], true);
}

#[test]
fn the_operator_makes_a_key_that_is_good_at_once_and_revokes_it() {
    let server = TestServer::start();
    let mut operator = server.operator();
    let body = json!({"agent": "ann", "authority": 4, "field": "team", "label": "for ann"});
    let made = operator.post("/v1/keys", &body).json();
    let secret = made["secret"].as_str().unwrap();
    assert_eq!((&made["key"]["label"], &made["key"]["field"]), (&json!("for ann"), &json!("team")));
    let mut ann = server.client().with_key(secret);
    assert_eq!(ann.get("/v1/whoami").json()["agent"], "ann");
    let listed = operator.get("/v1/keys");
    assert!(listed.text().contains("for ann") && !listed.text().contains(secret));
    let path = format!("/v1/keys/{}", made["key"]["id"].as_str().unwrap());
    let after = operator.send("DELETE", &path, &[], None).json();
    let keys = after["keys"].as_array().unwrap();
    assert!(
        keys.iter().any(|key| key["id"] == made["key"]["id"] && !key["revoked_at_ms"].is_null())
    );
    assert_eq!(ann.get("/v1/whoami").code(), "UNAUTHENTICATED");
}

#[test]
fn nobody_but_the_operator_of_the_whole_server_sees_or_makes_keys() {
    let server = TestServer::start();
    let bound = server.key_for(KeyAgent::Any, 10, Some("team"));
    let named = server.key_for(KeyAgent::Named("ann".to_owned()), 10, None);
    for secret in [bound, named, server.key(9)] {
        let mut client = server.client().with_key(&secret);
        assert_eq!(client.get("/v1/keys").code(), "INSUFFICIENT_AUTHORITY");
        let made = client.post("/v1/keys", &json!({"authority": 1}));
        assert_eq!(made.code(), "INSUFFICIENT_AUTHORITY");
        let gone = client.send("DELETE", "/v1/keys/any", &[], None);
        assert_eq!(gone.code(), "INSUFFICIENT_AUTHORITY");
    }
    let mut operator = server.operator();
    for bad in [
        json!({}),
        json!({"authority": 11}),
        json!({"authority": 4, "agent": "system"}),
        json!({"authority": 4, "field": "No Such Name"}),
        json!([]),
    ] {
        assert_eq!(operator.post("/v1/keys", &bad).code(), "INVALID_PAYLOAD", "{bad}");
    }
    let typed = [("content-type", "text/plain")];
    let reply = operator.post_raw("/v1/keys", &typed, b"{\"authority\": 10}");
    assert_eq!(reply.code(), "UNSUPPORTED_MEDIA_TYPE", "no page of elsewhere can make a key");
}

fn page(socket: &mut Socket) -> Value {
    match socket.next() {
        Frame::Text(page) => page,
        other @ (Frame::Ping | Frame::Close(..)) => panic!("no page: {other:?}"),
    }
}

fn positions(page: &Value) -> Vec<u64> {
    let commits = page["commits"].as_array().unwrap();
    commits.iter().map(|commit| commit["position"].as_u64().unwrap()).collect()
}

#[test]
fn the_log_is_followed_from_a_position_on_without_a_gap() {
    let server = TestServer::start();
    let mut client = server.operator();
    client.post("/v1/register", &register("ann"));
    client.say("ann", "/v1/record", &committed("one"));
    let key = format!("quipu-log, bearer.{}", server.key(8));
    let headers = [("sec-websocket-protocol", key.as_str())];
    let mut socket = Socket::open(server.address, "/v1/log/follow?after=1", &headers);
    assert_eq!(socket.status, 101);
    let first = page(&mut socket);
    assert_eq!((positions(&first), &first["head"]["position"]), (vec![2], &json!(2)));
    client.say("ann", "/v1/record", &committed("two"));
    let second = page(&mut socket);
    assert_eq!(positions(&second), [3]);
    assert_eq!(second["commits"][0]["header"]["prev"], first["commits"][0]["hash"]);
    let mut from_now = Socket::open(server.address, "/v1/log/follow", &headers);
    assert_eq!(positions(&page(&mut from_now)), Vec::<u64>::new());
}

#[test]
fn who_may_not_read_the_log_is_only_told_how_long_it_is() {
    let server = TestServer::start();
    let mut client = server.operator();
    client.post("/v1/register", &register("ann"));
    let key = format!("Bearer {}", server.key(2));
    let headers = [("authorization", key.as_str())];
    let mut socket = Socket::open(server.address, "/v1/log/follow?after=0", &headers);
    let told = page(&mut socket);
    assert_eq!((positions(&told), &told["head"]["position"]), (vec![], &json!(1)));
    client.say("ann", "/v1/record", &committed("one"));
    assert_eq!(page(&mut socket)["head"]["position"], 2);
    for (path, headers) in [
        ("/v1/log/follow", vec![]),
        ("/v1/log/follow", vec![("sec-websocket-protocol", "quipu-log, bearer.quipu_none")]),
    ] {
        assert_eq!(Socket::open(server.address, path, &headers).status, 401);
    }
    let below = format!("Bearer {}", server.key(1));
    let headers = [("authorization", below.as_str())];
    assert_eq!(Socket::open(server.address, "/v1/log/follow", &headers).status, 403);
    assert_eq!(client.get("/v1/log/follow").code(), "INVALID_PAYLOAD");
}

#[test]
fn a_follower_of_another_field_names_it_and_one_whose_key_ends_is_told_so() {
    let push = PushOptions { heartbeat: Duration::from_millis(20), ..PushOptions::default() };
    let server = TestServer::with(Setup { push, ..Setup::default() });
    let mut client = server.operator().with("quipu-field", "team");
    client.post("/v1/register", &register("ann"));
    let secret = server.key(8);
    let key = format!("Bearer {secret}");
    let headers = [("authorization", key.as_str())];
    let mut socket = Socket::open(server.address, "/v1/log/follow?field=team&after=0", &headers);
    assert_eq!(positions(&page(&mut socket)), [1]);
    let id = secret.split('_').nth(1).unwrap();
    assert!(server.keys.revoke(id).unwrap());
    loop {
        match socket.next() {
            Frame::Ping => socket.pong(),
            Frame::Close(code, reason) => {
                assert_eq!((code, reason.as_str()), (1008, "unauthenticated"));
                break;
            }
            Frame::Text(page) => panic!("told of {page}"),
        }
    }
}

#[test]
fn subscriptions_of_all_agents_are_listed_for_authority_eight() {
    let server = TestServer::start();
    let mut client = server.operator();
    client.post("/v1/register", &register("ann"));
    let wish = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let made = client.say("ann", "/v1/subscribe", &wish).json();
    let listed = client.get("/v1/subscriptions").json();
    assert_eq!(listed, json!({"subscriptions": [made["subscription"]]}));
    let below = server.client().with_key(&server.key(7)).get("/v1/subscriptions");
    assert_eq!(below.code(), "INSUFFICIENT_AUTHORITY");
}

#[test]
fn a_compact_that_is_only_tried_names_its_units_and_changes_nothing() {
    let server = TestServer::start();
    let mut client = server.operator();
    let ids = recorded(&mut client);
    let before = client.get("/v1/field/status").json()["head"].clone();
    for strategy in ["archive", "summarize", "purge"] {
        let wish = json!({"strategy": strategy, "filter": {"types": ["finding"]}, "dry_run": true});
        let told = client.say("ann", "/v1/compact", &wish).json();
        // Two short units are told no shorter.
        let taken = if strategy == "summarize" { json!([]) } else { json!([ids[0], ids[1]]) };
        let count = taken.as_array().map(Vec::len);
        assert_eq!((&told["units_affected"], &told["units"]), (&json!(count), &taken));
        assert_eq!(client.get("/v1/field/status").json()["head"], before, "{strategy}");
    }
    let wish = json!({"strategy": "archive", "filter": {"types": ["finding"]}});
    let done = client.say("ann", "/v1/compact", &wish).json();
    assert_eq!((&done["units_affected"], &done["units"]), (&json!(2), &Value::Null));
    let none = json!({"strategy": "archive", "filter": {"types": ["finding"]}, "dry_run": true});
    assert_eq!(client.say("ann", "/v1/compact", &none).json()["units_affected"], 0);
}
