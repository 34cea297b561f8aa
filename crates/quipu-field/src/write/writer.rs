//! The single writer of a Field. It drains its queue, decides the commands in order, appends one
//! batch, syncs once, publishes, and only then answers: group commit, with the sync itself as the
//! window in which the next batch gathers. Where other nodes append too, `writer_shared.rs` has the rest.

use std::{mem, sync::Arc};

use quipu_log::{Commit, Draft, Engine, EngineError, FieldName, Head, Header, SealedEvent};
use quipu_wire::{ErrorCode, ProtocolError, akashik::Operation};
use tokio::sync::{mpsc, oneshot};

use crate::{
    base::{
        failure::{is_survivable, storage_failure, with_causes},
        health::Health,
        limits::BATCH_COMMANDS_MAX,
        meter::{Meter, Stopwatch},
    },
    read::view::View,
    write::{
        clock::LamportClock,
        publication::{Pages, Publication},
        shared::Shared,
    },
};
use quipu_core::{
    apply::apply,
    event::{ClockReason, Event},
    rules,
    rules::{Action, Command},
    state::State,
    unit_words::UnitWords,
};

/// What a command led to: its commit, or nothing where there was nothing to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// Where the commit is; nowhere where there was nothing to do.
    pub position: Option<u64>,
    /// The commit's epoch.
    pub epoch: u64,
    /// What happened.
    pub events: Vec<SealedEvent<Event>>,
}

impl Outcome {
    fn of(header: Header<Event>) -> Self {
        let Header { position, epoch, events, .. } = header;
        Self { position: Some(position), epoch, events }
    }
}

/// Where an outcome goes.
pub(crate) type Reply = oneshot::Sender<Result<Outcome, ProtocolError>>;

/// What the writer can be asked.
#[derive(Debug)]
pub(crate) enum Job {
    /// Carry out a command.
    Command(Box<Command>, Reply),
    /// Take note of what was published beside it.
    KeepUp,
    /// Finish what is queued, note the clock at this time where one is given, and stop.
    Close(Option<u64>),
}

/// The writer, owned by its thread.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Where commits go.
    pub engine: Arc<dyn Engine>,
    /// Whose commits.
    pub field: FieldName,
    /// The Field's logical clock.
    pub clock: Arc<LamportClock>,
    /// What readers see.
    pub view: Arc<View>,
    /// Whether writes are taken.
    pub health: Arc<Health>,
    /// The state with everything decided so far, synced or not. After a batch that did not happen there
    /// is none until a commit is durable again, and decisions rest on what readers see: on a full disk
    /// a copy of the state for each attempt would cost far more than the attempt.
    pub state: Option<State>,
    /// The last durable commit.
    pub head: Head,
    /// Shows what is durable.
    pub publication: Arc<Publication>,
    /// What there is to know of other nodes, where they append to the same log.
    pub shared: Option<Shared>,
    /// The time of the last commit. Time in a log never goes back, whatever the clocks of its nodes do.
    pub time_ms: u64,
    /// Told how the log keeps up.
    pub meter: Arc<dyn Meter>,
}

/// Commits that are decided and not yet durable, with everything to be said once they are.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) commits: Vec<Commit>,
    pub(crate) headers: Vec<Header<Event>>,
    words: Vec<Vec<Arc<UnitWords>>>,
    pub(crate) asked: Vec<Asked>,
}

/// Somebody who waits for an answer.
pub(crate) struct Asked {
    /// The command, where it may have to be decided again.
    pub(crate) command: Option<Box<Command>>,
    pub(crate) reply: Reply,
    operation: Option<Operation>,
    pub(crate) answer: Answer,
}

/// What to answer once the batch is durable. A refusal waits too: it may rest on a commit of the
/// batch, and nobody is told of a commit before its sync.
pub(crate) enum Answer {
    Committed(usize),
    Known(Outcome),
    /// The flag says that it rests on what may not have happened.
    Refused(ProtocolError, bool),
}

/// Why a batch is not durable.
pub(crate) enum Setback {
    /// Another node was faster, and the log's head is this one now.
    Moved(Head),
    /// It cannot be, for now or for good.
    Failed(ProtocolError),
}

impl Writer {
    /// Works until it is told to close or nobody can ask any more.
    pub(crate) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut close_at = None;
        while close_at.is_none() {
            let Some(first) = jobs.blocking_recv() else { return };
            let mut batch = Batch::default();
            let mut next = Some(first);
            while let Some(job) = next {
                match job {
                    Job::Command(command, reply) => {
                        if batch.asked.is_empty() {
                            self.begin();
                        }
                        self.take(command, reply, &mut batch);
                    }
                    // A batch that is begun rests on what it began with.
                    Job::KeepUp if batch.asked.is_empty() => self.keep_up(),
                    Job::KeepUp => {}
                    Job::Close(time_ms) => close_at = Some(time_ms),
                }
                // What readers see does not know of the batch, so then it has one command.
                let many = self.state.is_some() || self.shared.is_some();
                let room = if many { BATCH_COMMANDS_MAX } else { 1 };
                let full = batch.asked.len() >= room;
                next = if full { None } else { jobs.try_recv().ok() };
            }
            // Everybody in the batch was told; nobody else wants to know.
            self.finish(batch).ok();
        }
        if let Some(Some(time_ms)) = close_at {
            self.note_close(time_ms);
        }
    }

    /// Asks the state on which the next decision rests.
    pub(crate) fn look<T>(&self, ask: impl FnOnce(&State) -> T) -> T {
        match &self.state {
            Some(state) => ask(state),
            None => ask(&self.view.read().state),
        }
    }

    pub(crate) fn take(&mut self, mut command: Box<Command>, reply: Reply, batch: &mut Batch) {
        command.time_ms = command.time_ms.max(self.time_ms);
        self.own_state(batch);
        let expired = self.expire_leases(command.time_ms, batch);
        let operation = command.action.operation();
        let unsure = !batch.commits.is_empty() || self.shared.is_some();
        let answer = expired
            .and_then(|()| self.carry_out(&mut command, batch))
            .unwrap_or_else(|error| Answer::Refused(error.during(operation), unsure));
        let command = self.shared.is_some().then_some(command);
        batch.asked.push(Asked { command, reply, operation, answer });
    }

    /// Nobody acts on a task whose lease has run out: it goes back to the pool first, in a commit of
    /// the Field's own.
    fn expire_leases(&mut self, time_ms: u64, batch: &mut Batch) -> Result<(), ProtocolError> {
        if !self.look(|state| state.tasks.has_expired(time_ms)) {
            return Ok(());
        }
        let mut expiry = Command::of_the_field(time_ms, Action::ExpireLeases);
        if let Err(error) = self.carry_out(&mut expiry, batch) {
            tracing::error!(field = %self.field, %error, "leases that ran out were not noted");
        }
        // What the next decision rests on must know of it.
        self.own_state(batch);
        // A batch without such a state where others append comes too late, and is decided again as a whole.
        let alone = self.state.is_none() && self.shared.is_none();
        if alone { self.finish(mem::take(batch)) } else { Ok(()) }
    }

    fn carry_out(
        &mut self,
        command: &mut Command,
        batch: &mut Batch,
    ) -> Result<Answer, ProtocolError> {
        self.health.check()?;
        if let Some(outcome) = self.known(command, batch)? {
            return Ok(Answer::Known(outcome));
        }
        let decision = if self.is_told_already(command) {
            Vec::new()
        } else {
            self.look(|state| rules::decide(state, command))?
        };
        if decision.is_empty() {
            let (position, epoch) = (None, self.clock.now());
            return Ok(Answer::Known(Outcome { position, epoch, events: Vec::new() }));
        }
        let (words, has_id) = words_and_id(&command.action);
        let received = command.message.epoch;
        let epoch = if let Action::AdvanceClock(_) = command.action {
            self.clock.advance_for_write(received)?
        } else {
            self.clock.tick_for_write(received)?
        };
        // A command that may have to be decided again keeps what it says.
        let keep = self.shared.is_some();
        let given = |text: &mut String| if keep { text.clone() } else { mem::take(text) };
        let message = &mut command.message;
        let draft = Draft {
            epoch,
            time_ms: command.time_ms,
            actor: given(&mut message.agent),
            session: message.session.as_mut().map(given),
            request: has_id.then(|| given(&mut message.id)),
            events: decision,
        };
        self.add(draft, words, batch)
    }

    fn add(
        &mut self,
        draft: Draft<Event>,
        words: Vec<Arc<UnitWords>>,
        batch: &mut Batch,
    ) -> Result<Answer, ProtocolError> {
        let internal = |error: String| ProtocolError::new(ErrorCode::InternalError, error);
        let last = batch.commits.last().map_or(self.head, Commit::head);
        let (commit, header) = draft
            .seal_with_header(last.position + 1, last.hash)
            .map_err(|error| internal(with_causes(&error)))?;
        // A rule that wrote what cannot be applied is a defect of ours. Nothing of it is durable yet,
        // but the state may be half changed, so no later decision can be trusted.
        if let Some(state) = &mut self.state {
            apply(state, &header).map_err(|wrong| {
                self.health.fail(&format!("a decision could not be applied: {wrong}"));
                internal(wrong.to_string())
            })?;
        }
        self.time_ms = header.time_ms;
        batch.commits.push(commit);
        batch.headers.push(header);
        batch.words.push(words);
        Ok(Answer::Committed(batch.commits.len() - 1))
    }

    /// The outcome of a message that was carried out before, if this is it again.
    fn known(&self, command: &Command, batch: &Batch) -> Result<Option<Outcome>, ProtocolError> {
        let message = &command.message;
        if let Action::NoteConflicts(_)
        | Action::NoteEnriched(_)
        | Action::TraceAttune(_)
        | Action::AdvanceClock(_) = command.action
        {
            return Ok(None);
        }
        let found = self.look(|state| {
            let kept = command.action.idempotency_scope();
            let kept = kept.and_then(|scope| state.idempotency.find(scope, command.time_ms));
            kept.or_else(|| state.messages.find(&message.agent, &message.id))
        });
        let Some(position) = found else { return Ok(None) };
        let ahead = position.checked_sub(self.head.position + 1);
        let at = ahead.and_then(|ahead| usize::try_from(ahead).ok());
        // What readers see may be ahead of the batch, where others append.
        let commit = match at.and_then(|at| batch.commits.get(at)) {
            Some(commit) => Some(commit.clone()),
            None => self
                .engine
                .read(&self.field, position, 1)
                .map_err(|error| storage_failure(&error))?
                .pop(),
        };
        let missing =
            || ProtocolError::new(ErrorCode::InternalError, format!("no commit at {position}"));
        let commit = commit.ok_or_else(missing)?;
        let header = commit.decode_header::<Event>().map_err(|_| missing())?;
        if rules::is_same_request(command, &header, &commit) {
            return Ok(Some(Outcome::of(header)));
        }
        Err(ProtocolError::new(
            ErrorCode::MessageIdReused,
            format!("id: {} was used by {} for another message", message.id, message.agent),
        ))
    }

    fn finish(&mut self, mut batch: Batch) -> Result<(), ProtocolError> {
        let mut lost = 0;
        let result = loop {
            match self.make_durable(&batch) {
                Ok(()) => break Ok(()),
                Err(Setback::Failed(error)) => break Err(error),
                Err(Setback::Moved(actual)) => {
                    lost += 1;
                    match self.recover(&actual, lost) {
                        Ok(()) => batch = self.decide_again(batch),
                        Err(error) => break Err(error),
                    }
                }
            }
        };
        let result = result.and_then(|()| self.show(&batch));
        self.end_append();
        let Batch { headers, asked, .. } = batch;
        // Each commit answers one command, which takes its header along.
        let mut headers: Vec<_> = headers.into_iter().map(Some).collect();
        for Asked { reply, operation, answer, .. } in asked {
            let answer = match (&result, answer) {
                (
                    Err(error),
                    Answer::Committed(_) | Answer::Known(_) | Answer::Refused(_, true),
                ) => Err(error.clone().during(operation)),
                (Ok(()), Answer::Committed(at)) => {
                    let header = headers.get_mut(at).and_then(Option::take);
                    header.map(Outcome::of).ok_or_else(|| {
                        ProtocolError::new(ErrorCode::InternalError, "an answer was lost")
                    })
                }
                (Ok(()), Answer::Known(outcome)) => Ok(outcome),
                (_, Answer::Refused(error, _)) => Err(error),
            };
            // Whoever asked may have gone; what happened has happened.
            reply.send(answer).ok();
        }
        result
    }

    fn make_durable(&mut self, batch: &Batch) -> Result<(), Setback> {
        if batch.commits.is_empty() {
            return self.confirm(batch);
        }
        let watch = Stopwatch::start();
        match self.append(&batch.commits) {
            Ok(head) => {
                self.meter.appended(batch.commits.len(), watch.elapsed());
                self.head = head;
                Ok(())
            }
            Err(EngineError::HeadMoved { actual }) if self.shared.is_some() => {
                self.meter.conflicted();
                Err(Setback::Moved(actual))
            }
            Err(error) => {
                self.give_up(&error);
                Err(Setback::Failed(storage_failure(&error)))
            }
        }
    }

    /// The batch did not happen: back to what is durable.
    fn give_up(&mut self, error: &EngineError) {
        tracing::error!(field = %self.field, error = with_causes(error), "append failed");
        if !is_survivable(error, self.shared.is_some()) {
            self.health.fail(&format!("append failed: {}", with_causes(error)));
        }
        self.abandon();
    }

    /// Forgets what was decided and is not durable.
    pub(crate) fn abandon(&mut self) {
        self.state = None;
        self.clock.abandoned();
        self.rest_on_view();
    }

    /// Shows a batch that is durable, and what others appended before it.
    fn show(&mut self, batch: &Batch) -> Result<(), ProtocolError> {
        let first = batch.commits.first().map(|commit| commit.position);
        let before = first.map_or(self.head.position, |first| first.saturating_sub(1));
        if let Err(error) = self.show_news(before) {
            // What is durable is found again by whoever follows.
            self.abandon();
            return Err(storage_failure(&error));
        }
        let Batch { commits, headers, words, .. } = batch;
        if commits.is_empty() {
            return Ok(());
        }
        self.publication.publish(Pages { commits, headers, words });
        // Where others append it is made when a batch needs it: it is lost with every batch that came too late.
        if self.state.is_none() && self.shared.is_none() {
            self.state = Some(self.view.read().state.clone());
        }
        Ok(())
    }

    /// Notes in the log how far the clock came, so that the next start need not skip the reserve.
    fn note_close(&mut self, time_ms: u64) {
        // Where others append a node's clock is the log's, and its end says nothing of theirs.
        if self.shared.is_some() {
            return;
        }
        let noted = self.look(|state| state.closed && self.clock.now() == state.epoch);
        if self.head == Head::EMPTY || noted || self.health.failure().is_some() {
            return;
        }
        let Ok(epoch) = self.clock.tick_for_write(0) else { return };
        let event = Event::ClockAdvanced { reason: ClockReason::Closed };
        let draft = Draft {
            epoch,
            time_ms: time_ms.max(self.time_ms),
            actor: "system".to_owned(),
            session: None,
            request: None,
            events: vec![quipu_log::DraftEvent { event, body: None }],
        };
        let mut batch = Batch::default();
        if let Err(error) = self.add(draft, Vec::new(), &mut batch).and_then(|_| self.finish(batch))
        {
            tracing::warn!(field = %self.field, %error, "the clock was not noted");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.publication.close();
    }
}

/// The words of the units that a command records, and whether its commit is known by its message's id.
fn words_and_id(action: &Action) -> (Vec<Arc<UnitWords>>, bool) {
    match action {
        Action::Record(units) => {
            (units.iter().map(|unit| Arc::clone(unit.words())).collect(), true)
        }
        Action::Compact(compact) => (compact.words(), true),
        Action::Merge(merge) => (merge.words(), true),
        Action::Register(_)
        | Action::Deregister(_)
        | Action::Retract(_)
        | Action::Subscribe(_)
        | Action::Session(_)
        | Action::Coordinate(_)
        | Action::Handoff(_)
        | Action::Harn(_) => (Vec::new(), true),
        Action::NoteConflicts(_)
        | Action::NoteEnriched(_)
        | Action::TraceAttune(_)
        | Action::ExpireLeases
        | Action::AdvanceClock(_) => (Vec::new(), false),
    }
}
