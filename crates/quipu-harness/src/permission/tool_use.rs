//! Whether a worker may use a tool, by the autonomy of its Task's Persona. Where somebody has to agree, the
//! first use asks the question and every use waits for its answer, which holds for the rest of the Task.

use quipu_core::{DocumentKind, state::DocumentEntry};
use quipu_wire::harn::{
    AutonomyTier, AwaitTaskRequest, AwaitedAnswer, DependencyKind, EventKind, EventName, HarnError,
    HarnErrorCode, JsonObject, PermissionClass, PermissionRequest, PermissionStatus,
};
use serde_json::Value;

use crate::{
    Harness, WriteRequest,
    task::tasks::{TaskView, is_replay},
};

/// The action of the question; its target is the tool.
const USE_TOOL: &str = "use_tool";
/// The tool of an Event that names none.
const UNNAMED: &str = "unnamed";

/// The classes of keys under which the answers of tools are recorded.
const CLASSES_OF_TOOLS: [&str; 2] = ["mcp", "tool"];

/// What a worker says of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolUse {
    word: ToolWord,
    pub(crate) tool: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolWord {
    Proposes,
    Uses,
    Decides,
}

impl ToolUse {
    /// What an Event says of a tool; nothing where it is about none.
    pub(crate) fn of_event(event: &EventName, payload: &JsonObject) -> Option<Self> {
        let EventName::Known(kind) = event else { return None };
        let word = if *kind == EventKind::ToolRequested {
            ToolWord::Proposes
        } else if matches!(kind, EventKind::ToolApproved | EventKind::ToolDenied) {
            ToolWord::Decides
        } else if is_use(*kind) {
            ToolWord::Uses
        } else {
            return None;
        };
        let named = ["name", "tool"].iter().find_map(|name| payload.get(*name)?.as_str());
        let tool = named.filter(|name| !name.is_empty()).unwrap_or(UNNAMED).to_owned();
        Some(Self { word, tool })
    }

    /// What a recorded answer says: `mcp:crm:1` is one of the tool `crm`, whatever kind it is said to be, and so is what
    /// is said to be the answer of a tool, under whatever key.
    pub(crate) fn of_answer(kind: DependencyKind, key: &str) -> Option<Self> {
        let (class, named) = key.split_once(':').unwrap_or(("", key));
        let of_tool = matches!(kind, DependencyKind::McpToolReturn | DependencyKind::ToolResult);
        if !of_tool && !CLASSES_OF_TOOLS.contains(&class) {
            return None;
        }
        let tool = named.rsplit_once(':').map_or(named, |(tool, _)| tool);
        Some(Self { word: ToolWord::Uses, tool: tool.to_owned() })
    }
}

fn is_use(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::AgentToolUse
            | EventKind::AgentToolResult
            | EventKind::AgentMcpToolUse
            | EventKind::ToolCompleted
            | EventKind::ToolFailed
    )
}

impl Harness {
    /// Checks that a worker may say this of a tool.
    ///
    /// # Errors
    /// 422 where the Persona does not allow it, or nobody agreed yet: then somebody is asked.
    pub(crate) async fn check_tool_use(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        tool: &ToolUse,
    ) -> Result<(), HarnError> {
        let Some(persona) = self.persona_of(view).await? else { return Ok(()) };
        let refused = |why: &str| Err(violation(format!("the Persona {} {why}", persona.name)));
        match (persona.autonomy_tier, tool.word) {
            (AutonomyTier::ActAuto, _) | (AutonomyTier::Suggest, ToolWord::Proposes) => Ok(()),
            (AutonomyTier::Shadow, _) => refused("only watches, and uses no tools"),
            (AutonomyTier::Suggest, _) => refused("only suggests: it may tell `tool.requested`"),
            (AutonomyTier::ActWithApproval, ToolWord::Decides) => {
                refused("does not decide itself: the answer to its permission request does")
            }
            (AutonomyTier::ActWithApproval, _) => self.check_agreed(write, view, &tool.tool).await,
        }
    }

    async fn check_agreed(
        &self,
        write: &WriteRequest,
        view: &TaskView,
        tool: &str,
    ) -> Result<(), HarnError> {
        // A replay calls nothing: its answers are those of the recording.
        if self.field.with_state(|state| is_replay(state, &view.id)) {
            return Ok(());
        }
        // One question for each tool, also where two uses come at once.
        let _turn = self.changing.lock().await;
        if self.question_about(view, tool).await?.is_none() {
            let command = self.await_permission(write, view, question(tool)).await?;
            // Not under the key of the use, which is still to be done under it.
            let asking = WriteRequest::once(write.caller.clone());
            self.write_on(&asking, view, "await", command).await?;
        }
        let question = self.question_about(view, tool).await?;
        let (status, id) = match question {
            Some(question) => (question.status, question.envelope.id),
            None => (PermissionStatus::Pending, String::new()),
        };
        let why = match status {
            PermissionStatus::Approved => return Ok(()),
            PermissionStatus::Denied => "was denied",
            PermissionStatus::Pending => "waits for somebody to agree",
        };
        let mut error = violation(format!("the use of the tool {tool} {why}"));
        error.details.insert("permission_request_id".to_owned(), id.into());
        Err(error)
    }

    /// The last question whether a Task may use a tool.
    async fn question_about(
        &self,
        view: &TaskView,
        tool: &str,
    ) -> Result<Option<PermissionRequest>, HarnError> {
        let entries: Vec<DocumentEntry> = self.field.with_state(|state| {
            let asked = state.documents.of_task(DocumentKind::PermissionRequest, &view.id);
            asked.rev().map(|(_, entry)| entry.clone()).collect()
        });
        let tool = tool.to_owned();
        self.reading(move |harness| {
            for entry in entries {
                let request = harness.load::<PermissionRequest>(&entry)?;
                if is_about(&request, &tool) {
                    return Ok(Some(request));
                }
            }
            Ok(None)
        })
        .await
    }
}

fn question(tool: &str) -> AwaitTaskRequest {
    AwaitTaskRequest {
        awaited: AwaitedAnswer::Auth,
        reason: format!("may the tool {tool} be used?"),
        action: Some(USE_TOOL.to_owned()),
        target: Some(tool.to_owned()),
        class: PermissionClass::Exec,
        context: JsonObject::default(),
    }
}

fn is_about(request: &PermissionRequest, tool: &str) -> bool {
    let said = |name: &str| request.action.get(name).and_then(Value::as_str);
    said("class") == Some(PermissionClass::Exec.as_str())
        && said("action") == Some(USE_TOOL)
        && said("target") == Some(tool)
}

fn violation(message: String) -> HarnError {
    HarnError::new(HarnErrorCode::PolicyViolation, message)
}
