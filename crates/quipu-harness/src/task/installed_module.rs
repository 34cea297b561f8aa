//! The module of a Persona: who may install one, what is checked, and what a Task keeps of it. A Task keeps the
//! digest of the source and whose vaults answer it, so that a Persona that changes later changes no run.

use quipu_core::{
    DocumentKind, DocumentOwner, Event as Logged, State,
    event::documents::NotedDependency,
    rules::harn::{Expect, FIELD_AGENT, HarnCommand},
    state::DocumentEntry,
};
use quipu_replay::module::{ModuleError, Policy, Program, RunError, SnapshotKey};
use quipu_wire::harn::{
    Artifact, ArtifactKind, DependencyKind, HarnError, HarnErrorCode, JsonObject, Part, Persona,
    ResourceKind, Sha256, TaskInput, Visibility,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Caller, Harness, NoteBody,
    document::holding::holding,
    handle::{caller::AUTHORITY_POLICY, failure::harn_error},
    not_found,
    stored::note::DEPENDENCY_RECORDED,
    task::artifact::owned_artifact,
    visibility::parts,
};

/// The key under which a Task keeps the module that it runs. Nobody else may record it: who could, could run code.
pub(crate) const MODULE_KEY: &str = "module:source";
const MIME: &str = "text/x-harn";
/// In a Persona's metadata: the Artifact with the source.
const ARTIFACT: &str = "module_artifact_id";
/// In a Persona's metadata: what the module may ask for.
const CAPABILITIES: &str = "capabilities";
/// In a Persona's metadata: the vaults that answer the module, where those of its owner are not meant.
const VAULTS: &str = "vault_ids";
/// In a Persona's metadata and in the note of a Task: what was checked. Only the server writes it.
const INSTALLED: &str = "installed_module";

/// A module that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Installed {
    sha256: Sha256,
    /// The function that takes the input.
    entry: String,
    capabilities: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vaults: Option<Vaults>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Vaults {
    /// Those that an agent made: whoever owns the module.
    Of(String),
    /// These alone, which somebody named who may change all of them.
    These(Vec<String>),
}

#[derive(Debug, Clone)]
pub(crate) struct TaskModule {
    pub(crate) installed: Installed,
    pub(crate) vaults: Vaults,
    /// The Artifact with its source.
    source: Option<String>,
}

impl Vaults {
    pub(crate) fn have(&self, vault: &DocumentEntry) -> bool {
        match self {
            Self::Of(agent) => vault.created_by == *agent,
            Self::These(ids) => ids.contains(&vault.id),
        }
    }
}

pub(crate) fn is_module_task(state: &State, task: &str) -> bool {
    let own = state.tasks.get(task).and_then(|entry| entry.assigned_to.as_deref());
    let keeps = |task: &str| {
        let stream = state.streams.task(task);
        stream.is_some_and(|stream| stream.dependencies.contains_key(MODULE_KEY))
    };
    own == Some(FIELD_AGENT) && keeps(task)
}

/// What a module is given of a Task's input: what everybody may see, because what it returns everybody sees.
pub(crate) fn input_of(input: &TaskInput) -> Value {
    let message = match input {
        TaskInput::Object(object) => return Value::Object(object.0.clone()),
        TaskInput::Message(message) => message,
    };
    match message.parts.as_slice() {
        [Part::Json { value, visibility: Visibility::Public }] => value.clone(),
        _ => parts::text_of(input, |seen| seen == Visibility::Public).into(),
    }
}

impl Installed {
    pub(crate) fn of(persona: &Persona) -> Option<Self> {
        Self::read(&persona.envelope.metadata)
    }

    fn read(members: &JsonObject) -> Option<Self> {
        serde_json::from_value(members.get(INSTALLED)?.clone()).ok()
    }

    pub(crate) fn capabilities(&self) -> &[String] {
        &self.capabilities
    }
}

impl Harness {
    /// Checks the module that a Persona's metadata name, and notes there that it was checked.
    ///
    /// # Errors
    /// 403 below authority 8, because the kernel is no wall, and for a vault of somebody else's; 400 and 404 by the
    /// name of what is wrong.
    pub(crate) async fn install_module(
        &self,
        caller: &Caller,
        (owner, entry): (&str, &str),
        metadata: &mut JsonObject,
    ) -> Result<Option<Installed>, HarnError> {
        metadata.remove(INSTALLED);
        let Some(named) = metadata.get(ARTIFACT).cloned() else { return Ok(None) };
        caller.require(AUTHORITY_POLICY)?;
        let at = |member: &str| format!("metadata.{member}");
        let id = named.as_str().ok_or_else(|| refused(&at(ARTIFACT), "must be an id"))?;
        if metadata.get("module_ref").and_then(Value::as_str).is_none() {
            return Err(refused("module_ref", "must be given where a module is"));
        }
        let artifact = self.get::<Artifact>(caller, id).await;
        let artifact = artifact.map_err(|error| error.at(at(ARTIFACT)))?;
        if artifact.kind != ArtifactKind::File || artifact.mime_type != MIME {
            let problem = format!("must be of kind file and type {MIME}");
            return Err(refused(&at(ARTIFACT), &problem));
        }
        let empty = || refused(&at(ARTIFACT), "has no content yet");
        let sha256 = self.held(&artifact).filter(|_| self.may_read(caller, &artifact));
        let sha256 = sha256.ok_or_else(empty)?;
        let vaults = Some(self.named_vaults(caller, owner, metadata)?);
        let (entry, capabilities) = (entry.to_owned(), capabilities(metadata)?);
        let installed = Installed { sha256, entry, capabilities, vaults };
        self.module_policy(&installed)
            .map_err(|error| refused(&at(CAPABILITIES), &error.to_string()))?;
        let checked = installed.clone();
        let _turn = self.options.modules.turn().await;
        self.reading(move |harness| {
            let empty = || refused(&at(ARTIFACT), "has no content yet");
            let source = harness.content(&checked.sha256)?.ok_or_else(empty)?;
            let compiled = match harness.compile_source(&checked, &source) {
                Ok(compiled) => compiled,
                Err(RunError::Died(death)) => {
                    return Err(refused(&at(ARTIFACT), &death.to_string()));
                }
                Err(error @ RunError::NotNow { .. }) => return Err(not_now(&error)),
            };
            compiled.map(|_| ()).map_err(|error| refused(&at(ARTIFACT), &error.to_string()))
        })
        .await?;
        let noted = serde_json::to_value(&installed).unwrap_or_default();
        metadata.insert(INSTALLED.to_owned(), noted);
        Ok(Some(installed))
    }

    /// The vaults that answer a module: those that its Persona names, or those of its owner.
    fn named_vaults(
        &self,
        caller: &Caller,
        owner: &str,
        metadata: &JsonObject,
    ) -> Result<Vaults, HarnError> {
        let at = || format!("metadata.{VAULTS}");
        let Some(ids) = names(metadata, VAULTS)? else { return Ok(Vaults::Of(owner.to_owned())) };
        for id in &ids {
            let known = self.entry(caller, DocumentKind::Vault, id);
            known.ok_or_else(|| not_found(ResourceKind::Vault, id).at(at()))?;
            let checked = self.check_policy_object(caller, DocumentKind::Vault, id);
            checked.map_err(|error| error.at(at()))?;
        }
        Ok(Vaults::These(ids))
    }

    /// Puts into the write that submits a Task what it keeps of its module. The source is an Artifact of the Task's
    /// own: whoever takes the Task elsewhere takes it along.
    pub(crate) fn keep_module(
        &self,
        task: &str,
        owner: DocumentOwner,
        installed: &Installed,
        command: &mut HarnCommand,
    ) -> Result<(), HarnError> {
        if !self.has_content(&installed.sha256) {
            return Err(refused("persona_id", "the source of its module was erased"));
        }
        let id = self.draw(ResourceKind::Artifact);
        let (kind, seen) = (ArtifactKind::File, Visibility::Internal);
        let mut artifact = owned_artifact(owner.clone(), &id, kind, seen);
        MIME.clone_into(&mut artifact.mime_type);
        artifact.sha256 = Some(installed.sha256.bare());
        let document = self.draft(DocumentKind::Artifact, &id, owner, Expect::New, &artifact)?;
        let held = holding(&id, &installed.sha256);
        let noted = serde_json::to_value(installed).unwrap_or_default();
        let says = NoteBody {
            payload: JsonObject::with(INSTALLED, noted),
            artifact_id: Some(id),
            sha256: Some(installed.sha256),
            ..NoteBody::default()
        };
        let mut note = self.note(task, DEPENDENCY_RECORDED, &says)?;
        let (key, kind) = (MODULE_KEY.to_owned(), DependencyKind::HostFact);
        note.note.dependency = Some(NotedDependency { key, kind });
        command.documents.extend([document, held]);
        command.notes.push(note);
        Ok(())
    }

    /// The module that a Task runs. Reads storage.
    pub(crate) fn module_of(&self, task: &str) -> Result<Option<TaskModule>, HarnError> {
        let place = self
            .field
            .with_state(|state| state.streams.task(task)?.dependencies.get(MODULE_KEY).copied());
        let Some(place) = place else { return Ok(None) };
        let body = self.field.body_at::<NoteBody>(place).map_err(|error| harn_error(&error))?;
        let Some(body) = body else { return Ok(None) };
        let Some(installed) = Installed::read(&body.payload) else { return Ok(None) };
        let vaults = self.vaults_of(task, place, &installed)?;
        Ok(Some(TaskModule { installed, vaults, source: body.artifact_id }))
    }

    /// The vaults that answer the module of a Task. What a Task says that was brought here is not believed: it is
    /// whoever brought it who owns its module.
    fn vaults_of(
        &self,
        task: &str,
        (position, index): (u64, u32),
        installed: &Installed,
    ) -> Result<Vaults, HarnError> {
        let (header, _) = self.commit(position)?;
        let place = usize::try_from(index).ok();
        let noted = place.and_then(|at| header.events.get(at)).map(|sealed| &sealed.event);
        if matches!(noted, Some(Logged::TaskNoted { note, .. }) if note.imported.is_some()) {
            return Ok(Vaults::Of(header.actor));
        }
        // Before it was written down they were those of whoever made the Persona.
        let of_persona = || {
            let maker = self.field.with_state(|state| {
                let persona = state.documents.get(DocumentKind::Task, task)?.owner.persona.clone();
                let persona = state.documents.get(DocumentKind::Persona, &persona?)?;
                Some(persona.created_by.clone())
            });
            maker.map_or_else(|| Vaults::These(Vec::new()), Vaults::Of)
        };
        Ok(installed.vaults.clone().unwrap_or_else(of_persona))
    }

    /// Compiles the module of a Task where modules run, ready to be run once; nothing where its source is not kept.
    /// Reads storage.
    pub(crate) fn compile(&self, module: &TaskModule) -> Result<Option<Compiled>, CompileError> {
        let Some(source) = self.source_of(module).map_err(CompileError::Storage)? else {
            return Ok(None);
        };
        self.compile_source(&module.installed, &source).map(Some).map_err(CompileError::Run)
    }

    /// The source of a Task's module, where it is kept and still the one that was installed.
    fn source_of(&self, module: &TaskModule) -> Result<Option<Vec<u8>>, HarnError> {
        let Some(id) = &module.source else { return Ok(None) };
        let artifact = self.stored::<Artifact>(DocumentKind::Artifact, id)?;
        let found = artifact.map(|artifact| self.bytes_of(&artifact)).transpose()?.flatten();
        let source = found.filter(|(digest, _)| *digest == module.installed.sha256);
        Ok(source.map(|(_, bytes)| bytes))
    }

    fn compile_source(&self, installed: &Installed, source: &[u8]) -> Result<Compiled, RunError> {
        self.options.modules.compile(&String::from_utf8_lossy(source), &installed.entry)
    }

    pub(crate) fn module_policy(&self, installed: &Installed) -> Result<Policy, ModuleError> {
        const PURPOSE: &str = "snapshots of modules";
        let keyed = self.options.secrets.digest(&Value::from(PURPOSE));
        let key = keyed.unwrap_or_else(|| Sha256::of(PURPOSE.as_bytes()));
        Policy::new(installed.capabilities.iter().cloned(), SnapshotKey(*key.0.as_bytes()))
    }
}

pub(crate) type Compiled = Result<Box<dyn Program>, ModuleError>;

/// Why a module could be neither compiled nor refused.
#[derive(Debug)]
pub(crate) enum CompileError {
    Storage(HarnError),
    /// Its process died, or there was none.
    Run(RunError),
}

/// A module that cannot be run now, as a caller is told.
pub(crate) fn not_now(error: &RunError) -> HarnError {
    HarnError::new(HarnErrorCode::ServiceUnavailable, error.to_string())
}

fn capabilities(metadata: &JsonObject) -> Result<Vec<String>, HarnError> {
    Ok(names(metadata, CAPABILITIES)?.unwrap_or_default())
}

fn names(metadata: &JsonObject, member: &str) -> Result<Option<Vec<String>>, HarnError> {
    let Some(named) = metadata.get(member) else { return Ok(None) };
    let names = named.as_array().map(|names| names.iter().map(Value::as_str));
    let names: Option<Vec<_>> =
        names.and_then(|names| names.map(|it| it.map(str::to_owned)).collect());
    let wrong = || refused(&format!("metadata.{member}"), "must be a list of names");
    names.map(Some).ok_or_else(wrong)
}

pub(crate) fn refused(param: &str, problem: &str) -> HarnError {
    HarnError::new(HarnErrorCode::InvalidRequest, format!("{param}: {problem}")).at(param)
}
