//! What a reader asks for: its hint without the names of agents, whom it names, and what it said of
//! itself. A name says who spoke, not what about; left in, it would pull up everything that mentions it.

use std::collections::BTreeSet;

use quipu_recall::{Query, embed::builtin};
use quipu_wire::akashik::AttunePayload;

use quipu_core::{
    State,
    state::{AgentEntry, Name},
};

/// How much a word or a meaning counts, by what the reader said of itself.
pub(crate) const INTEREST_WEIGHT: f32 = 1.0;
pub(crate) const ROLE_WEIGHT: f32 = 0.6;

#[derive(Debug)]
pub(crate) struct Interests {
    /// What the hint says; none without a hint.
    pub hint: Option<Topic>,
    /// The interests, and without a hint the role.
    pub own: Topic,
    pub named: BTreeSet<Name>,
}

/// Something to look for, by words and by meaning.
#[derive(Debug)]
pub(crate) struct Topic {
    /// Its words.
    pub query: Query,
    /// Its meanings, each with what it counts.
    pub vectors: Vec<(Vec<f32>, f32)>,
}

impl Interests {
    pub(crate) fn new(state: &State, agent: &AgentEntry, payload: &AttunePayload) -> Self {
        let scope = &payload.scope;
        let interests = scope.interests.iter().chain(&agent.interests);
        let mut parts: Vec<(&str, f32)> =
            interests.map(|interest| (interest.as_str(), INTEREST_WEIGHT)).collect();
        let Some(hint) = &payload.context_hint else {
            // A role says something about what is wanted, but less than any hint.
            parts.push((&scope.role, ROLE_WEIGHT));
            return Self { hint: None, own: Topic::new(&parts), named: BTreeSet::new() };
        };
        let (text, named) = without_names(hint, state);
        Self { hint: Some(Topic::new(&[(&text, 1.0)])), own: Topic::new(&parts), named }
    }
}

/// What the hint of an ATTUNE is about, for a model that is asked before the view is held.
pub(crate) fn meant(state: &State, payload: &AttunePayload) -> Option<String> {
    payload.context_hint.as_deref().map(|hint| without_names(hint, state).0)
}

impl Topic {
    fn new(parts: &[(&str, f32)]) -> Self {
        let vectors = parts.iter().map(|(text, weight)| (builtin().vector(text), *weight));
        Self { query: Query::new(parts), vectors: vectors.collect() }
    }
}

/// A word of a text: in lower case, and where it begins and ends.
type Word = (String, usize, usize);

/// The hint without the ids of agents, and which agents those were. An id counts where all its words
/// follow each other, so that an agent called `billing-agent` does not take "billing" away. A hint that
/// is nothing but names stays as it is.
fn without_names(hint: &str, state: &State) -> (String, BTreeSet<Name>) {
    let words = words(hint);
    let (mut named, mut spans) = (BTreeSet::new(), Vec::new());
    for (id, agent) in state.agents.all() {
        let id = self::words(id);
        if id.is_empty() {
            continue;
        }
        for run in words.windows(id.len()).filter(|run| is_same(run, &id)) {
            if let (Some((_, start, _)), Some((_, _, end))) = (run.first(), run.last()) {
                spans.push((*start, *end));
                named.insert(agent.name);
            }
        }
    }
    let text = cut(hint, &mut spans);
    let text = if self::words(&text).is_empty() { hint.to_owned() } else { text };
    (text, named)
}

fn is_same(run: &[Word], id: &[Word]) -> bool {
    run.iter().zip(id).all(|((word, ..), (part, ..))| word == part)
}

fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = 0;
    for part in text.split(|letter: char| !letter.is_alphanumeric()) {
        let start = rest;
        rest += part.len();
        if !part.is_empty() {
            found.push((part.to_lowercase(), start, rest));
        }
        // What separates words is one letter, of one to four bytes.
        rest += text.get(rest..).and_then(|left| left.chars().next()).map_or(0, char::len_utf8);
    }
    found
}

/// The text without the spans, and without an "'s" behind any of them.
fn cut(text: &str, spans: &mut [(usize, usize)]) -> String {
    spans.sort_unstable();
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in spans.iter().copied() {
        if start < from {
            continue;
        }
        left.push_str(text.get(from..start).unwrap_or_default());
        let rest = text.get(end..).unwrap_or_default();
        let possessive = ["'s", "’s", "'S", "’S"].into_iter().find(|ending| {
            rest.strip_prefix(ending)
                .is_some_and(|after| !after.starts_with(|next: char| next.is_alphanumeric()))
        });
        from = end + possessive.map_or(0, str::len);
    }
    left.push_str(text.get(from..).unwrap_or_default());
    left
}

#[cfg(test)]
mod tests {
    use quipu_wire::akashik::AgentStatus;

    use super::*;

    fn state(agents: &[&str]) -> State {
        let mut state = State::default();
        for id in agents {
            let entry = AgentEntry {
                name: state.names.intern(id),
                role: String::new(),
                claimed: false,
                interests: Vec::new(),
                authority: 5,
                status: AgentStatus::Idle,
                units: 0,
                current_task: None,
            };
            state.agents.insert(id, entry);
        }
        state
    }

    #[test]
    fn whole_names_are_cut_out_and_parts_of_names_stay() {
        let state = state(&["Caroline", "billing-agent", "世界"]);
        for (hint, left, names) in [
            ("When did Caroline paint?", "When did  paint?", 1),
            ("CAROLINE'S billing rules", " billing rules", 1),
            ("ask the billing agent, caroline’s and 世界", "ask the ,  and ", 3),
            ("Carolines billing", "Carolines billing", 0),
            ("Caroline", "Caroline", 1),
            ("", "", 0),
        ] {
            let (text, named) = without_names(hint, &state);
            assert_eq!((text.as_str(), named.len()), (left, names), "{hint}");
        }
    }
}
