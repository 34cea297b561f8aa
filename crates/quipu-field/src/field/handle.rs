//! A Field: the unit of isolation and of ordering. This is the handle that the surfaces use; it opens
//! the log, starts the writer, and has one method per operation.

use quipu_core::{outline::ConflictOutline, rules::replay};
use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::JoinHandle,
};

use quipu_log::{Engine, EngineError, FieldName, Head, TreeHead, proof::ConsistencyProof};
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{
        AgentList, Conflict, ConflictList, Counts, DeregisterPayload, DeregisterResponse,
        FieldCapabilities, FieldStatus, Operation, RegisterPayload, RegisterResponse,
        ReplayPayload, ReplayResponse, ReplayTarget,
    },
};
use tokio::sync::{mpsc, watch};

use crate::{
    base::{
        failure::{storage_failure, unanswered},
        health::Health,
        limits::{ANSWER_WAIT, QUEUE_COMMANDS_MAX},
        models::FieldModels,
    },
    compact::purge,
    detect::Lookout,
    enrich::{Enriching, finish_purge_of_vectors},
    field::{close::Parting, options::FieldOptions},
    proof::proofs::{CommitProof, Proofs},
    push::Tail,
    read::{
        attune::rank::RankingOptions, bodies::Bodies, replay::answer, unit_words::CommitWords,
        view::View,
    },
    snapshot::{
        format::SnapshotDir,
        past::Past,
        restore::{Restored, restore_soon, time_of},
        schedule::{Snapshotter, close_to},
    },
    write::{
        clock::{LamportClock, ReadTick},
        following::Following,
        job::{Awaited, Job, Outcome, Queued},
        log_end::LogEnd,
        publication::{Listeners, Publication},
        task_moves::{TaskMoveFeed, TaskMoves},
        writer::Writer,
    },
};
use quipu_core::{
    event::ClockReason,
    message::Message,
    origin::Origin,
    rules::{self, deregister, register},
    rules::{Action, Command},
    visibility::{Reader, Sight, may_enter, may_reach, may_read},
};

/// A handle to an open Field.
#[derive(Debug)]
pub struct Field {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) name: FieldName,
    pub(crate) view: Arc<View>,
    pub(crate) clock: Arc<LamportClock>,
    pub(crate) bodies: Arc<Bodies>,
    pub(crate) proofs: Proofs,
    pub(crate) health: Arc<Health>,
    pub(crate) origin: Arc<dyn Origin>,
    pub(crate) lookout: Arc<Lookout>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) jobs: mpsc::Sender<Job>,
    pub(crate) snapshotter: Option<Snapshotter>,
    pub(crate) models: FieldModels,
    pub(crate) enriching: Option<Arc<Enriching>>,
    pub(crate) vectors: Option<PathBuf>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    replay_events_max: usize,
    pub(crate) ranking: RankingOptions,
    pub(crate) trace_attunes: bool,
    pub(crate) past: Past,
    pub(crate) task_moves: Arc<watch::Sender<TaskMoves>>,
    /// The position that this node has reached, told where other nodes append too.
    pub(crate) reached: Arc<watch::Sender<u64>>,
    /// Reads what other nodes append, where there are others.
    pub(crate) following: Option<Arc<Following>>,
    /// The highest position that this node has heard of.
    pub(crate) heard: AtomicU64,
    /// The last purge whose texts this node has erased and forgotten.
    pub(crate) purged: AtomicU64,
}

impl Field {
    /// Opens a Field: rebuilds its state from the newest snapshot and the log behind it, verifying
    /// what it reads, and starts its writer. What the snapshot covers is verified in the background.
    pub fn open(
        engine: Arc<dyn Engine>,
        name: FieldName,
        options: FieldOptions,
    ) -> Result<Arc<Self>, EngineError> {
        Self::open_again(engine, name, options, None)
    }

    /// The same for one that was put away, which goes on from there.
    pub(crate) fn open_again(
        engine: Arc<dyn Engine>,
        name: FieldName,
        options: FieldOptions,
        parting: Option<&Parting>,
    ) -> Result<Arc<Self>, EngineError> {
        let directory = options.snapshots.as_ref().cloned().map(SnapshotDir::new);
        let restored = bring_back(engine.as_ref(), &name, directory.as_ref(), &options)?;
        let (snapshot_position, head) = (restored.snapshot_position, restored.published.head);
        let state = &restored.published.state;
        let (shared, last_purge) = (engine.is_shared(), state.last_purge);
        let new_clock = || Arc::new(LamportClock::of(&head, state.closed, shared));
        let clock = parting.map_or_else(new_clock, |parting| parting.resume(&head));
        let (reached, health) = (watch::Sender::new(head.position), Arc::<Health>::default());
        let (reached, view) = (Arc::new(reached), Arc::new(View::new(restored.published)));
        let across = options.cross_session_visibility;
        let past = Past::new(Arc::clone(&engine), name.clone(), directory.clone(), across);
        let snapshotter = directory.map(|directory| {
            let (depot, commits) = (options.depot.clone(), options.snapshot_commits);
            Snapshotter::new(&engine, &name, &view, directory, depot, commits, snapshot_position)
        });
        let (log, seen) = (Arc::clone(&engine), Arc::clone(&view));
        let tail = Arc::new(Tail::new(log, name.clone(), seen, head.position));
        let (jobs, queue) = mpsc::channel(QUEUE_COMMANDS_MAX);
        let (feed, task_moves) = TaskMoveFeed::new(head.position);
        let bodies = Arc::new(Bodies::new(Arc::clone(&engine), name.clone()));
        let listeners = Listeners::new(&tail, feed, snapshotter.as_ref());
        let publication =
            Publication::new(&view, &clock, &health, listeners, &reached, &bodies, &jobs);
        let others = || Following::new(&engine, &name, &publication, &options.meter);
        let following = shared.then(others);
        let end = LogEnd {
            engine: Arc::clone(&engine),
            field: name.clone(),
            clock: Arc::clone(&clock),
            view: Arc::clone(&view),
            health: Arc::clone(&health),
            state: None,
            head,
            publication,
            time_ms: time_of(engine.as_ref(), &name, &head)?,
            meter: options.meter,
        };
        let (seen, read, origin) = (Arc::clone(&view), Arc::clone(&bodies), &options.origin);
        let lookout = Lookout::new(seen, read, Arc::clone(origin), options.detection);
        let field = Arc::new(Self {
            bodies,
            proofs: Proofs::new(Arc::clone(&engine), name.clone(), options.proofs),
            name,
            view,
            clock,
            health,
            origin: options.origin,
            lookout: Arc::new(lookout),
            tail,
            jobs,
            snapshotter,
            stop: Arc::default(),
            threads: Mutex::default(),
            replay_events_max: options.replay_events_max,
            ranking: options.ranking,
            trace_attunes: options.trace_attunes,
            past,
            task_moves,
            enriching: Enriching::new(&options.models, options.vectors.as_deref()),
            models: options.models,
            vectors: options.vectors,
            engine,
            reached,
            following,
            heard: AtomicU64::new(head.position),
            purged: AtomicU64::new(last_purge),
        });
        field.start_writer(Writer::new(end, field.following.clone()), queue)?;
        field.resume(snapshot_position, parting)?;
        Ok(field)
    }

    /// Goes on from where it was put away, if it was.
    fn resume(
        self: &Arc<Self>,
        snapshot_position: u64,
        parting: Option<&Parting>,
    ) -> Result<(), EngineError> {
        let verified = parting.is_some_and(|parting| parting.covers(snapshot_position));
        self.start_work(if verified { 0 } else { snapshot_position })?;
        if let Some(parting) = parting
            && let Some(wrong) = parting.missed_by(self.engine.as_ref(), &self.name)?
        {
            self.health.fail(&wrong);
        }
        Ok(())
    }

    /// Starts what goes on beside the writer.
    fn start_work(self: &Arc<Self>, snapshot_position: u64) -> Result<(), EngineError> {
        let tail = Arc::clone(&self.tail);
        self.start("push", move || tail.run())?;
        self.index_in_background()?;
        self.follow_others()?;
        self.start_enriching()?;
        self.detect_in_background()?;
        self.check_in_background(Arc::clone(&self.engine), snapshot_position)
    }

    fn start_writer(&self, writer: Writer, queue: mpsc::Receiver<Job>) -> Result<(), EngineError> {
        let watched = Arc::clone(&self.health);
        self.start("writer", move || {
            let _guard = watched.fail_on_panic("the writer");
            writer.run(queue);
        })
    }

    pub(crate) fn start(
        &self,
        what: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), EngineError> {
        let thread = std::thread::Builder::new()
            .name(format!("{what}-{}", self.name))
            .spawn(work)
            .map_err(|source| EngineError::Io {
                action: format!("start the {what} of field {}", self.name),
                source: source.into(),
            })?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    /// The Field's name.
    #[must_use]
    pub const fn name(&self) -> &FieldName {
        &self.name
    }

    /// Whether it takes writes.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The last durable commit.
    #[must_use]
    pub fn head(&self) -> Head {
        self.view.read().head
    }

    /// The hash of the state at the last durable commit.
    #[must_use]
    pub fn state_hash(&self) -> quipu_wire::Hash {
        self.view.read().state.hash()
    }

    /// The memory that the index holds, in bytes.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        self.view.read().index.memory_bytes()
    }

    /// Checks that who sends a message takes part and has the authority, before its payload is looked
    /// at. Who sends one again gets the answer of the first time, also where it has left since.
    pub fn admit(&self, message: &Message, needed: u8) -> Result<(), ProtocolError> {
        let state = &self.view.read().state;
        match rules::admit(state, &message.agent, message.authority, needed) {
            // Asked only now, because hardly any message was carried out before.
            Err(refusal) if state.messages.find(&message.agent, &message.id).is_none() => {
                Err(refusal.into())
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// REGISTER.
    pub async fn register(
        &self,
        message: Message,
        payload: RegisterPayload,
    ) -> Result<RegisterResponse, ProtocolError> {
        self.clock
            .check(message.epoch)
            .map_err(|error| ProtocolError::from(error).during(Operation::Register))?;
        if let Some(rejection) = register::missing_operations(&payload) {
            return Ok(rejection);
        }
        let outcome = self.submit(message, Action::Register(payload)).await?;
        Ok(register::respond(&outcome.events))
    }

    /// DEREGISTER.
    pub async fn deregister(
        &self,
        message: Message,
        payload: DeregisterPayload,
    ) -> Result<DeregisterResponse, ProtocolError> {
        let outcome = self.submit(message, Action::Deregister(payload)).await?;
        Ok(deregister::respond(&outcome.events))
    }

    /// REPLAY.
    pub async fn replay(
        self: &Arc<Self>,
        message: Message,
        payload: ReplayPayload,
    ) -> Result<ReplayResponse, ProtocolError> {
        self.await_epoch(&message).await.map_err(|error| error.during(Operation::Replay))?;
        self.blocking(move |field| {
            let hidden = {
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
                Sight::by(state, agent, session, authority)
                    .hidden(|owner| may_reach(state, message.speaker(), session, owner))
            };
            let limit = field.replay_events_max;
            answer::replay(field.engine.as_ref(), &field.name, limit, &hidden, &payload)
        })
        .await
        .map_err(|error| error.during(Operation::Replay))
    }

    /// The agents that take part now.
    #[must_use]
    pub fn agents(&self) -> AgentList {
        self.agents_for(&Reader::operator())
    }

    /// The conflicts that wait to be settled.
    pub async fn conflicts(self: &Arc<Self>) -> Result<ConflictList, ProtocolError> {
        self.conflicts_for(Reader::operator()).await
    }

    /// The Merkle tree over the first `size` commits, or over all durable ones.
    pub async fn tree_head(self: &Arc<Self>, size: Option<u64>) -> Result<TreeHead, ProtocolError> {
        self.blocking(move |field| {
            field.proofs.tree_head(size.unwrap_or_else(|| field.head().position))
        })
        .await
    }

    /// Allows a tree of this Field to be signed. It is refused where another log was signed for before.
    pub async fn vouch(self: &Arc<Self>, head: TreeHead) -> Result<(), ProtocolError> {
        self.blocking(move |field| field.proofs.vouch(&head, field.head().position)).await
    }

    /// The proof that the log holds the commit at a position.
    pub async fn prove_commit(
        self: &Arc<Self>,
        position: u64,
    ) -> Result<CommitProof, ProtocolError> {
        self.blocking(move |field| field.proofs.inclusion(position, field.head().position)).await
    }

    /// The proof that the log only grew between two sizes.
    pub async fn prove_growth(
        self: &Arc<Self>,
        old: u64,
        new: u64,
    ) -> Result<ConsistencyProof, ProtocolError> {
        self.blocking(move |field| field.proofs.consistency(old, new)).await
    }

    /// The Field at a glance.
    #[must_use]
    pub fn status(&self) -> FieldStatus {
        self.status_for(&Reader::operator())
    }

    /// The same, counting only what the reader may see.
    #[must_use]
    pub fn status_for(&self, reader: &Reader) -> FieldStatus {
        let published = self.view.read();
        let state = &published.state;
        let sight = reader.sight(state);
        let mut units = Counts::default();
        let all = (0..).zip(state.units.flags_from(0));
        for (_, flags) in all.filter(|(at, _)| sight.sees(*at)) {
            units.total += 1;
            *units.by_status.entry(flags.status.to_string()).or_default() += 1;
        }
        let mut conflicts = Counts::default();
        for conflict in state.conflicts.iter().filter(|entry| sight.sees_conflict(entry)) {
            conflicts.total += 1;
            *conflicts.by_status.entry(conflict.status.to_string()).or_default() += 1;
        }
        FieldStatus {
            field: self.name.to_string(),
            epoch: self.clock.now(),
            position: published.head.position,
            head: published.head.hash.to_string(),
            agents: u64::try_from(state.agents.all_live().count()).unwrap_or(u64::MAX),
            units,
            conflicts,
            field_capabilities: FieldCapabilities::current(),
        }
    }

    pub(crate) async fn submit(
        &self,
        message: Message,
        action: Action,
    ) -> Result<Outcome, ProtocolError> {
        let operation = action.operation();
        let (answer, _) = self.enqueue(message, action)?;
        self.outcome(answer).await.map_err(|error| error.during(operation))
    }

    /// Queues a command for the writer; the answer comes after its commit is durable. The words of the units that it records
    /// can be found meanwhile.
    pub(crate) fn enqueue(
        &self,
        message: Message,
        action: Action,
    ) -> Result<(Awaited, CommitWords), ProtocolError> {
        let operation = action.operation();
        let during = |error: ProtocolError| error.during(operation);
        self.health.check().map_err(during)?;
        self.clock.check(message.epoch).map_err(|error| during(error.into()))?;
        let command = Command { message, time_ms: self.origin.now_ms(), action };
        let (queued, answer) = Queued::new(command);
        let words = Arc::clone(&queued.words);
        self.jobs.try_send(Job::Command(queued)).map_err(|error| {
            during(match error {
                mpsc::error::TrySendError::Full(_) => ProtocolError::new(
                    ErrorCode::Overloaded,
                    format!("{QUEUE_COMMANDS_MAX} messages are waiting already"),
                ),
                mpsc::error::TrySendError::Closed(_) => closed(),
            })
        })?;
        Ok((answer, words))
    }

    pub(crate) async fn outcome(&self, answer: Awaited) -> Result<Outcome, ProtocolError> {
        match tokio::time::timeout(ANSWER_WAIT, answer).await {
            Ok(answered) => answered.unwrap_or_else(|_| Err(closed())),
            Err(_) => Err(unanswered("whether it was carried out is not known")),
        }
    }

    /// Waits until the log knows of an epoch that is too far ahead for a read alone.
    pub(crate) async fn await_epoch(&self, message: &Message) -> Result<(), ProtocolError> {
        if self.clock.must_log_before_read(message.epoch)? {
            // Where this node cannot look, the log cannot be written either.
            self.catch_up().await.ok();
            let advance = Action::AdvanceClock(ClockReason::Reads);
            let told = self.submit(self.system(message.epoch), advance).await;
            // Reads go on where the log cannot be written, unless they bring an epoch that is new.
            if let Err(error) = told
                && message.epoch > self.clock.now()
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Ticks for a read, while the view is held.
    pub(crate) fn tick(&self, received: u64) -> Result<u64, ProtocolError> {
        match self.clock.tick_for_read(received)? {
            ReadTick::At(epoch, log_it) => {
                if log_it {
                    self.log_clock();
                }
                Ok(epoch)
            }
            ReadTick::LogFirst => Err(ProtocolError::new(
                ErrorCode::Overloaded,
                format!("epoch: the log has not caught up with {received} yet"),
            )),
        }
    }

    /// Tells the log how far reads have come, without waiting for it.
    fn log_clock(&self) {
        let command = Command {
            message: self.system(0),
            time_ms: self.origin.now_ms(),
            action: Action::AdvanceClock(ClockReason::Reads),
        };
        // Where the queue is full, writes will move the clock soon enough.
        self.post(command);
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
        }
    }

    pub(crate) fn complete(
        &self,
        conflicts: Vec<ConflictOutline>,
    ) -> Result<Vec<Conflict>, ProtocolError> {
        conflicts
            .into_iter()
            .map(|conflict| conflict.complete(&self.bodies))
            .collect::<Result<_, _>>()
            .map_err(|error| storage_failure(&error))
    }

    /// Runs what reads the disk or thinks for long away from the threads that serve sockets.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, ProtocolError> + Send + 'static,
    ) -> Result<T, ProtocolError> {
        let field = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&field)).await.unwrap_or_else(|error| {
            Err(ProtocolError::new(ErrorCode::InternalError, format!("a read failed: {error}")))
        })
    }
}

fn closed() -> ProtocolError {
    ProtocolError::new(ErrorCode::FieldUnavailable, "the Field is closed")
}

/// The state and the index at the end of a log, with what an interrupted purge left undone.
fn bring_back(
    engine: &dyn Engine,
    name: &FieldName,
    directory: Option<&SnapshotDir>,
    options: &FieldOptions,
) -> Result<Restored, EngineError> {
    directory.into_iter().for_each(SnapshotDir::remove_parts);
    if let (Some(directory), Some(depot)) = (directory, &options.depot) {
        let (ends_at, saved) = (engine.head(name)?.position, directory.newest());
        if ends_at.saturating_sub(saved) > close_to(options.snapshot_commits) {
            depot.fetch(engine, name, saved, directory)?;
        }
    }
    // The vectors of a second model join an index that is there.
    let alone = options.models.embedder.is_none();
    let later = if alone { options.index_later_commits } else { u64::MAX };
    let mut restored = restore_soon(engine, name, directory, later)?;
    restored.published.state.cross_session = options.cross_session_visibility;
    options.models.fit(&mut restored.published.index);
    purge::finish(engine, name, &restored.published.state, directory, options.depot.as_ref());
    finish_purge_of_vectors(&restored.published.state, options.vectors.as_deref());
    Ok(restored)
}
