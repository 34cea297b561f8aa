//! What became of the unit that is replayed.

use quipu_log::EngineError;
use quipu_wire::akashik::{CompactStrategy, RelationType};

use super::{
    super::places::EventAddress,
    grounds::Said,
    page::{Page, Part},
    phrases::{BRIEF_CHARS, brief},
    reader::{Reader, StoryEvent},
};
use quipu_core::{Event, UnitId, event::RetractionBody};

/// How much of it is told, the newest.
const SENTENCES_MAX: usize = 3;

pub(super) fn explain_end(
    reader: &Reader<'_>,
    page: &mut Page,
    said: &mut Said,
    target: UnitId,
) -> Result<(), EngineError> {
    for place in reader.places.after.iter().take(SENTENCES_MAX).rev() {
        if let Some(sentence) = sentence(reader, said, target, *place)? {
            page.say(Part::After, &sentence);
        }
    }
    Ok(())
}

fn sentence(
    reader: &Reader<'_>,
    said: &mut Said,
    target: UnitId,
    place: EventAddress,
) -> Result<Option<String>, EngineError> {
    let Some(found) = reader.event(place)? else { return Ok(None) };
    let (actor, epoch) = (found.actor.clone(), found.epoch);
    if let Event::UnitRecorded { unit, .. } = &found.event {
        let unit = *unit;
        let Some(newer) = reader.story_unit(found)? else { return Ok(None) };
        said.add(unit);
        let own = |kind, unit| kind == RelationType::Supersedes && unit == target;
        let ground = newer.grounds.iter().find(|ground| own(ground.kind, ground.unit));
        let described = ground.and_then(|ground| ground.description.as_deref());
        let described = described.map(|text| format!(" ({})", brief(text, BRIEF_CHARS)));
        let described = described.unwrap_or_default();
        let (name, because) = (newer.named(), newer.because());
        return Ok(Some(format!(
            "Later replaced, at epoch {epoch}, by {name}{described}{because}"
        )));
    }
    let (what, why) = if let Event::UnitsArchived { strategy, reason, .. } = &found.event {
        let what = match strategy {
            CompactStrategy::Summarize => "summarized and archived",
            CompactStrategy::Archive | CompactStrategy::Purge => "archived",
        };
        (what, reason.clone())
    } else if let Event::UnitsPurged { reason, .. } = &found.event {
        ("purged", Some(reason.clone()))
    } else if let Event::UnitRetracted { .. } = &found.event {
        ("withdrawn", purpose(&found)?)
    } else if let Event::UnitRestored { .. } = &found.event {
        ("brought back", purpose(&found)?)
    } else {
        return Ok(None);
    };
    let why = why.filter(|why| !why.trim().is_empty());
    let why = why.map(|why| format!(", because: {}", brief(&why, BRIEF_CHARS))).unwrap_or_default();
    Ok(Some(format!("Later {what} by {actor} at epoch {epoch}{why}")))
}

fn purpose(found: &StoryEvent) -> Result<Option<String>, EngineError> {
    Ok(found.texts::<RetractionBody>()?.map(|body| body.purpose))
}
