//! A Field in which random things happened, by the public handles of both protocols. What a rule refuses did not
//! happen.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use quipu_core::{Message, Reader, RoleGrant};
use quipu_field::Field;
use quipu_harness::{Caller, EventScope, Harness, SESSION_DEFAULT, WriteRequest};
use quipu_wire::{
    akashik::{
        Conflict, CoordinatePayload, DeregisterPayload, HandoffPayload, RecordPayload,
        RegisterPayload, SessionPayload, UnitQuery,
    },
    harn::{
        AppendMessageRequest, ClaimTaskRequest, CompleteTaskRequest, CreateMemoryRequest, Event,
        MessageInput, RegisterArtifactRequest, Sha256, SubmitTaskRequest,
    },
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::support::{harness, persona};

const SESSIONS: [&str; 2] = ["s0", "s1"];
const LABEL: &str = "l0";
const ROLES: [&str; 3] = ["intern", "lead", "clerk"];
const TYPES: [&str; 3] = ["finding", "decision", "question"];

pub(super) fn runtime() -> &'static Runtime {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
    &RUNTIME
}

/// An agent: what it was registered with, and what the key has through which it reads.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) own: u8,
    pub(super) key: u8,
    pub(super) role: usize,
    pub(super) granted: bool,
}

/// Something that somebody tries to do.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) kind: u8,
    pub(super) who: usize,
    pub(super) place: usize,
    pub(super) what: usize,
}

pub(super) struct World {
    pub(super) harness: Harness,
    pub(super) members: Vec<Member>,
    persona: String,
    sent: usize,
    pub(super) units: Vec<String>,
    /// The sessions that somebody opened; any other id is a label.
    pub(super) opened: BTreeSet<String>,
    /// Tasks with the session that they belong to.
    pub(super) tasks: Vec<(String, Option<String>)>,
    /// Messages and artifacts with theirs.
    pub(super) messages: Vec<(String, Option<String>)>,
    pub(super) artifacts: Vec<(String, Option<String>)>,
    /// Handoffs with theirs.
    pub(super) handoffs: Vec<(String, Option<String>)>,
    /// Tasks that were worked on to their end.
    pub(super) ended: Vec<(String, Option<String>)>,
    /// All events and conflicts that there are in the end.
    pub(super) events: Vec<Event>,
    pub(super) conflicts: Vec<Conflict>,
}

pub(super) fn name(index: usize) -> String {
    format!("agent-{index}")
}

fn policy(what: usize) -> Value {
    let rules = match (what >> 2) % 5 {
        0 => json!([]),
        1 => json!([{"role": "intern", "allow_types": ["finding"]}]),
        2 => json!([{"role": "lead", "deny_types": ["decision"]}]),
        3 => json!([{"below_authority": 6, "deny_types": ["finding"]}]),
        _ => json!([{"role": "clerk", "deny_types": ["question"]},
                    {"role": "intern", "below_authority": 4, "deny_types": ["finding"]}]),
    };
    let join = if what.is_multiple_of(2) { "open" } else { "invite" };
    let shown = what % 11 == 7;
    json!({"join": join, "cross_session_visibility": shown, "visibility_rules": rules})
}

/// A place where something is said: nowhere, in a session, or under a label.
fn place(number: usize) -> Option<&'static str> {
    [None, Some(SESSIONS[0]), Some(SESSIONS[1]), Some(LABEL)][number % 4]
}

impl World {
    pub(super) async fn new(members: Vec<Member>) -> Self {
        let harness = harness();
        let persona = persona(&harness, "required").await;
        let mut world = Self {
            harness,
            members,
            persona,
            sent: 0,
            units: Vec::new(),
            opened: BTreeSet::new(),
            tasks: Vec::new(),
            messages: Vec::new(),
            artifacts: Vec::new(),
            handoffs: Vec::new(),
            ended: Vec::new(),
            events: Vec::new(),
            conflicts: Vec::new(),
        };
        for index in 0..world.members.len() {
            world.register(index).await;
        }
        world
    }

    /// The sessions that there are.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &'static str> {
        SESSIONS.into_iter().filter(|id| self.opened.contains(*id))
    }

    /// Ids under which something may have been said, and that nobody opened.
    pub(super) fn labels(&self) -> impl Iterator<Item = &'static str> {
        let unopened = SESSIONS.into_iter().filter(|id| !self.opened.contains(*id));
        [LABEL].into_iter().chain(unopened)
    }

    /// Both: wherever something may have been said.
    pub(super) fn places(&self) -> impl Iterator<Item = &'static str> {
        SESSIONS.into_iter().chain([LABEL])
    }

    pub(super) fn field(&self) -> &Arc<Field> {
        self.harness.field()
    }

    async fn register(&mut self, index: usize) {
        let member = self.members[index].clone();
        let role = ROLES[member.role];
        let payload = json!({"id": name(index), "role": role, "interests": []});
        let (payload, _) = RegisterPayload::parse(payload).unwrap();
        let roles =
            RoleGrant::Only(if member.granted { vec![role.to_owned()] } else { Vec::new() });
        let message = self.message(index, None);
        self.field().register_granted(message, payload, roles).await.ok();
    }

    /// A message of an agent, with all of its authority.
    fn message(&mut self, index: usize, session: Option<&str>) -> Message {
        self.sent += 1;
        Message {
            id: format!("m-{}", self.sent),
            agent: name(index),
            session: session.map(str::to_owned),
            epoch: 0,
            own_key: true,
            key: None,
            authority: self.members[index].own,
        }
    }

    fn asked(&self, index: usize) -> WriteRequest {
        let caller = Caller::new(name(index), self.members[index].own);
        WriteRequest { caller, key: None, digest: Sha256::of(b"") }
    }

    pub(super) async fn play(&mut self, step: &Step) {
        let who = step.who % self.members.len();
        let session = SESSIONS[step.place % SESSIONS.len()];
        match step.kind {
            0 => {
                self.session(
                    who,
                    json!({"action": "create", "session_id": session,
                "session": {"goal": "g", "policy": policy(step.what)}}),
                )
                .await
            }
            1 => self.session(who, json!({"action": "join", "session_id": session})).await,
            2 => {
                let guest = name(step.what % self.members.len());
                let let_in = json!({"action": "join", "session_id": session, "agent_id": guest});
                self.session(who, let_in).await;
            }
            3 | 4 => self.record(who, step).await,
            5 => self.task(who, step).await,
            6 => self.submit(who, step).await,
            7 => self.say(who, step).await,
            8 => self.remember(who, step).await,
            9 => self.keep(who, step).await,
            10 => self.hand_over(who, step).await,
            11 => self.work(who, step).await,
            12 => self.session(who, json!({"action": "leave", "session_id": session})).await,
            13 => {
                let action = ["pause", "resume", "end"][step.what % 3];
                self.session(who, json!({"action": action, "session_id": session})).await;
            }
            14 => {
                self.session(
                    who,
                    json!({"action": "set_policy", "session_id": session,
                "session": {"policy": policy(step.what)}}),
                )
                .await
            }
            _ => self.come_back(who, step.what).await,
        }
    }

    async fn session(&mut self, who: usize, payload: Value) {
        let (payload, _) = SessionPayload::parse(payload).unwrap();
        let message = self.message(who, None);
        let answer = self.field().session(message, payload).await;
        self.opened.extend(answer.ok().and_then(|answer| answer.session).map(|it| it.id));
    }

    async fn record(&mut self, who: usize, step: &Step) {
        let place = place(step.place);
        let against = self.units.get(step.what % 7).filter(|_| step.kind == 4);
        let relations = match against {
            Some(unit) => json!([{"type": "contradicts", "target_id": unit}]),
            None => json!([]),
        };
        let payload = json!({"type": TYPES[step.what % 3], "mode": if step.what % 5 == 4 { "draft" } else { "committed" },
            "content": format!("what {} found", self.sent), "intent": {"purpose": "p",
                "task_id": self.tasks.get(step.what % 9).map(|(id, _)| id)},
            "confidence": {"score": 0.5, "reasoning": "r", "evidence": []}, "relations": relations});
        let (payload, _) = RecordPayload::parse(payload).unwrap();
        let message = self.message(who, place);
        if let Ok(answer) = self.field().record(message, payload).await {
            self.units.push(answer.memory_unit_id);
        }
    }

    async fn task(&mut self, who: usize, step: &Step) {
        let place = place(step.place);
        let payload =
            json!({"action": "create", "task": {"title": "t", "intent": {"purpose": "p"}}});
        let (payload, _) = CoordinatePayload::parse(payload).unwrap();
        let message = self.message(who, place);
        if let Ok(answer) = self.field().coordinate(message, payload).await {
            self.tasks.push((answer.task.unwrap().id, place.map(str::to_owned)));
        }
    }

    /// A session of the Harn Protocol, as it is named there, and as the Field knows it.
    fn harn_session(step: &Step) -> (&'static str, Option<String>) {
        match SESSIONS.get(step.place % 3) {
            Some(session) => (session, Some((*session).to_owned())),
            None => (SESSION_DEFAULT, None),
        }
    }

    async fn submit(&mut self, who: usize, step: &Step) {
        let (named, session) = Self::harn_session(step);
        let body = json!({"input": "work", "persona_id": self.persona});
        let request = SubmitTaskRequest::parse(body, Some(named)).unwrap();
        if let Ok(made) = self.harness.submit_task(&self.asked(who), request).await {
            self.tasks.push((made.task.envelope.id, session));
        }
    }

    async fn say(&mut self, who: usize, step: &Step) {
        let (named, session) = Self::harn_session(step);
        let request = AppendMessageRequest { message: MessageInput::user("hello") };
        if let Ok(said) = self.harness.append_message(&self.asked(who), named, request).await {
            self.messages.push((said.envelope.id, session));
        }
    }

    async fn remember(&mut self, who: usize, step: &Step) {
        let (named, session) = Self::harn_session(step);
        let (scope, owner) =
            if session.is_some() { ("session", named) } else { ("tenant", "tenant_1") };
        let body = json!({"scope": scope, "owner_id": owner, "content": "remembered",
            "provenance": {}});
        let request = CreateMemoryRequest::parse(body).unwrap();
        if let Ok(memory) = self.harness.create_memory(&self.asked(who), request).await {
            self.units.push(memory.envelope.id);
        }
    }

    async fn keep(&mut self, who: usize, step: &Step) {
        let (named, mut session) = Self::harn_session(step);
        let mut body = json!({"kind": "other", "mime_type": "text/plain", "session_id": named,
            "visibility": "public"});
        if let Some((task, of)) = self.tasks.get(step.what % 5) {
            body["task_id"] = json!(task);
            body["session_id"] = Value::Null;
            session.clone_from(of);
        }
        let request = RegisterArtifactRequest::parse(body).unwrap();
        if let Ok(kept) = self.harness.register_artifact(&self.asked(who), request).await {
            self.artifacts.push((kept.envelope.id, session));
        }
    }

    async fn hand_over(&mut self, who: usize, step: &Step) {
        let Some((task, _)) = self.tasks.get(step.what % 4).cloned() else { return };
        let (to, place) = (name((who + 1) % self.members.len()), place(step.place));
        let payload = json!({"action": "offer", "task_id": task, "to_agent": to, "reason": "r"});
        let (payload, _) = HandoffPayload::parse(payload).unwrap();
        let message = self.message(who, place);
        if let Ok(answer) = self.field().handoff(message, payload).await {
            let id = answer.handoff.unwrap().id;
            self.handoffs.push((id, place.map(str::to_owned)));
        }
    }

    async fn work(&mut self, who: usize, step: &Step) {
        let Some((task, session)) = self.tasks.get(step.what % 6).cloned() else { return };
        let (asked, request) = (self.asked(who), ClaimTaskRequest::parse(None).unwrap());
        if self.harness.claim_task(&asked, &task, &request).await.is_err() {
            return;
        }
        let request = CompleteTaskRequest::parse(json!({"summary": "done"})).unwrap();
        if self.harness.complete_task(&asked, &task, request).await.is_ok() {
            self.ended.push((task, session));
        }
    }

    /// Leaves the Field and comes back under another role.
    async fn come_back(&mut self, who: usize, what: usize) {
        let (payload, _) = DeregisterPayload::parse(json!({"agent_id": name(who)})).unwrap();
        let message = self.message(who, None);
        if self.field().deregister(message, payload).await.is_err() {
            return;
        }
        let member = &mut self.members[who];
        (member.role, member.granted) = (what % ROLES.len(), what.is_multiple_of(2));
        self.register(who).await;
    }

    /// Looks at what there is now: who records what it may not see itself is not told of it.
    pub(super) async fn ends(&mut self) {
        let query = UnitQuery { limit: 500, ..UnitQuery::default() };
        let all = self.field().units(Reader::operator(), query).await.unwrap();
        self.units = all.units.into_iter().map(|unit| unit.id).collect();
        let (all, everything) = (Caller::new("", 10), EventScope::default());
        self.events = self.harness.events(&all, everything, None, 10_000).await.unwrap().data;
        self.conflicts = self.field().conflicts().await.unwrap().conflicts;
    }
}
