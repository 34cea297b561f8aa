//! The Field at a glance: its counts, its agents, and the conflicts that are open.

use std::sync::Arc;

use quipu_wire::akashik::{AgentList, ConflictList, Counts, FieldCapabilities, FieldStatus};

use crate::{base::error::FieldError, field::Field};
use quipu_core::{Reader, outline::ConflictOutline};

impl Field {
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

    /// The agents that take part now.
    #[must_use]
    pub fn agents(&self) -> AgentList {
        self.agents_for(&Reader::operator())
    }

    /// The agents that take part now. What they work on is told only to who may know of the task.
    #[must_use]
    pub fn agents_for(&self, reader: &Reader) -> AgentList {
        let published = self.view.read();
        let state = &published.state;
        let agents = state.agents.all_live().map(|(id, entry)| {
            let mut agent = entry.to_wire(id);
            agent.current_task_id =
                agent.current_task_id.take().filter(|task| reader.knows_task(state, task));
            agent
        });
        AgentList { agents: agents.collect() }
    }

    /// The conflicts that wait to be settled.
    pub async fn conflicts(self: &Arc<Self>) -> Result<ConflictList, FieldError> {
        self.conflicts_for(Reader::operator()).await
    }

    /// The conflicts that wait to be settled and that the reader may know of.
    pub async fn conflicts_for(
        self: &Arc<Self>,
        reader: Reader,
    ) -> Result<ConflictList, FieldError> {
        self.blocking(move |field| {
            let open = {
                let published = field.view.read();
                let state = &published.state;
                let sight = reader.sight(state);
                let open = state.conflicts.iter().filter(|conflict| conflict.is_open());
                open.filter(|conflict| sight.sees_conflict(conflict))
                    .map(|conflict| ConflictOutline::of(state, conflict))
                    .collect()
            };
            Ok(ConflictList { conflicts: field.complete(open, ConflictOutline::complete)? })
        })
        .await
    }
}
