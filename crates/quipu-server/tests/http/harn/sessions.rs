//! Sessions, their Messages and Branches, Workspaces and Personas.

use serde_json::{Value, json};

use super::{
    actors::{Actor, id, ids, user},
    refusal, refused,
};
use crate::support::{Reply, TestServer};

fn whole(status: u16, code: &str, param: &str) -> (u16, String, String) {
    (status, code.to_owned(), param.to_owned())
}

#[test]
fn a_session_begins_with_what_was_said_before_and_keeps_the_order() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let body = json!({
        "workspace_id": "workspace_default",
        "initial_messages": [user("one"), user("two")],
        "metadata": {"run": 7},
    });
    let session = actor.made("/v1/sessions", &body);
    assert_eq!(session["object"], "session");
    assert_eq!(session["state"], "ACTIVE");
    assert_eq!(session["metadata"], json!({"run": 7}));
    let session = id(&session);
    for text in ["three", "four"] {
        let message = actor.say(&session, text);
        assert_eq!(
            (&message["object"], &message["session_id"]),
            (&json!("message"), &json!(session))
        );
        assert_eq!(actor.read(&format!("/v1/messages/{}", id(&message))), message);
    }
    assert_eq!(actor.texts(&session), ["one", "two", "three", "four"]);
    let first = actor.read(&format!("/v1/sessions/{session}/messages?limit=3"));
    assert_eq!(ids(&first).len(), 3);
    assert_eq!(first["page"]["has_more"], true);
    let cursor = first["page"]["next_cursor"].as_str().unwrap();
    let rest = actor.read(&format!("/v1/sessions/{session}/messages?cursor={cursor}"));
    assert_eq!((ids(&rest).len(), &rest["has_more"]), (1, &json!(false)));
    let kinds = actor.kinds(&format!("/v1/sessions/{session}/events"));
    assert_eq!(kinds[0], "session.created");
    assert_eq!(kinds.iter().filter(|kind| *kind == "session.message_appended").count(), 4);
    let last = actor.read(&format!("/v1/sessions/{session}"))["last_event_id"].clone();
    let events = actor.read(&format!("/v1/sessions/{session}/events"));
    assert_eq!(events["data"].as_array().unwrap().last().unwrap()["id"], last);
}

#[test]
fn what_a_session_names_must_be_there() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let mut refusal_of = |body: Value| actor.refused("POST", "/v1/sessions", &body);
    let not_found = |param| whole(404, "resource_not_found", param);
    let invalid = |param| whole(400, "invalid_request", param);
    let with = |key: &str, value: Value| json!({"workspace_id": "workspace_default", key: value});
    assert_eq!(refusal_of(json!({})), invalid("workspace_id"));
    assert_eq!(refusal_of(json!({"workspace_id": 1})), invalid("workspace_id"));
    assert_eq!(refusal_of(json!({"workspace_id": "workspace_x"})), not_found("workspace_id"));
    assert_eq!(refusal_of(with("persona_id", json!("persona_x"))), not_found("persona_id"));
    assert_eq!(refusal_of(with("vault_ids", json!(["vault_x"]))), not_found("vault_ids"));
    assert_eq!(refusal_of(with("memory_ids", json!(["mem-x"]))), not_found("memory_ids"));
    assert_eq!(refusal_of(with("skill_ids", json!(["skill_x"]))), not_found("skill_ids"));
    assert_eq!(refusal_of(with("mode_id", json!("loud"))), invalid("mode_id"));
    assert_eq!(
        refusal_of(with("initial_messages", json!([{"role": "user"}]))),
        invalid("initial_messages[0].parts")
    );
    let known = with("skill_ids", json!(["skill_attune"]));
    assert_eq!(actor.post("/v1/sessions", &known).status, 201);
}

#[test]
fn a_session_is_changed_and_closed_and_nothing_is_said_in_it_afterwards() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let session = actor.session();
    let path = format!("/v1/sessions/{session}");
    let changed = actor.done("PATCH", &path, &json!({"summary": "short", "metadata": {"a": 1}}));
    assert_eq!((&changed["summary"], &changed["metadata"]), (&json!("short"), &json!({"a": 1})));
    let changed = actor.done("PATCH", &path, &json!({"summary": null}));
    assert_eq!((&changed["summary"], &changed["metadata"]), (&json!(null), &json!({"a": 1})));
    let bad = actor.refused("PATCH", &path, &json!({"metadata": 3}));
    assert_eq!(bad, whole(400, "invalid_request", "metadata"));
    let close = format!("{path}/close");
    let closed = actor.done("POST", &close, &json!({}));
    assert_eq!(closed["state"], "CLOSED");
    assert_eq!(actor.done("POST", &close, &json!({})), closed, "closing again says the same");
    for (method, under, body) in [
        ("POST", "messages", json!({"message": user("late")})),
        ("POST", "branches", json!({"kind": "session", "base_ref": "main"})),
        ("PATCH", "", json!({"summary": "late"})),
    ] {
        let at = format!("{path}/{under}");
        let refused = actor.refused(method, at.trim_end_matches('/'), &body);
        assert_eq!((refused.0, refused.1.as_str()), (409, "conflict"), "{under}");
    }
    let kinds = actor.kinds(&format!("{path}/events"));
    assert_eq!(kinds.last().map(String::as_str), Some("session.closed"));
}

#[test]
fn sessions_are_listed_in_order_by_workspace_and_in_pages() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let workspace = id(&actor.made("/v1/workspaces", &json!({"name": "w", "root": "/r"})));
    let here = actor.session();
    let there = id(&actor.made("/v1/sessions", &json!({"workspace_id": workspace})));
    let all = actor.read("/v1/sessions");
    assert_eq!(ids(&all), ["session_default", here.as_str(), there.as_str()]);
    let of = actor.read(&format!("/v1/sessions?workspace_id={workspace}"));
    assert_eq!(ids(&of), [there.as_str()]);
    assert_eq!(of["data"][0]["workspace_id"], json!(workspace));
    let mut path = "/v1/sessions?limit=1".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = actor.read(&path);
        seen.extend(ids(&page));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/sessions?limit=1&cursor={cursor}");
    }
    assert_eq!(seen, ids(&all));
    for bad in ["limit=0", "limit=201", "limit=x", "cursor=c1.task.7", "cursor=%00"] {
        let reply = actor.get(&format!("/v1/sessions?{bad}"));
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{bad}");
    }
}

#[test]
fn a_session_that_the_other_protocol_opened_is_one_of_these_and_a_closed_circle_is_hidden() {
    let server = TestServer::start();
    let mut akashik = server.operator();
    let register = |client: &mut crate::support::Client, agent: &str| -> Reply {
        client.say(agent, "/v1/register", &crate::support::register(agent))
    };
    assert_eq!(register(&mut akashik, "a").status, 200);
    let create = |policy: Value| json!({"action": "create", "session": {"goal": "to plan", "policy": policy}});
    let open = akashik.say("a", "/v1/session", &create(json!({}))).json();
    let closed = akashik.say("a", "/v1/session", &create(json!({"join": "invite"}))).json();
    let name = |reply: &Value| reply["session"]["id"].as_str().unwrap().to_owned();
    let (open, closed) = (name(&open), name(&closed));
    let mut other = Actor::agent(&server, "b", 5);
    let shown = other.read(&format!("/v1/sessions/{open}"));
    assert_eq!(
        (&shown["summary"], &shown["workspace_id"]),
        (&json!("to plan"), &json!("workspace_default"))
    );
    assert!(ids(&other.read("/v1/sessions")).contains(&open));
    assert!(!ids(&other.read("/v1/sessions")).contains(&closed));
    let gone = whole(404, "resource_not_found", "");
    for (method, under, body) in [
        ("GET", "", json!(null)),
        ("GET", "/messages", json!(null)),
        ("GET", "/branches", json!(null)),
        ("POST", "/messages", json!({"message": user("hi")})),
        ("POST", "/branches", json!({"kind": "session", "base_ref": "main"})),
        ("PATCH", "", json!({"summary": "x"})),
        ("POST", "/close", json!({})),
        ("POST", "/fork", json!({})),
        ("POST", "/truncate", json!({"keep_first": 0})),
    ] {
        let path = format!("/v1/sessions/{closed}{under}");
        assert_eq!(other.refused(method, &path, &body), gone, "{method} {under}");
        let path = format!("/v1/sessions/session_never{under}");
        assert_eq!(other.refused(method, &path, &body), gone, "{method} {under}");
    }
}

#[test]
fn who_speaks_in_an_open_session_becomes_a_member_of_it_and_may_not_close_it() {
    let server = TestServer::start();
    let mut owner = Actor::agent(&server, "a", 5);
    let mut guest = Actor::agent(&server, "b", 5);
    let session = owner.session();
    guest.say(&session, "hello");
    guest.made(
        &format!("/v1/sessions/{session}/branches"),
        &json!({"kind": "session", "base_ref": "main"}),
    );
    let close = format!("/v1/sessions/{session}/close");
    assert_eq!(guest.refused("POST", &close, &json!({})).0, 403);
    assert_eq!(owner.done("POST", &close, &json!({}))["state"], "CLOSED");
    let mut reader = Actor::agent(&server, "c", 3);
    let open = owner.session();
    let refused = reader.refused(
        "POST",
        &format!("/v1/sessions/{open}/messages"),
        &json!({"message": user("x")}),
    );
    assert_eq!(refused.0, 403, "authority 3 may not write");
}

#[test]
fn a_key_that_is_used_again_makes_nothing_twice() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let body = json!({"workspace_id": "workspace_default"});
    let first = actor.post_once("k", "/v1/sessions", &body);
    let again = actor.post_once("k", "/v1/sessions", &body);
    assert_eq!(
        (first.status, first.json()["id"].clone()),
        (again.status, again.json()["id"].clone())
    );
    let other = json!({"workspace_id": "workspace_default", "metadata": {"x": 1}});
    let reply = actor.post_once("k", "/v1/sessions", &other);
    assert_eq!(refusal(&reply), refused(409, "idempotency_key_reused"));
    let session = id(&first.json());
    let path = format!("/v1/sessions/{session}/messages");
    let said = json!({"message": user("once")});
    let one = actor.post_once("m", &path, &said).json();
    let spaced = "{ \"message\" : {\"parts\":[{\"visibility\":\"public\",\"text\":\"once\",\"type\":\"text\"}],\"role\":\"user\"}}";
    let two = actor.post_once("m", &path, &serde_json::from_str(spaced).unwrap()).json();
    assert_eq!(one["id"], two["id"]);
    assert_eq!(actor.texts(&session), ["once"]);
    let fork = format!("/v1/sessions/{session}/fork");
    let one = actor.post_once("f", &fork, &json!({})).json();
    assert_eq!(one["id"], actor.post_once("f", &fork, &json!({})).json()["id"]);
}

#[test]
fn a_fork_shares_the_past_and_not_the_future() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let parent = actor.session();
    actor.say(&parent, "one");
    let events = actor.read(&format!("/v1/sessions/{parent}/events"));
    let at = id(events["data"].as_array().unwrap().last().unwrap());
    actor.say(&parent, "two");
    let path = format!("/v1/sessions/{parent}/fork");
    let fork = actor.made(&path, &json!({"at_event_id": at, "metadata": {"why": "try"}}));
    assert_eq!(fork["parent_session_id"], json!(parent));
    assert_eq!(fork["root_session_id"], json!(parent));
    assert_eq!(fork["metadata"], json!({"why": "try"}));
    let fork = (id(&fork), fork["branch_id"].as_str().unwrap().to_owned());
    actor.say(&fork.0, "other two");
    actor.say(&parent, "three");
    assert_eq!(actor.texts(&parent), ["one", "two", "three"]);
    assert_eq!(actor.texts(&fork.0), ["one", "other two"]);
    let whole_fork = actor.post(&format!("/v1/sessions/{}/fork", fork.0), &json!(null));
    assert_eq!(whole_fork.status, 400, "a body of null is no object");
    let empty = actor.made(&format!("/v1/sessions/{}/fork", fork.0), &json!({}));
    assert_eq!(empty["root_session_id"], json!(parent));
    assert_eq!(actor.texts(&id(&empty)), ["one", "other two"]);
    let branch = actor.read(&format!("/v1/branches/{}", fork.1));
    assert_eq!((&branch["kind"], &branch["base_ref"]), (&json!("session"), &json!(at)));
    assert_eq!(branch["session_id"], json!(fork.0));
    assert_eq!(ids(&actor.read(&format!("/v1/sessions/{parent}/branches"))), [fork.1]);
    let kinds = actor.kinds(&format!("/v1/sessions/{parent}/events"));
    assert!(kinds.contains(&"session.thread_forked".to_owned()), "{kinds:?}");
    assert!(kinds.contains(&"branch.created".to_owned()), "{kinds:?}");
    let bad = actor.refused("POST", &path, &json!({"at_event_id": "event_ffffffffffffffff"}));
    assert_eq!(bad, whole(400, "invalid_request", "at_event_id"));
    let other = actor.session();
    let strange = actor.read(&format!("/v1/sessions/{other}"))["last_event_id"].clone();
    let bad = actor.refused("POST", &path, &json!({"at_event_id": strange}));
    assert_eq!(bad, whole(400, "invalid_request", "at_event_id"));
    let bad = actor.refused("POST", &path, &json!({"branch_id": "branch_x"}));
    assert_eq!(bad, whole(404, "resource_not_found", "branch_id"));
}

#[test]
fn a_fork_takes_a_branch_of_its_parent() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let (parent, other) = (actor.session(), actor.session());
    let path = format!("/v1/sessions/{parent}/branches");
    let branch = actor.made(&path, &json!({"kind": "session", "base_ref": "main"}));
    assert_eq!((&branch["object"], &branch["session_id"]), (&json!("branch"), &json!(parent)));
    let body = json!({"branch_id": branch["id"]});
    let fork = actor.made(&format!("/v1/sessions/{parent}/fork"), &body);
    assert_eq!(fork["branch_id"], branch["id"]);
    assert_eq!(actor.read(&format!("/v1/branches/{}", id(&branch)))["session_id"], fork["id"]);
    let refused = actor.refused("POST", &format!("/v1/sessions/{other}/fork"), &body);
    assert_eq!(refused, whole(404, "resource_not_found", "branch_id"));
}

#[test]
fn what_is_cut_off_is_not_in_the_transcript_any_more_but_in_older_forks() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let session = actor.session();
    for text in ["one", "two", "three"] {
        actor.say(&session, text);
    }
    let fork = id(&actor.made(&format!("/v1/sessions/{session}/fork"), &json!({})));
    let path = format!("/v1/sessions/{session}/truncate");
    let body = json!({"keep_first": 1, "reason": "off the point"});
    let cut = actor.done("POST", &path, &body);
    assert_eq!(cut["object"], "session.truncate_result");
    assert_eq!((&cut["kept_turn_count"], &cut["removed_turn_count"]), (&json!(1), &json!(2)));
    assert_eq!(cut["session"]["id"], json!(session));
    actor.say(&session, "again");
    assert_eq!(actor.texts(&session), ["one", "again"]);
    assert_eq!(actor.texts(&fork), ["one", "two", "three"]);
    let later = id(&actor.made(&format!("/v1/sessions/{session}/fork"), &json!({})));
    assert_eq!(actor.texts(&later), ["one", "again"]);
    let nothing = actor.done("POST", &path, &json!({"keep_first": 9}));
    assert_eq!(nothing["removed_turn_count"], 0);
    let events = actor.read(&format!("/v1/sessions/{session}/events"));
    let told: Vec<_> = events["data"].as_array().unwrap().iter().collect();
    let cuts: Vec<_> = told.iter().filter(|e| e["event"] == "session.truncated").collect();
    assert_eq!(cuts.len(), 1);
    assert_eq!(cuts[0]["payload"]["reason"], "off the point");
    for bad in [json!({}), json!({"keep_first": -1}), json!({"keep_first": "1"})] {
        let refused = actor.refused("POST", &path, &bad);
        assert_eq!(refused, whole(400, "invalid_request", "keep_first"));
    }
    actor.done("POST", &path, &json!({"keep_first": 0}));
    assert_eq!(actor.texts(&session), Vec::<String>::new());
}

#[test]
fn what_is_not_public_is_shown_to_nobody_else() {
    let server = TestServer::start();
    let mut actor = Actor::agent(&server, "a", 5);
    let session = actor.session();
    let parts = json!([
        {"type": "text", "text": "for all"},
        {"type": "text", "text": "canary-internal", "visibility": "internal"},
        {"type": "text", "text": "canary-receipt", "visibility": "receipt_only"},
    ]);
    let body = json!({"message": {"role": "user", "parts": parts}});
    let message = actor.made(&format!("/v1/sessions/{session}/messages"), &body);
    let mut outputs = message.to_string();
    for path in [
        format!("/v1/messages/{}", id(&message)),
        format!("/v1/sessions/{session}/messages"),
        format!("/v1/sessions/{session}/events"),
        "/v1/events".to_owned(),
    ] {
        outputs.push_str(&actor.get(&path).text());
    }
    assert!(outputs.contains("for all") && !outputs.contains("canary"), "{outputs}");
    let operator = Actor::operator(&server).get(&format!("/v1/messages/{}", id(&message))).text();
    assert!(operator.contains("canary-internal") && !operator.contains("canary-receipt"));
}

#[test]
fn the_built_in_resources_are_there_and_cannot_be_changed() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    for (path, object, patch) in [
        ("/v1/workspaces/workspace_default", "workspace", json!({"name": "x"})),
        ("/v1/personas/persona_field", "persona", json!({"description": "x"})),
        ("/v1/personas/persona_worker", "persona", json!({"description": "x"})),
        ("/v1/sessions/session_default", "session", json!({"summary": "x"})),
    ] {
        assert_eq!(actor.read(path)["object"], object);
        let refused = actor.refused("PATCH", path, &patch);
        assert_eq!(refused, whole(422, "policy_violation", ""), "{path}");
    }
    for verb in ["close", "fork", "truncate"] {
        let path = format!("/v1/sessions/session_default/{verb}");
        assert_eq!(actor.refused("POST", &path, &json!({"keep_first": 0})).0, 422, "{verb}");
    }
    let skills = actor.read("/v1/skills");
    assert_eq!(ids(&skills), ["skill_attune"]);
    assert_eq!(actor.read("/v1/skills/skill_attune"), skills["data"][0]);
    assert_eq!(refusal(&actor.get("/v1/skills/skill_x")), refused(404, "resource_not_found"));
    actor.say("session_default", "anybody may");
    assert_eq!(actor.texts("session_default"), ["anybody may"]);
}

#[test]
fn workspaces_and_personas_are_made_listed_and_changed() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let workspace = actor.made("/v1/workspaces", &json!({"name": "w", "root": "/r"}));
    let path = format!("/v1/workspaces/{}", id(&workspace));
    let changed = actor.done("PATCH", &path, &json!({"metadata": {"x": 1}, "capabilities": ["a"]}));
    assert_eq!(actor.read(&path), changed);
    assert_eq!(
        ids(&actor.read("/v1/workspaces")),
        ["workspace_default".to_owned(), id(&workspace)]
    );
    let persona = json!({
        "name": "reviewer", "version": "1", "entry_workflow": "main", "description": "reviews",
        "autonomy_tier": "suggest", "receipt_policy": "required",
        "module_ref": "harn://owner/name@1",
    });
    let made = actor.made("/v1/personas", &persona);
    assert_eq!(made["metadata"]["module_ref"], "harn://owner/name@1");
    let path = format!("/v1/personas/{}", id(&made));
    let changed = actor.done("PATCH", &path, &json!({"description": "reviews more"}));
    assert_eq!(
        (&changed["description"], &changed["name"]),
        (&json!("reviews more"), &json!("reviewer"))
    );
    let first = actor.read("/v1/personas?limit=2");
    assert_eq!(ids(&first), ["persona_field", "persona_worker"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_eq!(ids(&actor.read(&format!("/v1/personas?cursor={cursor}"))), [id(&made)]);
    let taken = json!({
        "name": "field", "version": "1", "entry_workflow": "m", "description": "d",
        "autonomy_tier": "suggest", "receipt_policy": "required",
    });
    assert_eq!(actor.refused("POST", "/v1/personas", &taken), whole(409, "conflict", "name"));
    let bad = actor.refused("PATCH", &path, &json!({"quota_id": "quota_x"}));
    assert_eq!(bad, whole(404, "resource_not_found", "quota_id"));
    for (path, body) in [("/v1/personas", json!({"name": "x"})), ("/v1/workspaces", json!([]))] {
        assert_eq!(actor.refused("POST", path, &body).0, 400, "{path}");
    }
}
