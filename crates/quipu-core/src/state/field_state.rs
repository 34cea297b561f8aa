//! The state as a whole, and its hash.

use quipu_wire::hash::{Hash, Hasher};
use serde::{Deserialize, Serialize};

use super::{
    AgentTable, ConflictTable, DocumentTable, EndingTable, HandoffTable, HintTable,
    IdempotencyTable, MessageWindow, Names, RecentTraces, SessionTable, StreamTable,
    SubscriptionTable, TaskTable, TextTable, UnitTable,
};

/// Everything that decides what an operation does. Holds no free text that can be erased.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// The last commit applied.
    pub position: u64,
    /// Its epoch.
    pub epoch: u64,
    /// Whether that commit closed the Field in order.
    pub closed: bool,
    /// Names seen so far.
    pub names: Names,
    /// Agents.
    pub agents: AgentTable,
    /// Units.
    pub units: UnitTable,
    /// Conflicts.
    pub conflicts: ConflictTable,
    /// Messages carried out.
    pub messages: MessageWindow,
    /// Sessions.
    pub sessions: SessionTable,
    /// Tasks.
    pub tasks: TaskTable,
    /// Handoffs.
    pub handoffs: HandoffTable,
    /// Whether units are visible across sessions. How the Field was opened, and no part of the log:
    /// it decides what is seen, never what is applied.
    #[serde(skip)]
    pub cross_session: bool,
    /// The position of the last purge, 0 if there was none. No snapshot from before it may stay.
    pub last_purge: u64,
    /// Who wants to be told of what.
    pub subscriptions: SubscriptionTable,
    /// What was said of units besides their own texts.
    pub texts: TextTable,
    /// The units that agents were last shown by ATTUNE, where that is traced.
    pub recent_traces: RecentTraces,
    /// The hints that were given then.
    pub hints: HintTable,
    /// The documents of the Harn protocol.
    pub documents: DocumentTable,
    /// Which commits tell of which task and session.
    pub streams: StreamTable,
    /// The idempotency keys of the last day.
    pub idempotency: IdempotencyTable,
    /// The endings of tasks that have no receipt yet.
    pub endings: EndingTable,
}

impl State {
    /// The hash of the state: equal states have equal hashes, on every machine.
    #[must_use]
    pub fn hash(&self) -> Hash {
        let mut hasher = Hasher::new();
        postcard::to_io(self, &mut hasher).expect("a hasher takes every byte");
        hasher.finish()
    }
}
