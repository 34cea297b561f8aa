//! REGISTER (spec 3.1): an agent joins the Field, or comes back to it.

use quipu_log::{DraftEvent, SealedEvent};
use quipu_wire::{
    ErrorCode,
    akashik::{
        Agent, AgentStatus, FieldCapabilities, Operation, RegisterPayload, RegisterResponse,
        RegisterStatus,
    },
};

use super::{Refusal, may_borrow};
use crate::{
    event::Event,
    message::{Message, RoleGrant},
    rules::Decision,
    state::State,
};

/// A REGISTER with what the sender's credential gives it.
#[derive(Debug, Clone)]
pub struct RegisterCommand {
    pub payload: RegisterPayload,
    /// Which roles it may have. Another one is kept as its own word.
    pub roles: RoleGrant,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.id: {agent} is already registered")]
    IdTaken { agent: String },
    #[error("payload.authority_level: {asked} is above the credential's {credential}")]
    AuthorityAboveCredential { asked: u8, credential: u8 },
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::IdTaken { .. } => ErrorCode::AgentIdTaken,
            Self::AuthorityAboveCredential { .. } => ErrorCode::InsufficientAuthority,
        }
    }
}

/// The answer to an agent that needs what this Field cannot do. It is an answer and no error: the
/// protocol has a status for it and no code.
#[must_use]
pub fn missing_operations(payload: &RegisterPayload) -> Option<RegisterResponse> {
    let missing: Vec<&str> = payload
        .required_operations
        .iter()
        .map(String::as_str)
        .filter(|word| {
            !Operation::parse(word).is_some_and(|needed| Operation::SUPPORTED.contains(&needed))
        })
        .collect();
    if missing.is_empty() {
        return None;
    }
    Some(RegisterResponse {
        status: RegisterStatus::Rejected,
        agent: None,
        field_capabilities: FieldCapabilities::current(),
        rejection_reason: Some(format!("unsupported operations: {}", missing.join(", "))),
        warnings: Vec::new(),
    })
}

/// The rule. A name is taken only while its bearer takes part. Who left may come back, by a key of its own or one that
/// is as strong as it was.
pub fn decide(
    state: &State,
    message: &Message,
    command: &RegisterCommand,
) -> Result<Decision, Refusal> {
    let payload = &command.payload;
    if state.agents.live(&payload.id).is_some() {
        return Err(Error::IdTaken { agent: payload.id.clone() }.into());
    }
    let credential = message.authority;
    if !message.own_key {
        may_borrow(state, &payload.id, credential)?;
    }
    let authority = payload.authority_level.unwrap_or(credential);
    if authority > credential {
        return Err(Error::AuthorityAboveCredential { asked: authority, credential }.into());
    }
    let event = Event::AgentRegistered {
        agent: payload.id.clone(),
        role: payload.role.clone(),
        interests: payload.interests.clone(),
        authority,
        claimed: !command.roles.gives(&payload.role),
    };
    Ok(vec![DraftEvent { event, body: None }])
}

#[must_use]
pub fn respond(events: &[SealedEvent<Event>]) -> RegisterResponse {
    let agent = events.iter().find_map(|sealed| {
        let Event::AgentRegistered { agent, role, interests, authority, .. } = &sealed.event else {
            return None;
        };
        Some(Agent {
            id: agent.clone(),
            role: role.clone(),
            status: AgentStatus::Idle,
            interests: interests.clone(),
            current_task_id: None,
            authority_level: *authority,
        })
    });
    RegisterResponse {
        status: RegisterStatus::Registered,
        agent,
        field_capabilities: FieldCapabilities::current(),
        rejection_reason: None,
        warnings: ungranted(events).into_iter().collect(),
    }
}

/// What an agent is told whose role is only its own word.
fn ungranted(events: &[SealedEvent<Event>]) -> Option<String> {
    events.iter().find_map(|sealed| {
        let Event::AgentRegistered { role, claimed: true, .. } = &sealed.event else { return None };
        Some(format!(
            "payload.role: no key grants {role}; it counts for ranking, and sessions with rules for roles apply all \
             of them"
        ))
    })
}

pub(super) fn is_same(payload: &RegisterPayload, events: &[SealedEvent<Event>]) -> bool {
    events.iter().any(|sealed| {
        let Event::AgentRegistered { agent, role, interests, authority, .. } = &sealed.event else {
            return false;
        };
        *agent == payload.id
            && *role == payload.role
            && *interests == payload.interests
            && payload.authority_level.is_none_or(|asked| asked == *authority)
    })
}
