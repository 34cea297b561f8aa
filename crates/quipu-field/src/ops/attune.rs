//! ATTUNE on the handle: of the present or of the past, and traced where that is asked for. What matters to
//! whom is found in `read/attune`.

use std::sync::Arc;

use quipu_wire::akashik::{AttunePayload, AttuneResponse};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
    read::{
        attune::answer::{attune as answer, glance},
        view::Published,
    },
};
use quipu_core::{
    Message, Sight, State,
    rules::{self, Action, attune, trace::TraceCommand},
    state::AgentEntry,
    visibility::{may_enter, may_read},
};

/// Which view an ATTUNE looks at.
#[derive(Debug, Clone)]
enum AttuneView {
    /// At what is published, if it is not later than this epoch.
    Present(Option<u64>),
    /// At an earlier one.
    Past(Arc<Published>),
}

impl Field {
    pub async fn attune(
        self: &Arc<Self>,
        message: Message,
        payload: AttunePayload,
    ) -> Result<AttuneResponse, FieldError> {
        attune::may_preview(&message, &payload)?;
        self.await_epoch(&message).await?;
        self.await_index().await?;
        let second = Arc::new(self.second_vector_of_hint(&payload).await);
        let (message, payload) = (Arc::new(message), Arc::new(payload));
        let mut response = loop {
            let chosen = self.choose_view(&message, &payload).await?;
            let (from, asked) = (Arc::clone(&message), Arc::clone(&payload));
            let second = Arc::clone(&second);
            let answer = self.blocking(move |field| {
                field.answer_from(&from, &asked, &chosen, second.as_deref())
            });
            let answer = answer.await?;
            // None where the present became later than what was asked for: then it is of the past.
            if let Some(response) = answer {
                break response;
            }
        };
        if !payload.scope.preview && self.is_traced(&message) {
            self.trace(&message, &payload, &mut response).await;
        }
        Ok(response)
    }

    async fn choose_view(
        self: &Arc<Self>,
        message: &Message,
        payload: &AttunePayload,
    ) -> Result<AttuneView, FieldError> {
        let Some(epoch) = payload.scope.as_of_epoch else { return Ok(AttuneView::Present(None)) };
        let head = {
            let published = self.view.read();
            // Nobody else makes us build anything.
            check(&published.state, message)?;
            published.head
        };
        let now = self.clock.now();
        if epoch > now {
            return Err(RequestError::FutureEpoch { epoch, now }.into());
        }
        if epoch >= head.epoch {
            return Ok(AttuneView::Present(Some(epoch)));
        }
        let found = self.blocking(move |field| {
            let position = field.past.position_at(epoch, &head)?;
            Ok((position, field.past.kept(position)))
        });
        let (position, kept) = found.await?;
        if let Some(view) = kept {
            return Ok(AttuneView::Past(view));
        }
        let turn = self.past.turn().await?;
        let built = self.blocking(move |field| {
            let go_on = || !field.is_stopping();
            Ok(field.past.build(position, &turn, go_on)?)
        });
        built.await.map(AttuneView::Past)
    }

    fn answer_from(
        &self,
        message: &Message,
        payload: &AttunePayload,
        chosen: &AttuneView,
        second: Option<&[f32]>,
    ) -> Result<Option<AttuneResponse>, FieldError> {
        let ranking = &self.ranking;
        let (glance, as_of) = {
            let published = self.view.read();
            let state = &published.state;
            let entry = check(state, message)?;
            let (agent, session) = (message.agent.as_str(), message.session.as_deref());
            let sight = Sight::by(state, agent, session, message.authority);
            let view = match chosen {
                AttuneView::Present(Some(epoch)) if published.head.epoch > *epoch => {
                    return Ok(None);
                }
                AttuneView::Present(_) => &*published,
                AttuneView::Past(view) => view.as_ref(),
            };
            let epoch = self.tick(message.epoch)?;
            let glance = match chosen {
                AttuneView::Present(_) => {
                    glance(view, entry, &sight, payload, ranking, second, epoch)
                }
                AttuneView::Past(_) => {
                    // Who was not there then is ranked for as it is, and saw what anybody saw.
                    let entry = view.state.agents.get(agent).unwrap_or(entry);
                    let then = Sight::by(&view.state, agent, session, message.authority);
                    let then = then.still_seen_by(sight);
                    glance(view, entry, &then, payload, ranking, None, epoch)
                }
            };
            (glance, payload.scope.as_of_epoch.map(|_| view.head.epoch))
        };
        let mut response = answer(glance, &self.bodies, payload, ranking)?;
        response.as_of_epoch = as_of;
        Ok(Some(response))
    }

    /// Whether what an agent is shown is noted in the log: by the Field's own rule or the session's.
    fn is_traced(&self, message: &Message) -> bool {
        let by_session = || {
            let published = self.view.read();
            let session = message.session.as_deref();
            // Who only uses its name is not in it.
            if may_enter(&published.state, message.speaker(), session).is_err() {
                return false;
            }
            let session = session.and_then(|id| published.state.sessions.get(id));
            session.is_some_and(|session| session.policy.trace_attunes)
        };
        self.trace_attunes || by_session()
    }

    /// Notes in the log what is about to be shown. Reads go on where the log cannot be written, and then
    /// the answer says that it was not noted.
    async fn trace(
        &self,
        message: &Message,
        payload: &AttunePayload,
        response: &mut AttuneResponse,
    ) {
        let untraced = |what: &dyn std::fmt::Display| format!("this ATTUNE was not traced: {what}");
        let command = match TraceCommand::prepare(payload, response, self.origin.as_ref()) {
            Ok(command) => command,
            Err(error) => return response.warnings.push(untraced(&error)),
        };
        let id = command.id().to_string();
        let from = Message { epoch: 0, ..message.clone() };
        match self.submit(from, Action::TraceAttune(Box::new(command))).await {
            Ok(_) => response.trace_id = Some(id),
            Err(error) => response.warnings.push(untraced(&error)),
        }
    }
}

/// Checks that who asks takes part, may attune, and may speak where it does.
fn check<'s>(state: &'s State, message: &Message) -> Result<&'s AgentEntry, rules::Refusal> {
    let entry = rules::admit(state, &message.agent, message.authority, attune::AUTHORITY)?;
    may_read(state, message.speaker(), message.session.as_deref())?;
    Ok(entry)
}
