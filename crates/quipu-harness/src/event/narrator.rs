//! One event of the log as at most one Event: which it is, what it is about, and what everybody may read of it.

use quipu_core::{
    DocumentKind, DocumentOwner, Event as Logged, State,
    event::{
        coordination::{HandoffChange, ReasonBody, SessionChange, TaskCause, TaskChange},
        documents::{DocumentChange, Note},
    },
};
use quipu_log::{BodyContent, Commit, Header};
use quipu_wire::{
    akashik::{HandoffStatus, SessionStatus},
    harn::{
        Artifact, Event, EventKind, EventName, EventObject, JsonObject, ReplayEventMetadata,
        ResourceEnvelope, ResourceKind, ResourcePointer, TaskState, Visibility,
    },
    json::timestamp::rfc3339,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    event::position::EventPosition,
    stored::{
        artifact_marks::is_redacted,
        built_in::{SESSION_DEFAULT, session_in_field},
        live_clients::LiveClients,
        note::NoteBody,
        session_facts::SessionFacts,
    },
    visibility::access::workspace_of,
};

/// One event of the log, with all that its Event is made from.
pub(super) struct Narrator<'a> {
    pub(super) state: &'a State,
    pub(super) header: &'a Header<Logged>,
    pub(super) commit: &'a Commit,
    pub(super) index: u32,
}

/// An Event without its place.
pub(super) struct EventDraft {
    event: EventName,
    resource: (ResourceKind, String),
    payload: JsonObject,
    owner: DocumentOwner,
    replay: Option<ReplayEventMetadata>,
}

impl Narrator<'_> {
    /// The Event of an event; nothing for what this protocol does not know of.
    pub(super) fn narrate(&self, event: &Logged) -> Option<EventDraft> {
        match event {
            Logged::SessionChanged { session, change } => self.session(session, change),
            Logged::TaskChanged { task, change } => self.task(task, change),
            Logged::TaskNoted { task, note } => Some(self.note(task, note)),
            Logged::HandoffChanged { handoff, change } => self.handoff(handoff, change),
            Logged::UnitRecorded { unit, task: Some(task), memory_type, .. } => {
                self.state.tasks.get(task)?;
                let payload = json!({"memory_id": unit.to_string(), "type": memory_type.as_str()});
                Some(self.of_task(EventKind::AgentMemoryWrite, task, object(payload)))
            }
            Logged::DocumentChanged { document: DocumentKind::Session, id, .. } => {
                self.session_document(id)
            }
            Logged::DocumentChanged { document: DocumentKind::LiveClients, id, .. } => {
                self.live_clients(id)
            }
            Logged::DocumentChanged { document, id, owner, change, .. } => {
                self.document(*document, id, owner, *change)
            }
            Logged::UnitRecorded { .. }
            | Logged::AgentRegistered { .. }
            | Logged::AgentDeregistered { .. }
            | Logged::AgentStatusChanged { .. }
            | Logged::AttuneTraced { .. }
            | Logged::UnitStatusChanged { .. }
            | Logged::ConflictDetected { .. }
            | Logged::ConflictResolving { .. }
            | Logged::ConflictBallotCast { .. }
            | Logged::ConflictResolved { .. }
            | Logged::ConflictEscalated { .. }
            | Logged::UnitRetracted { .. }
            | Logged::UnitRestored { .. }
            | Logged::LeastAuthoritySet { .. }
            | Logged::UnitsArchived { .. }
            | Logged::UnitsPurged { .. }
            | Logged::SubscriptionCreated { .. }
            | Logged::SubscriptionRemoved { .. }
            | Logged::IdempotencyKept { .. }
            | Logged::ClockAdvanced { .. } => None,
        }
    }

    fn session(&self, session: &str, change: &SessionChange) -> Option<EventDraft> {
        let event = match change {
            SessionChange::Created { .. } => EventKind::SessionCreated,
            SessionChange::Moved { to: SessionStatus::Ended, .. } => EventKind::SessionClosed,
            SessionChange::Moved { .. }
            | SessionChange::Joined { .. }
            | SessionChange::Left { .. }
            | SessionChange::PolicySet { .. } => return None,
        };
        Some(of_session(event, session, JsonObject::default()))
    }

    /// A fork is an Event of the Session that it left; other changes are one only where they say which.
    fn session_document(&self, session: &str) -> Option<EventDraft> {
        let facts = self.body::<SessionFacts>()?;
        if let Some(change) = facts.change_event {
            return Some(of_session(change.event, session, change.payload));
        }
        let fork = facts.fork.filter(|_| self.opens(session))?;
        let payload = JsonObject::with("session_id", session);
        Some(of_session(EventKind::SessionThreadForked, &fork.session, payload))
    }

    /// Who came, went or took control. A sign of life is no Event.
    fn live_clients(&self, session: &str) -> Option<EventDraft> {
        let change = self.body::<LiveClients>()?.change?;
        let event = EventName::parse(&change.event)?;
        Some(EventDraft { event, ..of_session(EventKind::SessionCreated, session, change.payload) })
    }

    fn opens(&self, session: &str) -> bool {
        self.header.events.iter().any(|sealed| {
            matches!(&sealed.event, Logged::SessionChanged {
                session: opened,
                change: SessionChange::Created { .. },
            } if opened == session)
        })
    }

    fn task(&self, task: &str, change: &TaskChange) -> Option<EventDraft> {
        let TaskChange::Moved { cause, .. } = change else {
            return Some(self.status(EventKind::TaskSubmitted, task, TaskState::Submitted));
        };
        Some(match cause {
            TaskCause::Start => {
                let entry = self.state.tasks.get(task)?;
                let first = entry.started_ms == Some(self.header.time_ms);
                let event =
                    if first { EventKind::TaskStarted } else { EventKind::TaskStatusChanged };
                self.status(event, task, TaskState::Working)
            }
            TaskCause::Unblock | TaskCause::Retry => {
                self.status(EventKind::TaskStatusChanged, task, TaskState::Working)
            }
            TaskCause::Block => {
                self.status(EventKind::TaskInputRequired, task, TaskState::InputRequired)
            }
            TaskCause::AwaitAuth => {
                self.status(EventKind::TaskAuthRequired, task, TaskState::AuthRequired)
            }
            TaskCause::Complete => {
                self.status(EventKind::TaskCompleted, task, TaskState::Completed)
            }
            TaskCause::Fail | TaskCause::Exhausted => {
                self.status(EventKind::TaskFailed, task, TaskState::Failed)
            }
            TaskCause::AttemptFailed => self.attempt_failed(task, change),
            TaskCause::Cancel | TaskCause::SessionEnded => {
                self.status(EventKind::TaskCanceled, task, TaskState::Canceled)
            }
            // Who has it changed, and not where it stands.
            TaskCause::Assign
            | TaskCause::Claim
            | TaskCause::Release
            | TaskCause::Renew
            | TaskCause::LeaseExpired
            | TaskCause::OwnerLeft
            | TaskCause::HandoffAccepted => return None,
        })
    }

    fn status(&self, event: EventKind, task: &str, status: TaskState) -> EventDraft {
        let mut payload = JsonObject::with("status", status.as_str());
        if let Some(body) = self.body::<ReasonBody>() {
            payload.insert("reason".to_owned(), body.reason.into());
        }
        self.of_task(event, task, payload)
    }

    /// The Task goes on, and who is next finds out when.
    fn attempt_failed(&self, task: &str, change: &TaskChange) -> EventDraft {
        let mut draft = self.status(EventKind::TaskStatusChanged, task, TaskState::Working);
        if let TaskChange::Moved { due_ms: Some(due_ms), .. } = change {
            draft.payload.insert("due_at".to_owned(), rfc3339(*due_ms).into());
        }
        draft
    }

    fn note(&self, task: &str, note: &Note) -> EventDraft {
        let event = EventName::parse(&note.event)
            .unwrap_or_else(|| EventName::Vendor("vendor.unknown".to_owned()));
        let body = self.body::<NoteBody>().unwrap_or_default();
        // What is not for everybody leaves a descriptor that something was there.
        let mut payload = match note.visibility {
            Visibility::Public => body.payload,
            Visibility::Internal | Visibility::ReceiptOnly => {
                JsonObject::with("redacted", note.visibility.as_str())
            }
        };
        if let Some(dependency) = &note.dependency {
            payload.insert("key".to_owned(), dependency.key.as_str().into());
            payload.insert("kind".to_owned(), dependency.kind.as_str().into());
        }
        if let Some(checkpoint) = &note.checkpoint {
            payload.insert("checkpoint_id".to_owned(), checkpoint.as_str().into());
        }
        let replay = body.replay;
        EventDraft { event, replay, ..self.of_task(EventKind::TaskStatusChanged, task, payload) }
    }

    fn handoff(&self, handoff: &str, change: &HandoffChange) -> Option<EventDraft> {
        let (task, payload) = match change {
            HandoffChange::Offered { task, to, .. } => {
                (task, json!({"handoff_id": handoff, "to": to, "status": "offered"}))
            }
            HandoffChange::Moved { task, to: HandoffStatus::Accepted } => {
                (task, json!({"handoff_id": handoff, "status": "accepted"}))
            }
            HandoffChange::Moved { .. } => return None,
        };
        // An offer made elsewhere is of something else of that name.
        let made_in = self.state.handoffs.get(handoff).map(|handoff| &handoff.session);
        let of_task = self.state.tasks.get(task).map(|task| &task.session);
        if of_task.is_some() && of_task != made_in {
            return None;
        }
        Some(self.of_task(EventKind::AgentHandoff, task, object(payload)))
    }

    fn document(
        &self,
        document: DocumentKind,
        id: &str,
        owner: &DocumentOwner,
        change: DocumentChange,
    ) -> Option<EventDraft> {
        let (event, kind) = match (document, change) {
            (DocumentKind::Message, DocumentChange::Created) => {
                (EventKind::SessionMessageAppended, ResourceKind::Message)
            }
            (DocumentKind::Branch, DocumentChange::Created) => {
                (EventKind::BranchCreated, ResourceKind::Branch)
            }
            (DocumentKind::Branch, DocumentChange::Updated) => {
                (EventKind::BranchUpdated, ResourceKind::Branch)
            }
            (DocumentKind::Artifact, DocumentChange::Created) => {
                (EventKind::ArtifactCreated, ResourceKind::Artifact)
            }
            (DocumentKind::Artifact, DocumentChange::Updated) => {
                let redacted = self.body::<Artifact>().is_some_and(|it| is_redacted(&it));
                let event =
                    if redacted { EventKind::ArtifactRedacted } else { EventKind::ArtifactUpdated };
                (event, ResourceKind::Artifact)
            }
            (DocumentKind::Receipt, DocumentChange::Created) => {
                (EventKind::ReceiptIssued, ResourceKind::Receipt)
            }
            (DocumentKind::Delivery, DocumentChange::Created | DocumentChange::Updated) => {
                return Some(delivery(id, change));
            }
            _ => return None,
        };
        let payload = JsonObject::with(&format!("{kind}_id"), id);
        let (event, resource) = (event.into(), (kind, id.to_owned()));
        Some(EventDraft { event, resource, payload, owner: owner.clone(), replay: None })
    }

    fn of_task(&self, event: EventKind, task: &str, payload: JsonObject) -> EventDraft {
        let session = self.state.tasks.get(task).and_then(|entry| entry.session.clone());
        let owner =
            DocumentOwner { session, task: Some(task.to_owned()), ..DocumentOwner::default() };
        let resource = (ResourceKind::Task, task.to_owned());
        EventDraft { event: event.into(), resource, payload, owner, replay: None }
    }

    fn body<T: DeserializeOwned>(&self) -> Option<T> {
        let stored = self.commit.bodies.iter().find(|stored| stored.event == self.index)?;
        match &stored.content {
            BodyContent::Present(body) => serde_json::from_slice(&body.json).ok(),
            BodyContent::Erased => None,
        }
    }

    /// The Event with its place, and with what the state knows of where it belongs.
    pub(super) fn finish(&self, draft: EventDraft, logged: &Logged) -> Event {
        let place = EventPosition((self.header.position, self.index));
        let imported =
            if let Logged::TaskNoted { note, .. } = logged { note.imported.as_ref() } else { None };
        let id = imported.map_or_else(|| place.id(), |was| was.event_id.clone());
        let at = imported.map_or_else(|| rfc3339(self.header.time_ms), |was| was.at.clone());
        let EventDraft { event, resource: (kind, of), payload, owner, replay } = draft;
        let DocumentOwner { workspace, session, task, .. } = owner;
        let session = session.or_else(|| task.is_some().then(|| SESSION_DEFAULT.to_owned()));
        let workspace_of = |id: &String| workspace_of(self.state, session_in_field(id));
        Event {
            object: EventObject::Event,
            envelope: ResourceEnvelope::new(id, at),
            event,
            resource: ResourcePointer { object: kind.as_str().to_owned(), id: of.clone() },
            sequence: imported.map_or_else(|| place.sequence(), |was| was.sequence),
            payload,
            trace_id: None,
            span_id: None,
            workspace_id: workspace.or_else(|| session.as_ref().map(workspace_of)),
            session_id: session,
            task_id: task,
            actor: Some(self.header.actor.clone()),
            idempotency_key: None,
            previous_event_id: None,
            receipt_id: (kind == ResourceKind::Receipt).then(|| of.clone()),
            replayed: replay.is_some(),
            replay,
        }
    }
}

/// The Event of a delivery: to which connector, and not by whom or of what.
fn delivery(id: &str, change: DocumentChange) -> EventDraft {
    let connector = id.split('/').next().unwrap_or(id);
    let event = if change == DocumentChange::Created {
        EventKind::ConnectorDeliveryReceived
    } else {
        EventKind::ConnectorDeliveryDeduped
    };
    let payload = JsonObject::with("connector_id", connector);
    let resource = (ResourceKind::Connector, connector.to_owned());
    EventDraft {
        event: event.into(),
        resource,
        payload,
        owner: DocumentOwner::default(),
        replay: None,
    }
}

fn of_session(event: EventKind, session: &str, payload: JsonObject) -> EventDraft {
    let owner = DocumentOwner { session: Some(session.to_owned()), ..DocumentOwner::default() };
    EventDraft {
        event: event.into(),
        resource: (ResourceKind::Session, session.to_owned()),
        payload,
        owner,
        replay: None,
    }
}

fn object(value: Value) -> JsonObject {
    if let Value::Object(map) = value { JsonObject(map) } else { JsonObject::default() }
}
