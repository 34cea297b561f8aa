//! Memories: the Field's memory units as this protocol shows them. What this protocol says beside the content
//! is kept in the unit itself, as its evidence, so that whoever purges a unit purges all of it.

use quipu_core::{
    DocumentKind, DocumentOwner, Message,
    rules::harn::{Expect, HarnAct, HarnCommand},
};
use quipu_wire::{
    akashik::{Confidence, Intent, MemoryType, Mode, RecordPayload, RetractIntent, RetractPayload},
    harn::{CreateMemoryRequest, HarnError, JsonObject, List, Memory, MemoryScope, ResourceKind},
};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        failure::harn_error,
        page::Page,
        write::{Target, put_by},
    },
    not_found,
    resource::memory_view::{MemoryFilter, Remembered, content_text, memory_of},
    stored::built_in::session_in_field,
    visibility::{access::workspace_of, memory::session_of},
};

const PATH: &str = "/v1/memories";

/// How many units are looked at while the writer waits.
const SPAN: u32 = 10_000;

impl Harness {
    /// `POST /v1/memories`: records a unit, in the Session where the scope is one.
    ///
    /// # Errors
    /// 404 for an owner that is not there, 403 where its Session is for others.
    pub async fn create_memory(
        &self,
        write: &WriteRequest,
        request: CreateMemoryRequest,
    ) -> Result<Memory, HarnError> {
        let caller = &write.caller;
        let session = self.check_memory_owner(caller, request.scope, &request.owner_id)?;
        let workspace = match (request.scope, &session) {
            (MemoryScope::Workspace, _) => request.owner_id.clone(),
            (_, session) => self.field.with_state(|state| workspace_of(state, session.as_deref())),
        };
        let target = Target { workspace: &workspace, method: "POST", path: PATH };
        if let Some(first) = self.done_before(write, target, session.as_deref()).await? {
            let id = put_by(&first, DocumentKind::Memory).unwrap_or_default().to_owned();
            return self.memory(caller, &id).await;
        }
        self.enter(caller, session.as_deref()).await?;
        let payload = payload_of(request)?;
        let message = self.message_of(write, target, session.clone(), "unit");
        let recorded = self.field.record(message, payload).await;
        let id = recorded.map_err(|error| harn_error(&error))?.memory_unit_id;
        // The document has no words: it says where the unit belongs, and keeps the idempotency key.
        let owner = DocumentOwner {
            workspace: Some(workspace.clone()),
            session: session.clone(),
            ..DocumentOwner::default()
        };
        let draft =
            self.draft(DocumentKind::Memory, &id, owner, Expect::Any, &JsonObject::default())?;
        let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
        self.write(write, target, session.as_deref(), command).await?;
        self.memory(caller, &id).await
    }

    /// `GET /v1/memories/{memory_id}`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may see, or where it was taken back.
    pub async fn memory(&self, caller: &Caller, id: &str) -> Result<Memory, HarnError> {
        let missing = || not_found(ResourceKind::Memory, id);
        self.unit_of_memory(caller, id).ok_or_else(missing)?;
        let unit = self.field.unit(caller.reader(), id).await.map_err(|_| missing())?;
        Ok(memory_of(unit, self.field.name().as_str()))
    }

    /// `GET /v1/memories`, oldest first. Units of Sessions that nobody opened are shown where the Session is
    /// named.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn memories(
        &self,
        caller: &Caller,
        page: Page,
        filter: MemoryFilter,
    ) -> Result<List<Memory>, HarnError> {
        let named = filter.session.clone().or_else(|| caller.session.clone());
        let caller = &Caller { session: named, ..caller.clone() };
        let taken = page.take(self.units_seen(caller, &page, &filter));
        let (units, mut shown, has_more) = taken.into_parts();
        for (place, id) in units {
            // One that was taken back meanwhile is not there any more.
            let Some(memory) = self.memory(caller, &id).await.ok() else {
                shown.pass(place);
                continue;
            };
            if !shown.add(place, memory) {
                return Ok(shown.page(true));
            }
        }
        Ok(shown.page(has_more))
    }

    /// The units that a page may show and the one behind it. The state is looked at in spans, because the
    /// writer waits meanwhile.
    fn units_seen(
        &self,
        caller: &Caller,
        page: &Page,
        filter: &MemoryFilter,
    ) -> Vec<(u64, String)> {
        let reader = caller.reader();
        let mut found = Vec::new();
        let mut next = u32::try_from(page.from).unwrap_or(u32::MAX);
        loop {
            let end = self.field.with_state(|state| {
                let sight = reader.sight(state);
                let end = state.units.next_ordinal();
                for unit in next..end.min(next.saturating_add(SPAN)) {
                    if found.len() > page.limit {
                        break;
                    }
                    if !filter.passes(state, unit) {
                        continue;
                    }
                    if sight.sees(unit)
                        && let Some(details) = state.units.details(unit)
                    {
                        found.push((u64::from(unit), details.id.to_string()));
                    }
                }
                end
            });
            next = next.saturating_add(SPAN);
            if next >= end || found.len() > page.limit {
                return found;
            }
        }
    }

    /// `DELETE /v1/memories/{memory_id}`: retracts the unit, for its author or the operator. Nothing is
    /// erased by it; that is COMPACT's purge.
    ///
    /// # Errors
    /// 404 where there is none that the caller may see, 403 where it is another's.
    pub async fn delete_memory(&self, write: &WriteRequest, id: &str) -> Result<(), HarnError> {
        let path = format!("{PATH}/{id}");
        let target = Target { workspace: "", method: "DELETE", path: &path };
        if self.done_before(write, target, None).await?.is_some() {
            return Ok(());
        }
        let missing = || not_found(ResourceKind::Memory, id);
        let ordinal = self.unit_of_memory(&write.caller, id).ok_or_else(missing)?;
        let session = self.field.with_state(|state| session_of(state, ordinal).map(str::to_owned));
        self.enter(&write.caller, None).await?;
        let purpose = "deleted over the Harn Agents Protocol".to_owned();
        let payload = RetractPayload { unit_id: id.to_owned(), intent: RetractIntent { purpose } };
        let message = self.message_of(write, target, session.clone(), "retract");
        self.field.retract(message, payload).await.map_err(|error| harn_error(&error))?;
        let entry =
            self.field.with_state(|state| state.documents.get(DocumentKind::Memory, id).cloned());
        let owner = entry.map(|entry| entry.owner).unwrap_or_default();
        let none = JsonObject::default();
        let draft = self.draft(DocumentKind::Memory, id, owner, Expect::Any, &none)?;
        let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
        self.write(write, target, session.as_deref(), command).await?;
        Ok(())
    }

    /// The Session that a Memory of this scope is recorded in, where its owner is there.
    fn check_memory_owner(
        &self,
        caller: &Caller,
        scope: MemoryScope,
        owner: &str,
    ) -> Result<Option<String>, HarnError> {
        let checked = match scope {
            MemoryScope::Session => self.check_session_visible(caller, owner),
            MemoryScope::Workspace => self.check_workspace(owner),
            MemoryScope::Persona => self.check_persona(owner),
            MemoryScope::Tenant => Ok(()),
        };
        checked.map_err(|error| error.at("owner_id"))?;
        let session = if scope == MemoryScope::Session { session_in_field(owner) } else { None };
        Ok(session.map(str::to_owned))
    }

    /// Lets the caller into the Field and into an open session.
    async fn enter(&self, caller: &Caller, session: Option<&str>) -> Result<(), HarnError> {
        let act = session.map(|session| HarnAct::EnterSession { session: session.to_owned() });
        let command = HarnCommand { act, ..HarnCommand::default() };
        let asked = WriteRequest::once(caller.clone());
        self.write(&asked, Target::post("enter"), session, command).await?;
        Ok(())
    }

    /// The message of an operation that a write of this protocol is made of. Under an idempotency key it is
    /// the same each time.
    fn message_of(
        &self,
        write: &WriteRequest,
        target: Target<'_>,
        session: Option<String>,
        step: &str,
    ) -> Message {
        let drawn = || quipu_core::ids::letters(self.field.origin().id_bits());
        let scope = write.scope(target).map(|scope| scope.0.to_string());
        Message {
            id: format!("harn-{}-{step}", scope.unwrap_or_else(drawn)),
            agent: write.caller.agent.clone(),
            session,
            epoch: 0,
            authority: write.caller.authority,
            own_key: write.caller.own_key,
            key: write.caller.key.clone(),
        }
    }
}

/// A Memory as a unit. Its provenance may say how sure its author is and why.
fn payload_of(request: CreateMemoryRequest) -> Result<RecordPayload, HarnError> {
    let said = |key: &str| {
        let text = request.provenance.get(key).and_then(|value| value.as_str());
        text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let score = request.provenance.get("confidence").and_then(serde_json::Value::as_f64);
    let kind = said("type").and_then(|word| MemoryType::parse(&word));
    let intent = Intent {
        purpose: said("purpose").unwrap_or_else(|| "to be remembered".to_owned()),
        task_id: said("task_id"),
        question: said("question"),
    };
    let reasoning = said("reasoning").unwrap_or_else(|| "as its provenance says".to_owned());
    let content = content_text(&request.content)?;
    let remembered = Remembered::of(request);
    Ok(RecordPayload {
        mode: Mode::Committed,
        // What a human directs is said by RECORD.
        kind: kind
            .filter(|kind| *kind != MemoryType::HumanDirective)
            .unwrap_or(MemoryType::Finding),
        content,
        intent,
        confidence: Some(Confidence {
            score: Some(score.filter(|score| (0.0..=1.0).contains(score)).unwrap_or(0.5)),
            reasoning: Some(reasoning),
            evidence: vec![remembered.evidence()?],
            assumptions: Vec::new(),
        }),
        relations: Vec::new(),
    })
}
