//! SUBSCRIBE on the Field's handle: the operation itself, and the stream of what is pushed.

use std::sync::Arc;

use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{Operation, SubscribeAction, SubscribePayload, SubscribeResponse},
};

use crate::{
    command::{Action, Message},
    field::Field,
    ids::SubscriptionId,
    ops::{self, subscribe},
    push::{Cursor, PushStream, Target},
    state::SubscriptionEntry,
};

impl Field {
    /// SUBSCRIBE.
    pub async fn subscribe(
        self: &Arc<Self>,
        message: Message,
        payload: SubscribePayload,
    ) -> Result<SubscribeResponse, ProtocolError> {
        let during = |error: ProtocolError| error.during(Operation::Subscribe);
        if payload.action == SubscribeAction::List {
            self.await_epoch(&message).await.map_err(during)?;
            let list = || {
                let published = self.view.read();
                let (state, agent) = (&published.state, &message.agent);
                ops::admit(state, agent, message.authority, subscribe::AUTHORITY)?;
                self.tick(message.epoch)?;
                Ok(subscribe::list(state, agent))
            };
            return list().map_err(during);
        }
        let named = payload.subscription.id.as_deref().and_then(SubscriptionId::parse);
        let before = named.and_then(|id| self.subscription(id));
        let drawn = SubscriptionId::from_bits(self.origin.id_bits());
        let command = subscribe::SubscribeCommand { payload, drawn };
        let outcome = self.submit(message, Action::Subscribe(command)).await?;
        let found = subscribe::concerned(&outcome.events);
        let entry = found.and_then(|id| self.subscription(id)).or(before);
        Ok(subscribe::respond(found.map(|id| (id, entry.as_ref()))))
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
    ) -> Result<PushStream, ProtocolError> {
        let during = |error: ProtocolError| error.during(Operation::Subscribe);
        let found = SubscriptionId::parse(id)
            .and_then(|id| self.subscription(id).map(|entry| Target { id, entry }))
            .filter(|target| speaker.is_none_or(|speaker| speaker == target.entry.agent));
        let target = found.ok_or_else(|| {
            let shown: String = id.chars().take(64).collect();
            let message = format!("there is no subscription {shown}");
            during(ProtocolError::new(ErrorCode::UnitNotFound, message))
        })?;
        self.admit(&target.entry.agent, credential, subscribe::AUTHORITY).map_err(during)?;
        let after = after.map(|text| {
            Cursor::parse(text).ok_or_else(|| {
                let message = "after: is no cursor that was pushed by this Field";
                during(ProtocolError::new(ErrorCode::InvalidPayload, message))
            })
        });
        PushStream::open(Arc::clone(&self.tail), target, after.transpose()?).await.map_err(during)
    }
}
