//! Events: the log as this protocol tells it. One event of the log is at most one Event here, and its id is its
//! place in the log, so that ids grow in every stream and a cursor never lies.

use quipu_core::{
    event::{
        Event as Logged,
        coordination::{HandoffChange, ReasonBody, SessionChange, TaskCause, TaskChange},
        documents::{DocumentChange, DocumentKind, DocumentOwner, Note},
    },
    state::State,
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
    event::place::EventPlace,
    stored::{
        artifact_marks::is_redacted,
        built_in::{SESSION_DEFAULT, session_in_field},
        note::NoteBody,
        session_facts::SessionFacts,
    },
    visibility::access::workspace_of,
};

/// One event of the log on its way to being told.
struct Telling<'a> {
    state: &'a State,
    header: &'a Header<Logged>,
    commit: &'a Commit,
    index: u32,
}

/// What is told of one event.
struct Told {
    event: EventName,
    resource: (ResourceKind, String),
    payload: JsonObject,
    owner: DocumentOwner,
    replay: Option<ReplayEventMetadata>,
}

/// The Events of a commit, in order. `state` is any later state of the same log: it knows which session and
/// workspace a thing belongs to.
#[must_use]
pub fn narrate(state: &State, header: &Header<Logged>, commit: &Commit) -> Vec<Event> {
    narrate_places(state, header, commit).into_iter().map(|(_, event)| event).collect()
}

/// The same, each with its place in this log: the id of an Event that was brought here is of another one.
#[must_use]
pub fn narrate_places(
    state: &State,
    header: &Header<Logged>,
    commit: &Commit,
) -> Vec<(EventPlace, Event)> {
    let brought = brought_here(header);
    let places = (0u32..).zip(&header.events);
    let told = places.filter_map(|(index, sealed)| {
        let telling = Telling { state, header, commit, index };
        let told = telling.tell(&sealed.event)?;
        let event = telling.finish(told, &sealed.event);
        let own = brought.is_none() || is_imported(&sealed.event);
        let shown = own || event.task_id.as_deref() != brought;
        shown.then_some((EventPlace((header.position, index)), event))
    });
    told.collect()
}

/// The task that a commit brought here from another server. What happened to it is what the notes of that
/// commit say, and not that it was brought.
fn brought_here(header: &Header<Logged>) -> Option<&str> {
    header.events.iter().find_map(|sealed| {
        let Logged::TaskNoted { task, note } = &sealed.event else { return None };
        note.imported.as_ref().map(|_| task.as_str())
    })
}

fn is_imported(event: &Logged) -> bool {
    matches!(event, Logged::TaskNoted { note, .. } if note.imported.is_some())
}

impl Telling<'_> {
    fn tell(&self, event: &Logged) -> Option<Told> {
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
            | Logged::UnitsArchived { .. }
            | Logged::UnitsPurged { .. }
            | Logged::SubscriptionCreated { .. }
            | Logged::SubscriptionRemoved { .. }
            | Logged::IdempotencyKept { .. }
            | Logged::ClockAdvanced { .. } => None,
        }
    }

    fn session(&self, session: &str, change: &SessionChange) -> Option<Told> {
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

    /// A fork is told in the Session that it left; of other changes only those that say as what.
    fn session_document(&self, session: &str) -> Option<Told> {
        let facts = self.body::<SessionFacts>()?;
        if let Some(told) = facts.told {
            return Some(of_session(told.event, session, told.payload));
        }
        let fork = facts.fork.filter(|_| self.opens(session))?;
        let payload = JsonObject::with("session_id", session);
        Some(of_session(EventKind::SessionThreadForked, &fork.session, payload))
    }

    /// Whether the commit opened a session.
    fn opens(&self, session: &str) -> bool {
        self.header.events.iter().any(|sealed| {
            matches!(&sealed.event, Logged::SessionChanged {
                session: opened,
                change: SessionChange::Created { .. },
            } if opened == session)
        })
    }

    fn task(&self, task: &str, change: &TaskChange) -> Option<Told> {
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
            TaskCause::Fail => self.status(EventKind::TaskFailed, task, TaskState::Failed),
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

    fn status(&self, event: EventKind, task: &str, status: TaskState) -> Told {
        let mut payload = JsonObject::with("status", status.as_str());
        if let Some(body) = self.body::<ReasonBody>() {
            payload.insert("reason".to_owned(), body.reason.into());
        }
        self.of_task(event, task, payload)
    }

    fn note(&self, task: &str, note: &Note) -> Told {
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
        Told { event, replay, ..self.of_task(EventKind::TaskStatusChanged, task, payload) }
    }

    fn handoff(&self, handoff: &str, change: &HandoffChange) -> Option<Told> {
        let (task, payload) = match change {
            HandoffChange::Offered { task, to, .. } => {
                (task, json!({"handoff_id": handoff, "to": to, "status": "offered"}))
            }
            HandoffChange::Moved { task, to: HandoffStatus::Accepted } => {
                (task, json!({"handoff_id": handoff, "status": "accepted"}))
            }
            HandoffChange::Moved { .. } => return None,
        };
        Some(self.of_task(EventKind::AgentHandoff, task, object(payload)))
    }

    fn document(
        &self,
        document: DocumentKind,
        id: &str,
        owner: &DocumentOwner,
        change: DocumentChange,
    ) -> Option<Told> {
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
        Some(Told { event, resource, payload, owner: owner.clone(), replay: None })
    }

    fn of_task(&self, event: EventKind, task: &str, payload: JsonObject) -> Told {
        let session = self.state.tasks.get(task).and_then(|entry| entry.session.clone());
        let owner =
            DocumentOwner { session, task: Some(task.to_owned()), ..DocumentOwner::default() };
        let resource = (ResourceKind::Task, task.to_owned());
        Told { event: event.into(), resource, payload, owner, replay: None }
    }

    fn body<T: DeserializeOwned>(&self) -> Option<T> {
        let stored = self.commit.bodies.iter().find(|stored| stored.event == self.index)?;
        match &stored.content {
            BodyContent::Present(body) => serde_json::from_slice(&body.json).ok(),
            BodyContent::Erased => None,
        }
    }

    fn finish(&self, told: Told, logged: &Logged) -> Event {
        let place = EventPlace((self.header.position, self.index));
        let imported =
            if let Logged::TaskNoted { note, .. } = logged { note.imported.as_ref() } else { None };
        let id = imported.map_or_else(|| place.id(), |was| was.event_id.clone());
        let at = imported.map_or_else(|| rfc3339(self.header.time_ms), |was| was.at.clone());
        let Told { event, resource: (kind, of), payload, owner, replay } = told;
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

/// What is told of a delivery: to which connector, and not by whom or of what.
fn delivery(id: &str, change: DocumentChange) -> Told {
    let connector = id.split('/').next().unwrap_or(id);
    let event = if change == DocumentChange::Created {
        EventKind::ConnectorDeliveryReceived
    } else {
        EventKind::ConnectorDeliveryDeduped
    };
    let payload = JsonObject::with("connector_id", connector);
    let resource = (ResourceKind::Connector, connector.to_owned());
    Told { event: event.into(), resource, payload, owner: DocumentOwner::default(), replay: None }
}

fn of_session(event: EventKind, session: &str, payload: JsonObject) -> Told {
    let owner = DocumentOwner { session: Some(session.to_owned()), ..DocumentOwner::default() };
    Told {
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
