//! Servers that leave out one key of an answer, each key in turn.

use super::{
    tamper::{Tamper, complains, pushes, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

/// What an answer must have: what it is called, the operation, where its keys are, the keys, the cases that
/// look at it.
struct Shape {
    name: &'static str,
    what: &'static str,
    operation: &'static str,
    at: &'static str,
    keys: &'static [&'static str],
    cases: &'static [&'static str],
}

const SHAPES: [Shape; 15] = [
    Shape {
        name: "unit",
        what: "A unit",
        operation: "ATTUNE",
        at: "/record/*/memory_unit",
        keys: &["id", "mode", "type", "content", "intent", "source", "status", "epoch"],
        cases: &["l0_record_32"],
    },
    Shape {
        name: "source",
        what: "The source of a unit",
        operation: "ATTUNE",
        at: "/record/*/memory_unit/source",
        keys: &["agent_id", "agent_role", "timestamp"],
        cases: &["l0_record_32"],
    },
    Shape {
        name: "item",
        what: "An item of ATTUNE",
        operation: "ATTUNE",
        at: "/record/*",
        keys: &["memory_unit", "relevance_score", "relevance_reason", "format"],
        cases: &["l0_attune_05", "l0_record_32"],
    },
    Shape {
        name: "attune",
        what: "The answer to ATTUNE",
        operation: "ATTUNE",
        at: "",
        keys: &["status", "record", "conflicts", "context_budget", "epoch"],
        cases: &["l0_attune_08"],
    },
    Shape {
        name: "budget",
        what: "context_budget",
        operation: "ATTUNE",
        at: "/context_budget",
        keys: &["units_returned", "units_available", "tokens_used", "tokens_budget"],
        cases: &["l0_attune_08"],
    },
    Shape {
        name: "record",
        what: "The answer to RECORD",
        operation: "RECORD",
        at: "",
        keys: &["status", "memory_unit_id", "epoch", "conflicts_detected"],
        cases: &["l0_record_11"],
    },
    Shape {
        name: "register",
        what: "The answer to REGISTER",
        operation: "REGISTER",
        at: "",
        keys: &["status", "agent", "field_capabilities"],
        cases: &["l0_register_01", "l1_register_08"],
    },
    Shape {
        name: "agent",
        what: "An agent",
        operation: "REGISTER",
        at: "/agent",
        keys: &["id", "role", "status"],
        cases: &["l0_register_01", "l0_register_04"],
    },
    Shape {
        name: "capabilities",
        what: "field_capabilities",
        operation: "REGISTER",
        at: "/field_capabilities",
        keys: &[
            "conformance_level",
            "supported_operations",
            "protocol_version",
            "persistence",
            "conflict_strategies",
        ],
        cases: &["l1_register_08"],
    },
    Shape {
        name: "conflict",
        what: "A conflict",
        operation: "DETECT",
        at: "/conflicts/*",
        keys: &["id", "type", "status", "unit_a", "unit_b", "description", "detected_by"],
        cases: &["l1_detect_02"],
    },
    Shape {
        name: "resolution",
        what: "A resolution",
        operation: "MERGE",
        at: "/conflict/resolution",
        keys: &["strategy", "winner_id", "rationale", "resolved_by", "epoch_resolved"],
        cases: &["l2_merge_04"],
    },
    Shape {
        name: "effects",
        what: "side_effects",
        operation: "MERGE",
        at: "/side_effects",
        keys: &["superseded_units", "new_unit_id", "notified_agents"],
        cases: &["l2_merge_03", "l2_merge_05"],
    },
    Shape {
        name: "story",
        what: "The answer to REPLAY",
        operation: "REPLAY",
        at: "",
        keys: &["status", "timeline", "summary", "agents_involved", "total_events"],
        cases: &["l2_replay_02", "l2_replay_08"],
    },
    Shape {
        name: "event",
        what: "An event of REPLAY",
        operation: "REPLAY",
        at: "/timeline/*",
        keys: &["epoch", "event_type", "agent_id", "description", "memory_unit_id", "task_id"],
        cases: &["l2_replay_08"],
    },
    Shape {
        name: "compact",
        what: "The answer to COMPACT",
        operation: "COMPACT",
        at: "",
        keys: &["status", "units_affected", "synthesis_units_created", "storage_reclaimed_bytes"],
        cases: &["l2_compact_06"],
    },
];

const ERROR: [&str; 5] = ["code", "message", "operation", "recoverable", "suggested_action"];

const NOTIFICATION: [&str; 8] = [
    "subscription_id",
    "event",
    "epoch",
    "relevance_score",
    "summary",
    "memory_unit_id",
    "conflict_id",
    "requires_action",
];

#[test]
fn every_missing_key_is_caught() {
    let mut variants: Vec<Variant> = SHAPES.iter().flat_map(of_shape).collect();
    for key in ERROR {
        let tamper = complains("*", move |body| strip(body, &format!("/{key}")));
        variants.push(missing(("error", "An error"), key, &["l0_errors_01"], tamper));
    }
    for key in NOTIFICATION {
        let tamper = pushes(move |mut pushed| {
            strip(&mut pushed.data, &format!("/{key}"));
            vec![pushed]
        });
        variants.push(missing(
            ("notification", "A notification"),
            key,
            &["l2_subscribe_02"],
            tamper,
        ));
    }
    all_are_caught("shapes", variants);
}

fn of_shape(shape: &'static Shape) -> impl Iterator<Item = Variant> {
    shape.keys.iter().map(|key| {
        let pointer = format!("{}/{key}", shape.at);
        let tamper = tells(shape.operation, move |body| strip(body, &pointer));
        missing((shape.name, shape.what), key, shape.cases, tamper)
    })
}

fn missing((name, what): (&str, &str), key: &str, cases: &[&str], tamper: Tamper) -> Variant {
    let breaks = format!("{what} has no {key}");
    variant(&format!("shape_{name}_without_{key}"), &breaks, cases, tamper)
}
