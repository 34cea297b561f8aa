//! SESSION: the life of a session (`POST /v1/session`). The protocol names the operation and publishes
//! no payload; this contract is ours.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MemoryType;
use crate::{
    json::reader::{ObjectReader, Problem, ReadError},
    limits::{AUTHORITY_MAX, LIST_ENTRIES_MAX},
    words::words,
};

words! {
    /// What to do with a session.
    SessionAction {
        /// Open one.
        Create = "create",
        /// Become a member, or make another one.
        Join = "join",
        /// Stop being a member, or make another one stop.
        Leave = "leave",
        /// Halt all writes in it.
        Pause = "pause",
        /// Let writes go on.
        Resume = "resume",
        /// Close it for good.
        End = "end",
        /// Change its policy.
        SetPolicy = "set_policy",
        /// Show one.
        Get = "get",
        /// Show all that the sender may know of.
        List = "list",
    }
}

words! {
    /// Where a session stands.
    SessionStatus {
        /// Work goes on.
        Active = "active",
        /// Nothing is written until it is resumed.
        Paused = "paused",
        /// Over. It can be read by its members.
        Ended = "ended",
    }
}

words! {
    /// Who may become a member.
    JoinRule {
        /// Whoever asks.
        Open = "open",
        /// Whom the creator, a member of authority 8, or authority 10 lets in.
        Invite = "invite",
    }
}

/// What readers of some role or authority may see of a session's units.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VisibilityRule {
    /// The registered role that the rule is for; every role if null.
    #[serde(default)]
    pub role: Option<String>,
    /// The rule is for readers below this authority; for every reader if null.
    #[serde(default)]
    pub below_authority: Option<u8>,
    /// If not empty, only these types are visible.
    #[serde(default)]
    pub allow_types: Vec<MemoryType>,
    /// These types are not visible, whatever another rule allows.
    #[serde(default)]
    pub deny_types: Vec<MemoryType>,
}

/// The rules of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionPolicy {
    /// Whether the session's units are visible outside of it.
    pub cross_session_visibility: bool,
    /// Who sees what of its units.
    pub visibility_rules: Vec<VisibilityRule>,
    /// How many ballots a vote in this session needs; the Field's own rule if null.
    pub quorum: Option<u64>,
    /// Who may become a member.
    pub join: JoinRule,
    /// Whether the log notes what each ATTUNE in this session returned.
    #[serde(default)]
    pub trace_attunes: bool,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            cross_session_visibility: false,
            visibility_rules: Vec::new(),
            quorum: None,
            join: JoinRule::Open,
            trace_attunes: false,
        }
    }
}

/// What a sender says of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionDraft {
    /// What it is for; required by `create`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Its rules; required by `set_policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<SessionPolicy>,
}

/// What to do with which session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionPayload {
    /// What to do.
    pub action: SessionAction,
    /// Which session. `create` takes it as the id of the new one, which the Field draws if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Who joins or leaves; the sender if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The session itself, for `create` and `set_policy`.
    #[serde(default)]
    pub session: SessionDraft,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Session {
    /// Its id.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// Where it stands.
    pub status: SessionStatus,
    /// Who opened it. Holds authority 8 inside.
    pub creator: String,
    /// Who belongs to it, by id.
    pub members: Vec<String>,
    /// Its rules.
    pub policy: SessionPolicy,
    /// When it was opened.
    pub epoch_created: u64,
    /// When it was ended.
    pub epoch_ended: Option<u64>,
}

/// The answer to SESSION.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionResponse {
    /// Always `ok`.
    pub status: String,
    /// The session as it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// The answer to `list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<Session>>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl SessionPayload {
    /// The least authority that the payload can need, read before anything else of it is judged.
    /// Who may do more than read or join depends on the session.
    #[must_use]
    pub fn authority_needed(payload: &Value) -> u8 {
        let word = payload.get("action").and_then(Value::as_str).unwrap_or_default();
        match SessionAction::parse(word) {
            Some(
                SessionAction::Create
                | SessionAction::Pause
                | SessionAction::Resume
                | SessionAction::End
                | SessionAction::SetPolicy,
            ) => 4,
            Some(
                SessionAction::Join
                | SessionAction::Leave
                | SessionAction::Get
                | SessionAction::List,
            )
            | None => 2,
        }
    }

    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let action = object
            .take_word("action", SessionAction::WORDS, SessionAction::parse)?
            .ok_or_else(|| object.refuse("action", "is required"))?;
        let session_id = object.take_id("session_id")?;
        let needs_id = action != SessionAction::Create && action != SessionAction::List;
        if needs_id && session_id.is_none() {
            return Err(object.refuse("session_id", format!("is required when action is {action}")));
        }
        let agent_id = object.take_id("agent_id")?;
        let (session, mut warnings) = match object.take_object("session")? {
            None => (SessionDraft::default(), Vec::new()),
            Some(session) => read_session(session)?,
        };
        if action == SessionAction::Create && session.goal.is_none() {
            return Err(object.refuse("session.goal", "is required and must not be blank"));
        }
        if action == SessionAction::SetPolicy && session.policy.is_none() {
            return Err(object.refuse("session.policy", "is required when action is set_policy"));
        }
        warnings.extend(object.warnings());
        Ok((Self { action, session_id, agent_id, session }, warnings))
    }
}

fn read_session(mut object: ObjectReader) -> Result<(SessionDraft, Vec<String>), ReadError> {
    let goal = object.take_nonblank("goal")?;
    let mut warnings = Vec::new();
    let policy = object
        .take_object("policy")?
        .map(|policy| {
            read_policy(policy).map(|(policy, more)| {
                warnings.extend(more);
                policy
            })
        })
        .transpose()?;
    warnings.extend(object.warnings());
    Ok((SessionDraft { goal, policy }, warnings))
}

fn read_policy(mut object: ObjectReader) -> Result<(SessionPolicy, Vec<String>), ReadError> {
    let cross_session_visibility =
        object.take_bool("cross_session_visibility")?.unwrap_or_default();
    let quorum = object.take_integer("quorum")?;
    if quorum == Some(0) {
        return Err(object.refuse("quorum", "must be at least 1"));
    }
    let join =
        object.take_word("join", JoinRule::WORDS, JoinRule::parse)?.unwrap_or(JoinRule::Open);
    let trace_attunes = object.take_bool("trace_attunes")?.unwrap_or_default();
    let mut visibility_rules = Vec::new();
    let mut warnings = Vec::new();
    for (path, value) in object.take_array("visibility_rules", LIST_ENTRIES_MAX)? {
        let mut rule = ObjectReader::new(&path, value)?;
        visibility_rules.push(VisibilityRule {
            role: rule.take_id("role")?,
            below_authority: read_authority(&mut rule)?,
            allow_types: read_types(&mut rule, "allow_types")?,
            deny_types: read_types(&mut rule, "deny_types")?,
        });
        warnings.extend(rule.warnings());
    }
    warnings.extend(object.warnings());
    let policy =
        SessionPolicy { cross_session_visibility, visibility_rules, quorum, join, trace_attunes };
    Ok((policy, warnings))
}

fn read_authority(rule: &mut ObjectReader) -> Result<Option<u8>, ReadError> {
    let Some(given) = rule.take_integer("below_authority")? else { return Ok(None) };
    let authority = u8::try_from(given).ok().filter(|given| *given <= AUTHORITY_MAX);
    authority.map(Some).ok_or_else(|| {
        rule.refuse(
            "below_authority",
            Problem::found(format!("must be from 0 to {AUTHORITY_MAX}"), given),
        )
    })
}

fn read_types(rule: &mut ObjectReader, key: &str) -> Result<Vec<MemoryType>, ReadError> {
    let words = MemoryType::WORDS;
    rule.take_array(key, LIST_ENTRIES_MAX)?
        .into_iter()
        .map(|(path, value)| {
            let known = value.as_str().and_then(MemoryType::parse);
            known.ok_or_else(|| ReadError::new(path, format!("must be one of {words}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(payload: Value) -> String {
        SessionPayload::parse(payload).unwrap_err().path
    }

    #[test]
    fn what_an_action_needs_is_named_where_it_is_missing() {
        assert_eq!(refused(json!({})), "payload.action");
        assert_eq!(refused(json!({"action": "sleep"})), "payload.action");
        assert_eq!(
            refused(json!({"action": "create", "session": {"goal": " "}})),
            "payload.session.goal"
        );
        for action in ["join", "leave", "pause", "resume", "end", "set_policy", "get"] {
            assert_eq!(refused(json!({"action": action})), "payload.session_id");
        }
        assert_eq!(
            refused(json!({"action": "set_policy", "session_id": "s"})),
            "payload.session.policy"
        );
    }

    #[test]
    fn a_rule_with_an_unknown_type_or_an_impossible_authority_is_refused() {
        let with = |rule: Value| {
            json!({"action": "create",
                   "session": {"goal": "g", "policy": {"visibility_rules": [rule]}}})
        };
        assert_eq!(
            refused(with(json!({"deny_types": ["rumour"]}))),
            "payload.session.policy.visibility_rules[0].deny_types[0]"
        );
        assert_eq!(
            refused(with(json!({"below_authority": 11}))),
            "payload.session.policy.visibility_rules[0].below_authority"
        );
    }

    #[test]
    fn an_absent_policy_is_open_to_join_and_closed_to_the_outside() {
        let policy = SessionPolicy::default();
        assert_eq!(policy.join, JoinRule::Open);
        assert!(!policy.cross_session_visibility);
    }
}
