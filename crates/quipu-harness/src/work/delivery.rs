//! Deliveries to a webhook: who sends one proves with its signature that it knows the secret, and nothing is
//! said to whoever does not. A delivery becomes one Task, however often it is sent.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_wire::{
    harn::{
        ConnectorDelivery, ConnectorDeliveryObject, ConnectorStatus, EventKind, HarnError,
        HarnErrorCode, JsonObject, MessageInput, MessageRole, Part, Sha256, SubmitTaskRequest,
        TaskInput, Visibility,
    },
    json::canon,
};
use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::{
    CONNECTOR_WEBHOOK, Caller, Harness, NoteBody, SESSION_DEFAULT, WriteRequest,
    resource::connector::WEBHOOK_SECRET,
};

/// The authority with which a connector submits Tasks.
const AUTHORITY: u8 = 8;

/// What came in.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The id that its sender gave it.
    pub id: Option<String>,
    /// `sha256=` and the HMAC-SHA-256 of the body in hexadecimal digits.
    pub signature: Option<String>,
    /// The body as it came.
    pub body: Vec<u8>,
}

/// What is kept of a delivery: which Task it became.
#[derive(Debug, Serialize, Deserialize)]
struct DeliveryBody {
    task_id: String,
}

impl Harness {
    /// `POST /v1/connectors/{connector_id}/deliveries`. Ours.
    ///
    /// # Errors
    /// 401 for whoever does not know the secret, whatever else is wrong; then 409 where the connector takes
    /// nothing, and 400 where the body is no JSON.
    pub async fn deliver(
        &self,
        connector: &str,
        delivery: Delivery,
    ) -> Result<ConnectorDelivery, HarnError> {
        let known = connector == CONNECTOR_WEBHOOK;
        let secret = self.reading(|harness| harness.opened(CONNECTOR_WEBHOOK, WEBHOOK_SECRET));
        let secret = secret.await.ok().flatten().filter(|_| known);
        if !is_signed(secret.as_deref(), &delivery) {
            let message = "the delivery is not signed with the connector's secret";
            return Err(HarnError::new(HarnErrorCode::Unauthenticated, message));
        }
        let webhook = self.reading(|harness| harness.webhook()).await?;
        if webhook.status != ConnectorStatus::Active {
            let message = format!("the connector is {}", webhook.status);
            return Err(HarnError::new(HarnErrorCode::Conflict, message));
        }
        let value = canon::parse(&delivery.body)?;
        let kept = delivery.id.as_ref().map(|id| kept_as(connector, id));
        if let Some(task_id) = self.task_of(kept.as_deref()).await? {
            return self.note_repeated(kept, task_id).await;
        }
        let part = Part::Json { value, visibility: Visibility::Public };
        let request = SubmitTaskRequest {
            session_id: webhook.target_session_id.unwrap_or_else(|| SESSION_DEFAULT.to_owned()),
            workspace_id: None,
            persona_id: webhook.target_persona_id,
            branch_id: None,
            parent_task_id: None,
            input: TaskInput::Message(MessageInput {
                role: MessageRole::User,
                parts: vec![part],
                metadata: JsonObject::default(),
            }),
            metadata: JsonObject::with("connector_id", connector),
        };
        let asked =
            WriteRequest { caller: sender(), key: None, digest: Sha256::of(&delivery.body) };
        let more = |task: &str| self.delivered(kept.as_deref(), task);
        match self.submit_with(&asked, request, more).await {
            Ok(submitted) => Ok(answer(submitted.task.envelope.id, false)),
            // The same delivery came twice at one time.
            Err(error) if error.code == HarnErrorCode::Conflict => {
                match self.task_of(kept.as_deref()).await? {
                    Some(task_id) => self.note_repeated(kept, task_id).await,
                    None => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// What is written beside the Task of a delivery.
    fn delivered(&self, kept: Option<&str>, task: &str) -> Result<HarnCommand, HarnError> {
        let says = JsonObject::with("connector_id", CONNECTOR_WEBHOOK);
        let says = NoteBody { payload: says, ..NoteBody::default() };
        let notes = vec![self.note(task, EventKind::ConnectorTaskSubmitted.as_str(), &says)?];
        // One without an id of its sender's is known by its Task.
        let kept = kept.map_or_else(|| kept_as(CONNECTOR_WEBHOOK, task), str::to_owned);
        let documents = vec![self.delivery_draft(&kept, task, Expect::New)?];
        Ok(HarnCommand { documents, notes, ..HarnCommand::default() })
    }

    /// Notes that a delivery was here before. Nothing is said of its Task, which may have ended.
    async fn note_repeated(
        &self,
        kept: Option<String>,
        task_id: String,
    ) -> Result<ConnectorDelivery, HarnError> {
        if let Some(kept) = kept {
            let draft = self.delivery_draft(&kept, &task_id, Expect::Known)?;
            let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
            self.write_as_field(None, command).await?;
        }
        Ok(answer(task_id, true))
    }

    fn delivery_draft(
        &self,
        kept: &str,
        task: &str,
        expect: Expect,
    ) -> Result<DocumentDraft, HarnError> {
        let body = DeliveryBody { task_id: task.to_owned() };
        self.draft(DocumentKind::Delivery, kept, DocumentOwner::default(), expect, &body)
    }

    async fn task_of(&self, kept: Option<&str>) -> Result<Option<String>, HarnError> {
        let Some(kept) = kept.map(str::to_owned) else { return Ok(None) };
        let read = move |harness: &Self| harness.stored(DocumentKind::Delivery, &kept);
        Ok(self.reading(read).await?.map(|body: DeliveryBody| body.task_id))
    }
}

/// As whom a connector submits.
fn sender() -> Caller {
    Caller::new(CONNECTOR_WEBHOOK, AUTHORITY)
}

/// Under which id a delivery is kept. Its sender's id may be anything, so its digest stands for it.
fn kept_as(connector: &str, id: &str) -> String {
    format!("{connector}/{}", Sha256::of(id.as_bytes()).bare())
}

/// Whether a delivery proves that its sender knows the secret. Takes as long for a wrong one as for a right
/// one; without a secret nobody knows it.
fn is_signed(secret: Option<&[u8]>, delivery: &Delivery) -> bool {
    let given = delivery.signature.as_deref().and_then(|text| text.strip_prefix("sha256="));
    let given = given.and_then(|hex| Sha256::parse_bare(hex).ok());
    let (Some(secret), Some(given)) = (secret, given) else { return false };
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    hmac::verify(&key, &delivery.body, given.0.as_bytes()).is_ok()
}

fn answer(task_id: String, deduplicated: bool) -> ConnectorDelivery {
    ConnectorDelivery {
        object: ConnectorDeliveryObject::ConnectorDelivery,
        connector_id: CONNECTOR_WEBHOOK.to_owned(),
        task_id,
        deduplicated,
    }
}
