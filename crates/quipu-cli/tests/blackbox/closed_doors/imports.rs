//! What somebody brings from another server takes the place of nothing that is here: no Outcome, no event, and nothing that
//! the end of a Task needs.

use serde_json::{Value, json};

use super::harn_actor::{Actor, World, persona};

/// A Task of an actor's own, whose worker it is.
fn works_on_a_task(actor: &mut Actor, persona: &str) -> String {
    let task = actor.submit(persona);
    actor.done("POST", &format!("/v1/tasks/{task}/claim"), &json!({}));
    task
}

fn completes(actor: &mut Actor, task: &str, summary: &str) {
    actor.done("POST", &format!("/v1/tasks/{task}/complete"), &json!({"summary": summary}));
}

/// An agent that may import, what it exported of a Task of its own, and another agent.
struct Importer {
    world: World,
    eve: Actor,
    export: Value,
    ana: Actor,
    persona: String,
}

impl Importer {
    fn start() -> Self {
        let mut world = World::new();
        let persona = world.operator.made("/v1/personas", &persona("act_auto"));
        let (mut eve, ana) = (world.agent("eve", 8), world.agent("ana", 4));
        let own = works_on_a_task(&mut eve, &persona);
        completes(&mut eve, &own, "genuine");
        let export = eve.read(&format!("/v1/tasks/{own}/export"));
        Self { world, eve, export, ana, persona }
    }

    /// The export as if it came from another server: under another id, without a receipt, its events numbered from
    /// some place on.
    fn elsewhere(&self, id: &str, first_event: u64) -> Value {
        let own = self.export["task"]["id"].as_str().unwrap().strip_prefix("task_").unwrap();
        let text = self.export.to_string().replace(own, id);
        let mut other: Value = serde_json::from_str(&text).unwrap();
        other.as_object_mut().unwrap().remove("receipt");
        other["artifacts"] = json!([]);
        other["task"].as_object_mut().unwrap().remove("receipt_id");
        for (sequence, event) in (first_event..).zip(other["events"].as_array_mut().unwrap()) {
            event["id"] = json!(format!("event_{sequence:016x}"));
            event["sequence"] = json!(sequence);
        }
        other
    }
}

#[test]
fn an_outcome_that_is_imported_has_the_id_of_its_own_task() {
    let mut it = Importer::start();
    let task = works_on_a_task(&mut it.ana, &it.persona);
    let outcome = format!("outcome_{}", task.strip_prefix("task_").unwrap());
    let mut forged = it.elsewhere("elsewhere-1", 0x3500_0000);
    forged["outcome"]["id"] = json!(outcome);
    forged["task"]["outcome_id"] = json!(outcome);
    forged["outcome"]["summary"] = json!("forged");
    it.eve.done("POST", "/v1/tasks/import", &forged);
    completes(&mut it.ana, &task, "what ana says");
    assert_eq!(it.ana.read(&format!("/v1/outcomes/{outcome}"))["summary"], "what ana says");
    let listed = it.ana.read(&format!("/v1/outcomes?task_id={task}"));
    assert_eq!(listed["data"][0]["summary"], "what ana says", "{listed}");
    drop(it.world);
}

#[test]
fn nothing_is_imported_under_an_id_that_the_end_of_a_task_takes() {
    let mut it = Importer::start();
    let task = works_on_a_task(&mut it.ana, &it.persona);
    let rest = task.strip_prefix("task_").unwrap();
    let mut squatting = it.elsewhere("elsewhere-2", 0x3600_0000);
    squatting["artifacts"] = json!([it.export["artifacts"][0]]);
    for id in [rest, "elsewhere-2", &format!("replay_{rest}"), &format!("replay_{rest}_2")] {
        squatting["artifacts"][0]["id"] = json!(format!("artifact_event_log_{id}"));
        let error = it.eve.refused("POST", "/v1/tasks/import", &squatting, 400);
        assert_eq!(error["param"], "artifacts[0].id", "{error}");
    }
    let mut squatting = it.elsewhere("elsewhere-2", 0x3600_0000);
    squatting["receipt"] = it.export["receipt"].clone();
    squatting["receipt"]["receipt_id"] = json!(format!("receipt_{rest}"));
    it.eve.refused("POST", "/v1/tasks/import", &squatting, 400);
    completes(&mut it.ana, &task, "what ana says");
    assert_eq!(it.ana.ended(&task)["status"], "COMPLETED");
    it.ana.receipt(&task);
}

#[test]
fn an_imported_event_stands_for_none_of_this_log() {
    let mut it = Importer::start();
    let task = works_on_a_task(&mut it.ana, &it.persona);
    let event = it.ana.events(&task).remove(0);
    let id = event["id"].as_str().unwrap();
    let place = u64::from_str_radix(id.strip_prefix("event_").unwrap(), 16).unwrap();
    it.eve.done("POST", "/v1/tasks/import", &it.elsewhere("elsewhere-3", place));
    assert_eq!(it.ana.read(&format!("/v1/events/{id}")), event);
}
