//! REPLAY on the handle: what the caller may not see is found out here, the rest is read from the log. What would have been
//! without some units is worked out over views of the past.

use std::{collections::BTreeSet, sync::Arc};

use quipu_wire::akashik::{
    ReplayAttune, ReplayPayload, ReplayResponse, ReplayTarget, ReplayWithout,
};

use crate::{
    base::error::FieldError,
    field::Field,
    read::replay::{
        answer::{self, Listener},
        without::{self, WithoutPlan},
    },
};
use quipu_core::{
    Message, Sight, State, UnitId,
    outline::UnitOutline,
    rules::{self, handoff, replay},
    visibility::{Hidden, may_enter, may_reach, may_read},
};

impl Field {
    pub async fn replay(
        self: &Arc<Self>,
        message: Message,
        payload: ReplayPayload,
    ) -> Result<ReplayResponse, FieldError> {
        self.await_epoch(&message).await?;
        // A session is replayed as its members see it.
        let is_session = payload.target_type == ReplayTarget::Session;
        let target = is_session.then(|| payload.target_id.clone());
        let message = Arc::new(Message { session: target.or(message.session), ..message });
        let by = Arc::clone(&message);
        let told = self.blocking(move |field| {
            let listener = field.listener(&by, &payload)?;
            let limit = field.replay_events_max;
            answer::replay(field.engine.as_ref(), &field.name, limit, &listener, &payload)
        });
        let (mut response, plan) = told.await?;
        if let Some(plan) = plan {
            self.await_index().await?;
            response.without = Some(self.without(message, Arc::new(plan)).await?);
        }
        Ok(response)
    }

    /// To whom it is told, if it may be told to it at all.
    fn listener(&self, message: &Message, payload: &ReplayPayload) -> Result<Listener, FieldError> {
        let published = self.view.read();
        let (agent, authority) = (&message.agent, message.authority);
        let state = &published.state;
        rules::admit(state, agent, authority, replay::AUTHORITY)?;
        let session = message.session.as_deref();
        // To whoever has no part in it, a session is not there.
        let is_session = payload.target_type == ReplayTarget::Session;
        if is_session && may_enter(state, message.speaker(), session).is_err() {
            return Err(rules::Refusal::from(replay::Error::of(payload)).into());
        }
        may_read(state, message.speaker(), session).map_err(rules::Refusal::from)?;
        self.tick(message.epoch)?;
        let hidden = Sight::by(state, agent, session, authority)
            .hidden(|owner| may_reach(state, message.speaker(), session, owner));
        let without = visible_and_other_ids(state, &hidden, &payload.without);
        Ok(Listener { hidden, handoffs: handoff::readable(state, message), without })
    }

    /// What would have been, by views of the past that are built one at a time.
    async fn without(
        self: &Arc<Self>,
        message: Arc<Message>,
        plan: Arc<WithoutPlan>,
    ) -> Result<ReplayWithout, FieldError> {
        let mut attunes = Vec::new();
        for at in 0..plan.moments.len() {
            let turn = self.past.turn().await?;
            let (message, plan) = (Arc::clone(&message), Arc::clone(&plan));
            let again = self.blocking(move |field| field.attune_again(&message, &plan, at, &turn));
            attunes.extend(again.await?);
        }
        self.blocking(move |field| Ok(plan.finish(attunes, |unit| field.called(unit))?)).await
    }

    /// One ATTUNE of the past, as it was and without the units of the plan, as far as the caller may see it today.
    fn attune_again(
        &self,
        message: &Message,
        plan: &WithoutPlan,
        at: usize,
        turn: &crate::snapshot::past::Building,
    ) -> Result<Option<ReplayAttune>, FieldError> {
        let Some(moment) = plan.moments.get(at) else { return Ok(None) };
        let head = self.view.read().head;
        let position = match moment.as_of {
            Some(epoch) => self.past.position_at(epoch, &head)?,
            None => moment.position,
        };
        let view = self.past.build(position.min(head.position), turn, || !self.is_stopping())?;
        let today = self.view.read();
        let sees = || {
            let session = moment.session.as_deref();
            let then = Sight::of(&view.state, &moment.author, session);
            let (agent, session) = (&message.agent, message.session.as_deref());
            then.still_seen_by(Sight::by(&today.state, agent, session, message.authority))
        };
        let texts = (self.bodies.as_ref(), &self.ranking);
        Ok(Some(without::attune_again(&view, sees, moment, &plan.units, texts)?))
    }

    /// Whose a unit is and what it says.
    fn called(&self, unit: &str) -> Result<String, quipu_log::EngineError> {
        let outline = {
            let published = self.view.read();
            let state = &published.state;
            let at = UnitId::parse(unit).and_then(|id| state.units.find(id));
            at.and_then(|at| UnitOutline::of(state, at))
        };
        let Some(outline) = outline else { return Ok(unit.to_owned()) };
        Ok(without::called(&outline.complete(&self.bodies)?))
    }
}

/// Which of some ids are units that somebody may know of, and which are not.
fn visible_and_other_ids(
    state: &State,
    hidden: &Hidden,
    ids: &[String],
) -> (BTreeSet<UnitId>, Vec<String>) {
    let (mut units, mut unknown) = (BTreeSet::new(), Vec::new());
    for id in ids {
        let unit = UnitId::parse(id).filter(|unit| state.units.find(*unit).is_some());
        match unit.filter(|unit| !hidden.units.contains(unit)) {
            Some(unit) => {
                units.insert(unit);
            }
            None => unknown.push(id.clone()),
        }
    }
    (units, unknown)
}
