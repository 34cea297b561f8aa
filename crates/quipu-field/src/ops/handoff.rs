//! HANDOFF on the handle.

use std::sync::Arc;

use quipu_wire::{
    ProtocolError,
    akashik::{HandoffAction, HandoffPayload, HandoffResponse, Operation},
};

use crate::{
    base::failure::{storage_failure, unwritable},
    field::Field,
    ops::first_answer::Thing,
};
use quipu_core::{
    message::Message,
    outline::HandoffOutline,
    rules::{Action, handoff},
};

impl Field {
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
}
