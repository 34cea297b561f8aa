//! A Field: the unit of isolation and of ordering. This is the handle that the surfaces use: it opens
//! the log and starts the writer. Its methods for the operations are in `ops`.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    thread::JoinHandle,
};

use quipu_log::{Engine, EngineError, FieldName, Head};
use tokio::sync::{mpsc, watch};

use crate::{
    base::{health::Health, limits::QUEUE_COMMANDS_MAX, models::FieldModels, steady::Steady},
    compact::{Memo, purge},
    detect::Lookout,
    enrich::{Enriching, finish_purge_of_vectors},
    field::{close::Parting, options::FieldOptions},
    proof::proofs::Proofs,
    push::Tail,
    read::{attune::rank::RankingOptions, bodies::Bodies, view::View},
    snapshot::{
        format::SnapshotDir,
        past::Past,
        restore::{Restored, restore_soon, time_of},
        schedule::{Snapshotter, close_to},
    },
    write::{
        clock::LamportClock,
        following::Following,
        job::Job,
        log_end::LogEnd,
        publication::{Listeners, Publication},
        task_moves::{TaskMoveFeed, TaskMoves},
        writer::Writer,
    },
};
use quipu_core::Origin;

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
    pub(crate) summaries: Memo,
    pub(crate) enriching: Option<Arc<Enriching>>,
    pub(crate) vectors: Option<PathBuf>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    pub(crate) replay_events_max: usize,
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

/// The logical clock of a Field, which goes on where that of its last life stood, if it was only put away.
fn clock_of(
    head: &Head,
    closed: bool,
    shared: bool,
    parting: Option<&Parting>,
) -> Arc<LamportClock> {
    let new = || Arc::new(LamportClock::of(head, closed, shared));
    parting.map_or_else(new, |parting| parting.resume(head))
}

/// The time of the last commit, and an origin whose time is steady and not before it.
fn time_behind(
    engine: &dyn Engine,
    name: &FieldName,
    head: &Head,
    origin: Arc<dyn Origin>,
) -> Result<(u64, Arc<dyn Origin>), EngineError> {
    let time_ms = time_of(engine, name, head)?;
    let steady: Arc<dyn Origin> = Arc::new(Steady::new(origin, time_ms));
    Ok((time_ms, steady))
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
        let (shared, last_purge) = (engine.is_shared(), restored.published.state.last_purge);
        let clock = clock_of(&head, restored.published.state.closed, shared, parting);
        let (time_ms, origin) = time_behind(engine.as_ref(), &name, &head, options.origin)?;
        let (reached, health) = (watch::Sender::new(head.position), Arc::<Health>::default());
        let (reached, view) = (Arc::new(reached), Arc::new(View::new(restored.published)));
        let across = options.cross_session_visibility;
        let past = Past::new(Arc::clone(&engine), name.clone(), directory.clone(), across);
        let snapshotter = directory.map(|directory| {
            let (depot, commits) = (options.depot.clone(), options.snapshot_commits);
            Snapshotter::new(&engine, &name, &view, directory, depot, commits, snapshot_position)
        });
        let (log, seen) = (Arc::clone(&engine), Arc::clone(&view));
        let tail = Arc::new(Tail::new(log, name.clone(), seen, head.position, options.turns));
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
            time_ms,
            origin: Arc::clone(&origin),
            meter: options.meter,
        };
        let (seen, read, time) = (Arc::clone(&view), Arc::clone(&bodies), Arc::clone(&origin));
        let lookout = Lookout::new(seen, read, time, options.detection);
        let field = Arc::new(Self {
            bodies,
            proofs: Proofs::new(Arc::clone(&engine), name.clone(), options.proofs),
            name,
            view,
            clock,
            health,
            origin,
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
            summaries: Memo::default(),
            vectors: options.vectors,
            engine,
            reached,
            following,
            heard: AtomicU64::new(head.position),
            purged: AtomicU64::new(last_purge),
        });
        field.start_writer(Writer::new(end, field.following.clone()), queue)?;
        field.resume(snapshot_position, parting).map(|()| field)
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

    #[must_use]
    pub const fn name(&self) -> &FieldName {
        &self.name
    }

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

    #[must_use]
    pub fn index_bytes(&self) -> usize {
        self.view.read().index.memory_bytes()
    }
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
