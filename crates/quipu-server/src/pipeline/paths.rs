//! The paths of all routes, each once; those of the operations are in `quipu_wire`, those of the Harn protocol in `harn/paths.rs`. The router, the OpenAPI document and the metrics use them.

use quipu_wire::akashik::Operation;

use crate::pipeline::harn_paths;

pub(crate) const FIELD_STATUS: &str = "/v1/field/status";
pub(crate) const AGENTS: &str = "/v1/agents";
pub(crate) const CONFLICTS: &str = "/v1/conflicts";
pub(crate) const CHECKPOINT: &str = "/v1/log/checkpoint";
pub(crate) const CHECKPOINT_KEY: &str = "/v1/log/key";
pub(crate) const INCLUSION: &str = "/v1/log/inclusion";
pub(crate) const CONSISTENCY: &str = "/v1/log/consistency";
pub(crate) const RECORDS: &str = "/v1/records";
pub(crate) const RETRACT: &str = "/v1/retract";
pub(crate) const UNITS: &str = "/v1/units";
pub(crate) const UNIT: &str = "/v1/units/{id}";
pub(crate) const LOG: &str = "/v1/log";
pub(crate) const LOG_FOLLOW: &str = "/v1/log/follow";
pub(crate) const SUBSCRIPTIONS: &str = "/v1/subscriptions";
pub(crate) const PUSH_EVENTS: &str = "/v1/subscriptions/{id}/events";
pub(crate) const PUSH_WEBSOCKET: &str = "/v1/subscriptions/{id}/ws";
pub(crate) const HEALTHZ: &str = "/healthz";
pub(crate) const READYZ: &str = "/readyz";
pub(crate) const METRICS: &str = "/metrics";
pub(crate) const OPENAPI: &str = "/openapi.json";
pub(crate) const HOME: &str = "/";
pub(crate) const CONSOLE: &str = "/console/{*file}";
pub(crate) const MCP: &str = "/mcp";
pub(crate) const WHOAMI: &str = "/v1/whoami";
pub(crate) const KEYS: &str = "/v1/keys";
pub(crate) const KEY: &str = "/v1/keys/{id}";

const OTHERS: [&str; 21] = [
    FIELD_STATUS,
    AGENTS,
    CONFLICTS,
    RECORDS,
    RETRACT,
    UNITS,
    LOG,
    LOG_FOLLOW,
    SUBSCRIPTIONS,
    WHOAMI,
    KEYS,
    CHECKPOINT,
    CHECKPOINT_KEY,
    INCLUSION,
    CONSISTENCY,
    HEALTHZ,
    READYZ,
    METRICS,
    OPENAPI,
    HOME,
    MCP,
];

/// A route as the metrics name it: one of ours, or `other`, so that callers cannot add names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) operation: Option<Operation>,
}

impl Route {
    pub(crate) fn find(path: &str) -> Self {
        let operation = Operation::ALL.iter().copied().find(|operation| operation.path() == path);
        if let Some(operation) = operation {
            return Self { path: operation.path(), operation: Some(operation) };
        }
        if let Some(rest) = path.strip_prefix("/v1/subscriptions/") {
            let push = match rest.split_once('/') {
                Some((_, "events")) => PUSH_EVENTS,
                Some((_, "ws")) => PUSH_WEBSOCKET,
                _ => "other",
            };
            return Self { path: push, operation: None };
        }
        let one_of = |prefix| path.strip_prefix(prefix).is_some_and(|id| !id.contains('/'));
        let other = OTHERS.into_iter().find(|other| *other == path);
        let other = other.or_else(|| one_of("/v1/units/").then_some(UNIT));
        let other = other.or_else(|| one_of("/v1/keys/").then_some(KEY));
        let other = other.or_else(|| path.starts_with("/console/").then_some(CONSOLE));
        let other = other.or_else(|| harn_paths::pattern_of(path));
        Self { path: other.unwrap_or("other"), operation: None }
    }

    /// Whether the path that this was found for is the Harn protocol's to answer. Those of Akashik are not, and
    /// are asked for far more often.
    pub(crate) fn is_harn(self, path: &str) -> bool {
        self.operation.is_none() && self.path != RECORDS && harn_paths::is_harn(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_found_by_its_path_and_unknown_paths_share_a_name() {
        for operation in Operation::ALL {
            let route = Route::find(operation.path());
            assert_eq!((route.path, route.operation), (operation.path(), Some(*operation)));
            assert!(!route.is_harn(operation.path()));
        }
        for path in OTHERS.into_iter().chain(["/v1/tasks/task_1", "/v1/none", "/v2"]) {
            assert_eq!(Route::find(path).is_harn(path), harn_paths::is_harn(path), "{path}");
        }
        assert_eq!(Route::find(HOME).path, HOME);
        assert_eq!(Route::find("/v1/units/mem-1").path, UNIT);
        assert_eq!(Route::find("/v1/units/a/b").path, "other");
        assert_eq!(Route::find("/v1/keys/k").path, KEY);
        assert_eq!(Route::find("/console/pages/log.js").path, CONSOLE);
        assert_eq!(Route::find("/v1/subscriptions/sub-1/events").path, PUSH_EVENTS);
        assert_eq!(Route::find("/v1/subscriptions/sub-1/x/ws").path, "other");
        assert_eq!(Route::find("/v1/tasks/task_1/stream").path, "/v1/tasks/{task_id}/stream");
        assert_eq!(Route::find("/v1/../etc"), Route { path: "other", operation: None });
    }
}
