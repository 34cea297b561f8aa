//! Two agents that contradict each other, and what MERGE makes of it.

use serde_json::{Value, json};

use crate::actors::{
    agent::Agent,
    case::Case,
    check::{Checked, wrong},
    json::{JsonAccess, with},
    unit::{Unit, finding, relation, score},
};

/// An explicit conflict between two fresh units.
#[derive(Clone, Debug)]
pub(crate) struct Dispute {
    pub(crate) author_a: Agent,
    pub(crate) author_b: Agent,
    pub(crate) older: Unit,
    pub(crate) newer: Unit,
    /// The id of the conflict.
    pub(crate) id: String,
}

impl Case {
    /// A dispute whose units have these scores, the older one's first.
    pub(crate) fn dispute_scored(&mut self, older: f64, newer: f64) -> Checked<Dispute> {
        let author_a = self.agent("researcher")?;
        let author_b = self.agent("reviewer")?;
        self.dispute_between(author_a, author_b, score(older), score(newer))
    }

    /// A dispute whose units are equally sure.
    pub(crate) fn dispute(&mut self) -> Checked<Dispute> {
        self.dispute_scored(0.8, 0.7)
    }

    /// A dispute of these authors, with more keys in each RECORD.
    pub(crate) fn dispute_between(
        &mut self,
        author_a: Agent,
        author_b: Agent,
        older: Value,
        newer: Value,
    ) -> Checked<Dispute> {
        let (first, second) = (self.words("The ferry leaves at dawn"), self.words("It does not"));
        let older = author_a.record(with(finding(first), older))?;
        let contradicts = relation("contradicts", &older.id);
        let newer = author_b.record(with(with(finding(second), newer), contradicts))?;
        let Some(id) = explicit_between(&author_b, &older, &newer)? else {
            return wrong("RECORD with a contradicts relation names no conflict of the two units");
        };
        Ok(Dispute { author_a, author_b, older, newer, id })
    }
}

/// Which of the conflicts that RECORD named is the explicit one of the pair.
fn explicit_between(agent: &Agent, older: &Unit, newer: &Unit) -> Checked<Option<String>> {
    // Automatic detection may have found more; a Field without DETECT can only name one.
    if newer.conflicts.len() <= 1 {
        return Ok(newer.conflicts.first().cloned());
    }
    let all = agent.conflicts(json!({}))?;
    let pair = [older.id.as_str(), newer.id.as_str()];
    let found = all.iter().find(|conflict| {
        newer.conflicts.iter().any(|id| conflict["id"] == id.as_str())
            && pair.iter().all(|unit| conflict["unit_a"] == *unit || conflict["unit_b"] == *unit)
    });
    Ok(found.and_then(|conflict| conflict.text("/id").ok().map(str::to_owned)))
}

impl Dispute {
    /// The payload of a MERGE of this conflict, with more keys in `resolution`.
    pub(crate) fn merge(&self, strategy: &str, resolution: Value) -> Value {
        let resolution = with(json!({"rationale": "It was looked into"}), resolution);
        json!({"conflict_id": self.id, "strategy": strategy, "resolution": resolution})
    }
}
