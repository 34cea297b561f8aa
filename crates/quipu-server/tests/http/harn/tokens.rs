//! Access tokens of an identity provider: which are taken, and that every bad one is refused in words that
//! repeat nothing of it.

use ring::hmac;
use serde_json::{Value, json};

use super::{
    bearer,
    provider::{Alg, Provider, claims, now, part, url},
    refusal, refused, stranger,
};
use crate::support::{Reply, TestServer};

const RUNTIME: &str = "/v1/runtime";

fn ask(server: &TestServer, token: &str) -> Reply {
    bearer(server, token).get(RUNTIME)
}

/// Checks that a token is refused as unauthenticated, for a reason, without being repeated.
fn check_refused(server: &TestServer, token: &str, why: &str) {
    let reply = ask(server, token);
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "{why}: {token}");
    let text = reply.text();
    assert!(text.contains(why), "{why}: {text}");
    for part in token.split('.').filter(|part| part.len() > 8) {
        assert!(!text.contains(part), "the answer repeats the token: {text}");
    }
    assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"));
}

#[test]
fn a_token_signed_by_any_of_the_three_algorithms_is_taken() {
    let provider = Provider::new();
    let server = provider.server();
    for alg in Alg::ALL {
        let token = provider.token(alg, &json!({}));
        assert_eq!(ask(&server, &token).status, 200, "{alg:?}");
        assert_eq!(stranger(&server).with("x-api-key", &token).get(RUNTIME).status, 200);
        let bare = provider.sign(alg, &json!({"alg": alg.name()}), &claims(&json!({})));
        assert_eq!(
            ask(&server, &bare).status,
            200,
            "{alg:?} without a kid: the only key of its kind"
        );
    }
    assert_eq!(ask(&server, &server.key(2)).status, 200, "keys are taken as well");
    let card = server.client().get("/v1/agent-card").json();
    assert_eq!(card["auth_schemes"], json!(["api_key", "oauth2_client_credentials"]));
}

#[test]
fn a_token_of_another_time_issuer_audience_or_subject_is_refused() {
    let provider = Provider::new();
    let server = provider.server();
    for (changes, why) in [
        (json!({"exp": now() - 60}), "has expired"),
        (json!({"exp": null}), "no usable claim `exp`"),
        (json!({"nbf": now() + 600}), "not valid yet"),
        (json!({"iss": "https://other.example"}), "another issuer"),
        (json!({"iss": null}), "another issuer"),
        (json!({"aud": "other"}), "another audience"),
        (json!({"aud": null}), "another audience"),
        (json!({"sub": null}), "no usable claim `sub`"),
        (json!({"sub": "system"}), "no usable claim `sub`"),
        (json!({"quipu_authority": 11}), "no usable claim `quipu_authority`"),
        (json!({"quipu_field": "../x"}), "no usable claim `quipu_field`"),
    ] {
        for alg in Alg::ALL {
            check_refused(&server, &provider.token(alg, &changes), why);
        }
    }
}

#[test]
fn a_token_that_was_tampered_with_or_signed_by_a_stranger_is_refused() {
    let (provider, other) = (Provider::new(), Provider::new());
    let server = provider.server();
    for alg in [Alg::Es256, Alg::EdDsa] {
        check_refused(&server, &other.token(alg, &json!({})), "signature");
    }
    for alg in Alg::ALL {
        let token = provider.token(alg, &json!({}));
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (header, _) = signed.split_once('.').unwrap();
        let richer = part(&claims(&json!({"quipu_authority": 10})));
        check_refused(&server, &format!("{header}.{richer}.{signature}"), "signature");
        check_refused(&server, &format!("{signed}."), "signature");
        check_refused(&server, &format!("{signed}.{}", url(&[0; 64])), "signature");
        let unknown = json!({"alg": alg.name(), "kid": "no-such-key"});
        check_refused(
            &server,
            &provider.sign(alg, &unknown, &claims(&json!({}))),
            "not known here",
        );
    }
}

#[test]
fn a_token_cannot_choose_how_it_is_checked() {
    let provider = Provider::new();
    let server = provider.server();
    let body = part(&claims(&json!({})));
    for none in ["none", "None", "NONE", ""] {
        let header = part(&json!({"alg": none}));
        check_refused(&server, &format!("{header}.{body}."), "must be signed by");
    }
    // The public key as the secret of a shared-key signature.
    let header = part(&json!({"alg": "HS256", "kid": "RS256"}));
    let secret = provider.key_set()["keys"][0]["n"].as_str().unwrap().to_owned();
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{header}.{body}").as_bytes());
    check_refused(&server, &format!("{header}.{body}.{}", url(tag.as_ref())), "must be signed by");
    // One key's id with another kind of signature.
    let crossed = json!({"alg": "RS256", "kid": "EdDSA"});
    check_refused(&server, &provider.sign(Alg::EdDsa, &crossed, &claims(&json!({}))), "not known");
    for (member, value) in [("crit", json!(["b64"])), ("typ", json!("dpop+jwt")), ("kid", json!(7))]
    {
        let mut header = json!({"alg": "EdDSA", "kid": "EdDSA"});
        header[member] = value;
        let token = provider.sign(Alg::EdDsa, &header, &claims(&json!({})));
        check_refused(&server, &token, &format!("`{member}`"));
    }
}

#[test]
fn garbage_is_refused() {
    let provider = Provider::new();
    let server = provider.server();
    let good = provider.token(Alg::EdDsa, &json!({}));
    let huge = format!("{good}{}", "A".repeat(20_000));
    check_refused(&server, &huge, "longer than");
    let doubled = url(b"{\"alg\":\"EdDSA\",\"alg\":\"none\"}");
    for garbage in [
        "..",
        "a.b.c",
        ".",
        "a.b",
        "....",
        &format!("{good}.{good}"),
        &format!("{doubled}.e30.AA"),
        "e30.e30.e30",
        &good.replace('.', ".."),
    ] {
        let reply = ask(&server, garbage);
        assert_eq!(refusal(&reply), refused(401, "unauthenticated"), "{garbage}");
    }
    for no_object in ["3", "[]", "null", "\"x\""] {
        let claims: Value = serde_json::from_str(no_object).unwrap();
        let header = json!({"alg": "EdDSA"});
        check_refused(&server, &provider.sign(Alg::EdDsa, &header, &claims), "JSON Web Token");
    }
}

#[test]
fn a_token_is_one_agents_and_may_be_bound_to_a_field() {
    let provider = Provider::new();
    let server = provider.server();
    let token = provider.token(Alg::EdDsa, &json!({}));
    let named = bearer(&server, &token).send("GET", RUNTIME, &[("akashik-agent", "b")], None);
    assert_eq!(refusal(&named), refused(403, "permission_denied"));
    let bound = provider.token(Alg::EdDsa, &json!({"quipu_field": "own"}));
    let other = bearer(&server, &bound).send("GET", RUNTIME, &[("quipu-field", "default")], None);
    assert_eq!(refusal(&other), refused(403, "permission_denied"));
}

#[test]
fn a_token_opens_none_of_akashiks_routes() {
    let provider = Provider::new();
    let server = provider.server();
    let token = provider.token(Alg::EdDsa, &json!({"quipu_authority": 10}));
    let reply = server.client().with_key(&token).get("/v1/agents");
    assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHENTICATED"));
}

#[test]
fn a_server_without_a_provider_takes_no_token() {
    let provider = Provider::new();
    let reply = ask(&TestServer::start(), &provider.token(Alg::EdDsa, &json!({})));
    assert_eq!(refusal(&reply), refused(401, "unauthenticated"));
}
