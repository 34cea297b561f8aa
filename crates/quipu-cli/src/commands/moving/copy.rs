//! One Field from one log to another: whether it may begin, the copying, and the comparing.

use quipu_field::restore::restore;
use quipu_log::{
    BodyAddress, BodyContent, Commit, Damage, DamageKind, EngineError, FieldName, Head, Pace,
};
use quipu_wire::Hash;

use super::open_log::OpenLog;
use crate::ui::{failure::Failure, progress::Progress};

/// How many commits are copied or compared at a time.
const PAGE: usize = 256;

pub(super) enum Start {
    /// Behind what the target has.
    From(Head),
    /// It is there, and has been opened.
    Done(Head),
}

/// Refuses a target that is something else than the beginning of this field.
pub(super) fn begin(
    source: &OpenLog,
    target: &OpenLog,
    field: &FieldName,
) -> Result<Start, Failure> {
    let at_source = |error: EngineError| source.failure(field, &error);
    let at_target = |error: EngineError| target.failure(field, &error);
    let (from, to) = (source.engine.head(field), target.engine.head(field));
    let (from, to) = (from.map_err(at_source)?, to.map_err(at_target)?);
    if to == Head::EMPTY {
        return Ok(Start::From(to));
    }
    let sealed = target.engine.is_sealed(field).map_err(at_target)?;
    // Both have the shorter one's head, or they are two histories.
    let (longer, shorter) = if to.position > from.position { (target, from) } else { (source, to) };
    let found = longer.engine.read(field, shorter.position, 1);
    let found = found.map_err(|error| longer.failure(field, &error))?;
    if found.first().map(Commit::head) != Some(shorter) {
        return Err(other_history(target, field));
    }
    match sealed {
        true if to.position <= from.position => Ok(Start::From(to)),
        true => {
            Err(Failure::new(format!("field {field} of {source} is older than that of {target}"))
                .advise(
                    "the log has grown there: move from there to here, not the other way round",
                ))
        }
        false if is_sealed(source, field)? && to.position >= from.position => Ok(Start::Done(from)),
        false => Err(Failure::new(format!("field {field} of {target} takes writes of its own"))
            .advise("a move makes its own copy: choose a target without this field")),
    }
}

fn is_sealed(place: &OpenLog, field: &FieldName) -> Result<bool, Failure> {
    place.engine.is_sealed(field).map_err(|error| place.failure(field, &error))
}

fn other_history(target: &OpenLog, field: &FieldName) -> Failure {
    Failure::new(format!("field {field} of {target} has another history; nothing was changed"))
        .advise("choose a target without this field")
}

/// Copies what the target lacks, each commit verified; answers the copy's head.
pub(super) fn catch_up(
    source: &OpenLog,
    target: &OpenLog,
    field: &FieldName,
    from: Head,
) -> Result<Head, Failure> {
    let at_source = |error: EngineError| source.failure(field, &error);
    let end = source.engine.head(field).map_err(at_source)?;
    let mut progress = Progress::new(format!("copying {field}"), Some(end.position));
    let mut head = from;
    while head.position < end.position {
        let page = source.engine.read(field, head.position + 1, PAGE).map_err(at_source)?;
        let mut next = head;
        for commit in &page {
            next = commit.verify(&next).map_err(|damage| at_source(damage.into()))?;
        }
        if page.is_empty() {
            return Err(at_source(lost(head.position + 1, end.position).into()));
        }
        head = target
            .engine
            .receive(field, &head, &page)
            .map_err(|error| target.failure(field, &error))?;
        progress.reach(head.position);
    }
    Ok(head)
}

fn lost(position: u64, acknowledged: u64) -> Damage {
    Damage::new(position, DamageKind::Truncated { ends_at: position - 1, acknowledged })
}

/// Reads the whole copy again, compares it with the source, and builds the state from it. What was erased at the source
/// after it was copied is erased in the copy.
pub(super) fn verify(
    source: &OpenLog,
    target: &OpenLog,
    field: &FieldName,
    end: Head,
) -> Result<Hash, Failure> {
    let at_target = |error: EngineError| target.failure(field, &error);
    let mut progress = Progress::new(format!("comparing {field}"), Some(end.position));
    let (mut head, mut erased) = (Head::EMPTY, Vec::new());
    while head.position < end.position {
        let ours = target.engine.read(field, head.position + 1, PAGE).map_err(at_target)?;
        let theirs = source.engine.read(field, head.position + 1, PAGE);
        let theirs = theirs.map_err(|error| source.failure(field, &error))?;
        if ours.is_empty() || theirs.is_empty() {
            return Err(at_target(lost(head.position + 1, end.position).into()));
        }
        // Pages may be cut at different places by their size.
        for (copy, commit) in ours.iter().zip(&theirs) {
            head = copy.verify(&head).map_err(|damage| at_target(damage.into()))?;
            erased.extend(compare(target, field, copy, commit)?);
        }
        progress.reach(head.position);
    }
    drop(progress);
    if head != end || target.engine.head(field).map_err(at_target)? != end {
        return Err(other_history(target, field));
    }
    if !erased.is_empty() {
        target.engine.erase(field, &erased).map_err(at_target)?;
    }
    let mut progress = Progress::new(format!("building the state of {field}"), Some(end.position));
    let mut go_on = |position| {
        progress.reach(position);
        true
    };
    let restored =
        restore(target.engine.as_ref(), field, None, Pace::Alone, &mut go_on).map_err(at_target)?;
    Ok(restored.published.state.hash())
}

/// The bodies that are erased at the source and not yet in the copy.
fn compare(
    target: &OpenLog,
    field: &FieldName,
    copy: &Commit,
    commit: &Commit,
) -> Result<Vec<BodyAddress>, Failure> {
    let different = || {
        let position = commit.position;
        Failure::new(format!("the copy of field {field} differs at position {position}"))
            .advise(format!("{target} stays sealed; move to another target"))
    };
    if copy.header != commit.header || copy.bodies.len() != commit.bodies.len() {
        return Err(different());
    }
    let mut erased = Vec::new();
    for (ours, theirs) in copy.bodies.iter().zip(&commit.bodies) {
        if ours == theirs {
            continue;
        }
        if ours.event != theirs.event || theirs.content != BodyContent::Erased {
            return Err(different());
        }
        erased.push(BodyAddress { position: commit.position, event: theirs.event });
    }
    Ok(erased)
}
