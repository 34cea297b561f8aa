//! Reads again what a story tells of, one commit at a time: an event with its texts, and a unit with its reasons.

use quipu_log::{Commit, Engine, EngineError, FieldName, decode_body};
use quipu_wire::akashik::{MemoryType, RelationType};
use serde::de::DeserializeOwned;

use super::{
    super::{
        chain::Trace,
        places::{End, EventAddress, Places},
    },
    phrases::{BRIEF_CHARS, NAME_CHARS, brief, plain, quoted},
};
use quipu_core::{Event, UnitId, event::UnitBody, ids::TraceId, visibility::Hidden};

pub(in crate::read::replay) struct Reader<'a> {
    pub(in crate::read::replay) engine: &'a dyn Engine,
    pub(in crate::read::replay) field: &'a FieldName,
    pub(in crate::read::replay) trace: &'a Trace<'a>,
    pub(in crate::read::replay) places: &'a Places,
}

/// What happened at an address of the log, with its commit, so that its texts can be read.
#[derive(Debug)]
pub(in crate::read::replay) struct StoryEvent {
    pub(in crate::read::replay) epoch: u64,
    pub(in crate::read::replay) actor: String,
    pub(in crate::read::replay) session: Option<String>,
    pub(in crate::read::replay) event: Event,
    commit: Commit,
    index: u32,
}

/// A relation of a unit that is told, to a unit of the story.
#[derive(Debug, Clone)]
pub(in crate::read::replay) struct Ground {
    pub(in crate::read::replay) kind: RelationType,
    pub(in crate::read::replay) unit: UnitId,
    pub(in crate::read::replay) description: Option<String>,
}

/// A unit with everything that a sentence about it can say.
#[derive(Debug)]
pub(in crate::read::replay) struct StoryUnit {
    pub(in crate::read::replay) kind: MemoryType,
    pub(in crate::read::replay) author: String,
    pub(in crate::read::replay) epoch: u64,
    pub(in crate::read::replay) task: Option<String>,
    pub(in crate::read::replay) score: Option<f64>,
    pub(in crate::read::replay) grounds: Vec<Ground>,
    /// How many more it refers to that are not known here.
    pub(in crate::read::replay) unknown: u64,
    pub(in crate::read::replay) shown: Vec<TraceId>,
    /// Its texts, unless they were purged.
    pub(in crate::read::replay) texts: Option<UnitBody>,
    end: Option<End>,
}

impl Reader<'_> {
    /// The event at a place.
    pub(in crate::read::replay) fn event(
        &self,
        place: EventAddress,
    ) -> Result<Option<StoryEvent>, EngineError> {
        let Some(commit) = self.engine.read(self.field, place.position, 1)?.pop() else {
            return Ok(None);
        };
        let header = commit.decode_header::<Event>()?;
        let at = usize::try_from(place.index).unwrap_or(usize::MAX);
        Ok(header.events.into_iter().nth(at).map(|mut sealed| {
            self.trace.hidden.redact(&mut sealed.event);
            StoryEvent {
                epoch: header.epoch,
                actor: header.actor,
                session: header.session,
                event: sealed.event,
                commit,
                index: place.index,
            }
        }))
    }

    /// A unit of the story.
    pub(in crate::read::replay) fn unit(
        &self,
        unit: UnitId,
    ) -> Result<Option<StoryUnit>, EngineError> {
        let Some(place) = self.places.units.get(&unit) else { return Ok(None) };
        let Some(found) = self.event(*place)? else { return Ok(None) };
        self.story_unit(found)
    }

    /// The unit that an event recorded.
    pub(in crate::read::replay) fn story_unit(
        &self,
        found: StoryEvent,
    ) -> Result<Option<StoryUnit>, EngineError> {
        let texts = found.texts::<UnitBody>()?;
        let Event::UnitRecorded { unit, memory_type, task, score, relations, shown, .. } =
            found.event
        else {
            return Ok(None);
        };
        let descriptions = texts.as_ref().map(|texts| texts.descriptions.as_slice());
        let mut grounds: Vec<Ground> = Vec::new();
        let mut unknown = 0;
        for (number, link) in relations.iter().enumerate() {
            let target = UnitId::parse(&link.target);
            let Some(target) = target.filter(|id| self.places.units.contains_key(id)) else {
                unknown += 1;
                continue;
            };
            let description = descriptions.and_then(|all| all.get(number).cloned()).flatten();
            grounds.push(Ground { kind: link.kind, unit: target, description });
        }
        grounds.sort_by_key(|ground| super::phrases::lightness(ground.kind));
        Ok(Some(StoryUnit {
            kind: memory_type,
            author: found.actor,
            epoch: found.epoch,
            task,
            score,
            grounds,
            unknown,
            shown,
            texts,
            end: self.places.ends.get(&unit).copied(),
        }))
    }
}

impl StoryEvent {
    /// The texts beside it, unless there are none or they were purged.
    pub(in crate::read::replay) fn texts<T: DeserializeOwned>(
        &self,
    ) -> Result<Option<T>, EngineError> {
        let body = self.commit.body(self.index);
        Ok(body.map(|body| decode_body(self.commit.position, &body.json)).transpose()?)
    }

    /// What the unit says that was recorded with it, if the caller may know of it.
    pub(in crate::read::replay) fn recorded_with(
        &self,
        hidden: &Hidden,
    ) -> Result<Option<String>, EngineError> {
        let header = self.commit.decode_header::<Event>()?;
        let recorded = (0u32..).zip(&header.events);
        let is_told = |event: &Event| matches!(event, Event::UnitRecorded { unit, .. } if !hidden.units.contains(unit));
        let mut recorded = recorded.filter(|(_, sealed)| is_told(&sealed.event));
        let body = recorded.next().and_then(|(index, _)| self.commit.body(index));
        let texts: Option<UnitBody> =
            body.map(|body| decode_body(self.commit.position, &body.json)).transpose()?;
        Ok(texts.map(|texts| texts.content))
    }
}

impl StoryUnit {
    /// Whose it is and what it says.
    pub(in crate::read::replay) fn named(&self) -> String {
        self.with_text(BRIEF_CHARS, &self.became())
    }

    /// The same, for who read it before.
    pub(in crate::read::replay) fn recalled(&self) -> String {
        self.with_text(NAME_CHARS, "")
    }

    /// What it says, as in a sentence about somebody who says it.
    pub(in crate::read::replay) fn content(&self) -> String {
        self.texts.as_ref().map_or_else(
            || "something whose text was purged".to_owned(),
            |texts| quoted(&texts.content, BRIEF_CHARS),
        )
    }

    fn with_text(&self, chars: usize, became: &str) -> String {
        let (author, kind) = (&self.author, plain(self.kind.as_str()));
        match &self.texts {
            Some(texts) => {
                format!("{author}'s {kind} {}{became}", quoted(&texts.content, chars))
            }
            None => format!("{author}'s {kind} whose text was purged{became}"),
        }
    }

    /// What became of it since.
    fn became(&self) -> String {
        match self.end {
            Some(End::Withdrawn(epoch)) => format!(" (withdrawn at epoch {epoch})"),
            Some(End::Replaced(epoch)) => format!(" (replaced at epoch {epoch})"),
            Some(End::Stands) | None => String::new(),
        }
    }

    /// Why its author held it to be so.
    pub(in crate::read::replay) fn reason(&self) -> Option<String> {
        let texts = self.texts.as_ref()?;
        let reasoning = texts.reasoning.as_deref().filter(|text| !text.trim().is_empty());
        reasoning.map(|reasoning| brief(reasoning, BRIEF_CHARS))
    }

    /// The same as it follows the name of the unit, or else what it was for.
    pub(in crate::read::replay) fn because(&self) -> String {
        if let Some(reason) = self.reason() {
            return format!(", because: {reason}");
        }
        let purpose = self.texts.as_ref().map(|texts| texts.purpose.trim());
        let purpose = purpose.filter(|purpose| !purpose.is_empty());
        purpose.map(|text| format!(", for: {}", brief(text, BRIEF_CHARS))).unwrap_or_default()
    }
}
