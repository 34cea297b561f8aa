//! HANDOFF on the handle.

use std::sync::Arc;

use quipu_wire::akashik::{HandoffAction, HandoffPayload, HandoffResponse};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
    ops::first_answer::Thing,
};
use quipu_core::{
    Message,
    outline::HandoffOutline,
    rules::{Action, handoff},
};

impl Field {
    /// HANDOFF. The answer to a write is the handoff as that write left it.
    pub async fn handoff(
        self: &Arc<Self>,
        message: Message,
        payload: HandoffPayload,
    ) -> Result<HandoffResponse, FieldError> {
        let action = payload.action;
        let outlines: Vec<HandoffOutline> = if action == HandoffAction::List {
            self.glance(message, handoff::read).await?
        } else {
            let command = handoff::HandoffCommand::prepare(payload, self.origin.as_ref())
                .map_err(RequestError::Unwritable)?;
            let outcome = self.submit(message, Action::Handoff(Box::new(command))).await?;
            let id = handoff::subject(&outcome.events).unwrap_or_default().to_owned();
            let wanted = id.clone();
            let found = self.changed(outcome.position, Thing::Handoff(id.clone()), move |state| {
                state.handoffs.get(&wanted).cloned()
            });
            let entry = found.await?;
            let published = self.view.read();
            let outline = |entry| HandoffOutline::of(&published.state, &id, entry);
            entry.as_ref().map(outline).into_iter().collect()
        };
        let mut handoffs = self.with_texts(outlines, HandoffOutline::complete).await?;
        Ok(match action {
            HandoffAction::List => handoff::respond_list(handoffs),
            HandoffAction::Offer
            | HandoffAction::Accept
            | HandoffAction::Reject
            | HandoffAction::Cancel => handoff::respond(handoffs.pop()),
        })
    }
}
