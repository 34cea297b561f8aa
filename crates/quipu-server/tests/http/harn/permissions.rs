//! What a Task waits for, what is said to it, permissions, and quotas.

use serde_json::{Value, json};

use super::{
    actors::{Actor, id, ids, user},
    refusal, refused,
};
use crate::support::TestServer;

/// A Task of a Persona that a worker has taken.
struct Work {
    session: String,
    task: String,
}

fn persona(actor: &mut Actor) -> String {
    let body = json!({
        "name": "worker", "version": "1", "entry_workflow": "main", "description": "works",
        "autonomy_tier": "act_with_approval", "receipt_policy": "required",
    });
    id(&actor.made("/v1/personas", &body))
}

fn submit(actor: &mut Actor, session: &str, persona: &str) -> crate::support::Reply {
    let body = json!({"persona_id": persona, "input": user("do it")});
    actor.post(&format!("/v1/sessions/{session}/tasks"), &body)
}

fn begin(server: &TestServer, client: &mut Actor, worker: &mut Actor) -> Work {
    let (session, persona) = (client.session(), persona(&mut Actor::operator(server)));
    let task = id(&submit(client, &session, &persona).json());
    let claim = json!({});
    assert_eq!(worker.refused("POST", &format!("/v1/tasks/{task}/claim"), &claim).0, 404);
    join(worker, &session);
    assert_eq!(
        worker.done("POST", &format!("/v1/tasks/{task}/claim"), &json!({}))["status"],
        "WORKING"
    );
    Work { session, task }
}

fn join(actor: &mut Actor, session: &str) {
    actor.done("POST", &format!("/v1/sessions/{session}/join"), &json!({}));
}

fn status(actor: &mut Actor, task: &str) -> Value {
    actor.read(&format!("/v1/tasks/{task}"))["status"].clone()
}

fn said(actor: &mut Actor, task: &str, kind: &str) -> u16 {
    let body = json!({"kind": kind, "message": user("so be it")});
    actor.post(&format!("/v1/tasks/{task}/messages"), &body).status
}

#[test]
fn a_task_that_waits_for_input_goes_on_with_it() {
    let server = TestServer::start();
    let (mut client, mut worker) =
        (Actor::agent(&server, "client", 5), Actor::agent(&server, "worker", 5));
    let Work { session, task } = begin(&server, &mut client, &mut worker);
    let wait = format!("/v1/tasks/{task}/await");
    let mut other = Actor::agent(&server, "other", 5);
    join(&mut other, &session);
    let stranger = other.refused("POST", &wait, &json!({"for": "input", "reason": "x"}));
    assert_eq!(stranger.0, 409, "only who works on it waits");
    let waiting = worker.done("POST", &wait, &json!({"for": "input", "reason": "which one?"}));
    assert_eq!(waiting["status"], "INPUT_REQUIRED");
    assert_eq!(said(&mut client, &task, "interrupt"), 201);
    assert_eq!(status(&mut client, &task), "INPUT_REQUIRED", "a word in between moves nothing");
    assert_eq!(said(&mut client, &task, "input"), 201);
    assert_eq!(status(&mut client, &task), "WORKING");
    let kinds = client.kinds(&format!("/v1/tasks/{task}/events"));
    for kind in
        ["task.input_required", "user.message", "user.input_submitted", "task.status_changed"]
    {
        assert!(kinds.contains(&kind.to_owned()), "{kind}: {kinds:?}");
    }
    assert_eq!(client.texts(&session).len(), 2, "what is said to a task is said in its session");
    worker.done("POST", &format!("/v1/tasks/{task}/complete"), &json!({"summary": "done"}));
    assert_eq!(said(&mut client, &task, "input"), 409);
}

#[test]
fn what_is_said_to_a_task_must_be_right() {
    let server = TestServer::start();
    let (mut client, mut worker) =
        (Actor::agent(&server, "client", 5), Actor::agent(&server, "worker", 5));
    let Work { task, .. } = begin(&server, &mut client, &mut worker);
    let path = format!("/v1/tasks/{task}/messages");
    for (body, param) in [
        (json!({}), "kind"),
        (json!({"kind": "shout", "message": user("x")}), "kind"),
        (json!({"kind": "input"}), "message"),
        (json!({"kind": "input", "message": {"role": "king", "parts": []}}), "message.role"),
    ] {
        let refused = client.refused("POST", &path, &body);
        assert_eq!((refused.0, refused.2.as_str()), (400, param), "{body}");
    }
    assert_eq!(said(&mut client, "task_x", "input"), 404);
    for (body, param) in [
        (json!({"reason": "x"}), "for"),
        (json!({"for": "luck", "reason": "x"}), "for"),
        (json!({"for": "input"}), "reason"),
    ] {
        let refused = worker.refused("POST", &format!("/v1/tasks/{task}/await"), &body);
        assert_eq!((refused.0, refused.2.as_str()), (400, param), "{body}");
    }
    let once = json!({"kind": "interrupt", "message": user("once")});
    let first = client.post_once("m", &path, &once).json();
    assert_eq!(client.post_once("m", &path, &once).json()["id"], first["id"]);
}

fn ask(worker: &mut Actor, task: &str, target: &str) -> Value {
    let body = json!({
        "for": "auth", "reason": "may I?", "class": "exec", "action": "run", "target": target,
    });
    worker.done("POST", &format!("/v1/tasks/{task}/await"), &body)
}

fn questions(actor: &mut Actor, task: &str) -> Vec<Value> {
    let list = actor.read(&format!("/v1/tasks/{task}/permission-requests"));
    list["data"].as_array().unwrap().clone()
}

#[test]
fn a_task_that_asks_for_permission_goes_on_with_the_answer() {
    let server = TestServer::start();
    let (mut client, mut worker) =
        (Actor::agent(&server, "client", 5), Actor::agent(&server, "worker", 5));
    let Work { session, task } = begin(&server, &mut client, &mut worker);
    for (approved, word) in [(true, "approved"), (false, "denied")] {
        assert_eq!(ask(&mut worker, &task, "ls")["status"], "AUTH_REQUIRED");
        assert_eq!(said(&mut client, &task, "input"), 201);
        assert_eq!(status(&mut client, &task), "AUTH_REQUIRED", "an input allows nothing");
        let question = questions(&mut client, &task).last().unwrap().clone();
        assert_eq!(
            (&question["object"], &question["status"]),
            (&json!("permission_request"), &json!("pending"))
        );
        assert_eq!(question["action"]["target"], "ls");
        let respond = format!("/v1/permission-requests/{}/respond", id(&question));
        let own = worker.refused("POST", &respond, &json!({"approved": true}));
        assert_eq!((own.0, own.1.as_str()), (403, "permission_denied"), "whoever asks");
        let answered =
            client.done("POST", &respond, &json!({"approved": approved, "reason": "so"}));
        assert_eq!(answered["status"], word);
        assert_eq!(answered["response"]["reviewer"], "client");
        assert_eq!(status(&mut worker, &task), "WORKING");
        let again = client.refused("POST", &respond, &json!({"approved": true}));
        assert_eq!((again.0, again.1.as_str()), (409, "conflict"));
    }
    let kinds = client.kinds(&format!("/v1/tasks/{task}/events"));
    for kind in ["task.auth_required", "tool.approval_required", "tool.approved", "tool.denied"] {
        assert!(kinds.contains(&kind.to_owned()), "{kind}: {kinds:?}");
    }
    assert_eq!(
        ids(&client.read(&format!("/v1/permission-requests?session_id={session}"))).len(),
        2
    );
    assert!(ids(&client.read("/v1/permission-requests?task_id=task_x")).is_empty());
    let history = client.read(&format!("/v1/permissions/history?session_id={session}"));
    let outcomes: Vec<_> =
        history["data"].as_array().unwrap().iter().map(|e| &e["outcome"]).collect();
    assert_eq!(outcomes, ["denied", "escalated", "granted", "escalated"]);
    assert_eq!(history["data"][0]["decided_by"], "client");
}

#[test]
fn who_asks_does_not_answer_under_another_name() {
    let server = TestServer::start();
    // A Field is brought into being by who may.
    Actor::operator(&server).session();
    let key = server.key(7);
    let [mut asks, mut answers] =
        ["asking", "answering"].map(|name| Actor::of_any(&server, &key, name));
    let Work { task, .. } = begin(&server, &mut answers, &mut asks);
    ask(&mut asks, &task, "rm *");
    let respond =
        format!("/v1/permission-requests/{}/respond", id(&questions(&mut asks, &task)[0]));
    let yes = json!({"approved": true});
    for actor in [&mut asks, &mut answers] {
        assert_eq!(actor.refused("POST", &respond, &yes).0, 403);
    }
    Actor::agent(&server, "answering", 7).done("POST", &respond, &yes);
}

#[test]
fn an_answer_must_say_yes_or_no() {
    let server = TestServer::start();
    let (mut client, mut worker) =
        (Actor::agent(&server, "client", 5), Actor::agent(&server, "worker", 5));
    let Work { task, .. } = begin(&server, &mut client, &mut worker);
    ask(&mut worker, &task, "ls");
    let respond =
        format!("/v1/permission-requests/{}/respond", id(&questions(&mut client, &task)[0]));
    for (body, param) in [
        (json!({}), "approved"),
        (json!({"approved": "yes"}), "approved"),
        (json!({"outcome": "perhaps"}), "outcome"),
        (json!({"outcome": "denied", "approved": true}), "outcome"),
        (json!({"approved": true, "expires_at": "tomorrow"}), "expires_at"),
    ] {
        let refused = client.refused("POST", &respond, &body);
        assert_eq!((refused.0, refused.2.as_str()), (400, param), "{body}");
    }
    let missing = "/v1/permission-requests/permission_request_x/respond";
    assert_eq!(client.refused("POST", missing, &json!({"approved": true})).0, 404);
    assert_eq!(
        client.refused("POST", &respond, &json!({"approved": true, "remember": true})).0,
        403,
        "what holds from now on is for authority 8"
    );
    assert_eq!(
        client.done("POST", &respond, &json!({"outcome": "approved"}))["status"],
        "approved"
    );
}

#[test]
fn a_remembered_answer_answers_the_next_question_and_no_other() {
    let server = TestServer::start();
    let (mut operator, mut worker) = (Actor::operator(&server), Actor::agent(&server, "worker", 5));
    let Work { task, .. } = begin(&server, &mut operator, &mut worker);
    ask(&mut worker, &task, "rm *");
    let respond =
        format!("/v1/permission-requests/{}/respond", id(&questions(&mut operator, &task)[0]));
    operator.done("POST", &respond, &json!({"approved": true, "remember": true}));
    let rules = operator.read("/v1/permissions/rules");
    assert_eq!(
        (&rules["data"][0]["scope"], &rules["data"][0]["allow"]),
        (&json!("session"), &json!(true))
    );
    assert_eq!(ask(&mut worker, &task, "rm *")["status"], "WORKING", "it is known");
    assert_eq!(questions(&mut operator, &task)[1]["status"], "approved");
    assert_eq!(ask(&mut worker, &task, "rm everything")["status"], "AUTH_REQUIRED");
    let respond =
        format!("/v1/permission-requests/{}/respond", id(&questions(&mut operator, &task)[2]));
    operator.done("POST", &respond, &json!({"approved": false}));
    let rule = format!("/v1/permissions/rules/{}", id(&rules["data"][0]));
    assert_eq!(worker.refused("DELETE", &rule, &json!({})).0, 403);
    assert_eq!(operator.send("DELETE", &rule, &json!({})).status, 204);
    assert_eq!(operator.refused("DELETE", &rule, &json!({})).0, 404);
    assert_eq!(ask(&mut worker, &task, "rm *")["status"], "AUTH_REQUIRED");
}

fn check(actor: &mut Actor, session: &str, class: &str, target: &str) -> Value {
    let body = json!({
        "session_id": session, "actor": "bot", "class": class, "action": "do", "target": target,
    });
    actor.done("POST", "/v1/permissions/check", &body)["decision"].clone()
}

#[test]
fn the_policy_decides_and_rules_decide_before_it_the_narrowest_first() {
    let server = TestServer::start();
    let mut operator = Actor::operator(&server);
    let session = operator.session();
    let empty = operator.read("/v1/permissions/policy");
    assert_eq!(
        (&empty["object"], &empty["policy"]["read"]),
        (&json!("permission_policy"), &json!([]))
    );
    assert_eq!(check(&mut operator, &session, "read", "src/a.rs")["outcome"], "suspend");
    let policy =
        json!({"read": ["src/*"], "llm": {"providers": ["local"]}, "escalate_to": ["user"]});
    let set = operator.done("PUT", "/v1/permissions/policy", &policy);
    assert_ne!(set["version"], empty["version"]);
    assert_eq!(operator.read("/v1/permissions/policy"), set);
    let granted = check(&mut operator, &session, "read", "src/a.rs");
    assert_eq!(
        (&granted["outcome"], &granted["policy_version"]),
        (&json!("granted"), &set["version"])
    );
    assert_eq!(check(&mut operator, &session, "llm", "local")["outcome"], "granted");
    let asked = check(&mut operator, &session, "write", "src/a.rs");
    assert_eq!((&asked["outcome"], &asked["escalate_to"]), (&json!("suspend"), &json!(["user"])));
    let rule = |scope: &str, value: Option<&str>, allow: bool| {
        let mut rule = json!({
            "scope": scope, "class": "read", "action_pattern": "*", "target_pattern": "src/*",
            "allow": allow,
        });
        if let Some(value) = value {
            rule["scope_value"] = json!(value);
        }
        rule
    };
    operator.done("POST", "/v1/permissions/rules", &rule("always", None, false));
    assert_eq!(check(&mut operator, &session, "read", "src/a.rs")["outcome"], "denied");
    let narrow =
        operator.done("POST", "/v1/permissions/rules", &rule("session", Some(&session), true));
    let decided = check(&mut operator, &session, "read", "src/a.rs");
    assert_eq!((&decided["outcome"], &decided["rule_id"]), (&json!("granted"), &narrow["id"]));
    operator.done("POST", "/v1/permissions/rules", &rule("session", Some(&session), false));
    assert_eq!(
        check(&mut operator, &session, "read", "src/a.rs")["outcome"],
        "denied",
        "no beats yes"
    );
    let scopes = operator.read("/v1/permissions/rules");
    let scopes: Vec<_> = scopes["data"].as_array().unwrap().iter().map(|r| &r["scope"]).collect();
    assert_eq!(scopes, ["session", "session", "always"]);
    let granted = operator.read("/v1/permissions/history?outcome=granted&actor=bot&limit=2");
    assert_eq!(granted["data"].as_array().unwrap().len(), 2);
}

#[test]
fn an_actor_asks_for_itself_alone_unless_the_session_or_the_field_is_its_own() {
    let server = TestServer::start();
    let (mut owner, mut agent) = (Actor::agent(&server, "owner", 4), Actor::agent(&server, "a", 7));
    let mut lead = Actor::agent(&server, "lead", 8);
    let session = owner.session();
    join(&mut agent, &session);
    join(&mut lead, &session);
    let question = |actor: &str| json!({"session_id": session, "actor": actor, "class": "net", "action": "x", "target": "y"});
    for forged in ["owner", "lead", "nobody", "A"] {
        let refused = agent.refused("POST", "/v1/permissions/check", &question(forged));
        assert_eq!((refused.0, refused.1.as_str()), (403, "permission_denied"), "{forged}");
        assert_eq!(refused.2, "actor");
    }
    for actor in [&mut owner, &mut agent, &mut lead] {
        actor.done("POST", "/v1/permissions/check", &question("a"));
    }
    let history = owner.read(&format!("/v1/permissions/history?session_id={session}"));
    let asked = history["data"].as_array().unwrap();
    assert_eq!(asked.len(), 3, "what is refused is not in the history");
    assert!(asked.iter().all(|entry| entry["request"]["actor"] == "a"), "{history}");
}

#[test]
fn a_denial_is_lifted_by_who_made_it_and_by_nobody_else() {
    let server = TestServer::start();
    let mut operator = Actor::operator(&server);
    let (session, mut chief) = (operator.session(), Actor::agent(&server, "chief", 8));
    join(&mut chief, &session);
    let rule = |scope: &str, allow: bool| {
        let value = (scope == "session").then_some(&session);
        json!({"scope": scope, "scope_value": value, "class": "exec", "action_pattern": "*",
               "target_pattern": "rm *", "allow": allow})
    };
    let makes = |actor: &mut Actor, scope: &str, allow: bool| {
        id(&actor.done("POST", "/v1/permissions/rules", &rule(scope, allow)))
    };
    let denial = makes(&mut operator, "always", false);
    makes(&mut chief, "session", true);
    let decided = check(&mut chief, &session, "exec", "rm -rf /");
    assert_eq!((&decided["outcome"], &decided["rule_id"]), (&json!("denied"), &json!(denial)));
    makes(&mut operator, "session", true);
    assert_eq!(check(&mut chief, &session, "exec", "rm -rf /")["outcome"], "granted");
}

#[test]
fn a_rule_that_has_run_out_decides_nothing() {
    let server = TestServer::start();
    let mut operator = Actor::operator(&server);
    let session = operator.session();
    let rule = json!({
        "scope": "always", "class": "net", "action_pattern": "*", "target_pattern": "*",
        "allow": true, "expires_at": "2020-01-01T00:00:00Z",
    });
    operator.done("POST", "/v1/permissions/rules", &rule);
    assert_eq!(check(&mut operator, &session, "net", "example.com")["outcome"], "suspend");
    assert!(ids(&operator.read("/v1/permissions/rules")).is_empty());
}

#[test]
fn policies_rules_and_checks_that_are_wrong_are_refused() {
    let server = TestServer::start();
    let (mut operator, mut agent) = (Actor::operator(&server), Actor::agent(&server, "a", 7));
    assert_eq!(agent.refused("PUT", "/v1/permissions/policy", &json!({})).0, 403);
    let bad = operator.refused("PUT", "/v1/permissions/policy", &json!({"read": "all"}));
    assert_eq!((bad.0, bad.2.as_str()), (400, "read"));
    let rule = json!({
        "scope": "session", "scope_value": "session_x", "class": "net", "action_pattern": "*",
        "target_pattern": "*", "allow": true,
    });
    assert_eq!(agent.refused("POST", "/v1/permissions/rules", &rule).0, 403);
    let unknown = operator.refused("POST", "/v1/permissions/rules", &rule);
    assert_eq!((unknown.0, unknown.2.as_str()), (404, "scope_value"));
    for missing in ["scope_value", "class", "action_pattern", "allow"] {
        let mut bad = rule.clone();
        bad.as_object_mut().unwrap().remove(missing);
        let refused = operator.refused("POST", "/v1/permissions/rules", &bad);
        assert_eq!((refused.0, refused.2.as_str()), (400, missing));
    }
    let question = json!({
        "session_id": "session_x", "actor": "a", "class": "net", "action": "x", "target": "y",
    });
    let refused_at = agent.refused("POST", "/v1/permissions/check", &question);
    assert_eq!((refused_at.0, refused_at.2.as_str()), (404, "session_id"));
    let reply = agent.get("/v1/permissions/history?outcome=maybe");
    assert_eq!(refusal(&reply), refused(400, "invalid_request"));
}

#[test]
fn a_hard_quota_is_asked_before_work_and_counts_what_was_done() {
    let server = TestServer::start();
    let (mut operator, mut worker) = (Actor::operator(&server), Actor::agent(&server, "worker", 5));
    let body = json!({"scope": "persona", "limits": {"tasks": 2, "llm_calls": 1}});
    assert_eq!(worker.refused("POST", "/v1/quotas", &body).0, 403);
    let quota = id(&operator.made("/v1/quotas", &body));
    let (session, limited) = (operator.session(), persona(&mut operator));
    let free = persona(&mut operator);
    operator.done("PATCH", &format!("/v1/personas/{limited}"), &json!({"quota_id": quota}));
    let first = id(&submit(&mut operator, &session, &limited).json());
    join(&mut worker, &session);
    worker.done("POST", &format!("/v1/tasks/{first}/claim"), &json!({}));
    let call =
        |key: &str| json!({"key": key, "kind": "llm_provider_response", "value": {"said": 1}});
    let record = format!("/v1/tasks/{first}/dependencies");
    worker.made(&record, &call("llm:main:1"));
    let beyond = worker.post(&record, &call("llm:main:2"));
    assert_eq!(refusal(&beyond), refused(429, "rate_limited"));
    assert_eq!(worker.post(&record, &call("llm:main:1")).status, 200, "what is recorded stays");
    submit(&mut operator, &session, &limited);
    let beyond = submit(&mut operator, &session, &limited);
    assert_eq!(refusal(&beyond), refused(429, "rate_limited"));
    let details = &beyond.json()["error"]["details"];
    assert_eq!((&details["quota_id"], &details["unit"]), (&json!(quota), &json!("tasks")));
    assert_eq!((&details["limit"], &details["used"]), (&json!(2.0), &json!(2.0)));
    assert_eq!(submit(&mut operator, &session, &free).status, 202, "another Persona is free");
    let shown = operator.read(&format!("/v1/quotas/{quota}"));
    assert_eq!(shown["usage"], json!({"tasks": 2.0, "llm_calls": 1.0, "tool_calls": 0.0}));
    assert!(shown["exhaustion_reason"].as_str().unwrap().contains("tasks"));
    assert_eq!(ids(&operator.read("/v1/quotas")), [quota.as_str()]);
    let raised =
        operator.done("PATCH", &format!("/v1/quotas/{quota}"), &json!({"limits": {"tasks": 3}}));
    assert_eq!(raised["limits"], json!({"tasks": 3.0}));
    assert_eq!(submit(&mut operator, &session, &limited).status, 202);
    operator.done("PATCH", &format!("/v1/quotas/{quota}"), &json!({"hard_limit": false}));
    assert_eq!(submit(&mut operator, &session, &limited).status, 202, "a soft one only tells");
}

#[test]
fn a_quota_of_a_workspace_and_one_of_the_tenant_hold_too_and_a_retry_is_not_work() {
    let server = TestServer::start();
    let mut operator = Actor::operator(&server);
    let workspace = id(&operator.made("/v1/workspaces", &json!({"name": "w", "root": "/"})));
    let body = json!({"scope": "workspace", "limits": {"tasks": 1}});
    let quota = id(&operator.made("/v1/quotas", &body));
    operator.done("PATCH", &format!("/v1/workspaces/{workspace}"), &json!({"quota_id": quota}));
    let session = id(&operator.made("/v1/sessions", &json!({"workspace_id": workspace})));
    let path = format!("/v1/sessions/{session}/tasks");
    let task = json!({"input": user("x")});
    let first = operator.post_once("k", &path, &task);
    let again = operator.post_once("k", &path, &task);
    assert_eq!((again.status, &again.json()["id"]), (200, &first.json()["id"]));
    assert_eq!(refusal(&operator.post(&path, &task)).0, 429);
    let elsewhere = format!("/v1/sessions/{}/tasks", operator.session());
    assert_eq!(operator.post(&elsewhere, &task).status, 202);
    operator.made("/v1/quotas", &json!({"scope": "tenant", "limits": {"tasks": 2}}));
    assert_eq!(refusal(&operator.post(&elsewhere, &task)).0, 429);
    for (body, param) in [
        (json!({"scope": "tenant"}), "limits"),
        (json!({"limits": {}}), "scope"),
        (json!({"scope": "tenant", "limits": {"wishes": 3}}), "limits"),
        (json!({"scope": "tenant", "limits": {"tasks": -1}}), "limits.tasks"),
        (json!({"scope": "tenant", "limits": {}, "period_ms": 0}), "period_ms"),
    ] {
        let refused = operator.refused("POST", "/v1/quotas", &body);
        assert_eq!((refused.0, refused.2.as_str()), (400, param), "{body}");
    }
    assert_eq!(refusal(&operator.get("/v1/quotas/quota_x")).0, 404);
}
