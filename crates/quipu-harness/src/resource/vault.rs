//! Vaults: holders of secrets. A secret goes in, sealed, and never comes out over this protocol; a module that runs
//! here is told it where the vault answers it.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_wire::{
    harn::{
        CreateVaultRequest, HarnError, HarnErrorCode, List, PutSecretRequest, ResourceEnvelope,
        ResourceKind, Vault, VaultObject, is_secret_name,
    },
    json::{base64, canon},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Caller, Harness, Sealer, WORKSPACE_DEFAULT, WriteRequest,
    handle::{
        page::Page,
        write::{Target, put_by},
    },
    not_found,
    task::installed_module::Vaults,
};

/// What a vault's metadata names its secrets under when it is shown.
const SECRET_NAMES: &str = "secret_names";

/// A sealed secret as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct SecretBody {
    sealed: String,
}

impl Harness {
    /// `POST /v1/vaults`.
    ///
    /// # Errors
    /// 403 below authority 8, 404 where the Workspace is not there.
    pub async fn create_vault(
        &self,
        write: &WriteRequest,
        request: CreateVaultRequest,
    ) -> Result<Vault, HarnError> {
        if let Some(id) = request.workspace_id.as_deref().filter(|id| *id != WORKSPACE_DEFAULT)
            && self.entry(&write.caller, DocumentKind::Workspace, id).is_none()
        {
            return Err(not_found(ResourceKind::Workspace, id).at("workspace_id"));
        }
        let id = self.draw(ResourceKind::Vault);
        self.check_policy_object(&write.caller, DocumentKind::Vault, &id)?;
        let mut envelope = ResourceEnvelope::new(&id, "");
        envelope.metadata = request.metadata;
        let vault = Vault {
            object: VaultObject::Vault,
            envelope,
            workspace_id: request.workspace_id.clone(),
            provider: request.provider,
            capabilities: request.capabilities,
        };
        let workspace = request.workspace_id;
        let owner = DocumentOwner { workspace: workspace.clone(), ..DocumentOwner::default() };
        let kind = DocumentKind::Vault;
        let command = HarnCommand {
            documents: vec![self.draft(kind, &id, owner, Expect::New, &vault)?],
            ..HarnCommand::default()
        };
        let workspace = workspace.unwrap_or_default();
        let target = Target { workspace: &workspace, method: "POST", path: "/v1/vaults" };
        let outcome = self.write(write, target, None, command).await?;
        let id = put_by(&outcome, kind).unwrap_or(&id).to_owned();
        self.vault(&write.caller, &id).await
    }

    /// `GET /v1/vaults/{vault_id}`: what it is, and the names of what it holds.
    ///
    /// # Errors
    /// 404 where there is none.
    pub async fn vault(&self, caller: &Caller, id: &str) -> Result<Vault, HarnError> {
        let vault = self.get(caller, id).await?;
        Ok(self.name_secrets(vault))
    }

    /// `GET /v1/vaults`.
    ///
    /// # Errors
    /// Where the log cannot be read.
    pub async fn vaults(
        &self,
        caller: &Caller,
        page: Page,
        workspace: Option<&str>,
    ) -> Result<List<Vault>, HarnError> {
        let serves = |of: Option<&str>| workspace.is_none() || of.is_none() || of == workspace;
        let list = self.list(caller, page, |entry| serves(entry.owner.workspace.as_deref()));
        let mut list: List<Vault> = list.await?;
        list.data = list.data.into_iter().map(|vault| self.name_secrets(vault)).collect();
        Ok(list)
    }

    /// `PUT /v1/vaults/{vault_id}/secrets/{name}`. Ours.
    ///
    /// # Errors
    /// 403 for who may not change the vault, 404 where there is no such vault, 400 where the name cannot be one, 503
    /// where nothing can be sealed.
    pub async fn put_secret(
        &self,
        write: &WriteRequest,
        vault: &str,
        name: &str,
        request: PutSecretRequest,
    ) -> Result<Vault, HarnError> {
        self.check_policy_object(&write.caller, DocumentKind::Vault, vault)?;
        let entry = self.entry(&write.caller, DocumentKind::Vault, vault);
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Vault, vault))?;
        if !is_secret_name(name) {
            let message = "name: must be 1 to 128 letters, digits, dots, dashes or underscores";
            return Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at("name"));
        }
        let text = canon::to_vec(&request.value).map_err(|error| {
            HarnError::new(HarnErrorCode::InvalidRequest, error.to_string()).at("value")
        })?;
        let draft = self.sealed(vault, name, &text, entry.owner)?;
        let path = format!("/v1/vaults/{vault}/secrets/{name}");
        let target = Target { workspace: "", method: "PUT", path: &path };
        let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
        self.write(write, target, None, command).await?;
        self.vault(&write.caller, vault).await
    }

    /// The secrets of a name for a module of a Workspace, in the order of the vaults that answer it. Reads storage.
    /// For a module that runs here, and never for an answer of this protocol.
    pub(crate) fn secrets_named(
        &self,
        (workspace, name): (&str, &str),
        answering: &Vaults,
    ) -> Result<Vec<Value>, HarnError> {
        let vaults: Vec<String> = self.field.with_state(|state| {
            let all = state.documents.from(DocumentKind::Vault, 0).map(|(_, entry)| entry);
            let here = all
                .filter(|entry| entry.owner.workspace.as_deref().is_none_or(|of| of == workspace));
            let own = here.filter(|entry| answering.have(entry));
            own.map(|entry| entry.id.clone()).collect()
        });
        let mut found = Vec::new();
        for vault in vaults {
            if let Some(text) = self.opened(&vault, name)?
                && let Ok(value) = canon::parse(&text)
            {
                found.push(value);
            }
        }
        Ok(found)
    }

    /// The draft that keeps a secret, sealed for its holder and name.
    pub(crate) fn sealed(
        &self,
        holder: &str,
        name: &str,
        secret: &[u8],
        owner: DocumentOwner,
    ) -> Result<DocumentDraft, HarnError> {
        let sealed = self.sealer()?.seal(holder, name, secret);
        let sealed = sealed.map_err(|error| unavailable(&error.to_string()))?;
        let body = SecretBody { sealed: base64::encode(&sealed) };
        let id = secret_id(holder, name);
        self.draft(DocumentKind::Secret, &id, owner, Expect::Any, &body)
    }

    /// A secret of a holder; nothing where it holds none of that name. Reads storage.
    pub(crate) fn opened(&self, holder: &str, name: &str) -> Result<Option<Vec<u8>>, HarnError> {
        let body = self.stored::<SecretBody>(DocumentKind::Secret, &secret_id(holder, name))?;
        let Some(sealed) = body.and_then(|body| base64::decode(&body.sealed)) else {
            return Ok(None);
        };
        let opened = self.sealer()?.open(holder, name, &sealed);
        opened.map(Some).map_err(|error| unavailable(&error.to_string()))
    }

    fn sealer(&self) -> Result<&Sealer, HarnError> {
        let sealer = self.options.sealer.as_ref();
        sealer.ok_or_else(|| unavailable("this server has no key to seal secrets with"))
    }

    fn name_secrets(&self, mut vault: Vault) -> Vault {
        let prefix = secret_id(&vault.envelope.id, "");
        let names: Vec<Value> = self.field.with_state(|state| {
            let secrets = state.documents.from(DocumentKind::Secret, 0);
            let names = secrets.filter_map(|(_, entry)| entry.id.strip_prefix(&prefix));
            names.map(Value::from).collect()
        });
        vault.envelope.metadata.insert(SECRET_NAMES.to_owned(), names.into());
        vault
    }
}

fn secret_id(holder: &str, name: &str) -> String {
    format!("{holder}/{name}")
}

fn unavailable(message: &str) -> HarnError {
    HarnError::new(HarnErrorCode::ServiceUnavailable, message.to_owned())
}
