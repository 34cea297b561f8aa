//! Translates requests to HTTP, and HTTP responses to outcomes.

use serde_json::{Value, json};

use crate::{
    event::{
        Answer, Done, INITIAL_VALUE, Member, Observed, ObservedDocument, ObservedUnit, Outcome,
        Read, Request, Write,
    },
    http::{HttpReply, HttpRequest},
};

/// The version of the Agents protocol that the requests name.
const HARN: &str = "agents-protocol-2026-04-25";
/// More units than one run records.
const UNITS_MAX: u64 = 10_000;

/// The HTTP request for a request of a client.
pub(crate) fn http_request(
    field: &str,
    agent: &str,
    min_position: Option<u64>,
    request: &Request,
) -> HttpRequest {
    let mut headers = vec![("Quipu-Field", field.to_owned()), ("Akashik-Agent", agent.to_owned())];
    headers.extend(min_position.map(|at| ("Quipu-Min-Position", at.to_string())));
    headers.push(("Harn-Agents-Protocol-Version", HARN.to_owned()));
    let (path, body) = match request {
        Request::Write { message, write } => {
            // Each protocol has its own header for the message id. That of the Agents protocol must be unique in the
            // whole Field.
            headers.push(("Akashik-Message-Id", message.clone()));
            headers.push(("Idempotency-Key", format!("{agent}-{message}")));
            let (path, body) = write_request(agent, write);
            (path, Some(body))
        }
        Request::Read(read) => read_request(read),
    };
    let method = match (request, &body) {
        (Request::Write { write: Write::Put { .. }, .. }, _) => "PATCH",
        (_, Some(_)) => "POST",
        (_, None) => "GET",
    };
    HttpRequest { method, path, headers, body }
}

fn write_request(agent: &str, write: &Write) -> (String, Value) {
    let intent = json!({"purpose": "To be seen by all"});
    let (path, body) = match write {
        Write::Register => ("register", json!({"id": agent, "role": "worker"})),
        Write::Record { content } => {
            let confidence = json!({"score": 0.5, "reasoning": "It was drawn"});
            let unit = json!({"type": "observation", "content": content, "intent": intent,
                "confidence": confidence});
            ("record", unit)
        }
        Write::Retract { unit } => ("retract", json!({"unit_id": unit, "intent": intent})),
        Write::CreateTask { task } => {
            let task = json!({"id": task, "title": "To be won", "intent": intent});
            ("coordinate", json!({"action": "create", "task": task}))
        }
        Write::Claim { task } => ("coordinate", json!({"action": "claim", "task_id": task})),
        Write::CreateDocument => {
            let metadata = json!({"note": INITIAL_VALUE});
            ("workspaces", json!({"name": INITIAL_VALUE, "root": "here", "metadata": metadata}))
        }
        Write::Put { document, member, value } => {
            let body = match member {
                Member::Name => json!({"name": value}),
                Member::Note => json!({"metadata": {"note": value}}),
            };
            return (format!("/v1/workspaces/{document}"), body);
        }
    };
    (format!("/v1/{path}"), body)
}

fn read_request(read: &Read) -> (String, Option<Value>) {
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
        Read::Document { document } => (format!("/v1/workspaces/{document}"), None),
    }
}

/// The outcome that a response states. After a server error, or a refusal because of load, the outcome is unknown.
pub(crate) fn outcome(agent: &str, request: &Request, reply: HttpReply) -> Outcome {
    let HttpReply { status, position, body } = reply;
    if status >= 500 || status == 429 {
        return Outcome::Unknown(format!("{status} {}", code(&body)));
    }
    let answer = match request {
        _ if status >= 300 => Some(refused(request, code(&body))),
        Request::Write { write, .. } => done(agent, write, &body).map(Answer::Done),
        Request::Read(read) => observed(read, &body).map(Answer::Observed),
    };
    let malformed = || Answer::Malformed(format!("{status} {body}"));
    Outcome::Answered { position, answer: answer.unwrap_or_else(malformed) }
}

fn code(body: &Value) -> &str {
    let code = body["code"].as_str().or_else(|| body["error"]["code"].as_str());
    code.unwrap_or("without a code")
}

fn refused(request: &Request, code: &str) -> Answer {
    match (request, code) {
        (Request::Read(Read::Unit { .. }), "UNIT_NOT_FOUND") => {
            Answer::Observed(Observed::Unit(None))
        }
        (Request::Read(Read::Document { .. }), "resource_not_found") => {
            Answer::Observed(Observed::Document(None))
        }
        (Request::Read(_), "FIELD_NOT_FOUND") => Answer::Observed(Observed::Nothing),
        _ => Answer::Refused(code.to_owned()),
    }
}

fn done(agent: &str, write: &Write, body: &Value) -> Option<Done> {
    let text = |name: &str| body[name].as_str().map(str::to_owned);
    match write {
        Write::Register => (text("status")? == "registered").then(Done::default),
        Write::Record { .. } => {
            let made = Some(text("memory_unit_id")?);
            Some(Done { epoch: Some(body["epoch"].as_u64()?), made })
        }
        Write::Retract { .. } => Some(Done { epoch: Some(body["epoch"].as_u64()?), made: None }),
        Write::CreateTask { .. } | Write::Claim { .. } => {
            // The answer has the task as this message left it, whatever happened to it since.
            let (task, claims) = (&body["task"], matches!(write, Write::Claim { .. }));
            let as_left = task["assigned_to"].as_str() == claims.then_some(agent);
            as_left.then_some(Done { epoch: Some(task["epoch_updated"].as_u64()?), made: None })
        }
        Write::CreateDocument => Some(Done { epoch: None, made: Some(text("id")?) }),
        Write::Put { document, .. } => (text("id")? == *document).then(Done::default),
    }
}

fn observed(read: &Read, body: &Value) -> Option<Observed> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let head = |head: &Value, position: &Value| Some((position.as_u64()?, text(head)?));
    let list = |name: &str| body[name].as_array();
    Some(match read {
        Read::Unit { .. } => Observed::Unit(Some(ObservedUnit {
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
            Observed::Log { commits, head: head(&body["head"]["hash"], &body["head"]["position"])? }
        }
        Read::Agents => {
            let ids = list("agents")?.iter().map(|agent| text(&agent["id"]));
            Observed::Agents(ids.collect::<Option<_>>()?)
        }
        Read::Attune => {
            let units = list("record")?.iter().map(|entry| {
                let unit = &entry["memory_unit"];
                Some((text(&unit["id"])?, text(&unit["content"])?))
            });
            Observed::Units(units.collect::<Option<_>>()?)
        }
        Read::Tasks => {
            let tasks = list("tasks")?;
            let task = |task: &Value| Some((text(&task["id"])?, text(&task["assigned_to"])));
            Observed::Tasks(tasks.iter().map(task).collect::<Option<_>>()?)
        }
        Read::Status => Observed::Status {
            head: head(&body["head"], &body["position"])?,
            agents: body["agents"].as_u64()?,
            units: body["units"]["total"].as_u64()?,
        },
        Read::Document { .. } => Observed::Document(Some(ObservedDocument {
            name: text(&body["name"])?,
            note: text(&body["metadata"]["note"])?,
        })),
    })
}
