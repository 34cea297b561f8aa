//! The server without a listener: the same answers, its own work beside them, and an orderly end.

use std::{path::Path, sync::Arc, time::Duration};

use http_body_util::BodyExt as _;
use hyper::{Request, Response, StatusCode, body::Bytes};
use quipu_field::{Fields, SystemOrigin};
use quipu_log::{SqliteEngine, SqliteOptions};
use quipu_server::{Body, Embedded, EmbeddedOptions, KeyStore};
use serde_json::{Value, json};

use crate::support::{attune, committed, register};

async fn open(data: &Path) -> Embedded {
    let engine = Arc::new(SqliteEngine::open(data, SqliteOptions::default()).unwrap());
    let fields = Arc::new(Fields::new(engine, Arc::new(SystemOrigin), None));
    let keys = Arc::new(KeyStore::open(data).unwrap());
    let options =
        EmbeddedOptions { shutdown_grace: Duration::from_secs(60), ..EmbeddedOptions::default() };
    Embedded::open(options, fields, keys).await.unwrap()
}

async fn ask(
    embedded: &Embedded,
    path: &str,
    agent: &str,
    payload: Option<&Value>,
) -> Response<Body> {
    let method = if payload.is_some() { "POST" } else { "GET" };
    let mut request = Request::builder().method(method).uri(path).header("akashik-agent", agent);
    if payload.is_some() {
        request = request.header("content-type", "application/json");
    }
    let body = payload.map(|payload| Bytes::from(payload.to_string())).unwrap_or_default();
    embedded.answer(request.body(body).unwrap()).await
}

async fn say(embedded: &Embedded, path: &str, payload: &Value) -> (StatusCode, Value) {
    let response = ask(embedded, path, "ada", Some(payload)).await;
    let status = response.status();
    assert!(response.headers().contains_key("x-request-id"), "it went through the entrance");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn answers_without_a_key_and_keeps_what_it_acknowledged() {
    let data = tempfile::tempdir().unwrap();
    let embedded = open(data.path()).await;
    assert_eq!(say(&embedded, "/v1/register", &register("ada")).await.0, 200);
    let (status, answer) = say(&embedded, "/v1/record", &committed("The tide is high.")).await;
    assert_eq!((status.as_u16(), &answer["status"]), (200, &json!("accepted")));
    embedded.close().await;
    drop(embedded);

    let again = open(data.path()).await;
    let (_, answer) = say(&again, "/v1/attune", &attune()).await;
    assert_eq!(answer["record"][0]["memory_unit"]["content"], "The tide is high.");
    again.close().await;
}

#[tokio::test]
async fn refuses_as_the_server_does() {
    let data = tempfile::tempdir().unwrap();
    let embedded = open(data.path()).await;
    let (status, answer) = say(&embedded, "/v1/record", &committed("Nobody knows me.")).await;
    assert_eq!((status.as_u16(), &answer["code"]), (403, &json!("AGENT_NOT_REGISTERED")));
    let (status, answer) = say(&embedded, "/v1/nothing", &json!({})).await;
    assert_eq!((status.as_u16(), &answer["code"]), (404, &json!("ROUTE_NOT_FOUND")));
    let socket = ask(&embedded, "/v1/subscriptions/sub-1/ws", "ada", None).await;
    assert!(socket.status().is_client_error(), "there is no connection to take over");
    embedded.close().await;
}

#[tokio::test]
async fn streams_pushes_and_ends_them_with_a_last_word() {
    let data = tempfile::tempdir().unwrap();
    let embedded = open(data.path()).await;
    say(&embedded, "/v1/register", &register("ada")).await;
    say(&embedded, "/v1/register", &register("bo")).await;
    let asked = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let (status, answer) = say(&embedded, "/v1/subscribe", &asked).await;
    assert_eq!(status, 200, "{answer}");
    let (id, cursor) = (&answer["subscription"]["id"], &answer["subscription"]["cursor"]);
    let (id, cursor) = (id.as_str().unwrap(), cursor.as_str().unwrap());
    let path = format!("/v1/subscriptions/{id}/events?after={cursor}");
    let record = committed("The tide is low.");
    assert_eq!(ask(&embedded, "/v1/record", "bo", Some(&record)).await.status(), 200);
    let stream = ask(&embedded, &path, "ada", None).await;
    assert_eq!(stream.status(), 200);
    let mut body = stream.into_body();
    let mut told = String::new();
    while !told.contains("event: memory.recorded") {
        let part = body.frame().await.unwrap().unwrap().into_data().unwrap();
        told.push_str(std::str::from_utf8(&part).unwrap());
    }
    let reading = tokio::spawn(async move { body.collect().await.unwrap().to_bytes() });
    embedded.close().await;
    let told = String::from_utf8(reading.await.unwrap().to_vec()).unwrap();
    assert!(told.contains(r#""reason":"shutdown""#), "{told}");
    let (status, answer) = say(&embedded, "/v1/record", &committed("Too late.")).await;
    assert_eq!((status.as_u16(), &answer["code"]), (503, &json!("FIELD_UNAVAILABLE")));
}

#[tokio::test]
async fn runs_no_modules_unless_somebody_chose_where() {
    let data = tempfile::tempdir().unwrap();
    let embedded = open(data.path()).await;
    let harn = |method: &str, path: &str, body: Vec<u8>| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("harn-agents-protocol-version", "agents-protocol-2026-10-11")
            .header("content-type", "application/json")
            .body(Bytes::from(body));
        embedded.answer(request.unwrap())
    };
    let read = async |response: Response<Body>| -> Value {
        let body = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    };
    let artifact = json!({"kind": "file", "mime_type": "text/x-harn", "visibility": "internal"});
    let made = harn("POST", "/v1/artifacts", artifact.to_string().into_bytes()).await;
    let artifact = read(made).await["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/artifacts/{artifact}/content");
    let source = b"pub fn go(input: any) { return input }".to_vec();
    assert_eq!(harn("PUT", &path, source).await.status(), 200);
    let persona = json!({
        "module_ref": "harn://acme/go@1", "name": "goer", "version": "1", "entry_workflow": "go",
        "description": "goes", "autonomy_tier": "act_auto", "receipt_policy": "required",
        "metadata": {"module_artifact_id": artifact, "capabilities": []},
    });
    let refused = harn("POST", "/v1/personas", persona.to_string().into_bytes()).await;
    assert_eq!(refused.status(), 503, "a module could end the program that this Field is in");
    let said = read(refused).await.to_string();
    assert!(said.contains("modules are not run here"), "{said}");
    embedded.close().await;
}
