//! A receipt names as approver the agent whose key answered, whatever name somebody gave.

use serde_json::{Value, json};

use super::harn_actor::{Actor, World, persona};

/// A Task under a Persona of this autonomy that somebody submitted and the worker has taken.
fn taken(world: &mut World, maker: &mut Actor, worker: &mut Actor, autonomy: &str) -> String {
    let persona = world.operator.made("/v1/personas", &persona(autonomy));
    let task = maker.submit(&persona);
    worker.done("POST", &format!("/v1/tasks/{task}/claim"), &json!({}));
    task
}

/// Asks whether a tool may be used, and gives the question.
fn asks(worker: &mut Actor, task: &str, tool: &str) -> String {
    let body = json!({"for": "auth", "reason": "may I?", "class": "exec", "action": "run", "target": tool});
    worker.done("POST", &format!("/v1/tasks/{task}/await"), &body);
    let list = worker.read(&format!("/v1/tasks/{task}/permission-requests"));
    super::harn_actor::text(&list["data"].as_array().unwrap().last().unwrap()["id"])
}

fn approvals(actor: &mut Actor, worker: &mut Actor, task: &str) -> Vec<Value> {
    worker.done("POST", &format!("/v1/tasks/{task}/complete"), &json!({"summary": "done"}));
    actor.receipt(task)["approvals"].as_array().unwrap().clone()
}

#[test]
fn the_approver_is_the_agent_of_the_key_that_answered() {
    let mut world = World::new();
    let (mut worker, mut mallory) = (world.agent("worker", 4), world.agent("mallory", 4));
    let task = taken(&mut world, &mut mallory, &mut worker, "act_with_approval");
    for approved in [true, false] {
        let question = asks(&mut worker, &task, "rm");
        let answer = json!({"approved": approved, "reviewer": "the boss"});
        let respond = format!("/v1/permission-requests/{question}/respond");
        let answered = mallory.done("POST", &respond, &answer);
        assert_eq!(answered["response"]["answered_by"], "mallory", "{answered}");
        assert_eq!(answered["response"]["reviewer"], "the boss", "a note beside it");
    }
    let events = mallory.events(&task);
    for word in ["tool.approved", "tool.denied"] {
        let event = events.iter().find(|event| event["event"] == word).unwrap();
        assert_eq!(
            (&event["actor"], &event["payload"]["reviewer"]),
            (&json!("mallory"), &json!("the boss"))
        );
    }
    let approvals = approvals(&mut mallory, &mut worker, &task);
    let actors: Vec<&Value> = approvals.iter().map(|approval| &approval["actor"]).collect();
    assert_eq!(actors, ["mallory", "mallory"], "{approvals:?}");
}

#[test]
fn where_a_rule_answered_the_receipt_names_nobody_who_did_not() {
    let mut world = World::new();
    let (mut worker, mut ada) = (world.agent("worker", 4), world.agent("ada", 4));
    let task = taken(&mut world, &mut ada, &mut worker, "act_with_approval");
    let rule = json!({"scope": "always", "class": "exec", "action_pattern": "*", "target_pattern": "*",
        "allow": true});
    world.operator.done("POST", "/v1/permissions/rules", &rule);
    let question = asks(&mut worker, &task, "ls");
    let approvals = approvals(&mut world.operator, &mut worker, &task);
    assert_eq!(approvals[0]["actor"], "system", "not the worker who asked: {approvals:?}");
    assert_eq!(approvals[0]["approval_id"], question.as_str());
}

#[test]
fn a_worker_does_not_put_its_word_under_somebodys_answer() {
    let mut world = World::new();
    let (mut worker, mut ada) = (world.agent("worker", 4), world.agent("ada", 4));
    let asked = taken(&mut world, &mut ada, &mut worker, "act_with_approval");
    let question = asks(&mut worker, &asked, "rm");
    let respond = format!("/v1/permission-requests/{question}/respond");
    world.operator.done("POST", &respond, &json!({"approved": true}));
    let task = taken(&mut world, &mut ada, &mut worker, "act_auto");
    let told = json!({"event": "tool.approved", "payload": {"request_id": question, "tool": "rm",
        "reviewer": "operator", "actor": "operator"}});
    worker.done("POST", &format!("/v1/tasks/{task}/events"), &told);
    let approvals = approvals(&mut world.operator, &mut worker, &task);
    assert_eq!(approvals[0]["actor"], "worker", "{approvals:?}");
    assert!(approvals[0]["approval_id"].is_null(), "{approvals:?}");
}
