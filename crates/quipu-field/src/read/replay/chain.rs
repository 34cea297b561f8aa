//! Finds the events that led to something: one pass over the headers of the log from its end to its
//! beginning. Whatever an event rests on came earlier, so on the way back causes are only added. What
//! happened to a cause after it had its effect does not belong to the chain, and is left out.

use quipu_core::visibility::Hidden;
use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    ops::ControlFlow,
};

use quipu_log::{Engine, EngineError, FieldName, Header, StoredHeader};
use quipu_wire::{
    akashik::{MemoryType, ReplayDepth, UnitStatus},
    json::canon,
};

use super::{
    describe::{Shape, shape},
    links::{Entity, Target, links},
    pages,
    places::{EventAddress, Places},
};
use quipu_core::{
    Event, UnitId,
    ids::{ConflictId, TraceId},
};

#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) position: u64,
    /// The event within it.
    pub(crate) index: u32,
    pub(crate) epoch: u64,
    pub(crate) time_ms: u64,
    pub(crate) actor: String,
    pub(crate) event: Event,
    /// Whether there are texts beside it, or were before they were erased.
    pub(crate) has_body: bool,
    /// What followed from it in the same commit.
    pub(crate) followed: Vec<Event>,
}

impl Found {
    pub(crate) const fn place(&self) -> EventAddress {
        EventAddress { position: self.position, index: self.index }
    }

    /// Whether a unit was replaced by what this recorded.
    pub(crate) fn replaces(&self, wanted: UnitId) -> bool {
        self.followed.iter().any(|event| {
            matches!(event, Event::UnitStatusChanged { unit, to: UnitStatus::Superseded, .. } if *unit == wanted)
        })
    }

    pub(crate) const fn recorded(&self) -> Option<(UnitId, MemoryType)> {
        if let Event::UnitRecorded { unit, memory_type, .. } = &self.event {
            Some((*unit, *memory_type))
        } else {
            None
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The events that the answer describes, oldest first; none where only the story is told.
    pub(crate) events: Vec<Found>,
    /// Who took part, in the order of first appearance.
    pub(crate) agents: Vec<String>,
    /// How many events there are in all.
    pub(crate) total: u64,
    /// The event that made what is replayed, where there is such a one.
    pub(crate) origin: Option<Found>,
    /// Where the parts of the story are.
    pub(crate) places: Places,
    /// The epochs of its first and its last event.
    pub(crate) epochs: Option<(u64, u64)>,
}

#[derive(Debug)]
pub(crate) struct Trace<'a> {
    pub(crate) target: &'a Target,
    pub(crate) depth: ReplayDepth,
    pub(crate) events_max: usize,
    /// What the caller may not know of.
    pub(crate) hidden: &'a Hidden,
    /// The handoffs of which the caller may know what was said.
    pub(crate) handoffs: &'a HashSet<String>,
}

/// Whether an event is about something hidden. Of a compaction what is hidden was left out already; where nothing else is
/// in it, it is hidden too.
fn is_hidden(hidden: &Hidden, event: &Event) -> bool {
    if hidden.is_empty() {
        return false;
    }
    if let Event::UnitsArchived { units, .. } | Event::UnitsPurged { units, .. } = event {
        return units.is_empty();
    }
    // What a worker noted of a task tells of nothing but the task.
    if let Event::TaskNoted { task, .. } = event
        && hidden.tasks.contains(task)
    {
        return true;
    }
    if let Event::HandoffChanged { handoff, .. } = event
        && hidden.handoffs.contains(handoff)
    {
        return true;
    }
    links(event).about.iter().any(|entity| match entity {
        Entity::Unit(unit) => hidden.units.contains(unit),
        Entity::Conflict(conflict) => hidden.conflicts.contains(conflict),
        Entity::Task(task) => hidden.tasks.contains(*task),
        // What was done for a task was done with units, and each of those is hidden by itself or not at all.
        Entity::Work(_) | Entity::Trace(_) => false,
    })
}

/// Looks for the chain; nothing where it has more events than may be returned.
pub(crate) fn trace(
    engine: &dyn Engine,
    field: &FieldName,
    trace: &Trace<'_>,
) -> Result<Option<Chain>, EngineError> {
    let mut search = Search::new(trace);
    let walked = pages::newest_first(engine, field, |stored, header| {
        if !search.visit(stored, header) {
            return ControlFlow::Break(TooMuch(true));
        }
        if search.is_done() {
            return ControlFlow::Break(TooMuch(false));
        }
        ControlFlow::Continue(())
    })?;
    let too_much = matches!(walked, ControlFlow::Break(TooMuch(true)));
    Ok((!too_much).then(|| search.finish()))
}

/// Why a walk was broken off: there is more than may be returned, or nothing else to be found.
struct TooMuch(bool);

struct Search<'a> {
    trace: &'a Trace<'a>,
    wanted: Wanted,
    /// The target's id as it stands in JSON, where any event that names it belongs to it.
    named: Option<String>,
    session: Option<&'a str>,
    /// The events that the answer describes, newest first.
    events: VecDeque<Found>,
    agents: BTreeMap<String, (u64, u32)>,
    total: u64,
    origin: Option<Found>,
    places: Places,
    epochs: Option<(u64, u64)>,
}

impl<'a> Search<'a> {
    fn new(trace: &'a Trace<'a>) -> Self {
        let mut wanted = Wanted::default();
        let (mut named, mut session) = (None, None);
        match trace.target {
            Target::Unit(unit) | Target::Decision(unit) => wanted.add(Entity::Unit(*unit)),
            // What was disputed is told without the tasks that it was found for.
            Target::Conflict(conflict) => {
                wanted.no_tasks = true;
                wanted.add(Entity::Conflict(*conflict));
            }
            Target::Task(task) => {
                wanted.add(Entity::Task(task));
                wanted.add(Entity::Work(task));
                named = canon::to_string(task).ok();
            }
            Target::Session(id) => {
                wanted.whole_log = true;
                named = canon::to_string(id).ok();
                session = Some(id.as_str());
            }
        }
        Self {
            trace,
            wanted,
            named,
            session,
            events: VecDeque::new(),
            agents: BTreeMap::new(),
            total: 0,
            origin: None,
            places: Places::default(),
            epochs: None,
        }
    }

    /// Whether nothing earlier can belong to the chain.
    fn is_done(&self) -> bool {
        !self.wanted.whole_log && self.wanted.unmade.is_empty() && !self.places.awaits()
    }

    /// Takes from a commit what belongs to the chain; `false` where that is too much.
    fn visit(&mut self, stored: &StoredHeader, mut header: Header<Event>) -> bool {
        for sealed in &mut header.events {
            self.trace.hidden.redact(&mut sealed.event);
        }
        self.places.glance(&header);
        let belongs = self.belonging(stored, &header);
        if !belongs.contains(&true) {
            return true;
        }
        let mut followed: Vec<Event> = header
            .events
            .iter()
            .zip(&belongs)
            .filter(|(sealed, belongs)| **belongs && links(&sealed.event).follows)
            .map(|(sealed, _)| sealed.event.clone())
            .collect();
        for ((index, sealed), belongs) in header.events.into_iter().enumerate().zip(belongs).rev() {
            let Some(shape) = shape(&sealed.event).filter(|_| belongs) else { continue };
            let (followed, actor) = match index {
                0 => (std::mem::take(&mut followed), std::mem::take(&mut header.actor)),
                _ => (Vec::new(), header.actor.clone()),
            };
            let found = Found {
                position: header.position,
                index: u32::try_from(index).unwrap_or(u32::MAX),
                epoch: header.epoch,
                time_ms: header.time_ms,
                actor,
                has_body: sealed.body.is_some(),
                event: sealed.event,
                followed,
            };
            if !self.take(found, shape) {
                return false;
            }
        }
        true
    }

    fn belonging(&mut self, stored: &StoredHeader, header: &Header<Event>) -> Vec<bool> {
        let mut belongs: Vec<bool> = header
            .events
            .iter()
            .map(|sealed| {
                !is_hidden(self.trace.hidden, &sealed.event)
                    && self.is_named(stored, header, &sealed.event)
            })
            .collect();
        for (sealed, belongs) in header.events.iter().zip(&belongs) {
            if *belongs {
                self.wanted.follow(&sealed.event);
            }
        }
        loop {
            let mut grown = false;
            let mut with_first = false;
            for (sealed, belongs) in header.events.iter().zip(&mut belongs).rev() {
                let hidden = is_hidden(self.trace.hidden, &sealed.event);
                if *belongs || hidden || !self.wanted.concerns(&sealed.event) {
                    continue;
                }
                *belongs = true;
                grown = true;
                with_first |= self.wanted.follow(&sealed.event);
            }
            if let (true, Some(first), Some(sealed)) =
                (with_first, belongs.first_mut(), header.events.first())
                && !*first
                && !is_hidden(self.trace.hidden, &sealed.event)
            {
                *first = true;
                self.wanted.follow(&sealed.event);
            }
            if !grown {
                return belongs;
            }
        }
    }

    /// Whether an event is in the session or names the task that is replayed.
    fn is_named(&self, stored: &StoredHeader, header: &Header<Event>, event: &Event) -> bool {
        if shape(event).is_none() {
            return false;
        }
        let own = if let Event::UnitRecorded { session: Some(own), .. } = event {
            Some(own.as_str())
        } else {
            header.session.as_deref()
        };
        if self.session.is_some() && own == self.session {
            return true;
        }
        let Some(named) = &self.named else { return false };
        // By far the most frequent way to name a task; no event is written down only to be searched for it.
        if let (Event::UnitRecorded { task: Some(task), .. }, Target::Task(wanted)) =
            (event, self.trace.target)
            && task == wanted
        {
            return true;
        }
        let has = |text: &str| text.contains(named.as_str());
        std::str::from_utf8(&stored.json).is_ok_and(has)
            && canon::to_string(event).is_ok_and(|text| has(&text))
    }

    fn take(&mut self, found: Found, shape: Shape) -> bool {
        self.total += 1;
        if self.trace.target.is_made_by(&found.event) {
            self.origin = Some(found.clone());
        }
        if !shape.by_field {
            let at = (found.position, found.index);
            if let Some(first) = self.agents.get_mut(&found.actor) {
                *first = at.min(*first);
            } else {
                self.agents.insert(found.actor.clone(), at);
            }
        }
        self.places.note(&found, shape.event_type, self.trace.target, self.trace.hidden);
        let last = self.epochs.map_or(found.epoch, |(_, last)| last);
        self.epochs = Some((found.epoch, last));
        let is_told = match self.trace.depth {
            ReplayDepth::Summary => false,
            ReplayDepth::Detailed => shape.is_key,
            ReplayDepth::FullTrace => true,
        };
        if is_told {
            self.events.push_back(found);
        }
        self.events.len() <= self.trace.events_max
    }

    fn finish(self) -> Chain {
        let mut agents: Vec<(String, (u64, u32))> = self.agents.into_iter().collect();
        agents.sort_by_key(|(_, first)| *first);
        Chain {
            events: self.events.into_iter().rev().collect(),
            agents: agents.into_iter().map(|(agent, _)| agent).collect(),
            total: self.total,
            origin: self.origin,
            places: self.places,
            epochs: self.epochs,
        }
    }
}

#[derive(Debug, Default)]
struct Wanted {
    units: HashSet<UnitId>,
    conflicts: HashSet<ConflictId>,
    tasks: HashSet<String>,
    traces: HashSet<TraceId>,
    work: Option<String>,
    /// Units and conflicts that were met but not yet the event that made them.
    unmade: HashSet<Made>,
    /// Whether tasks are not looked for.
    no_tasks: bool,
    /// Whether there is something whose first event cannot be known by its kind.
    whole_log: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Made {
    Unit(UnitId),
    Conflict(ConflictId),
    Trace(TraceId),
}

impl Wanted {
    fn has(&self, entity: &Entity<'_>) -> bool {
        match entity {
            Entity::Unit(unit) => self.units.contains(unit),
            Entity::Conflict(conflict) => self.conflicts.contains(conflict),
            Entity::Task(task) => self.tasks.contains(*task),
            Entity::Work(task) => self.work.as_deref() == Some(*task),
            Entity::Trace(trace) => self.traces.contains(trace),
        }
    }

    fn add(&mut self, entity: Entity<'_>) {
        match entity {
            Entity::Unit(unit) => {
                if self.units.insert(unit) {
                    self.unmade.insert(Made::Unit(unit));
                }
            }
            Entity::Conflict(conflict) => {
                if self.conflicts.insert(conflict) {
                    self.unmade.insert(Made::Conflict(conflict));
                }
            }
            Entity::Task(_) if self.no_tasks => {}
            Entity::Task(task) => {
                self.whole_log = true;
                if !self.tasks.contains(task) {
                    self.tasks.insert(task.to_owned());
                }
            }
            Entity::Work(task) => self.work = Some(task.to_owned()),
            Entity::Trace(trace) => {
                if self.traces.insert(trace) {
                    self.unmade.insert(Made::Trace(trace));
                }
            }
        }
    }

    /// Whether an event is about something that is looked for.
    fn concerns(&self, event: &Event) -> bool {
        // By far the longest lists, and by far the most frequent kind: no list is made for them.
        if let Event::UnitsArchived { units, .. } | Event::UnitsPurged { units, .. } = event {
            units.iter().any(|unit| self.units.contains(unit))
        } else if let Event::UnitRecorded { unit, task, .. } = event {
            self.units.contains(unit) || (task.is_some() && self.work == *task)
        } else {
            links(event).about.iter().any(|entity| self.has(entity))
        }
    }

    /// Looks for what an event of the chain rests on; whether it only follows from its commit's first.
    fn follow(&mut self, event: &Event) -> bool {
        let links = links(event);
        for entity in links.rests_on {
            self.add(entity);
        }
        match links.made {
            Some(Entity::Unit(unit)) => {
                self.units.insert(unit);
                self.unmade.remove(&Made::Unit(unit));
            }
            Some(Entity::Conflict(conflict)) => {
                self.conflicts.insert(conflict);
                self.unmade.remove(&Made::Conflict(conflict));
            }
            Some(Entity::Trace(trace)) => {
                self.traces.insert(trace);
                self.unmade.remove(&Made::Trace(trace));
            }
            Some(Entity::Task(_) | Entity::Work(_)) | None => {}
        }
        links.follows
    }
}
