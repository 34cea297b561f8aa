//! The Field's methods for SESSION, COORDINATE and HANDOFF, for leases, and for reads by somebody who
//! may not see everything.

use quipu_core::outline::{ConflictOutline, HandoffOutline, SessionOutline, TaskOutline};
use std::sync::Arc;

use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{
        AgentList, ConflictList, CoordinatePayload, CoordinateResponse, HandoffAction,
        HandoffPayload, HandoffResponse, Operation, SessionPayload, SessionResponse,
    },
    json::canon::CanonError,
};

use crate::{base::failure::storage_failure, field::Field, ops::first_answer::Thing};
use quipu_core::{
    message::Message,
    rules::{Action, Command},
    rules::{Refusal, coordinate, handoff, session},
    state::State,
    visibility::Reader,
};

fn unwritable(error: &CanonError) -> ProtocolError {
    ProtocolError::new(ErrorCode::InvalidPayload, error.to_string())
}

impl Field {
    /// SESSION. The answer to a write is the session as that write left it.
    pub async fn session(
        self: &Arc<Self>,
        message: Message,
        payload: SessionPayload,
    ) -> Result<SessionResponse, ProtocolError> {
        let during = |error: ProtocolError| error.during(Operation::Session);
        let action = payload.action;
        let outlines = if session::is_read(action) {
            self.glance(message, Operation::Session, move |state, message| {
                session::read(state, message, &payload)
            })
            .await?
        } else {
            let named = payload.session_id.clone();
            let command = session::SessionCommand::prepare(payload, self.origin.as_ref())
                .map_err(|error| during(unwritable(&error)))?;
            let outcome = self.submit(message, Action::Session(Box::new(command))).await?;
            let id = session::subject(&outcome.events).map(str::to_owned).or(named);
            let id = id.unwrap_or_default();
            let found = self.changed(outcome.position, Thing::Session(id.clone()), move |state| {
                state.sessions.get(&id).map(|entry| SessionOutline::of(&id, entry))
            });
            found.await.map_err(during)?.into_iter().collect()
        };
        self.blocking(move |field| {
            let complete = |outline: SessionOutline| outline.complete(&field.bodies);
            let sessions = outlines.into_iter().map(complete).collect::<Result<_, _>>();
            let sessions = sessions.map_err(|error| storage_failure(&error))?;
            Ok(session::respond(action, sessions))
        })
        .await
        .map_err(during)
    }

    /// COORDINATE. The answer to a write is the task as that write left it.
    pub async fn coordinate(
        self: &Arc<Self>,
        message: Message,
        payload: CoordinatePayload,
    ) -> Result<CoordinateResponse, ProtocolError> {
        let during = |error: ProtocolError| error.during(Operation::Coordinate);
        let action = payload.action;
        let outlines = if coordinate::is_read(action) {
            self.glance(message, Operation::Coordinate, move |state, message| {
                coordinate::read(state, message, &payload)
            })
            .await?
        } else {
            let command = coordinate::CoordinateCommand::prepare(payload, self.origin.as_ref())
                .map_err(|error| during(unwritable(&error)))?;
            let outcome = self.submit(message, Action::Coordinate(Box::new(command))).await?;
            let id = coordinate::subject(&outcome.events).unwrap_or_default().to_owned();
            let found = self.changed(outcome.position, Thing::Task(id.clone()), move |state| {
                state.tasks.get(&id).map(|entry| TaskOutline::of(&id, entry))
            });
            found.await.map_err(during)?.into_iter().collect()
        };
        self.blocking(move |field| {
            let complete = |outline: TaskOutline| outline.complete(&field.bodies);
            let tasks = outlines.into_iter().map(complete).collect::<Result<_, _>>();
            Ok(coordinate::respond(action, tasks.map_err(|error| storage_failure(&error))?))
        })
        .await
        .map_err(during)
    }

    /// HANDOFF. The answer to a write is the handoff as that write left it.
    pub async fn handoff(
        self: &Arc<Self>,
        message: Message,
        payload: HandoffPayload,
    ) -> Result<HandoffResponse, ProtocolError> {
        let during = |error: ProtocolError| error.during(Operation::Handoff);
        let action = payload.action;
        let outlines: Vec<HandoffOutline> = if action == HandoffAction::List {
            self.glance(message, Operation::Handoff, handoff::read).await?
        } else {
            let command = handoff::HandoffCommand::prepare(payload, self.origin.as_ref())
                .map_err(|error| during(unwritable(&error)))?;
            let outcome = self.submit(message, Action::Handoff(Box::new(command))).await?;
            let id = handoff::subject(&outcome.events).unwrap_or_default().to_owned();
            let wanted = id.clone();
            let found = self.changed(outcome.position, Thing::Handoff(id.clone()), move |state| {
                state.handoffs.get(&wanted).cloned()
            });
            let entry = found.await.map_err(during)?;
            let published = self.view.read();
            let outline = |entry| HandoffOutline::of(&published.state, &id, entry);
            entry.as_ref().map(outline).into_iter().collect()
        };
        self.blocking(move |field| {
            let complete = |outline: HandoffOutline| outline.complete(&field.bodies);
            let handoffs = outlines.into_iter().map(complete).collect::<Result<Vec<_>, _>>();
            let mut handoffs = handoffs.map_err(|error| storage_failure(&error))?;
            Ok(match action {
                HandoffAction::List => handoff::respond_list(handoffs),
                HandoffAction::Offer
                | HandoffAction::Accept
                | HandoffAction::Reject
                | HandoffAction::Cancel => handoff::respond(handoffs.pop()),
            })
        })
        .await
        .map_err(during)
    }

    /// What a write left of a thing. Where it was changed since, the log is read for it.
    async fn changed<T: Send + 'static>(
        self: &Arc<Self>,
        position: Option<u64>,
        thing: Thing,
        ask: impl Fn(&State) -> T + Send + 'static,
    ) -> Result<T, ProtocolError> {
        self.blocking(move |field| {
            field.left_by(position, &thing, ask).map_err(|error| storage_failure(&error))
        })
        .await
    }

    /// Looks at the published state for a message, which ticks the clock as every message does.
    async fn glance<T>(
        self: &Arc<Self>,
        message: Message,
        operation: Operation,
        look: impl FnOnce(&State, &Message) -> Result<T, Refusal>,
    ) -> Result<T, ProtocolError> {
        let during = |error: ProtocolError| error.during(operation);
        self.await_epoch(&message).await.map_err(during)?;
        let published = self.view.read();
        self.tick(message.epoch).map_err(during)?;
        look(&published.state, &message).map_err(|refusal| during(refusal.into()))
    }

    /// Puts tasks whose lease has run out back into the pool, if there are any. To be called now and
    /// then: without it a lost task is only noticed when the next command arrives.
    pub fn expire_leases(&self) {
        let now = self.origin.now_ms();
        if !self.view.read().state.tasks.has_expired(now) {
            return;
        }
        // Where the queue is full, the commands in it will do as well.
        self.post(Command::of_the_field(now, Action::ExpireLeases));
    }

    /// The agents that take part now. What they work on is told only to who may know of the task.
    #[must_use]
    pub fn agents_for(&self, reader: &Reader) -> AgentList {
        let published = self.view.read();
        let state = &published.state;
        let agents = state.agents.all_live().map(|(id, entry)| {
            let mut agent = entry.to_wire(id);
            agent.current_task_id =
                agent.current_task_id.take().filter(|task| reader.knows_task(state, task));
            agent
        });
        AgentList { agents: agents.collect() }
    }

    /// The conflicts that wait to be settled and that the reader may know of.
    pub async fn conflicts_for(
        self: &Arc<Self>,
        reader: Reader,
    ) -> Result<ConflictList, ProtocolError> {
        self.blocking(move |field| {
            let open = {
                let published = field.view.read();
                let state = &published.state;
                let sight = reader.sight(state);
                let open = state.conflicts.iter().filter(|conflict| conflict.is_open());
                open.filter(|conflict| sight.sees_conflict(conflict))
                    .map(|conflict| ConflictOutline::of(state, conflict))
                    .collect()
            };
            Ok(ConflictList { conflicts: field.complete(open)? })
        })
        .await
    }
}
