//! Commands on their way to the writer: who may send one, how it is queued, and how its outcome comes back.

use std::sync::Arc;

use quipu_wire::limits::EPOCH_JUMP_MAX;
use tokio::sync::mpsc;

use crate::{
    base::{
        asker::Asker,
        error::{FieldError, Overload},
        limits::ANSWER_WAIT,
        unavailable::Unavailable,
    },
    field::Field,
    read::unit_words::CommitWords,
    write::job::{Awaited, Job, Outcome, Queued},
};
use quipu_core::{
    Message,
    rules::{self, Action, Command},
};

impl Field {
    /// Checks that who sends a message takes part and has the authority, before its payload is looked
    /// at. Who sends one again gets the answer of the first time, also where it has left since.
    pub fn admit(&self, message: &Message, needed: u8) -> Result<(), FieldError> {
        let state = &self.view.read().state;
        match rules::admit(state, &message.agent, message.authority, needed) {
            // Asked only now, because hardly any message was carried out before.
            Err(refusal) if state.messages.find(&message.agent, &message.id).is_none() => {
                Err(refusal.into())
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Checks that a key for any agent, with this authority, may speak for this one.
    pub fn check_borrowed(&self, agent: &str, credential: u8) -> Result<(), FieldError> {
        Ok(rules::may_borrow(&self.view.read().state, agent, credential)?)
    }

    /// How far a message is ahead of the Field's clock, which it would push there. What is further ahead than any
    /// message may be pushes nothing: it will be refused.
    pub fn lead_of(&self, message: &Message) -> u64 {
        let lead = message.epoch.saturating_sub(self.clock.now());
        if lead > EPOCH_JUMP_MAX { 0 } else { lead }
    }

    pub(crate) async fn submit(
        &self,
        message: Message,
        action: Action,
    ) -> Result<Outcome, FieldError> {
        let (answer, _) = self.enqueue(message, action)?;
        self.outcome(answer).await
    }

    /// Queues a command for the writer; the answer comes after its commit is durable. The words of the units that it records
    /// can be found meanwhile.
    pub(crate) fn enqueue(
        &self,
        message: Message,
        action: Action,
    ) -> Result<(Awaited, CommitWords), FieldError> {
        self.health.check()?;
        self.clock.check(message.epoch)?;
        Asker::current().keep();
        let command = Command { message, time_ms: self.origin.now_ms(), action };
        let (queued, answer) = Queued::new(command);
        let words = Arc::clone(&queued.words);
        self.jobs.try_send(Job::Command(queued)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => FieldError::from(Overload::QueueFull),
            mpsc::error::TrySendError::Closed(_) => Unavailable::Closed.into(),
        })?;
        Ok((answer, words))
    }

    pub(crate) async fn outcome(&self, answer: Awaited) -> Result<Outcome, FieldError> {
        match tokio::time::timeout(ANSWER_WAIT, answer).await {
            Ok(answered) => answered.unwrap_or_else(|_| Err(Unavailable::Closed.into())),
            Err(_) => {
                let unknown = "whether it was carried out is not known";
                Err(FieldError::OutcomeUnknown { unknown })
            }
        }
    }

    /// Queues a command whose outcome nobody waits for, if there is room.
    pub(crate) fn post(&self, command: Command) {
        let (queued, _) = Queued::new(command);
        self.jobs.try_send(Job::Command(queued)).ok();
    }

    #[expect(clippy::unused_self, reason = "the Field speaks here")]
    pub(crate) fn system(&self, epoch: u64) -> Message {
        Message {
            id: String::new(),
            agent: "system".to_owned(),
            session: None,
            epoch,
            authority: quipu_wire::limits::AUTHORITY_MAX,
            own_key: true,
            key: None,
        }
    }
}
