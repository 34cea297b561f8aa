//! Plays labelled data to a server over HTTP: each corpus becomes a Field, each question an ATTUNE by an
//! agent that recorded nothing.

use std::{collections::HashMap, net::SocketAddr, time::Duration};

use serde_json::{Value, json};

use super::figures::Outcome;
use crate::measure::{
    dataset::{Corpus, Dataset, Question, Unit},
    failure::Failure,
    http::Connection,
};

/// How many units of an answer count.
pub(crate) const DEPTH: usize = 10;
const VECTORS_PAUSE: Duration = Duration::from_millis(50);
const READER: &str = "quipu-bench-reader";
/// Compacts: what an agent wrote itself, it is not given.
const KEEPER: &str = "quipu-bench-keeper";

/// A server and what it was told.
#[derive(Debug)]
pub(crate) struct Player {
    connection: Connection,
    messages: u64,
}

/// By the id that the server gave to a unit: what that unit covers of the corpus, which is itself.
pub(crate) type Covers = HashMap<String, Vec<String>>;

impl Player {
    pub(crate) fn new(address: SocketAddr) -> Result<Self, Failure> {
        let connection = Connection::open(address)
            .map_err(|error| Failure::caused("cannot connect to the server", &error))?;
        Ok(Self { connection, messages: 0 })
    }

    /// Registers the agents and records the units in order; gives the units' names by the server's ids.
    pub(crate) fn record(
        &mut self,
        set: &Dataset,
        corpus: &Corpus,
        times: bool,
    ) -> Result<Covers, Failure> {
        let field = field_of(set, corpus);
        let mut agents: Vec<&str> = corpus.units.iter().map(|unit| unit.agent.as_str()).collect();
        agents.sort_unstable();
        agents.dedup();
        for agent in agents.into_iter().chain([READER, KEEPER]) {
            let payload = json!({"id": agent, "role": "participant"});
            self.post(&field, "/v1/register", agent, None, &payload)?;
        }
        let mut ids = HashMap::new();
        for unit in &corpus.units {
            let payload = unit_payload(unit, times);
            let session = Some(unit.session.as_str());
            let answer = self.post(&field, "/v1/record", &unit.agent, session, &payload)?;
            let id = answer["memory_unit_id"].as_str().unwrap_or_default();
            ids.insert(id.to_owned(), vec![unit.id.clone()]);
        }
        self.await_vectors(&field)?;
        Ok(ids)
    }

    /// Where `QUIPU_EMBEDDER` names a model, waits until every unit has its vector.
    fn await_vectors(&mut self, field: &str) -> Result<(), Failure> {
        loop {
            let (_, answer) = self
                .connection
                .exchange(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n")
                .map_err(|error| Failure::caused("cannot ask /readyz", &error))?;
            let answer: Value = serde_json::from_slice(answer)
                .map_err(|error| Failure::caused("cannot read /readyz", &error))?;
            let fields = answer["fields"].as_array().cloned().unwrap_or_default();
            let own = fields.iter().find(|entry| entry["name"] == field);
            let vectors = own.map_or(&Value::Null, |own| &own["enrichment"]);
            if vectors["done"] == vectors["of"] {
                return Ok(());
            }
            std::thread::park_timeout(VECTORS_PAUSE);
        }
    }

    /// Sends a COMPACT.
    pub(crate) fn compact(
        &mut self,
        set: &Dataset,
        corpus: &Corpus,
        payload: &Value,
    ) -> Result<Value, Failure> {
        self.post(&field_of(set, corpus), "/v1/compact", KEEPER, None, payload)
    }

    /// Asks a question and says how much of what it needs was found. A unit that is not of the corpus covers what it
    /// elaborates.
    pub(crate) fn ask(
        &mut self,
        set: &Dataset,
        corpus: &Corpus,
        question: &Question,
        covers: &Covers,
    ) -> Result<Outcome, Failure> {
        let payload = json!({
            "scope": {"role": "reader", "max_units": DEPTH},
            "context_hint": question.text,
        });
        let answer = self.post(&field_of(set, corpus), "/v1/attune", READER, None, &payload)?;
        let found = answer["record"].as_array().cloned().unwrap_or_default();
        let covered = |entry: &Value| -> Vec<String> {
            let unit = &entry["memory_unit"];
            if let Some(own) = unit["id"].as_str().and_then(|id| covers.get(id)) {
                return own.clone();
            }
            let links = unit["relations"].as_array().into_iter().flatten();
            let links = links.filter(|link| link["type"] == "elaborates");
            let ids = links.filter_map(|link| covers.get(link["target_id"].as_str()?));
            ids.flatten().cloned().collect()
        };
        let found: Vec<Vec<String>> = found.iter().map(covered).collect();
        Ok(Outcome::new(&question.category, &found, &question.gold))
    }

    fn post(
        &mut self,
        field: &str,
        path: &str,
        agent: &str,
        session: Option<&str>,
        payload: &Value,
    ) -> Result<Value, Failure> {
        self.messages += 1;
        let body = payload.to_string();
        let session = session.map_or_else(String::new, |id| format!("akashik-session: {id}\r\n"));
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             quipu-field: {field}\r\nakashik-agent: {agent}\r\n{session}\
             akashik-message-id: bench-{}\r\ncontent-length: {}\r\n\r\n{body}",
            self.messages,
            body.len()
        );
        let (status, answer) = self
            .connection
            .exchange(request.as_bytes())
            .map_err(|error| Failure::caused(format!("cannot send to {path}"), &error))?;
        let text = || String::from_utf8_lossy(answer).chars().take(300).collect::<String>();
        if status != 200 {
            return Err(Failure::new(format!("{path} answered {status}: {}", text())));
        }
        serde_json::from_slice(answer)
            .map_err(|error| Failure::caused(format!("{path} answered {}", text()), &error))
    }
}

/// What a person said is an instruction where an assistant takes part, and an observation among equals.
fn unit_payload(unit: &Unit, times: bool) -> Value {
    let kind = if unit.agent == "user" { "human_directive" } else { "observation" };
    let purpose =
        if times { format!("Said on {}", unit.time) } else { "Keep what was said".into() };
    json!({
        "mode": "committed",
        "type": kind,
        "content": unit.text,
        "intent": {"purpose": purpose},
        "confidence": {"score": 0.8, "reasoning": "heard"},
    })
}

fn field_of(set: &Dataset, corpus: &Corpus) -> String {
    let name = format!("{}-{}", set.name, corpus.name).to_lowercase();
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}
