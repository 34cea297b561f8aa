//! REPLAY on the handle: what the caller may not see is found out here, the rest is read from the log.

use std::sync::Arc;

use quipu_wire::akashik::{ReplayPayload, ReplayResponse, ReplayTarget};

use crate::{
    base::error::FieldError,
    field::Field,
    read::replay::answer::{self, Listener},
};
use quipu_core::{
    Message, Sight,
    rules::{self, handoff, replay},
    visibility::{may_enter, may_reach, may_read},
};

impl Field {
    pub async fn replay(
        self: &Arc<Self>,
        message: Message,
        payload: ReplayPayload,
    ) -> Result<ReplayResponse, FieldError> {
        self.await_epoch(&message).await?;
        self.blocking(move |field| {
            let listener = {
                let published = field.view.read();
                let (agent, authority) = (&message.agent, message.authority);
                let state = &published.state;
                rules::admit(state, agent, authority, replay::AUTHORITY)?;
                // A session is replayed as its members see it.
                let is_session = payload.target_type == ReplayTarget::Session;
                let target = is_session.then_some(payload.target_id.as_str());
                let session = target.or(message.session.as_deref());
                // To whoever has no part in it, a session is not there.
                if is_session && may_enter(state, message.speaker(), session).is_err() {
                    return Err(rules::Refusal::from(replay::Error::of(&payload)).into());
                }
                may_read(state, message.speaker(), session).map_err(rules::Refusal::from)?;
                field.tick(message.epoch)?;
                let hidden = Sight::by(state, agent, session, authority)
                    .hidden(|owner| may_reach(state, message.speaker(), session, owner));
                Listener { hidden, handoffs: handoff::readable(state, &message) }
            };
            let limit = field.replay_events_max;
            answer::replay(field.engine.as_ref(), &field.name, limit, &listener, &payload)
        })
        .await
    }
}
