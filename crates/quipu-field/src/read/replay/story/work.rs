//! Tasks and sessions: what one was for, what was decided and found for it, why it was stopped, handed over or given up, and
//! how it ended. Of a unit, the task that it was recorded for.

use quipu_log::EngineError;
use quipu_wire::akashik::HandoffStatus;

use super::{
    super::places::{EventAddress, NotedHandoff},
    grounds::Said,
    page::{Page, Part},
    phrases::{BRIEF_CHARS, brief, capitalized, listed, quoted},
    reader::Reader,
};
use quipu_core::{
    Event,
    event::coordination::{
        HandoffBody, HandoffChange, ReasonBody, SessionBody, TaskBody, TaskCause, TaskChange,
    },
};

/// Handoffs that are told, the newest.
const HANDOFFS_MAX: usize = 3;

/// The units that were recorded for a task or in a session, the weightiest first.
pub(super) fn units(
    reader: &Reader<'_>,
    page: &mut Page,
    said: &mut Said,
) -> Result<(), EngineError> {
    for unit in reader.places.work.values() {
        let Some(told) = reader.unit(*unit)? else { continue };
        let sentence = format!("{}, epoch {}{}", told.named(), told.epoch, told.because());
        if page.say(Part::Grounds, &sentence) {
            said.add(*unit);
        }
    }
    Ok(())
}

/// What a task was for; nothing where it is but a name.
pub(super) fn purpose(reader: &Reader<'_>, task: &str) -> Result<Option<String>, EngineError> {
    let Some(place) = reader.places.tasks.get(task) else { return Ok(None) };
    let Some(found) = reader.event(*place)? else { return Ok(None) };
    let Some(texts) = found.texts::<TaskBody>()? else {
        return Ok(Some(format!("a task of {} whose text was purged", found.actor)));
    };
    let question = texts.question.map(|text| format!(" (question: {})", brief(&text, BRIEF_CHARS)));
    Ok(Some(format!(
        "the task {}, made by {} at epoch {} for: {}{}",
        quoted(&texts.title, BRIEF_CHARS),
        found.actor,
        found.epoch,
        brief(&texts.purpose, BRIEF_CHARS),
        question.unwrap_or_default()
    )))
}

/// What a session was for.
pub(super) fn goal(reader: &Reader<'_>) -> Result<Option<String>, EngineError> {
    let Some(place) = reader.places.session else { return Ok(None) };
    let Some(found) = reader.event(place)? else { return Ok(None) };
    let goal = found.texts::<SessionBody>()?.map(|body| brief(&body.goal, BRIEF_CHARS));
    let goal = goal.unwrap_or_else(|| "a goal that was purged".to_owned());
    Ok(Some(format!("Opened by {} at epoch {} for: {goal}", found.actor, found.epoch)))
}

/// The moves of the task that is replayed for which somebody gave a reason, and how it ended.
pub(super) fn moves(reader: &Reader<'_>, page: &mut Page) -> Result<(), EngineError> {
    for place in reader.places.reasoned_moves.iter().rev() {
        if let Some(sentence) = moved(reader, *place)? {
            page.say(Part::After, &sentence);
        }
    }
    let last = reader.places.last_move.filter(|last| !reader.places.reasoned_moves.contains(last));
    if let Some(sentence) = last.map(|last| moved(reader, last)).transpose()?.flatten() {
        page.say(Part::After, &sentence);
    }
    Ok(())
}

fn moved(reader: &Reader<'_>, place: EventAddress) -> Result<Option<String>, EngineError> {
    let Some(found) = reader.event(place)? else { return Ok(None) };
    let Event::TaskChanged { change: TaskChange::Moved { cause, to, .. }, .. } = &found.event
    else {
        return Ok(None);
    };
    let what = match cause {
        TaskCause::AwaitAuth => "stopped until somebody allows it".to_owned(),
        TaskCause::Block => "blocked".to_owned(),
        TaskCause::Fail => "given up".to_owned(),
        TaskCause::AttemptFailed => "put back after a failed attempt".to_owned(),
        TaskCause::Exhausted => "given up after its last attempt".to_owned(),
        TaskCause::Assign
        | TaskCause::Claim
        | TaskCause::Start
        | TaskCause::Unblock
        | TaskCause::Complete
        | TaskCause::Release
        | TaskCause::Retry
        | TaskCause::Cancel
        | TaskCause::Renew
        | TaskCause::LeaseExpired
        | TaskCause::OwnerLeft
        | TaskCause::SessionEnded
        | TaskCause::HandoffAccepted => to.as_str().replace('_', " "),
    };
    let why = found.texts::<ReasonBody>()?.map(|body| brief(&body.reason, BRIEF_CHARS));
    let why = why.map(|why| format!(", because: {why}")).unwrap_or_default();
    let (actor, epoch) = (&found.actor, found.epoch);
    Ok(Some(format!("{} by {actor} at epoch {epoch}{why}", capitalized(&what))))
}

/// How a task, or where none is named each task of the chain, was handed over.
pub(super) fn handoffs(
    reader: &Reader<'_>,
    page: &mut Page,
    task: Option<&str>,
) -> Result<(), EngineError> {
    let all = reader.places.handoffs.iter();
    let own = all.filter(|handoff| task.is_none_or(|task| handoff.task == task));
    let newest: Vec<&NotedHandoff> = own.take(HANDOFFS_MAX).collect();
    for handoff in newest.into_iter().rev() {
        if let Some(sentence) = handed_over(reader, handoff)? {
            page.say(Part::Task, &sentence);
        }
    }
    Ok(())
}

fn handed_over(reader: &Reader<'_>, handoff: &NotedHandoff) -> Result<Option<String>, EngineError> {
    let Some(found) = reader.event(handoff.place)? else { return Ok(None) };
    let Event::HandoffChanged { change: HandoffChange::Offered { to, .. }, .. } = &found.event
    else {
        return Ok(None);
    };
    let verb = match reader.places.handoff_ends.get(&handoff.id) {
        Some(HandoffStatus::Accepted) => "handed it over to",
        Some(HandoffStatus::Rejected) => "wanted to hand it over, in vain, to",
        Some(HandoffStatus::Cancelled | HandoffStatus::Expired | HandoffStatus::Offered) | None => {
            "offered it to"
        }
    };
    let mut sentence = format!("{} {verb} {to} at epoch {}", found.actor, found.epoch);
    if !reader.trace.handoffs.contains(&handoff.id) {
        return Ok(Some(sentence));
    }
    let Some(texts) = found.texts::<HandoffBody>()? else {
        sentence.push_str(", for a reason that was purged");
        return Ok(Some(sentence));
    };
    sentence.push_str(&format!(", because: {}", brief(&texts.reason, BRIEF_CHARS)));
    if let Some(summary) = texts.summary {
        sentence.push_str(&format!("; how it stood: {}", brief(&summary, BRIEF_CHARS)));
    }
    for (label, list) in [
        ("decided", &texts.decisions),
        ("open", &texts.open_questions),
        ("to do", &texts.next_steps),
    ] {
        if !list.is_empty() {
            sentence.push_str(&format!("; {label}: {}", listed(list)));
        }
    }
    Ok(Some(sentence))
}
