//! The single writer of a Field. It drains its queue, decides the commands in order, appends one
//! batch, syncs once, publishes, and only then answers: group commit, with the sync itself as the
//! window in which the next batch gathers. What other nodes make of that is behind [`Neighbours`].

use std::sync::Arc;

use quipu_core::{
    Event, Refusal,
    apply::apply,
    event::ClockReason,
    rules::{self, Action, Command},
};
use quipu_log::{Commit, Draft, DraftEvent, Head};
use tokio::sync::mpsc;

use crate::{
    base::{error::FieldError, failure::with_causes},
    read::unit_words::CommitWords,
    write::{
        among_nodes::AmongNodes,
        batch::{Answer, Batch, Pending},
        following::Following,
        job::{Job, Outcome, Queued},
        log_end::LogEnd,
        neighbours::{Alone, Neighbours, Setback},
    },
};

/// The writer, owned by its thread.
#[derive(Debug)]
pub(crate) struct Writer {
    end: LogEnd,
    neighbours: Box<dyn Neighbours>,
}

impl Writer {
    /// The writer of a log. Where other nodes append to it too, they are followed, and decisions rest on what readers see
    /// for as long as that is enough.
    pub(crate) fn new(mut end: LogEnd, following: Option<Arc<Following>>) -> Self {
        let Some(following) = following else {
            end.state = Some(end.view.read().state.clone());
            return Self { end, neighbours: Box::new(Alone) };
        };
        Self { end, neighbours: Box::new(AmongNodes::new(following)) }
    }

    /// Works until the Field is closed or nobody can send a job any more.
    pub(crate) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut close_at = None;
        while close_at.is_none() {
            let Some(first) = jobs.blocking_recv() else { return };
            let mut batch = Batch::default();
            let mut next = Some(first);
            while let Some(job) = next {
                match job {
                    Job::Command(queued) => {
                        if batch.pending.is_empty() {
                            self.neighbours.begin_batch(&mut self.end);
                        }
                        self.take(queued, &mut batch);
                    }
                    // A batch that is begun rests on what it began with.
                    Job::KeepUp if batch.pending.is_empty() => {
                        self.neighbours.keep_up(&mut self.end);
                    }
                    Job::KeepUp => {}
                    Job::Close(time_ms) => close_at = Some(time_ms),
                }
                let is_full = batch.pending.len() >= self.neighbours.batch_limit(&self.end);
                next = if is_full { None } else { jobs.try_recv().ok() };
            }
            // Everybody in the batch has an answer; nobody else wants to know.
            self.finish(batch).ok();
        }
        if let Some(Some(time_ms)) = close_at {
            self.note_close(time_ms);
        }
    }

    /// Decides a command, and leaves its answer to the end of the batch.
    fn take(&mut self, mut queued: Box<Queued>, batch: &mut Batch) {
        if queued.command.time_ms < self.end.time_ms {
            queued.command.time_ms = self.end.time_ms;
            self.end.origin.not_before(self.end.time_ms);
        }
        self.end.own_state(&batch.headers);
        self.expire_leases(queued.command.time_ms, batch);
        let is_unsure = !batch.commits.is_empty() || self.neighbours.may_be_overtaken();
        let answer = match self.carry_out(&queued.command, &queued.words, batch) {
            Ok(answer) => answer,
            Err(error) if is_unsure => Answer::RefusedIfDurable(error),
            Err(error) => Answer::Refused(error),
        };
        batch.pending.push(Pending { queued, answer });
    }

    /// Nobody acts on a task whose lease has run out: it goes back to the pool first, in a commit of
    /// the Field's own.
    fn expire_leases(&mut self, time_ms: u64, batch: &mut Batch) {
        if !self.end.with_state(|state| state.tasks.has_expired(time_ms)) {
            return;
        }
        let expiry = Command::of_the_field(time_ms, Action::ExpireLeases);
        if let Err(error) = self.carry_out(&expiry, &CommitWords::default(), batch) {
            tracing::error!(field = %self.end.field, %error, "leases that ran out were not noted");
        }
        // What the next decision rests on must have the expiry.
        self.end.own_state(&batch.headers);
    }

    fn carry_out(
        &mut self,
        command: &Command,
        words: &CommitWords,
        batch: &mut Batch,
    ) -> Result<Answer, FieldError> {
        self.end.health.check()?;
        if let Some(outcome) = self.first_outcome(command, batch)? {
            return Ok(Answer::Done(outcome));
        }
        let clock = &self.end.clock;
        let (message, received) = (&command.message, command.message.epoch);
        let advances_clock = matches!(command.action, Action::AdvanceClock(_));
        if advances_clock && clock.is_logged_by_others(received) {
            return Ok(Answer::Done(Outcome::nothing(clock.now())));
        }
        let events = self.end.with_state(|state| rules::decide(state, command))?;
        if events.is_empty() {
            return Ok(Answer::Done(Outcome::nothing(clock.now())));
        }
        let epoch = if advances_clock {
            clock.advance_for_write(received)?
        } else {
            clock.tick_for_write(received)?
        };
        let draft = Draft {
            epoch,
            time_ms: command.time_ms,
            actor: message.agent.clone(),
            session: message.session.clone(),
            request: command.action.has_message_id().then(|| message.id.clone()),
            events,
        };
        self.add(draft, Arc::clone(words), batch)
    }

    fn add(
        &mut self,
        draft: Draft<Event>,
        words: CommitWords,
        batch: &mut Batch,
    ) -> Result<Answer, FieldError> {
        let last = batch.commits.last().map_or(self.end.head, Commit::head);
        let (commit, header) = draft
            .seal_with_header(last.position + 1, last.hash)
            .map_err(|error| FieldError::Internal(with_causes(&error)))?;
        // A rule that wrote what cannot be applied is a defect of ours. Nothing of it is durable yet,
        // but the state may be half changed, so no later decision can be trusted.
        if let Some(state) = &mut self.end.state {
            apply(state, &header).map_err(|wrong| {
                self.end.health.fail(&format!("a decision could not be applied: {wrong}"));
                FieldError::Internal(wrong.to_string())
            })?;
        }
        self.end.time_ms = header.time_ms;
        Ok(Answer::Committed(batch.add(commit, header, words)))
    }

    /// What a message led to that was carried out before, if this is it again.
    fn first_outcome(
        &self,
        command: &Command,
        batch: &Batch,
    ) -> Result<Option<Outcome>, FieldError> {
        let message = &command.message;
        if !command.action.has_message_id() {
            return Ok(None);
        }
        let found = self.end.with_state(|state| {
            let kept = command.action.idempotency_scope();
            let kept = kept.and_then(|scope| state.idempotency.find(scope, command.time_ms));
            kept.or_else(|| state.messages.find(&message.agent, &message.id))
        });
        let Some(position) = found else { return Ok(None) };
        // What readers see may be ahead of the end that is known here.
        let commit = match batch.commit_at(position, self.end.head.position) {
            Some(commit) => Some(commit.clone()),
            None => self.end.engine.read(&self.end.field, position, 1)?.pop(),
        };
        let missing = || FieldError::Internal(format!("no commit at {position}"));
        let commit = commit.ok_or_else(missing)?;
        let header = commit.decode_header::<Event>().map_err(|_| missing())?;
        if rules::is_same_request(command, &header, &commit) {
            return Ok(Some(Outcome::of(header)));
        }
        let (id, agent) = (message.id.clone(), message.agent.clone());
        Err(Refusal::MessageIdReused { id, agent }.into())
    }

    /// Makes a batch durable and visible, and answers.
    fn finish(&mut self, mut batch: Batch) -> Result<(), FieldError> {
        let result = loop {
            match self.append(&batch) {
                Ok(()) => break Ok(()),
                Err(Setback::Failed(error)) => break Err(error),
                Err(Setback::Overtaken) => batch = self.decide_again(batch),
            }
        };
        batch.answer(&result);
        result
    }

    fn append(&mut self, batch: &Batch) -> Result<(), Setback> {
        if batch.commits.is_empty() {
            return self.neighbours.confirm(&mut self.end, batch);
        }
        self.end.head = self.neighbours.append(&mut self.end, &batch.commits)?;
        self.end.publication.publish(batch.pages());
        self.neighbours.published(&mut self.end);
        Ok(())
    }

    /// Decides the commands of a batch once more that came too late.
    fn decide_again(&mut self, late: Batch) -> Batch {
        let mut batch = Batch::default();
        late.pending.into_iter().for_each(|pending| self.take(pending.queued, &mut batch));
        batch
    }

    /// Notes in the log how far the clock came, so that the next start need not skip the reserve.
    fn note_close(&mut self, time_ms: u64) {
        let end = &self.end;
        let is_noted = end.with_state(|state| state.closed && end.clock.now() == state.epoch);
        let is_needed = end.clock.has_reserve() && end.head != Head::EMPTY && !is_noted;
        if !is_needed || end.health.failure().is_some() {
            return;
        }
        let Ok(epoch) = end.clock.tick_for_write(0) else { return };
        let event = Event::ClockAdvanced { reason: ClockReason::Closed };
        let draft = Draft {
            epoch,
            time_ms: time_ms.max(end.time_ms),
            actor: "system".to_owned(),
            session: None,
            request: None,
            events: vec![DraftEvent { event, body: None }],
        };
        let mut batch = Batch::default();
        let added = self.add(draft, CommitWords::default(), &mut batch);
        if let Err(error) = added.and_then(|_| self.finish(batch)) {
            tracing::warn!(field = %self.end.field, %error, "the clock was not noted");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end.publication.close();
    }
}
