//! Connectors: ways in for what happens elsewhere. One is there from the start, a webhook, and takes nothing
//! until it has a secret that deliveries are signed with.

use quipu_core::{
    DocumentKind, DocumentOwner, State,
    rules::harn::{Expect, HarnCommand},
};
use quipu_wire::{
    harn::{
        Connector, ConnectorObject, ConnectorStatus, HarnError, HarnErrorCode, JsonObject, List,
        ResourceEnvelope, ResourceKind, UpdateConnectorRequest,
    },
    json::timestamp::rfc3339,
};
use serde_json::json;

use crate::{
    Caller, Harness, WORKSPACE_DEFAULT, WriteRequest,
    handle::{page::Page, write::Target},
    not_found,
    stored::built_in::{is_built_in_persona, session_in_field},
    visibility::access::workspace_of,
};

/// The connector that is there from the start.
pub const CONNECTOR_WEBHOOK: &str = "connector_webhook";
/// Under which name a connector's secret is kept.
pub(crate) const WEBHOOK_SECRET: &str = "webhook";
/// The header with the sender's id of a delivery.
pub(crate) const DELIVERY_ID: &str = "X-Delivery-Id";
/// The header with the time at which it was sent, in whole seconds since 1970.
pub(crate) const DELIVERY_TIME: &str = "X-Delivery-Time";
/// How far that time may be from ours, in milliseconds.
pub(crate) const DELIVERY_WINDOW_MS: u64 = 5 * 60 * 1000;

impl Harness {
    /// `GET /v1/connectors/{connector_id}`.
    ///
    /// # Errors
    /// 404 where there is none.
    pub async fn connector(&self, _: &Caller, id: &str) -> Result<Connector, HarnError> {
        if id != CONNECTOR_WEBHOOK {
            return Err(not_found(ResourceKind::Connector, id));
        }
        self.reading(|harness| harness.webhook()).await
    }

    /// `GET /v1/connectors`.
    ///
    /// # Errors
    /// Where the log cannot be read.
    pub async fn connectors(
        &self,
        caller: &Caller,
        page: Page,
        workspace: Option<&str>,
    ) -> Result<List<Connector>, HarnError> {
        let webhook = self.connector(caller, CONNECTOR_WEBHOOK).await?;
        let is_listed = workspace.is_none_or(|asked| asked == webhook.workspace_id);
        page.take(is_listed.then_some((0, webhook))).list(Ok)
    }

    /// `PATCH /v1/connectors/{connector_id}`. Ours.
    ///
    /// # Errors
    /// 403 below authority 8 or where another set it up, 404 for what is named and not there, 409 where it would be active without a
    /// secret.
    pub async fn update_connector(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdateConnectorRequest,
    ) -> Result<Connector, HarnError> {
        let caller = &write.caller;
        let mut connector = self.connector(caller, id).await?;
        self.check_policy_object(caller, DocumentKind::Connector, id)?;
        let owner = DocumentOwner::default();
        let mut documents = Vec::new();
        if let Some(secret) = &request.secret {
            documents.push(self.sealed(id, WEBHOOK_SECRET, secret.as_bytes(), owner.clone())?);
        }
        let has_secret = request.secret.is_some() || self.field.with_state(has_secret);
        let before = connector.target_session_id.clone();
        connector.target_session_id = request.target_session_id.apply(connector.target_session_id);
        connector.target_persona_id = request.target_persona_id.apply(connector.target_persona_id);
        self.check_targets(caller, &connector, before.as_deref())?;
        let begins = request.secret.is_some().then_some(ConnectorStatus::Active);
        connector.status = request.status.or(begins).unwrap_or(connector.status);
        if connector.status == ConnectorStatus::Active && !has_secret {
            let message = "status: a connector without a secret cannot be ACTIVE";
            return Err(HarnError::new(HarnErrorCode::Conflict, message).at("status"));
        }
        let kind = DocumentKind::Connector;
        documents.push(self.draft(kind, id, owner, Expect::Any, &connector)?);
        let path = format!("/v1/connectors/{id}");
        let target = Target { workspace: "", method: "PATCH", path: &path };
        let command = HarnCommand { documents, ..HarnCommand::default() };
        self.write(write, target, None, command).await?;
        self.connector(caller, id).await
    }

    /// The webhook as it stands. Reads storage.
    pub(crate) fn webhook(&self) -> Result<Connector, HarnError> {
        let entry = self.field.with_state(|state| {
            state.documents.get(DocumentKind::Connector, CONNECTOR_WEBHOOK).cloned()
        });
        let mut webhook = match entry {
            Some(entry) => self.load(&entry)?,
            None => built_in(),
        };
        webhook.workspace_id = self.field.with_state(|state| {
            workspace_of(state, webhook.target_session_id.as_deref().and_then(session_in_field))
        });
        // How deliveries prove themselves is the same of one that was stored under an older rule.
        let built_in = built_in();
        (webhook.auth, webhook.dedupe_policy) = (built_in.auth, built_in.dedupe_policy);
        let signed = self.field.with_state(has_secret);
        webhook.auth.insert("secret_set".to_owned(), signed.into());
        Ok(webhook)
    }

    fn check_targets(
        &self,
        caller: &Caller,
        connector: &Connector,
        before: Option<&str>,
    ) -> Result<(), HarnError> {
        if let Some(id) = connector.target_session_id.as_deref().filter(|id| Some(*id) != before) {
            // Whoever points it somewhere lets others in there.
            self.check_session(caller, id).map_err(|error| error.at("target_session_id"))?;
        }
        if let Some(id) = &connector.target_persona_id
            && !is_built_in_persona(id)
            && self.entry(caller, DocumentKind::Persona, id).is_none()
        {
            return Err(not_found(ResourceKind::Persona, id).at("target_persona_id"));
        }
        Ok(())
    }
}

fn has_secret(state: &State) -> bool {
    let id = format!("{CONNECTOR_WEBHOOK}/{WEBHOOK_SECRET}");
    state.documents.get(DocumentKind::Secret, &id).is_some()
}

fn built_in() -> Connector {
    let object = |value| {
        if let serde_json::Value::Object(map) = value {
            JsonObject(map)
        } else {
            JsonObject::default()
        }
    };
    Connector {
        object: ConnectorObject::Connector,
        envelope: ResourceEnvelope::new(CONNECTOR_WEBHOOK, rfc3339(0)),
        provider: "webhook".to_owned(),
        workspace_id: WORKSPACE_DEFAULT.to_owned(),
        status: ConnectorStatus::Paused,
        event_kinds: vec!["webhook.delivery".to_owned()],
        dedupe_policy: object(json!({"header": DELIVERY_ID, "kept": "forever"})),
        auth: object(json!({
            "type": "hmac-sha256",
            "header": "X-Signature-256",
            "covers": format!("{{{DELIVERY_ID}}}.{{{DELIVERY_TIME}}}.{{body}}"),
            "window_seconds": DELIVERY_WINDOW_MS / 1000,
        })),
        webhook: object(json!({
            "method": "POST",
            "path": format!("/v1/connectors/{CONNECTOR_WEBHOOK}/deliveries"),
        })),
        polling: JsonObject::default(),
        target_persona_id: None,
        target_session_id: None,
    }
}
