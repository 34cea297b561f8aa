//! Votes in which one key for any agent speaks under several names: it has one ballot, the last.

use std::sync::Arc;

use quipu_core::Message;
use quipu_field::Field;
use quipu_log::Engine;
use quipu_wire::akashik::{MergePayload, MergeResponse, MergeStatus};
use serde_json::json;

use crate::{
    coordination::{add, from, team},
    support::open,
};

struct Vote {
    engine: Arc<dyn Engine>,
    field: Arc<Field>,
    conflict: String,
    /// The unit of `ann` and that of `bob`, who contradicts her.
    units: [String; 2],
}

/// A message through the key for any agent.
fn shared(agent: &str, authority: u8) -> Message {
    Message { own_key: false, key: Some("key-1".to_owned()), authority, ..from(agent, None) }
}

impl Vote {
    async fn begin(by: fn(&str) -> Message) -> Self {
        let names = ["ann", "bob", "one", "two", "three", "own"];
        let (engine, field) = team(&names.map(|name| (name, "worker", 6))).await;
        let ann = add(&field, by("ann"), json!({"content": "yes"})).await.unwrap();
        let against =
            json!({"content": "no", "relations": [{"type": "contradicts", "target_id": ann}]});
        let bob = add(&field, from("bob", None), against).await.unwrap();
        let conflict = field.conflicts().await.unwrap().conflicts[0].id.clone();
        Self { engine, field, conflict, units: [ann, bob] }
    }

    async fn cast(&self, by: Message, unit: usize, quorum: u32) -> MergeResponse {
        let resolution = json!({"winner_id": self.units[unit], "rationale": "r"});
        let payload = json!({"conflict_id": self.conflict, "strategy": "vote", "quorum": quorum,
                             "resolution": resolution});
        self.field.merge(by, MergePayload::parse(payload).unwrap().0).await.unwrap()
    }

    /// The ballots for the two units after another one.
    async fn tally(&self, by: Message, unit: usize) -> (u32, u32) {
        let answer = self.cast(by, unit, 2).await;
        let tally = answer.vote.unwrap();
        assert_eq!(answer.status == MergeStatus::Resolved, tally.unit_a + tally.unit_b >= 2);
        (tally.unit_a, tally.unit_b)
    }
}

#[tokio::test]
async fn names_of_one_key_have_one_ballot_and_the_last_counts() {
    let vote = Vote::begin(|name| from(name, None)).await;
    assert_eq!(vote.tally(shared("one", 6), 0).await, (1, 0));
    assert_eq!(vote.tally(shared("two", 6), 0).await, (1, 0));
    assert_eq!(vote.tally(shared("three", 6), 1).await, (0, 1));
    assert_eq!(vote.tally(shared("one", 6), 1).await, (0, 1));
    let back = open(&vote.engine, None);
    assert_eq!(back.state_hash(), vote.field.state_hash());
    assert_eq!(vote.tally(from("own", None), 1).await, (0, 2));
    assert_eq!(vote.field.conflicts().await.unwrap().conflicts, Vec::new(), "it is settled");
}

#[tokio::test]
async fn a_name_that_votes_by_its_own_key_again_counts_for_itself() {
    let vote = Vote::begin(|name| from(name, None)).await;
    assert_eq!(vote.tally(shared("one", 6), 0).await, (1, 0));
    assert_eq!(vote.tally(shared("two", 6), 0).await, (1, 0));
    assert_eq!(vote.tally(from("two", None), 0).await, (2, 0));
}

#[tokio::test]
async fn a_key_that_may_replace_many_units_speaks_for_each_name() {
    let vote = Vote::begin(|name| from(name, None)).await;
    assert_eq!(vote.tally(shared("one", 8), 0).await, (1, 0));
    assert_eq!(vote.tally(shared("two", 8), 0).await, (2, 0));
}

#[tokio::test]
async fn votes_through_the_key_of_a_unit_for_that_unit_are_a_word_in_ones_own_favour() {
    let mut replaced = 0;
    let vote = Vote::begin(|name| shared(name, 6)).await;
    for at in 0..7 {
        let mine = json!({"content": format!("mine {at}")});
        let mine = add(&vote.field, shared("ann", 6), mine).await.unwrap();
        let other = json!({"content": format!("other {at}"),
                           "relations": [{"type": "contradicts", "target_id": mine}]});
        let other = add(&vote.field, from("bob", None), other).await.unwrap();
        let known = vote.field.conflicts().await.unwrap().conflicts;
        let conflict = known.iter().find(|it| it.unit_b == other).unwrap().id.clone();
        let payload = json!({"conflict_id": conflict, "strategy": "vote", "quorum": 1,
                             "resolution": {"winner_id": mine, "rationale": "r"}});
        let (payload, _) = MergePayload::parse(payload).unwrap();
        replaced += usize::from(vote.field.merge(shared("two", 6), payload).await.is_ok());
    }
    assert_eq!(replaced, 5, "more than a handful takes authority 8");
}
