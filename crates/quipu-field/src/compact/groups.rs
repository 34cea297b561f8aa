//! Decides which units are summarized together: those of one session and one task, else those of one
//! session and one topic; what is alone joins its nearest. Never across sessions, nor of units that different readers see, so that no
//! summary says what its readers could not see; nor of units that were recorded with different authority.
//! The same units give the same groups, whatever stands for some of them already: that is why a second summarize finds
//! nothing to do.

use std::collections::{BTreeMap, BTreeSet};

use quipu_recall::{Analyzed, analyze};

use super::sources::SourceText;
use crate::base::limits::{SYNTHESIS_GROUP_CHARS, SYNTHESIS_SOURCES_MAX};
use quipu_core::rules::compact::Likeness;

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

pub(super) fn groups(sources: &[SourceText]) -> Vec<Group> {
    type Key<'a> = (Option<&'a str>, &'a Likeness);
    let mut by_place: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    for (at, (source, _)) in sources.iter().enumerate() {
        by_place.entry((source.session.as_deref(), &source.likeness)).or_default().push(at);
    }
    let mut groups = Vec::new();
    for members in by_place.into_values() {
        of_place(&mut groups, sources, &members);
    }
    groups.sort_by_key(|group| group.members.first().copied());
    groups
}

/// The groups of one session and one circle of readers.
fn of_place(groups: &mut Vec<Group>, sources: &[SourceText], members: &[usize]) {
    let mut by_task: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut loose = Vec::new();
    for &at in members {
        match sources.get(at).and_then(|(source, _)| source.task.as_deref()) {
            Some(task) => by_task.entry(task).or_default().push(at),
            None => loose.push(at),
        }
    }
    let alone = by_task.extract_if(.., |_, units| units.len() == 1).flat_map(|(_, units)| units);
    loose.extend(alone);
    loose.sort_unstable();
    for units in by_task.values() {
        push(groups, Bond::Task, units);
    }
    by_topic(groups, sources, &loose);
}

fn by_topic(groups: &mut Vec<Group>, sources: &[SourceText], members: &[usize]) {
    let content = |at: usize| match sources.get(at) {
        Some((_, Some(body))) => body.content.as_str(),
        Some((_, None)) | None => "",
    };
    let texts: Vec<Analyzed> = members.iter().map(|at| analyze(content(*at))).collect();
    let chars: Vec<usize> = members.iter().map(|at| content(*at).chars().count()).collect();
    let is_large = |topic: &[usize]| {
        let all: usize = topic.iter().filter_map(|at| chars.get(*at)).sum();
        topic.len() > 1 && all >= SYNTHESIS_GROUP_CHARS
    };
    let (mut large, small): (Vec<_>, Vec<_>) =
        super::topics::topics(&texts).into_iter().partition(|topic| is_large(topic));
    let small: Vec<usize> = small.into_iter().flatten().collect();
    let rest = join_nearest(&mut large, &texts, small);
    for (topics, bond) in [(large, Bond::Topic), (vec![rest], Bond::Rest)] {
        for mut topic in topics {
            topic.sort_unstable();
            let topic: Vec<usize> =
                topic.iter().filter_map(|at| members.get(*at).copied()).collect();
            push(groups, bond, &topic);
        }
    }
}

/// Puts each of some texts to the topic that it shares most words with, the nearest in time where it shares as many with
/// several. Answers them all where there is no topic to join.
fn join_nearest(topics: &mut [Vec<usize>], texts: &[Analyzed], alone: Vec<usize>) -> Vec<usize> {
    if topics.is_empty() {
        return alone;
    }
    let mut by_word: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (topic, members) in topics.iter().enumerate() {
        for (word, _) in members.iter().filter_map(|at| texts.get(*at)).flat_map(Analyzed::terms) {
            by_word.entry(word).or_default().insert(topic);
        }
    }
    let firsts: Vec<usize> =
        topics.iter().map(|topic| topic.first().copied().unwrap_or(0)).collect();
    for at in alone {
        let Some(text) = texts.get(at) else { continue };
        let mut shared = vec![0_usize; firsts.len()];
        for topic in text.terms().filter_map(|(word, _)| by_word.get(word)).flatten() {
            if let Some(count) = shared.get_mut(*topic) {
                *count += 1;
            }
        }
        let apart = firsts.iter().map(|first| std::cmp::Reverse(first.abs_diff(at)));
        let nearest = shared.into_iter().zip(apart).enumerate().max_by_key(|(_, near)| *near);
        if let Some(topic) = nearest.and_then(|(nearest, _)| topics.get_mut(nearest)) {
            topic.push(at);
        }
    }
    Vec::new()
}

/// Adds a group, in parts where it is too large for one; no part has one unit alone.
fn push(groups: &mut Vec<Group>, bond: Bond, members: &[usize]) {
    let mut rest = members;
    while rest.len() > 1 {
        let most = SYNTHESIS_SOURCES_MAX;
        let size = if rest.len() == most + 1 { most - 1 } else { rest.len().min(most) };
        let (part, behind) = rest.split_at(size);
        groups.push(Group { bond, members: part.to_vec() });
        rest = behind;
    }
}
