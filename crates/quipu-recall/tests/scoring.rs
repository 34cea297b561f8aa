//! Scores, order, explanations and budgets through their public surface.
#![cfg(test)]

use proptest::prelude::*;
use quipu_recall::{
    Weights,
    rank::{
        diversity::{Candidate, Diversity, Ranked, rank, rank_with},
        explain::{Facts, reason},
        score::{Signals, recency, relative, score, type_importance, value},
    },
    summary::budget::Budget,
};

fn signals() -> impl Strategy<Value = Signals> {
    let number = || prop_oneof![8 => 0.0_f32..=1.0, 1 => any::<f32>()];
    let maybe = || prop::option::of(number());
    let numbers = (number(), number(), number(), number());
    let options = (maybe(), maybe(), maybe(), maybe(), maybe(), any::<bool>(), maybe(), maybe());
    (numbers, options).prop_map(|(n, o)| Signals {
        lexical: o.0,
        semantic: o.1,
        author: o.2,
        interests: o.3,
        recency: n.0,
        role: n.1,
        type_importance: n.2,
        standing: n.3,
        confidence: o.4,
        task: o.6,
        relation: o.7,
        is_draft: o.5,
    })
}

fn weights() -> impl Strategy<Value = Weights> {
    prop::sample::select(vec![Weights::HINTED, Weights::UNHINTED])
}

fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let candidate = (0_u32..5, prop_oneof![Just(0.5_f32), 0.0_f32..=1.0], 0_u64..4);
    prop::collection::vec(candidate, 0..40).prop_map(|all| {
        let numbered = (0..).zip(all);
        numbered
            .map(|(ordinal, (author, score, tie))| Candidate { ordinal, author, score, tie })
            .collect()
    })
}

/// The definition of the order: take the best, discounted by how many its author already has.
fn greedy(mut left: Vec<Candidate>) -> Vec<u32> {
    let mut taken: Vec<Candidate> = Vec::new();
    while !left.is_empty() {
        let discounted = |candidate: &Candidate| {
            let before = taken.iter().filter(|other| other.author == candidate.author).count();
            candidate.score * (1.0 - (0.01 * before as f32).min(0.05))
        };
        let best = (0..left.len())
            .max_by(|a, b| {
                let (a, b) = (&left[*a], &left[*b]);
                let by_score = discounted(a).total_cmp(&discounted(b));
                by_score.then_with(|| (a.tie, a.ordinal).cmp(&(b.tie, b.ordinal)))
            })
            .unwrap();
        taken.push(left.remove(best));
    }
    taken.iter().map(|candidate| candidate.ordinal).collect()
}

fn ordinals(ranked: &[Ranked]) -> Vec<u32> {
    ranked.iter().map(|unit| unit.ordinal).collect()
}

proptest! {
    #[test]
    fn a_score_lies_in_0_to_1_and_is_the_sum_of_its_contributions(
        signals in signals(),
        share in prop::option::of(any::<f32>()),
        weights in weights(),
    ) {
        let weights = share.map_or(weights, |share| weights.recency_weight(share));
        let score = score(&signals, &weights);
        prop_assert!((0.0..=1.0).contains(&score.value));
        prop_assert_eq!(value(&signals, &weights).to_bits(), score.value.to_bits());
        let sum: f32 = score.contributions.iter().map(|factor| factor.contribution).sum();
        prop_assert!((sum - score.value).abs() < 1e-5);
    }

    #[test]
    fn more_of_any_signal_never_scores_less(
        signals in signals(), recent in 0.0_f32..=1.0, weights in weights(),
    ) {
        let less = Signals { recency: 0.0, ..signals };
        let more = Signals { recency: recent, ..signals };
        prop_assert!(score(&less, &weights).value <= score(&more, &weights).value);
    }

    #[test]
    fn recency_falls_with_age_and_stays_in_0_to_1(
        a in any::<u64>(), b in any::<u64>(), span in any::<u64>(),
    ) {
        let (newer, older) = (recency(a.min(b), span), recency(a.max(b), span));
        prop_assert!(newer >= older);
        prop_assert!((0.0..=1.0).contains(&newer) && (0.0..=1.0).contains(&older));
    }

    #[test]
    fn the_order_is_the_greedy_one(candidates in candidates()) {
        prop_assert_eq!(ordinals(&rank(candidates.clone(), usize::MAX)), greedy(candidates));
    }

    #[test]
    fn the_order_does_not_depend_on_the_input_order_and_smaller_is_a_prefix(
        (candidates, shuffled) in candidates().prop_flat_map(|all| {
            (Just(all.clone()), Just(all).prop_shuffle())
        }),
        max_units in 0_usize..50,
    ) {
        let all = rank(candidates, usize::MAX);
        let some = rank(shuffled, max_units);
        prop_assert_eq!(&some[..], &all[..max_units.min(all.len())]);
        prop_assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score));
        prop_assert!(all.iter().all(|unit| (0.0..=0.05).contains(&unit.discount)));
    }

    #[test]
    fn a_budget_is_never_exceeded(
        things in prop::collection::vec(
            prop::collection::vec(prop_oneof![any::<usize>(), 0_usize..900], 0..4), 0..30),
        tokens in 0_usize..4000,
    ) {
        let mut budget = Budget::new(tokens);
        let mut used = 0;
        for forms in things {
            let left = budget.left();
            match budget.spend(forms.iter().copied()) {
                Some(form) => {
                    used += forms[form];
                    prop_assert!(forms[..form].iter().all(|cost| *cost > left));
                }
                None => prop_assert!(forms.iter().all(|cost| *cost > left)),
            }
        }
        prop_assert_eq!(used + budget.left(), tokens);
    }

    #[test]
    fn a_reason_is_one_or_two_short_sentences_on_one_line(signals in signals(), role in ".{0,99}") {
        let facts = Facts { type_name: "finding", author_role: &role, ..Facts::default() };
        let text = reason(&score(&signals, &Weights::HINTED), &facts);
        prop_assert!(text.ends_with('.') && text.chars().count() < 300);
        prop_assert!(!text.contains('\n'));
    }
}

#[test]
fn recency_weight_0_ignores_recency_and_1_ignores_the_rest() {
    let new_draft = Signals { recency: 0.51, is_draft: true, ..Signals::default() };
    let old = Signals {
        lexical: Some(1.0),
        semantic: Some(1.0),
        author: Some(1.0),
        interests: Some(1.0),
        recency: 0.5,
        role: 1.0,
        type_importance: 1.0,
        standing: 1.0,
        confidence: Some(1.0),
        task: Some(1.0),
        relation: Some(1.0),
        is_draft: false,
    };
    let only = Weights::HINTED.recency_weight(1.0);
    assert!(score(&new_draft, &only).value > score(&old, &only).value);
    let never = Weights::HINTED.recency_weight(0.0);
    let newer = Signals { recency: 1.0, ..old };
    assert!(score(&newer, &never).value.total_cmp(&score(&old, &never).value).is_eq());
    assert!(score(&newer, &never).value > 0.999);
    assert_eq!(Weights::HINTED.recency_weight(f32::NAN), Weights::HINTED);
}

#[test]
fn recency_tells_the_newest_apart_in_a_field_of_any_size() {
    for span in [10, 1_000, 1_000_000] {
        assert!(recency(0, span) - recency(1, span) > 0.04);
        assert!(recency(span, span) <= 0.0);
    }
    assert!(recency(0, 0) >= 1.0);
}

#[test]
fn directives_outrank_decisions_and_decisions_outrank_observations() {
    let order = ["human_directive", "decision", "correction", "synthesis", "finding", "question"];
    let values: Vec<f32> = order.iter().map(|name| type_importance(name)).collect();
    assert!(values.windows(2).all(|pair| pair[0] > pair[1]));
    assert!(type_importance("question") > type_importance("observation"));
    assert!(type_importance("decision") <= type_importance("contradiction"));
}

#[test]
fn a_better_match_wins_over_a_newer_unit_when_something_was_asked() {
    let base = Signals { type_importance: 0.6, ..Signals::default() };
    let matching = Signals { lexical: Some(1.0), recency: 0.2, ..base };
    let newer = Signals { lexical: Some(0.0), recency: 1.0, ..base };
    let weights = Weights::HINTED;
    assert!(score(&matching, &weights).value > score(&newer, &weights).value);
}

#[test]
fn a_match_is_relative_to_the_best_one() {
    assert!((relative(3.0, 6.0) - 0.5).abs() < f32::EPSILON);
    assert!(
        relative(0.0, 0.0) <= 0.0 && relative(9.0, 3.0) >= 1.0 && relative(f32::NAN, 1.0) <= 0.0
    );
}

#[test]
fn a_second_author_overtakes_the_further_units_of_the_first() {
    let candidate = |ordinal, author, score| Candidate { ordinal, author, score, tie: 0 };
    let all = vec![
        candidate(1, 7, 0.90),
        candidate(2, 7, 0.899),
        candidate(3, 7, 0.898),
        candidate(4, 8, 0.894),
    ];
    assert_eq!(ordinals(&rank(all.clone(), 4)), [1, 4, 2, 3]);
    assert_eq!(ordinals(&rank_with(all, 4, Diversity::NONE)), [1, 2, 3, 4]);
}

#[test]
fn equal_scores_put_the_newer_first() {
    let candidate = |ordinal, tie| Candidate { ordinal, author: ordinal, score: 0.5, tie };
    let all = vec![candidate(1, 10), candidate(2, 30), candidate(3, 20)];
    assert_eq!(ordinals(&rank(all, 3)), [2, 3, 1]);
}

#[test]
fn a_reason_names_what_mattered() {
    let signals =
        Signals { lexical: Some(1.0), recency: 0.9, type_importance: 0.6, ..Signals::default() };
    let facts = Facts {
        type_name: "finding",
        author_role: "market_researcher",
        hint_terms: &["market", "growth"],
        ..Facts::default()
    };
    assert_eq!(
        reason(&score(&signals, &Weights::HINTED), &facts),
        "Recent finding from market_researcher. Shares 'market' and 'growth' with your hint."
    );
}

#[test]
fn a_reason_without_a_query_speaks_of_type_task_and_draft() {
    let signals = Signals {
        recency: 0.1,
        type_importance: 1.0,
        task: Some(1.0),
        confidence: Some(0.9),
        is_draft: true,
        ..Signals::default()
    };
    let facts = Facts {
        type_name: "human_directive",
        same_task: true,
        confidence: Some(0.9),
        ..Facts::default()
    };
    assert_eq!(
        reason(&score(&signals, &Weights::HINTED), &facts),
        "Draft human directive. Matters by its type and belongs to your task."
    );
    let nothing = reason(&score(&Signals::default(), &Weights::HINTED), &Facts::default());
    assert_eq!(nothing, "Unit. No factor stands out.");
}
