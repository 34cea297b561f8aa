//! How a variant breaks a rule: it rewrites messages on their way in, answers and pushes on their
//! way out, or answers in the server's place.

use serde_json::{Value, json};

use super::{past::Past, wire::Head};

/// A request on its way in.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) head: Head,
    /// The operation of the route, such as `RECORD`; of a GET, its path.
    pub(crate) operation: String,
    /// The body as JSON, `Null` if it is none.
    pub(crate) message: Value,
    pub(crate) raw: Vec<u8>,
}

/// An answer on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) content_type: String,
}

impl Answered {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        Self { status, body, content_type: "application/json".to_owned() }
    }

    /// A refusal in the protocol's shape.
    pub(crate) fn refusal(status: u16, code: &str, operation: &str) -> Self {
        Self::new(
            status,
            json!({
                "code": code, "message": "the variant says no", "operation": operation,
                "recoverable": true, "suggested_action": "None.", "status": "rejected",
                "rejection_reason": "the variant says no",
            }),
        )
    }

    pub(crate) fn is_refusal(&self) -> bool {
        self.status >= 400 || self.body["status"] == "rejected"
    }

    pub(crate) fn has_code(&self, codes: &[&str]) -> bool {
        codes.iter().any(|code| self.body["code"] == *code)
    }
}

/// A notification on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pushed {
    /// Over a WebSocket; as a server-sent event otherwise.
    pub(crate) framed: bool,
    pub(crate) id: String,
    pub(crate) data: Value,
}

type Ask = Box<dyn Fn(&mut Asked, &Past) -> Option<Answered> + Send + Sync>;
type Answer = Box<dyn Fn(&Asked, &mut Answered, &Past) + Send + Sync>;
type Push = Box<dyn Fn(Pushed) -> Vec<Pushed> + Send + Sync>;

/// What a variant does to messages, answers and pushes, in this order.
#[derive(Default)]
pub(crate) struct Tamper {
    asks: Vec<Ask>,
    answers: Vec<Answer>,
    pushes: Vec<Push>,
}

impl Tamper {
    pub(crate) fn ask(&self, asked: &mut Asked, past: &Past) -> Option<Answered> {
        self.asks.iter().find_map(|ask| ask(asked, past))
    }

    pub(crate) fn answer(&self, asked: &Asked, answered: &mut Answered, past: &Past) {
        self.answers.iter().for_each(|answer| answer(asked, answered, past));
    }

    pub(crate) fn push(&self, pushed: Pushed) -> Vec<Pushed> {
        let first = vec![pushed];
        self.pushes.iter().fold(first, |all, push| all.into_iter().flat_map(push).collect())
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        self.asks.extend(other.asks);
        self.answers.extend(other.answers);
        self.pushes.extend(other.pushes);
        self
    }
}

fn concerns(operation: &str, asked: &Asked) -> bool {
    operation == "*" || asked.operation == operation
}

/// Sees the whole request of an operation, `*` for any, and may answer it.
pub(crate) fn before(
    operation: &'static str,
    ask: impl Fn(&mut Asked, &Past) -> Option<Answered> + Send + Sync + 'static,
) -> Tamper {
    let ask = move |asked: &mut Asked, past: &Past| {
        if concerns(operation, asked) { ask(asked, past) } else { None }
    };
    Tamper { asks: vec![Box::new(ask)], ..Tamper::default() }
}

/// Rewrites the message of an operation, envelope and all.
pub(crate) fn rewrites(
    operation: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Tamper {
    before(operation, move |asked, _| {
        if asked.message.is_object() {
            change(&mut asked.message);
        }
        None
    })
}

/// Rewrites the payload of an operation.
pub(crate) fn asks(
    operation: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Tamper {
    rewrites(operation, move |message| {
        if message["payload"].is_object() {
            change(&mut message["payload"]);
        }
    })
}

/// Answers an operation in the server's place where the payload is so.
pub(crate) fn refuses(
    operation: &'static str,
    status: u16,
    code: &'static str,
    when: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> Tamper {
    before(operation, move |asked, _| {
        when(&asked.message["payload"]).then(|| Answered::refusal(status, code, &asked.operation))
    })
}

/// Rewrites what the server answers to an operation, with the request and the past at hand.
pub(crate) fn after(
    operation: &'static str,
    change: impl Fn(&Asked, &mut Answered, &Past) + Send + Sync + 'static,
) -> Tamper {
    let answer = move |asked: &Asked, answered: &mut Answered, past: &Past| {
        if concerns(operation, asked) {
            change(asked, answered, past);
        }
    };
    Tamper { answers: vec![Box::new(answer)], ..Tamper::default() }
}

/// Rewrites the body of an operation's successes.
pub(crate) fn tells(
    operation: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Tamper {
    after(operation, move |_, answered, _| {
        if !answered.is_refusal() {
            change(&mut answered.body);
        }
    })
}

/// Rewrites the body of an operation's refusals.
pub(crate) fn complains(
    operation: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Tamper {
    after(operation, move |_, answered, _| {
        if answered.is_refusal() {
            change(&mut answered.body);
        }
    })
}

/// Says yes, and does nothing, where the server refuses with one of these codes; none: any.
pub(crate) fn pretends(operation: &'static str, codes: &'static [&'static str]) -> Tamper {
    after(operation, move |asked, answered, _| {
        if answered.is_refusal() && (codes.is_empty() || answered.has_code(codes)) {
            *answered = success(&asked.operation);
        }
    })
}

/// Acknowledges an operation whose payload is so, and does nothing.
pub(crate) fn swallows(
    operation: &'static str,
    when: impl Fn(&Value) -> bool + Send + Sync + 'static,
) -> Tamper {
    before(operation, move |asked, _| {
        when(&asked.message["payload"]).then(|| success(&asked.operation))
    })
}

/// Rewrites each notification into none, one or several.
pub(crate) fn pushes(change: impl Fn(Pushed) -> Vec<Pushed> + Send + Sync + 'static) -> Tamper {
    Tamper { pushes: vec![Box::new(change)], ..Tamper::default() }
}

/// The success of an operation, with nothing behind it.
fn success(operation: &str) -> Answered {
    let status = match operation {
        "RECORD" => "accepted",
        "REGISTER" => "registered",
        "MERGE" => "resolved",
        _ => "ok",
    };
    Answered::new(
        200,
        json!({
            "status": status, "memory_unit_id": "mem-pretended", "epoch": 1, "units_affected": 0,
            "conflicts_detected": [], "conflicts": [], "record": [], "timeline": [], "summary": "",
            "synthesis_units_created": 0, "storage_reclaimed_bytes": null,
            "cleanup": {"units_orphaned": 0, "tasks_reassigned": 0},
        }),
    )
}

/// Removes what a pointer points at, `*` standing for every element of a list.
pub(crate) fn strip(value: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    each(value, parent, &|found| {
        if let Some(map) = found.as_object_mut() {
            map.remove(key);
        }
    });
}

/// Puts a value where a pointer points, `*` standing for every element of a list.
pub(crate) fn put(value: &mut Value, pointer: &str, new: &Value) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    each(value, parent, &|found| {
        if found.is_object() {
            found[key] = new.clone();
        }
    });
}

/// Does something to whatever a pointer points at, `*` standing for every element of a list.
pub(crate) fn each(value: &mut Value, pointer: &str, change: &dyn Fn(&mut Value)) {
    let Some(rest) = pointer.strip_prefix('/') else { return change(value) };
    let (key, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if key == "*" {
        let list = value.as_array_mut().into_iter().flatten();
        list.for_each(|entry| each(entry, rest, change));
    } else if let Some(found) = value.get_mut(key) {
        each(found, rest, change);
    }
}

/// Keeps the elements of the list at a pointer for which this holds.
pub(crate) fn keep(value: &mut Value, pointer: &str, holds: impl Fn(&Value) -> bool) {
    if let Some(list) = value.pointer_mut(pointer).and_then(Value::as_array_mut) {
        list.retain(holds);
    }
}
