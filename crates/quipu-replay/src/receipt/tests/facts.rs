//! Facts of our own making.

use serde_json::Value;

use quipu_wire::harn::{
    AutonomyTier, BudgetAmount, DependencyKind, FinalArtifact, Identifiers, IssuerKind, JsonObject,
    Lifecycle, OutcomeStatus, Receipt, Sha256, SideEffects, Trust, Visibility,
};

use crate::receipt::*;

pub(super) fn digest(digit: char) -> Sha256 {
    format!("sha256:{}", digit.to_string().repeat(64)).parse().unwrap()
}

pub(super) fn run(receipt_id: &str, task_id: &str) -> RunFacts {
    RunFacts {
        receipt_id: receipt_id.to_owned(),
        issuer: IssuerFacts {
            id: "harness_test".to_owned(),
            kind: IssuerKind::Harness,
            name: None,
            public_key_id: Some("key_1".to_owned()),
        },
        identifiers: Identifiers {
            tenant_id: None,
            persona_ref: Some("field".to_owned()),
            workspace_ref: "workspace_1".to_owned(),
            session_id: "session_1".to_owned(),
            task_id: task_id.to_owned(),
            branch_id: None,
            trace_id: None,
        },
        trust: Trust {
            start_tier: AutonomyTier::ActAuto,
            end_tier: AutonomyTier::ActAuto,
            policy_ref: None,
        },
        model_route: None,
        event_log: Some(EventLogFact {
            id: "event_log".to_owned(),
            uri: "artifact://artifact_log".to_owned(),
            sha256: digest('1'),
            binds: false,
        }),
        own_log: None,
        final_artifacts: vec![FinalArtifact {
            artifact_id: "artifact_out".to_owned(),
            kind: "dataset".to_owned(),
            uri: None,
            sha256: Some(digest('2')),
        }],
        previous_receipt_hash: None,
        merkle_root: None,
        metadata: JsonObject::default(),
    }
}

pub(super) fn dependency(key: &str, kind: DependencyKind) -> DependencyFact {
    DependencyFact {
        key: key.to_owned(),
        kind,
        sha256: Sha256::of(key.as_bytes()),
        artifact_id: None,
        visibility: Visibility::Internal,
    }
}

pub(super) fn task(final_state: OutcomeStatus) -> TaskFacts {
    TaskFacts {
        run: run("receipt_1", "task_1"),
        lifecycle: Lifecycle {
            created_at: Some("2026-05-01T08:00:00Z".to_owned()),
            started_at: "2026-05-01T08:00:01Z".to_owned(),
            completed_at: "2026-05-01T08:00:09.25Z".to_owned(),
            final_state,
            failure: None,
        },
        approvals: Vec::new(),
        limit: None,
        consumed: BudgetAmount {
            usd: Some(0.1842),
            tool_calls: Some(3),
            ..BudgetAmount::default()
        },
        dependencies: vec![
            dependency("mcp:github:7", DependencyKind::McpToolReturn),
            dependency("llm:main:1", DependencyKind::LlmProviderResponse),
            dependency("secret:token", DependencyKind::SecretValue),
            dependency("time:now", DependencyKind::Time),
        ],
        unavailable_reason: None,
        cost: None,
        side_effects: SideEffects::default(),
        redactions: Vec::new(),
    }
}

pub(super) fn signer() -> ReceiptSigner {
    ReceiptSigner::from_seed("key_1", &[7; 32])
}

pub(super) fn signed() -> Receipt {
    let mut receipt = issue_task(task(OutcomeStatus::Succeeded)).unwrap();
    let hash = receipt.chain.receipt_hash.unwrap();
    receipt.signatures.push(signer().sign(&hash, Some("2026-05-01T08:00:10Z".to_owned())));
    receipt
}

pub(super) fn as_json(receipt: &Receipt) -> Value {
    serde_json::to_value(receipt).unwrap()
}

#[track_caller]
pub(super) fn assert_valid(receipt: &Receipt) {
    let verdict = verify(&as_json(receipt), Trusted::default());
    assert_eq!(verdict.findings, []);
}
