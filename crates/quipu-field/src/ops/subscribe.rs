//! SUBSCRIBE on the Field's handle: the operation itself, and the stream of what is pushed.

use std::sync::Arc;

use quipu_log::EngineError;
use quipu_wire::akashik::{SubscribeAction, SubscribePayload, SubscribeResponse, Subscription};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
    push::{PushStream, Target},
};
use quipu_core::{
    Event, Message,
    cursor::Cursor,
    ids::SubscriptionId,
    rules::{self, Action, subscribe},
    state::SubscriptionEntry,
};

impl Field {
    pub async fn subscribe(
        self: &Arc<Self>,
        message: Message,
        payload: SubscribePayload,
    ) -> Result<SubscribeResponse, FieldError> {
        if payload.action == SubscribeAction::List {
            self.await_epoch(&message).await?;
            let published = self.view.read();
            let (state, agent) = (&published.state, &message.agent);
            rules::admit(state, agent, message.authority, subscribe::AUTHORITY)?;
            self.tick(message.epoch)?;
            return Ok(subscribe::list(state, agent));
        }
        let agent = message.agent.clone();
        let drawn = SubscriptionId::from_bits(self.origin.id_bits());
        let command = subscribe::SubscribeCommand { payload, drawn };
        let outcome = self.submit(message, Action::Subscribe(command)).await?;
        let Some(position) = outcome.position else { return Ok(subscribe::respond(false, None)) };
        let subscription = match subscribe::ended(&outcome.events) {
            Some(made) => self.blocking(move |field| field.made_at(&agent, made)).await,
            None => Ok(subscribe::made(&agent, position, outcome.epoch, &outcome.events)),
        };
        Ok(subscribe::respond(true, subscription?))
    }

    /// The subscription that a commit made, also where it has ended since.
    fn made_at(&self, agent: &str, position: u64) -> Result<Option<Subscription>, FieldError> {
        let read = self.engine.read(&self.name, position, 1);
        let commit = read?.pop();
        let header = commit.map(|commit| commit.decode_header::<Event>()).transpose();
        let header = header.map_err(EngineError::from)?;
        Ok(header.and_then(|made| subscribe::made(agent, position, made.epoch, &made.events)))
    }

    fn subscription(&self, id: SubscriptionId) -> Option<SubscriptionEntry> {
        self.view.read().state.subscriptions.get(id).cloned()
    }

    /// Opens the stream of a subscription, after a cursor or from now on. `speaker` is the only agent
    /// whose subscriptions the caller may see; any agent's if none. What it may not see is not there.
    pub async fn pushes(
        &self,
        speaker: Option<&str>,
        credential: u8,
        id: &str,
        after: Option<&str>,
    ) -> Result<PushStream, FieldError> {
        let found = SubscriptionId::parse(id)
            .and_then(|id| self.subscription(id).map(|entry| Target { id, entry, credential }))
            .filter(|target| speaker.is_none_or(|speaker| speaker == target.entry.agent));
        let target = found.ok_or_else(|| {
            let shown: String = id.chars().take(64).collect();
            RequestError::SubscriptionNotFound { id: shown }
        })?;
        let admitted = {
            let state = &self.view.read().state;
            rules::admit(state, &target.entry.agent, credential, subscribe::AUTHORITY).map(|_| ())
        };
        admitted?;
        let parse = |text| Cursor::parse(text).ok_or(RequestError::CursorUnreadable);
        let after = after.map(parse).transpose()?;
        PushStream::open(Arc::clone(&self.tail), target, after).await
    }
}
