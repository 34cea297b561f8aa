//! The key set of an identity provider as a file that changes while the server runs.

use std::sync::Arc;

use quipu_field::{Fields, SystemOrigin};
use quipu_log::MemoryEngine;
use quipu_server::{BindError, HarnOptions, HarnSetupError, KeyStore, Options, Server};
use serde_json::json;

use super::{
    bearer,
    provider::{Alg, Provider},
};
use crate::support::{TestServer, wait_until};

/// Asks with a token until the answer has this status; the server looks at the file twice a second.
fn await_status(server: &TestServer, token: &str, status: u16) {
    let mut client = bearer(server, token);
    wait_until("the keys are read again", || client.get("/v1/runtime").status == status);
}

#[test]
fn new_keys_are_taken_and_old_ones_are_not_without_a_restart() {
    let (provider, successor) = (Provider::new(), Provider::new());
    let server = provider.server();
    let (old, new) =
        (provider.token(Alg::EdDsa, &json!({})), successor.token(Alg::EdDsa, &json!({})));
    await_status(&server, &old, 200);
    await_status(&server, &new, 401);
    provider.publish(&successor.key_set());
    await_status(&server, &new, 200);
    await_status(&server, &old, 401);
}

#[tokio::test]
async fn a_broken_file_at_the_start_is_an_error_that_names_it() {
    let provider = Provider::new();
    for (published, why) in [
        (json!({"keys": []}), "holds no key"),
        (json!({"keys": [{"kty": "oct", "k": "AA"}]}), "holds no key"),
        (json!([]), "has no list of `keys`"),
    ] {
        provider.publish(&published);
        let error = bind(&provider).await;
        assert!(matches!(error, BindError::Harn(HarnSetupError::KeySet(_))), "{error:?}");
        let text = quipu_field::with_causes(&error);
        assert!(text.contains("jwks.json") && text.contains(why), "{text}");
    }
    std::fs::remove_file(provider.file()).unwrap();
    assert!(quipu_field::with_causes(&bind(&provider).await).contains("cannot read the key set"));
}

async fn bind(provider: &Provider) -> BindError {
    let directory = tempfile::tempdir().unwrap();
    let keys = Arc::new(KeyStore::open(directory.path()).unwrap());
    let engine = Arc::new(MemoryEngine::new());
    let fields = Arc::new(Fields::new(engine, Arc::new(SystemOrigin), None));
    let options = Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        dev: false,
        tls: None,
        shutdown_grace: std::time::Duration::ZERO,
        write_timeout: quipu_server::WRITE_TIMEOUT,
        push: quipu_server::PushOptions::default(),
        requests_per_second: None,
        harn: HarnOptions { oauth: Some(provider.options()), ..HarnOptions::default() },
    };
    Server::bind(options, fields, keys).await.unwrap_err()
}
