//! Deliveries to a webhook: who sends one proves with its signature that it knows the secret, and nothing is
//! said to whoever does not. The signature covers the delivery's id and the time at which it was sent, so that nobody who
//! saw one can send it as another one, or later. A delivery becomes one Task, however often it is sent.

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
    resource::connector::{DELIVERY_WINDOW_MS, WEBHOOK_SECRET},
};

/// The authority with which a connector submits Tasks.
const AUTHORITY: u8 = 8;

#[derive(Debug, Clone)]
pub struct Delivery {
    /// The id that its sender gave it.
    pub id: Option<String>,
    /// When it was sent, in whole seconds since 1970, as it came.
    pub time: Option<String>,
    /// `sha256=` and the HMAC-SHA-256 of the id, the time and the body, with a dot between them, in hexadecimal
    /// digits.
    pub signature: Option<String>,
    /// The body as it came.
    pub body: Vec<u8>,
}

/// What is kept of a delivery: which Task it became.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct DeliveryBody {
    task_id: String,
    /// The digest of what it said; none of one that is older than this rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<Sha256>,
    /// Whether it is noted already that it came again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    repeated: bool,
}

impl Harness {
    /// `POST /v1/connectors/{connector_id}/deliveries`. Ours.
    ///
    /// # Errors
    /// 401 for whoever does not know the secret, or whose signature is for another id or time, whatever else is wrong;
    /// then 409 where the connector takes nothing, and 400 where the body is no JSON.
    pub async fn deliver(
        &self,
        connector: &str,
        delivery: Delivery,
    ) -> Result<ConnectorDelivery, HarnError> {
        let known = connector == CONNECTOR_WEBHOOK;
        let secret = self.reading(|harness| harness.opened(CONNECTOR_WEBHOOK, WEBHOOK_SECRET));
        let secret = secret.await.ok().flatten().filter(|_| known);
        let now_ms = self.field.origin().now_ms();
        let id = signed_id(secret.as_deref(), &delivery, now_ms).ok_or_else(not_signed)?;
        let webhook = self.reading(|harness| harness.webhook()).await?;
        if webhook.status != ConnectorStatus::Active {
            let message = format!("the connector is {}", webhook.status);
            return Err(HarnError::new(HarnErrorCode::Conflict, message));
        }
        let value = canon::parse(&delivery.body)?;
        let kept = kept_as(connector, id);
        let plain = Sha256::of(&delivery.body);
        let digest = self.options.secrets.digest(&plain.to_string().into()).unwrap_or(plain);
        if let Some(first) = self.first_of(&kept).await? {
            return self.answer_delivery_again(&kept, first, digest).await;
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
        let more = |task: &str| self.delivered(&kept, task, digest);
        match self.submit_with(&asked, request, more).await {
            Ok(submitted) => Ok(answer(submitted.task.envelope.id)),
            // The same delivery came twice at one time.
            Err(error) if error.is_taken(&kept) => match self.first_of(&kept).await? {
                Some(first) => self.answer_delivery_again(&kept, first, digest).await,
                None => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// What is written beside the Task of a delivery.
    fn delivered(&self, kept: &str, task: &str, digest: Sha256) -> Result<HarnCommand, HarnError> {
        let says = JsonObject::with("connector_id", CONNECTOR_WEBHOOK);
        let says = NoteBody { payload: says, ..NoteBody::default() };
        let notes = vec![self.note(task, EventKind::ConnectorTaskSubmitted.as_str(), &says)?];
        let body = DeliveryBody { task_id: task.to_owned(), digest: Some(digest), repeated: false };
        let documents = vec![self.delivery_draft(kept, Expect::New, &body)?];
        Ok(HarnCommand { documents, notes, ..HarnCommand::default() })
    }

    /// Answers a delivery that was here before as it was answered then. Nothing is said of its Task, which may have
    /// ended. That it came again is noted once, so that nobody makes the log grow with it.
    async fn answer_delivery_again(
        &self,
        kept: &str,
        first: DeliveryBody,
        digest: Sha256,
    ) -> Result<ConnectorDelivery, HarnError> {
        if first.digest.is_some_and(|known| known != digest) {
            let message = "X-Delivery-Id: this id was used for another delivery; use a new one";
            return Err(HarnError::new(HarnErrorCode::Conflict, message));
        }
        if !first.repeated {
            let body = DeliveryBody { repeated: true, ..first.clone() };
            let draft = self.delivery_draft(kept, Expect::Known, &body)?;
            let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
            self.write_as_field(None, command).await?;
        }
        Ok(answer(first.task_id))
    }

    fn delivery_draft(
        &self,
        kept: &str,
        expect: Expect,
        body: &DeliveryBody,
    ) -> Result<DocumentDraft, HarnError> {
        self.draft(DocumentKind::Delivery, kept, DocumentOwner::default(), expect, body)
    }

    async fn first_of(&self, kept: &str) -> Result<Option<DeliveryBody>, HarnError> {
        let kept = kept.to_owned();
        self.reading(move |harness| harness.stored(DocumentKind::Delivery, &kept)).await
    }
}

/// What is said to whoever does not prove that it knows the secret.
#[must_use]
pub fn not_signed() -> HarnError {
    let message = "the delivery is not signed with the connector's secret: X-Signature-256 must cover X-Delivery-Id, \
        X-Delivery-Time (now) and the body";
    HarnError::new(HarnErrorCode::Unauthenticated, message)
}

/// As whom a connector submits.
fn sender() -> Caller {
    Caller::new(CONNECTOR_WEBHOOK, AUTHORITY)
}

/// Under which id a delivery is kept. Its sender's id may be anything, so its digest stands for it.
fn kept_as(connector: &str, id: &str) -> String {
    format!("{connector}/{}", Sha256::of(id.as_bytes()).bare())
}

/// The id of a delivery that proves that its sender knows the secret and sent it now. Takes as long for a wrong proof as
/// for a right one; without a secret nobody knows it.
fn signed_id<'d>(secret: Option<&[u8]>, delivery: &'d Delivery, now_ms: u64) -> Option<&'d str> {
    let given = delivery.signature.as_deref()?.strip_prefix("sha256=")?;
    let given = Sha256::parse_bare(given).ok()?;
    // A dot in the id would leave open where it ends.
    let id = delivery.id.as_deref().filter(|id| !id.contains('.'))?;
    let time = delivery.time.as_deref()?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret?);
    let signed = [id.as_bytes(), b".", time.as_bytes(), b".", &delivery.body].concat();
    hmac::verify(&key, &signed, given.0.as_bytes()).ok()?;
    let sent_ms = time.parse::<u64>().ok()?.checked_mul(1000)?;
    (sent_ms.abs_diff(now_ms) <= DELIVERY_WINDOW_MS).then_some(id)
}

fn answer(task_id: String) -> ConnectorDelivery {
    ConnectorDelivery {
        object: ConnectorDeliveryObject::ConnectorDelivery,
        connector_id: CONNECTOR_WEBHOOK.to_owned(),
        task_id,
        deduplicated: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_700_000_000_000;
    const SECRET: &[u8] = b"a long random text";

    fn delivery(id: &str, time: &str, body: &[u8], signed: &[u8]) -> Delivery {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), signed);
        let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Delivery {
            id: Some(id.to_owned()),
            time: Some(time.to_owned()),
            signature: Some(format!("sha256={hex}")),
            body: body.to_vec(),
        }
    }

    #[test]
    fn a_signature_is_for_one_id_one_time_and_one_body() {
        let signed = b"d-1.1700000000.{}";
        let good = delivery("d-1", "1700000000", b"{}", signed);
        assert_eq!(signed_id(Some(SECRET), &good, NOW_MS), Some("d-1"));
        assert_eq!(signed_id(None, &good, NOW_MS), None);
        for (id, time, body) in [
            ("d-2", "1700000000", &b"{}"[..]),
            ("d-1", "1700000001", b"{}"),
            ("d-1", "1700000000", b"{ }"),
            ("", "d-1.1700000000", b"{}"),
            ("d-1.1700000000", "{}", b""),
        ] {
            let forged = delivery(id, time, body, signed);
            assert_eq!(signed_id(Some(SECRET), &forged, NOW_MS), None, "{id:?} {time:?}");
        }
        let body_alone = delivery("d-1", "1700000000", b"{}", b"{}");
        assert_eq!(signed_id(Some(SECRET), &body_alone, NOW_MS), None);
    }

    #[test]
    fn a_signature_holds_for_five_minutes_before_and_after_its_time() {
        let good = delivery("d-1", "1700000000", b"{}", b"d-1.1700000000.{}");
        let at = |now_ms| signed_id(Some(SECRET), &good, now_ms).is_some();
        assert!(at(NOW_MS - DELIVERY_WINDOW_MS) && at(NOW_MS + DELIVERY_WINDOW_MS));
        assert!(!at(NOW_MS - DELIVERY_WINDOW_MS - 1) && !at(NOW_MS + DELIVERY_WINDOW_MS + 1));
        for time in ["", "now", "-1", "18446744073709551615"] {
            let strange = delivery("d-1", time, b"{}", format!("d-1.{time}.{{}}").as_bytes());
            assert_eq!(signed_id(Some(SECRET), &strange, NOW_MS), None, "{time}");
        }
    }
}
