//! The handle's list of units, for who looks through a Field. Ours. Units are chosen by what the state knows of
//! them and by their words; texts are read for those that are listed.

use quipu_core::outline::UnitOutline;
use std::sync::Arc;

use quipu_recall::{Query, Seen};
use quipu_wire::{
    akashik::{Subscription, UnitList, UnitOrder, UnitQuery, UnitStatus},
    json::page_room::PageRoom,
};

use crate::{
    base::{
        asker::nobody_waits,
        error::{FieldError, RequestError},
        limits::UNITS_PAGE_MAX,
    },
    field::Field,
};
use quipu_core::{
    Reader, State, UnitId,
    ids::SubscriptionId,
    rules::subscribe,
    state::{LinkTarget, Name},
};

/// How many units are looked at while the writer waits.
const SPAN: u32 = 10_000;

/// A query whose names were looked up. A name that the Field never heard is nobody's.
struct Wanted<'q> {
    query: &'q UnitQuery,
    agent: Option<Name>,
    session: Option<Name>,
    task: Option<Name>,
    relates_to: Option<LinkTarget>,
}

impl<'q> Wanted<'q> {
    fn new(state: &State, query: &'q UnitQuery) -> Option<Self> {
        let find = |name: &Option<String>| match name {
            None => Some(None),
            Some(name) => state.names.find(name).map(Some),
        };
        let (agent, session) = (find(&query.agent)?, find(&query.session)?);
        let relates_to = match &query.relates_to {
            None => None,
            Some(id) => Some(LinkTarget::Unit(state.units.find(UnitId::parse(id)?)?)),
        };
        Some(Self { query, agent, session, task: find(&query.task)?, relates_to })
    }

    fn passes(&self, state: &State, ordinal: u32) -> bool {
        let (Some(flags), Some(details)) =
            (state.units.flags(ordinal), state.units.details(ordinal))
        else {
            return false;
        };
        let query = self.query;
        let status = if flags.purged { UnitStatus::Retracted } else { flags.status };
        query.memory_type.is_none_or(|wanted| flags.memory_type == wanted)
            && query.status.is_none_or(|wanted| status == wanted)
            && self.agent.is_none_or(|wanted| flags.author == wanted)
            && self.session.is_none_or(|wanted| details.session == Some(wanted))
            && self.task.is_none_or(|wanted| details.task == Some(wanted))
            && self.relates_to.is_none_or(|to| details.links.iter().any(|link| link.target == to))
            && query.since_ms.is_none_or(|since| details.time_ms >= since)
            && query.until_ms.is_none_or(|until| details.time_ms <= until)
    }
}

impl Field {
    /// Some of the units that a query finds and the reader may see, whatever their status.
    pub async fn units(
        self: &Arc<Self>,
        reader: Reader,
        query: UnitQuery,
    ) -> Result<UnitList, FieldError> {
        if query.words.is_some() {
            self.await_index().await?;
        }
        self.blocking(move |field| {
            let mut found = field.matching(&reader, &query);
            let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
            if query.order.unwrap_or(UnitOrder::Newest) == UnitOrder::Newest {
                found.reverse();
            }
            let listed = found.into_iter().skip(query.skip).take(query.limit.min(UNITS_PAGE_MAX));
            let outlines: Vec<_> = {
                let state = &field.view.read().state;
                listed.filter_map(|ordinal| UnitOutline::of(state, ordinal)).collect()
            };
            let listed = outlines.len();
            let (mut units, mut room) = (Vec::with_capacity(listed), PageRoom::default());
            for outline in outlines {
                let unit = outline.complete(&field.bodies);
                let mut unit = unit?;
                if let Some(chars) = query.content_chars
                    && let Some((end, _)) = unit.content.char_indices().nth(chars)
                {
                    unit.content.truncate(end);
                }
                if !room.takes(&unit) {
                    break;
                }
                units.push(unit);
            }
            let next = u64::try_from(query.skip.saturating_add(units.len())).unwrap_or(u64::MAX);
            let has_more = !units.is_empty() && next < total;
            Ok(UnitList { units, total, has_more, next_skip: has_more.then_some(next) })
        })
        .await
    }

    /// The ordinals of all units that a query finds, oldest first.
    fn matching(&self, reader: &Reader, query: &UnitQuery) -> Vec<u32> {
        let words = query.words.as_deref().map(|words| Query::new(&[(words, 1.0)]));
        let words = words.filter(|words| !words.is_empty());
        let candidates = words.map(|words| {
            let published = self.view.read();
            published.index.lexical().having_all(&words, &Seen::ALL)
        });
        let mut found = Vec::new();
        let mut next = 0_u32;
        loop {
            let published = self.view.read();
            let state = &published.state;
            let end = state.units.next_ordinal();
            let Some(wanted) = Wanted::new(state, query) else { return found };
            let sight = reader.sight(state);
            let span = next..end.min(next.saturating_add(SPAN));
            let passes = |ordinal: &u32| wanted.passes(state, *ordinal) && sight.sees(*ordinal);
            match &candidates {
                None => found.extend(span.clone().filter(passes)),
                Some(all) => {
                    let [from, to] = [span.start, span.end]
                        .map(|bound| all.partition_point(|ordinal| *ordinal < bound));
                    let within = all.get(from..to).unwrap_or_default();
                    found.extend(within.iter().copied().filter(passes));
                }
            }
            next = span.end;
            if next >= end || nobody_waits() {
                return found;
            }
        }
    }

    /// A page of the subscriptions of all agents, oldest first, behind one of them. Says whether there are more.
    pub fn all_subscriptions(
        &self,
        after: Option<&str>,
    ) -> Result<(Vec<Subscription>, bool), FieldError> {
        let parse = |id| SubscriptionId::parse(id).ok_or(RequestError::ListCursorUnknown);
        let after = after.map(parse).transpose()?;
        let published = self.view.read();
        let (mut listed, mut room) = (Vec::new(), PageRoom::default());
        let all = published.state.subscriptions.iter();
        for (id, entry) in all.filter(|(id, _)| after.is_none_or(|after| *id > after)) {
            let subscription = subscribe::to_wire(id, entry);
            if !room.takes(&subscription) {
                return Ok((listed, true));
            }
            listed.push(subscription);
        }
        Ok((listed, false))
    }
}
