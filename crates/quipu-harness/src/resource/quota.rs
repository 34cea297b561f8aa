//! Quotas: limits that are checked before work. What is used up is counted from the log when it is asked for.

use std::collections::BTreeMap;

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{Expect, HarnCommand},
    state::DocumentEntry,
};
use quipu_wire::harn::{
    Change, CreateQuotaRequest, HarnError, List, Quota, QuotaObject, QuotaUnit, ResourceEnvelope,
    ResourceKind, UpdateQuotaRequest,
};
use serde::{Deserialize, Serialize};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        failure::harn_error,
        page::Page,
        retry::{WriteError, retry_until_unchanged},
        write::{Target, put_by},
    },
    not_found,
};

/// The body of a Quota's document: the resource, and how long a span of counting is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptQuota {
    #[serde(flatten)]
    pub(crate) quota: Quota,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) period_ms: Option<u64>,
}

impl Harness {
    /// `POST /v1/quotas`. Ours: the protocol only reads them.
    ///
    /// # Errors
    /// 403 below authority 8.
    pub async fn create_quota(
        &self,
        write: &WriteRequest,
        request: CreateQuotaRequest,
    ) -> Result<Quota, HarnError> {
        let id = self.draw(ResourceKind::Quota);
        self.check_policy_object(&write.caller, DocumentKind::Quota, &id)?;
        let mut envelope = ResourceEnvelope::new(&id, "");
        envelope.metadata = request.metadata;
        let quota = Quota {
            object: QuotaObject::Quota,
            envelope,
            scope: request.scope,
            limits: numbers(&request.limits),
            usage: BTreeMap::new(),
            reset_at: None,
            hard_limit: request.hard_limit,
            soft_limit: !request.hard_limit,
            exhaustion_reason: None,
            last_receipt_id: None,
        };
        let kept = KeptQuota { quota, period_ms: request.period_ms };
        let command = self.quota_command(&id, Expect::New, &kept)?;
        let outcome = self.write(write, Target::post("/v1/quotas"), None, command).await?;
        let id = put_by(&outcome, DocumentKind::Quota).unwrap_or(&id);
        self.quota(&write.caller, id).await
    }

    /// `PATCH /v1/quotas/{quota_id}`. Ours.
    ///
    /// # Errors
    /// 403 for who may not change it, 404 where there is none.
    pub async fn update_quota(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdateQuotaRequest,
    ) -> Result<Quota, HarnError> {
        retry_until_unchanged(|| self.change_quota(write, id, request.clone())).await
    }

    async fn change_quota(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdateQuotaRequest,
    ) -> Result<Quota, WriteError> {
        self.check_policy_object(&write.caller, DocumentKind::Quota, id)?;
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        let entry = self.quota_entry(&write.caller, id)?;
        let mut kept = self.reading(move |harness| harness.load_quota(&entry)).await?;
        if let Some(limits) = request.limits {
            kept.quota.limits = numbers(&limits);
        }
        if let Some(hard) = request.hard_limit {
            (kept.quota.hard_limit, kept.quota.soft_limit) = (hard, !hard);
        }
        kept.period_ms = request.period_ms.apply(kept.period_ms);
        if let Some(metadata) = request.metadata {
            kept.quota.envelope.metadata = metadata;
        }
        let command = self.quota_command(id, Expect::Known, &kept)?;
        let command = HarnCommand { read_at, ..command };
        let path = format!("/v1/quotas/{id}");
        let target = Target { workspace: "", method: "PATCH", path: &path };
        self.write(write, target, None, command).await?;
        Ok(self.quota(&write.caller, id).await?)
    }

    /// `GET /v1/quotas/{quota_id}`.
    ///
    /// # Errors
    /// 404 where there is none.
    pub async fn quota(&self, caller: &Caller, id: &str) -> Result<Quota, HarnError> {
        let entry = self.quota_entry(caller, id)?;
        self.reading(move |harness| harness.show_quota(&entry)).await
    }

    /// `GET /v1/quotas`.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn quotas(&self, page: Page) -> Result<List<Quota>, HarnError> {
        let from = usize::try_from(page.from).unwrap_or(usize::MAX);
        let taken = self.field.with_state(|state| {
            let entries = state.documents.from(DocumentKind::Quota, from);
            page.take(entries.map(|(place, entry)| (place as u64, entry.clone())))
        });
        self.reading(move |harness| taken.list(|entry| harness.show_quota(&entry))).await
    }

    pub(crate) fn check_quota_named(&self, change: &Change<String>) -> Result<(), HarnError> {
        let Change::Set(id) = change else { return Ok(()) };
        let known =
            self.field.with_state(|state| state.documents.get(DocumentKind::Quota, id).is_some());
        if known { Ok(()) } else { Err(not_found(ResourceKind::Quota, id).at("quota_id")) }
    }

    fn quota_entry(&self, caller: &Caller, id: &str) -> Result<DocumentEntry, HarnError> {
        let entry = self.entry(caller, DocumentKind::Quota, id);
        entry.ok_or_else(|| not_found(ResourceKind::Quota, id))
    }

    fn quota_command(
        &self,
        id: &str,
        expect: Expect,
        kept: &KeptQuota,
    ) -> Result<HarnCommand, HarnError> {
        let owner = DocumentOwner::default();
        Ok(HarnCommand {
            documents: vec![self.draft(DocumentKind::Quota, id, owner, expect, kept)?],
            ..HarnCommand::default()
        })
    }

    /// What a Quota's document says. Reads storage.
    pub(crate) fn load_quota(&self, entry: &DocumentEntry) -> Result<KeptQuota, HarnError> {
        let kept = self.field.body_at::<KeptQuota>(entry.at).map_err(|error| harn_error(&error))?;
        kept.ok_or_else(|| not_found(ResourceKind::Quota, &entry.id))
    }
}

#[expect(clippy::cast_precision_loss, reason = "the wire has numbers; limits are far below 2^53")]
fn numbers(limits: &BTreeMap<QuotaUnit, u64>) -> BTreeMap<String, f64> {
    limits.iter().map(|(unit, limit)| (unit.as_str().to_owned(), *limit as f64)).collect()
}
