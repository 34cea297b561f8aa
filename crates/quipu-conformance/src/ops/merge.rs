//! MERGE and the conflict's state machine: sections 3.6 and 4.1 of the catalogue.

use serde_json::json;

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l2_merge_01_an_unknown_conflict_is_not_found,
        "MRG-1",
        "A conflict that is not there answers CONFLICT_NOT_FOUND, not recoverable."
    ),
    rule!(
        Must,
        l2_merge_02_a_resolved_conflict_cannot_be_merged_again,
        "MRG-1 SM-1",
        "resolved is terminal for every strategy: INVALID_TRANSITION, recoverable."
    ),
    rule!(
        Must,
        l2_merge_03_the_loser_is_superseded,
        "MRG-3",
        "side_effects names the loser, and ATTUNE gives it no more."
    ),
    rule!(
        Must,
        l2_merge_04_the_conflict_is_resolved_with_its_details,
        "MRG-4",
        "strategy, winner_id, rationale, resolved_by and epoch_resolved are there."
    ),
    rule!(
        Must,
        l2_merge_05_tells_the_authors,
        "MRG-5",
        "notified_agents has the authors of both units."
    ),
    rule!(
        Must,
        l2_merge_06_needs_a_rationale,
        "MRG-4 SM-1",
        "A MERGE without rationale is refused and changes nothing."
    ),
    rule!(
        Must,
        l2_merge_07_refuses_an_unknown_strategy,
        "MRG-6",
        "A strategy outside of the seven is refused."
    ),
    rule!(
        Must,
        l2_merge_08_needs_conflict_and_strategy,
        "MRG-1",
        "conflict_id and strategy are required."
    ),
    rule!(
        Must,
        l2_merge_09_escalation_leads_to_escalated,
        "MRG-6 SM-1",
        "detected to escalated by human_escalation; the resolution says why."
    ),
    rule!(
        Must,
        l3_merge_10_a_human_resolves_what_was_escalated,
        "SM-1 A-14 MRG-8",
        "escalated to resolved by authority 10."
    ),
    rule!(
        Reading,
        l3_merge_11_nobody_else_resolves_what_was_escalated,
        "A-14 SM-1",
        "An escalated conflict answers INVALID_TRANSITION to authority 6."
    ),
    rule!(
        Reading,
        l3_merge_12_an_escalated_conflict_is_not_escalated_again,
        "SM-1 A-14",
        "escalated to escalated is no move for authority 6."
    ),
    rule!(
        Reading,
        l2_merge_13_the_winner_is_active_again,
        "A-13",
        "The winner goes from contested back to active."
    ),
    rule!(
        Must,
        l2_merge_14_an_escalated_conflict_stays_unresolved,
        "ATT-7 SM-1",
        "An escalated conflict is still given by ATTUNE."
    ),
    rule!(
        Must,
        l2_merge_15_the_authors_get_a_notification,
        "MRG-5",
        "The authors' subscriptions to conflict.resolved are served."
    )
    .needing(&["SUBSCRIBE"]),
    rule!(Must, l2_merge_16_refuses_a_stranger, "ENV-7", "An unregistered agent is refused."),
    rule!(
        Reading,
        l2_merge_17_the_same_merge_twice_is_refused_the_second_time,
        "SM-1",
        "A second MERGE under another message id changes nothing."
    ),
    rule!(
        Reading,
        l2_merge_18_capabilities_name_the_strategies,
        "MRG-6 REG-3",
        "conflict_strategies has those of the level."
    ),
];

fn l2_merge_01_an_unknown_conflict_is_not_found(case: &mut Case) -> Checked {
    let judge = case.agent("judge")?;
    let payload = json!({
        "conflict_id": format!("conflict-{}", case.token), "strategy": "last_write_wins",
        "resolution": {"rationale": "It is newer"},
    });
    let error = judge.refused("MERGE", payload, "CONFLICT_NOT_FOUND")?;
    same("recoverable", error.flag("/recoverable")?, false)
}

fn l2_merge_02_a_resolved_conflict_cannot_be_merged_again(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    let winner = json!({"winner_id": dispute.older.id, "synthesis": "Both are right"});
    for strategy in ["last_write_wins", "confidence_weighted", "human_escalation"] {
        let payload = dispute.merge(strategy, winner.clone());
        let error = judge.refused("MERGE", payload, "INVALID_TRANSITION")?;
        same("recoverable", error.flag("/recoverable")?, true)?;
    }
    same("status", judge.conflict(&dispute.id)?.text("/status")?, "resolved")
}

fn l2_merge_03_the_loser_is_superseded(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let answer = judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    let superseded = answer.texts("/side_effects/superseded_units")?;
    same("superseded_units", superseded, vec![dispute.older.id.clone()])?;
    let effects = answer.at("/side_effects")?;
    effects.has_keys("side_effects", &["superseded_units", "new_unit_id", "notified_agents"])?;
    ensure(effects.is_nothing("/new_unit_id"), "a new unit was made")?;
    judge.misses(&dispute.older)?;
    judge.sees(&dispute.newer).map(drop)
}

fn l2_merge_04_the_conflict_is_resolved_with_its_details(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let answer = judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    same("status", answer.text("/status")?, "resolved")?;
    for conflict in [answer.at("/conflict")?.clone(), judge.conflict(&dispute.id)?] {
        same("status", conflict.text("/status")?, "resolved")?;
        let details = conflict.at("/resolution")?;
        same("strategy", details.text("/strategy")?, "last_write_wins")?;
        same("winner_id", details.text("/winner_id")?, dispute.newer.id.as_str())?;
        same("rationale", details.text("/rationale")?, "It was looked into")?;
        same("resolved_by", details.text("/resolved_by")?, judge.id.as_str())?;
        let epoch = details.integer("/epoch_resolved")?;
        ensure(epoch > dispute.newer.epoch, format!("epoch_resolved is {epoch}"))?;
    }
    Ok(())
}

fn l2_merge_05_tells_the_authors(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let answer = judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    let told = answer.texts("/side_effects/notified_agents")?;
    let both = [&dispute.author_a.id, &dispute.author_b.id];
    ensure(both.iter().all(|author| told.contains(author)), format!("notified_agents is {told:?}"))
}

fn l2_merge_06_needs_a_rationale(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    for resolution in [json!({}), json!({"rationale": ""})] {
        let payload = dispute.merge("last_write_wins", json!({}));
        judge.refused_somehow("MERGE", with(payload, json!({"resolution": resolution})))?;
    }
    same("status", judge.conflict(&dispute.id)?.text("/status")?, "detected")
}

fn l2_merge_07_refuses_an_unknown_strategy(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    judge.refused_somehow("MERGE", dispute.merge("coin_toss", json!({}))).map(drop)
}

fn l2_merge_08_needs_conflict_and_strategy(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let full = dispute.merge("last_write_wins", json!({}));
    judge.refused_somehow("MERGE", crate::actors::json::without(full.clone(), "conflict_id"))?;
    judge.refused_somehow("MERGE", crate::actors::json::without(full, "strategy")).map(drop)
}

fn l2_merge_09_escalation_leads_to_escalated(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let answer = judge.ok("MERGE", dispute.merge("human_escalation", json!({})))?;
    same("status", answer.text("/status")?, "escalated")?;
    same("conflict", answer.text("/conflict/status")?, "escalated")?;
    let strategy = answer.text("/conflict/resolution/strategy")?;
    same("resolution.strategy", strategy, "human_escalation")?;
    judge.sees(&dispute.older)?;
    judge.sees(&dispute.newer).map(drop)
}

fn l3_merge_10_a_human_resolves_what_was_escalated(case: &mut Case) -> Checked {
    // The authors have less authority than a human, so that the human prevails by any rule.
    let (a, b) = (case.agent_of(4)?, case.agent_of(4)?);
    let dispute = case.dispute_between(a, b, json!({}), json!({}))?;
    let (senior, human) = (case.agent_of(6)?, case.agent_of(10)?);
    senior.ok("MERGE", dispute.merge("human_escalation", json!({})))?;
    let decision = json!({"winner_id": dispute.older.id});
    let answer = human.ok("MERGE", dispute.merge("authority", decision))?;
    same("status", answer.text("/status")?, "resolved")?;
    let winner = answer.text("/conflict/resolution/winner_id")?;
    same("winner_id", winner, dispute.older.id.as_str())
}

fn l3_merge_11_nobody_else_resolves_what_was_escalated(case: &mut Case) -> Checked {
    let (dispute, senior) = (case.dispute()?, case.agent_of(6)?);
    senior.ok("MERGE", dispute.merge("human_escalation", json!({})))?;
    for strategy in ["last_write_wins", "confidence_weighted", "synthesis"] {
        let resolution = json!({"winner_id": dispute.newer.id, "synthesis": "Both are right"});
        senior.refused("MERGE", dispute.merge(strategy, resolution), "INVALID_TRANSITION")?;
    }
    same("status", senior.conflict(&dispute.id)?.text("/status")?, "escalated")
}

fn l3_merge_12_an_escalated_conflict_is_not_escalated_again(case: &mut Case) -> Checked {
    let (dispute, senior) = (case.dispute()?, case.agent_of(6)?);
    senior.ok("MERGE", dispute.merge("human_escalation", json!({})))?;
    let again = dispute.merge("human_escalation", json!({}));
    senior.refused("MERGE", again, "INVALID_TRANSITION").map(drop)
}

fn l2_merge_13_the_winner_is_active_again(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    same("status", judge.sees(&dispute.newer)?.text("/status")?, "active")
}

fn l2_merge_14_an_escalated_conflict_stays_unresolved(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    judge.ok("MERGE", dispute.merge("human_escalation", json!({})))?;
    let answer = judge.attune(json!({}))?;
    let given = answer.list("/conflicts")?.iter().any(|c| c["id"] == dispute.id.as_str());
    ensure(given, "an escalated conflict is not given by ATTUNE")
}

fn l2_merge_15_the_authors_get_a_notification(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let mut first = dispute.author_a.subscribe(&["conflict.resolved"])?;
    let mut second = dispute.author_b.subscribe(&["conflict.resolved"])?;
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    for push in [&mut first, &mut second] {
        push.until(|got| got["conflict_id"] == dispute.id.as_str())?;
    }
    Ok(())
}

fn l2_merge_16_refuses_a_stranger(case: &mut Case) -> Checked {
    let (dispute, stranger) = (case.dispute()?, case.stranger());
    let payload = dispute.merge("last_write_wins", json!({}));
    stranger.refused("MERGE", payload, "AGENT_NOT_REGISTERED").map(drop)
}

fn l2_merge_17_the_same_merge_twice_is_refused_the_second_time(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    let before = judge.conflict(&dispute.id)?;
    let again = dispute.merge("last_write_wins", json!({}));
    judge.refused("MERGE", again, "INVALID_TRANSITION")?;
    same("the conflict", judge.conflict(&dispute.id)?, before)
}

fn l2_merge_18_capabilities_name_the_strategies(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let answer = agent.ok("REGISTER", json!({"id": agent.id, "role": "judge"}))?;
    let claimed = answer.texts("/field_capabilities/conflict_strategies")?;
    let full = [
        "last_write_wins",
        "confidence_weighted",
        "human_escalation",
        "authority",
        "evidence_count",
        "synthesis",
        "vote",
    ];
    let count = if case.field.level >= 3 { 7 } else { 3 };
    let missing: Vec<&&str> =
        full.iter().take(count).filter(|s| !claimed.iter().any(|c| c == *s)).collect();
    ensure(missing.is_empty(), format!("conflict_strategies lacks {missing:?}"))
}
