//! The table of the routes beside the protocols: proofs, keys, how the server is, its pages.

use std::sync::Arc;

use axum::handler::Handler;
use quipu_wire::ProtocolError;
use utoipa::openapi::HttpMethod::{self, Delete, Get, Post};

use super::{files, keys, metrics, pages, probes, proofs};
use crate::{
    limits::{KEYS_AUTHORITY, LOG_AUTHORITY, SMALL_BODY_BYTES},
    pipeline::{
        route::{
            Access::{self, Everybody, Key},
            Admission, Route,
        },
        state::App,
    },
};

#[expect(clippy::too_many_lines, reason = "a table")]
pub(crate) fn routes() -> Vec<Route> {
    vec![
        row(Get, "/v1/log/checkpoint", Key(0), proofs::checkpoint)
            .says("checkpoint", "The signed size and root of the log, as a C2SP note.")
            .tag("proofs")
            .text("The checkpoint."),
        row(Get, "/v1/log/key", Key(0), proofs::key)
            .says(
                "key",
                "The key that checkpoints are checked with. Where several nodes share \
                    the log, those of the others follow, one a line.",
            )
            .tag("proofs")
            .text("The verifier key."),
        row(Get, "/v1/log/inclusion", Key(LOG_AUTHORITY), proofs::inclusion)
            .says(
                "inclusion",
                "A file that proves a commit to whoever has the key: the commit's \
                    header, its place, the checkpoint.",
            )
            .tag("proofs")
            .query::<proofs::InclusionQuery>()
            .text("The proof file."),
        row(Get, "/v1/log/consistency", Key(0), proofs::consistency)
            .says("consistency", "The proof that the log only grew between two sizes.")
            .tag("proofs")
            .query::<proofs::ConsistencyQuery>()
            .answers::<proofs::Consistency>(200, "The proof."),
        row(Get, "/v1/whoami", Key(0), keys::whoami)
            .says("whoami", "Says whose key it is and what it may do.")
            .tag("quipu")
            .answers::<keys::Whoami>(200, "The key, without its secret."),
        row(Get, "/v1/keys", Key(KEYS_AUTHORITY), keys::keys)
            .says("keys", "All keys, the revoked ones too. For the operator.")
            .tag("quipu")
            .answers::<keys::KeyList>(200, "The keys, without their secrets."),
        row(Post, "/v1/keys", Key(KEYS_AUTHORITY), keys::create_key)
            .says(
                "create_key",
                "Makes a key. Its secret is in the answer and nowhere else. For the \
                    operator.",
            )
            .tag("quipu")
            .reads::<keys::CreateKey>()
            .at_most(SMALL_BODY_BYTES)
            .answers::<keys::CreatedKey>(200, "The key, with its secret."),
        row(Delete, "/v1/keys/{id}", Key(KEYS_AUTHORITY), keys::revoke_key)
            .says(
                "revoke_key",
                "Revokes a key: what is sent with it is refused from now on. For the \
                    operator.",
            )
            .tag("quipu")
            .explains("id", "The key's id.")
            .answers::<keys::KeyList>(200, "The keys as they are now."),
        row(Get, "/metrics", Key(0), metrics::metrics)
            .says("metrics", "All counts as Prometheus reads them.")
            .tag("server")
            .text("The counts."),
        row(Get, "/healthz", Everybody, probes::healthz)
            .says("healthz", "Says that the server is up, and no more.")
            .tag("server")
            .answers::<probes::Healthy>(200, "The server is up."),
        row(Get, "/readyz", Everybody, probes::readyz)
            .says("readyz", "Says whether every open Field takes writes.")
            .tag("server")
            .answers::<probes::Readiness>(200, "All open Fields take writes.")
            .answers::<probes::Readiness>(503, "A Field takes no writes."),
        row(Get, pages::OPENAPI, Everybody, pages::openapi),
        row(Get, "/", Everybody, files::home),
        row(Get, "/console/{*file}", Everybody, files::file),
    ]
}

fn row<H, T>(method: HttpMethod, path: &'static str, access: Access, handler: H) -> Route
where
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    let route = Route::new(method, path, Admission::new(None, access), handler);
    match access {
        Access::Everybody => route,
        Access::Key(_) | Access::Payload(_) | Access::Credential(_) => route
            .refuses::<ProtocolError>("4XX", "Refused.")
            .refuses::<ProtocolError>("5XX", "Failed."),
    }
}
