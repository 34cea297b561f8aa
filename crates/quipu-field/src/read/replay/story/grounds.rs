//! What a unit rests on, and what that rests on, as far as the page goes: the nearest first, and of the same nearness what
//! says most.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
};

use quipu_log::EngineError;
use quipu_wire::akashik::RelationType;

use super::{
    page::{Page, Part},
    phrases::{BRIEF_CHARS, brief, lightness, verb},
    reader::{Ground, Reader, StoryUnit},
};
use quipu_core::UnitId;

/// How many units are told that something rests on directly, and beneath that.
const DIRECT_MAX: usize = 8;
const BENEATH_MAX: usize = 6;

/// What was told, so that nothing is told twice.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) units: HashSet<UnitId>,
    /// The same, in the order in which it was told.
    pub(super) order: Vec<UnitId>,
}

impl Said {
    pub(super) fn add(&mut self, unit: UnitId) -> bool {
        let is_new = self.units.insert(unit);
        if is_new {
            self.order.push(unit);
        }
        is_new
    }
}

/// What is to be told beneath what was told: nearer, weightier and newer things first.
type Beneath = BTreeMap<(usize, u8, Reverse<u64>, UnitId), (String, Ground)>;

/// Tells what a unit rests on directly. `subject` names the unit.
pub(super) fn direct(
    reader: &Reader<'_>,
    page: &mut Page,
    said: &mut Said,
    subject: &str,
    unit: &StoryUnit,
) -> Result<Vec<(UnitId, StoryUnit)>, EngineError> {
    let mut told = Vec::new();
    for ground in &unit.grounds {
        if told.len() >= DIRECT_MAX || said.units.contains(&ground.unit) {
            continue;
        }
        let Some(cause) = reader.unit(ground.unit)? else { continue };
        if page.say(Part::Grounds, &sentence(subject, ground, &cause)) {
            said.add(ground.unit);
            told.push((ground.unit, cause));
        }
    }
    Ok(told)
}

/// Tells what things that were told rest on, as far as there is room for it.
pub(super) fn beneath(
    reader: &Reader<'_>,
    page: &mut Page,
    said: &mut Said,
    above: &[(UnitId, StoryUnit)],
) -> Result<(), EngineError> {
    let mut waiting = Beneath::new();
    for (_, unit) in above {
        wait(&mut waiting, reader, 1, unit);
    }
    let mut told = 0;
    while told < BENEATH_MAX {
        let Some(((depth, ..), (subject, ground))) = waiting.pop_first() else { break };
        if said.units.contains(&ground.unit) {
            continue;
        }
        let Some(cause) = reader.unit(ground.unit)? else { continue };
        if !page.say(Part::Beneath, &sentence(&subject, &ground, &cause)) {
            break;
        }
        said.add(ground.unit);
        told += 1;
        wait(&mut waiting, reader, depth + 1, &cause);
    }
    Ok(())
}

fn wait(waiting: &mut Beneath, reader: &Reader<'_>, depth: usize, unit: &StoryUnit) {
    for ground in unit.grounds.iter().take(DIRECT_MAX) {
        let newest = reader.places.units.get(&ground.unit).map_or(0, |place| place.position);
        let key = (depth, lightness(ground.kind), Reverse(newest), ground.unit);
        waiting.entry(key).or_insert_with(|| (unit.recalled(), ground.clone()));
    }
}

fn sentence(subject: &str, ground: &Ground, cause: &StoryUnit) -> String {
    let described = ground.description.as_deref().filter(|text| !text.trim().is_empty());
    let described = described.map(|text| format!(" ({})", brief(text, BRIEF_CHARS)));
    format!(
        "{subject} {} {}{}{}",
        verb(ground.kind),
        cause.named(),
        described.unwrap_or_default(),
        its_reason(ground.kind, cause)
    )
}

/// What was said for a cause. Of what was answered, replaced or contradicted it must not read as the reason for doing so.
fn its_reason(kind: RelationType, cause: &StoryUnit) -> String {
    let own =
        |words| cause.reason().map(|reason| format!("; {words}: {reason}")).unwrap_or_default();
    match kind {
        RelationType::Answers => own("it was asked because"),
        RelationType::Supersedes | RelationType::Contradicts => own("its reason was"),
        RelationType::DependsOn
        | RelationType::CausedBy
        | RelationType::Supports
        | RelationType::Elaborates
        | RelationType::Blocks
        | RelationType::Informs => cause.because(),
    }
}
