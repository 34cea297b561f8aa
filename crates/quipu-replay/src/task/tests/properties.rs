//! What holds for every recording.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::recordings::{Recording, kind_of};
use crate::task::*;

#[derive(Debug, Clone)]
enum Step {
    Said,
    Answer(u8, u8),
    Checkpoint,
}

fn any_recording() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Said),
        (0..4_u8, any::<u8>()).prop_map(|(class, value)| Step::Answer(class, value)),
        Just(Step::Checkpoint),
    ];
    prop::collection::vec(step, 0..40)
}

fn key(class: u8, number: usize) -> String {
    let class = ["llm:main", "mcp:github", "time:label", "host:attune"][usize::from(class)];
    format!("{class}:{number}")
}

fn record(steps: &[Step]) -> Recording {
    let mut recording = Recording::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Said => _ = recording.push("agent.message"),
            Step::Answer(class, value) => _ = recording.answer(&key(*class, number), json!(value)),
            Step::Checkpoint => recording.mark(&format!("artifact_{number}")),
        }
    }
    recording.completed()
}

fn keys(recording: &Recording) -> Vec<String> {
    recording
        .events
        .iter()
        .filter_map(|event| Some(event.dependency.as_ref()?.key.clone()))
        .collect()
}

/// Overrides for a part of the keys.
fn overrides(recording: &Recording, chosen: &[bool]) -> Value {
    let picked = keys(recording).into_iter().zip(chosen).filter(|(_, chosen)| **chosen);
    let map: serde_json::Map<String, Value> = picked
        .map(|(key, _)| (key.clone(), json!({"kind": kind_of(&key), "value": "else"})))
        .collect();
    json!({"mode": "with_overrides", "override": map})
}

proptest! {
    #[test]
    fn the_same_replay_twice_is_the_same_to_the_last_event(steps in any_recording(), chosen: Vec<bool>) {
        let recording = record(&steps);
        let request = overrides(&recording, &chosen);
        prop_assert_eq!(recording.run(request.clone()), recording.run(request));
    }

    #[test]
    fn exactly_the_chosen_answers_change_and_the_deltas_are_in_the_order_of_keys(
        steps in any_recording(), chosen: Vec<bool>,
    ) {
        let recording = record(&steps);
        let (events, outcome) = recording.run(overrides(&recording, &chosen));
        let mut expected: Vec<String> =
            keys(&recording).into_iter().zip(&chosen).filter(|(_, it)| **it).map(|(key, _)| key).collect();
        let substituted: Vec<String> =
            events.iter().filter_map(|event| event.replay.override_key.clone()).collect();
        prop_assert_eq!(&substituted, &expected, "in the order of events");
        expected.sort();
        let applied: Vec<String> = outcome.applied.iter().map(|it| it.key.clone()).collect();
        prop_assert_eq!(applied, expected, "in the order of keys");
        prop_assert_eq!(outcome.events, recording.events.len() as u64);
        prop_assert_eq!(outcome.first_unavailable, None);
    }

    #[test]
    fn from_a_checkpoint_the_rest_is_what_an_exact_replay_gives(steps in any_recording(), pick: prop::sample::Index) {
        let recording = record(&steps);
        let points: Vec<_> = recording.events.iter().filter(|event| event.checkpoint_id.is_some()).collect();
        prop_assume!(!points.is_empty());
        let point = points[pick.index(points.len())];
        let (exact, _) = recording.run(json!({}));
        let (rest, outcome) =
            recording.run(json!({"mode": "from_checkpoint", "checkpoint_event_id": point.event_id}));
        let after = usize::try_from(point.sequence).unwrap() + 1;
        let said = |events: &[ReplayedEvent]| -> Vec<_> {
            events.iter().map(|it| (it.event.clone(), it.payload.clone(), it.replay.original_event_id.clone())).collect()
        };
        prop_assert_eq!(said(&rest), said(&exact[after..]));
        prop_assert_eq!(outcome.first_unavailable, None);
    }

    #[test]
    fn a_lost_event_is_noticed_by_name(steps in any_recording(), pick: prop::sample::Index) {
        let mut recording = record(&steps);
        // The first has nothing before it that could miss it, the last is the end.
        let lost = 1 + pick.index(recording.events.len() - 2);
        let lost = recording.events.remove(lost).event_id;
        let (_, outcome) = recording.run(json!({}));
        prop_assert_eq!(outcome.first_unavailable.unwrap().id, lost);
    }

    #[test]
    fn of_several_missing_answers_the_first_in_event_order_is_named(steps in any_recording(), gone: Vec<bool>) {
        let mut recording = record(&steps);
        let missing: Vec<String> =
            keys(&recording).into_iter().zip(&gone).filter(|(_, it)| **it).map(|(key, _)| key).collect();
        for key in &missing {
            recording.dependency_mut(key).material = Material::Gone { reason: "purged".to_owned() };
        }
        let (_, outcome) = recording.run(json!({}));
        prop_assert_eq!(outcome.first_unavailable.map(|it| it.id), missing.first().cloned());
    }

    #[test]
    fn the_digest_of_the_log_sees_every_change(steps in any_recording(), pick: prop::sample::Index) {
        let mut recording = record(&steps);
        let (_, before) = recording.run(json!({}));
        let count = recording.events.len();
        recording.events[pick.index(count)].at = "2031-01-01T00:00:00Z".to_owned();
        let (_, after) = recording.run(json!({}));
        prop_assert_ne!(before.event_log_sha256, after.event_log_sha256);
    }
}
