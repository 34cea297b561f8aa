//! Records the project of `heron.txt`: one line, one message.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::{Client, Server};

/// The project as it was recorded.
const STORY: &str = include_str!("heron.txt");
const AGENTS: [&str; 8] = ["lead", "mira", "otto", "nils", "petra", "quinn", "sol", "uma"];

/// Ids by the names that the story gives, and how many units there are.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    ids: HashMap<String, String>,
    conflicts: HashMap<String, String>,
    pub(super) units: usize,
}

impl Loaded {
    pub(super) fn id(&self, name: &str) -> &str {
        self.ids.get(name).unwrap_or_else(|| panic!("the story has no {name}"))
    }
}

/// Records the whole story.
pub(super) fn load(server: &Server) -> Loaded {
    let client = &mut server.client();
    for agent in AGENTS {
        client.register(agent, "project");
    }
    let mut loaded = Loaded::default();
    for line in STORY.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let line: Vec<&str> = line.split('|').map(str::trim).collect();
        match line[0].strip_prefix('!') {
            Some("retract petra") => withdraw(server, &loaded, "petra", &line[1..]),
            Some(act) => carry_out(client, &loaded, act, &line[1..]),
            None => record(client, &mut loaded, &line),
        }
    }
    loaded
}

fn record(client: &mut Client, loaded: &mut Loaded, line: &[&str]) {
    let [author, kind, name, score, content, purpose, reasoning, relations @ ..] = line else {
        panic!("a unit has seven parts: {line:?}")
    };
    let (name, task) =
        name.split_once('@').map_or((*name, None), |(name, task)| (name, Some(task)));
    let relations = relations.join("|");
    let relations: Vec<Value> = relations
        .split(';')
        .map(str::trim)
        .filter(|relation| !relation.is_empty())
        .map(|relation| relation_of(loaded, relation))
        .collect();
    let score: f64 = score.parse().unwrap();
    let payload = json!({"type": kind, "content": content, "relations": relations,
        "intent": {"purpose": purpose, "task_id": task},
        "confidence": {"score": score, "reasoning": reasoning}});
    let answer = client.operate("RECORD", author, payload).ok();
    let id = answer["memory_unit_id"].as_str().unwrap().to_owned();
    if let Some(conflict) = answer["conflicts_detected"][0].as_str() {
        loaded.conflicts.insert(name.to_owned(), conflict.to_owned());
    }
    assert!(loaded.ids.insert(name.to_owned(), id).is_none(), "{name} is there twice");
    loaded.units += 1;
}

/// Such as `depends_on f-grid (measured)`.
fn relation_of(loaded: &Loaded, relation: &str) -> Value {
    let (relation, description) = relation.split_once('(').unwrap_or((relation, ""));
    let (kind, name) = relation.trim().split_once(' ').unwrap();
    let mut relation = json!({"type": kind, "target_id": loaded.id(name.trim())});
    if !description.is_empty() {
        relation["description"] = json!(description.trim_end_matches(')'));
    }
    relation
}

fn carry_out(client: &mut Client, loaded: &Loaded, act: &str, rest: &[&str]) {
    let (what, agent) = act.split_once(' ').unwrap();
    match (what, rest) {
        ("task", [id, title, purpose]) => {
            let task = json!({"id": id, "title": title, "intent": {"purpose": purpose}});
            client.operate("COORDINATE", agent, json!({"action": "create", "task": task})).ok();
        }
        ("move", [id, action, reason @ ..]) => {
            let mut payload = json!({"action": action, "task_id": id});
            if let [reason] = reason {
                payload["reason"] = json!(reason);
            }
            client.operate("COORDINATE", agent, payload).ok();
        }
        ("handoff", [to, task, reason, summary, decisions, open]) => {
            let lines = |text: &str| {
                text.split(';').map(|line| line.trim().to_owned()).collect::<Vec<String>>()
            };
            let context = json!({"summary": summary, "decisions": lines(decisions),
                                 "open_questions": lines(open)});
            let offer = json!({"action": "offer", "task_id": task, "to_agent": to, "reason": reason,
                               "context": context});
            let offered = client.operate("HANDOFF", agent, offer).ok();
            let accept = json!({"action": "accept", "handoff_id": offered["handoff"]["id"]});
            client.operate("HANDOFF", to, accept).ok();
        }
        ("merge" | "vote" | "synthesis", [disputed, parts @ ..]) => {
            settle(client, loaded, (what, agent), disputed, parts);
        }
        _ => panic!("the story does not know how to {what} {rest:?}"),
    }
}

/// What is no operation of the protocol has no envelope.
fn withdraw(server: &Server, loaded: &Loaded, agent: &str, rest: &[&str]) {
    let payload = json!({"unit_id": loaded.id(rest[0]), "intent": {"purpose": rest[1]}});
    let mut client = server.client().with_header("akashik-agent", agent);
    client.post("/v1/retract", payload.to_string()).ok();
}

fn settle(
    client: &mut Client,
    loaded: &Loaded,
    (what, agent): (&str, &str),
    disputed: &str,
    parts: &[&str],
) {
    let conflict = &loaded.conflicts[disputed];
    let (strategy, resolution) = match (what, parts) {
        ("merge", [winner, rationale]) => {
            ("last_write_wins", json!({"winner_id": loaded.id(winner), "rationale": rationale}))
        }
        ("vote", [choice, rationale]) => {
            ("vote", json!({"winner_id": loaded.id(choice), "rationale": rationale}))
        }
        ("synthesis", [text, rationale]) => {
            ("synthesis", json!({"synthesis": text, "rationale": rationale}))
        }
        _ => panic!("a dispute is not settled by {what} {parts:?}"),
    };
    let mut payload =
        json!({"conflict_id": conflict, "strategy": strategy, "resolution": resolution});
    if strategy == "vote" {
        payload["quorum"] = json!(3);
    }
    client.operate("MERGE", agent, payload).ok();
}
