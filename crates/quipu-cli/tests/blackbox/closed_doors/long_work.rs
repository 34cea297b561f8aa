//! Work that takes long has a budget, and goes on page by page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Settings, finding};

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
