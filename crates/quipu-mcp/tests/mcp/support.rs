//! A small test Field, and a client that is connected to a handler in front of it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard},
};

use quipu_mcp::{
    Answer, Call, CallFailed, Caller, Handler, HandlerOptions, Presented, PushPosition, Verb,
};
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{Operation, PushNotification, RecordPayload},
};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient, ServiceError,
    ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
        ProtocolVersion, ResourceUpdatedNotificationParam,
    },
    service::{NotificationContext, RunningService},
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The generations of MCP.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Generation {
    WithSessions,
    Stateless,
}

pub(crate) const BOTH: [Generation; 2] = [Generation::WithSessions, Generation::Stateless];

/// What the Field of these tests holds.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) registered: BTreeSet<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) bound: Option<String>,
    /// What to answer instead, once.
    pub(crate) scripted: Option<Result<Answer, CallFailed>>,
    pushes: Vec<mpsc::Sender<PushNotification>>,
}

/// The Field of these tests.
#[derive(Debug, Clone, Default)]
pub(crate) struct TinyField(Arc<Mutex<State>>);

impl TinyField {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// The operations that were carried out or refused, with who spoke.
    pub(crate) fn operations(&self) -> Vec<(Operation, String)> {
        let state = self.state();
        let calls = state.calls.iter().filter_map(|call| match &call.verb {
            Verb::Operate(operation, _) => {
                Some((*operation, call.agent.clone().unwrap_or_default()))
            }
            Verb::Read(_) => None,
        });
        calls.collect()
    }

    /// The payload of the last call.
    pub(crate) fn last_payload(&self) -> Value {
        match self.state().calls.last().map(|call| call.verb.clone()) {
            Some(Verb::Operate(_, payload)) => payload,
            other => panic!("the last call was {other:?}"),
        }
    }

    pub(crate) fn push(&self, push: Value) {
        let push: PushNotification = serde_json::from_value(push).unwrap();
        for listener in &self.state().pushes {
            listener.try_send(push.clone()).unwrap();
        }
    }

    fn answer(&self, call: Call) -> Result<Answer, CallFailed> {
        let mut state = self.state();
        state.calls.push(call.clone());
        if let Some(scripted) = state.scripted.take() {
            return scripted;
        }
        let agent = call.agent.unwrap_or_default();
        let (operation, payload) = match call.verb {
            Verb::Operate(operation, payload) => (operation, payload),
            Verb::Read(path) => return Ok(read(&path)),
        };
        if operation == Operation::Register {
            return Ok(match state.registered.insert(payload["id"].as_str().unwrap().to_owned()) {
                true => registered(&payload),
                false => refused(ErrorCode::AgentIdTaken, "payload.id: taken", operation),
            });
        }
        if !state.registered.contains(&agent) {
            let problem = format!("agent_id: {agent} is not registered");
            return Ok(refused(ErrorCode::AgentNotRegistered, &problem, operation));
        }
        Ok(operate(operation, payload))
    }
}

fn ok(body: Value) -> Answer {
    Answer { status: 200, body }
}

pub(crate) fn refused(code: ErrorCode, message: &str, operation: Operation) -> Answer {
    let error = ProtocolError::new(code, message).during(operation);
    Answer { status: code.http_status(), body: json!(error) }
}

fn registered(payload: &Value) -> Answer {
    ok(json!({"status": "registered",
        "agent": {"id": payload["id"], "role": payload["role"], "status": "idle", "interests": [],
                  "current_task_id": null, "authority_level": 10},
        "field_capabilities": {"conformance_level": 3, "supported_operations": [], "protocol_version": "0.1.0",
                               "persistence": true, "conflict_strategies": []}}))
}

pub(crate) fn unit(id: &str) -> Value {
    json!({"id": id, "mode": "committed", "type": "finding", "content": "The harbour raised its fees.",
           "intent": {"purpose": "Plan the route"}, "confidence": {"score": 0.8, "reasoning": "The notice says so"},
           "relations": [{"type": "supports", "target_id": "mem-0"}], "status": "active", "epoch": 4,
           "source": {"agent_id": "bo", "agent_role": "researcher", "session_id": null,
                      "timestamp": "2026-03-01T10:30:00.000Z"}})
}

fn conflict() -> Value {
    json!({"id": "conflict-1", "type": "factual", "status": "detected", "unit_a": "mem-1", "unit_b": "mem-2",
           "description": "they say the opposite", "detected_by": "explicit"})
}

fn operate(operation: Operation, payload: Value) -> Answer {
    match operation {
        Operation::Record => match RecordPayload::parse(payload) {
            Ok((_, warnings)) => {
                ok(json!({"status": "accepted", "memory_unit_id": "mem-1", "epoch": 2,
                                           "conflicts_detected": [], "warnings": warnings}))
            }
            Err(error) => {
                let error = ProtocolError::from(error).during(operation);
                Answer { status: error.code.http_status(), body: json!(error) }
            }
        },
        Operation::Attune => ok(json!({"status": "ok", "conflicts": [], "epoch": 5,
            "record": [{"memory_unit": unit("mem-1"), "relevance_score": 0.5, "relevance_reason": "recent"}],
            "context_budget": {"units_returned": 1, "units_available": 1, "tokens_used": null, "tokens_budget": null}})),
        Operation::Detect => ok(json!({"status": "ok", "conflicts": [conflict()],
            "scan_coverage": {"units_scanned": 0, "new_conflicts_found": 0}})),
        Operation::Replay => {
            ok(json!({"status": "ok", "timeline": [], "summary": "It was decided.",
            "agents_involved": ["bo"], "total_events": 3}))
        }
        Operation::Deregister => {
            ok(json!({"status": "ok", "cleanup": {"units_orphaned": 1, "tasks_reassigned": 0}}))
        }
        Operation::Session => ok(json!({"status": "ok", "sessions": []})),
        Operation::Subscribe => {
            ok(json!({"status": "ok", "subscription": {"id": "sub-1", "agent_id": "a",
            "events": ["memory.recorded"], "min_relevance": null, "debounce_ms": null, "epoch_created": 1,
            "cursor": "1.0.0"}}))
        }
        Operation::Compact => compacted(&payload),
        Operation::Register | Operation::Merge | Operation::Coordinate | Operation::Handoff => {
            panic!("no test needs {operation:?}")
        }
    }
}

/// Seven units pass every filter but one by ids, which takes what it names.
fn compacted(payload: &Value) -> Answer {
    let named = payload["filter"]["unit_ids"].as_array().map_or(7, Vec::len);
    if payload["confirm"].as_u64().is_some_and(|count| count != named as u64) {
        let problem = format!("payload.confirm: it would take {named} units");
        return refused(ErrorCode::InvalidPayload, &problem, Operation::Compact);
    }
    let mut answer = json!({"status": "ok", "units_affected": named, "synthesis_units_created": 0,
                            "storage_reclaimed_bytes": null});
    if payload["dry_run"] == true {
        answer["units"] = json!(["mem-1"]);
    }
    ok(answer)
}

fn read(path: &str) -> Answer {
    if path == "/v1/conflicts" {
        return ok(json!({"conflicts": [conflict()]}));
    }
    match path.strip_prefix("/v1/units/") {
        Some("gone") | None => refused(ErrorCode::UnitNotFound, "no such unit", Operation::Replay),
        Some(id) => ok(unit(id)),
    }
}

impl Caller for TinyField {
    async fn call(&self, call: Call) -> Result<Answer, CallFailed> {
        self.answer(call)
    }

    async fn follow(
        &self,
        _: &Presented,
        _: &str,
        from: PushPosition<'_>,
    ) -> Result<mpsc::Receiver<PushNotification>, CallFailed> {
        assert_eq!((from.subscription, from.cursor), ("sub-1", "1.0.0"));
        let (sender, receiver) = mpsc::channel(16);
        self.state().pushes.push(sender);
        Ok(receiver)
    }

    async fn bound_agent(&self, _: &Presented) -> Option<String> {
        self.state().bound.clone()
    }
}

/// A client that records its notifications.
#[derive(Debug)]
pub(crate) struct Host {
    updates: mpsc::UnboundedSender<String>,
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("Test Host", "1.0"))
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.updates.send(params.uri).unwrap();
    }
}

/// A connected client and the notifications that it received.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) client: RunningService<RoleClient, Host>,
    pub(crate) updates: mpsc::UnboundedReceiver<String>,
}

pub(crate) async fn connect(field: &TinyField, generation: Generation) -> Connected {
    connect_with(field, generation, HandlerOptions::default()).await
}

pub(crate) async fn connect_with(
    field: &TinyField,
    generation: Generation,
    options: HandlerOptions,
) -> Connected {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let handler = Handler::new(field.clone(), options);
    tokio::spawn(async move { handler.serve(ours).await.unwrap().waiting().await.unwrap() });
    let lifecycle = match generation {
        Generation::WithSessions => ClientLifecycleMode::Initialize,
        Generation::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let (sender, updates) = mpsc::unbounded_channel();
    let client = Host { updates: sender }.serve_with_lifecycle(theirs, lifecycle).await.unwrap();
    Connected { client, updates }
}

impl Connected {
    pub(crate) async fn try_call(
        &self,
        name: &'static str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let mut request = CallToolRequestParams::new(name);
        request.arguments = arguments.as_object().cloned();
        self.client.call_tool(request).await
    }

    pub(crate) async fn call(&self, name: &'static str, arguments: Value) -> CallToolResult {
        self.try_call(name, arguments).await.unwrap()
    }
}

/// The first text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// A unit that can be recorded.
pub(crate) fn finding() -> Value {
    json!({"type": "finding", "content": "c", "intent": {"purpose": "p"},
           "confidence": {"score": 0.5, "reasoning": "r"}})
}
