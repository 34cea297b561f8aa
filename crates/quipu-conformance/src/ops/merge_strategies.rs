//! MERGE, who wins: the seven strategies (MRG-2, MRG-6, MRG-7) as A-25 reads them.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        dispute::Dispute,
        json::{JsonAccess, with},
        room::Room,
        unit::{finding, relation, score},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(Must, l2_strategy_01_last_write_wins, "MRG-6 L2-6", "The newest unit wins."),
    rule!(
        Must,
        l2_strategy_02_the_surer_unit_wins,
        "MRG-6 L2-6",
        "Of 0.82 and 0.75 the unit with 0.82 wins."
    ),
    rule!(
        Reading,
        l2_strategy_03_the_field_computes_the_winner,
        "A-25",
        "confidence_weighted needs no winner_id."
    ),
    rule!(
        Reading,
        l2_strategy_04_a_disagreeing_winner_fails,
        "A-25",
        "A winner_id other than the computed one answers MERGE_FAILED."
    ),
    rule!(
        Reading,
        l2_strategy_05_a_tie_fails,
        "A-25",
        "Equal scores answer MERGE_FAILED, recoverable."
    ),
    rule!(
        Must,
        l2_strategy_06_a_failed_merge_changes_nothing,
        "MRG-6",
        "After MERGE_FAILED the conflict can still be merged."
    ),
    rule!(
        Must,
        l3_strategy_07_synthesis_makes_a_unit_about_both,
        "MRG-2 MRG-3 MRG-7 L3-3",
        "The new unit has the text and relations to both, which are superseded."
    ),
    rule!(
        Must,
        l3_strategy_08_synthesis_needs_a_text,
        "MRG-2",
        "synthesis without a text is refused."
    ),
    rule!(
        Reading,
        l3_strategy_09_a_synthesis_is_as_sure_as_its_weakest_source,
        "A-26 MRG-2",
        "The synthesis elaborates both, with the smaller score."
    ),
    rule!(
        Must,
        l3_strategy_10_more_evidence_wins,
        "MRG-7 L3-3",
        "The unit with more supporting relations wins."
    ),
    rule!(
        Reading,
        l3_strategy_11_evidence_lists_break_the_tie,
        "A-25",
        "With equal support the longer evidence list wins."
    ),
    rule!(
        Must,
        l3_strategy_12_authority_decides,
        "MRG-7 L3-3",
        "The unit of the author with higher authority wins."
    ),
    rule!(
        Reading,
        l3_strategy_13_a_caller_above_both_decides,
        "A-25",
        "A caller that outranks both authors names the winner."
    ),
    rule!(
        Must,
        l3_strategy_14_a_vote_is_pending_until_the_quorum,
        "MRG-7 SM-2 L3-3",
        "The first ballot answers pending_vote, the conflict is resolving."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_strategy_15_the_majority_wins,
        "A-25 SM-2",
        "Once the quorum is reached, the unit with more ballots wins."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_strategy_16_nobody_votes_twice,
        "A-25",
        "A second ballot of the same agent does not make a quorum."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_strategy_17_a_vote_needs_one_of_the_two,
        "A-25",
        "A ballot for a third unit, or for none, is refused."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_strategy_18_a_vote_in_flight_can_be_escalated,
        "SM-1",
        "resolving to escalated by human_escalation."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_strategy_19_a_winner_outside_of_the_conflict_is_refused,
        "A-25",
        "winner_id is one of the two units."
    ),
];

fn winner(dispute: &Dispute, case: &mut Case, strategy: &str, more: Value) -> Checked<String> {
    let judge = case.agent("judge")?;
    let answer = judge.ok("MERGE", dispute.merge(strategy, more))?;
    same("status", answer.text("/status")?, "resolved")?;
    answer.text("/conflict/resolution/winner_id").map(str::to_owned)
}

fn l2_strategy_01_last_write_wins(case: &mut Case) -> Checked {
    let dispute = case.dispute_scored(0.9, 0.2)?;
    same("winner", winner(&dispute, case, "last_write_wins", json!({}))?, dispute.newer.id)
}

fn l2_strategy_02_the_surer_unit_wins(case: &mut Case) -> Checked {
    let dispute = case.dispute_scored(0.82, 0.75)?;
    let named = json!({"winner_id": dispute.older.id});
    same("winner", winner(&dispute, case, "confidence_weighted", named)?, dispute.older.id)?;
    let dispute = case.dispute_scored(0.75, 0.82)?;
    let named = json!({"winner_id": dispute.newer.id});
    same("winner", winner(&dispute, case, "confidence_weighted", named)?, dispute.newer.id)
}

fn l2_strategy_03_the_field_computes_the_winner(case: &mut Case) -> Checked {
    let dispute = case.dispute_scored(0.82, 0.75)?;
    same("winner", winner(&dispute, case, "confidence_weighted", json!({}))?, dispute.older.id)
}

fn l2_strategy_04_a_disagreeing_winner_fails(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute_scored(0.82, 0.75)?, case.agent("judge")?);
    let named = json!({"winner_id": dispute.newer.id});
    judge.refused("MERGE", dispute.merge("confidence_weighted", named), "MERGE_FAILED").map(drop)
}

fn l2_strategy_05_a_tie_fails(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute_scored(0.6, 0.6)?, case.agent("judge")?);
    let payload = dispute.merge("confidence_weighted", json!({}));
    let error = judge.refused("MERGE", payload, "MERGE_FAILED")?;
    same("recoverable", error.flag("/recoverable")?, true)
}

fn l2_strategy_06_a_failed_merge_changes_nothing(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute_scored(0.6, 0.6)?, case.agent("judge")?);
    let named = json!({"winner_id": format!("mem-{}", case.token)});
    judge.refused_somehow("MERGE", dispute.merge("confidence_weighted", named))?;
    judge.sees(&dispute.older)?;
    same("winner", winner(&dispute, case, "last_write_wins", json!({}))?, dispute.newer.id)
}

fn l3_strategy_07_synthesis_makes_a_unit_about_both(case: &mut Case) -> Checked {
    let (dispute, judge, reader) = (case.dispute()?, case.agent("judge")?, case.agent("analyst")?);
    let text = case.words("It leaves at dawn in summer");
    let answer = judge.ok("MERGE", dispute.merge("synthesis", json!({"synthesis": text})))?;
    same("status", answer.text("/status")?, "resolved")?;
    let mut superseded = answer.texts("/side_effects/superseded_units")?;
    let mut both = vec![dispute.older.id.clone(), dispute.newer.id.clone()];
    superseded.sort();
    both.sort();
    same("superseded_units", superseded, both)?;
    let new = answer.text("/side_effects/new_unit_id")?;
    let given = reader.attune_since(dispute.newer.epoch, json!({}))?;
    let unit = given.list("/record")?.iter().find(|item| item["memory_unit"]["id"] == new);
    let unit = unit.cloned().unwrap_or_default();
    same("content", unit.text("/memory_unit/content")?, text.as_str())?;
    for original in [&dispute.older, &dispute.newer] {
        let relations = unit.list("/memory_unit/relations")?;
        let related = relations.iter().any(|entry| entry["target_id"] == original.id.as_str());
        ensure(related, format!("no relation to {}", original.id))?;
        reader.misses(original)?;
    }
    Ok(())
}

fn l3_strategy_08_synthesis_needs_a_text(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    judge.refused_somehow("MERGE", dispute.merge("synthesis", json!({})))?;
    judge.refused_somehow("MERGE", dispute.merge("synthesis", json!({"synthesis": ""}))).map(drop)
}

fn l3_strategy_09_a_synthesis_is_as_sure_as_its_weakest_source(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute_scored(0.9, 0.4)?, case.agent("judge")?);
    let reader = case.agent("analyst")?;
    let text = case.words("It leaves at dawn in summer");
    let answer = judge.ok("MERGE", dispute.merge("synthesis", json!({"synthesis": text})))?;
    let new = answer.text("/side_effects/new_unit_id")?;
    let given = reader.attune_since(dispute.newer.epoch, json!({}))?;
    let item = given.list("/record")?.iter().find(|item| item["memory_unit"]["id"] == new);
    let unit = item.cloned().unwrap_or_default().at("/memory_unit")?.clone();
    same("type", unit.text("/type")?, "synthesis")?;
    let score = unit.number("/confidence/score")?;
    ensure((score - 0.4).abs() < 1e-9, format!("the score is {score}"))?;
    let elaborates = unit.list("/relations")?.iter().filter(|r| r["type"] == "elaborates").count();
    same("elaborates relations", elaborates, 2)
}

fn l3_strategy_10_more_evidence_wins(case: &mut Case) -> Checked {
    let dispute = case.dispute_scored(0.3, 0.9)?;
    let witness = case.agent("witness")?;
    for _ in 0..2 {
        let seen = with(finding(case.words("I saw it")), relation("supports", &dispute.older.id));
        witness.record(seen)?;
    }
    let named = json!({"winner_id": dispute.older.id});
    same("winner", winner(&dispute, case, "evidence_count", named)?, dispute.older.id)
}

fn l3_strategy_11_evidence_lists_break_the_tie(case: &mut Case) -> Checked {
    let (a, b) = (case.agent("researcher")?, case.agent("reviewer")?);
    let sure = |evidence: &[&str]| json!({"confidence": {"score": 0.5, "reasoning": "It was read", "evidence": evidence}});
    let dispute = case.dispute_between(a, b, sure(&["a", "b", "c"]), sure(&["a"]))?;
    same("winner", winner(&dispute, case, "evidence_count", json!({}))?, dispute.older.id)
}

fn l3_strategy_12_authority_decides(case: &mut Case) -> Checked {
    let (high, low) = (case.agent_of(8)?, case.agent_of(4)?);
    let dispute = case.dispute_between(high, low, score(0.2), score(0.9))?;
    let judge = case.agent_of(6)?;
    let payload = dispute.merge("authority", json!({"winner_id": dispute.older.id}));
    let answer = judge.ok("MERGE", payload)?;
    same("winner", answer.text("/conflict/resolution/winner_id")?, dispute.older.id.as_str())
}

fn l3_strategy_13_a_caller_above_both_decides(case: &mut Case) -> Checked {
    let (high, low) = (case.agent_of(6)?, case.agent_of(4)?);
    let dispute = case.dispute_between(high, low, json!({}), json!({}))?;
    let judge = case.agent_of(8)?;
    let payload = dispute.merge("authority", json!({"winner_id": dispute.newer.id}));
    let answer = judge.ok("MERGE", payload)?;
    same("winner", answer.text("/conflict/resolution/winner_id")?, dispute.newer.id.as_str())
}

/// A dispute inside a session in which so many ballots decide.
fn voted(case: &mut Case, quorum: u64) -> Checked<(Room, Dispute)> {
    let room = case.room()?;
    let policy = json!({"session": {"policy": {"quorum": quorum}}});
    room.act(&room.creator, "set_policy", policy)?;
    let (a, b) = (case.agent("researcher")?, case.agent("reviewer")?);
    let (a, b) = (room.joined(&a)?, room.joined(&b)?);
    let dispute = case.dispute_between(a, b, json!({}), json!({}))?;
    Ok((room, dispute))
}

fn l3_strategy_14_a_vote_is_pending_until_the_quorum(case: &mut Case) -> Checked {
    let (room, dispute) = voted(case, 2)?;
    let ballot = dispute.merge("vote", json!({"winner_id": dispute.older.id}));
    let answer = room.creator.ok("MERGE", ballot)?;
    same("status", answer.text("/status")?, "pending_vote")?;
    same("conflict", answer.text("/conflict/status")?, "resolving")?;
    same("stored", room.creator.conflict(&dispute.id)?.text("/status")?, "resolving")?;
    room.creator.sees(&dispute.older).map(drop)
}

fn l3_strategy_15_the_majority_wins(case: &mut Case) -> Checked {
    let (room, dispute) = voted(case, 3)?;
    let ballot = |unit: &str| dispute.merge("vote", json!({"winner_id": unit}));
    room.creator.ok("MERGE", ballot(&dispute.older.id))?;
    let second = dispute.author_b.ok("MERGE", ballot(&dispute.newer.id))?;
    same("status", second.text("/status")?, "pending_vote")?;
    let last = dispute.author_a.ok("MERGE", ballot(&dispute.older.id))?;
    same("status", last.text("/status")?, "resolved")?;
    same("winner", last.text("/conflict/resolution/winner_id")?, dispute.older.id.as_str())
}

fn l3_strategy_16_nobody_votes_twice(case: &mut Case) -> Checked {
    let (room, dispute) = voted(case, 2)?;
    let ballot = dispute.merge("vote", json!({"winner_id": dispute.older.id}));
    room.creator.ok("MERGE", ballot.clone())?;
    room.creator.send("MERGE", ballot)?;
    same("status", room.creator.conflict(&dispute.id)?.text("/status")?, "resolving")
}

fn l3_strategy_17_a_vote_needs_one_of_the_two(case: &mut Case) -> Checked {
    let (room, dispute) = voted(case, 2)?;
    let nowhere = format!("mem-{}", case.token);
    room.creator.refused_somehow("MERGE", dispute.merge("vote", json!({"winner_id": nowhere})))?;
    room.creator.refused_somehow("MERGE", dispute.merge("vote", json!({}))).map(drop)
}

fn l3_strategy_18_a_vote_in_flight_can_be_escalated(case: &mut Case) -> Checked {
    let (room, dispute) = voted(case, 2)?;
    let ballot = dispute.merge("vote", json!({"winner_id": dispute.older.id}));
    room.creator.ok("MERGE", ballot)?;
    let answer = room.creator.ok("MERGE", dispute.merge("human_escalation", json!({})))?;
    same("status", answer.text("/conflict/status")?, "escalated")
}

fn l3_strategy_19_a_winner_outside_of_the_conflict_is_refused(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let other = judge.record(finding(case.words("Trains are better")))?;
    for strategy in ["confidence_weighted", "authority", "evidence_count"] {
        let payload = dispute.merge(strategy, json!({"winner_id": other.id}));
        judge.refused_somehow("MERGE", payload)?;
    }
    Ok(())
}
