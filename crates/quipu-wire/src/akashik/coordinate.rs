//! COORDINATE: the life of a task (`POST /v1/coordinate`). The protocol names the operation and
//! publishes no payload; this contract is ours.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::error_code::ErrorCode,
    json::reader::{ObjectReader, ReadError, check_id},
    limits::{LEASE_MS_MAX, LEASE_MS_MIN, LIST_ENTRIES_MAX, PRIORITY_DEFAULT, PRIORITY_MAX},
    words::words,
};

words! {
    /// What to do with a task.
    TaskAction {
        /// Make one.
        Create = "create",
        /// Give it to an agent.
        Assign = "assign",
        /// Take it.
        Claim = "claim",
        /// Begin to work on it.
        Start = "start",
        /// Say that it cannot go on.
        Block = "block",
        /// Say that it can.
        Unblock = "unblock",
        /// Finish it.
        Complete = "complete",
        /// Give it up.
        Fail = "fail",
        /// Put it back.
        Release = "release",
        /// Try again what failed.
        Retry = "retry",
        /// Call it off.
        Cancel = "cancel",
        /// Extend its lease.
        Renew = "renew",
        /// Show one.
        Get = "get",
        /// Show those that pass the filter.
        List = "list",
    }
}

words! {
    /// Where a task stands.
    TaskStatus {
        /// Waits for an agent.
        Pending = "pending",
        /// Has one, who has not begun.
        Assigned = "assigned",
        /// Is worked on.
        InProgress = "in_progress",
        /// Cannot go on for now.
        Blocked = "blocked",
        /// Done. Final.
        Completed = "completed",
        /// Given up; can be tried again.
        Failed = "failed",
        /// Called off. Final.
        Cancelled = "cancelled",
    }
}

/// Why a task exists.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskIntent {
    /// What it is for.
    pub purpose: String,
    /// The question that it is to answer.
    #[serde(default)]
    pub question: Option<String>,
}

/// What a sender says of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskDraft {
    /// Its id; the Field draws one if it is absent.
    #[serde(default)]
    pub id: Option<String>,
    /// What is to be done; required by `create`.
    #[serde(default)]
    pub title: String,
    /// Why; `purpose` is required by `create`.
    #[serde(default)]
    pub intent: TaskIntent,
    /// The tasks that have to be completed before it starts.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// How urgent, 0 to 10.
    #[serde(default)]
    pub priority: u8,
    /// The units that came of it, for `complete`.
    #[serde(default)]
    pub result_unit_ids: Vec<String>,
}

/// Which tasks to list. Parts are combined with AND, an absent part holds for all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskFilter {
    /// Any of these.
    #[serde(default)]
    pub status: Vec<TaskStatus>,
    /// Who works on it.
    #[serde(default)]
    pub assigned_to: Option<String>,
    /// Who made it.
    #[serde(default)]
    pub created_by: Option<String>,
    /// Whether it lost its agent.
    #[serde(default)]
    pub needs_reassignment: Option<bool>,
}

/// What to do with which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CoordinatePayload {
    /// What to do.
    pub action: TaskAction,
    /// The task itself, for `create` and `complete`.
    #[serde(default)]
    pub task: TaskDraft,
    /// Which task; required by all but `create` and `list`.
    #[serde(default)]
    pub task_id: Option<String>,
    /// Who is to do it, for `create` and `assign`.
    #[serde(default)]
    pub assignee: Option<String>,
    /// Why; required by `block` and `fail`.
    #[serde(default)]
    pub reason: Option<String>,
    /// After how many milliseconds without a sign of life the task goes back to the pool.
    #[serde(default)]
    pub lease_ms: Option<u64>,
    /// Which tasks to list.
    #[serde(default)]
    pub filter: TaskFilter,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The session it belongs to.
    pub session_id: Option<String>,
    /// What is to be done.
    pub title: String,
    /// The purpose of the task.
    pub intent: TaskIntent,
    /// Where it stands.
    pub status: TaskStatus,
    /// Who made it.
    pub created_by: String,
    /// Who works on it, or worked on it last where it is over.
    pub assigned_to: Option<String>,
    /// The tasks that have to be completed before it starts.
    pub depends_on: Vec<String>,
    /// How urgent, 0 to 10.
    pub priority: u8,
    /// Whether it lost its agent and waits for another.
    pub needs_reassignment: bool,
    /// Why it is blocked, or failed.
    pub blocked_reason: Option<String>,
    /// The units that came of it.
    pub result_unit_ids: Vec<String>,
    /// When its lease runs out.
    pub lease_expires_at: Option<String>,
    /// When it was made.
    pub epoch_created: u64,
    /// When it last moved.
    pub epoch_updated: u64,
}

/// The answer to COORDINATE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CoordinateResponse {
    /// Always `ok`.
    pub status: String,
    /// The task as it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// The answer to `list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<Task>>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl CoordinatePayload {
    /// The least authority that the payload can need, read before anything else of it is judged.
    #[must_use]
    pub fn authority_needed(payload: &Value) -> u8 {
        let word = payload.get("action").and_then(Value::as_str).unwrap_or_default();
        match TaskAction::parse(word) {
            Some(TaskAction::Get | TaskAction::List) | None => 2,
            Some(
                TaskAction::Create
                | TaskAction::Assign
                | TaskAction::Claim
                | TaskAction::Start
                | TaskAction::Block
                | TaskAction::Unblock
                | TaskAction::Complete
                | TaskAction::Fail
                | TaskAction::Release
                | TaskAction::Retry
                | TaskAction::Cancel
                | TaskAction::Renew,
            ) => 4,
        }
    }

    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let action = object
            .take_word("action", TaskAction::WORDS, TaskAction::parse)?
            .ok_or_else(|| object.refuse("action", "is required"))?;
        let task_id = object.take_id("task_id")?;
        let needs_id = action != TaskAction::Create && action != TaskAction::List;
        let when = |what: &str| format!("{what} when action is {action}");
        if needs_id && task_id.is_none() {
            return Err(object.refuse("task_id", when("is required")));
        }
        let (task, mut warnings) = read_task(&mut object, action)?;
        let assignee = object.take_id("assignee")?;
        if action == TaskAction::Assign && assignee.is_none() {
            return Err(object.refuse("assignee", when("is required")));
        }
        let reason = object.take_nonblank("reason")?;
        if matches!(action, TaskAction::Block | TaskAction::Fail) && reason.is_none() {
            return Err(object.refuse("reason", when("is required")));
        }
        let lease_ms = object.take_integer("lease_ms")?;
        if lease_ms.is_some_and(|lease| !(LEASE_MS_MIN..=LEASE_MS_MAX).contains(&lease)) {
            let problem = format!("must be from {LEASE_MS_MIN} to {LEASE_MS_MAX}");
            return Err(object.refuse("lease_ms", problem));
        }
        let (filter, more) = read_filter(&mut object)?;
        warnings.extend(more);
        warnings.extend(object.warnings());
        Ok((Self { action, task, task_id, assignee, reason, lease_ms, filter }, warnings))
    }
}

fn read_task(
    object: &mut ObjectReader,
    action: TaskAction,
) -> Result<(TaskDraft, Vec<String>), ReadError> {
    let no_purpose = |object: &ObjectReader| {
        object
            .refuse("task.intent.purpose", "is required and must not be blank")
            .with_code(ErrorCode::MissingIntent)
    };
    let is_new = action == TaskAction::Create;
    let Some(mut task) = object.take_object("task")? else {
        return if is_new { Err(no_purpose(object)) } else { Ok(Default::default()) };
    };
    let mut warnings = Vec::new();
    let mut intent = TaskIntent::default();
    if let Some(mut given) = task.take_object("intent")? {
        intent.purpose = given.take_nonblank("purpose")?.unwrap_or_default();
        intent.question = given.take_nonblank("question")?;
        warnings.extend(given.warnings());
    }
    if is_new && intent.purpose.is_empty() {
        return Err(no_purpose(object));
    }
    let title = task.take_nonblank("title")?.unwrap_or_default();
    if is_new && title.is_empty() {
        return Err(task.refuse("title", "is required and must not be blank"));
    }
    let id = task.take_id("id")?;
    let depends_on = read_ids(&mut task, "depends_on")?;
    let priority = task.take_integer("priority")?.unwrap_or_else(|| u64::from(PRIORITY_DEFAULT));
    let priority = u8::try_from(priority)
        .ok()
        .filter(|given| *given <= PRIORITY_MAX)
        .ok_or_else(|| task.refuse("priority", format!("must be from 0 to {PRIORITY_MAX}")))?;
    let result_unit_ids = read_ids(&mut task, "result_unit_ids")?;
    warnings.extend(task.warnings());
    Ok((TaskDraft { id, title, intent, depends_on, priority, result_unit_ids }, warnings))
}

fn read_filter(object: &mut ObjectReader) -> Result<(TaskFilter, Vec<String>), ReadError> {
    let Some(mut filter) = object.take_object("filter")? else { return Ok(Default::default()) };
    let words = TaskStatus::WORDS;
    let status = filter
        .take_array("status", LIST_ENTRIES_MAX)?
        .into_iter()
        .map(|(path, value)| {
            let known = value.as_str().and_then(TaskStatus::parse);
            known.ok_or_else(|| ReadError::new(path, format!("must be one of {words}")))
        })
        .collect::<Result<_, _>>()?;
    let read = TaskFilter {
        status,
        assigned_to: filter.take_id("assigned_to")?,
        created_by: filter.take_id("created_by")?,
        needs_reassignment: filter.take_bool("needs_reassignment")?,
    };
    Ok((read, filter.warnings()))
}

/// Takes a list of identifiers, each once.
pub(super) fn read_ids(object: &mut ObjectReader, key: &str) -> Result<Vec<String>, ReadError> {
    let path = object.path_of(key);
    let mut ids: Vec<String> = Vec::new();
    for (index, id) in object.take_texts(key)?.into_iter().enumerate() {
        check_id(&id).map_err(|problem| ReadError::new(format!("{path}[{index}]"), problem))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(payload: Value) -> (ErrorCode, String) {
        let error = CoordinatePayload::parse(payload).unwrap_err();
        (error.code, error.path)
    }

    #[test]
    fn what_an_action_needs_is_named_where_it_is_missing() {
        use ErrorCode::{InvalidPayload, MissingIntent};
        let at = |path: &str| (InvalidPayload, path.to_owned());
        assert_eq!(refused(json!({})), at("payload.action"));
        let purpose = (MissingIntent, "payload.task.intent.purpose".to_owned());
        assert_eq!(refused(json!({"action": "create"})), purpose);
        assert_eq!(refused(json!({"action": "create", "task": {"title": "t"}})), purpose);
        assert_eq!(
            refused(json!({"action": "create", "task": {"intent": {"purpose": "p"}}})),
            at("payload.task.title")
        );
        assert_eq!(refused(json!({"action": "start"})), at("payload.task_id"));
        assert_eq!(refused(json!({"action": "assign", "task_id": "t"})), at("payload.assignee"));
        for action in ["block", "fail"] {
            assert_eq!(
                refused(json!({"action": action, "task_id": "t", "reason": " "})),
                at("payload.reason")
            );
        }
        assert_eq!(
            refused(json!({"action": "claim", "task_id": "t", "lease_ms": 0})),
            at("payload.lease_ms")
        );
        assert_eq!(
            refused(json!({"action": "list", "filter": {"status": ["asleep"]}})),
            at("payload.filter.status[0]")
        );
    }

    #[test]
    fn a_dependency_named_twice_is_one() {
        let task = json!({"title": "t", "intent": {"purpose": "p"}, "depends_on": ["a", "a"]});
        let payload = json!({"action": "create", "task": task});
        let (payload, warnings) = CoordinatePayload::parse(payload).unwrap();
        assert_eq!(payload.task.depends_on, ["a"]);
        assert_eq!(payload.task.priority, PRIORITY_DEFAULT);
        assert_eq!(warnings, Vec::<String>::new());
    }
}
