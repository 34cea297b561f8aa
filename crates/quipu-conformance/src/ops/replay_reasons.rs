//! REPLAY as a person reads it: the reasons that were given, how much each depth tells, and the argument. The protocol says that the
//! reasoning chain is reconstructed and shows no reason in its example, so these are readings.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure},
        json::{JsonAccess, with},
        unit::{Unit, committed, finding, relation},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Reading,
        l2_replay_18_full_trace_has_every_reason,
        "RPL-4",
        "Purpose, question, reasoning, evidence, assumptions and the descriptions of relations are in the full trace."
    ),
    rule!(
        Reading,
        l2_replay_19_detailed_says_why,
        "RPL-3",
        "At depth detailed a RECORD tells its reasoning and a MERGE its rationale."
    )
    .needing(&["MERGE"]),
    rule!(
        Reading,
        l2_replay_20_depths_differ,
        "RPL-6",
        "A summary is shorter than the detailed answer, and that is not longer than the full trace."
    ),
    rule!(
        Reading,
        l2_replay_21_the_summary_is_the_argument,
        "RPL-2",
        "The summary of a decision names what it depends on, wherever in a long chain that is."
    ),
    rule!(
        Reading,
        l2_replay_22_the_summary_tells_how_a_dispute_ended,
        "RPL-2 MRG-4",
        "The summary of a decision tells why a dispute about what it rests on ended as it did."
    )
    .needing(&["MERGE"]),
    rule!(
        Reading,
        l2_replay_23_a_long_story_is_short,
        "RPL-2 RPL-5",
        "The summary of a chain of a hundred units is less than four times as long as that of ten."
    ),
];

fn length(answer: &Value) -> usize {
    answer.to_string().len()
}

fn decision_of(case: &mut Case) -> Checked<(Unit, [String; 6])> {
    let agent = case.agent("scribe")?;
    let ground = agent.record(finding(case.words("Seals were intact")))?;
    let given = ["Purpose", "Question", "Reasoning", "Evidence", "Assumption", "Description"]
        .map(|kind| case.words(kind));
    let [purpose, question, reasoning, evidence, assumption, description] = &given;
    let decision = json!({
        "mode": "committed", "type": "decision", "content": case.words("Ship the cargo"),
        "intent": {"purpose": purpose, "question": question},
        "confidence": {"score": 0.7, "reasoning": reasoning, "evidence": [evidence],
                       "assumptions": [assumption]},
        "relations": [{"type": "depends_on", "target_id": ground.id, "description": description}],
    });
    Ok((agent.record(decision)?, given))
}

fn l2_replay_18_full_trace_has_every_reason(case: &mut Case) -> Checked {
    let (decision, given) = decision_of(case)?;
    let story = case.agent("auditor")?.replay("decision", &decision.id, "full_trace")?;
    let told = story.at("/timeline")?.to_string();
    for reason in given {
        ensure(told.contains(&reason), format!("{reason} is not told"))?;
    }
    Ok(())
}

fn l2_replay_19_detailed_says_why(case: &mut Case) -> Checked {
    let (decision, given) = decision_of(case)?;
    let dispute = case.dispute_scored(0.82, 0.75)?;
    let why = case.words("Because it was counted");
    let mut merge = dispute.merge("confidence_weighted", json!({"winner_id": dispute.older.id}));
    merge["resolution"]["rationale"] = json!(why);
    case.agent("strategist")?.ok("MERGE", merge)?;
    let auditor = case.agent("auditor")?;
    let told = auditor.replay("decision", &decision.id, "detailed")?;
    let [_, _, reasoning, ..] = &given;
    let timeline = told.at("/timeline")?.to_string();
    ensure(timeline.contains(reasoning), "why the decision was taken is not told")?;
    let told = auditor.replay("conflict", &dispute.id, "detailed")?.at("/timeline")?.to_string();
    ensure(told.contains(&why), "why the conflict was settled so is not told")
}

fn l2_replay_20_depths_differ(case: &mut Case) -> Checked {
    let (decision, _) = decision_of(case)?;
    let auditor = case.agent("auditor")?;
    let told = |depth: &str| auditor.replay("decision", &decision.id, depth);
    let (summary, detailed, full) = (told("summary")?, told("detailed")?, told("full_trace")?);
    let (summary, detailed, full) = (length(&summary), length(&detailed), length(&full));
    ensure(
        summary < detailed && detailed <= full && summary < full,
        format!("summary, detailed and full_trace have {summary}, {detailed} and {full} bytes"),
    )
}

/// A decision that depends on the 15th and the 25th of forty units, each of which follows from the one before.
fn l2_replay_21_the_summary_is_the_argument(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let mut chain: Vec<Unit> = Vec::new();
    for _ in 0..40 {
        let mut unit = finding(case.words("A step"));
        if let Some(last) = chain.last() {
            unit = with(unit, relation("elaborates", &last.id));
        }
        chain.push(agent.record(unit)?);
    }
    let of = |at: usize| chain.get(at).map(|unit| (unit.id.clone(), unit.content.clone()));
    let grounds: Vec<(String, String)> = [14, 24].into_iter().filter_map(of).collect();
    let relations: Vec<Value> = grounds
        .iter()
        .map(|(id, _)| json!({"type": "depends_on", "target_id": id}))
        .chain(of(39).map(|(id, _)| json!({"type": "informs", "target_id": id})))
        .collect();
    let decision = committed("decision", case.words("Ship the cargo"));
    let decision = agent.record(with(decision, json!({"relations": relations})))?;
    let story = case.agent("auditor")?.replay("decision", &decision.id, "summary")?;
    let told = story.text("/summary")?;
    for (_, content) in grounds {
        ensure(told.contains(&content), format!("{content:?} is not in the summary"))?;
    }
    Ok(())
}

fn l2_replay_22_the_summary_tells_how_a_dispute_ended(case: &mut Case) -> Checked {
    let dispute = case.dispute_scored(0.82, 0.75)?;
    let why = case.words("Because it was counted");
    let mut merge = dispute.merge("confidence_weighted", json!({"winner_id": dispute.older.id}));
    merge["resolution"]["rationale"] = json!(why);
    let judge = case.agent("strategist")?;
    judge.ok("MERGE", merge)?;
    let decision = committed("decision", case.words("Ship the cargo"));
    let decision = judge.record(with(decision, relation("depends_on", &dispute.older.id)))?;
    let story = case.agent("auditor")?.replay("decision", &decision.id, "summary")?;
    ensure(story.text("/summary")?.contains(&why), "why the dispute ended so is not told")
}

fn l2_replay_23_a_long_story_is_short(case: &mut Case) -> Checked {
    let (agent, auditor) = (case.agent("scribe")?, case.agent("auditor")?);
    let mut last: Option<Unit> = None;
    let mut lengths = Vec::new();
    for number in 1..=100 {
        let mut unit = finding(case.words("A step"));
        if let Some(last) = &last {
            unit = with(unit, relation("depends_on", &last.id));
        }
        let unit = agent.record(unit)?;
        if number == 10 || number == 100 {
            let story = auditor.replay("memory_unit", &unit.id, "summary")?;
            lengths.push(story.text("/summary")?.len());
        }
        last = Some(unit);
    }
    ensure(
        matches!(lengths[..], [ten, hundred] if hundred < 4 * ten),
        format!("the summaries of 10 and of 100 units have {lengths:?} bytes"),
    )
}
