//! What a run kept for itself comes out neither by a session of one's own nor by what the run came to, and nobody asks
//! what is permitted under the name of somebody else.

use serde_json::json;

use super::harn_actor::{Actor, World, persona, text};

const CANARY: &str = "kept-canary-7302";

/// A session that its owner opened and others joined, and in it a Task of the owner's whose worker kept something for
/// itself: an answer, and what an Artifact says beside its content.
struct Run {
    world: World,
    session: String,
    task: String,
    owner: Actor,
    eve: Actor,
}

impl Run {
    fn ended() -> Self {
        let mut world = World::new();
        let [mut owner, mut worker, mut eve] =
            ["owner", "worker", "eve"].map(|it| world.agent(it, 4));
        let session = owner.made("/v1/sessions", &json!({"workspace_id": "workspace_default"}));
        for actor in [&mut worker, &mut eve] {
            actor.done("POST", &format!("/v1/sessions/{session}/join"), &json!({}));
        }
        let persona = world.operator.made("/v1/personas", &persona("act_auto"));
        let body = json!({"persona_id": persona, "input": "go"});
        let task = owner.made(&format!("/v1/sessions/{session}/tasks"), &body);
        let at = |what: &str| format!("/v1/tasks/{task}/{what}");
        worker.done("POST", &at("claim"), &json!({}));
        let answer = json!({"key": "host:fact:1", "kind": "host_fact", "value": CANARY,
            "visibility": "receipt_only"});
        worker.done("POST", &at("dependencies"), &answer);
        let artifact = json!({"kind": "file", "mime_type": "text/plain", "visibility": "internal",
            "session_id": session, "metadata": {"note": CANARY}, "uri": format!("https://a/{CANARY}")});
        let artifact = worker.made("/v1/artifacts", &artifact);
        let end = json!({"summary": "done", "artifacts": [artifact]});
        worker.done("POST", &at("complete"), &end);
        Self { world, session, task, owner, eve }
    }
}

/// What this actor is told, which works on a replay of its own, is a refusal.
#[track_caller]
fn is_told_nothing(actor: &mut Actor, task: &str) {
    let body = json!({"metadata": {"executor": "worker"}});
    let replay = actor.made(&format!("/v1/tasks/{task}/replay"), &body);
    actor.done("POST", &format!("/v1/tasks/{replay}/claim"), &json!({}));
    let resolve = format!("/v1/tasks/{replay}/dependencies/resolve");
    let error = actor.refused("POST", &resolve, &json!({"key": "host:fact:1"}), 403);
    assert_eq!(error["code"], "permission_denied", "{error}");
    assert!(!error.to_string().contains(CANARY), "{error}");
}

#[test]
fn no_session_of_ones_own_opens_what_the_worker_of_a_run_kept_for_itself() {
    let Run { world: _world, session, task, mut owner, mut eve } = Run::ended();
    is_told_nothing(&mut eve, &task);
    is_told_nothing(&mut owner, &task);
    let fork = eve.made(&format!("/v1/sessions/{session}/replay"), &json!({}));
    let replays = eve.read(&format!("/v1/sessions/{fork}/tasks"));
    let replay = text(&replays["data"][0]["id"]);
    eve.ended(&replay);
    is_told_nothing(&mut eve, &replay);
}

#[test]
fn an_outcome_tells_nobody_what_the_artifact_itself_does_not() {
    let Run { mut world, task, mut eve, .. } = Run::ended();
    let outcomes = format!("/v1/outcomes?task_id={task}");
    let told = eve.read(&outcomes);
    let id = text(&told["data"][0]["id"]);
    let one = eve.read(&format!("/v1/outcomes/{id}"));
    for outcome in [&told["data"][0], &one] {
        assert_eq!(outcome["artifacts"][0]["metadata"], json!({"redacted": "internal"}));
        assert!(!outcome.to_string().contains(CANARY), "{outcome}");
    }
    assert!(world.operator.read(&outcomes).to_string().contains(CANARY), "authority 10 sees it");
}

#[test]
fn nobody_asks_what_is_permitted_under_the_name_of_somebody_else() {
    let Run { world: _world, session, mut owner, mut eve, .. } = Run::ended();
    let question = |actor: &str| json!({"session_id": session, "actor": actor, "class": "net", "action": "x", "target": "y"});
    let error = eve.refused("POST", "/v1/permissions/check", &question("owner"), 403);
    assert_eq!(error["param"], "actor", "{error}");
    eve.done("POST", "/v1/permissions/check", &question("eve"));
    owner.done("POST", "/v1/permissions/check", &question("eve"));
}
