//! What a sound cluster could have answered passes.

use proptest::prelude::*;
use quipu_history::{Answer, Outcome, explain, judge};

use crate::sim::simulate;

proptest! {
    #[test]
    fn what_a_sound_cluster_answers_passes_both_judges(seed: u64) {
        let history = simulate(seed);
        let logs = vec![history.log.0.clone(); 3];
        let verdict = judge(&history.events, &logs);
        let text = verdict.as_ref().map_err(|wrong| wrong.describe(&history.events, &logs[0]));
        prop_assert!(verdict.is_ok(), "{}", text.unwrap_err());
        prop_assert!(explain(&history.events).is_ok());
    }
}

#[test]
fn the_simulation_is_worth_judging() {
    let (mut unknown, mut refused, mut objects) = (0, 0, 0);
    for seed in 0..20 {
        let events = simulate(seed).events;
        unknown += events.iter().filter(|e| matches!(e.outcome, Outcome::Unknown(_))).count();
        let is_refused = |answer: Option<&Answer>| matches!(answer, Some(Answer::Refused(_)));
        refused += events.iter().filter(|event| is_refused(event.answer())).count();
        objects += explain(&events).unwrap();
    }
    assert!(unknown > 50 && refused > 50 && objects > 100, "{unknown} {refused} {objects}");
}
