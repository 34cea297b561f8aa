//! The other table: what an event is called in a timeline, and what is said of it. Texts come from the
//! bodies in the log; what was erased is said to be.

use quipu_log::EngineError;
use quipu_recall::summary::summarize;
use quipu_wire::{
    akashik::{
        CompactStrategy, DetectedBy, LeastAuthorityRow, Mode, RelationType, ReplayDepth,
        ReplayEvent,
    },
    json::timestamp::rfc3339,
};

use super::{
    chain::{Found, Trace},
    links::Target,
    places::Places,
    reasons::reasons,
    texts::{Part, Texts},
};
use quipu_core::{
    Event, UnitId,
    event::coordination::{HandoffChange, SessionChange, TaskCause, TaskChange},
};

/// Characters of a unit's text, or of a hint, in a timeline.
const BRIEF_CHARS: usize = 200;
/// Bytes that the description of a recorded unit has room for at first.
const RECORDED_BYTES: usize = 256;
/// How many of the units that an agent was shown are named where the depth is not `full_trace`.
const NAMED_UNITS_MAX: usize = 10;

/// What kind of entry an event makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) event_type: &'static str,
    /// Whether it is described at depth `detailed`.
    pub(crate) is_key: bool,
    /// Whether the Field did it by itself.
    pub(crate) by_field: bool,
}

/// The table. What makes no entry of its own is described with what it follows from, or not at all.
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
        Event::UnitRestored { .. } => ("RESTORE", true, false),
        Event::LeastAuthoritySet { .. } => ("AUTHORITY_SET", true, false),
        Event::SessionChanged { .. } => ("SESSION", true, false),
        Event::TaskChanged { .. } => ("COORDINATE", true, false),
        Event::HandoffChanged { .. } => ("HANDOFF", true, false),
        Event::TaskNoted { .. } => ("TASK_NOTED", false, false),
        Event::ConflictResolving { .. }
        | Event::AgentStatusChanged { .. }
        | Event::UnitStatusChanged { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::DocumentChanged { .. }
        | Event::IdempotencyKept { .. }
        | Event::ClockAdvanced { .. } => return None,
    };
    Some(Shape { event_type, is_key, by_field })
}

#[derive(Default)]
struct Words {
    description: String,
    unit: Option<UnitId>,
    task: Option<String>,
}

/// Puts an event of the chain of a target into words.
pub(crate) fn describe(
    found: &Found,
    trace: &Trace<'_>,
    places: &Places,
    texts: &mut Texts<'_>,
) -> Result<Option<ReplayEvent>, EngineError> {
    let Some(shape) = shape(&found.event) else { return Ok(None) };
    let words = if let Event::AttuneTraced { .. } = &found.event {
        attune_trace(found, trace.depth, texts)?
    } else {
        words(found, trace.target, texts)?
    };
    let mut description = words.description;
    if trace.depth == ReplayDepth::FullTrace {
        for event in &found.followed {
            if let Event::UnitStatusChanged { unit, from, to } = event {
                description.push_str(&format!("; {unit} {from} -> {to}"));
            }
        }
    }
    let agent_id = if shape.by_field { "system".to_owned() } else { found.actor.clone() };
    let (why, reasons) = reasons(found, trace, places, texts)?;
    Ok(Some(ReplayEvent {
        epoch: found.epoch,
        event_type: shape.event_type.to_owned(),
        agent_id,
        description,
        memory_unit_id: words.unit.map(|unit| unit.to_string()),
        task_id: words.task,
        timestamp: Some(rfc3339(found.time_ms)),
        why,
        reasons,
        links: None,
    }))
}

fn words(found: &Found, target: &Target, texts: &mut Texts<'_>) -> Result<Words, EngineError> {
    let actor = &found.actor;
    let plain = |description: String| Words { description, unit: None, task: None };
    let of_unit =
        |description: String, unit: &UnitId| Words { unit: Some(*unit), ..plain(description) };
    Ok(match &found.event {
        Event::UnitRecorded { .. } => recorded(found, texts)?,
        Event::ConflictDetected { .. } => detected(found, texts)?,
        Event::UnitsArchived { strategy, units, reason, .. } => {
            let verb = if *strategy == CompactStrategy::Summarize {
                "Summarized and archived"
            } else {
                "Archived"
            };
            compacted(target, verb, units, reason.as_deref())
        }
        Event::UnitsPurged { units, reason, .. } => {
            compacted(target, "Purged", units, Some(reason))
        }
        Event::AgentRegistered { agent, role, .. } => plain(format!("{agent} joined as {role}")),
        Event::AgentDeregistered { agent, .. } => plain(format!("{agent} left, told by {actor}")),
        Event::ConflictBallotCast { choice, .. } => {
            let why = because(texts.of(found, Part::Rationale)?.as_deref());
            of_unit(format!("Voted for {choice}{why}"), choice)
        }
        Event::ConflictResolved { strategy, winner, .. } => {
            let end = winner.map_or_else(
                || "a synthesis replaces both".to_owned(),
                |unit| format!("{unit} prevails"),
            );
            Words { unit: *winner, ..plain(format!("Resolved via {strategy}: {end}")) }
        }
        Event::ConflictEscalated { strategy, .. } => {
            plain(format!("Escalated to a human after {strategy}"))
        }
        Event::UnitRetracted { unit, .. } => of_unit(format!("Retracted {unit}"), unit),
        Event::UnitRestored { unit, from, to } => {
            of_unit(format!("Restored {unit}: was {from}, is {to}"), unit)
        }
        Event::LeastAuthoritySet { rows } => {
            let row = |row: &LeastAuthorityRow| {
                format!("{} {} {}", row.mode, row.memory_type, row.authority)
            };
            let rows: Vec<String> = rows.iter().map(row).collect();
            plain(format!("{actor} set the least authority: {}", rows.join(", ")))
        }
        Event::SessionChanged { session, change } => {
            plain(format!("Session {session}: {}", session_words(change)))
        }
        Event::TaskChanged { task, change } => task_moved(found, task, change, texts)?,
        Event::HandoffChanged { change, .. } => handed(change),
        Event::TaskNoted { task, note } => plain(match &note.dependency {
            Some(dependency) => format!("{actor} recorded {} for {task}", dependency.key),
            None => format!("{actor} noted {} for {task}", note.event),
        }),
        Event::ConflictResolving { .. }
        | Event::AttuneTraced { .. }
        | Event::AgentStatusChanged { .. }
        | Event::UnitStatusChanged { .. }
        | Event::SubscriptionCreated { .. }
        | Event::SubscriptionRemoved { .. }
        | Event::DocumentChanged { .. }
        | Event::IdempotencyKept { .. }
        | Event::ClockAdvanced { .. } => plain(String::new()),
    })
}

fn attune_trace(
    found: &Found,
    depth: ReplayDepth,
    texts: &mut Texts<'_>,
) -> Result<Words, EngineError> {
    let Event::AttuneTraced { role, hinted, as_of, units, .. } = &found.event else {
        return Ok(Words::default());
    };
    let named = if depth == ReplayDepth::FullTrace { usize::MAX } else { NAMED_UNITS_MAX };
    let hint = match texts.of(found, Part::Hint)? {
        Some(hint) => format!(" for \"{}\"", brief(&hint)),
        None if *hinted => " for (erased)".to_owned(),
        None => String::new(),
    };
    let then = as_of.map(|epoch| format!(" as of epoch {epoch}")).unwrap_or_default();
    let mut parts: Vec<String> = units
        .iter()
        .take(named)
        .map(|shown| format!("{} ({:.2})", shown.unit, shown.score))
        .collect();
    let more = units.len().saturating_sub(named);
    parts.extend((more > 0).then(|| format!("{more} more")));
    let list = if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
    let description = format!("Attuned as {role}{hint}{then}: shown {list}");
    Ok(Words { description, unit: None, task: None })
}

/// A conflict that was found, with what disagrees. Who contradicts a unit says so in its own.
fn detected(found: &Found, texts: &mut Texts<'_>) -> Result<Words, EngineError> {
    let Event::ConflictDetected { unit_a, unit_b, detected_by, .. } = &found.event else {
        return Ok(Words::default());
    };
    let description = match detected_by {
        DetectedBy::Explicit => "Explicit conflict created from contradicts relation".to_owned(),
        DetectedBy::Semantic | DetectedBy::Logical | DetectedBy::Temporal => {
            let what = because(texts.of(found, Part::Description)?.as_deref());
            format!("Conflict between {unit_a} and {unit_b} found by {detected_by} check{what}")
        }
    };
    Ok(Words { description, ..Words::default() })
}

/// A reason, as it follows what it is the reason of.
fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {}", brief(reason))).unwrap_or_default()
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

fn task_moved(
    found: &Found,
    task: &str,
    change: &TaskChange,
    texts: &mut Texts<'_>,
) -> Result<Words, EngineError> {
    let (what, states, part) = match change {
        TaskChange::Created { assignee, .. } => {
            let whom = assignee.as_ref().map(|agent| format!(" for {agent}")).unwrap_or_default();
            (format!("created{whom}"), String::new(), Part::Title)
        }
        TaskChange::Moved { cause, from, to, assignee, .. } => {
            let states = if from == to { String::new() } else { format!(", {from} -> {to}") };
            (task_words(*cause, assignee.as_deref()), states, Part::Reason)
        }
    };
    let text = because(texts.of(found, part)?.as_deref());
    let description = format!("Task {task}: {what}{states}{text}");
    Ok(Words { description, unit: None, task: Some(task.to_owned()) })
}

fn task_words(cause: TaskCause, assignee: Option<&str>) -> String {
    let whom = assignee.unwrap_or("nobody");
    match cause {
        TaskCause::Assign => return format!("assigned to {whom}"),
        TaskCause::HandoffAccepted => return format!("handed over to {whom}"),
        TaskCause::Claim => "claimed",
        TaskCause::Start => "started",
        TaskCause::Block => "blocked",
        TaskCause::AwaitAuth => "stopped until somebody allows it",
        TaskCause::Unblock => "unblocked",
        TaskCause::Complete => "completed",
        TaskCause::Fail => "failed",
        TaskCause::AttemptFailed => "put back because an attempt failed",
        TaskCause::Exhausted => "failed because all its attempts did",
        TaskCause::Release => "released",
        TaskCause::Retry => "to be tried again",
        TaskCause::Cancel => "cancelled",
        TaskCause::Renew => "lease renewed",
        TaskCause::LeaseExpired => "put back because its lease ran out",
        TaskCause::OwnerLeft => "put back because its agent left",
        TaskCause::SessionEnded => "ended with its session",
    }
    .to_owned()
}

fn handed(change: &HandoffChange) -> Words {
    let (task, what) = match change {
        HandoffChange::Offered { task, to, .. } => (task, format!("offered to {to}")),
        HandoffChange::Moved { task, to } => (task, format!("handoff {to}")),
    };
    Words { description: format!("Task {task}: {what}"), unit: None, task: Some(task.clone()) }
}

fn recorded(found: &Found, texts: &mut Texts<'_>) -> Result<Words, EngineError> {
    let Event::UnitRecorded { unit, mode, memory_type, task, relations, .. } = &found.event else {
        return Ok(Words::default());
    };
    let has = |kind: RelationType| relations.iter().any(|link| link.kind == kind);
    let manner = if has(RelationType::Contradicts) {
        "contradicting "
    } else if has(RelationType::Supersedes) {
        "superseding "
    } else {
        ""
    };
    let draft = if *mode == Mode::Draft { "draft " } else { "" };
    // Most of a timeline is this, so it is written down once and not put together from parts.
    let mut description = String::with_capacity(RECORDED_BYTES);
    for part in ["Recorded ", draft, manner] {
        description.push_str(part);
    }
    description.extend(memory_type.as_str().chars().map(|c| if c == '_' { ' ' } else { c }));
    description.push_str(": ");
    match texts.of(found, Part::Content)? {
        Some(content) => push_brief(&content, &mut description),
        None => description.push_str("(erased)"),
    }
    Ok(Words { description, unit: Some(*unit), task: task.clone() })
}

fn compacted(target: &Target, verb: &str, units: &[UnitId], reason: Option<&str>) -> Words {
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
        unit: own.or(if let [unit] = units { Some(*unit) } else { None }),
        task: None,
    }
}

/// What a unit says, in one line.
fn brief(content: &str) -> String {
    let mut line = String::new();
    push_brief(content, &mut line);
    line
}

fn push_brief(content: &str, line: &mut String) {
    push_line(&summarize::lead(content, BRIEF_CHARS), line);
}

pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    push_line(text, &mut line);
    line
}

/// Writes a text in one line, with one space between its words.
fn push_line(text: &str, line: &mut String) {
    let bytes = text.as_bytes();
    // Most texts are such a line already; white space beyond ASCII is not looked for here.
    let is_plain = bytes.iter().all(|byte| (b' '..=b'~').contains(byte))
        && !bytes.windows(2).any(|pair| pair == b"  ")
        && !text.starts_with(' ')
        && !text.ends_with(' ');
    if is_plain {
        line.push_str(text);
        return;
    }
    for (number, word) in text.split_whitespace().enumerate() {
        if number > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::one_line;

    proptest! {
        #[test]
        fn a_line_has_the_words_of_the_text_with_one_space_between(
            text in "([ a-z.~\\t\\n\u{a0}é]|  ){0,12}",
        ) {
            let words: Vec<&str> = text.split_whitespace().collect();
            prop_assert_eq!(one_line(&text), words.join(" "));
        }
    }
}
