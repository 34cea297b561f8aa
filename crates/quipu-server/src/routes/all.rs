//! The tables of all protocols together, and what follows from them: the router and the list of paths.

use std::sync::{Arc, LazyLock};

use axum::Router;

use crate::{
    pipeline::{paths::RoutePaths, route::Route, state::App},
    routes::{akashik, harn, mcp, site},
};

/// All routes but `/mcp`, which has a state of its own.
pub(super) fn routes() -> impl Iterator<Item = Route> {
    akashik::routes().into_iter().chain(harn::routes()).chain(site::routes())
}

pub(crate) fn router(app: Arc<App>) -> Router {
    routes()
        .fold(Router::new(), |router, route| router.route(route.path, route.handler()))
        .fallback(site::unknown::route)
        .method_not_allowed_fallback(site::unknown::method)
        .with_state(app)
}

pub(crate) fn paths() -> Arc<RoutePaths> {
    static PATHS: LazyLock<Arc<RoutePaths>> = LazyLock::new(|| {
        let mut paths = RoutePaths::default();
        paths.add(&akashik::routes(), false);
        paths.add(&site::routes(), false);
        paths.add(&harn::routes(), true);
        paths.add_path(mcp::PATH);
        Arc::new(paths)
    });
    Arc::clone(&PATHS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_wire::akashik::Operation;

    #[test]
    fn a_route_is_found_by_its_path_and_unknown_paths_share_a_name() {
        let paths = paths();
        for route in routes() {
            assert_eq!(paths.find(route.path).path, route.path);
            let filled = route.path.split('/').map(|w| if w.starts_with('{') { "x" } else { w });
            let filled = filled.collect::<Vec<_>>().join("/");
            assert_eq!(paths.find(&filled).path, route.path, "{filled}");
        }
        for operation in Operation::ALL {
            let label = paths.find(operation.path());
            assert_eq!((label.path, label.operation), (operation.path(), Some(*operation)));
            assert!(!label.is_harn);
        }
        for (path, route) in [
            ("/v1/units/a/b", "other"),
            ("/console/pages/log.js", "/console/{*file}"),
            ("/v1/subscriptions/sub-1/x/ws", "other"),
            ("/v1/events/stream", "/v1/events/stream"),
            ("/v1/events/event_1", "/v1/events/{event_id}"),
            ("/v1/tasks/t/nothing", "other"),
            ("/v1/../etc", "other"),
            ("/mcp", "/mcp"),
        ] {
            assert_eq!(paths.find(path).path, route, "{path}");
        }
    }

    #[test]
    fn what_is_under_a_resource_is_the_harn_protocols() {
        let paths = paths();
        for path in ["/v1", "/health", "/v1/tasks/", "/v1/tasks/t/x", "/v1/permissions"] {
            assert!(paths.find(path).is_harn, "{path}");
        }
        for path in ["/", "/v1/", "/v2/tasks", "/v1/task", "/v1/session", "/healthz", "/health/x"] {
            assert!(!paths.find(path).is_harn, "{path}");
        }
    }
}
