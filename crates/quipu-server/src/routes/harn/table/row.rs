//! How a row of this table begins, and the whole of it. Every route has the headers of this protocol unless it is for
//! everybody, and refuses in one form.

use std::sync::Arc;

use axum::handler::Handler;
use quipu_wire::harn::HarnErrorResponse;
use utoipa::openapi::HttpMethod;

use super::{server, sessions, tasks};
use crate::{
    pipeline::{
        route::{Access, Admission, Route},
        state::App,
    },
    routes::harn::document::HarnHeaders,
};

/// Every valid credential, whatever an access token is for.
pub(super) const ANY_CREDENTIAL: Access = Access::Credential(None);

pub(crate) fn routes() -> Vec<Route> {
    [server::routes(), sessions::routes(), tasks::routes()].into_iter().flatten().collect()
}

pub(super) fn get<H, T>(path: &'static str, access: impl Into<Access>, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Get, path, access.into(), handler)
}

pub(super) fn post<H, T>(path: &'static str, access: impl Into<Access>, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Post, path, access.into(), handler)
}

pub(super) fn put<H, T>(path: &'static str, access: impl Into<Access>, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Put, path, access.into(), handler)
}

pub(super) fn patch<H, T>(path: &'static str, access: impl Into<Access>, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Patch, path, access.into(), handler)
}

pub(super) fn delete<H, T>(path: &'static str, access: impl Into<Access>, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    row(HttpMethod::Delete, path, access.into(), handler)
}

fn row<H, T>(method: HttpMethod, path: &'static str, access: Access, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    let route = Route::new(method, path, Admission::new(None, access), handler);
    let route = route.tag("harn").refuses::<HarnErrorResponse>("default", "Refused.");
    match access {
        Access::Everybody => route,
        Access::Key(_) | Access::Payload(_) | Access::Credential(_) => {
            route.headers::<HarnHeaders>()
        }
    }
}
