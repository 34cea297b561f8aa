//! Tasks of COORDINATE: making one and bringing it into any state.

use serde_json::{Value, json};

use crate::actors::{
    agent::Agent,
    case::Case,
    check::{Checked, same, wrong},
    json::{JsonAccess, with},
};

/// A task and the agent that moves it.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) worker: Agent,
}

/// Every action that moves a task.
pub(crate) const MOVES: [&str; 10] = [
    "assign", "claim", "start", "block", "unblock", "complete", "fail", "release", "retry",
    "cancel",
];

impl Case {
    /// A payload that creates a task.
    pub(crate) fn new_task(&self, more: Value) -> Value {
        let task = json!({
            "title": self.words("JsonAccess into it"),
            "intent": {"purpose": "Test the life of a task", "question": null},
        });
        json!({"action": "create", "task": with(task, more)})
    }

    /// A new task without an assignee, and an agent that may move it.
    pub(crate) fn task(&mut self) -> Checked<Task> {
        let worker = self.agent("worker")?;
        let answer = worker.ok("COORDINATE", self.new_task(json!({})))?;
        same("status", answer.text("/task/status")?, "pending")?;
        Ok(Task { id: answer.text("/task/id")?.to_owned(), worker })
    }

    pub(crate) fn task_in(&mut self, state: &str) -> Checked<Task> {
        let task = self.task()?;
        let way: &[&str] = match state {
            "pending" => &[],
            "assigned" => &["claim"],
            "in_progress" => &["claim", "start"],
            "blocked" => &["claim", "start", "block"],
            "failed" => &["claim", "start", "fail"],
            "completed" => &["claim", "start", "complete"],
            "cancelled" => &["cancel"],
            _ => return wrong(format!("there is no state {state}")),
        };
        for action in way {
            task.go(action)?;
        }
        same("status", task.get()?.text("/status")?, state)?;
        Ok(task)
    }
}

impl Task {
    /// The payload of an action on this task.
    pub(crate) fn payload(&self, action: &str) -> Value {
        let mut payload = json!({"action": action, "task_id": self.id});
        match action {
            "assign" => payload["assignee"] = json!(self.worker.id),
            "block" | "fail" | "release" | "cancel" => payload["reason"] = json!("It had to be"),
            _ => {}
        }
        payload
    }

    /// Moves the task and returns it.
    pub(crate) fn go(&self, action: &str) -> Checked<Value> {
        let answer = self.worker.ok("COORDINATE", self.payload(action))?;
        Ok(answer.at("/task")?.clone())
    }

    /// Reads the task.
    pub(crate) fn get(&self) -> Checked<Value> {
        self.go("get")
    }
}
