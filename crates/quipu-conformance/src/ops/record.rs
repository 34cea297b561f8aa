//! RECORD, what it accepts and refuses: section 3.3 of the catalogue and the unit of section 2.1.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with, without},
        unit::{committed, draft, finding, relation, score},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_record_01_needs_type_and_content,
        "REC-1",
        "A RECORD without type or content is refused in both modes."
    ),
    rule!(
        Must,
        l0_record_02_needs_an_intent,
        "REC-2 MU-1 L0-3 L0-4",
        "A missing or empty purpose answers MISSING_INTENT in both modes."
    ),
    rule!(Reading, l0_record_03_a_blank_purpose_is_no_purpose, "A-15", "White space is no intent."),
    rule!(
        Must,
        l0_record_04_refuses_a_score_out_of_range,
        "REC-4 MU-3",
        "A score below 0 or above 1 answers INVALID_CONFIDENCE, in drafts too."
    ),
    rule!(
        Must,
        l0_record_05_accepts_the_ends_of_the_range,
        "REC-4",
        "Scores of exactly 0 and 1 are accepted."
    ),
    rule!(
        Must,
        l0_record_06_refuses_an_unknown_type,
        "MT-2",
        "An unknown type answers INVALID_TYPE."
    ),
    rule!(
        Must,
        l0_record_07_accepts_the_four_types_of_every_level,
        "MT-1",
        "finding, decision, observation and question are accepted."
    ),
    rule!(
        Should,
        l1_record_08_accepts_all_eleven_types,
        "MT-1",
        "All eleven types of the schema are accepted."
    ),
    rule!(
        Must,
        l0_record_09_accepts_a_draft_without_confidence,
        "L0-2 MU-2",
        "A draft needs no confidence at any level."
    ),
    rule!(
        Must,
        l1_record_10_a_committed_unit_needs_confidence,
        "REC-3 MU-2 L1-4",
        "A committed unit without score or reasoning answers MISSING_CONFIDENCE."
    ),
    rule!(
        Must,
        l0_record_11_answers_with_id_and_epoch,
        "REC-5",
        "The answer has status, memory_unit_id, epoch and conflicts_detected."
    ),
    rule!(Must, l0_record_12_ids_are_unique, "REC-5 L0-5", "Equal payloads make different units."),
    rule!(
        Must,
        l0_record_13_an_agent_cannot_choose_what_the_field_generates,
        "REC-5 MU-5",
        "id, epoch, source and status of the payload are not honoured."
    ),
    rule!(Must, l0_record_14_content_must_not_be_empty, "REC-1", "Empty content is refused."),
    rule!(
        Reading,
        l0_record_15_mode_is_committed_by_default,
        "A-15",
        "A RECORD without mode is committed."
    ),
    rule!(
        Must,
        l0_record_16_refuses_an_unknown_mode,
        "REC-1",
        "A mode other than draft and committed is refused."
    ),
    rule!(
        Must,
        l0_record_17_refuses_an_unknown_relation,
        "REC-1",
        "A relation type outside of the nine is refused."
    ),
    rule!(
        Must,
        l1_record_18_accepts_all_nine_relations,
        "REC-1",
        "All nine relation types are accepted and come back."
    ),
    rule!(
        Reading,
        l1_record_19_a_dangling_relation_is_allowed,
        "A-15",
        "A relation to a unit that is not there yet is kept."
    ),
    rule!(
        Reading,
        l1_record_20_contradicts_and_supersedes_need_their_target,
        "A-15",
        "These two relations to a missing unit are refused."
    ),
    rule!(
        Must,
        l0_record_21_a_refused_unit_is_not_kept,
        "REC-1",
        "Nothing of a refused RECORD is given by ATTUNE."
    ),
    rule!(
        Should,
        l0_record_22_a_refusal_is_rejected_with_a_reason,
        "REC-2 A-07",
        "A refusal has status rejected and a rejection_reason besides the error."
    ),
];

fn l0_record_01_needs_type_and_content(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    for payload in [finding(case.words("Ink dries")), draft(case.words("Ink dries"))] {
        agent.refused_somehow("RECORD", without(payload.clone(), "content"))?;
        agent.refused_somehow("RECORD", without(payload, "type"))?;
    }
    Ok(())
}

fn l0_record_02_needs_an_intent(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    for payload in [finding(case.words("Ink dries")), draft(case.words("Ink dries"))] {
        let error =
            agent.refused("RECORD", without(payload.clone(), "intent"), "MISSING_INTENT")?;
        same("recoverable", error.flag("/recoverable")?, true)?;
        for intent in [json!({}), json!({"purpose": ""}), json!({"purpose": null})] {
            let changed = with(payload.clone(), json!({"intent": intent}));
            agent.refused("RECORD", changed, "MISSING_INTENT")?;
        }
    }
    Ok(())
}

fn l0_record_03_a_blank_purpose_is_no_purpose(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let blank = with(finding(case.words("Ink dries")), json!({"intent": {"purpose": " \t\n"}}));
    agent.refused("RECORD", blank, "MISSING_INTENT").map(drop)
}

fn l0_record_04_refuses_a_score_out_of_range(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    for payload in [finding(case.words("Ink dries")), draft(case.words("Ink dries"))] {
        for bad in [-0.01, 1.01, 42.0] {
            let changed = with(payload.clone(), score(bad));
            let error = agent.refused("RECORD", changed, "INVALID_CONFIDENCE")?;
            same("recoverable", error.flag("/recoverable")?, true)?;
        }
    }
    Ok(())
}

fn l0_record_05_accepts_the_ends_of_the_range(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    for good in [0.0, 1.0] {
        agent.record(with(finding(case.words("Ink dries")), score(good)))?;
        agent.record(with(draft(case.words("Ink dries")), score(good)))?;
    }
    Ok(())
}

fn l0_record_06_refuses_an_unknown_type(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let rumour = committed("rumour", case.words("Ink dries"));
    let error = agent.refused("RECORD", rumour, "INVALID_TYPE")?;
    same("recoverable", error.flag("/recoverable")?, true)
}

fn accepts_types(case: &mut Case, types: &[&str]) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    for kind in types {
        let unit = agent.record(committed(kind, case.words("Ink dries")))?;
        same("type", reader.sees(&unit)?.text("/type")?, *kind)?;
    }
    Ok(())
}

fn l0_record_07_accepts_the_four_types_of_every_level(case: &mut Case) -> Checked {
    accepts_types(case, &["finding", "decision", "observation", "question"])
}

fn l1_record_08_accepts_all_eleven_types(case: &mut Case) -> Checked {
    accepts_types(
        case,
        &[
            "finding",
            "decision",
            "observation",
            "intention",
            "assumption",
            "constraint",
            "question",
            "contradiction",
            "synthesis",
            "correction",
            "human_directive",
        ],
    )
}

fn l0_record_09_accepts_a_draft_without_confidence(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    agent.record(draft(case.words("Ink dries"))).map(drop)
}

fn l1_record_10_a_committed_unit_needs_confidence(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let unit = finding(case.words("Ink dries"));
    let error =
        agent.refused("RECORD", without(unit.clone(), "confidence"), "MISSING_CONFIDENCE")?;
    same("recoverable", error.flag("/recoverable")?, true)?;
    for partial in [json!({}), json!({"score": 0.5}), json!({"reasoning": "Because"})] {
        let changed = with(unit.clone(), json!({"confidence": partial}));
        agent.refused("RECORD", changed, "MISSING_CONFIDENCE")?;
    }
    Ok(())
}

fn l0_record_11_answers_with_id_and_epoch(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let answer = agent.ok("RECORD", finding(case.words("Ink dries")))?;
    same("status", answer.text("/status")?, "accepted")?;
    ensure(!answer.text("/memory_unit_id")?.is_empty(), "memory_unit_id is empty")?;
    answer.integer("/epoch")?;
    answer.texts("/conflicts_detected")?;
    ensure(answer.is_nothing("/rejection_reason"), "a success has a rejection_reason")
}

fn l0_record_12_ids_are_unique(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let payload = finding(case.words("Ink dries"));
    let (first, second) = (agent.record(payload.clone())?, agent.record(payload)?);
    ensure(first.id != second.id, format!("two units are both {}", first.id))
}

fn l0_record_13_an_agent_cannot_choose_what_the_field_generates(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let chosen = json!({
        "id": format!("mem-{}", case.token), "status": "retracted",
        "source": {"agent_id": "somebody", "agent_role": "else", "timestamp": "2001-01-01T00:00:00Z"},
    });
    let reply = agent.send("RECORD", with(finding(case.words("Ink dries")), chosen))?;
    if reply.is_refused("RECORD").is_ok() {
        return Ok(());
    }
    let id = reply.body.text("/memory_unit_id")?;
    ensure(!id.contains(&case.token), "the id of the payload was taken")?;
    let seen = reader.attune_since(reply.body.integer("/epoch")?, json!({}))?;
    let found = seen.list("/record")?.iter().find(|item| item["memory_unit"]["id"] == id);
    let source = found.cloned().unwrap_or_default();
    same("source.agent_id", source.text("/memory_unit/source/agent_id")?, agent.id.as_str())?;
    same("source.agent_role", source.text("/memory_unit/source/agent_role")?, "scribe")
}

fn l0_record_14_content_must_not_be_empty(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    agent.refused_somehow("RECORD", finding(String::new()))?;
    agent.refused_somehow("RECORD", draft(String::new())).map(drop)
}

fn l0_record_15_mode_is_committed_by_default(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let unit = agent.record(without(finding(case.words("Ink dries")), "mode"))?;
    same("mode", reader.sees(&unit)?.text("/mode")?, "committed")
}

fn l0_record_16_refuses_an_unknown_mode(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let unit = with(finding(case.words("Ink dries")), json!({"mode": "pencilled"}));
    agent.refused_somehow("RECORD", unit).map(drop)
}

fn l0_record_17_refuses_an_unknown_relation(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let first = agent.record(finding(case.words("Ink dries")))?;
    let second = with(finding(case.words("Paper curls")), relation("resembles", &first.id));
    agent.refused_somehow("RECORD", second).map(drop)
}

fn l1_record_18_accepts_all_nine_relations(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let kinds = [
        "supports",
        "contradicts",
        "depends_on",
        "caused_by",
        "elaborates",
        "answers",
        "blocks",
        "informs",
        "supersedes",
    ];
    for kind in kinds {
        let target = agent.record(finding(case.words("Ink dries")))?;
        let unit = agent.record(with(finding(case.words("Paper")), relation(kind, &target.id)))?;
        let seen = reader.sees(&unit)?;
        same("relation", seen.text("/relations/0/type")?, kind)?;
        same("target", seen.text("/relations/0/target_id")?, target.id.as_str())?;
    }
    Ok(())
}

fn l1_record_19_a_dangling_relation_is_allowed(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let nowhere = format!("mem-{}", case.token);
    agent.record(with(finding(case.words("Ink dries")), relation("answers", &nowhere))).map(drop)
}

fn l1_record_20_contradicts_and_supersedes_need_their_target(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let nowhere = format!("mem-{}", case.token);
    for kind in ["contradicts", "supersedes"] {
        let unit = with(finding(case.words("Ink dries")), relation(kind, &nowhere));
        agent.refused_somehow("RECORD", unit)?;
    }
    Ok(())
}

fn l0_record_21_a_refused_unit_is_not_kept(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let since = agent.record(finding(case.words("Ink dries")))?.epoch;
    let content = case.words("Ink burns");
    let bad = without(finding(content.clone()), "intent");
    agent.refused("RECORD", bad, "MISSING_INTENT")?;
    let seen = reader.attune_since(since, json!({}))?;
    let kept = |item: &Value| item["memory_unit"]["content"] == content.as_str();
    ensure(!seen.list("/record")?.iter().any(kept), "a refused unit is given by ATTUNE")
}

fn l0_record_22_a_refusal_is_rejected_with_a_reason(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let bad = without(finding(case.words("Ink dries")), "intent");
    let error = agent.refused("RECORD", bad, "MISSING_INTENT")?;
    same("status", error.text("/status")?, "rejected")?;
    ensure(!error.text("/rejection_reason")?.is_empty(), "rejection_reason is empty")
}
