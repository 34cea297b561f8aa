//! Decides which units are summarized together: those of one session and one task, else those of one
//! session and one topic. Never across sessions, nor of units that different readers see, so that no summary says what its
//! readers could not see; nor of units that were recorded with different authority.

use std::collections::BTreeMap;

use quipu_recall::{Analyzed, analyze};

use super::write::Source;
use crate::base::limits::SYNTHESIS_SOURCES_MAX;
use quipu_core::{event::UnitBody, rules::compact::Likeness};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    Task,
    Topic,
    /// Nothing but the session: each was alone with its topic.
    Rest,
}

/// Units that are summarized together, as places in the list of sources.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) bond: Bond,
    pub(super) members: Vec<usize>,
}

pub(super) fn groups(sources: &[(Source, Option<UnitBody>)]) -> Vec<Group> {
    type Key<'a> = (Option<&'a str>, Option<&'a str>, &'a Likeness);
    let mut by_place: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    for (at, (source, _)) in sources.iter().enumerate() {
        let place = (source.session.as_deref(), source.task.as_deref(), &source.likeness);
        by_place.entry(place).or_default().push(at);
    }
    let mut groups = Vec::new();
    for ((_, task, _), members) in by_place {
        if task.is_some() {
            push(&mut groups, Bond::Task, &members);
        } else {
            by_topic(&mut groups, sources, &members);
        }
    }
    groups.sort_by_key(|group| group.members.first().copied());
    groups
}

fn by_topic(groups: &mut Vec<Group>, sources: &[(Source, Option<UnitBody>)], members: &[usize]) {
    let text = |at: &usize| match sources.get(*at) {
        Some((_, Some(body))) => analyze(&body.content),
        Some((_, None)) | None => Analyzed::default(),
    };
    let texts: Vec<Analyzed> = members.iter().map(text).collect();
    let mut alone = Vec::new();
    for topic in super::topics::topics(&texts) {
        let topic: Vec<usize> = topic.iter().filter_map(|at| members.get(*at).copied()).collect();
        if topic.len() > 1 {
            push(groups, Bond::Topic, &topic);
        } else {
            alone.extend(topic);
        }
    }
    push(groups, Bond::Rest, &alone);
}

fn push(groups: &mut Vec<Group>, bond: Bond, members: &[usize]) {
    let parts = members.chunks(SYNTHESIS_SOURCES_MAX);
    groups.extend(parts.map(|part| Group { bond, members: part.to_vec() }));
}
