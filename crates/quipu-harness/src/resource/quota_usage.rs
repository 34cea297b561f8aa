//! What of a Quota is used up, counted from the log, and the check before work. Work that a hard Quota limits is
//! accepted one piece after the other, so that its last place is given once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quipu_core::{DocumentKind, State, state::DocumentEntry};
use quipu_wire::{
    harn::{HarnError, HarnErrorCode, Persona, Quota, QuotaScope, QuotaUnit, Workspace},
    json::timestamp::rfc3339,
};
use serde_json::json;
use tokio::sync::OwnedMutexGuard;

use crate::{Harness, document::resource::Resource, resource::quota::KeptQuota};

enum Counted {
    Personas(BTreeSet<String>),
    Workspaces(BTreeSet<String>),
    Everything,
}

/// What was used up in the present span.
#[derive(Debug, Default)]
struct Used {
    units: BTreeMap<QuotaUnit, u64>,
    last_receipt: Option<String>,
}

impl Counted {
    fn has(&self, task: &DocumentEntry) -> bool {
        let among = |names: &BTreeSet<String>, name: &Option<String>| {
            name.as_ref().is_some_and(|name| names.contains(name))
        };
        match self {
            Self::Personas(personas) => among(personas, &task.owner.persona),
            Self::Workspaces(workspaces) => among(workspaces, &task.owner.workspace),
            Self::Everything => true,
        }
    }
}

impl Harness {
    /// Refuses work for which a hard Quota has nothing left: that of the Persona, that of the Workspace, and
    /// those that hold for everything. Where there is one, whoever is let through has the turn until its work
    /// is written, so that nobody else counts meanwhile.
    pub(crate) async fn check_quotas(
        &self,
        persona: Option<&str>,
        workspace: &str,
        unit: QuotaUnit,
    ) -> Result<Option<OwnedMutexGuard<()>>, HarnError> {
        let none = self
            .field
            .with_state(|state| state.documents.from(DocumentKind::Quota, 0).next().is_none());
        if none {
            return Ok(None);
        }
        let turn = Arc::clone(&self.changing).lock_owned().await;
        let (persona, workspace) = (persona.map(str::to_owned), workspace.to_owned());
        let check =
            move |harness: &Self| harness.refuse_beyond(persona.as_deref(), &workspace, unit);
        let limited = self.reading(check).await?;
        Ok(limited.then_some(turn))
    }

    /// Whether a hard Quota holds for the work, which has a place in it then. Reads storage.
    fn refuse_beyond(
        &self,
        persona: Option<&str>,
        workspace: &str,
        unit: QuotaUnit,
    ) -> Result<bool, HarnError> {
        let mut limited = false;
        let entries: Vec<DocumentEntry> = self.field.with_state(|state| {
            state.documents.from(DocumentKind::Quota, 0).map(|(_, entry)| entry.clone()).collect()
        });
        for entry in entries {
            let kept = self.load_quota(&entry)?;
            let Some(limit) = kept.quota.limits.get(unit.as_str()).copied() else { continue };
            if !kept.quota.hard_limit {
                continue;
            }
            let counted = self.counted(&kept.quota, &entry.id)?;
            let concerns = match &counted {
                Counted::Personas(personas) => persona.is_some_and(|id| personas.contains(id)),
                Counted::Workspaces(workspaces) => workspaces.contains(workspace),
                Counted::Everything => true,
            };
            if !concerns {
                continue;
            }
            let (from_ms, reset_ms) = self.span(&entry, kept.period_ms);
            let used = self.field.with_state(|state| used(state, &counted, from_ms));
            let used = number(used.units.get(&unit).copied().unwrap_or(0));
            if used >= limit {
                return Err(exhausted(&entry.id, unit, limit, used, reset_ms));
            }
            limited = true;
        }
        Ok(limited)
    }

    /// The Quota with what is used up. Reads storage.
    pub(crate) fn show_quota(&self, entry: &DocumentEntry) -> Result<Quota, HarnError> {
        let KeptQuota { mut quota, period_ms } = self.load_quota(entry)?;
        quota.envelope.created_at = rfc3339(entry.created_ms);
        quota.envelope.updated_at = rfc3339(entry.updated_ms);
        let counted = self.counted(&quota, &entry.id)?;
        let (from_ms, reset_ms) = self.span(entry, period_ms);
        let used = self.field.with_state(|state| used(state, &counted, from_ms));
        for unit in QuotaUnit::ALL {
            let spent = number(used.units.get(unit).copied().unwrap_or(0));
            quota.usage.insert(unit.as_str().to_owned(), spent);
            let limit = quota.limits.get(unit.as_str());
            if limit.is_some_and(|limit| spent >= *limit) && quota.exhaustion_reason.is_none() {
                quota.exhaustion_reason = Some(format!("{unit} are used up"));
            }
        }
        quota.reset_at = reset_ms.map(rfc3339);
        quota.last_receipt_id = used.last_receipt;
        Ok(quota)
    }

    /// The present span of counting: when it began, and when the next one begins.
    fn span(&self, entry: &DocumentEntry, period_ms: Option<u64>) -> (u64, Option<u64>) {
        let Some(period) = period_ms.filter(|period| *period > 0) else { return (0, None) };
        let past = self.field.origin().now_ms().saturating_sub(entry.created_ms);
        let from = entry.created_ms.saturating_add(past / period * period);
        (from, Some(from.saturating_add(period)))
    }

    fn counted(&self, quota: &Quota, id: &str) -> Result<Counted, HarnError> {
        Ok(match quota.scope {
            QuotaScope::Persona => Counted::Personas(
                self.naming::<Persona>(|persona| persona.quota_id.as_deref() == Some(id))?,
            ),
            QuotaScope::Workspace => Counted::Workspaces(
                self.naming::<Workspace>(|workspace| workspace.quota_id.as_deref() == Some(id))?,
            ),
            QuotaScope::Tenant | QuotaScope::Organization => Counted::Everything,
        })
    }

    /// The ids of the resources that pass. Reads storage.
    fn naming<T: Resource>(
        &self,
        passes: impl Fn(&T) -> bool,
    ) -> Result<BTreeSet<String>, HarnError> {
        let entries: Vec<DocumentEntry> = self.field.with_state(|state| {
            state.documents.from(T::DOCUMENT, 0).map(|(_, entry)| entry.clone()).collect()
        });
        let mut ids = BTreeSet::new();
        for entry in entries {
            if passes(&self.load::<T>(&entry)?) {
                ids.insert(entry.id);
            }
        }
        Ok(ids)
    }
}

fn used(state: &State, counted: &Counted, from_ms: u64) -> Used {
    let mut used = Used::default();
    let tasks = state.documents.from(DocumentKind::Task, 0).map(|(_, entry)| entry);
    for task in tasks.filter(|task| task.created_ms >= from_ms && counted.has(task)) {
        *used.units.entry(QuotaUnit::Tasks).or_default() += 1;
        let keys =
            state.streams.task(&task.id).into_iter().flat_map(|stream| stream.dependencies.keys());
        for unit in keys.filter_map(|key| unit_of(key)) {
            *used.units.entry(unit).or_default() += 1;
        }
        let receipt = state.documents.of_task(DocumentKind::Receipt, &task.id).next_back();
        used.last_receipt = receipt.map(|(_, entry)| entry.id.clone()).or(used.last_receipt);
    }
    used
}

/// What a recorded answer counts as.
pub(crate) fn unit_of(key: &str) -> Option<QuotaUnit> {
    match key.split_once(':')?.0 {
        "llm" => Some(QuotaUnit::LlmCalls),
        "mcp" | "tool" | "host" => Some(QuotaUnit::ToolCalls),
        _ => None,
    }
}

fn exhausted(id: &str, unit: QuotaUnit, limit: f64, used: f64, reset_ms: Option<u64>) -> HarnError {
    let message = format!("quota {id} has no {unit} left");
    let mut error = HarnError::new(HarnErrorCode::RateLimited, message);
    error.details.insert("quota_id".to_owned(), json!(id));
    error.details.insert("unit".to_owned(), json!(unit));
    error.details.insert("limit".to_owned(), json!(limit));
    error.details.insert("used".to_owned(), json!(used));
    error.details.insert("reset_at".to_owned(), json!(reset_ms.map(rfc3339)));
    error
}

#[expect(clippy::cast_precision_loss, reason = "the wire has numbers; counts are far below 2^53")]
const fn number(count: u64) -> f64 {
    count as f64
}
