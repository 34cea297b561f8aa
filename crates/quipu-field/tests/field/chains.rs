//! Units that replaced each other, one after another, and what comes back when some of them go.

use std::sync::Arc;

use proptest::prelude::*;
use quipu_core::Reader;
use quipu_field::Field;
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{RestorePayload, RetractPayload, UnitStatus},
};
use serde_json::{Value, json};

use crate::{
    compact::compact,
    state_from_log::{rebuilt, runtime},
    support::{message, open, record, register},
};

/// A Field and the units recorded in it, in their order.
struct Story {
    engine: Arc<dyn Engine>,
    field: Arc<Field>,
    units: Vec<String>,
    told: usize,
}

impl Story {
    async fn begin() -> Self {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        let field = open(&engine, None);
        register(&field, "a").await.unwrap();
        Self { engine, field, units: Vec::new(), told: 0 }
    }

    fn id(&mut self) -> String {
        self.told += 1;
        format!("m-{}", self.told)
    }

    /// A unit that supersedes others.
    async fn record(&mut self, replaced: &[usize]) -> usize {
        let links = replaced.iter().map(|at| &self.units[*at]);
        let links = links.map(|id| json!({"type": "supersedes", "target_id": id})).collect();
        let id = self.id();
        let answer = record(&self.field, message(&id, "a"), &id, links).await.unwrap();
        self.units.push(answer.memory_unit_id);
        self.units.len() - 1
    }

    /// Withdraws a unit; gives what came back.
    async fn retract(&mut self, unit: usize) -> Result<Vec<String>, ErrorCode> {
        let payload = json!({"unit_id": self.units[unit], "intent": {"purpose": "to test"}});
        let (payload, _) = RetractPayload::parse(payload).unwrap();
        let id = self.id();
        let answer = self.field.retract(message(&id, "a"), payload).await;
        answer.map(|answer| answer.restored_units).map_err(|error| error.code())
    }

    /// Restores a unit; gives what it replaces again.
    async fn restore(&mut self, unit: usize) -> Result<Vec<String>, ErrorCode> {
        let payload = json!({"unit_ids": [self.units[unit]], "intent": {"purpose": "to test"}});
        let (payload, _) = RestorePayload::parse(payload).unwrap();
        let id = self.id();
        let answer = self.field.restore(message(&id, "a"), payload).await;
        answer.map(|answer| answer.superseded_units).map_err(|error| error.code())
    }

    async fn compact(&mut self, strategy: &str, unit: usize) {
        let filter = json!({"unit_ids": [self.units[unit]]});
        let id = self.id();
        let wish: Value = json!({"strategy": strategy, "filter": filter});
        compact(&self.field, &id, wish).await.unwrap();
    }

    async fn stands(&self, unit: usize) -> (UnitStatus, bool) {
        let unit = self.field.unit(Reader::operator(), &self.units[unit]).await.unwrap();
        (unit.status, unit.archived)
    }
}

use UnitStatus::{Active, Retracted, Superseded};

#[tokio::test]
async fn each_link_of_a_chain_brings_back_the_one_before_it_and_no_other() {
    let mut story = Story::begin().await;
    let a = story.record(&[]).await;
    let b = story.record(&[a]).await;
    let c = story.record(&[b]).await;
    assert_eq!(story.retract(b).await, Err(ErrorCode::InvalidTransition), "it was replaced");
    assert_eq!(story.retract(c).await, Ok(vec![story.units[b].clone()]));
    assert_eq!((story.stands(a).await.0, story.stands(b).await.0), (Superseded, Active));
    assert_eq!(story.retract(b).await, Ok(vec![story.units[a].clone()]));
    assert_eq!(story.stands(a).await.0, Active);
    // And the same way back.
    assert_eq!(story.restore(c).await, Ok(vec![]), "what it replaced is withdrawn itself");
    assert_eq!(story.restore(b).await, Ok(vec![story.units[a].clone()]));
    assert_eq!((story.stands(a).await.0, story.stands(b).await.0), (Superseded, Superseded));
    assert_eq!(story.retract(c).await, Ok(vec![story.units[b].clone()]));
}

#[tokio::test]
async fn what_is_both_archived_and_superseded_comes_back_by_halves() {
    let mut story = Story::begin().await;
    let a = story.record(&[]).await;
    story.compact("archive", a).await;
    let b = story.record(&[a]).await;
    assert_eq!(story.stands(a).await, (Superseded, true));
    assert_eq!(story.retract(b).await, Ok(vec![story.units[a].clone()]));
    assert_eq!(story.stands(a).await, (Active, true));
    assert_eq!(story.restore(b).await, Ok(vec![story.units[a].clone()]));
    assert_eq!(story.restore(a).await, Ok(vec![]));
    assert_eq!(story.stands(a).await, (Superseded, false), "it is replaced as before");
    assert_eq!(story.restore(a).await, Err(ErrorCode::InvalidTransition));
}

#[tokio::test]
async fn what_was_purged_comes_back_by_nothing_and_holds_nothing_back() {
    let mut story = Story::begin().await;
    let a = story.record(&[]).await;
    let b = story.record(&[a]).await;
    let c = story.record(&[b]).await;
    story.compact("purge", b).await;
    assert_eq!(story.restore(b).await, Err(ErrorCode::InvalidTransition));
    assert_eq!(story.retract(c).await, Ok(vec![]), "there is nothing left of what it replaced");
    assert_eq!(story.restore(a).await, Ok(vec![]));
    assert_eq!((story.stands(a).await.0, story.stands(b).await.0), (Active, Retracted));
}

/// Something that is done to units, chosen among those there are.
#[derive(Debug, Clone)]
enum Deed {
    Record(Vec<u8>),
    Retract(u8),
    Restore(u8),
    Archive(u8),
    Purge(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => proptest::collection::vec(any::<u8>(), 0..3).prop_map(Deed::Record),
        3 => any::<u8>().prop_map(Deed::Retract),
        3 => any::<u8>().prop_map(Deed::Restore),
        1 => any::<u8>().prop_map(Deed::Archive),
        1 => any::<u8>().prop_map(Deed::Purge),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_unit_is_superseded_while_one_that_says_so_stands(
        deeds in proptest::collection::vec(deed(), 1..30),
    ) {
        runtime().block_on(async {
            let mut story = Story::begin().await;
            story.record(&[]).await;
            let (mut links, mut purged): (Vec<Vec<usize>>, Vec<usize>) = (vec![vec![]], vec![]);
            for deed in deeds {
                let count = story.units.len();
                let one = |at: u8| usize::from(at) % count;
                match deed {
                    Deed::Record(replaced) => {
                        let replaced: Vec<usize> = replaced.into_iter().map(one).collect();
                        story.record(&replaced).await;
                        links.push(replaced);
                    }
                    Deed::Retract(at) => drop(story.retract(one(at)).await),
                    Deed::Restore(at) => drop(story.restore(one(at)).await),
                    Deed::Archive(at) => story.compact("archive", one(at)).await,
                    Deed::Purge(at) => {
                        story.compact("purge", one(at)).await;
                        purged.push(one(at));
                    }
                }
                let mut now = Vec::new();
                for at in 0..story.units.len() {
                    now.push(story.stands(at).await.0);
                }
                for (at, status) in now.iter().enumerate().filter(|(_, now)| **now != Retracted) {
                    let by = (0..now.len()).filter(|by| links[*by].contains(&at));
                    let standing = by.clone().any(|by| now[by] != Retracted);
                    // What a purged unit replaced waits for somebody to restore it.
                    let by_purged = by.clone().any(|by| purged.contains(&by));
                    prop_assert!(by_purged || standing == (*status == Superseded), "unit {}", at);
                    prop_assert!(!standing || *status == Superseded, "unit {}", at);
                }
            }
            prop_assert_eq!(rebuilt(&story.engine).state.hash(), story.field.state_hash());
            Ok(())
        })?;
    }
}
