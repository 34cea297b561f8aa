//! MERGE by its rules: seven strategies, the conflict's machine, and what follows for the units.

use std::sync::Arc;

use crate::support::{message, open, record, register};
use quipu_core::Message;
use quipu_field::{Field, FieldError};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{
        AttunePayload, ConflictStatus, ConflictStrategy, MemoryType, MemoryUnit, MergePayload,
        MergeResolution, MergeResponse, MergeStatus, RecordPayload, RegisterPayload, RelationType,
        SessionPayload, UnitView,
    },
};
use serde_json::{Value, json};

struct Dispute {
    engine: Arc<dyn Engine>,
    field: Arc<Field>,
    a: String,
    b: String,
    conflict: String,
}

fn as_agent(id: &str, agent: &str, authority: u8) -> Message {
    Message { authority, ..message(id, agent) }
}

async fn join(field: &Field, agent: &str, authority: u8) {
    let payload = json!({"id": agent, "role": "r", "authority_level": authority});
    let (payload, _) = RegisterPayload::parse(payload).unwrap();
    field.register(message(&format!("register-{agent}"), agent), payload).await.unwrap();
}

async fn say(field: &Field, agent: &str, payload: Value) -> (String, Vec<String>) {
    let (payload, _) = RecordPayload::parse(payload).unwrap();
    let id = format!("m-{agent}-{}", field.head().position);
    let accepted = field.record(message(&id, agent), payload).await.unwrap();
    (accepted.memory_unit_id, accepted.conflicts_detected)
}

fn finding(content: &str, score: f64, relations: &Value) -> Value {
    json!({"type": "finding", "content": content, "intent": {"purpose": "to test"},
           "confidence": {"score": score, "reasoning": "because"}, "relations": relations})
}

/// `ann` says 23% at 0.82, `bob` says 14% at 0.75 and contradicts her. `sam` has authority 6.
async fn dispute() -> Dispute {
    dispute_with(finding("23%", 0.82, &json!([])), 0.75).await
}

async fn dispute_with(first: Value, second: f64) -> Dispute {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    join(&field, "ann", 4).await;
    join(&field, "bob", 5).await;
    join(&field, "sam", 6).await;
    let (a, _) = say(&field, "ann", first).await;
    let against = json!([{"type": "contradicts", "target_id": a}]);
    let (b, conflicts) = say(&field, "bob", finding("14%", second, &against)).await;
    Dispute { engine, field, a, b, conflict: conflicts[0].clone() }
}

impl Dispute {
    async fn merge(
        &self,
        from: Message,
        strategy: &str,
        resolution: Value,
    ) -> Result<MergeResponse, FieldError> {
        let mut given = json!({"rationale": "three reports agree"});
        for (key, value) in resolution.as_object().unwrap() {
            given[key] = value.clone();
        }
        let payload =
            json!({"conflict_id": self.conflict, "strategy": strategy, "resolution": given});
        self.field.merge(from, MergePayload::parse(payload).unwrap().0).await
    }

    async fn sam(&self, strategy: &str, resolution: Value) -> Result<MergeResponse, FieldError> {
        let id = format!("merge-{strategy}-{}", self.field.head().position);
        self.merge(message(&id, "sam"), strategy, resolution).await
    }

    async fn status(&self, unit: &str) -> String {
        self.field.unit(quipu_core::Reader::operator(), unit).await.unwrap().status.to_string()
    }
}

fn code(answer: Result<MergeResponse, FieldError>) -> ErrorCode {
    let error = answer.unwrap_err();
    error.code()
}

#[tokio::test]
async fn a_draft_that_contradicts_a_unit_does_not_keep_it_contested() {
    let d = dispute().await;
    let mut draft = finding("15%", 0.2, &json!([{"type": "contradicts", "target_id": d.a}]));
    draft["mode"] = json!("draft");
    let (_, conflicts) = say(&d.field, "bob", draft).await;
    assert_eq!(conflicts.len(), 1, "every `contradicts` is a conflict");
    d.sam("confidence_weighted", json!({"winner_id": d.a})).await.unwrap();
    assert_eq!(d.status(&d.a).await, "active");
}

#[tokio::test]
async fn golden_c_the_unit_of_confidence_082_wins_against_the_one_of_075() {
    let d = dispute().await;
    let answer = d.sam("confidence_weighted", json!({"winner_id": d.a})).await.unwrap();
    assert_eq!(answer.status, MergeStatus::Resolved);
    assert_eq!(answer.conflict.status, ConflictStatus::Resolved);
    let resolution = answer.conflict.resolution.as_ref().unwrap();
    assert_eq!(resolution.strategy, ConflictStrategy::ConfidenceWeighted);
    assert_eq!(resolution.winner_id.as_ref(), Some(&d.a));
    assert_eq!(resolution.rationale, "three reports agree");
    assert_eq!(resolution.resolved_by, "sam");
    assert_eq!(resolution.epoch_resolved, d.field.head().epoch);
    assert_eq!(answer.side_effects.superseded_units, [d.b.as_str()]);
    assert_eq!(answer.side_effects.new_unit_id, None);
    assert_eq!(answer.side_effects.notified_agents, ["ann", "bob"]);
    assert_eq!(
        (d.status(&d.a).await, d.status(&d.b).await),
        ("active".into(), "superseded".into())
    );
    assert_eq!(d.field.conflicts().await.unwrap().conflicts, []);
}

#[tokio::test]
async fn both_steps_are_in_the_log_under_one_epoch() {
    let d = dispute().await;
    d.sam("last_write_wins", json!({})).await.unwrap();
    let position = d.field.head().position;
    let commit = d.engine.read(&FieldName::default_field(), position, 1).unwrap().remove(0);
    let header: Value = serde_json::from_slice(&commit.header).unwrap();
    let kinds: Vec<&str> = header["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sealed| sealed["event"]["kind"].as_str().unwrap())
        .collect();
    let status = "unit.status_changed";
    assert_eq!(kinds, ["conflict.resolving", "conflict.resolved", status, status]);
    assert!(!String::from_utf8_lossy(&commit.header).contains("three reports agree"));
}

#[tokio::test]
async fn the_last_write_wins_whatever_its_confidence() {
    let d = dispute().await;
    let answer = d.sam("last_write_wins", json!({})).await.unwrap();
    assert_eq!(answer.conflict.resolution.unwrap().winner_id, Some(d.b.clone()));
    assert_eq!(
        (d.status(&d.a).await, d.status(&d.b).await),
        ("superseded".into(), "active".into())
    );
}

#[tokio::test]
async fn a_tie_and_a_winner_that_disagrees_fail_and_leave_everything_as_it_was() {
    let d = dispute_with(finding("23%", 0.75, &json!([])), 0.75).await;
    let before = d.field.state_hash();
    assert_eq!(code(d.sam("confidence_weighted", json!({})).await), ErrorCode::MergeFailed);
    assert_eq!(code(d.sam("evidence_count", json!({})).await), ErrorCode::MergeFailed);
    let other = d.sam("last_write_wins", json!({"winner_id": d.a})).await;
    let error = other.unwrap_err();
    assert_eq!(error.code(), ErrorCode::MergeFailed);
    assert!(
        error.to_string().contains(&d.a) && error.to_string().contains(&d.b),
        "{}",
        error.to_string()
    );
    let stranger = d.sam("last_write_wins", json!({"winner_id": "mem-nope"})).await;
    assert_eq!(code(stranger), ErrorCode::MergeFailed);
    assert_eq!(d.field.state_hash(), before);
    d.sam("last_write_wins", json!({})).await.unwrap();
}

#[tokio::test]
async fn evidence_is_counted_by_supporting_units_and_then_by_what_the_unit_lists() {
    let mut first = finding("23%", 0.5, &json!([]));
    first["confidence"]["evidence"] = json!(["a report"]);
    let d = dispute_with(first, 0.75).await;
    let by_list = d.sam("evidence_count", json!({"winner_id": d.b})).await.unwrap_err();
    assert!(by_list.to_string().contains(&format!("{} prevails", d.a)), "{}", by_list.to_string());
    let supports = json!([{"type": "supports", "target_id": d.b}]);
    say(&d.field, "sam", finding("14% as well", 0.5, &supports)).await;
    let answer = d.sam("evidence_count", json!({})).await.unwrap();
    assert_eq!(answer.conflict.resolution.unwrap().winner_id, Some(d.b));
}

#[tokio::test]
async fn the_higher_authority_prevails_unless_one_above_both_says_otherwise() {
    let d = dispute().await;
    let mut equal = as_agent("m", "sam", 6);
    join(&d.field, "six", 6).await;
    let (c, conflicts) = {
        let against = json!([{"type": "contradicts", "target_id": d.b}]);
        say(&d.field, "six", finding("16%", 0.5, &against)).await
    };
    let other = Dispute { conflict: conflicts[0].clone(), ..dispute_of(&d) };
    // sam does not outrank six, so naming the weaker author's unit changes nothing.
    let refused = other.merge(equal.clone(), "authority", json!({"winner_id": d.b})).await;
    assert_eq!(code(refused), ErrorCode::MergeFailed);
    equal.id = "m2".to_owned();
    let answer = other.merge(equal, "authority", json!({})).await.unwrap();
    assert_eq!(answer.conflict.resolution.unwrap().winner_id, Some(c));
    // Of ann (4) and bob (5), sam (6) may choose ann.
    let overruled = d.sam("authority", json!({"winner_id": d.a})).await.unwrap();
    assert_eq!(overruled.conflict.resolution.unwrap().winner_id, Some(d.a.clone()));
}

fn dispute_of(d: &Dispute) -> Dispute {
    Dispute {
        engine: Arc::clone(&d.engine),
        field: Arc::clone(&d.field),
        a: d.a.clone(),
        b: d.b.clone(),
        conflict: d.conflict.clone(),
    }
}

#[tokio::test]
async fn a_synthesis_replaces_both_and_is_as_sure_as_the_less_sure_of_them() {
    let d = dispute().await;
    let text = json!({"synthesis": "between 14% and 23%, by region"});
    let answer = d.sam("synthesis", text).await.unwrap();
    assert_eq!(answer.conflict.resolution.as_ref().unwrap().winner_id, None);
    assert_eq!(answer.side_effects.superseded_units, [d.a.as_str(), d.b.as_str()]);
    let unit = d
        .field
        .unit(quipu_core::Reader::operator(), &answer.side_effects.new_unit_id.unwrap())
        .await
        .unwrap();
    assert_eq!((unit.kind, unit.status.as_str()), (MemoryType::Synthesis, "active"));
    assert_eq!(unit.content, "between 14% and 23%, by region");
    assert_eq!(unit.source.agent_id, "sam");
    let confidence = unit.confidence.clone().unwrap();
    assert_eq!(confidence.score, Some(0.75));
    assert_eq!(confidence.reasoning.as_deref(), Some("three reports agree"));
    assert!(unit.relations.iter().all(|link| link.kind == RelationType::Elaborates));
    let targets: Vec<&str> = unit.relations.iter().map(|link| link.target_id.as_str()).collect();
    assert_eq!(targets, [d.a.as_str(), d.b.as_str()]);
    assert_eq!(d.status(&d.a).await, "superseded");
    assert_eq!(seen(&d.field, "regions").await, ["between 14% and 23%, by region"]);
}

async fn seen(field: &Arc<Field>, hint: &str) -> Vec<String> {
    let scope = json!({"role": "r", "max_units": 9});
    let (payload, _) = AttunePayload::parse(json!({"scope": scope, "context_hint": hint})).unwrap();
    let answer = field.attune(message("look", "ann"), payload).await.unwrap();
    answer.record.into_iter().filter_map(|scoped| unit_of(scoped.memory_unit)).collect()
}

fn unit_of(view: UnitView) -> Option<String> {
    match view {
        UnitView::Unit(unit) => {
            let MemoryUnit { content, .. } = *unit;
            Some(content)
        }
        UnitView::Id { .. } => None,
    }
}

#[tokio::test]
async fn what_is_escalated_can_be_settled_by_authority_10_alone() {
    let d = dispute().await;
    let escalated = d.sam("human_escalation", json!({})).await.unwrap();
    assert_eq!(escalated.status, MergeStatus::Escalated);
    assert_eq!(escalated.conflict.status, ConflictStatus::Escalated);
    let resolution = escalated.conflict.resolution.unwrap();
    assert_eq!((resolution.winner_id, resolution.resolved_by.as_str()), (None, "sam"));
    assert_eq!(escalated.side_effects.notified_agents, ["ann", "bob"]);
    assert_eq!(escalated.side_effects.superseded_units, [""; 0]);
    for strategy in ["last_write_wins", "human_escalation", "authority", "confidence_weighted"] {
        let refused = d.sam(strategy, json!({"winner_id": d.a})).await;
        assert_eq!(code(refused), ErrorCode::InvalidTransition, "{strategy}");
    }
    join(&d.field, "human", 10).await;
    let undecided = d.merge(message("h1", "human"), "human_escalation", json!({})).await;
    assert_eq!(code(undecided), ErrorCode::InvalidTransition);
    let vote = d.merge(message("h2", "human"), "vote", json!({"winner_id": d.b})).await;
    assert_eq!(code(vote), ErrorCode::InvalidTransition);
    let weak_key = as_agent("h3", "human", 9);
    let refused = d.merge(weak_key, "human_escalation", json!({"winner_id": d.b})).await;
    assert_eq!(code(refused), ErrorCode::InvalidTransition);
    let human = message("h4", "human");
    let settled = d.merge(human, "human_escalation", json!({"winner_id": d.b})).await.unwrap();
    assert_eq!(settled.status, MergeStatus::Resolved);
    let resolution = settled.conflict.resolution.unwrap();
    assert_eq!(resolution.strategy, ConflictStrategy::HumanEscalation);
    assert_eq!((resolution.winner_id, resolution.resolved_by.as_str()), (Some(d.b), "human"));
}

#[tokio::test]
async fn a_human_may_settle_by_a_computed_strategy_what_was_escalated() {
    let d = dispute().await;
    d.sam("human_escalation", json!({})).await.unwrap();
    join(&d.field, "human", 10).await;
    let human = message("h", "human");
    let settled = d.merge(human, "confidence_weighted", json!({})).await.unwrap();
    assert_eq!(settled.conflict.resolution.unwrap().winner_id, Some(d.a));
}

#[tokio::test]
async fn resolved_is_final_and_unknown_is_not_found() {
    let d = dispute().await;
    d.sam("last_write_wins", json!({})).await.unwrap();
    let all = [
        ("last_write_wins", json!({})),
        ("synthesis", json!({"synthesis": "s"})),
        ("human_escalation", json!({})),
        ("vote", json!({"winner_id": d.a})),
    ];
    for (strategy, resolution) in all {
        let refused = d.sam(strategy, resolution).await;
        assert_eq!(code(refused), ErrorCode::InvalidTransition, "{strategy}");
    }
    for unknown in ["conflict-001", "conflict-00000000000000000000000000", "x"] {
        let lost = Dispute { conflict: unknown.to_owned(), ..dispute_of(&d) };
        let refused = lost.sam("evidence_count", json!({})).await;
        assert_eq!(code(refused), ErrorCode::ConflictNotFound, "{unknown}");
    }
}

#[tokio::test]
async fn a_vote_waits_for_its_quorum_and_then_the_majority_decides() {
    let d = dispute().await;
    join(&d.field, "eve", 4).await;
    join(&d.field, "observer", 3).await;
    // Four may vote (ann, bob, sam, eve), so three ballots are a quorum.
    let first = d.sam("vote", json!({"winner_id": d.b})).await.unwrap();
    assert_eq!(first.status, MergeStatus::PendingVote);
    assert_eq!(first.conflict.status, ConflictStatus::Resolving);
    assert_eq!(first.conflict.resolution, None);
    let tally = first.vote.unwrap();
    assert_eq!((tally.unit_a, tally.unit_b, tally.quorum), (0, 1, 3));
    assert_eq!(d.status(&d.b).await, "contested");
    let second = d.merge(message("v2", "ann"), "vote", json!({"winner_id": d.a})).await.unwrap();
    assert_eq!(second.status, MergeStatus::PendingVote);
    // sam changes its mind: still two ballots.
    let changed = d.sam("vote", json!({"winner_id": d.a})).await.unwrap();
    let tally = changed.vote.unwrap();
    assert_eq!((changed.status, tally.unit_a, tally.unit_b), (MergeStatus::PendingVote, 2, 0));
    let last = d.merge(message("v3", "eve"), "vote", json!({"winner_id": d.b})).await.unwrap();
    assert_eq!(last.status, MergeStatus::Resolved);
    let resolution = last.conflict.resolution.unwrap();
    assert_eq!(resolution.strategy, ConflictStrategy::Vote);
    assert_eq!((resolution.winner_id, resolution.resolved_by.as_str()), (Some(d.a.clone()), "eve"));
    assert_eq!(last.side_effects.notified_agents, ["ann", "bob"]);
    assert_eq!(
        (d.status(&d.a).await, d.status(&d.b).await),
        ("active".into(), "superseded".into())
    );
}

/// A ballot with a quorum.
async fn ballot(
    d: &Dispute,
    from: Message,
    winner: &str,
    quorum: Option<u32>,
) -> Result<MergeResponse, ErrorCode> {
    let payload = MergePayload {
        conflict_id: d.conflict.clone(),
        strategy: ConflictStrategy::Vote,
        resolution: MergeResolution {
            winner_id: Some(winner.to_owned()),
            synthesis: None,
            rationale: "r".to_owned(),
        },
        quorum,
        dry_run: false,
    };
    d.field.merge(from, payload).await.map_err(|error| error.code())
}

#[tokio::test]
async fn who_calls_a_vote_may_say_how_many_ballots_it_takes_and_nobody_after() {
    let d = dispute().await;
    let called = ballot(&d, message("v1", "sam"), &d.a, Some(3)).await.unwrap();
    assert_eq!(called.vote.unwrap().quorum, 3);
    assert_eq!(ballot(&d, message("v1", "sam"), &d.a, Some(3)).await.unwrap(), called);
    let otherwise = ballot(&d, message("v1", "sam"), &d.a, Some(1)).await;
    assert_eq!(otherwise, Err(ErrorCode::MessageIdReused));
    let lowered = ballot(&d, message("v2", "ann"), &d.a, Some(2)).await;
    assert_eq!(lowered, Err(ErrorCode::InvalidTransition));
    let second = ballot(&d, message("v2", "ann"), &d.a, None).await.unwrap();
    assert_eq!((second.status, second.vote.unwrap().quorum), (MergeStatus::PendingVote, 3));
    let third = ballot(&d, message("v3", "bob"), &d.b, Some(3)).await.unwrap();
    assert_eq!(third.status, MergeStatus::Resolved);
    assert_eq!(open(&d.engine, None).state_hash(), d.field.state_hash());
}

#[tokio::test]
async fn the_stricter_session_of_the_two_units_sets_the_quorum_where_nobody_did() {
    for (quorums, given, expected) in
        [([Some(1), None], None, 1), ([Some(1), Some(3)], None, 3), ([Some(4), None], Some(1), 1)]
    {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        let field = crate::support::open_across(&engine, None);
        join(&field, "sam", 8).await;
        let mut units: Vec<String> = Vec::new();
        let mut conflicts = Vec::new();
        for (at, quorum) in quorums.into_iter().enumerate() {
            let policy = json!({"quorum": quorum});
            let create = json!({"action": "create", "session_id": format!("s{at}"),
                                "session": {"goal": "g", "policy": policy}});
            let (create, _) = SessionPayload::parse(create).unwrap();
            field.session(message(&format!("s{at}"), "sam"), create).await.unwrap();
            let against = units.first().map(|old| json!({"type": "contradicts", "target_id": old}));
            let against: Vec<Value> = against.into_iter().collect();
            let said = finding(&format!("{at}"), 0.5, &json!(against));
            let mut from = message(&format!("r{at}"), "sam");
            from.session = Some(format!("s{at}"));
            let accepted = field.record(from, RecordPayload::parse(said).unwrap().0).await.unwrap();
            units.push(accepted.memory_unit_id);
            conflicts.extend(accepted.conflicts_detected);
        }
        let (a, b) = (units[0].clone(), units[1].clone());
        let d = Dispute { engine, field, a, b, conflict: conflicts[0].clone() };
        let called = ballot(&d, message("v", "sam"), &d.a, given).await.unwrap();
        assert_eq!(called.vote.unwrap().quorum, expected, "{quorums:?} {given:?}");
        let ended = called.status == MergeStatus::Resolved;
        assert_eq!(ended, expected == 1, "{quorums:?} {given:?}");
    }
}

#[tokio::test]
async fn a_vote_is_called_by_authority_6_and_no_stranger_or_observer_has_a_ballot() {
    let d = dispute().await;
    join(&d.field, "observer", 3).await;
    let ballot = json!({"winner_id": d.a});
    let called = d.merge(message("v1", "ann"), "vote", ballot.clone()).await;
    assert_eq!(code(called), ErrorCode::InsufficientAuthority);
    d.sam("vote", ballot.clone()).await.unwrap();
    let observer = d.merge(message("v2", "observer"), "vote", ballot.clone()).await;
    assert_eq!(code(observer), ErrorCode::InsufficientAuthority);
    let stranger = d.merge(message("v3", "nobody"), "vote", ballot.clone()).await;
    assert_eq!(code(stranger), ErrorCode::AgentNotRegistered);
    let other_unit = d.merge(message("v4", "ann"), "vote", json!({"winner_id": "mem-x"})).await;
    assert_eq!(code(other_unit), ErrorCode::MergeFailed);
    let counted = d.merge(message("v5", "ann"), "vote", ballot).await.unwrap();
    assert_eq!(counted.status, MergeStatus::Resolved);
}

#[tokio::test]
async fn a_vote_that_everybody_cast_and_nobody_won_is_escalated() {
    let d = dispute().await;
    join(&d.field, "eve", 4).await;
    // Two of four: no quorum. When the two others leave it is one, and a tie.
    for (agent, unit) in [("sam", &d.a), ("ann", &d.b)] {
        let from = message("v1", agent);
        let answer = d.merge(from, "vote", json!({"winner_id": unit})).await.unwrap();
        assert_eq!(answer.status, MergeStatus::PendingVote);
    }
    for agent in ["eve", "bob"] {
        let payload = quipu_wire::akashik::DeregisterPayload { agent_id: agent.to_owned() };
        d.field.deregister(message(&format!("bye-{agent}"), agent), payload).await.unwrap();
    }
    let tie = d.merge(message("v2", "ann"), "vote", json!({"winner_id": d.b})).await.unwrap();
    assert_eq!(tie.status, MergeStatus::Escalated);
    let resolution = tie.conflict.resolution.unwrap();
    assert_eq!((resolution.strategy, resolution.winner_id), (ConflictStrategy::Vote, None));
}

#[tokio::test]
async fn another_strategy_ends_an_open_vote() {
    for (strategy, resolution, ended) in [
        ("confidence_weighted", json!({}), MergeStatus::Resolved),
        ("synthesis", json!({"synthesis": "both"}), MergeStatus::Resolved),
        ("human_escalation", json!({}), MergeStatus::Escalated),
    ] {
        let d = dispute().await;
        d.sam("vote", json!({"winner_id": d.b})).await.unwrap();
        let answer = d.sam(strategy, resolution).await.unwrap();
        assert_eq!((answer.status, answer.vote), (ended, None), "{strategy}");
        let late = d.merge(message("late", "bob"), "vote", json!({"winner_id": d.b})).await;
        assert_eq!(code(late), ErrorCode::InvalidTransition, "{strategy}");
    }
}

#[tokio::test]
async fn a_winner_that_another_conflict_holds_stays_contested() {
    let d = dispute().await;
    let against = json!([{"type": "contradicts", "target_id": d.a}]);
    let (c, conflicts) = say(&d.field, "bob", finding("19%", 0.6, &against)).await;
    d.sam("confidence_weighted", json!({})).await.unwrap();
    assert_eq!(d.status(&d.a).await, "contested");
    let other = Dispute { conflict: conflicts[0].clone(), ..dispute_of(&d) };
    other.sam("confidence_weighted", json!({})).await.unwrap();
    assert_eq!((d.status(&d.a).await, d.status(&c).await), ("active".into(), "superseded".into()));
}

#[tokio::test]
async fn where_one_unit_was_replaced_since_the_other_prevails() {
    let d = dispute().await;
    let replaces = json!([{"type": "supersedes", "target_id": d.a}]);
    say(&d.field, "ann", finding("22%", 0.9, &replaces)).await;
    let chosen = d.sam("authority", json!({"winner_id": d.a})).await;
    assert_eq!(code(chosen), ErrorCode::MergeFailed);
    let answer = d.sam("confidence_weighted", json!({})).await.unwrap();
    assert_eq!(answer.conflict.resolution.unwrap().winner_id, Some(d.b.clone()));
    assert_eq!(answer.side_effects.superseded_units, [""; 0]);
    assert_eq!(d.status(&d.b).await, "active");
}

#[tokio::test]
async fn less_than_authority_6_settles_nothing() {
    let d = dispute().await;
    let refused = d.merge(message("m", "bob"), "last_write_wins", json!({})).await;
    assert_eq!(code(refused), ErrorCode::InsufficientAuthority);
    let refused = d.merge(as_agent("m", "sam", 5), "human_escalation", json!({})).await;
    assert_eq!(code(refused), ErrorCode::InsufficientAuthority);
    assert_eq!(d.field.conflicts().await.unwrap().conflicts[0].status, ConflictStatus::Detected);
}

#[tokio::test]
async fn the_same_merge_twice_is_answered_alike_also_after_a_restart_and_done_once() {
    let d = dispute().await;
    let ballot = json!({"winner_id": d.a});
    let first = d.merge(message("v1", "sam"), "vote", ballot.clone()).await.unwrap();
    let synthesis = json!({"synthesis": "both"});
    let settled = d.merge(message("s1", "sam"), "synthesis", synthesis.clone()).await.unwrap();
    let position = d.field.head().position;
    assert_eq!(d.merge(message("v1", "sam"), "vote", ballot).await.unwrap(), first);
    let again = Dispute { field: open(&d.engine, None), ..dispute_of(&d) };
    let repeated = again.merge(message("s1", "sam"), "synthesis", synthesis).await.unwrap();
    assert_eq!(repeated, settled);
    assert_eq!(again.field.head().position, position);
    let other = json!({"synthesis": "neither"});
    let reused = again.merge(message("s1", "sam"), "synthesis", other).await;
    assert_eq!(code(reused), ErrorCode::MessageIdReused);
}

#[tokio::test]
async fn of_many_merges_at_once_one_settles_the_conflict() {
    let d = Arc::new(dispute().await);
    let sent: Vec<_> = (0..16)
        .map(|at| {
            let d = Arc::clone(&d);
            let from = message(&format!("m{at}"), "sam");
            tokio::spawn(async move { d.merge(from, "last_write_wins", json!({})).await })
        })
        .collect();
    let mut settled = 0;
    for one in sent {
        match one.await.unwrap() {
            Ok(_) => settled += 1,
            Err(error) => assert_eq!(error.code(), ErrorCode::InvalidTransition),
        }
    }
    assert_eq!(settled, 1);
}

#[tokio::test]
async fn a_settled_conflict_reads_the_same_from_the_log_alone() {
    let d = dispute().await;
    d.sam("vote", json!({"winner_id": d.a})).await.unwrap();
    let hash = d.field.state_hash();
    assert_eq!(open(&d.engine, None).state_hash(), hash);
    d.merge(message("v2", "bob"), "vote", json!({"winner_id": d.a})).await.unwrap();
    let reopened = open(&d.engine, None);
    assert_eq!(reopened.state_hash(), d.field.state_hash());
    register(&reopened, "late").await.unwrap();
    record(&reopened, message("m", "late"), "later", json!([])).await.unwrap();
}

#[tokio::test]
async fn a_dry_run_says_what_would_come_of_it_and_changes_nothing() {
    let d = dispute().await;
    let ask = |strategy: &str, dry_run: bool| {
        let payload = json!({"conflict_id": d.conflict, "strategy": strategy, "dry_run": dry_run,
                             "resolution": {"rationale": "to see", "synthesis": "both"}});
        d.field.merge(
            message(&format!("m-{strategy}-{dry_run}"), "sam"),
            MergePayload::parse(payload).unwrap().0,
        )
    };
    let (head, state) = (d.field.head(), d.field.state_hash());
    for strategy in
        ["last_write_wins", "confidence_weighted", "authority", "synthesis", "human_escalation"]
    {
        ask(strategy, true).await.unwrap();
    }
    let foreseen = ask("confidence_weighted", true).await.unwrap();
    assert_eq!((d.field.head(), d.field.state_hash()), (head, state));
    assert_eq!(ask("evidence_count", true).await.unwrap_err().code(), ErrorCode::MergeFailed);
    let mut done = ask("confidence_weighted", false).await.unwrap();
    let epoch =
        |response: &MergeResponse| response.conflict.resolution.as_ref().unwrap().epoch_resolved;
    assert!(epoch(&foreseen) < epoch(&done));
    done.conflict.resolution.as_mut().unwrap().epoch_resolved = epoch(&foreseen);
    assert_eq!(foreseen, done);
    assert_eq!(
        ask("confidence_weighted", true).await.unwrap_err().code(),
        ErrorCode::InvalidTransition
    );
}
