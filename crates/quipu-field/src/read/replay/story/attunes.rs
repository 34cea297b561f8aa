//! What the author of something had been shown before it, and which of that it used.

use quipu_log::EngineError;

use super::{
    grounds::Said,
    page::{Page, Part},
    phrases::{BRIEF_CHARS, counted, quoted},
    reader::{Reader, StoryUnit},
};
use quipu_core::{Event, event::HintBody};

/// ATTUNEs that are told, the last ones before, and units of each.
const TRACES_MAX: usize = 2;
const UNITS_MAX: usize = 4;

pub(super) fn explain_attunes(
    reader: &Reader<'_>,
    page: &mut Page,
    said: &Said,
    unit: &StoryUnit,
) -> Result<(), EngineError> {
    let first = unit.shown.len().saturating_sub(TRACES_MAX);
    for trace in unit.shown.iter().skip(first) {
        let Some(place) = reader.places.traces.get(trace) else { continue };
        let Some(found) = reader.event(*place)? else { continue };
        let hint: Option<HintBody> = found.texts()?;
        let Event::AttuneTraced { hinted, units, .. } = &found.event else { continue };
        let asked = match hint {
            Some(hint) => format!(" for {}", quoted(&hint.hint, BRIEF_CHARS)),
            None if *hinted => " for something that was purged".to_owned(),
            None => String::new(),
        };
        // What it then used comes first.
        let mut chosen: Vec<_> = units.iter().map(|shown| shown.unit).collect();
        chosen.sort_by_key(|unit| !said.units.contains(unit));
        let mut names = Vec::new();
        for shown in chosen.iter().take(UNITS_MAX) {
            let Some(told) = reader.unit(*shown)? else { continue };
            let used = if said.units.contains(shown) { " (used)" } else { "" };
            names.push(format!("{}{used}", told.recalled()));
        }
        let more = units.len().saturating_sub(names.len());
        if more > 0 {
            let more = u64::try_from(more).unwrap_or(u64::MAX);
            names.push(if names.is_empty() {
                counted(more, "unit", "units")
            } else {
                format!("{more} more")
            });
        }
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let (author, epoch) = (&found.actor, found.epoch);
        page.say(
            Part::Shown,
            &format!("{author} had been shown{asked}, at epoch {epoch}: {names}"),
        );
    }
    Ok(())
}
