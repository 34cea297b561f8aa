//! Every kind of key, every state of a name, every way in: whether one speaks under the name there.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::{Value, json};

use crate::{
    harn::{APRIL, VERSION, bearer},
    mcp::{Mcp, VERSION_NEW},
    support::{Client, Events, Socket, TestServer, committed, register},
};

/// How a name stands in its Field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody ever had it.
    Free,
    /// Its bearer takes part with authority 4.
    Equal,
    /// Its bearer takes part with authority 8.
    Stronger,
    /// Its bearer had authority 8, and left.
    StrongerLeft,
    /// The server keeps it; its bearer takes part with authority 4.
    Reserved,
}

/// The keys: one that is bound to the name, with authority 4, and three for any agent.
const KEYS: [&str; 4] = ["its own, 4", "any, 4", "any, 9", "any, 10"];

/// Whether each of the keys speaks under a name.
const MAY: [(State, [bool; 4]); 5] = [
    (State::Free, [true, true, true, true]),
    (State::Equal, [true, true, true, true]),
    (State::Stronger, [true, false, true, true]),
    (State::StrongerLeft, [true, false, true, true]),
    (State::Reserved, [true, false, false, true]),
];

/// Somebody with a key at a name, in a Field where the name stands so.
struct Cell<'a> {
    server: &'a TestServer,
    field: &'a str,
    name: &'a str,
    key: &'a str,
    subscription: Option<String>,
}

/// A way in: it gives the status, or nothing where there is nothing to ask for.
type WayIn = fn(&Cell<'_>) -> Option<u16>;

const WAYS: [(&str, WayIn); 9] = [
    ("Akashik, writing", writes),
    ("Akashik, reading", reads),
    ("Akashik, pushes as events", is_pushed_events),
    ("Akashik, pushes over a WebSocket", is_pushed_frames),
    ("Harn, a header", opens_a_session),
    ("Harn, a claim", claims),
    ("Harn, events", follows),
    ("Harn, a WebSocket", watches),
    ("MCP", calls_a_tool),
];

#[test]
fn a_key_speaks_under_the_same_names_by_every_way_in() {
    let server = TestServer::start();
    let any = [4, 9, 10].map(|authority| server.key(authority));
    let mut operator = server.client().with_key(&any[2]);
    let (mut wrong, mut number) = (Vec::new(), 0);
    for (state, may) in MAY {
        let name = if state == State::Reserved { "operator" } else { "someone" };
        let own = server.key_for(KeyAgent::Named(name.to_owned()), 4, None);
        let keys = [&own, &any[0], &any[1], &any[2]];
        for ((key, kind), may) in keys.into_iter().zip(KEYS).zip(may) {
            for (way, go) in WAYS {
                number += 1;
                let field = &format!("f{number}");
                let subscription = prepare(&mut operator, field, name, state);
                let cell = Cell { server: &server, field, name, key, subscription };
                let Some(status) = go(&cell) else { continue };
                if (status < 300, status == 403) != (may, !may) {
                    wrong.push(format!("{state:?}, {kind}, {way}: {status}"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Makes a Field with a task, in which the name stands so; the subscription of its bearer, if it can have one.
fn prepare(operator: &mut Client, field: &str, name: &str, state: State) -> Option<String> {
    let mut say = |agent: &str, path: &str, body: &Value| {
        let headers = [("quipu-field", field), ("akashik-agent", agent)];
        let reply = operator.post_raw(path, &headers, body.to_string().as_bytes());
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    };
    say("keeper", "/v1/register", &register("keeper"));
    let task = json!({"id": "t", "title": "Price it", "intent": {"purpose": "To sell"}});
    say("keeper", "/v1/coordinate", &json!({"action": "create", "task": task}));
    let authority = match state {
        State::Free => return None,
        State::Equal | State::Reserved => 4,
        State::Stronger | State::StrongerLeft => 8,
    };
    let joins = json!({"id": name, "role": "r", "authority_level": authority});
    say(name, "/v1/register", &joins);
    if state == State::StrongerLeft {
        say(name, "/v1/deregister", &json!({"agent_id": name}));
        return None;
    }
    let subscribe = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let answer = say(name, "/v1/subscribe", &subscribe);
    Some(answer["subscription"]["id"].as_str().unwrap().to_owned())
}

impl Cell<'_> {
    fn akashik(&self) -> Client {
        self.server.client().with_key(self.key).with("quipu-field", self.field)
    }

    fn harn(&self) -> Client {
        bearer(self.server, self.key).with("quipu-field", self.field)
    }

    /// What opens a stream under the name.
    fn with_headers<T>(&self, open: impl FnOnce(&[(&str, &str)]) -> T) -> T {
        let key = format!("Bearer {}", self.key);
        let of_field = ("quipu-field", self.field);
        open(&[("authorization", &key), of_field, ("akashik-agent", self.name), (VERSION, APRIL)])
    }
}

fn writes(cell: &Cell<'_>) -> Option<u16> {
    let mut client = cell.akashik();
    // Who takes part already is told so.
    client.say(cell.name, "/v1/register", &register(cell.name));
    Some(client.say(cell.name, "/v1/record", &committed("said")).status)
}

fn reads(cell: &Cell<'_>) -> Option<u16> {
    Some(cell.akashik().with("akashik-agent", cell.name).get("/v1/agents").status)
}

fn is_pushed_events(cell: &Cell<'_>) -> Option<u16> {
    let path = format!("/v1/subscriptions/{}/events", cell.subscription.as_ref()?);
    Some(cell.with_headers(|headers| Events::open(cell.server.address, &path, headers).status))
}

fn is_pushed_frames(cell: &Cell<'_>) -> Option<u16> {
    let path = format!("/v1/subscriptions/{}/ws", cell.subscription.as_ref()?);
    Some(cell.with_headers(|headers| Socket::open(cell.server.address, &path, headers).status))
}

fn opens_a_session(cell: &Cell<'_>) -> Option<u16> {
    let body = json!({"workspace_id": "workspace_default"});
    Some(cell.harn().say(cell.name, "/v1/sessions", &body).status)
}

fn claims(cell: &Cell<'_>) -> Option<u16> {
    Some(cell.harn().post("/v1/tasks/t/claim", &json!({"agent_id": cell.name})).status)
}

fn follows(cell: &Cell<'_>) -> Option<u16> {
    let open = |headers: &[(&str, &str)]| {
        Events::open(cell.server.address, "/v1/events/stream", headers).status
    };
    Some(cell.with_headers(open))
}

fn watches(cell: &Cell<'_>) -> Option<u16> {
    let open = |headers: &[(&str, &str)]| {
        Socket::open(cell.server.address, "/v1/tasks/t/stream", headers).status
    };
    Some(cell.with_headers(open))
}

fn calls_a_tool(cell: &Cell<'_>) -> Option<u16> {
    let mut mcp = Mcp::over(cell.akashik().with("akashik-agent", cell.name), VERSION_NEW);
    let answer = mcp.call("akashik_record", committed("said to a model"));
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    Some(match answer["isError"].as_bool() {
        Some(false) => 200,
        _ if text.starts_with("INSUFFICIENT_AUTHORITY") => 403,
        _ => 500,
    })
}
