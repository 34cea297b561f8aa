//! An agent of a Field: the twelve operations of the Akashik Protocol and the reads beside them, with
//! the types of `quipu-wire`.

use hyper::{HeaderMap, body::Bytes, header::HeaderName};
use quipu_wire::{
    ErrorCode,
    akashik::{
        AgentList, AttunePayload, AttuneResponse, CompactPayload, CompactResponse, ConflictList,
        CoordinatePayload, CoordinateResponse, DeregisterPayload, DeregisterResponse,
        DetectPayload, DetectResponse, FieldStatus, Format, HandoffPayload, HandoffResponse,
        MemoryUnit, MergePayload, MergeResponse, Operation, RecordPayload, RecordResponse,
        RecordsPayload, RecordsResponse, RegisterPayload, RegisterResponse, ReplayDepth,
        ReplayPayload, ReplayResponse, ReplayTarget, RestorePayload, RestoreResponse,
        RetractIntent, RetractPayload, RetractResponse, Scope, SessionPayload, SessionResponse,
        SubscribeAction, SubscribePayload, SubscribeResponse, Subscription, SubscriptionEvent,
        SubscriptionRequest,
    },
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    error::ClientError,
    handle::{
        field::{Field, header_value, understand},
        pushes::{Pushes, pushes},
    },
    ids::message_id,
    net::path,
};

const AGENT: HeaderName = HeaderName::from_static("akashik-agent");
const SESSION: HeaderName = HeaderName::from_static("akashik-session");
const MESSAGE_ID: HeaderName = HeaderName::from_static("akashik-message-id");
/// Ours, and no operations of the protocol.
const RECORDS: &str = "/v1/records";
const RETRACT: &str = "/v1/retract";
const RESTORE: &str = "/v1/restore";

/// How many units [`Agent::recall`] asks for.
const RECALLED_UNITS: usize = 20;

/// An agent of a Field. Every write goes out under an id of its own, drawn once, so that sending it
/// again after a lost connection never carries it out twice.
#[derive(Debug, Clone)]
pub struct Agent {
    field: Field,
    id: Option<String>,
    role: String,
    interests: Vec<String>,
    headers: HeaderMap,
}

impl Agent {
    pub(crate) fn new(field: Field, id: Option<&str>, role: &str) -> Result<Self, ClientError> {
        let mut agent = Self::nameless(field, role);
        if let Some(id) = id {
            agent.headers.insert(AGENT, header_value("the agent's id", id)?);
            agent.id = Some(id.to_owned());
        }
        Ok(agent)
    }

    pub(crate) fn nameless(field: Field, role: &str) -> Self {
        let (role, headers) = (role.to_owned(), HeaderMap::new());
        Self { field, id: None, role, interests: Vec::new(), headers }
    }

    /// The same agent with topics that it wants to hear of.
    #[must_use]
    pub fn interested_in(mut self, topics: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.interests = topics.into_iter().map(Into::into).collect();
        self
    }

    pub fn in_session(&self, session: &str) -> Result<Self, ClientError> {
        let mut agent = self.clone();
        agent.headers.insert(SESSION, header_value("the session's id", session)?);
        Ok(agent)
    }

    /// Its name, unless that is the key's.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    #[must_use]
    pub fn role(&self) -> &str {
        &self.role
    }

    /// REGISTER: joins the Field. A name that takes part already is refused: `AGENT_ID_TAKEN`.
    pub async fn register(&self) -> Result<RegisterResponse, ClientError> {
        self.call(Operation::Register, &self.registration()).await
    }

    /// REGISTER, unless an agent of this name takes part already, as after a restart.
    pub async fn join(&self) -> Result<(), ClientError> {
        match self.register().await {
            Err(error) if !error.is(ErrorCode::AgentIdTaken) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn registration(&self) -> RegisterPayload {
        RegisterPayload {
            id: self.id.clone().unwrap_or_default(),
            role: self.role.clone(),
            interests: self.interests.clone(),
            required_operations: Vec::new(),
            authority_level: None,
        }
    }

    /// DEREGISTER: leaves the Field. Its units stay.
    pub async fn deregister(&self) -> Result<DeregisterResponse, ClientError> {
        let agent_id = self.id.clone().unwrap_or_default();
        self.call(Operation::Deregister, &DeregisterPayload { agent_id }).await
    }

    /// RECORD: adds a memory unit. When this returns, the unit is on stable storage.
    pub async fn record(&self, unit: &RecordPayload) -> Result<RecordResponse, ClientError> {
        self.call(Operation::Record, unit).await
    }

    /// RECORD of several units (Quipu's extension): all of them or none, in one commit, with an answer for each.
    pub async fn record_all(
        &self,
        units: Vec<RecordPayload>,
    ) -> Result<RecordsResponse, ClientError> {
        understand(&self.send(RECORDS, &RecordsPayload { units }, None).await?)
    }

    /// ATTUNE: ranked context.
    pub async fn attune(&self, ask: &AttunePayload) -> Result<AttuneResponse, ClientError> {
        self.call(Operation::Attune, ask).await
    }

    /// ATTUNE for this agent's role, with a hint of what it is about to do.
    pub async fn recall(&self, hint: &str) -> Result<AttuneResponse, ClientError> {
        let scope = Scope::new(self.role.as_str(), RECALLED_UNITS);
        let context_hint = Some(hint.to_owned());
        self.attune(&AttunePayload { scope, context_hint, format: Format::Full, since_epoch: None })
            .await
    }

    /// DETECT: lists conflicts, or looks for new ones.
    pub async fn detect(&self, ask: &DetectPayload) -> Result<DetectResponse, ClientError> {
        self.call(Operation::Detect, ask).await
    }

    /// MERGE: settles a conflict.
    pub async fn merge(&self, merge: &MergePayload) -> Result<MergeResponse, ClientError> {
        self.call(Operation::Merge, merge).await
    }

    /// REPLAY: how something came about.
    pub async fn replay(
        &self,
        target_type: ReplayTarget,
        target_id: &str,
        depth: ReplayDepth,
    ) -> Result<ReplayResponse, ClientError> {
        let target_id = target_id.to_owned();
        self.call(
            Operation::Replay,
            &ReplayPayload { target_type, target_id, depth, explain: false, without: Vec::new() },
        )
        .await
    }

    /// COMPACT: archives, summarizes, purges.
    pub async fn compact(&self, ask: &CompactPayload) -> Result<CompactResponse, ClientError> {
        self.call(Operation::Compact, ask).await
    }

    /// COORDINATE: moves a task through its life.
    pub async fn coordinate(
        &self,
        ask: &CoordinatePayload,
    ) -> Result<CoordinateResponse, ClientError> {
        self.call(Operation::Coordinate, ask).await
    }

    /// HANDOFF: a task and its context go to another agent.
    pub async fn handoff(&self, ask: &HandoffPayload) -> Result<HandoffResponse, ClientError> {
        self.call(Operation::Handoff, ask).await
    }

    /// SESSION: opens, joins, pauses and ends sessions.
    pub async fn session(&self, ask: &SessionPayload) -> Result<SessionResponse, ClientError> {
        self.call(Operation::Session, ask).await
    }

    /// SUBSCRIBE: from now on the Field keeps what happens for this agent, until it is ended.
    pub async fn subscribe(
        &self,
        events: impl IntoIterator<Item = SubscriptionEvent>,
    ) -> Result<Subscription, ClientError> {
        let events = events.into_iter().collect();
        let subscription = SubscriptionRequest { events, ..SubscriptionRequest::default() };
        let payload = SubscribePayload { action: SubscribeAction::Subscribe, subscription };
        let raw = self.call_raw(Operation::Subscribe, &payload, None).await?;
        let answer: SubscribeResponse = understand(&raw)?;
        answer.subscription.ok_or_else(|| {
            ClientError::unexpected(hyper::StatusCode::OK, "there is no subscription in it", &raw)
        })
    }

    pub async fn unsubscribe(&self, id: &str) -> Result<SubscribeResponse, ClientError> {
        let subscription =
            SubscriptionRequest { id: Some(id.to_owned()), ..SubscriptionRequest::default() };
        let payload = SubscribePayload { action: SubscribeAction::Unsubscribe, subscription };
        self.call(Operation::Subscribe, &payload).await
    }

    /// What a subscription pushes, from its beginning; goes on where it was after a lost connection.
    #[must_use]
    pub fn pushes(&self, subscription: &Subscription) -> Pushes {
        self.pushes_after(&subscription.id, &subscription.cursor)
    }

    /// What a subscription pushes after a cursor: that of the last push that was seen.
    #[must_use]
    pub fn pushes_after(&self, subscription: &str, cursor: &str) -> Pushes {
        let path = format!("/v1/subscriptions/{}/events", path::segment(subscription));
        pushes(self.field.clone(), path, self.headers.clone(), cursor.to_owned())
    }

    /// Withdraws a unit (Quipu's extension).
    pub async fn retract(&self, unit: &str, purpose: &str) -> Result<RetractResponse, ClientError> {
        let intent = RetractIntent { purpose: purpose.to_owned() };
        let payload = RetractPayload { unit_id: unit.to_owned(), intent };
        understand(&self.send(RETRACT, &payload, None).await?)
    }

    /// Brings units back that were withdrawn or archived (Quipu's extension).
    pub async fn restore(
        &self,
        units: &[&str],
        purpose: &str,
    ) -> Result<RestoreResponse, ClientError> {
        let intent = RetractIntent { purpose: purpose.to_owned() };
        let unit_ids = units.iter().map(|unit| (*unit).to_owned()).collect();
        let payload = RestorePayload { unit_ids, intent };
        understand(&self.send(RESTORE, &payload, None).await?)
    }

    /// One unit (Quipu's extension).
    pub async fn unit(&self, id: &str) -> Result<MemoryUnit, ClientError> {
        self.read(&format!("/v1/units/{}", path::segment(id))).await
    }

    /// The conflicts that are not resolved.
    pub async fn conflicts(&self) -> Result<ConflictList, ClientError> {
        self.read("/v1/conflicts").await
    }

    /// The agents that are registered now.
    pub async fn agents(&self) -> Result<AgentList, ClientError> {
        self.read("/v1/agents").await
    }

    pub async fn status(&self) -> Result<FieldStatus, ClientError> {
        self.read("/v1/field/status").await
    }

    /// Carries out an operation; the answer is as it came. Under a given message id, or under one that
    /// is drawn for it.
    pub async fn call_raw(
        &self,
        operation: Operation,
        payload: &impl Serialize,
        message_id: Option<&str>,
    ) -> Result<Bytes, ClientError> {
        self.send(operation.path(), payload, message_id).await
    }

    /// Reads a path of the HTTP binding as this agent; the answer is as it came.
    pub async fn read_raw(&self, path: &str) -> Result<Bytes, ClientError> {
        self.field.get(path, &self.headers).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        operation: Operation,
        payload: &impl Serialize,
    ) -> Result<T, ClientError> {
        understand(&self.call_raw(operation, payload, None).await?)
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        understand(&self.read_raw(path).await?)
    }

    async fn send(
        &self,
        path: &str,
        payload: &impl Serialize,
        id: Option<&str>,
    ) -> Result<Bytes, ClientError> {
        let drawn = id.map_or_else(message_id, str::to_owned);
        let mut headers = self.headers.clone();
        headers.insert(MESSAGE_ID, header_value("the message's id", &drawn)?);
        let body = serde_json::to_vec(payload).map_err(ClientError::Payload)?;
        self.field.post(path, &headers, Bytes::from(body)).await
    }
}
