//! ATTUNE's scope: section 2.3 of the catalogue, formats, token budgets, time travel.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
        unit::{Unit, committed, finding},
    },
    limits::TOKEN_BYTES_MAX,
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_scope_01_role_and_max_units_suffice,
        "SC-1 L0-6",
        "A scope of role and max_units is enough."
    ),
    rule!(
        Must,
        l0_scope_02_refuses_a_scope_without_role,
        "SC-2",
        "An absent or empty role is refused."
    ),
    rule!(
        Must,
        l0_scope_03_refuses_a_bad_max_units,
        "SC-1",
        "max_units is an integer of at least 1."
    ),
    rule!(Must, l0_scope_04_refuses_a_missing_scope, "SC-1", "ATTUNE without scope is refused."),
    rule!(
        Must,
        l2_scope_05_respects_max_tokens,
        "ATT-8 SC-4 L2-4",
        "tokens_used stays within max_tokens, and less is given."
    ),
    rule!(
        Must,
        l2_scope_06_reports_the_token_budget,
        "ATT-8 L2-4",
        "With max_tokens the budget has tokens_used and tokens_budget."
    ),
    rule!(
        Must,
        l2_scope_07_interests_count,
        "SC-4 L2-3",
        "A unit about an interest scores higher with that interest."
    ),
    rule!(
        Must,
        l2_scope_08_the_active_task_counts,
        "SC-4 ATT-12 L2-3",
        "A unit of the active task scores higher than an equal one without."
    ),
    rule!(
        Must,
        l2_scope_09_leaves_out_what_is_below_the_threshold,
        "SC-4 SC-5 L2-3",
        "No unit below relevance_threshold is given."
    ),
    rule!(
        Must,
        l2_scope_10_refuses_bounds_that_are_none,
        "SC-4",
        "max_tokens 0 and a threshold above 1 are refused."
    ),
    rule!(
        Should,
        l2_scope_11_recency_weight_counts,
        "SC-4",
        "With recency_weight 1 the newest of equal units is first."
    ),
    rule!(
        Reading,
        l2_scope_12_temporal_layers_filter,
        "A-19",
        "The layer future gives intentions and no findings."
    ),
    rule!(
        Reading,
        l0_scope_13_ids_only_gives_ids,
        "A-18",
        "ids_only leaves the id, the score and the reason."
    ),
    rule!(
        Must,
        l0_scope_14_full_is_the_default_format,
        "ATT-5",
        "Without format the units are full."
    ),
    rule!(
        Must,
        l0_scope_15_refuses_an_unknown_format,
        "ATT-5",
        "A format outside of the three is refused."
    ),
    rule!(
        Reading,
        l1_scope_16_summary_is_labelled,
        "ATT-8",
        "format summary is labelled on each item and is not longer."
    ),
    rule!(
        Ours,
        l3_scope_17_as_of_epoch_shows_the_past,
        "A-01",
        "as_of_epoch gives what would have been given then."
    ),
    rule!(
        Ours,
        l3_scope_18_explain_gives_the_factors,
        "ATT-5",
        "explain adds the factors of each score."
    ),
];

fn l0_scope_01_role_and_max_units_suffice(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    agent.ok("ATTUNE", json!({"scope": {"role": "analyst", "max_units": 1}})).map(drop)
}

fn refuses(case: &mut Case, payloads: &[Value]) -> Checked {
    let agent = case.agent("analyst")?;
    for payload in payloads {
        agent.refused_somehow("ATTUNE", payload.clone())?;
    }
    Ok(())
}

fn l0_scope_02_refuses_a_scope_without_role(case: &mut Case) -> Checked {
    let scopes = [json!({"max_units": 5}), json!({"role": "", "max_units": 5})];
    refuses(case, &scopes.map(|scope| json!({"scope": scope})))
}

fn l0_scope_03_refuses_a_bad_max_units(case: &mut Case) -> Checked {
    let bad = [json!(0), json!(-1), json!(1.5), json!("5"), json!(null)];
    refuses(case, &bad.map(|units| json!({"scope": {"role": "analyst", "max_units": units}})))?;
    refuses(case, &[json!({"scope": {"role": "analyst"}})])
}

fn l0_scope_04_refuses_a_missing_scope(case: &mut Case) -> Checked {
    refuses(case, &[json!({}), json!({"scope": null}), json!({"scope": "analyst"})])
}

/// Records ten long units and returns ATTUNE's answer within this token budget.
fn within_tokens(case: &mut Case, tokens: u64) -> Checked<(Value, Value)> {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let mut first: Option<Unit> = None;
    for _ in 0..10 {
        let text =
            case.words("The storage shed has many shelves with jars of pickled roots. ").repeat(8);
        let unit = author.record(finding(text))?;
        first.get_or_insert(unit);
    }
    let since = first.map_or(0, |unit| unit.epoch);
    let free = reader.attune_since(since, json!({}))?;
    let bound = reader.attune_since(since, json!({"max_tokens": tokens}))?;
    Ok((free, bound))
}

fn text_size(answer: &Value) -> usize {
    let record = answer["record"].as_array().map_or(&[][..], Vec::as_slice);
    record.iter().map(|item| item["memory_unit"]["content"].as_str().map_or(0, str::len)).sum()
}

fn l2_scope_05_respects_max_tokens(case: &mut Case) -> Checked {
    let (free, bound) = within_tokens(case, 300)?;
    ensure(!bound.list("/record")?.is_empty(), "nothing fits into 300 tokens")?;
    let (all, some) = (text_size(&free), text_size(&bound));
    ensure(some < all, format!("{some} bytes are given within 300 tokens, {all} without limit"))?;
    // Tokenizers differ, but English words are no longer than that on average.
    let most = 300 * TOKEN_BYTES_MAX;
    ensure(some <= most, format!("{some} bytes are given within 300 tokens"))?;
    let used = bound.integer("/context_budget/tokens_used")?;
    ensure(used <= 300, format!("{used} of 300 tokens were used"))
}

fn l2_scope_06_reports_the_token_budget(case: &mut Case) -> Checked {
    let (_, bound) = within_tokens(case, 500)?;
    same("tokens_budget", bound.integer("/context_budget/tokens_budget")?, 500)?;
    ensure(bound.integer("/context_budget/tokens_used")? > 0, "no tokens were used")
}

/// The scores of the unit without and with the key in the scope.
fn with_and_without(case: &mut Case, unit: Value, scope: Value) -> Checked<(f64, f64)> {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let unit = author.record(unit)?;
    let score = |scope: Value| {
        let found = reader.finds(&unit, scope)?;
        found.unwrap_or_default().number("/relevance_score")
    };
    Ok((score(json!({}))?, score(scope)?))
}

fn l2_scope_07_interests_count(case: &mut Case) -> Checked {
    let unit = finding(case.words("Glaciers of the northern range are melting"));
    let scope = json!({"interests": ["glaciers melting in the northern range"]});
    let (without, with) = with_and_without(case, unit, scope)?;
    ensure(with > without, format!("{without} without the interest, {with} with it"))
}

fn l2_scope_08_the_active_task_counts(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let task = format!("task-{}", case.token);
    let content = case.words("Jars were counted");
    let of_task = json!({"intent": {"purpose": "Serve the task", "task_id": task}});
    let of_none = json!({"intent": {"purpose": "Serve the task"}});
    let near = author.record(with(finding(content.clone()), of_task))?;
    let far = author.record(with(finding(content), of_none))?;
    let answer = reader.attune_since(near.epoch, json!({"active_task_id": task}))?;
    let score = |id: &str| {
        let found = answer.list("/record")?.iter().find(|item| item["memory_unit"]["id"] == id);
        found.cloned().unwrap_or_default().number("/relevance_score")
    };
    let (near, far) = (score(&near.id)?, score(&far.id)?);
    ensure(near > far, format!("of the task {near}, of none {far}"))
}

fn l2_scope_09_leaves_out_what_is_below_the_threshold(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let first = author.record(finding(case.words("Jars were counted")))?;
    let all = reader.attune_since(first.epoch, json!({}))?;
    ensure(!all.list("/record")?.is_empty(), "nothing is given without a threshold")?;
    for threshold in [0.3, 0.6, 1.0] {
        let answer = reader.attune(json!({"max_units": 100, "relevance_threshold": threshold}))?;
        for item in answer.list("/record")? {
            let score = item.number("/relevance_score")?;
            ensure(score >= threshold, format!("a score of {score} with threshold {threshold}"))?;
        }
    }
    let none = reader.attune_since(first.epoch, json!({"relevance_threshold": 1.0}))?;
    ensure(
        none.list("/record")?.len() < all.list("/record")?.len(),
        "the threshold filters nothing",
    )
}

fn l2_scope_10_refuses_bounds_that_are_none(case: &mut Case) -> Checked {
    let bad = [
        json!({"max_tokens": 0}),
        json!({"relevance_threshold": 1.5}),
        json!({"relevance_threshold": -0.1}),
        json!({"recency_weight": 2.0}),
        json!({"temporal_layers": ["yesterday"]}),
    ];
    let base = json!({"role": "analyst", "max_units": 5});
    refuses(case, &bad.map(|more| json!({"scope": with(base.clone(), more)})))
}

fn l2_scope_11_recency_weight_counts(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let content = case.words("Jars were counted");
    let older = author.record(finding(content.clone()))?;
    let newer = author.record(finding(content))?;
    let answer = reader.attune_since(older.epoch, json!({"recency_weight": 1.0}))?;
    let place =
        |id: &str| answer.list("/record").ok()?.iter().position(|i| i["memory_unit"]["id"] == id);
    let (old, new) = (place(&older.id), place(&newer.id));
    ensure(new.is_some() && new < old, format!("newer at {new:?}, older at {old:?}"))
}

fn l2_scope_12_temporal_layers_filter(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let past = author.record(finding(case.words("Jars were counted")))?;
    let future = author.record(committed("intention", case.words("Jars will be counted")))?;
    let scope = json!({"temporal_layers": ["future"]});
    ensure(reader.finds(&past, scope.clone())?.is_none(), "the future has a finding")?;
    ensure(reader.finds(&future, scope)?.is_some(), "the future has no intention")
}

fn formatted(case: &mut Case, format: &str) -> Checked<Vec<Value>> {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    author.record(finding(case.words("Jars of roots were counted twice by us. ").repeat(20)))?;
    let payload = json!({"scope": {"role": "analyst", "max_units": 20}, "format": format});
    let items = reader.ok("ATTUNE", payload)?.list("/record")?.to_vec();
    ensure(!items.is_empty(), "nothing was given").map(|()| items)
}

fn l0_scope_13_ids_only_gives_ids(case: &mut Case) -> Checked {
    for item in formatted(case, "ids_only")? {
        item.text("/memory_unit/id")?;
        item.number("/relevance_score")?;
        item.text("/relevance_reason")?;
        ensure(item.is_nothing("/memory_unit/content"), "ids_only has content")?;
    }
    Ok(())
}

fn l0_scope_14_full_is_the_default_format(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let unit = author.record(finding(case.words("Jars were counted")))?;
    let item = reader.finds(&unit, json!({}))?.unwrap_or_default();
    same("format", item.text("/format")?, "full")?;
    same("content", item.text("/memory_unit/content")?, unit.content.as_str())
}

fn l0_scope_15_refuses_an_unknown_format(case: &mut Case) -> Checked {
    refuses(case, &[json!({"scope": {"role": "analyst", "max_units": 1}, "format": "poem"})])
}

fn l1_scope_16_summary_is_labelled(case: &mut Case) -> Checked {
    for item in formatted(case, "summary")? {
        same("format", item.text("/format")?, "summary")?;
    }
    Ok(())
}

fn l3_scope_17_as_of_epoch_shows_the_past(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let before = author.record(finding(case.words("Jars were counted")))?;
    let after = author.record(finding(case.words("Jars were sold")))?;
    let scope = json!({"as_of_epoch": before.epoch});
    let answer = reader.attune_since(before.epoch, scope)?;
    let gives = |unit: &Unit| {
        answer
            .list("/record")
            .is_ok_and(|l| l.iter().any(|i| i["memory_unit"]["id"] == unit.id.as_str()))
    };
    ensure(gives(&before), "what was known then is missing")?;
    ensure(!gives(&after), "what came later is given")
}

fn l3_scope_18_explain_gives_the_factors(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let unit = author.record(finding(case.words("Jars were counted")))?;
    let plain = reader.finds(&unit, json!({}))?.unwrap_or_default();
    let explained = reader.finds(&unit, json!({"explain": true}))?.unwrap_or_default();
    let keys = |item: &Value| item.as_object().map_or(0, serde_json::Map::len);
    ensure(keys(&explained) > keys(&plain), "explain adds nothing to the item")
}
