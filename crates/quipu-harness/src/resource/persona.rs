//! Personas: the policies under which Tasks are worked on.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{Expect, HarnCommand},
};
use quipu_wire::harn::{
    CreatePersonaRequest, HarnError, HarnErrorCode, JsonObject, List, Persona, PersonaObject,
    ResourceEnvelope, ResourceKind, UpdatePersonaRequest,
};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        page::Page,
        retry::{WriteError, retry_until_unchanged},
        write::{Target, put_by},
    },
    not_found,
    resource::{built_in_resources, tool::declared_names},
    stored::built_in::{PERSONA_FIELD_NAME, PERSONA_WORKER, is_built_in_persona, is_for_field},
    task::tasks::TaskView,
};

impl Harness {
    /// `POST /v1/personas`.
    ///
    /// # Errors
    /// 403 below authority 8; 409 for the name of the built-in one; 403, 404 or 400 where it has a module that cannot
    /// be installed.
    pub async fn create_persona(
        &self,
        write: &WriteRequest,
        request: CreatePersonaRequest,
    ) -> Result<Persona, HarnError> {
        if request.name == PERSONA_FIELD_NAME {
            let message = "name: this is the built-in Persona's; choose another";
            return Err(HarnError::new(HarnErrorCode::Conflict, message).at("name"));
        }
        let id = self.draw(ResourceKind::Persona);
        self.check_policy_object(&write.caller, DocumentKind::Persona, &id)?;
        let mut envelope = ResourceEnvelope::new(&id, "");
        envelope.metadata = request.metadata;
        // The wire's Persona has no member for it.
        let module = request.module_ref.map(|module| ("module_ref".to_owned(), module.into()));
        envelope.metadata.extend(module);
        let (entry, metadata) = (&request.entry_workflow, &mut envelope.metadata);
        let owner = write.caller.agent.as_str();
        let installed = self.install_module(&write.caller, (owner, entry), metadata).await?;
        let capabilities = installed.map(|it| it.capabilities().to_vec()).unwrap_or_default();
        let persona = Persona {
            object: PersonaObject::Persona,
            tools: declared_names(&envelope.metadata),
            envelope,
            name: request.name,
            version: request.version,
            entry_workflow: request.entry_workflow,
            description: request.description,
            autonomy_tier: request.autonomy_tier,
            receipt_policy: request.receipt_policy,
            capabilities,
            triggers: Vec::new(),
            schedules: Vec::new(),
            handoffs: Vec::new(),
            context_packs: Vec::new(),
            evals: Vec::new(),
            owner: Some(write.caller.agent.clone()),
            model_policy: JsonObject::default(),
            rollout_policy: JsonObject::default(),
            quota_id: None,
        };
        let (kind, owner) = (DocumentKind::Persona, DocumentOwner::default());
        let command = HarnCommand {
            documents: vec![self.draft(kind, &id, owner, Expect::New, &persona)?],
            ..HarnCommand::default()
        };
        let outcome = self.write(write, Target::post("/v1/personas"), None, command).await?;
        self.get(&write.caller, put_by(&outcome, kind).unwrap_or(&id)).await
    }

    /// `GET /v1/personas/{persona_id}`.
    ///
    /// # Errors
    /// 404 where there is none.
    pub async fn persona(&self, caller: &Caller, id: &str) -> Result<Persona, HarnError> {
        if is_for_field(Some(id)) {
            return Ok(built_in_resources::field_persona());
        }
        if id == PERSONA_WORKER {
            return Ok(built_in_resources::worker_persona());
        }
        self.get(caller, id).await
    }

    /// `GET /v1/personas`.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn personas(&self, caller: &Caller, page: Page) -> Result<List<Persona>, HarnError> {
        let built_in =
            vec![built_in_resources::field_persona(), built_in_resources::worker_persona()];
        self.list_behind(caller, page, built_in, |_| true).await
    }

    /// `PATCH /v1/personas/{persona_id}`.
    ///
    /// # Errors
    /// 404 where there is none, or no such Quota; 422 for a built-in one; 403 for who may not change it, or the
    /// Quota that it is under.
    pub async fn update_persona(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdatePersonaRequest,
    ) -> Result<Persona, HarnError> {
        retry_until_unchanged(|| self.change_persona(write, id, request.clone())).await
    }

    async fn change_persona(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdatePersonaRequest,
    ) -> Result<Persona, WriteError> {
        if is_built_in_persona(id) {
            return Err(built_in_resources::unchangeable(ResourceKind::Persona, id).into());
        }
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        self.check_policy_object(&write.caller, DocumentKind::Persona, id)?;
        self.check_quota_named(&request.quota_id)?;
        let entry = self.entry(&write.caller, DocumentKind::Persona, id);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Persona, id))?;
        let mut persona: Persona = self.get(&write.caller, id).await?;
        self.check_quota_left(&write.caller, persona.quota_id.as_deref(), &request.quota_id)?;
        if let Some(description) = request.description {
            persona.description = description;
        }
        if let Some(policy) = request.receipt_policy {
            persona.receipt_policy = policy;
        }
        persona.quota_id = request.quota_id.apply(persona.quota_id);
        if let Some(mut metadata) = request.metadata {
            let (caller, run) = (&write.caller, persona.entry_workflow.as_str());
            let of = (entry.created_by.as_str(), run);
            let installed = self.install_module(caller, of, &mut metadata).await?;
            persona.capabilities =
                installed.map(|it| it.capabilities().to_vec()).unwrap_or_default();
            persona.tools = declared_names(&metadata);
            persona.envelope.metadata = metadata;
        }
        let (kind, owner) = (DocumentKind::Persona, DocumentOwner::default());
        let command = HarnCommand {
            documents: vec![self.draft(kind, id, owner, Expect::Known, &persona)?],
            read_at,
            ..HarnCommand::default()
        };
        let path = format!("/v1/personas/{id}");
        let target = Target { workspace: "", method: "PATCH", path: &path };
        self.write(write, target, None, command).await?;
        Ok(self.get(&write.caller, id).await?)
    }

    pub(crate) fn check_persona(&self, id: &str) -> Result<(), HarnError> {
        let kept = || {
            self.field.with_state(|state| state.documents.get(DocumentKind::Persona, id).is_some())
        };
        if is_built_in_persona(id) || kept() {
            return Ok(());
        }
        Err(not_found(ResourceKind::Persona, id).at("persona_id"))
    }

    /// The Persona that a Task is under, if somebody made it.
    pub(crate) async fn persona_of(&self, view: &TaskView) -> Result<Option<Persona>, HarnError> {
        self.persona_named(view.persona()).await
    }

    /// A Persona that somebody made; nothing for a built-in one.
    pub(crate) async fn persona_named(
        &self,
        id: Option<&str>,
    ) -> Result<Option<Persona>, HarnError> {
        let Some(id) = id else { return Ok(None) };
        let id = id.to_owned();
        self.reading(move |harness| harness.stored(DocumentKind::Persona, &id)).await
    }
}
