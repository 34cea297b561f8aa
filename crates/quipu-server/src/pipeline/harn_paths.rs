//! The paths of this protocol, each once, and how a request's path is told from those of Akashik. An
//! address with a fixed last word stands before the one with an id in its place.

pub(crate) const DISCOVERY: &str = "/v1";
pub(crate) const AGENT_CARD: &str = "/v1/agent-card";
pub(crate) const HEALTH: &str = "/health";
pub(crate) const VERSION: &str = "/version";
pub(crate) const RUNTIME: &str = "/v1/runtime";
pub(crate) const CAPABILITIES: &str = "/v1/capabilities";
pub(crate) const PERSONAS: &str = "/v1/personas";
pub(crate) const PERSONA: &str = "/v1/personas/{persona_id}";
pub(crate) const WORKSPACES: &str = "/v1/workspaces";
pub(crate) const WORKSPACE: &str = "/v1/workspaces/{workspace_id}";
pub(crate) const SESSIONS: &str = "/v1/sessions";
pub(crate) const SESSION: &str = "/v1/sessions/{session_id}";
pub(crate) const SESSION_CLOSE: &str = "/v1/sessions/{session_id}/close";
pub(crate) const SESSION_FORK: &str = "/v1/sessions/{session_id}/fork";
pub(crate) const SESSION_TRUNCATE: &str = "/v1/sessions/{session_id}/truncate";
pub(crate) const SESSION_REPLAY: &str = "/v1/sessions/{session_id}/replay";
pub(crate) const SESSION_MESSAGES: &str = "/v1/sessions/{session_id}/messages";
pub(crate) const SESSION_TASKS: &str = "/v1/sessions/{session_id}/tasks";
pub(crate) const SESSION_BRANCHES: &str = "/v1/sessions/{session_id}/branches";
pub(crate) const SESSION_EVENTS: &str = "/v1/sessions/{session_id}/events";
pub(crate) const SESSION_EVENTS_STREAM: &str = "/v1/sessions/{session_id}/events/stream";
pub(crate) const TASKS: &str = "/v1/tasks";
pub(crate) const TASKS_IMPORT: &str = "/v1/tasks/import";
pub(crate) const TASK: &str = "/v1/tasks/{task_id}";
pub(crate) const TASK_CANCEL: &str = "/v1/tasks/{task_id}/cancel";
pub(crate) const TASK_REPLAY: &str = "/v1/tasks/{task_id}/replay";
pub(crate) const TASK_DIVERGENCE: &str = "/v1/tasks/{task_id}/divergence";
pub(crate) const TASK_EXPORT: &str = "/v1/tasks/{task_id}/export";
pub(crate) const TASK_MESSAGES: &str = "/v1/tasks/{task_id}/messages";
pub(crate) const TASK_EVENTS: &str = "/v1/tasks/{task_id}/events";
pub(crate) const TASK_STREAM: &str = "/v1/tasks/{task_id}/stream";
pub(crate) const TASK_RECEIPTS: &str = "/v1/tasks/{task_id}/receipts";
pub(crate) const TASK_PERMISSION_REQUESTS: &str = "/v1/tasks/{task_id}/permission-requests";
pub(crate) const TASK_AWAIT: &str = "/v1/tasks/{task_id}/await";
pub(crate) const TASK_CLAIM: &str = "/v1/tasks/{task_id}/claim";
pub(crate) const TASK_COMPLETE: &str = "/v1/tasks/{task_id}/complete";
pub(crate) const TASK_FAIL: &str = "/v1/tasks/{task_id}/fail";
pub(crate) const TASK_DEPENDENCIES: &str = "/v1/tasks/{task_id}/dependencies";
pub(crate) const TASK_DEPENDENCIES_RESOLVE: &str = "/v1/tasks/{task_id}/dependencies/resolve";
pub(crate) const TASK_CHECKPOINTS: &str = "/v1/tasks/{task_id}/checkpoints";
pub(crate) const BRANCH: &str = "/v1/branches/{branch_id}";
pub(crate) const MESSAGE: &str = "/v1/messages/{message_id}";
pub(crate) const ARTIFACTS: &str = "/v1/artifacts";
pub(crate) const ARTIFACT: &str = "/v1/artifacts/{artifact_id}";
pub(crate) const ARTIFACT_CONTENT: &str = "/v1/artifacts/{artifact_id}/content";
pub(crate) const EVENTS: &str = "/v1/events";
pub(crate) const EVENTS_STREAM: &str = "/v1/events/stream";
pub(crate) const EVENT: &str = "/v1/events/{event_id}";
pub(crate) const RECEIPT: &str = "/v1/receipts/{receipt_id}";
pub(crate) const RECEIPT_VERIFY: &str = "/v1/receipts/{receipt_id}/verify";
pub(crate) const MEMORIES: &str = "/v1/memories";
pub(crate) const MEMORY: &str = "/v1/memories/{memory_id}";
pub(crate) const VAULTS: &str = "/v1/vaults";
pub(crate) const VAULT: &str = "/v1/vaults/{vault_id}";
pub(crate) const VAULT_SECRET: &str = "/v1/vaults/{vault_id}/secrets/{name}";
pub(crate) const CONNECTORS: &str = "/v1/connectors";
pub(crate) const CONNECTOR: &str = "/v1/connectors/{connector_id}";
pub(crate) const CONNECTOR_DELIVERIES: &str = "/v1/connectors/{connector_id}/deliveries";
pub(crate) const SKILLS: &str = "/v1/skills";
pub(crate) const SKILL: &str = "/v1/skills/{skill_id}";
pub(crate) const OUTCOMES: &str = "/v1/outcomes";
pub(crate) const OUTCOME: &str = "/v1/outcomes/{outcome_id}";
pub(crate) const QUOTAS: &str = "/v1/quotas";
pub(crate) const QUOTA: &str = "/v1/quotas/{quota_id}";
pub(crate) const PERMISSION_REQUESTS: &str = "/v1/permission-requests";
pub(crate) const PERMISSION_RESPOND: &str = "/v1/permission-requests/{request_id}/respond";
pub(crate) const PERMISSION_POLICY: &str = "/v1/permissions/policy";
pub(crate) const PERMISSION_RULES: &str = "/v1/permissions/rules";
pub(crate) const PERMISSION_RULE: &str = "/v1/permissions/rules/{rule_id}";
pub(crate) const PERMISSION_HISTORY: &str = "/v1/permissions/history";
pub(crate) const PERMISSION_CHECK: &str = "/v1/permissions/check";

const ALL: [&str; 71] = [
    DISCOVERY,
    AGENT_CARD,
    HEALTH,
    VERSION,
    RUNTIME,
    CAPABILITIES,
    PERSONAS,
    PERSONA,
    WORKSPACES,
    WORKSPACE,
    SESSIONS,
    SESSION,
    SESSION_CLOSE,
    SESSION_FORK,
    SESSION_TRUNCATE,
    SESSION_REPLAY,
    SESSION_MESSAGES,
    SESSION_TASKS,
    SESSION_BRANCHES,
    SESSION_EVENTS,
    SESSION_EVENTS_STREAM,
    TASKS,
    TASKS_IMPORT,
    TASK,
    TASK_CANCEL,
    TASK_REPLAY,
    TASK_DIVERGENCE,
    TASK_EXPORT,
    TASK_MESSAGES,
    TASK_EVENTS,
    TASK_STREAM,
    TASK_RECEIPTS,
    TASK_PERMISSION_REQUESTS,
    TASK_AWAIT,
    TASK_CLAIM,
    TASK_COMPLETE,
    TASK_FAIL,
    TASK_DEPENDENCIES,
    TASK_DEPENDENCIES_RESOLVE,
    TASK_CHECKPOINTS,
    BRANCH,
    MESSAGE,
    ARTIFACTS,
    ARTIFACT,
    ARTIFACT_CONTENT,
    EVENTS,
    EVENTS_STREAM,
    EVENT,
    RECEIPT,
    RECEIPT_VERIFY,
    MEMORIES,
    MEMORY,
    VAULTS,
    VAULT,
    VAULT_SECRET,
    CONNECTORS,
    CONNECTOR,
    CONNECTOR_DELIVERIES,
    SKILLS,
    SKILL,
    OUTCOMES,
    OUTCOME,
    QUOTAS,
    QUOTA,
    PERMISSION_REQUESTS,
    PERMISSION_RESPOND,
    PERMISSION_POLICY,
    PERMISSION_RULES,
    PERMISSION_RULE,
    PERMISSION_HISTORY,
    PERMISSION_CHECK,
];

/// The path of this protocol that a request's path is one of.
pub(crate) fn pattern_of(path: &str) -> Option<&'static str> {
    ALL.into_iter().find(|pattern| fits(pattern, path))
}

/// Whether a path is this protocol's to answer, also where there is nothing: its first words are those
/// of one of our paths.
pub(crate) fn is_harn(path: &str) -> bool {
    let theirs = family(path);
    ALL.into_iter().any(|ours| ours == path || (theirs.is_some() && family(ours) == theirs))
}

/// The word behind `/v1/`, by which Akashik's paths and this protocol's differ.
fn family(path: &str) -> Option<&str> {
    path.strip_prefix("/v1/")?.split('/').next().filter(|word| !word.is_empty())
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut ours, mut theirs) = (pattern.split('/'), path.split('/'));
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return true,
            (Some(word), Some(given)) if word == given => {}
            (Some(word), Some(given)) if word.starts_with('{') && !given.is_empty() => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::paths;
    use quipu_wire::akashik::Operation;

    #[test]
    fn a_path_is_found_by_its_words_and_a_fixed_word_wins_over_an_id() {
        for pattern in ALL {
            assert_eq!(pattern_of(pattern), Some(pattern));
            let filled: Vec<_> = pattern
                .split('/')
                .map(|word| if word.starts_with('{') { "x" } else { word })
                .collect();
            assert_eq!(pattern_of(&filled.join("/")), Some(pattern));
        }
        assert_eq!(pattern_of("/v1/events/stream"), Some(EVENTS_STREAM));
        assert_eq!(pattern_of("/v1/events/event_1"), Some(EVENT));
        assert_eq!(pattern_of("/v1/tasks/"), None);
        assert_eq!(pattern_of("/v1/tasks/t/nothing"), None);
    }

    #[test]
    fn what_is_under_a_resource_is_this_protocols_and_akashiks_paths_are_not() {
        for path in
            ["/v1", "/health", "/v1/tasks", "/v1/tasks/", "/v1/tasks/t/x", "/v1/permissions"]
        {
            assert!(is_harn(path), "{path}");
        }
        for path in ["/", "/v1/", "/v2/tasks", "/v1/task", "/v1/session", "/healthz", "/health/x"] {
            assert!(!is_harn(path), "{path}");
        }
        for operation in Operation::ALL {
            assert!(!is_harn(operation.path()), "{operation}");
        }
        for path in [paths::LOG, paths::AGENTS, paths::CONFLICTS, paths::UNIT, paths::PUSH_EVENTS] {
            assert!(!is_harn(path), "{path}");
        }
    }
}
