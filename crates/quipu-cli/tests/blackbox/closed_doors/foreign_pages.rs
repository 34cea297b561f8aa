//! A server without keys and the pages of other sites: by their own name that leads here, by another origin, over HTTP,
//! WebSockets and server-sent events. And keys that were made in `--dev`.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    keys::operator_key,
    support::{Answer, Connection, Server, Settings, refused},
};

/// A request with these headers and no `Host` but theirs.
fn ask(server: &Server, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("content-length: 0\r\n\r\n");
    Connection::open(server.address).unwrap().send(text.as_bytes()).unwrap()
}

/// Every route of the document, and those that are in none.
fn routes(server: &Server) -> Vec<(String, String)> {
    let document = server.client().get("/openapi.json").ok();
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path: Vec<&str> =
            path.split('/').map(|word| if word.starts_with('{') { "x" } else { word }).collect();
        let of_path = methods.as_object().unwrap().keys().filter(|key| *key != "parameters");
        routes.extend(of_path.map(|method| (method.to_uppercase(), path.join("/"))));
    }
    for path in ["/", "/console/app.js", "/openapi.json", "/mcp", "/nowhere", "/v1/tasks/x/nothing"]
    {
        routes.extend(["GET", "POST"].map(|method| (method.to_owned(), path.to_owned())));
    }
    routes
}

fn upgrading<'h>(host: &'h str, origin: &'h str) -> [(&'h str, &'h str); 6] {
    [
        ("host", host),
        ("origin", origin),
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
}

#[test]
fn without_keys_no_route_answers_to_another_host_or_to_a_page_of_another_site() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let ours = server.address.to_string();
    let rebound = format!("evil.example:{}", server.address.port());
    let routes = routes(&server);
    assert!(routes.len() > 100, "{}", routes.len());
    for (method, path) in &routes {
        for headers in [
            &[("host", rebound.as_str())][..],
            &[("host", "evil.example")],
            &[("host", ours.as_str()), ("origin", "https://evil.example")],
            &[("host", ours.as_str()), ("origin", "null")],
            &[("host", ours.as_str()), ("origin", "http://localhost:1")],
            &[("host", ours.as_str()), ("sec-fetch-site", "cross-site")],
            &[],
        ] {
            let answer = ask(&server, method, path, headers);
            assert_eq!(answer.status, 403, "{method} {path} {headers:?}: {}", answer.text());
        }
    }
    let by_itself = format!("http://{ours}");
    for headers in
        [&[("host", ours.as_str())][..], &[("host", ours.as_str()), ("origin", &by_itself)]]
    {
        assert_eq!(ask(&server, "GET", "/v1/agents", headers).status, 200, "{headers:?}");
    }
    let refused = ask(&server, "POST", "/v1/keys", &[("host", &rebound)]);
    assert_eq!(refused.json()["code"], "INSUFFICIENT_AUTHORITY");
    let refused = ask(&server, "GET", "/v1/tasks/x", &[("host", &rebound)]);
    assert_eq!(refused.json()["error"]["code"], "permission_denied");
}

#[test]
fn without_keys_no_page_of_another_site_opens_a_websocket() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    client.register("a", "tester");
    let wanted = json!({"events": ["memory.recorded"]});
    let payload = json!({"action": "subscribe", "subscription": wanted});
    let made = client.operate("SUBSCRIBE", "a", payload).ok();
    let subscription = made["subscription"]["id"].as_str().unwrap();
    let ours = server.address.to_string();
    let own = format!("http://{ours}");
    for path in ["/v1/log/follow", &format!("/v1/subscriptions/{subscription}/ws")] {
        for (host, origin) in [
            (ours.as_str(), "https://evil.example"),
            (ours.as_str(), "null"),
            ("evil.example", &own),
        ] {
            let answer = ask(&server, "GET", path, &upgrading(host, origin));
            assert_eq!(answer.status, 403, "{path} {host} {origin}: {}", answer.text());
        }
        let answer = ask(&server, "GET", path, &upgrading(&ours, &own));
        assert_eq!(answer.status, 101, "{path}: {}", answer.text());
    }
}

#[test]
fn a_key_that_is_made_or_revoked_in_dev_is_so_until_dev_ends() {
    let data = TempDir::new().unwrap();
    let dev = Settings::dev(data.path()).start();
    let made = dev.client().post("/v1/keys", json!({"authority": 10}).to_string()).ok();
    let secret = made["secret"].as_str().unwrap().to_owned();
    assert_eq!(listed(&dev.client().get("/v1/keys").ok()), [made["key"]["id"].clone()]);
    dev.stop();

    let mut keyed = Settings::new(data.path()).start();
    refused(&keyed.client().with_key(&secret).get("/v1/whoami"), 401, "UNAUTHENTICATED");
    let operator = operator_key(&keyed.printed()).expect("there were no keys yet");
    let mut client = keyed.client().with_key(&operator);
    let of_operator = listed(&client.get("/v1/keys").ok());
    assert_eq!(of_operator.len(), 1);
    keyed.stop();

    let dev = Settings::dev(data.path()).start();
    let path = format!("/v1/keys/{}", of_operator[0].as_str().unwrap());
    let revoked = dev.client().try_request("DELETE", &path, b"").unwrap().ok();
    assert!(revoked["keys"][0]["revoked_at_ms"].is_u64(), "{revoked}");
    dev.stop();
    let keyed = Settings::new(data.path()).start();
    assert_eq!(keyed.client().with_key(&operator).get("/v1/whoami").status, 200);
}

fn listed(keys: &Value) -> Vec<Value> {
    keys["keys"].as_array().unwrap().iter().map(|key| key["id"].clone()).collect()
}
