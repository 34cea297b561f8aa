//! A commit made ready for subscribers: its notices with their texts and with what their relevance rests
//! on. Made once and shared by all subscribers.

use quipu_core::outline::Texts;
use std::sync::Arc;

use quipu_log::{Commit, EngineError, Header};
use quipu_recall::{Analyzed, summary::summarize};
use quipu_wire::akashik::{MemoryType, Mode, SubscriptionEvent};
use serde::de::DeserializeOwned;

use super::{
    notices::{Entity, Notice, RequiredAction, notices},
    relevance::LastRelevance,
};
use crate::{
    base::limits::PUSH_SUMMARY_TOKENS,
    read::{bodies::Bodies, view::View},
};
use quipu_core::{
    Event, State, UnitId,
    event::{
        ConflictBody, ResolutionBody, UnitBody,
        coordination::{HandoffBody, HandoffChange, TaskChange},
    },
    ids::SubscriptionId,
};

/// Characters of a unit that is quoted in passing.
const QUOTED_CHARS: usize = 80;

/// A commit that is ready for subscribers.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub position: u64,
    pub epoch: u64,
    pub time_ms: u64,
    /// Who did it, and is therefore sent nothing.
    pub actor: String,
    /// Its notices, in order.
    pub notices: Vec<PreparedNotice>,
    /// Subscriptions that end here.
    pub ended: Vec<Ended>,
    /// About how much memory it takes.
    pub bytes: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    One(SubscriptionId),
    AllOf(String),
}

#[derive(Debug)]
pub(crate) struct PreparedNotice {
    /// The event within the commit.
    pub event: u32,
    /// Which of its notices.
    pub part: u32,
    pub notice: Notice,
    pub summary: String,
    pub units: Vec<Arc<UnitFacts>>,
    /// The session that it belongs to, where it is not about units.
    pub session: Option<String>,
    pub(super) last_relevance: LastRelevance,
}

/// What is known of a unit that never changes, so that its relevance never changes either.
#[derive(Debug)]
pub(crate) struct UnitFacts {
    pub author: String,
    pub role: String,
    pub memory_type: MemoryType,
    pub mode: Mode,
    pub confidence: Option<f64>,
    pub words: Analyzed,
    content: Option<String>,
}

impl UnitFacts {
    /// Whose it is and what it says.
    fn called(&self) -> String {
        let kind = self.memory_type.as_str().replace('_', " ");
        let text = self.content.as_deref().map(|text| summarize::lead(text, QUOTED_CHARS));
        let text = text.map_or_else(|| "(erased)".to_owned(), |text| text.replace('"', "'"));
        format!("{}'s {kind} \"{}\"", self.author, text.trim_end_matches('.'))
    }
}

impl PreparedNotice {
    pub(super) fn requires_action_of(&self, agent: &str) -> bool {
        match self.notice.action {
            RequiredAction::Nobody => false,
            RequiredAction::Authors => self.units.iter().any(|unit| unit.author == agent),
            RequiredAction::Recipient => self.notice.only_for.as_deref() == Some(agent),
        }
    }
}

pub(super) fn prepare(
    commit: &Commit,
    view: &View,
    bodies: &Bodies,
) -> Result<Prepared, EngineError> {
    let header = commit.decode_header::<Event>()?;
    let mut prepared = Vec::new();
    for (index, sealed) in (0u32..).zip(&header.events) {
        for (part, notice) in (0u32..).zip(notices(&sealed.event)) {
            let units = notice
                .units
                .iter()
                .filter_map(|unit| facts(*unit, &header, commit, view, bodies).transpose())
                .collect::<Result<Vec<_>, _>>()?;
            let summary = summarize(&notice, &sealed.event, index, commit, &units)?;
            let session = belongs_to(&notice, &header);
            let last_relevance = LastRelevance::default();
            prepared.push(PreparedNotice {
                event: index,
                part,
                notice,
                summary,
                units,
                session,
                last_relevance,
            });
        }
    }
    let ended = header.events.iter().filter_map(|sealed| ended(&sealed.event)).collect();
    let Header { position, epoch, time_ms, actor, .. } = header;
    let bytes = commit.stored_bytes() + prepared.len() * 512 + 256;
    Ok(Prepared { position, epoch, time_ms, actor, notices: prepared, ended, bytes })
}

/// The session that a notice belongs to. A unit's is its own, and looked up when the notice is sent.
fn belongs_to(notice: &Notice, header: &Header<Event>) -> Option<String> {
    match &notice.entity {
        Entity::Session(session) => Some(session.clone()),
        Entity::Task(_) => header.session.clone(),
        Entity::Unit(_) | Entity::Conflict(_) | Entity::Agent(_) => None,
    }
}

fn ended(event: &Event) -> Option<Ended> {
    if let Event::SubscriptionRemoved { subscription, .. } = event {
        Some(Ended::One(*subscription))
    } else if let Event::AgentDeregistered { agent, .. } = event {
        Some(Ended::AllOf(agent.clone()))
    } else {
        None
    }
}

/// Where a unit's text is, and what the state knows of it.
fn facts(
    unit: UnitId,
    header: &Header<Event>,
    commit: &Commit,
    view: &View,
    bodies: &Bodies,
) -> Result<Option<Arc<UnitFacts>>, EngineError> {
    let Some((mut facts, position, event)) = unit_facts(&view.read().state, unit) else {
        return Ok(None);
    };
    let body: Option<UnitBody> = if position == header.position {
        let here = commit.body(event);
        here.map(|body| crate::read::bodies::decode_body(position, &body.json)).transpose()?
    } else {
        bodies.load(position, event)?
    };
    if let Some(body) = body {
        facts.words = body.searchable().analyze();
        facts.content = Some(body.content);
    }
    Ok(Some(Arc::new(facts)))
}

fn unit_facts(state: &State, unit: UnitId) -> Option<(UnitFacts, u64, u32)> {
    let ordinal = state.units.find(unit)?;
    let (flags, details) = (state.units.flags(ordinal)?, state.units.details(ordinal)?);
    let facts = UnitFacts {
        author: state.names.text(flags.author).to_owned(),
        role: state.names.text(details.role).to_owned(),
        memory_type: flags.memory_type,
        mode: details.mode,
        confidence: details.score,
        words: Analyzed::default(),
        content: None,
    };
    Some((facts, details.position, details.event))
}

fn summarize(
    notice: &Notice,
    event: &Event,
    index: u32,
    commit: &Commit,
    units: &[Arc<UnitFacts>],
) -> Result<String, EngineError> {
    let of_unit = |what: &str| {
        units.first().map_or_else(String::new, |unit| {
            let text = unit.content.as_deref().map_or_else(|| "(erased)".to_owned(), brief);
            format!("{} from {} {what}: {text}", named(unit.memory_type), unit.role)
        })
    };
    Ok(match notice.event {
        SubscriptionEvent::MemoryRecorded => of_unit("recorded"),
        SubscriptionEvent::MemorySuperseded => of_unit("superseded"),
        SubscriptionEvent::MemoryRestored => of_unit("restored"),
        SubscriptionEvent::MemoryContested => of_unit("contested"),
        SubscriptionEvent::ConflictDetected => {
            let body: Option<ConflictBody> = body(commit, index)?;
            disagreeing(notice, units, body)
        }
        SubscriptionEvent::AgentJoined => joined(event),
        SubscriptionEvent::ConflictResolved => settled(event, index, commit, units)?,
        SubscriptionEvent::TaskStateChanged
        | SubscriptionEvent::TaskAssigned
        | SubscriptionEvent::TaskCompleted => moved(event),
        SubscriptionEvent::HandoffIncoming => offered(event, index, commit)?,
        SubscriptionEvent::AgentFailed
        | SubscriptionEvent::SessionPaused
        | SubscriptionEvent::SessionEnded => about(notice),
    })
}

fn body<T: DeserializeOwned>(commit: &Commit, index: u32) -> Result<Option<T>, EngineError> {
    let body = commit.body(index);
    body.map(|body| crate::read::bodies::decode_body(commit.position, &body.json)).transpose()
}

/// Who offers what and why, and the id that an answer names.
fn offered(event: &Event, index: u32, commit: &Commit) -> Result<String, EngineError> {
    let Event::HandoffChanged { handoff, change: HandoffChange::Offered { task, .. } } = event
    else {
        return Ok(String::new());
    };
    let body: Option<HandoffBody> = body(commit, index)?;
    let why = body.map_or_else(|| "(erased)".to_owned(), |body| brief(&body.reason));
    let from = commit.decode_header::<Event>()?.actor;
    Ok(format!("{from} offers {task} ({handoff}): {why}"))
}

fn joined(event: &Event) -> String {
    if let Event::AgentRegistered { agent, role, .. } = event {
        return format!("{agent} joined as {role}");
    }
    String::new()
}

/// Who disagrees with whom, and about what. The units' ids are beside.
fn disagreeing(notice: &Notice, units: &[Arc<UnitFacts>], body: Option<ConflictBody>) -> String {
    let why = body.map_or_else(|| "(erased)".to_owned(), |body| body.description);
    let [older, newer] = units else { return brief(&why) };
    let mut why = why;
    for (id, unit) in notice.units.iter().zip(units) {
        why = why.replace(&id.to_string(), &unit.called());
    }
    format!("{} against {}: {}", newer.called(), older.called(), brief(&why))
}

/// Who settled a conflict and how, what prevails and why.
fn settled(
    event: &Event,
    index: u32,
    commit: &Commit,
    units: &[Arc<UnitFacts>],
) -> Result<String, EngineError> {
    let Event::ConflictResolved { strategy, winner, .. } = event else {
        return Ok(String::new());
    };
    let actor = commit.decode_header::<Event>()?.actor;
    let end = match (winner, units.first()) {
        (Some(_), Some(unit)) => format!("{} prevails", unit.called()),
        (Some(unit), None) => format!("{unit} prevails"),
        (None, _) => "a synthesis replaces both units".to_owned(),
    };
    let body: Option<ResolutionBody> = body(commit, index)?;
    let why = body.map_or_else(|| "(erased)".to_owned(), |body| brief(&body.rationale));
    Ok(format!("{actor} resolved a conflict by {strategy}: {end}, because: {why}"))
}

fn moved(event: &Event) -> String {
    let Event::TaskChanged { task, change } = event else { return String::new() };
    match change {
        TaskChange::Created { assignee: Some(agent), .. } => format!("{task} created for {agent}"),
        TaskChange::Created { assignee: None, .. } => format!("{task} created"),
        TaskChange::Moved { from, to, assignee: Some(agent), .. } => {
            format!("{task}: {from} -> {to}, with {agent}")
        }
        TaskChange::Moved { from, to, assignee: None, .. } => format!("{task}: {from} -> {to}"),
    }
}

/// The event and what it is about, where there is no more to say.
fn about(notice: &Notice) -> String {
    let entity = match &notice.entity {
        Entity::Unit(unit) => unit.to_string(),
        Entity::Conflict(conflict) => conflict.to_string(),
        Entity::Agent(name) | Entity::Task(name) | Entity::Session(name) => name.clone(),
    };
    format!("{}: {entity}", notice.event)
}

fn named(memory_type: MemoryType) -> String {
    let word = memory_type.as_str().replace('_', " ");
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn brief(text: &str) -> String {
    summarize::summarize(text, PUSH_SUMMARY_TOKENS)
}
