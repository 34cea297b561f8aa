//! The outermost step of every request: its id, its time, its line in the log, its place in the metrics, and
//! the last net under a handler that panics. Knows no route's meaning.

use std::{
    any::Any,
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    BoxError, Router,
    body::{Body, Bytes, HttpBody},
    http::{HeaderName, HeaderValue, Request, Response, StatusCode, header},
    response::IntoResponse as _,
};
use quipu_field::Asker;
use quipu_wire::{ErrorCode, harn::HarnErrorCode};
use tower::Service as _;
use tracing::Instrument as _;

use crate::{
    clock::Stopwatch,
    limits::SLOW_REQUEST,
    net::{
        body,
        hosts::OwnNames,
        visits::{self, Visit},
    },
    observe::metrics::count_request,
    pipeline::{
        answer::{RefusalNote, Refused},
        harn_refusal::HarnRefused,
        paths::RoutePaths,
        position,
        request_id::{self, REQUEST_ID},
        state::App,
    },
};

/// Says what an answer took here, in milliseconds, as browsers and proxies read it.
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

#[derive(Debug)]
pub(crate) struct Entrance {
    app: Arc<App>,
    router: Router,
    paths: Arc<RoutePaths>,
}

impl Entrance {
    pub(crate) const fn new(app: Arc<App>, router: Router, paths: Arc<RoutePaths>) -> Self {
        Self { app, router, paths }
    }

    /// Answers a request that came over a connection. A server without keys looks first which page of which site
    /// sends it.
    pub(crate) async fn serve_from<B>(
        &self,
        visit: &Arc<Visit>,
        request: Request<B>,
    ) -> Result<Response<Body>, Infallible>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let _at_work = visit.at_work();
        let is_foreign =
            |names: &OwnNames| !names.allow(request.method(), request.headers(), request.uri());
        let refused = self.app.own_names.as_ref().is_some_and(is_foreign);
        let mut answered = visits::during(visit, self.answer(request, refused)).await;
        if let Ok(response) = &mut answered
            && visit.is_refused()
        {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        answered
    }

    /// Answers a request of this process itself.
    pub(crate) async fn serve<B>(&self, request: Request<B>) -> Result<Response<Body>, Infallible>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        self.answer(request, false).await
    }

    /// Answers a request, whatever happens. One that is refused reaches no route.
    async fn answer<B>(
        &self,
        request: Request<B>,
        refused: bool,
    ) -> Result<Response<Body>, Infallible>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let started = Stopwatch::start();
        let route = self.paths.find(request.uri().path());
        let id = request_id::choose(&self.app.ids, request.headers());
        // As loud as what is said within it, or a quiet log would lose the ids of failed requests.
        let span = tracing::error_span!(
            "request",
            request_id = id.to_str().unwrap_or_default(),
            method = %request.method(),
            path = request.uri().path(),
            agent = tracing::field::Empty,
        );
        let shown_id = id.clone();
        let work = async {
            let answer = async {
                if refused {
                    return turn_away(request, route.is_harn).await;
                }
                let answering = CatchPanic(Box::pin(self.router.clone().call(request)));
                match answering.await {
                    Ok(Ok(response)) => response,
                    Err(panic) => after_panic(panic.as_ref(), route.is_harn),
                }
            };
            let mut response = position::with_position(answer).await;
            response.headers_mut().insert(REQUEST_ID, shown_id);
            let (told, took) =
                (response.extensions_mut().remove::<RefusalNote>(), started.elapsed());
            if let Some(timing) = timing(took) {
                response.headers_mut().insert(SERVER_TIMING, timing);
            }
            note(response.status(), told.as_ref(), took);
            count_request(
                route.path,
                route.operation,
                response.status(),
                told.map(|told| told.code),
                took,
            );
            Ok(response)
        };
        let work = request_id::under(id, work.instrument(span));
        Asker::default().asks(work).await
    }
}

/// Says no to a request that is for another host, or that a page of another site sends.
async fn turn_away<B>(request: Request<B>, is_harn: bool) -> Response<Body>
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let (parts, body) = request.into_parts();
    body::discard(&parts.headers, Body::new(body)).await;
    let message = "a server without keys answers only to localhost and 127.0.0.1, and to no page of another site: \
        Host or Origin is another one";
    if is_harn {
        return HarnRefused::new(HarnErrorCode::PermissionDenied, message).into_response();
    }
    Refused::new(ErrorCode::InsufficientAuthority, message).into_response()
}

/// From the head of the request to the head of the answer.
fn timing(took: Duration) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("total;dur={:.3}", took.as_secs_f64() * 1e3)).ok()
}

fn note(status: StatusCode, told: Option<&RefusalNote>, took: Duration) {
    let code = told.map_or("OK", |told| told.code);
    let message = told.map_or("", |told| told.message.as_str());
    let (status_code, took_ms) = (status.as_u16(), took.as_millis());
    // An operation that is not there yet is no fault of ours.
    if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED {
        tracing::error!(status = status_code, code, message, took_ms, "a request failed");
    } else if took > SLOW_REQUEST {
        tracing::warn!(status = status_code, code, message, took_ms, "a request was slow");
    } else {
        tracing::debug!(status = status_code, code, message, took_ms, "answered");
    }
}

fn after_panic(panic: &(dyn Any + Send), is_harn: bool) -> Response<Body> {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    tracing::error!(panic = text, "a handler panicked");
    let message = "the server failed at this request; others go on";
    if is_harn {
        return HarnRefused::new(HarnErrorCode::InternalError, message).into_response();
    }
    Refused::new(ErrorCode::InternalError, message).into_response()
}

/// A future whose panic is an outcome.
struct CatchPanic<F>(Pin<Box<F>>);

impl<F: Future> Future for CatchPanic<F> {
    type Output = Result<F::Output, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Nothing of the request is used again after a panic; what is shared keeps itself sound.
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{observe::metrics::install_metrics, secrets::keys::KeyStore};
    use axum::routing::get;
    use http_body_util::BodyExt as _;
    use quipu_field::{Fields, SystemOrigin};
    use quipu_log::MemoryEngine;

    fn entrance(router: Router) -> Entrance {
        let directory = tempfile::tempdir().unwrap();
        let keys = Arc::new(KeyStore::open(directory.path()).unwrap());
        let engine = Arc::new(MemoryEngine::new());
        let fields = Arc::new(Fields::new(engine, Arc::new(SystemOrigin), None));
        let push = crate::PushOptions::default();
        let harn = crate::HarnOptions::default();
        let app = App::new(fields, keys, true, install_metrics(), push, &harn).unwrap();
        Entrance::new(Arc::new(app), router, Arc::default())
    }

    async fn panicking() -> &'static str {
        panic!("on purpose")
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_an_internal_error_and_the_next_request_is_served() {
        let router =
            Router::new().route("/panic", get(panicking)).route("/fine", get(async || "fine"));
        let entrance = entrance(router);
        let ask = async |path| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = entrance.serve(request).await.unwrap();
            let told = [REQUEST_ID, SERVER_TIMING];
            let told = told.iter().all(|name| response.headers().contains_key(name));
            let status = response.status().as_u16();
            (status, told, response.into_body().collect().await.unwrap().to_bytes())
        };
        let (status, told, body) = ask("/panic").await;
        assert_eq!((status, told), (500, true));
        let error: quipu_wire::ProtocolError = serde_json::from_slice(&body).unwrap();
        assert_eq!(error.code, ErrorCode::InternalError);
        assert!(!error.message.contains("on purpose"), "what failed is for the log");
        assert_eq!(ask("/fine").await, (200, true, "fine".into()));
    }

    #[test]
    fn what_an_answer_took_is_told_in_milliseconds() {
        assert_eq!(timing(Duration::from_micros(1_234)).unwrap(), "total;dur=1.234");
        assert_eq!(timing(Duration::from_secs(2)).unwrap(), "total;dur=2000.000");
    }
}
