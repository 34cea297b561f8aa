//! Which groups are written. A group that a summary of before stands for already stays as it is, and so does one that would not
//! be shorter. A summary of before goes where all that it stands for is written anew.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    brief::{Member, chars, in_brief},
    groups::Group,
    sources::{Earlier, Read},
};

/// A group with its text, and the summaries of before in whose place it comes.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) group: Group,
    pub(super) text: String,
    pub(super) replaces: Vec<u32>,
}

/// Groups that stand or fall together, because the same summary of before stands for some of each, and those summaries.
#[derive(Debug, Default)]
struct Cluster {
    groups: Vec<Group>,
    earlier: Vec<usize>,
}

pub(super) fn plan(groups: Vec<Group>, read: &Read) -> Vec<Planned> {
    let mut planned = Vec::new();
    for cluster in clusters(groups, read) {
        if !is_done(&cluster, read) {
            planned.extend(written(cluster, read));
        }
    }
    planned
}

pub(super) fn members<'a>(group: &Group, read: &'a Read) -> Vec<Member<'a>> {
    group.members.iter().filter_map(|at| read.sources.get(*at)).collect()
}

fn ordinals(group: &Group, read: &Read) -> BTreeSet<u32> {
    members(group, read).iter().map(|(source, _)| source.ordinal).collect()
}

/// Puts together the groups that share a summary of before.
fn clusters(groups: Vec<Group>, read: &Read) -> Vec<Cluster> {
    let mut group_of: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        group_of.extend(ordinals(group, read).into_iter().map(|unit| (unit, at)));
    }
    // The least group of each that belong together.
    let mut least: Vec<usize> = (0..groups.len()).collect();
    let mut touched = Vec::new();
    for (at, (summary, _)) in read.earlier.iter().enumerate() {
        let of: BTreeSet<usize> =
            summary.originals.iter().filter_map(|unit| group_of.get(unit).copied()).collect();
        let leasts: BTreeSet<usize> = of.iter().filter_map(|at| least.get(*at).copied()).collect();
        let Some(&first) = leasts.first() else { continue };
        for entry in least.iter_mut().filter(|entry| leasts.contains(entry)) {
            *entry = first;
        }
        let is_covered = summary.originals.iter().all(|unit| group_of.contains_key(unit));
        touched.push((at, of.first().copied().unwrap_or_default(), is_covered));
    }
    let mut clusters: BTreeMap<usize, Cluster> = BTreeMap::new();
    for (group, least) in groups.into_iter().zip(&least) {
        clusters.entry(*least).or_default().groups.push(group);
    }
    for (at, group, is_covered) in touched {
        let Some(least) = least.get(group) else { continue };
        if is_covered {
            clusters.entry(*least).or_default().earlier.push(at);
        } else {
            // Something of it would be told by nobody.
            clusters.remove(least);
        }
    }
    clusters.into_values().collect()
}

/// Whether a summary of before says just what there is to say.
fn is_done(cluster: &Cluster, read: &Read) -> bool {
    let ([group], [at]) = (cluster.groups.as_slice(), cluster.earlier.as_slice()) else {
        return false;
    };
    let all_there = members(group, read).iter().all(|(source, _)| source.archived);
    let same = read.earlier.get(*at).map(|(summary, _)| &summary.originals);
    all_there && same == Some(&ordinals(group, read))
}

/// The texts of all groups of a cluster, if all can be written and are shorter than what they replace.
fn written(cluster: Cluster, read: &Read) -> Vec<Planned> {
    let summaries: Vec<&(Earlier, usize)> =
        cluster.earlier.iter().filter_map(|at| read.earlier.get(*at)).collect();
    let mut before: usize = summaries.iter().map(|(_, chars)| chars).sum();
    let mut planned = Vec::new();
    for group in cluster.groups {
        let members = members(&group, read);
        let Some(text) = in_brief(&members) else { return Vec::new() };
        let new: Vec<Member<'_>> =
            members.into_iter().filter(|(source, _)| !source.archived).collect();
        before += chars(&new);
        let of = ordinals(&group, read);
        let replaced = summaries.iter().filter(|(it, _)| !it.originals.is_disjoint(&of));
        let replaces = replaced.map(|(summary, _)| summary.ordinal).collect();
        planned.push(Planned { group, text, replaces });
    }
    let after: usize = planned.iter().map(|it| it.text.chars().count()).sum();
    if after < before { planned } else { Vec::new() }
}
