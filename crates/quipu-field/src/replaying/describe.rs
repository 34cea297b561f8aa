//! The other table: what an event is called in a timeline, and what is said of it. Texts come from the
//! bodies in the log; what was erased is said to be.

use quipu_log::EngineError;
use quipu_recall::summary;
use quipu_wire::{
    akashik::{
        CompactStrategy, ConflictStrategy, DetectedBy, Mode, RelationType, ReplayDepth, ReplayEvent,
    },
    timestamp::rfc3339,
};

use super::{chain::Found, links::Target};
use crate::{
    bodies::Bodies,
    coordination::{HandoffChange, SessionChange, TaskChange},
    event::{Event, HintBody, UnitBody},
    ids::UnitId,
};

/// Tokens of a unit's text in a timeline.
const BRIEF_TOKENS: usize = 40;
/// Units that are named of what an agent was shown, where not everything is told; and in the story.
const SHOWN_NAMED: usize = 10;
const SHOWN_SAID: usize = 3;

/// What kind of entry an event makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Its name.
    pub(crate) event_type: &'static str,
    /// Whether it is told at depth `detailed`.
    pub(crate) is_key: bool,
    /// Whether the Field did it by itself.
    pub(crate) by_field: bool,
}

/// The table. What makes no entry of its own is told with what it follows from, or not at all.
pub(crate) const fn shape(event: &Event) -> Option<Shape> {
    let (event_type, is_key, by_field) = match event {
        Event::UnitRecorded { .. } => ("RECORD", true, false),
        Event::AttuneTraced { .. } => ("ATTUNE", true, false),
        Event::ConflictDetected { .. } => ("CONFLICT_CREATED", true, true),
        Event::UnitsArchived { .. } | Event::UnitsPurged { .. } => ("COMPACT", true, false),
        Event::AgentRegistered { .. } => ("REGISTER", false, false),
        Event::AgentDeregistered { .. } => ("DEREGISTER", false, false),
        Event::ConflictBallotCast { .. }
        | Event::ConflictResolved { .. }
        | Event::ConflictEscalated { .. } => ("MERGE", true, false),
        Event::UnitRetracted { .. } => ("RETRACT", true, false),
        Event::SessionChanged { .. } => ("SESSION", true, false),
        Event::TaskChanged { .. } => ("COORDINATE", true, false),
        Event::HandoffChanged { .. } => ("HANDOFF", true, false),
        Event::ConflictResolving { .. }
        | Event::AgentStatusChanged { .. }
        | Event::UnitStatusChanged { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::ClockAdvanced { .. } => return None,
    };
    Some(Shape { event_type, is_key, by_field })
}

/// An event as it is told.
#[derive(Debug)]
pub(crate) struct Told {
    /// Its entry in the timeline.
    pub(crate) entry: ReplayEvent,
    /// What the story says of it.
    pub(crate) said: String,
}

/// Words for an event.
#[derive(Default)]
struct Words {
    description: String,
    said: String,
    unit: Option<UnitId>,
    task: Option<String>,
}

/// Tells an event of the chain of a target.
pub(crate) fn describe(
    found: &Found,
    target: &Target,
    depth: ReplayDepth,
    bodies: &Bodies,
) -> Result<Option<Told>, EngineError> {
    let Some(shape) = shape(&found.event) else { return Ok(None) };
    let words = if let Event::AttuneTraced { .. } = &found.event {
        shown(found, depth, bodies)?
    } else {
        words(found, target, bodies)?
    };
    let mut description = words.description;
    if depth == ReplayDepth::FullTrace {
        for event in &found.followed {
            if let Event::UnitStatusChanged { unit, from, to } = event {
                description.push_str(&format!("; {unit} {from} -> {to}"));
            }
        }
    }
    let agent_id = if shape.by_field { "system".to_owned() } else { found.actor.clone() };
    let entry = ReplayEvent {
        epoch: found.epoch,
        event_type: shape.event_type.to_owned(),
        agent_id,
        description,
        memory_unit_id: words.unit.map(|unit| unit.to_string()),
        task_id: words.task,
        timestamp: Some(rfc3339(found.time_ms)),
    };
    Ok(Some(Told { entry, said: words.said }))
}

fn words(found: &Found, target: &Target, bodies: &Bodies) -> Result<Words, EngineError> {
    let (actor, epoch) = (&found.actor, found.epoch);
    let plain = |description: String| {
        let said = format!("{description} at epoch {epoch}");
        Words { description, said, unit: None, task: None }
    };
    Ok(match &found.event {
        Event::UnitRecorded { .. } => recorded(found, bodies)?,
        Event::ConflictDetected { unit_a, unit_b, conflict_type, detected_by, .. } => {
            let description = match detected_by {
                DetectedBy::Explicit => {
                    "Explicit conflict created from contradicts relation".to_owned()
                }
                DetectedBy::Semantic | DetectedBy::Logical | DetectedBy::Temporal => {
                    format!("Conflict between {unit_a} and {unit_b} found by {detected_by} check")
                }
            };
            let said = format!(
                "A {conflict_type} conflict between {unit_a} and {unit_b} was found at epoch {epoch}"
            );
            Words { description, said, unit: None, task: None }
        }
        Event::UnitsArchived { strategy, units, reason, .. } => {
            let verb = if *strategy == CompactStrategy::Summarize {
                "Summarized and archived"
            } else {
                "Archived"
            };
            compacted(found, target, verb, units, reason.as_deref())
        }
        Event::UnitsPurged { units, reason, .. } => {
            compacted(found, target, "Purged", units, Some(reason))
        }
        Event::AgentRegistered { agent, role, .. } => plain(format!("{agent} joined as {role}")),
        Event::AgentDeregistered { agent, .. } => plain(format!("{agent} left, told by {actor}")),
        Event::ConflictBallotCast { choice, .. } => {
            of_unit(plain(format!("Voted for {choice}")), actor, *choice)
        }
        Event::ConflictResolved { strategy, winner, .. } => settled(found, *strategy, *winner),
        Event::ConflictEscalated { strategy, .. } => Words {
            description: format!("Escalated to a human after {strategy}"),
            said: format!("Escalated to a human by {actor} at epoch {epoch}"),
            unit: None,
            task: None,
        },
        Event::UnitRetracted { unit, .. } => {
            of_unit(plain(format!("Retracted {unit}")), actor, *unit)
        }
        Event::SessionChanged { session, change } => {
            let description = format!("Session {session}: {}", session_words(change));
            Words {
                said: format!("{description} by {actor} at epoch {epoch}"),
                description,
                unit: None,
                task: None,
            }
        }
        Event::TaskChanged { task, change } => {
            let description = format!("Task {task}: {}", task_words(change));
            let said = format!("{description} by {actor} at epoch {epoch}");
            Words { description, said, unit: None, task: Some(task.clone()) }
        }
        Event::HandoffChanged { change, .. } => handed(found, change),
        Event::ConflictResolving { .. }
        | Event::AttuneTraced { .. }
        | Event::AgentStatusChanged { .. }
        | Event::UnitStatusChanged { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::ClockAdvanced { .. } => plain(String::new()),
    })
}

/// What an agent had in front of it.
fn shown(found: &Found, depth: ReplayDepth, bodies: &Bodies) -> Result<Words, EngineError> {
    let Event::AttuneTraced { role, as_of, units, .. } = &found.event else {
        return Ok(Words::default());
    };
    let named = if depth == ReplayDepth::FullTrace { usize::MAX } else { SHOWN_NAMED };
    let hint = bodies.load::<HintBody>(found.position, found.index)?;
    let hint = hint.map(|body| summary::summarize(&body.hint, BRIEF_TOKENS));
    let hint = hint.map(|hint| format!(" for \"{}\"", one_line(&hint))).unwrap_or_default();
    let then = as_of.map(|epoch| format!(" as of epoch {epoch}")).unwrap_or_default();
    let list = |named: usize| {
        let mut parts: Vec<String> = units
            .iter()
            .take(named)
            .map(|shown| format!("{} ({:.2})", shown.unit, shown.score))
            .collect();
        let more = units.len().saturating_sub(named);
        parts.extend((more > 0).then(|| format!("{more} more")));
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    };
    Ok(Words {
        description: format!("Attuned as {role}{hint}{then}: shown {}", list(named)),
        said: format!(
            "{} had been shown {} at epoch {}",
            found.actor,
            list(SHOWN_SAID),
            found.epoch
        ),
        unit: None,
        task: None,
    })
}

fn of_unit(words: Words, actor: &str, unit: UnitId) -> Words {
    Words { said: format!("{actor}: {}", words.said), unit: Some(unit), ..words }
}

fn settled(found: &Found, strategy: ConflictStrategy, winner: Option<UnitId>) -> Words {
    let end = winner
        .map_or_else(|| "a synthesis replaces both".to_owned(), |unit| format!("{unit} prevails"));
    Words {
        description: format!("Resolved via {strategy}: {end}"),
        said: format!(
            "Resolved by {} using {strategy} strategy at epoch {}",
            found.actor, found.epoch
        ),
        unit: winner,
        task: None,
    }
}

fn session_words(change: &SessionChange) -> String {
    match change {
        SessionChange::Created { .. } => "opened".to_owned(),
        SessionChange::Joined { agent } => format!("{agent} joined"),
        SessionChange::Left { agent } => format!("{agent} left"),
        SessionChange::Moved { to, .. } => to.to_string(),
        SessionChange::PolicySet { .. } => "rules changed".to_owned(),
    }
}

fn task_words(change: &TaskChange) -> String {
    match change {
        TaskChange::Created { assignee: None, .. } => "created".to_owned(),
        TaskChange::Created { assignee: Some(agent), .. } => format!("created for {agent}"),
        TaskChange::Moved { from, to, assignee: None, .. } => format!("{from} -> {to}"),
        TaskChange::Moved { from, to, assignee: Some(agent), .. } => {
            format!("{from} -> {to}, with {agent}")
        }
    }
}

fn handed(found: &Found, change: &HandoffChange) -> Words {
    let (task, what) = match change {
        HandoffChange::Offered { task, to, .. } => (task, format!("offered to {to}")),
        HandoffChange::Moved { task, to } => (task, format!("handoff {to}")),
    };
    let description = format!("Task {task}: {what}");
    let said = format!("{description} by {} at epoch {}", found.actor, found.epoch);
    Words { description, said, unit: None, task: Some(task.clone()) }
}

fn recorded(found: &Found, bodies: &Bodies) -> Result<Words, EngineError> {
    let Event::UnitRecorded { unit, mode, memory_type, task, relations, .. } = &found.event else {
        return Ok(Words::default());
    };
    let text = brief(bodies.load::<UnitBody>(found.position, found.index)?);
    let has = |kind: RelationType| relations.iter().any(|link| link.kind == kind);
    let manner = if has(RelationType::Contradicts) {
        "contradicting "
    } else if has(RelationType::Supersedes) {
        "superseding "
    } else {
        ""
    };
    let draft = if *mode == Mode::Draft { "draft " } else { "" };
    let relation = [RelationType::Contradicts, RelationType::Supersedes]
        .into_iter()
        .find(|kind| has(*kind))
        .map(|kind| format!(" with {kind} relation"));
    let spoken = text.trim_end_matches('.');
    Ok(Words {
        description: format!("Recorded {draft}{manner}{}: {text}", spaced(memory_type.as_str())),
        said: format!("{} recorded {spoken}{}", found.actor, relation.unwrap_or_default()),
        unit: Some(*unit),
        task: task.clone(),
    })
}

fn compacted(
    found: &Found,
    target: &Target,
    verb: &str,
    units: &[UnitId],
    reason: Option<&str>,
) -> Words {
    let own = target.unit().filter(|unit| units.contains(unit));
    let what = match (own, units) {
        (Some(unit), [_]) => unit.to_string(),
        (Some(unit), _) => format!("{unit} and {} more units", units.len() - 1),
        (None, [unit]) => unit.to_string(),
        (None, _) => format!("{} units", units.len()),
    };
    let why = reason.map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
    Words {
        description: format!("{verb} {what}{why}"),
        said: format!(
            "{} {} {what} at epoch {}{why}",
            found.actor,
            verb.to_lowercase(),
            found.epoch
        ),
        unit: own.or(if let [unit] = units { Some(*unit) } else { None }),
        task: None,
    }
}

/// What a unit says, in one line.
fn brief(body: Option<UnitBody>) -> String {
    body.map_or_else(
        || "(erased)".to_owned(),
        |body| one_line(&summary::summarize(&body.content, BRIEF_TOKENS)),
    )
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A word of the protocol as people write it.
fn spaced(word: &str) -> String {
    word.replace('_', " ")
}
