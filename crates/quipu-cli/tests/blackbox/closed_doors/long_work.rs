//! Work that takes long has a budget, goes on page by page, and ends when nobody waits for it.

use std::{
    collections::BTreeSet,
    io::{Read as _, Write as _},
    net::{Shutdown, TcpStream},
};

use quipu_models::testing::{Behaviour, TestEndpoint};
use serde_json::{Value, json};

use crate::support::{Server, Settings, finding, wait_until};

#[test]
fn a_scan_has_a_budget_and_goes_on_with_the_cursor_that_it_answered() {
    let data = tempfile::tempdir().unwrap();
    let settings = Settings::dev(data.path()).argument("--detect-scan-units").argument("3");
    let server = settings.argument("--detect=false").start();
    let mut client = server.client();
    client.register("ada", "tester");
    client.register("bob", "tester");
    for number in 0..4 {
        client.record("ada", finding(&format!("Service {number} supports refunds in Europe.")));
        let no = format!("Service {number} does not support refunds in Europe.");
        client.record("bob", finding(&no));
    }
    let (mut pages, mut scanned, mut found) = (0, 0, 0);
    let mut seen = BTreeSet::new();
    let mut cursor = Value::Null;
    loop {
        let mut asked = json!({"mode": "scan"});
        if !cursor.is_null() {
            asked["cursor"] = cursor;
        }
        let page = client.operate("DETECT", "ada", asked).ok();
        let compared = page["scan_coverage"]["units_scanned"].as_u64().unwrap();
        assert!((1..=3).contains(&compared), "{page}");
        pages += 1;
        scanned += compared;
        found += page["scan_coverage"]["new_conflicts_found"].as_u64().unwrap();
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert!(seen.insert(cursor.to_string()), "it goes on: {page}");
    }
    assert_eq!((pages, scanned), (3, 8));
    assert!(found >= 4, "each pair is found once or more: {found}");
    for refused in
        [json!({"mode": "scan", "cursor": "mem-0"}), json!({"mode": "list", "cursor": "mem-0"})]
    {
        let answer = client.operate("DETECT", "ada", refused);
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    server.stop();
}

/// Sends a DETECT on a connection of its own.
fn begin(server: &Server, payload: &Value) -> TcpStream {
    let mut caller = TcpStream::connect(server.address).unwrap();
    let body = payload.to_string();
    let head = "POST /v1/detect HTTP/1.1\r\nhost: localhost\r\nakashik-agent: a\r\n\
                content-type: application/json\r\ncontent-length:";
    write!(caller, "{head} {}\r\n\r\n{body}", body.len()).unwrap();
    caller
}

#[test]
fn detection_ends_when_its_caller_hangs_up() {
    let endpoint = TestEndpoint::start().unwrap();
    endpoint.write("{\"contradiction\": false}");
    let data = tempfile::tempdir().unwrap();
    let settings = Settings::dev(data.path()).argument("--judge").argument(&endpoint.url());
    let settings = settings.argument("--judge-model=arbiter").argument("--detect=false");
    let server = settings.argument("--models-timeout-ms=60000").start();
    let mut client = server.client();
    client.register("a", "tester");
    let mut last = Value::Null;
    for limit in 1..9 {
        let text = format!("The API limit is {limit}00 requests per second.");
        let author = format!("author-{limit}");
        client.register(&author, "tester");
        last = client.record(&author, finding(&text))["memory_unit_id"].clone();
    }
    for payload in [json!({"mode": "scan"}), json!({"mode": "check", "target_id": last})] {
        let before = endpoint.seen().len();
        endpoint.always(Behaviour::Held);
        let mut caller = begin(&server, &payload);
        let is_asked = || (endpoint.seen().len() > before).then_some(());
        wait_until(30, "the judge is asked", is_asked);
        caller.shutdown(Shutdown::Write).unwrap();
        assert_eq!(caller.read(&mut [0]).unwrap(), 0, "nobody is answered");
        endpoint.always(Behaviour::Answer);
        // Long enough for all the other questions, if somebody asked them.
        for _ in 0..200 {
            client.get("/healthz").ok();
        }
        let asked = endpoint.seen().len() - before;
        assert!(asked <= 2, "the judge was asked {asked} times: {payload}");
    }
    server.stop();
}
