//! The table: every object of a receipt with its members, as `receipt-2026-04-25` has them.

use super::shape::{
    Kind::{
        Amount, Count, Currency, Digest, DigestOrNull, List, Object, Open, OpenOrNull, Text, Time,
        Word,
    },
    Shape, closed, may, must,
};

const TIERS: &[&str] = &["shadow", "suggest", "act_with_approval", "act_auto"];

pub(super) static RECEIPT: Shape = closed(&[
    must("schema", Word(&["receipt-2026-04-25"])),
    must("receipt_id", Text),
    must("subject", Object(&SUBJECT)),
    must("issuer", Object(&ISSUER)),
    must("issued_at", Time),
    must("identifiers", Object(&IDENTIFIERS)),
    must("lifecycle", Object(&LIFECYCLE)),
    may("approvals", List(&APPROVAL)),
    must("trust", Object(&TRUST)),
    must("autonomy_budget", Object(&BUDGET)),
    must("replay_input", Object(&REPLAY_INPUT)),
    must("model_route", Object(&MODEL_ROUTE)),
    must("cost", Object(&COST)),
    must("side_effects", Object(&SIDE_EFFECTS)),
    must("final_artifacts", List(&FINAL_ARTIFACT)),
    may("deltas", List(&DELTA)),
    must("chain", Object(&CHAIN)),
    may("redactions", List(&REDACTION)),
    may("signatures", List(&SIGNATURE)),
    may("metadata", Open),
]);

static SUBJECT: Shape = closed(&[
    must(
        "object",
        Word(&["task", "outcome", "event", "artifact", "approval", "tool_call", "replay_segment"]),
    ),
    must("id", Text),
]);

static ISSUER: Shape = closed(&[
    must("id", Text),
    must("kind", Word(&["harness", "host", "agent", "connector"])),
    may("name", Text),
    may("version", Text),
    may("public_key_id", Text),
]);

static IDENTIFIERS: Shape = closed(&[
    may("tenant_id", Text),
    may("persona_ref", Text),
    must("workspace_ref", Text),
    must("session_id", Text),
    must("task_id", Text),
    may("branch_id", Text),
    may("trace_id", Text),
]);

static LIFECYCLE: Shape = closed(&[
    may("created_at", Time),
    must("started_at", Time),
    must("completed_at", Time),
    must("final_state", Word(&["SUCCEEDED", "FAILED", "CANCELED"])),
    may("failure", OpenOrNull),
]);

static APPROVAL: Shape = closed(&[
    may("approval_id", Text),
    must("actor", Text),
    must("action", Text),
    must("decision", Word(&["approved", "denied", "canceled", "timeout"])),
    must("decided_at", Time),
    may("quorum_proof", OpenOrNull),
    may("evidence_hash", Digest),
]);

static TRUST: Shape = closed(&[
    must("start_tier", Word(TIERS)),
    must("end_tier", Word(TIERS)),
    may("policy_ref", Text),
]);

static BUDGET: Shape =
    closed(&[may("limit", Object(&BUDGET_AMOUNT)), must("consumed", Object(&BUDGET_AMOUNT))]);

static BUDGET_AMOUNT: Shape = closed(&[
    may("usd", Amount),
    may("input_tokens", Count),
    may("output_tokens", Count),
    may("tool_calls", Count),
    may("wall_time_ms", Count),
]);

static REPLAY_INPUT: Shape = closed(&[
    must("determinism", Word(&["byte_deterministic", "best_effort", "unavailable"])),
    must("materials", List(&MATERIAL)),
    may("unavailable_reason", Text),
]);

static MATERIAL: Shape = Shape {
    members: &[
        must(
            "kind",
            Word(&[
                "llm_provider_response",
                "mcp_tool_return",
                "event_log",
                "artifact",
                "host_fact",
            ]),
        ),
        may("id", Text),
        may("uri", Text),
        may("sha256", Digest),
        may("content_type", Text),
        may("bytes_base64", Text),
        may("metadata", Open),
    ],
    any_of: &[&["uri", "sha256"], &["bytes_base64", "sha256"], &["metadata"]],
};

static MODEL_ROUTE: Shape = closed(&[
    must("chosen_model", Object(&MODEL_REF)),
    must("alternatives_considered", List(&MODEL_REF)),
    must("route_policy_reason", Text),
]);

static MODEL_REF: Shape = closed(&[
    must("provider", Text),
    must("model", Text),
    may("version", Text),
    may("reason", Text),
]);

static COST: Shape = closed(&[
    must("currency", Currency),
    must("total", Amount),
    must("provider_breakdown", List(&PROVIDER_COST)),
]);

static PROVIDER_COST: Shape = closed(&[
    must("provider", Text),
    may("model", Text),
    must("amount", Amount),
    may("input_tokens", Count),
    may("output_tokens", Count),
    may("metadata", Open),
]);

static SIDE_EFFECTS: Shape = closed(&[
    must("fs_writes", List(&FILE_WRITE)),
    must("network_egress", List(&NETWORK_EGRESS)),
    must("tool_calls", List(&TOOL_CALL)),
    must("a2a_handoffs", List(&HANDOFF)),
]);

static FILE_WRITE: Shape = closed(&[
    must("path", Text),
    must("operation", Word(&["create", "modify", "delete", "rename"])),
    may("before_sha256", DigestOrNull),
    may("after_sha256", DigestOrNull),
]);

static NETWORK_EGRESS: Shape = closed(&[
    must("destination", Text),
    must("purpose", Text),
    may("bytes_sent", Count),
    may("metadata", Open),
]);

static TOOL_CALL: Shape = closed(&[
    must("tool", Text),
    must("call_id", Text),
    must("status", Word(&["succeeded", "failed", "canceled"])),
    may("input_hash", Digest),
    may("output_hash", Digest),
    may("metadata", Open),
]);

static HANDOFF: Shape = closed(&[
    must("target_agent", Text),
    must("task_id", Text),
    must("status", Word(&["accepted", "rejected", "failed", "completed"])),
    may("receipt_id", Text),
]);

static FINAL_ARTIFACT: Shape = closed(&[
    must("artifact_id", Text),
    must("kind", Text),
    may("uri", Text),
    may("sha256", Digest),
]);

static DELTA: Shape = closed(&[
    may("delta_id", Text),
    must("operation", Word(&["add", "replace", "remove"])),
    must("path", Text),
    may("override_key", Text),
    may("event_id", Text),
    may("before_sha256", DigestOrNull),
    may("after_sha256", DigestOrNull),
    may("artifact_id", Text),
    may("reason", Text),
]);

static CHAIN: Shape = closed(&[
    must("previous_receipt_hash", DigestOrNull),
    must("receipt_hash", Digest),
    may("merkle_root", Digest),
]);

static REDACTION: Shape =
    closed(&[must("field", Text), must("reason", Text), may("proof_hash", Digest)]);

static SIGNATURE: Shape = closed(&[
    must("key_id", Text),
    must("algorithm", Text),
    must("signature", Text),
    may("signed_at", Time),
]);
