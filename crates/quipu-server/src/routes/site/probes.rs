//! Whether the server is up (`/healthz`) and whether its Fields take writes (`/readyz`).

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, Response, StatusCode},
};
use quipu_field::{ClockJump, ClockJumps, Field};
use quipu_wire::json::timestamp::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;

use crate::pipeline::{
    answer::{Answer, respond},
    auth,
    state::App,
};

/// The answer of `/healthz`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Healthy {
    /// `ok`.
    status: &'static str,
}

/// The answer of `/readyz`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// `ready`, or `unavailable` where a Field takes no writes.
    status: &'static str,
    /// Every open Field, and every one that could not be opened. For the operator alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<FieldReadiness>>,
    /// The time of the Fields and the wall clock of this machine.
    clock: ClockState,
}

/// The time of the Fields and the wall clock of this machine. Fields go on in their own time where the wall clock leaps.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClockState {
    /// How many milliseconds the Fields' time is ahead of the wall clock; behind it where this is negative.
    ahead_ms: i64,
    /// How often the wall clock leapt since the server started.
    jumps: u64,
    /// The last time it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_jump: Option<Leap>,
}

/// A leap of the wall clock.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Leap {
    /// How many milliseconds it leapt; backwards where this is negative.
    by_ms: i64,
    /// When it was noticed, by the Fields' time.
    at: String,
}

/// Whether a Field takes writes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FieldReadiness {
    /// The Field's name.
    name: String,
    /// Whether it takes writes.
    ready: bool,
    /// Why not.
    reason: Option<String>,
    /// How far the check of old commits has come.
    background_check: BackgroundCheck,
    /// How far the texts are read of a Field that opened before they were; none once they are. ATTUNE, DETECT and lists by words
    /// wait for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<Texts>,
    /// How far the vectors of the configured embedding model have come; none without one. A model
    /// that fails does not make a Field unready.
    #[serde(skip_serializing_if = "Option::is_none")]
    enrichment: Option<Enrichment>,
}

/// How far the vectors of the configured embedding model have come.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Enrichment {
    /// The model.
    model: String,
    /// Units that have its vector.
    done: u64,
    /// Units that should have it.
    of: u64,
    /// Whether the last attempt failed. The server's own log says why.
    failing: bool,
}

/// How far the texts are read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Texts {
    /// The commits whose texts are read.
    read: u64,
    /// All commits.
    of: u64,
    /// Whether the log does not give them at the moment. The server's own log says why.
    failing: bool,
}

/// How far the check of old commits has come in the background.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BackgroundCheck {
    /// The commits that were checked.
    checked: u64,
    /// All that are to be checked.
    of: u64,
}

pub(super) async fn healthz() -> Answer<Healthy> {
    Answer(Healthy { status: "ok" })
}

/// The Fields that could not be opened.
fn unopened(app: &App) -> impl Iterator<Item = FieldReadiness> {
    app.fields.failed().into_iter().map(|(name, reason)| FieldReadiness {
        name: name.to_string(),
        ready: false,
        reason: Some(reason),
        background_check: BackgroundCheck { checked: 0, of: 0 },
        texts: None,
        enrichment: None,
    })
}

/// To whoever has no operator's key it says whether, and neither which Field nor why: a reason may name a path.
pub(super) async fn readyz(State(app): State<Arc<App>>, headers: HeaderMap) -> Response<Body> {
    let fields: Vec<FieldReadiness> =
        app.fields.opened().iter().map(|field| readiness(field)).chain(unopened(&app)).collect();
    let ready = fields.iter().all(|field| field.ready);
    let (code, status) = if ready {
        (StatusCode::OK, "ready")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    };
    let credential = auth::uncounted_credential(&app, &headers);
    let fields = credential.is_ok_and(|it| auth::is_operator(&it)).then_some(fields);
    // Texts, numbers and booleans always have a JSON form.
    let readiness = Readiness { status, fields, clock: clock_state(app.fields.clock_jumps()) };
    respond(code, serde_json::to_vec(&readiness).unwrap_or_default())
}

fn clock_state(jumps: ClockJumps) -> ClockState {
    let leap = |jump: ClockJump| Leap { by_ms: jump.by_ms, at: rfc3339(jump.noticed_ms) };
    ClockState { ahead_ms: jumps.ahead_ms, jumps: jumps.count, last_jump: jumps.last.map(leap) }
}

fn readiness(field: &Field) -> FieldReadiness {
    let health = field.health();
    let (checked, of) = health.background_check();
    FieldReadiness {
        name: field.name().to_string(),
        ready: health.failure().is_none(),
        reason: health.failure().map(str::to_owned),
        background_check: BackgroundCheck { checked, of },
        texts: field.texts_behind().map(|behind| Texts {
            read: behind.read,
            of: behind.of,
            failing: behind.failing,
        }),
        enrichment: field.enrichment().map(|progress| Enrichment {
            model: progress.model,
            done: progress.done,
            of: progress.of,
            failing: progress.failure.is_some(),
        }),
    }
}
