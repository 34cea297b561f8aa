//! ATTUNE, what it returns and in which order: section 3.4 of the catalogue.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
        unit::{committed, draft, finding, relation, score},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_attune_01_leaves_out_the_requesters_own_units,
        "ATT-1 L0-8",
        "An agent is not given what it recorded itself."
    ),
    rule!(
        Must,
        l0_attune_02_gives_no_superseded_or_retracted_unit,
        "ATT-2 L0-9",
        "No unit that is given has the status superseded or retracted."
    ),
    rule!(
        Must,
        l2_attune_09_leaves_out_the_loser_of_a_merge,
        "ATT-2 MRG-3",
        "A unit that lost a conflict is not given."
    )
    .needing(&["MERGE"]),
    rule!(
        Must,
        l0_attune_03_sorts_by_score,
        "ATT-3 L0-7",
        "The scores go down from first to last."
    ),
    rule!(
        Must,
        l0_attune_04_truncates_to_max_units,
        "ATT-4 SC-3 L0-6",
        "No more units than max_units are given, and they are the best ones."
    ),
    rule!(
        Must,
        l0_attune_05_each_unit_has_score_and_reason,
        "ATT-5 ATT-10 L0-10",
        "Each unit has a score from 0 to 1 and a reason in words."
    ),
    rule!(
        Must,
        l1_attune_06_since_epoch_is_inclusive,
        "ATT-6 A-01 L1-8",
        "Units at or after since_epoch are given, earlier ones are not."
    ),
    rule!(
        Must,
        l1_attune_07_has_unresolved_conflicts,
        "ATT-7 L1-9",
        "An open conflict is in conflicts of another agent's next ATTUNE."
    ),
    rule!(
        Must,
        l0_attune_08_answers_with_the_shape_of_the_contract,
        "ATT-7 ATT-5",
        "The answer has record, conflicts, context_budget and epoch."
    ),
    rule!(
        Must,
        l1_attune_14_polling_misses_nothing_and_repeats_nothing,
        "ATT-14 SUB-2 A-01",
        "The epoch of the last answer is the watermark of the next."
    ),
    rule!(
        Reading,
        l0_attune_15_own_units_come_on_demand,
        "ATT-1 A-18",
        "scope.include_own gives the agent's own units too."
    ),
    rule!(
        Reading,
        l0_attune_16_drafts_are_visible_and_labelled,
        "A-12",
        "Another agent's draft is given, with status draft."
    ),
    rule!(
        Should,
        l0_attune_17_newer_units_score_higher,
        "ATT-11",
        "Of two equal units the later one does not score lower."
    ),
    rule!(
        Should,
        l0_attune_18_role_alignment_counts,
        "ATT-11 ATT-13",
        "A unit about the role scores higher than one about something else."
    ),
    rule!(
        Should,
        l0_attune_19_decisions_score_above_observations,
        "ATT-11",
        "A decision scores above an equal observation."
    ),
    rule!(
        Should,
        l0_attune_20_gives_units_of_several_agents,
        "ATT-11",
        "A short list does not come from one agent alone."
    ),
    rule!(
        Reading,
        l1_attune_21_reads_what_was_just_written,
        "ATT-3",
        "An accepted unit is a candidate of the very next ATTUNE."
    ),
    rule!(
        Must,
        l0_attune_22_budget_counts_agree_with_the_record,
        "ATT-4",
        "units_returned is the length of record, units_available not smaller."
    ),
    rule!(
        Reading,
        l1_attune_23_since_epoch_in_the_scope_counts_too,
        "A-02",
        "since_epoch of the scope works like that of the payload."
    ),
    rule!(
        Reading,
        l1_attune_24_the_larger_since_epoch_holds,
        "A-02",
        "Where both are given the larger one holds."
    ),
    rule!(
        Should,
        l2_attune_25_confidence_counts,
        "ATT-12",
        "A surer unit does not score lower than a doubtful one."
    ),
    rule!(
        Must,
        l2_attune_26_the_hint_finds_the_meaning,
        "ATT-12 L2-2",
        "A unit about the hint scores higher than one about something else."
    ),
    rule!(
        Reading,
        l2_attune_27_resolved_conflicts_are_left_out,
        "ATT-7",
        "A conflict that was resolved is no longer given."
    )
    .needing(&["MERGE"]),
    rule!(
        Should,
        l2_attune_28_related_units_are_nearer,
        "ATT-12",
        "A unit related to the task scores higher than an unrelated one."
    ),
];

/// The scores that ATTUNE returns to a reader for the two units.
fn scores(case: &mut Case, first: Value, second: Value, attune: &Value) -> Checked<(f64, f64)> {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let (first, second) = (author.record(first)?, author.record(second)?);
    let payload = with(json!({"scope": {"role": "analyst", "max_units": 10_000}}), attune.clone());
    let since = if case.field.level == 0 { Value::Null } else { json!(first.epoch) };
    let answer = reader.ok("ATTUNE", with(payload, json!({"since_epoch": since})))?;
    let record = answer.list("/record")?;
    let score = |id: &str| {
        let found = record.iter().find(|item| item["memory_unit"]["id"] == id);
        found.cloned().unwrap_or_default().number("/relevance_score")
    };
    Ok((score(&first.id)?, score(&second.id)?))
}

fn l0_attune_01_leaves_out_the_requesters_own_units(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let unit = agent.record(finding(case.words("Doves returned")))?;
    agent.misses(&unit)
}

fn l0_attune_02_gives_no_superseded_or_retracted_unit(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let old = author.record(finding(case.words("Doves returned")))?;
    author.record(with(finding(case.words("Crows returned")), relation("supersedes", &old.id)))?;
    let answer = reader.attune_since(old.epoch, json!({}))?;
    for item in answer.list("/record")? {
        let status = item.text("/memory_unit/status")?;
        ensure(
            !["superseded", "retracted"].contains(&status),
            format!("a {status} unit is given"),
        )?;
    }
    Ok(())
}

fn l2_attune_09_leaves_out_the_loser_of_a_merge(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let (judge, reader) = (case.agent("judge")?, case.agent("analyst")?);
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    reader.misses(&dispute.older)?;
    reader.sees(&dispute.newer).map(drop)
}

fn l0_attune_03_sorts_by_score(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let first = author.record(finding(case.words("analyst analyst analyst")))?;
    for kind in ["observation", "decision", "finding", "question"] {
        author.record(committed(kind, case.words("Doves returned")))?;
    }
    let answer = reader.attune_since(first.epoch, json!({}))?;
    let scores = answer.list("/record")?.iter().map(|item| item.number("/relevance_score"));
    let scores: Vec<f64> = scores.collect::<Checked<_>>()?;
    ensure(scores.len() >= 5, format!("only {} units were given", scores.len()))?;
    let falls = scores.windows(2).all(|pair| pair[0] >= pair[1]);
    ensure(falls, format!("the scores do not fall: {scores:?}"))
}

fn l0_attune_04_truncates_to_max_units(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let since = author.record(finding(case.words("Doves left")))?.epoch;
    for _ in 0..4 {
        author.record(finding(case.words("Doves returned")))?;
    }
    let many = reader.attune_since(since, json!({}))?;
    let few = reader.attune_since(since, json!({"max_units": 2}))?;
    same("units", few.list("/record")?.len(), 2)?;
    let best = many.list("/record")?.first().cloned().unwrap_or_default();
    let first = few.list("/record")?.first().cloned().unwrap_or_default();
    let lost = best.number("/relevance_score")? - first.number("/relevance_score")?;
    ensure(lost < 0.05, format!("the first of two scores {lost} below the first of all"))?;
    let scope = json!({"scope": {"role": "analyst", "max_units": 0}});
    reader.refused_somehow("ATTUNE", scope).map(drop)
}

fn l0_attune_05_each_unit_has_score_and_reason(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    author.record(finding(case.words("Doves returned")))?;
    let answer = reader.attune(json!({"max_units": 50}))?;
    for item in answer.list("/record")? {
        let score = item.number("/relevance_score")?;
        ensure((0.0..=1.0).contains(&score), format!("a score of {score}"))?;
        ensure(!item.text("/relevance_reason")?.trim().is_empty(), "a reason is empty")?;
        ensure(["full", "summary"].contains(&item.text("/format")?), "format is neither")?;
    }
    ensure(!answer.list("/record")?.is_empty(), "nothing was given")
}

fn l1_attune_06_since_epoch_is_inclusive(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let before = author.record(finding(case.words("Doves left")))?;
    let at = author.record(finding(case.words("Doves returned")))?;
    let after = author.record(finding(case.words("Doves nest")))?;
    let answer = reader.attune_since(at.epoch, json!({}))?;
    let gives = |id: &str| {
        answer
            .list("/record")
            .is_ok_and(|list| list.iter().any(|item| item["memory_unit"]["id"] == id))
    };
    ensure(gives(&at.id), "the unit at since_epoch is missing")?;
    ensure(gives(&after.id), "the unit after since_epoch is missing")?;
    ensure(!gives(&before.id), "a unit before since_epoch is given")
}

fn l1_attune_07_has_unresolved_conflicts(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let reader = case.agent("analyst")?;
    for agent in [&reader, &dispute.author_a, &dispute.author_b] {
        let answer = agent.attune_since(dispute.older.epoch, json!({}))?;
        let conflicts = answer.list("/conflicts")?;
        let found = conflicts.iter().find(|conflict| conflict["id"] == dispute.id.as_str());
        let found = found.cloned().unwrap_or_default();
        same("status", found.text("/status")?, "detected")?;
    }
    Ok(())
}

fn l0_attune_08_answers_with_the_shape_of_the_contract(case: &mut Case) -> Checked {
    let answer = case.agent("analyst")?.attune(json!({"max_units": 3}))?;
    same("status", answer.text("/status")?, "ok")?;
    answer.list("/record")?;
    answer.list("/conflicts")?;
    answer.integer("/epoch")?;
    let budget = answer.at("/context_budget")?;
    budget.has_keys(
        "context_budget",
        &["units_returned", "units_available", "tokens_used", "tokens_budget"],
    )
}

fn l1_attune_14_polling_misses_nothing_and_repeats_nothing(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let mut since = reader.attune(json!({"max_units": 1}))?.integer("/epoch")?;
    let mut told: Vec<String> = Vec::new();
    let mut made: Vec<String> = Vec::new();
    for _ in 0..3 {
        for _ in 0..2 {
            made.push(author.record(finding(case.words("Doves returned")))?.id);
        }
        let answer = reader.attune_since(since, json!({}))?;
        since = answer.integer("/epoch")?;
        let ids = answer
            .list("/record")?
            .iter()
            .map(|item| item.text("/memory_unit/id").map(str::to_owned));
        told.extend(ids.collect::<Checked<Vec<_>>>()?.into_iter().filter(|id| made.contains(id)));
    }
    told.sort();
    made.sort();
    same("the units of three polls", told, made)
}

fn l0_attune_15_own_units_come_on_demand(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let unit = agent.record(finding(case.words("Doves returned")))?;
    let found = agent.finds(&unit, json!({"include_own": true}))?;
    ensure(found.is_some(), "include_own does not give the agent's own unit")
}

fn l0_attune_16_drafts_are_visible_and_labelled(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let note = author.record(draft(case.words("Doves returned")))?;
    let seen = reader.sees(&note)?;
    same("status", seen.text("/status")?, "draft")?;
    same("mode", seen.text("/mode")?, "draft")
}

fn l0_attune_17_newer_units_score_higher(case: &mut Case) -> Checked {
    let payload = finding(case.words("Doves returned"));
    let (older, newer) = scores(case, payload.clone(), payload, &json!({}))?;
    ensure(newer >= older, format!("older {older}, newer {newer}"))
}

fn l0_attune_18_role_alignment_counts(case: &mut Case) -> Checked {
    let role = format!("{}_botanist", case.token);
    let near = finding(format!("For the {} botanist: the moss has spread.", case.token));
    let far = finding(case.words("A tram was late."));
    let scope = json!({"scope": {"role": role, "max_units": 10_000}});
    let (near, far) = scores(case, near, far, &scope)?;
    ensure(near > far, format!("about the role {near}, about something else {far}"))
}

fn l0_attune_19_decisions_score_above_observations(case: &mut Case) -> Checked {
    let content = case.words("Doves returned");
    let (decision, observation) =
        (committed("decision", content.clone()), committed("observation", content));
    let (decision, observation) = scores(case, decision, observation, &json!({}))?;
    ensure(decision > observation, format!("decision {decision}, observation {observation}"))
}

fn l0_attune_20_gives_units_of_several_agents(case: &mut Case) -> Checked {
    let (loud, quiet, reader) =
        (case.agent("scribe")?, case.agent("scribe")?, case.agent("analyst")?);
    let first = quiet.record(finding(case.words("Doves returned")))?;
    for _ in 0..6 {
        loud.record(finding(case.words("Doves returned")))?;
    }
    let answer = reader.attune_since(first.epoch, json!({"max_units": 5}))?;
    let authors: Vec<&str> = answer
        .list("/record")?
        .iter()
        .filter_map(|i| i["memory_unit"]["source"]["agent_id"].as_str())
        .collect();
    ensure(authors.iter().any(|author| *author != loud.id), format!("all are of {}", loud.id))
}

fn l1_attune_21_reads_what_was_just_written(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    for _ in 0..10 {
        let unit = author.record(finding(case.words("Doves returned")))?;
        reader.sees(&unit)?;
    }
    Ok(())
}

fn l0_attune_22_budget_counts_agree_with_the_record(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    for _ in 0..3 {
        author.record(finding(case.words("Doves returned")))?;
    }
    let answer = reader.attune(json!({"max_units": 2}))?;
    let returned = answer.integer("/context_budget/units_returned")?;
    let available = answer.integer("/context_budget/units_available")?;
    same("units_returned", Ok(returned), u64::try_from(answer.list("/record")?.len()))?;
    ensure(available >= 3, format!("units_available is {available} after three units"))
}

/// Whether ATTUNE returns each of two units: one before the watermark and one at it.
fn polled(case: &mut Case, marks: impl Fn(u64, u64) -> Value) -> Checked<(bool, bool)> {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let before = author.record(finding(case.words("Doves left")))?;
    let at = author.record(finding(case.words("Doves returned")))?;
    let answer = reader.ok("ATTUNE", marks(before.epoch, at.epoch))?;
    let record = answer.list("/record")?;
    let gives = |id: &str| record.iter().any(|item| item["memory_unit"]["id"] == id);
    Ok((gives(&before.id), gives(&at.id)))
}

fn l1_attune_23_since_epoch_in_the_scope_counts_too(case: &mut Case) -> Checked {
    let marks = |_, at| json!({"scope": {"role": "a", "max_units": 10_000, "since_epoch": at}});
    same("the units before and at the mark", polled(case, marks)?, (false, true))
}

fn l1_attune_24_the_larger_since_epoch_holds(case: &mut Case) -> Checked {
    let marks = |before, at| json!({"since_epoch": before, "scope": {"role": "a", "max_units": 10_000, "since_epoch": at}});
    same("the units before and at the mark", polled(case, marks)?, (false, true))?;
    let marks = |before, at| json!({"since_epoch": at, "scope": {"role": "a", "max_units": 10_000, "since_epoch": before}});
    same("the units before and at the mark", polled(case, marks)?, (false, true))
}

fn l2_attune_25_confidence_counts(case: &mut Case) -> Checked {
    let content = case.words("Doves returned");
    let (sure, unsure) =
        (with(finding(content.clone()), score(0.95)), with(finding(content), score(0.1)));
    let (sure, unsure) = scores(case, sure, unsure, &json!({}))?;
    ensure(sure > unsure, format!("sure {sure}, unsure {unsure}"))
}

fn l2_attune_26_the_hint_finds_the_meaning(case: &mut Case) -> Checked {
    // A hint shares no word with the unit that it is about. Each hint must favour its own unit more than the other
    // hint does, so that no other factor decides.
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let health = case.words("The physician prescribed medicine to her patients");
    let music = case.words("The orchestra tuned its violins");
    let (health, music) = (author.record(finding(health))?, author.record(finding(music))?);
    let leaning = |hint: &str| {
        let scope = json!({"role": "analyst", "max_units": 10_000});
        let payload = json!({"scope": scope, "since_epoch": health.epoch, "context_hint": hint});
        let answer = reader.ok("ATTUNE", payload)?;
        let score = |id: &str| {
            let found = answer.list("/record")?.iter().find(|i| i["memory_unit"]["id"] == id);
            found.cloned().unwrap_or_default().number("/relevance_score")
        };
        Ok(score(&health.id)? - score(&music.id)?)
    };
    let by_health = leaning("a doctor gives drugs to sick people in hospital")?;
    let by_music = leaning("a concert of classical songs played on instruments")?;
    ensure(by_health > by_music, format!("leanings of {by_health} and {by_music}"))
}

fn l2_attune_27_resolved_conflicts_are_left_out(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let (judge, reader) = (case.agent("judge")?, case.agent("analyst")?);
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    let answer = reader.attune(json!({"max_units": 1}))?;
    let given = answer.list("/conflicts")?.iter().any(|c| c["id"] == dispute.id.as_str());
    ensure(!given, "a resolved conflict is given")
}

fn l2_attune_28_related_units_are_nearer(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let task = format!("task-{}", case.token);
    let intent = json!({"intent": {"purpose": "Serve the task", "task_id": task}});
    let root = author.record(with(finding(case.words("Doves returned")), intent))?;
    let near = with(finding(case.words("A tram was late")), relation("supports", &root.id));
    let near = author.record(near)?;
    let far = author.record(finding(case.words("A tram was late")))?;
    let answer = reader.attune_since(root.epoch, json!({"active_task_id": task}))?;
    let place =
        |id: &str| answer.list("/record").ok()?.iter().position(|i| i["memory_unit"]["id"] == id);
    let (near, far) = (place(&near.id), place(&far.id));
    ensure(near.is_some() && near < far, format!("related at {near:?}, unrelated at {far:?}"))
}
