//! The routes of proofs. All need a key that may read the history, authority 0 included: an auditor
//! must be able to check what it may not change.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, Response, header},
};
use quipu_field::Field;
use quipu_log::{
    SignedCheckpoint, TlogProof, TreeHead,
    proof::{ConsistencyProof, SigningKey},
};
use quipu_wire::ErrorCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::pipeline::{
    answer::{Answer, Outcome, Refused},
    auth,
    field_choice::{self, Missing},
    route::Admission,
    state::App,
};

/// Which commit.
#[derive(Debug, Deserialize, IntoParams)]
pub(super) struct InclusionQuery {
    /// The position of the commit, from 1.
    position: u64,
}

/// Between which sizes of the log.
#[derive(Debug, Deserialize, IntoParams)]
pub(super) struct ConsistencyQuery {
    /// The size of the older log.
    from: u64,
    /// The size of the newer log; the present one if absent.
    to: Option<u64>,
}

/// The proof that a newer log begins with an older one.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Consistency {
    /// The size of the older log.
    old_size: u64,
    /// The root of its tree, in hex.
    old_root: String,
    /// The size of the newer log.
    new_size: u64,
    /// The root of its tree, in hex.
    new_root: String,
    /// The hashes of the proof, in hex (RFC 6962, section 2.1.2).
    path: Vec<String>,
}

async fn audited(app: &App, headers: &HeaderMap) -> Result<(Arc<Field>, SigningKey), Refused> {
    let credential = auth::credential(app, headers)?;
    let field = field_choice::choose(&app.fields, &credential, headers, Missing::Refuse).await?;
    let key = app.signer.key(field.name())?;
    Ok((field, key))
}

/// Signs a tree, once the Field has made sure that it signs for one log only.
async fn sign(
    field: &Arc<Field>,
    head: TreeHead,
    key: &SigningKey,
) -> Result<SignedCheckpoint, Refused> {
    field.vouch(head).await?;
    Ok(SignedCheckpoint::sign(head, key))
}

pub(super) async fn checkpoint(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response<Body>, Refused> {
    let (field, key) = audited(&app, &headers).await?;
    let head = field.tree_head(None).await?;
    Ok(text(sign(&field, head, &key).await?.to_string()))
}

pub(super) async fn key(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response<Body>, Refused> {
    let (field, key) = audited(&app, &headers).await?;
    let others = tokio::task::spawn_blocking(move || match app.keys.notes() {
        Some(notes) => app.signer.others(notes, field.name()),
        None => Ok(Vec::new()),
    });
    let failed = |error: tokio::task::JoinError| {
        Refused::new(ErrorCode::InternalError, format!("the keys failed: {error}"))
    };
    let others = others.await.map_err(failed)??;
    let lines: String = others.iter().map(|key| format!("{key}\n")).collect();
    Ok(text(format!("{}\n{lines}", key.verifier())))
}

pub(super) async fn inclusion(
    State(app): State<Arc<App>>,
    admission: Admission,
    headers: HeaderMap,
    query: Result<Query<InclusionQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response<Body>, Refused> {
    let (field, key) = audited(&app, &headers).await?;
    // The file holds the commit's header, which names what others may not know of.
    auth::require(&auth::credential(&app, &headers)?, admission.least_authority())?;
    let Query(query) = query.map_err(invalid)?;
    let proven = field.prove_commit(query.position).await?;
    let checkpoint = sign(&field, proven.tree, &key).await?;
    let proof = TlogProof::new(&proven.commit, Some(proven.header), proven.inclusion, checkpoint)
        .map_err(|error| Refused::new(ErrorCode::InternalError, error.to_string()))?;
    Ok(text(proof.to_string()))
}

pub(super) async fn consistency(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<ConsistencyQuery>, axum::extract::rejection::QueryRejection>,
) -> Outcome<Consistency> {
    let (field, _) = audited(&app, &headers).await?;
    let Query(query) = query.map_err(invalid)?;
    let new = field.tree_head(query.to).await?;
    let old = field.tree_head(Some(query.from)).await?;
    let proof = field.prove_growth(old.size, new.size).await?;
    Ok(Answer(Consistency::new(&old, &new, &proof)))
}

impl Consistency {
    fn new(old: &TreeHead, new: &TreeHead, proof: &ConsistencyProof) -> Self {
        Self {
            old_size: old.size,
            old_root: old.root.to_string(),
            new_size: new.size,
            new_root: new.root.to_string(),
            path: proof.path.iter().map(ToString::to_string).collect(),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
fn invalid(error: axum::extract::rejection::QueryRejection) -> Refused {
    Refused::new(ErrorCode::InvalidPayload, error.body_text())
}

fn text(text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
