//! DETECT: section 3.5 of the catalogue, with the conflict of section 2.4.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::JsonAccess,
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l1_detect_01_lists_stored_conflicts,
        "DET-1 DET-2 L1-6",
        "list has every conflict that is stored."
    ),
    rule!(
        Must,
        l1_detect_02_a_conflict_has_the_shape_of_the_schema,
        "DET-1",
        "A conflict has all keys of the schema and words from its lists."
    ),
    rule!(
        Must,
        l1_detect_03_filters_by_status,
        "DET-1",
        "filter.status leaves other statuses out."
    ),
    rule!(
        Must,
        l1_detect_04_filters_by_agent,
        "DET-1",
        "filter.involving_agents gives conflicts of these authors only."
    ),
    rule!(
        Reading,
        l1_detect_05_filters_by_conflict_type,
        "A-27",
        "filter.types are conflict types."
    ),
    rule!(Must, l1_detect_06_needs_a_mode, "DET-1", "A missing or unknown mode is refused."),
    rule!(
        Must,
        l1_detect_07_answers_with_status_and_list,
        "DET-1",
        "The answer has status ok and conflicts."
    ),
    rule!(
        Must,
        l2_detect_08_checks_one_unit,
        "DET-4 L2-5",
        "check answers with the conflicts of its target."
    ),
    rule!(
        Must,
        l2_detect_09_check_of_a_missing_unit_is_not_found,
        "DET-4",
        "check of an unknown unit answers UNIT_NOT_FOUND, not recoverable."
    ),
    rule!(Must, l2_detect_10_check_needs_a_target, "DET-4", "check without target_id is refused."),
    rule!(
        Must,
        l2_detect_11_scans_and_tells_the_coverage,
        "DET-4 L2-5",
        "scan answers with scan_coverage."
    ),
    rule!(
        Must,
        l2_detect_12_finds_an_opposing_claim_without_a_relation,
        "DET-4 L2-5",
        "One automatic method at least finds two units that clash."
    ),
    rule!(
        Reading,
        l1_detect_13_filters_combine,
        "A-27",
        "Filters combine: each of them must pass."
    ),
    rule!(
        Must,
        l1_detect_14_refuses_a_stranger,
        "DET-1 ENV-7",
        "An unregistered agent is refused."
    ),
    rule!(
        Must,
        l2_detect_15_scan_twice_finds_nothing_new,
        "DET-4",
        "A second scan opens no conflict again."
    ),
];

fn has(conflicts: &[Value], id: &str) -> bool {
    conflicts.iter().any(|conflict| conflict["id"] == id)
}

fn l1_detect_01_lists_stored_conflicts(case: &mut Case) -> Checked {
    let (first, second) = (case.dispute()?, case.dispute()?);
    let listed = case.agent("analyst")?.conflicts(json!({}))?;
    for dispute in [first, second] {
        ensure(has(&listed, &dispute.id), format!("{} is not listed", dispute.id))?;
    }
    Ok(())
}

fn l1_detect_02_a_conflict_has_the_shape_of_the_schema(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let conflict = dispute.author_a.conflict(&dispute.id)?;
    let types = ["factual", "interpretive", "strategic", "priority"];
    let statuses = ["detected", "resolving", "resolved", "escalated"];
    let methods = ["explicit", "semantic", "logical", "temporal"];
    ensure(types.contains(&conflict.text("/type")?), format!("type of {conflict}"))?;
    ensure(statuses.contains(&conflict.text("/status")?), format!("status of {conflict}"))?;
    ensure(methods.contains(&conflict.text("/detected_by")?), format!("method of {conflict}"))?;
    for unit in ["/unit_a", "/unit_b"] {
        ensure(!conflict.text(unit)?.is_empty(), format!("{unit} of {conflict}"))?;
    }
    ensure(!conflict.text("/description")?.is_empty(), "the description is empty")?;
    ensure(conflict.is_nothing("/resolution"), "an open conflict has a resolution")
}

fn l1_detect_03_filters_by_status(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let agent = case.agent("analyst")?;
    ensure(
        has(&agent.conflicts(json!({"status": ["detected"]}))?, &dispute.id),
        "not among detected",
    )?;
    let others = agent.conflicts(json!({"status": ["resolved", "escalated"]}))?;
    ensure(
        !has(&others, &dispute.id),
        "a detected conflict passes the filter resolved, escalated",
    )?;
    let wrong = others.iter().find(|c| c["status"] == "detected" || c["status"] == "resolving");
    ensure(wrong.is_none(), format!("{wrong:?} passes the filter resolved, escalated"))
}

fn l1_detect_04_filters_by_agent(case: &mut Case) -> Checked {
    let (mine, other) = (case.dispute()?, case.dispute()?);
    let agent = case.agent("analyst")?;
    for author in [&mine.author_a, &mine.author_b] {
        let listed = agent.conflicts(json!({"involving_agents": [author.id]}))?;
        ensure(has(&listed, &mine.id), format!("the conflict of {} is missing", author.id))?;
        ensure(!has(&listed, &other.id), "a conflict of other agents is listed")?;
    }
    Ok(())
}

fn l1_detect_05_filters_by_conflict_type(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let kind = dispute.author_a.conflict(&dispute.id)?.text("/type")?.to_owned();
    let agent = case.agent("analyst")?;
    ensure(has(&agent.conflicts(json!({"types": [kind]}))?, &dispute.id), "not among its type")?;
    let other = if kind == "priority" { "factual" } else { "priority" };
    ensure(!has(&agent.conflicts(json!({"types": [other]}))?, &dispute.id), "among another type")
}

fn l1_detect_06_needs_a_mode(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    agent.refused_somehow("DETECT", json!({}))?;
    agent.refused_somehow("DETECT", json!({"mode": "guess"})).map(drop)
}

fn l1_detect_07_answers_with_status_and_list(case: &mut Case) -> Checked {
    let answer = case.agent("analyst")?.ok("DETECT", json!({"mode": "list"}))?;
    same("status", answer.text("/status")?, "ok")?;
    answer.list("/conflicts").map(drop)
}

fn l2_detect_08_checks_one_unit(case: &mut Case) -> Checked {
    let (dispute, other) = (case.dispute()?, case.dispute()?);
    let agent = case.agent("analyst")?;
    let answer = agent.ok("DETECT", json!({"mode": "check", "target_id": dispute.older.id}))?;
    let found = answer.list("/conflicts")?;
    ensure(has(found, &dispute.id), "the conflict of the target is missing")?;
    ensure(!has(found, &other.id), "a conflict of other units is given")
}

fn l2_detect_09_check_of_a_missing_unit_is_not_found(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let payload = json!({"mode": "check", "target_id": format!("mem-{}", case.token)});
    let error = agent.refused("DETECT", payload, "UNIT_NOT_FOUND")?;
    same("recoverable", error.flag("/recoverable")?, false)
}

fn l2_detect_10_check_needs_a_target(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    agent.refused_somehow("DETECT", json!({"mode": "check"}))?;
    agent.refused_somehow("DETECT", json!({"mode": "check", "target_id": null})).map(drop)
}

fn l2_detect_11_scans_and_tells_the_coverage(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    agent.record(finding(case.words("Lanterns were lit")))?;
    let answer = agent.ok("DETECT", json!({"mode": "scan"}))?;
    ensure(answer.integer("/scan_coverage/units_scanned")? >= 1, "no unit was scanned")?;
    answer.integer("/scan_coverage/new_conflicts_found")?;
    answer.list("/conflicts").map(drop)
}

fn l2_detect_12_finds_an_opposing_claim_without_a_relation(case: &mut Case) -> Checked {
    let (a, b) = (case.agent("researcher")?, case.agent("reviewer")?);
    let subject = format!("The {} archive", case.token);
    let first = a.record(finding(format!("{subject} is open to the public on Sundays.")))?;
    let second = b.record(finding(format!("{subject} is not open to the public on Sundays.")))?;
    b.ok("DETECT", json!({"mode": "scan"}))?;
    let all = b.conflicts(json!({"involving_agents": [a.id]}))?;
    let pair = [first.id.as_str(), second.id.as_str()];
    let found = all.iter().find(|c| pair.iter().all(|id| c["unit_a"] == *id || c["unit_b"] == *id));
    let method = found.cloned().unwrap_or_default();
    ensure(method.text("/detected_by")? != "explicit", "it is marked as explicit")
}

fn l1_detect_13_filters_combine(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let filter = json!({"status": ["resolved"], "involving_agents": [dispute.author_a.id]});
    let listed = case.agent("analyst")?.conflicts(filter)?;
    ensure(!has(&listed, &dispute.id), "a filter of two conditions passes on one alone")
}

fn l1_detect_14_refuses_a_stranger(case: &mut Case) -> Checked {
    let stranger = case.stranger();
    stranger.refused("DETECT", json!({"mode": "list"}), "AGENT_NOT_REGISTERED").map(drop)
}

fn l2_detect_15_scan_twice_finds_nothing_new(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let agent = &dispute.author_a;
    agent.ok("DETECT", json!({"mode": "scan"}))?;
    let again = agent.ok("DETECT", json!({"mode": "scan"}))?;
    same("new_conflicts_found", again.integer("/scan_coverage/new_conflicts_found")?, 0)
}
