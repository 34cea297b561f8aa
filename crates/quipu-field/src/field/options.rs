//! What a Field is opened with: where things come from and are kept, and what its operator may choose.

use std::{path::PathBuf, sync::Arc};

use crate::{
    base::{
        limits::{INDEX_LATER_COMMITS, REPLAY_EVENTS_MAX, SNAPSHOT_COMMITS_MIN},
        meter::{self, Meter},
        models::FieldModels,
        turns::Turns,
    },
    detect::DetectionOptions,
    read::attune::rank::RankingOptions,
    snapshot::depot::Depot,
};
use quipu_core::Origin;

#[derive(Debug, Clone)]
pub struct FieldOptions {
    /// Where times, ids and salts come from.
    pub origin: Arc<dyn Origin>,
    /// Where snapshots are kept; none are made without it.
    pub snapshots: Option<PathBuf>,
    /// After how many commits the next snapshot is made, at least.
    pub snapshot_commits: u64,
    /// How many commits may be missing for the Field to be opened with all their texts read; with more they are read after it.
    pub index_later_commits: u64,
    /// Where snapshots are left for other nodes, and those of others found.
    pub depot: Option<Depot>,
    /// Where the tree of the proofs and the last signed checkpoint are kept; nowhere without it.
    pub proofs: Option<PathBuf>,
    pub detection: DetectionOptions,
    /// Whether units are visible across sessions, whatever the sessions' own policies.
    pub cross_session_visibility: bool,
    pub replay_events_max: usize,
    pub ranking: RankingOptions,
    /// Whether every ATTUNE is noted in the log with what it returned, whatever the sessions' policies.
    pub trace_attunes: bool,
    pub models: FieldModels,
    /// Where the embedder's vectors are kept; they are made anew at every start without it.
    pub vectors: Option<PathBuf>,
    pub meter: Arc<dyn Meter>,
    /// The turns of those who read. Those of `Fields` share the same ones; a Field alone has its own if absent.
    pub turns: Option<Arc<Turns>>,
}

impl FieldOptions {
    /// The defaults: no snapshots, no detector, no models, sessions apart, nothing traced.
    #[must_use]
    pub fn new(origin: Arc<dyn Origin>) -> Self {
        Self {
            origin,
            snapshots: None,
            snapshot_commits: SNAPSHOT_COMMITS_MIN,
            index_later_commits: INDEX_LATER_COMMITS,
            depot: None,
            proofs: None,
            detection: DetectionOptions::default(),
            cross_session_visibility: false,
            replay_events_max: REPLAY_EVENTS_MAX,
            ranking: RankingOptions::default(),
            trace_attunes: false,
            models: FieldModels::default(),
            vectors: None,
            meter: meter::none(),
            turns: None,
        }
    }
}
