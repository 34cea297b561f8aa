//! What an agent needs to know that takes over a task.

use std::collections::BTreeSet;

use quipu_wire::akashik::{MemoryType, RelationType, UnitStatus};

use super::{Error, HandoffCommand};
use crate::{
    event::coordination::HandoffChange,
    ids::{ConflictId, UnitId},
    limits::HANDOFF_UNITS_MAX,
    message::Message,
    rules::Refusal,
    state::{LinkTarget, State},
    visibility::Sight,
};

/// Completes the package: what was named, the task's units, its open questions, open conflicts. All
/// of it is visible to both agents.
pub(super) fn package(
    state: &State,
    message: &Message,
    command: &HandoffCommand,
    task: String,
    to: String,
) -> Result<HandoffChange, Refusal> {
    let session = message.session.as_deref();
    let (giver, taker) = (
        Sight::by(state, &message.agent, session, message.authority),
        Sight::of(state, &to, session),
    );
    let sees = |at: u32| giver.sees(at) && taker.sees(at);
    let context = &command.payload.context;
    let mut chosen = BTreeSet::new();
    for text in &context.memory_unit_ids {
        let at = UnitId::parse(text).and_then(|id| state.units.find(id)).filter(|at| sees(*at));
        chosen.insert(at.ok_or_else(|| not_found("memory_unit_ids", text))?);
    }
    let of_task = state.names.find(&task).map_or(&[][..], |name| state.units.of_task(name));
    let current = |at: &u32| state.units.flags(*at).is_some_and(|unit| is_current(unit.status));
    let of_task: Vec<u32> =
        of_task.iter().rev().copied().filter(|at| sees(*at)).filter(current).collect();
    chosen.extend(of_task.iter().take(HANDOFF_UNITS_MAX));
    let mut conflicts = BTreeSet::new();
    for text in &context.conflict_ids {
        let entry = ConflictId::parse(text).and_then(|id| state.conflicts.get(id));
        let seen = entry.filter(|entry| sees(entry.unit_a) && sees(entry.unit_b));
        conflicts.insert(seen.ok_or_else(|| not_found("conflict_ids", text))?.id);
    }
    let disputed = state.conflicts.iter().filter(|conflict| {
        let within = chosen.contains(&conflict.unit_a) || chosen.contains(&conflict.unit_b);
        conflict.is_open() && within && sees(conflict.unit_a) && sees(conflict.unit_b)
    });
    conflicts.extend(disputed.map(|conflict| conflict.id).take(HANDOFF_UNITS_MAX));
    let id_of = |at: &u32| state.units.details(*at).map(|unit| unit.id);
    Ok(HandoffChange::Offered {
        questions: open_questions(state, &of_task).iter().filter_map(id_of).collect(),
        units: chosen.iter().filter_map(id_of).collect(),
        conflicts: conflicts.into_iter().collect(),
        task,
        to,
    })
}

fn not_found(list: &'static str, id: &str) -> Refusal {
    Error::ContextNotFound { list, id: id.to_owned() }.into()
}

const fn is_current(status: UnitStatus) -> bool {
    !matches!(status, UnitStatus::Superseded | UnitStatus::Retracted)
}

/// The questions among a task's units that no unit of the task answers, oldest first.
fn open_questions(state: &State, of_task: &[u32]) -> Vec<u32> {
    let answered: BTreeSet<u32> = of_task
        .iter()
        .filter_map(|at| state.units.details(*at))
        .flat_map(|unit| unit.links.iter())
        .filter(|link| link.kind == RelationType::Answers)
        .filter_map(|link| match link.target {
            LinkTarget::Unit(at) => Some(at),
            LinkTarget::Foreign(_) => None,
        })
        .collect();
    let is_question = |at: &u32| {
        state.units.flags(*at).is_some_and(|unit| unit.memory_type == MemoryType::Question)
    };
    let mut open: Vec<u32> = of_task
        .iter()
        .copied()
        .filter(|at| is_question(at) && !answered.contains(at))
        .take(HANDOFF_UNITS_MAX)
        .collect();
    open.sort_unstable();
    open
}
