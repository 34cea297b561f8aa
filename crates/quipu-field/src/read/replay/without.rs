//! What somebody would have been given, had some units not been there: the ATTUNE of that moment again, over a view from which
//! they are taken out, and what of a unit's direct causes falls away. No model is asked what would have come of it.

use std::collections::BTreeSet;

use quipu_log::{Engine, EngineError, FieldName};
use quipu_wire::akashik::{
    AttunePayload, Format, MemoryUnit, Relation, RelationType, ReplayAttune, ReplayWithout, Scope,
    ShownUnit, UnitStatus,
};

use super::{
    chain::{Chain, Trace},
    places::EventAddress,
    story::{NAME_CHARS, Reader, StoryUnit, quoted},
};
use crate::read::{
    attune::{
        answer::{attune, glance},
        rank::RankingOptions,
    },
    bodies::Bodies,
    view::Published,
};
use quipu_core::{
    Event, Sight, State, UnitId,
    event::{HintBody, ReturnedUnit, UnitBody},
    state::LinkTarget,
};

/// ATTUNEs before a unit that are made again, the last ones.
const MOMENTS_MAX: usize = 3;
/// Units that are asked for where nobody noted how many there were.
const UNITS_MAX: usize = 10;
/// Causes that are looked through for what rests on what is taken out.
const SEARCHED_CAUSES_MAX: usize = 64;
/// Units that are named in one sentence.
const NAMED_MAX: usize = 5;

/// What is computed again: one ATTUNE, or where none was traced the one that its author would have made.
#[derive(Debug)]
pub(crate) struct Moment {
    /// The last commit that it saw, unless it looked at an epoch of the past.
    pub(crate) position: u64,
    pub(crate) as_of: Option<u64>,
    pub(crate) author: String,
    pub(crate) session: Option<String>,
    trace_id: Option<String>,
    role: Option<String>,
    hint: Option<String>,
    /// What was shown then, where that was noted.
    shown: Option<Vec<ReturnedUnit>>,
}

/// A question what would have been, as far as the log answers it.
#[derive(Debug)]
pub(crate) struct WithoutPlan {
    pub(crate) units: BTreeSet<UnitId>,
    pub(crate) moments: Vec<Moment>,
    answer: ReplayWithout,
}

/// Prepares the answer to what would have been without some units: those that the caller may know of, and the others.
pub(crate) fn plan(
    engine: &dyn Engine,
    field: &FieldName,
    trace: &Trace<'_>,
    chain: &Chain,
    (asked, unknown): &(BTreeSet<UnitId>, Vec<String>),
) -> Result<Option<WithoutPlan>, EngineError> {
    let reader = Reader { engine, field, trace, places: &chain.places };
    let (Some(target), Some(origin)) = (trace.target.unit(), chain.origin.as_ref()) else {
        return Ok(None);
    };
    let Some(unit) = reader.unit(target)? else { return Ok(None) };
    let is_out = |id: &UnitId| asked.contains(id);
    let (mut lost, mut left, mut shaken) = (Vec::new(), Vec::new(), Vec::new());
    let mut looked = 0;
    for ground in &unit.grounds {
        let relation = Relation {
            kind: ground.kind,
            target_id: ground.unit.to_string(),
            description: ground.description.clone(),
        };
        if is_out(&ground.unit) {
            lost.push(relation);
            continue;
        }
        left.push(relation);
        if rests_on(&reader, ground.unit, asked, &mut looked)? {
            shaken.push(ground.unit.to_string());
        }
    }
    let mut moments = traced(&reader, &unit)?;
    if moments.is_empty() {
        moments.push(supposed(&reader, origin.place(), &unit)?);
    }
    let answer = ReplayWithout {
        units: asked.iter().map(ToString::to_string).collect(),
        unknown: unknown.clone(),
        attunes: Vec::new(),
        causes_lost: lost,
        causes_left: left,
        causes_shaken: shaken,
        summary: String::new(),
        cannot_know: Vec::new(),
    };
    Ok(Some(WithoutPlan { units: asked.clone(), moments, answer }))
}

/// Whether a unit depends on one of those that are taken out, or was caused by it, over as many steps as it takes.
fn rests_on(
    reader: &Reader<'_>,
    unit: UnitId,
    out: &BTreeSet<UnitId>,
    looked: &mut usize,
) -> Result<bool, EngineError> {
    let mut seen = BTreeSet::from([unit]);
    let mut waiting = vec![unit];
    while let Some(unit) = waiting.pop() {
        if *looked >= SEARCHED_CAUSES_MAX {
            break;
        }
        *looked += 1;
        let Some(told) = reader.unit(unit)? else { continue };
        for ground in told.grounds {
            if !matches!(ground.kind, RelationType::DependsOn | RelationType::CausedBy) {
                continue;
            }
            if out.contains(&ground.unit) {
                return Ok(true);
            }
            if seen.insert(ground.unit) {
                waiting.push(ground.unit);
            }
        }
    }
    Ok(false)
}

/// The ATTUNEs that its author had made before.
fn traced(reader: &Reader<'_>, unit: &StoryUnit) -> Result<Vec<Moment>, EngineError> {
    let mut moments = Vec::new();
    let first = unit.shown.len().saturating_sub(MOMENTS_MAX);
    for trace in unit.shown.iter().skip(first) {
        let Some(place) = reader.places.traces.get(trace) else { continue };
        let Some(found) = reader.event(*place)? else { continue };
        let hint: Option<HintBody> = found.texts()?;
        let Event::AttuneTraced { role, as_of, units, .. } = found.event else { continue };
        moments.push(Moment {
            position: place.position.saturating_sub(1),
            as_of,
            author: found.actor,
            session: found.session,
            trace_id: Some(trace.to_string()),
            role: Some(role),
            hint: hint.map(|hint| hint.hint),
            shown: Some(units),
        });
    }
    Ok(moments)
}

/// The ATTUNE that fits what its author said that it was about to do.
fn supposed(
    reader: &Reader<'_>,
    place: EventAddress,
    unit: &StoryUnit,
) -> Result<Moment, EngineError> {
    let found = reader.event(place)?;
    let hint = unit.texts.as_ref().map(|UnitBody { purpose, question, .. }| {
        question.as_ref().map_or_else(|| purpose.clone(), |asked| format!("{purpose} {asked}"))
    });
    Ok(Moment {
        position: place.position.saturating_sub(1),
        as_of: None,
        author: unit.author.clone(),
        session: found.and_then(|found| found.session),
        trace_id: None,
        role: None,
        hint,
        shown: None,
    })
}

/// What an author is given from a view, with and without the units, as far as the caller may see it today.
pub(crate) fn attune_again<'s>(
    view: &'s Published,
    sees: impl Fn() -> Sight<'s>,
    moment: &Moment,
    out: &BTreeSet<UnitId>,
    (bodies, options): (&Bodies, &RankingOptions),
) -> Result<ReplayAttune, EngineError> {
    let with = given(view, &view.state, &sees(), moment, bodies, options)?;
    let seen_today = sees();
    let hidden = (0..view.state.units.next_ordinal()).filter(|unit| !seen_today.sees(*unit));
    let without = taken_out(view, out, hidden.collect());
    let would_be = {
        let then = Sight::of(&without.state, &moment.author, moment.session.as_deref());
        given(&without, &without.state, &then, moment, bodies, options)?
    };
    let was = moment.shown.as_ref().map_or_else(
        || with.clone(),
        |shown| {
            let shown = shown.iter().map(|shown| ShownUnit {
                memory_unit_id: shown.unit.to_string(),
                relevance_score: shown.score,
            });
            shown.collect()
        },
    );
    Ok(ReplayAttune {
        trace_id: moment.trace_id.clone(),
        epoch: view.head.epoch,
        context_hint: moment.hint.clone(),
        again_the_same: ids(&was) == ids(&with),
        shown: was,
        would_be,
    })
}

fn ids(units: &[ShownUnit]) -> BTreeSet<&str> {
    units.iter().map(|unit| unit.memory_unit_id.as_str()).collect()
}

fn given<'s>(
    view: &Published,
    state: &'s State,
    sight: &Sight<'s>,
    moment: &Moment,
    bodies: &Bodies,
    options: &RankingOptions,
) -> Result<Vec<ShownUnit>, EngineError> {
    let Some(entry) = state.agents.get(&moment.author) else { return Ok(Vec::new()) };
    let role = moment.role.as_deref().unwrap_or(&entry.role);
    let most = moment.shown.as_ref().map_or(UNITS_MAX, |shown| shown.len().max(1));
    let payload = attune_request(role.to_owned(), most, moment.hint.clone());
    let glance = glance(view, entry, sight, &payload, options, None, view.head.epoch);
    let answer = attune(glance, bodies, &payload, options)?;
    let shown = answer.record.into_iter().map(|ranked| ShownUnit {
        memory_unit_id: ranked.memory_unit.id().to_owned(),
        relevance_score: ranked.relevance_score,
    });
    Ok(shown.collect())
}

/// An ATTUNE as it is asked where nothing is said but a role and a hint.
fn attune_request(role: String, max_units: usize, context_hint: Option<String>) -> AttunePayload {
    let scope = Scope::new(role, max_units);
    AttunePayload { scope, context_hint, format: Format::IdsOnly, since_epoch: None }
}

/// A view as if some units had never been there: they match nothing, count for nothing, and replace nothing. What is hidden from
/// the caller takes no place in it either, or the places that are left would tell how much there is; what it replaced stays so.
fn taken_out(view: &Published, out: &BTreeSet<UnitId>, mut hidden: BTreeSet<u32>) -> Published {
    let mut without = view.clone();
    let state = &mut without.state;
    let out: BTreeSet<u32> = out.iter().filter_map(|id| state.units.find(*id)).collect();
    let mut replaced = BTreeSet::new();
    for ordinal in &out {
        let links = state.units.details(*ordinal).map(|unit| unit.links.clone());
        for link in links.iter().flatten() {
            if let (RelationType::Supersedes, LinkTarget::Unit(older)) = (link.kind, link.target) {
                replaced.insert(older);
            }
        }
    }
    for older in replaced.difference(&out) {
        let others = state.units.superseders(*older).iter().any(|newer| !out.contains(newer));
        let is_superseded =
            state.units.flags(*older).is_some_and(|unit| unit.status == UnitStatus::Superseded);
        if is_superseded && !others {
            state.units.change(*older, |unit| unit.status = UnitStatus::Active);
        }
    }
    hidden.extend(&out);
    for ordinal in &hidden {
        state.units.change(*ordinal, |unit| unit.status = UnitStatus::Retracted);
    }
    without.index.forget(&hidden);
    without
}

impl WithoutPlan {
    /// The answer, with what the ATTUNEs would have given. `content` names a unit by what it says.
    pub(crate) fn finish(
        &self,
        attunes: Vec<ReplayAttune>,
        content: impl Fn(&str) -> Result<String, EngineError>,
    ) -> Result<ReplayWithout, EngineError> {
        let mut answer = self.answer.clone();
        let names = |ids: &mut dyn Iterator<Item = &str>| -> Result<String, EngineError> {
            let all: Vec<&str> = ids.collect();
            let mut names: Vec<String> =
                all.iter().take(NAMED_MAX).map(|id| content(id)).collect::<Result<_, _>>()?;
            let more = all.len().saturating_sub(NAMED_MAX);
            names.extend((more > 0).then(|| format!("{more} more")));
            Ok(names.join(", "))
        };
        let targets = |relations: &[Relation]| -> Vec<String> {
            relations.iter().map(|relation| relation.target_id.clone()).collect()
        };
        let mut said = Vec::new();
        for attune in &attunes {
            let (was, would_be) = (ids(&attune.shown), ids(&attune.would_be));
            let lost = names(&mut was.difference(&would_be).copied())?;
            let gained = names(&mut would_be.difference(&was).copied())?;
            said.push(match (lost.as_str(), gained.as_str()) {
                ("", "") => "Its author would have been given the same.".to_owned(),
                (lost, "") => {
                    format!("Its author would not have been given {lost}, and nothing instead.")
                }
                ("", gained) => format!("Its author would have been given {gained} besides."),
                (lost, gained) => {
                    format!("Its author would not have been given {lost}, but {gained} instead.")
                }
            });
        }
        let (lost, left) = (targets(&answer.causes_lost), targets(&answer.causes_left));
        for (ids, one) in [
            (&lost, "Of what it rests on directly falls away"),
            (&left, "Of that remains"),
            (&answer.causes_shaken, "Of what remains, this rests itself on what is taken out"),
        ] {
            if !ids.is_empty() {
                said.push(format!("{one}: {}.", names(&mut ids.iter().map(String::as_str))?));
            }
        }
        if lost.is_empty() {
            said.push("Nothing that it rests on directly falls away.".to_owned());
        }
        answer.cannot_know = cannot_know(&self.moments, &attunes);
        answer.summary = said.join(" ");
        answer.attunes = attunes;
        Ok(answer)
    }
}

/// A unit by whose it is and what it says.
pub(crate) fn called(unit: &MemoryUnit) -> String {
    let kind = unit.kind.as_str().replace('_', " ");
    format!("{}'s {kind} {}", unit.source.agent_id, quoted(&unit.content, NAME_CHARS))
}

/// What no log can tell of what would have been.
fn cannot_know(moments: &[Moment], attunes: &[ReplayAttune]) -> Vec<String> {
    let mut unknown = vec![
        "What its author would have concluded from this: nobody was asked, and no model."
            .to_owned(),
        "What others would have recorded, had these units not been there.".to_owned(),
        "What its author knew from elsewhere.".to_owned(),
    ];
    if moments.iter().any(|moment| moment.trace_id.is_none()) {
        unknown.push(
            "What its author had really been shown: it was not traced. This is an ATTUNE of that moment for the purpose \
             that it gave."
                .to_owned(),
        );
    }
    if attunes.iter().any(|attune| !attune.again_the_same) {
        unknown.push(
            "With what scope it had asked, or what was hidden since: asked again with all units, ATTUNE does not give exactly what \
             it gave, so some of the difference may not come from these units."
                .to_owned(),
        );
    }
    unknown
}
