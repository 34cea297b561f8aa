//! What a summarize is written from: the units that it takes, those behind the summaries of before, and their texts.

use std::collections::BTreeSet;

use quipu_core::{
    State, UnitId,
    event::{Event, UnitBody},
    outline::Texts,
    rules::{
        compact::{CompactCommand, Likeness},
        folding::originals,
    },
};
use quipu_log::{Engine, EngineError, FieldName, Header, StoredHeader};
use quipu_wire::akashik::{CompactStrategy, MemoryType, RelationType, UnitStatus};

use super::memo::Memo;
use crate::read::bodies::Bodies;

/// A unit to be summarized, as far as the state knows it.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(super) ordinal: u32,
    pub(super) id: UnitId,
    pub(super) author: String,
    pub(super) memory_type: MemoryType,
    pub(super) status: UnitStatus,
    pub(super) time_ms: u64,
    pub(super) score: Option<f64>,
    pub(super) likeness: Likeness,
    pub(super) session: Option<String>,
    pub(super) task: Option<String>,
    /// Whether it is out of sight already, because a summary of before stands for it.
    pub(super) archived: bool,
    /// The units that it answers.
    pub(super) answers: BTreeSet<u32>,
    position: u64,
    event: u32,
}

/// A summary of before.
#[derive(Debug, Clone)]
pub(crate) struct Earlier {
    pub(super) ordinal: u32,
    /// What it stands for, of what there is to write from.
    pub(super) originals: BTreeSet<u32>,
    position: u64,
    event: u32,
}

/// All that a summarize is written from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Material {
    /// The units as they were recorded, oldest first.
    sources: Vec<Source>,
    earlier: Vec<Earlier>,
}

/// A unit and its text, as far as that is not erased.
pub(super) type SourceText = (Source, Option<UnitBody>);

/// The same with the texts.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) sources: Vec<SourceText>,
    /// The summaries of before, and how many characters each has.
    pub(super) earlier: Vec<(Earlier, usize)>,
}

impl Material {
    /// Takes what the state knows of what was selected, so that the view can be let go of.
    pub(crate) fn of(state: &State, command: &CompactCommand, selected: &[u32]) -> Self {
        let known = command.earlier();
        let chosen: BTreeSet<u32> = selected.iter().copied().collect();
        let mut units: BTreeSet<u32> = chosen.difference(known).copied().collect();
        let mut earlier = Vec::new();
        for &ordinal in chosen.intersection(known) {
            let mut of = originals(state, ordinal, known);
            // What came back since and is not selected stays where it is.
            let is_there = |unit: &u32| state.units.flags(*unit).is_some_and(|it| it.archived);
            of.retain(|unit| is_there(unit) || chosen.contains(unit));
            units.extend(&of);
            let Some(details) = state.units.details(ordinal) else { continue };
            let (position, event) = (details.position, details.event);
            earlier.push(Earlier { ordinal, originals: of, position, event });
        }
        let sources = units.iter().filter_map(|unit| source(state, *unit)).collect();
        Self { sources, earlier }
    }

    pub(super) fn read(self, bodies: &Bodies) -> Result<Read, EngineError> {
        let sources = self.sources.into_iter().map(|source| {
            let body = bodies.load::<UnitBody>(source.position, source.event)?;
            Ok((source, body))
        });
        let earlier = self.earlier.into_iter().map(|summary| {
            let body = bodies.load::<UnitBody>(summary.position, summary.event)?;
            Ok((summary, body.map_or(0, |body| body.content.chars().count())))
        });
        Ok(Read {
            sources: sources.collect::<Result<_, EngineError>>()?,
            earlier: earlier.collect::<Result<_, EngineError>>()?,
        })
    }
}

fn source(state: &State, ordinal: u32) -> Option<Source> {
    let text = |name| state.names.text(name).to_owned();
    let (flags, details) = (state.units.flags(ordinal)?, state.units.details(ordinal)?);
    Some(Source {
        ordinal,
        id: details.id,
        author: text(flags.author),
        memory_type: flags.memory_type,
        status: flags.status,
        time_ms: details.time_ms,
        score: details.score,
        position: details.position,
        event: details.event,
        likeness: Likeness::of(state, ordinal),
        session: details.session.map(text),
        task: details.task.map(text),
        archived: flags.archived,
        answers: details.linked(RelationType::Answers),
    })
}

/// The positions of some units, by which the log is asked who wrote them.
pub(crate) fn positions(state: &State, units: &BTreeSet<u32>) -> Vec<(u32, u64)> {
    units.iter().filter_map(|unit| Some((*unit, state.units.details(*unit)?.position))).collect()
}

/// Those of some units that a COMPACT wrote, as the log says.
pub(crate) fn written_by_compact(
    engine: &dyn Engine,
    field: &FieldName,
    units: &[(u32, u64)],
    memo: &Memo,
) -> Result<BTreeSet<u32>, EngineError> {
    let mut found = BTreeSet::new();
    for (unit, position) in units {
        let is_compact = match memo.is_summarize(*position) {
            Some(known) => known,
            None => {
                let read = engine.read_headers(field, *position, 1)?;
                let header = read.iter().find(|it| it.position == *position);
                let header = header.map(StoredHeader::decode::<Event>);
                let is_compact = header.transpose()?.is_some_and(|it| is_summarize(&it));
                memo.note_summarize(*position, is_compact);
                is_compact
            }
        };
        if is_compact {
            found.insert(*unit);
        }
    }
    Ok(found)
}

fn is_summarize(header: &Header<Event>) -> bool {
    header.events.iter().any(|sealed| {
        matches!(sealed.event, Event::UnitsArchived { strategy: CompactStrategy::Summarize, .. })
    })
}
