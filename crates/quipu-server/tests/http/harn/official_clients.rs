//! Every method of Harn's own clients, as the requests that they send: one table for this test and for the scripts that drive
//! the clients themselves (`tools/harn_sdks`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{APRIL, OCTOBER, VERSION};
use crate::support::{Client, Events, TestServer, wait_until};

const TABLE: &str = include_str!("../../../../../tools/harn_sdks/methods.json");

/// What the table saved of earlier answers, by name.
type Known = BTreeMap<String, String>;

/// One run through the table.
struct Walk<'s> {
    server: &'s TestServer,
    key: String,
    version: &'static str,
    known: Known,
    sent: u32,
}

fn text<'v>(step: &'v Value, member: &str) -> Option<&'v str> {
    step.get(member).and_then(Value::as_str)
}

/// A value with the names of saved ones replaced, the longest first.
fn filled(value: &Value, known: &Known) -> Value {
    match value {
        Value::String(text) => {
            let mut names: Vec<_> = known.iter().collect();
            names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
            let replace = |text: String, (name, value): (&String, &String)| {
                text.replace(&format!("${name}"), value)
            };
            Value::String(names.into_iter().fold(text.clone(), replace))
        }
        Value::Array(values) => values.iter().map(|value| filled(value, known)).collect(),
        Value::Object(members) => {
            let each = members.iter().map(|(name, value)| (name.clone(), filled(value, known)));
            Value::Object(each.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(one).collect()
}

impl Walk<'_> {
    fn fill(&self, text: &str) -> String {
        filled(&Value::from(text), &self.known).as_str().unwrap().to_owned()
    }

    /// The path of a step, with its arguments in their places and its query behind.
    fn target(&self, step: &Value) -> String {
        let mut path = self.fill(text(step, "path").unwrap());
        for argument in step.get("args").and_then(Value::as_array).into_iter().flatten() {
            let (from, to) = (path.find('{').unwrap(), path.find('}').unwrap());
            path.replace_range(from..=to, &encoded(&self.fill(argument.as_str().unwrap())));
        }
        let query = step.get("query").and_then(Value::as_object).into_iter().flatten();
        let query: Vec<_> = query
            .map(|(name, value)| {
                let value = filled(value, &self.known);
                let text = value.as_str().map_or_else(|| value.to_string(), encoded);
                format!("{name}={text}")
            })
            .collect();
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }

    fn client(&self, step: &Value) -> Client {
        if step.get("public").is_some() {
            return self.server.client();
        }
        self.server.client().with(VERSION, self.version).with_key(&self.key)
    }

    fn take(&mut self, step: &Value) {
        if let Some(path) = text(step, "wait") {
            let path = self.fill(path);
            let mut client = self.client(step);
            let until = step["until"].as_object().unwrap();
            wait_until("the Task is there", || {
                let found = client.get(&path).json();
                until.iter().all(|(name, value)| found[name] == *value)
            });
            return;
        }
        let target = self.target(step);
        let method = text(step, "method").unwrap();
        if step.get("stream").is_some() {
            let bearer = format!("Bearer {}", self.key);
            let headers = [(VERSION, self.version), ("authorization", bearer.as_str())];
            let mut events = Events::open(self.server.address, &target, &headers);
            let told = events.next().unwrap();
            return self.check(step, &target, &told.data);
        }
        let body = step.get("body").map(|body| filled(body, &self.known).to_string());
        let body = body.or_else(|| text(step, "text").map(str::to_owned));
        self.sent += 1;
        let key = format!("key-{}", self.sent);
        let mut headers = vec![("content-type", "application/json")];
        if method == "POST" {
            headers.push(("idempotency-key", &key));
        }
        let reply =
            self.client(step).send(method, &target, &headers, body.as_deref().map(str::as_bytes));
        assert!(reply.status < 300, "{method} {target}: {} {}", reply.status, reply.text());
        match text(step, "answers") {
            Some(expected) => assert_eq!(reply.text(), expected, "{method} {target}"),
            None if reply.status == 204 => {}
            None => self.check(step, &target, &reply.json()),
        }
    }

    fn check(&mut self, step: &Value, target: &str, answer: &Value) {
        for (name, value) in step.get("has").and_then(Value::as_object).into_iter().flatten() {
            assert_eq!(answer[name], filled(value, &self.known), "{target}: {name} of {answer}");
        }
        for (name, pointer) in step.get("save").and_then(Value::as_object).into_iter().flatten() {
            let saved = answer.pointer(pointer.as_str().unwrap()).and_then(Value::as_str);
            let saved = saved.unwrap_or_else(|| panic!("{target}: {pointer} of {answer}"));
            self.known.insert(name.clone(), saved.to_owned());
        }
    }
}

#[test]
fn every_method_of_both_official_clients_is_answered_as_it_expects() {
    let steps: Vec<Value> = serde_json::from_str(TABLE).unwrap();
    let methods = |of: &str| steps.iter().filter(|step| text(step, of).is_some()).count();
    assert!(methods("python") >= 72 && methods("typescript") >= 72, "the table is whole");
    assert!(methods("operation") >= 11, "with what only the later version has");
    for version in [APRIL, OCTOBER] {
        let server = TestServer::start();
        let known = Known::from([("run".to_owned(), "1".to_owned())]);
        let key = server.key(10);
        let mut walk = Walk { server: &server, key, version, known, sent: 0 };
        steps.iter().for_each(|step| walk.take(step));
    }
}
