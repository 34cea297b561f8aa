//! The history of decisions: by rules, by the policy, by people. It is the Field's own and nobody's to change.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::{
    harn::{
        AuditEntry, AuditOutcome, Cursor, HarnError, List, PermissionCheckRequest,
        PermissionDecision, PermissionRisk, ResourceKind,
    },
    json::timestamp::rfc3339,
};

use crate::{
    Caller, Harness,
    handle::{failure::harn_error, page::PageBuilder},
    stored::built_in::session_in_field,
};

/// How many decisions are looked at for one answer.
const DECISIONS_READ_MAX: usize = 10_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub session: Option<String>,
    pub workspace: Option<String>,
    pub tenant: Option<String>,
    pub actor: Option<String>,
    pub outcome: Option<AuditOutcome>,
}

impl AuditFilter {
    fn passes(&self, entry: &AuditEntry) -> bool {
        let same = |asked: &Option<String>, given: Option<&str>| {
            asked.as_deref().is_none_or(|asked| Some(asked) == given)
        };
        same(&self.session, Some(&entry.request.session_id))
            && same(&self.workspace, entry.request.workspace_id.as_deref())
            && same(&self.tenant, entry.request.tenant_id.as_deref())
            && same(&self.actor, Some(&entry.request.actor))
            && self.outcome.is_none_or(|outcome| outcome == entry.outcome)
    }
}

impl Harness {
    /// `GET /v1/permissions/history`, the newest first.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn permission_history(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        limit: usize,
        cursor: Option<Cursor>,
    ) -> Result<List<AuditEntry>, HarnError> {
        let (caller, before) = (caller.clone(), cursor.map_or(u64::MAX, |cursor| cursor.after));
        self.reading(move |harness| {
            let entries: Vec<(u64, DocumentEntry)> = harness.field.with_state(|state| {
                let all = state.documents.from(DocumentKind::PermissionDecision, 0).rev();
                let all = all.map(|(place, entry)| (place as u64, entry));
                let earlier = all.filter(|(place, _)| *place < before);
                let read = earlier.take(DECISIONS_READ_MAX);
                read.map(|(place, entry)| (place, entry.clone())).collect()
            });
            let more = entries.len() == DECISIONS_READ_MAX;
            let mut shown = PageBuilder::new(ResourceKind::PermissionDecision);
            for (place, entry) in entries {
                let audit = match harness.reaches(&caller, entry.owner.session.as_deref()) {
                    true => harness.load_decision(&entry)?.filter(|audit| filter.passes(audit)),
                    false => None,
                };
                let Some(audit) = audit else {
                    shown.pass(place);
                    continue;
                };
                if shown.count() == limit || !shown.add(place, audit) {
                    return Ok(shown.page(true));
                }
            }
            Ok(shown.page(more))
        })
        .await
    }

    fn load_decision(&self, entry: &DocumentEntry) -> Result<Option<AuditEntry>, HarnError> {
        let audit =
            self.field.body_at::<AuditEntry>(entry.at).map_err(|error| harn_error(&error))?;
        Ok(audit.map(|audit| AuditEntry { decided_at: rfc3339(entry.created_ms), ..audit }))
    }

    /// Keeps what rules and policy decided. Gives the id of the question.
    pub(super) async fn keep_decision(
        &self,
        request: PermissionCheckRequest,
        decision: &PermissionDecision,
    ) -> Result<String, HarnError> {
        let session = session_in_field(&request.session_id).map(str::to_owned);
        let named = request.id.clone();
        let draft = self.decision_draft(&audit_of(request, decision))?;
        let id = named.unwrap_or_else(|| draft.id.clone());
        let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
        self.write_as_field(session.as_deref(), command).await?;
        Ok(id)
    }

    pub(super) fn decision_draft(&self, audit: &AuditEntry) -> Result<DocumentDraft, HarnError> {
        let owner = DocumentOwner {
            workspace: audit.request.workspace_id.clone(),
            session: session_in_field(&audit.request.session_id).map(str::to_owned),
            ..DocumentOwner::default()
        };
        let id = self.draw(ResourceKind::PermissionDecision);
        self.draft(DocumentKind::PermissionDecision, &id, owner, Expect::New, audit)
    }
}

/// What a decision is in the history.
pub(super) fn audit_of(
    request: PermissionCheckRequest,
    decision: &PermissionDecision,
) -> AuditEntry {
    let risk = request.risk.unwrap_or(PermissionRisk::Medium);
    let decided_at = String::new();
    let (outcome, scope, policy_version, rule_id, reason) = match decision.clone() {
        PermissionDecision::Granted { scope, policy_version, reason, rule_id, .. } => {
            (AuditOutcome::Granted, Some(scope), policy_version, rule_id, reason)
        }
        PermissionDecision::Denied { scope, policy_version, reason, rule_id } => {
            (AuditOutcome::Denied, Some(scope), policy_version, rule_id, reason)
        }
        PermissionDecision::Suspend { policy_version, reason, .. } => {
            (AuditOutcome::Escalated, None, policy_version, None, reason)
        }
    };
    AuditEntry {
        request,
        outcome,
        scope,
        policy_version,
        risk,
        rule_id,
        reason,
        decided_at,
        decided_by: None,
    }
}
