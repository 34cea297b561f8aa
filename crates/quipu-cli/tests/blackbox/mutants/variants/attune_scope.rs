//! Servers that do not look at parts of the scope.

use serde_json::{Value, json};

use super::{
    tamper::{Answered, asks, before, put, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_ignored_scope_is_caught() {
    let all = [required(), budgets(), ignored(), formats()];
    all_are_caught("scope", all.into_iter().flatten().collect());
}

fn required() -> Vec<Variant> {
    let cases = &["l0_scope_0", "l0_scope_15", "l2_scope_10", "l0_attune_04"];
    vec![
        variant(
            "scope_needs_interests",
            "A scope without interests is refused",
            &["l0_scope_01"],
            before("ATTUNE", |asked, _| {
                let scope = &asked.message["payload"]["scope"];
                scope["interests"]
                    .is_null()
                    .then(|| Answered::refusal(400, "INVALID_PAYLOAD", "ATTUNE"))
            }),
        ),
        variant(
            "scope_without_role",
            "A missing role is that of the agent",
            cases,
            asks("ATTUNE", |payload| {
                if payload["scope"].is_object()
                    && payload["scope"]["role"].as_str().is_none_or(str::is_empty)
                {
                    payload["scope"]["role"] = json!("analyst");
                }
            }),
        ),
        variant(
            "scope_any_max_units",
            "A max_units that is none counts as 10",
            cases,
            asks("ATTUNE", |payload| {
                if payload["scope"].is_object()
                    && payload["scope"]["max_units"].as_u64().is_none_or(|n| n == 0)
                {
                    payload["scope"]["max_units"] = json!(10);
                }
            }),
        ),
        variant(
            "scope_missing",
            "An ATTUNE without scope has a scope by default",
            cases,
            asks("ATTUNE", |payload| {
                if !payload["scope"].is_object() {
                    payload["scope"] = json!({"role": "analyst", "max_units": 10});
                }
            }),
        ),
        variant(
            "scope_any_bounds",
            "Bounds that are none are not looked at",
            cases,
            asks("ATTUNE", |payload| {
                let scope = &mut payload["scope"];
                for key in ["relevance_threshold", "recency_weight"] {
                    if scope[key].as_f64().is_some_and(|bound| !(0.0..=1.0).contains(&bound)) {
                        strip(scope, &format!("/{key}"));
                    }
                }
            }),
        ),
    ]
}

fn budgets() -> Vec<Variant> {
    let cases = &["l2_scope_05", "l2_scope_06"];
    vec![
        variant(
            "scope_ignores_max_tokens",
            "max_tokens is not looked at",
            cases,
            asks("ATTUNE", |payload| strip(payload, "/scope/max_tokens")),
        ),
        variant(
            "scope_spends_more_than_the_budget",
            "More tokens are used than max_tokens allows",
            cases,
            asks("ATTUNE", |payload| {
                if let Some(tokens) = payload["scope"]["max_tokens"].as_u64() {
                    payload["scope"]["max_tokens"] = json!(tokens * 3);
                }
            }),
        ),
        variant(
            "scope_does_not_count_tokens",
            "tokens_used is always 0",
            cases,
            tells("ATTUNE", |body| put(body, "/context_budget/tokens_used", &json!(0))),
        ),
    ]
}

fn ignored() -> Vec<Variant> {
    let cases = &["l2_scope_0", "l2_scope_1", "l3_scope_", "l2_attune_28"];
    let ignores =
        |key: &'static str| asks("ATTUNE", move |payload| strip(&mut payload["scope"], key));
    vec![
        variant(
            "scope_ignores_interests",
            "interests are not looked at",
            cases,
            ignores("/interests"),
        ),
        variant(
            "scope_ignores_the_task",
            "active_task_id is not looked at",
            cases,
            ignores("/active_task_id"),
        ),
        variant(
            "scope_ignores_the_threshold",
            "relevance_threshold is not looked at",
            cases,
            ignores("/relevance_threshold"),
        ),
        variant(
            "scope_ignores_the_layers",
            "temporal_layers are not looked at",
            cases,
            ignores("/temporal_layers"),
        ),
        variant(
            "scope_ignores_the_past",
            "as_of_epoch is not looked at",
            cases,
            ignores("/as_of_epoch"),
        ),
        variant("scope_ignores_explain", "explain is not looked at", cases, ignores("/explain")),
        variant(
            "scope_old_first",
            "With recency_weight 1 the oldest unit comes first",
            cases,
            super::tamper::after("ATTUNE", |asked, answered, _| {
                let weight = asked.message["payload"]["scope"]["recency_weight"].as_f64();
                if let (Some(_), Some(list)) = (weight, answered.body["record"].as_array_mut()) {
                    list.reverse();
                }
            }),
        ),
    ]
}

fn formats() -> Vec<Variant> {
    let cases = &["l0_scope_1", "l1_scope_16"];
    let format = |from: Value, to: &'static str| {
        asks("ATTUNE", move |payload| {
            if payload["format"] == from {
                payload["format"] = json!(to);
            }
        })
    };
    vec![
        variant(
            "scope_summaries_by_default",
            "Without format the units are summaries",
            cases,
            format(Value::Null, "summary"),
        ),
        variant(
            "scope_any_format",
            "An unknown format counts as full",
            cases,
            format(json!("poem"), "full"),
        ),
        variant(
            "scope_full_instead_of_ids",
            "ids_only gives whole units",
            cases,
            format(json!("ids_only"), "full"),
        ),
        variant(
            "scope_full_instead_of_summaries",
            "summary gives whole units",
            cases,
            format(json!("summary"), "full"),
        ),
    ]
}
