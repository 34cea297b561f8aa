//! From requests to HTTP, and from HTTP to answers.

use serde_json::{Value, json};

use crate::event::{Answer, Done, Outcome, Read, Request, Seen, SeenUnit, Write};
use crate::http::{Reply, Sent};

/// More than a run makes.
const UNITS_MAX: u64 = 10_000;

/// A request as it goes over the wire.
pub(crate) fn sent(field: &str, agent: &str, min_position: Option<u64>, request: &Request) -> Sent {
    let mut headers = vec![("Quipu-Field", field.to_owned()), ("Akashik-Agent", agent.to_owned())];
    headers.extend(min_position.map(|at| ("Quipu-Min-Position", at.to_string())));
    let (path, body) = match request {
        Request::Write { message, write } => {
            headers.push(("Akashik-Message-Id", message.clone()));
            let (path, body) = change(agent, write);
            (path.to_owned(), Some(body))
        }
        Request::Read(read) => question(read),
    };
    Sent { path, headers, body }
}

fn change(agent: &str, write: &Write) -> (&'static str, Value) {
    let intent = json!({"purpose": "To be seen by all"});
    match write {
        Write::Register => ("/v1/register", json!({"id": agent, "role": "worker"})),
        Write::Record { content } => {
            let confidence = json!({"score": 0.5, "reasoning": "It was drawn"});
            let unit = json!({"type": "observation", "content": content, "intent": intent,
                "confidence": confidence});
            ("/v1/record", unit)
        }
        Write::Retract { unit } => ("/v1/retract", json!({"unit_id": unit, "intent": intent})),
        Write::CreateTask { task } => {
            let task = json!({"id": task, "title": "To be won", "intent": intent});
            ("/v1/coordinate", json!({"action": "create", "task": task}))
        }
        Write::Claim { task } => ("/v1/coordinate", json!({"action": "claim", "task_id": task})),
    }
}

fn question(read: &Read) -> (String, Option<Value>) {
    match read {
        Read::Unit { unit } => (format!("/v1/units/{unit}"), None),
        Read::Log { from, limit } => (format!("/v1/log?from={from}&limit={limit}"), None),
        Read::Agents => ("/v1/agents".to_owned(), None),
        Read::Attune => {
            let scope = json!({"role": "worker", "max_units": UNITS_MAX, "include_own": true});
            ("/v1/attune".to_owned(), Some(json!({"scope": scope})))
        }
        Read::Tasks => ("/v1/coordinate".to_owned(), Some(json!({"action": "list"}))),
        Read::Status => ("/v1/field/status".to_owned(), None),
    }
}

/// What a reply says. A server that failed, or has too much to do, has not said what happened.
pub(crate) fn outcome(agent: &str, request: &Request, reply: Reply) -> Outcome {
    let Reply { status, position, body } = reply;
    if status >= 500 || status == 429 {
        return Outcome::Unknown(format!("{status} {}", code(&body)));
    }
    let answer = match request {
        _ if status != 200 => refused(request, &body),
        Request::Write { write, .. } => done(agent, write, &body).map(Answer::Done),
        Request::Read(read) => seen(read, &body).map(Answer::Seen),
    };
    let odd = || Answer::Odd(format!("{status} {body}"));
    Outcome::Told { position, answer: answer.unwrap_or_else(odd) }
}

fn code(body: &Value) -> &str {
    body["code"].as_str().unwrap_or("without a code")
}

fn refused(request: &Request, body: &Value) -> Option<Answer> {
    let code = body["code"].as_str()?;
    Some(match (request, code) {
        (Request::Read(Read::Unit { .. }), "UNIT_NOT_FOUND") => Answer::Seen(Seen::Unit(None)),
        (Request::Read(_), "FIELD_NOT_FOUND") => Answer::Seen(Seen::Nothing),
        _ => Answer::Refused(code.to_owned()),
    })
}

fn done(agent: &str, write: &Write, body: &Value) -> Option<Done> {
    let text = |name: &str| body[name].as_str().map(str::to_owned);
    match write {
        Write::Register => (text("status")? == "registered").then(Done::default),
        Write::Record { .. } => {
            let unit = Some(text("memory_unit_id")?);
            Some(Done { epoch: Some(body["epoch"].as_u64()?), unit })
        }
        Write::Retract { .. } => Some(Done { epoch: Some(body["epoch"].as_u64()?), unit: None }),
        Write::CreateTask { .. } | Write::Claim { .. } => {
            // The task as this message left it, whatever became of it since.
            let (task, claims) = (&body["task"], matches!(write, Write::Claim { .. }));
            let as_left = task["assigned_to"].as_str() == claims.then_some(agent);
            as_left.then_some(Done { epoch: Some(task["epoch_updated"].as_u64()?), unit: None })
        }
    }
}

fn seen(read: &Read, body: &Value) -> Option<Seen> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let head = |head: &Value, position: &Value| Some((position.as_u64()?, text(head)?));
    let list = |name: &str| body[name].as_array();
    Some(match read {
        Read::Unit { .. } => Seen::Unit(Some(SeenUnit {
            content: text(&body["content"])?,
            active: match body["status"].as_str()? {
                "active" => true,
                "retracted" => false,
                _ => return None,
            },
        })),
        Read::Log { .. } => {
            let commit = |commit: &Value| head(&commit["hash"], &commit["position"]);
            let commits = list("commits")?.iter().map(commit).collect::<Option<_>>()?;
            Seen::Log { commits, head: head(&body["head"]["hash"], &body["head"]["position"])? }
        }
        Read::Agents => {
            let ids = list("agents")?.iter().map(|agent| text(&agent["id"]));
            Seen::Agents(ids.collect::<Option<_>>()?)
        }
        Read::Attune => {
            let units = list("record")?.iter().map(|entry| {
                let unit = &entry["memory_unit"];
                Some((text(&unit["id"])?, text(&unit["content"])?))
            });
            Seen::Units(units.collect::<Option<_>>()?)
        }
        Read::Tasks => {
            let tasks = list("tasks")?;
            let task = |task: &Value| Some((text(&task["id"])?, text(&task["assigned_to"])));
            Seen::Tasks(tasks.iter().map(task).collect::<Option<_>>()?)
        }
        Read::Status => Seen::Status {
            head: head(&body["head"], &body["position"])?,
            agents: body["agents"].as_u64()?,
            units: body["units"]["total"].as_u64()?,
        },
    })
}
