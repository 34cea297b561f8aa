//! The Field at a glance: its counts, its agents, and the conflicts that are open.

use std::sync::Arc;

use quipu_wire::{
    akashik::{Agent, AgentList, Conflict, ConflictList, Counts, FieldCapabilities, FieldStatus},
    json::page_room::PageRoom,
};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
};
use quipu_core::{Reader, Sight, State, ids::ConflictId, outline::ConflictOutline};

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
        self.agents_behind(reader, None)
    }

    /// A page of them, behind an id.
    #[must_use]
    pub fn agents_behind(&self, reader: &Reader, after: Option<&str>) -> AgentList {
        let published = self.view.read();
        let state = &published.state;
        let (mut agents, mut room) = (Vec::new(), PageRoom::default());
        let live = state.agents.all_live();
        for (id, entry) in live.filter(|(id, _)| after.is_none_or(|after| *id > after)) {
            let mut agent = entry.to_wire(id);
            agent.current_task_id =
                agent.current_task_id.take().filter(|task| reader.knows_task(state, task));
            if !room.takes(&agent) {
                let next_cursor = agents.last().map(|last: &Agent| last.id.clone());
                return AgentList { agents, has_more: true, next_cursor };
            }
            agents.push(agent);
        }
        AgentList { agents, has_more: false, next_cursor: None }
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
        self.conflicts_behind(reader, None).await
    }

    /// A page of them, behind one of them.
    pub async fn conflicts_behind(
        self: &Arc<Self>,
        reader: Reader,
        after: Option<String>,
    ) -> Result<ConflictList, FieldError> {
        self.blocking(move |field| {
            let open: Vec<_> = {
                let published = field.view.read();
                let state = &published.state;
                let sight = reader.sight(state);
                let after = listed_before(state, &sight, after.as_deref())?;
                let open = state.conflicts.behind(after).filter(|conflict| conflict.is_open());
                open.filter(|conflict| sight.sees_conflict(conflict))
                    .map(|conflict| ConflictOutline::of(state, conflict))
                    .collect()
            };
            let (conflicts, next_cursor) = field.page_of_conflicts(open)?;
            Ok(ConflictList { conflicts, has_more: next_cursor.is_some(), next_cursor })
        })
        .await
    }

    /// As many as a page holds, and the cursor behind them if there are more. Reads storage.
    pub(super) fn page_of_conflicts(
        &self,
        outlines: Vec<ConflictOutline>,
    ) -> Result<(Vec<Conflict>, Option<String>), FieldError> {
        let (mut conflicts, mut room) = (Vec::new(), PageRoom::default());
        for outline in outlines {
            let conflict = outline.complete(self.bodies.as_ref())?;
            if !room.takes(&conflict) {
                let next_cursor = conflicts.last().map(|last: &Conflict| last.id.clone());
                return Ok((conflicts, next_cursor));
            }
            conflicts.push(conflict);
        }
        Ok((conflicts, None))
    }
}

/// Behind which conflict a list goes on: one that the reader may know of.
pub(super) fn listed_before(
    state: &State,
    sight: &Sight<'_>,
    cursor: Option<&str>,
) -> Result<Option<ConflictId>, FieldError> {
    let Some(cursor) = cursor else { return Ok(None) };
    let found = ConflictId::parse(cursor).and_then(|id| state.conflicts.get(id));
    let known = found.filter(|conflict| sight.sees_conflict(conflict));
    Ok(Some(known.ok_or(RequestError::ListCursorUnknown)?.id))
}
