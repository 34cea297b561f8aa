//! Payloads with values of the wrong type, blank, too long, unknown, or not the sender's to set.

use serde_json::{Value, json};

use super::victim::{Victim, record_with, start};
use crate::support::{Message, refused, scope, units_of};

/// Sends the payload with a value that does not fit at each pointer, and expects it to be named.
fn check_types(v: &mut Victim, operation: &str, payload: &Value, cases: &[(&str, Value, &str)]) {
    for (pointer, wrong, code) in cases {
        let mut changed = payload.clone();
        *changed.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = wrong.clone();
        let answer = v.send(&Message::new(operation, "agent", changed));
        let message = refused(&answer, 400, code);
        let path = format!("payload{}", pointer.replace("/0", "[0]").replace('/', "."));
        assert!(message.contains(&path), "{operation} {pointer} {wrong}: {message}");
        assert_eq!(answer.json()["operation"], operation);
    }
}

#[test]
fn a_record_with_a_value_of_the_wrong_type_is_refused_and_the_field_is_named() {
    let mut v = start();
    let payload = json!({"mode": "committed", "type": "finding", "content": "c",
        "intent": {"purpose": "p", "task_id": "t", "question": "q"},
        "confidence": {"score": 0.5, "reasoning": "r", "evidence": ["e"], "assumptions": ["a"]},
        "relations": [{"type": "informs", "target_id": "m", "description": "d"}]});
    let mut cases = Vec::new();
    for pointer in [
        "/mode",
        "/content",
        "/intent",
        "/intent/purpose",
        "/intent/task_id",
        "/intent/question",
        "/confidence",
        "/confidence/reasoning",
        "/confidence/evidence",
        "/confidence/evidence/0",
        "/confidence/assumptions",
        "/confidence/assumptions/0",
        "/relations",
        "/relations/0",
        "/relations/0/type",
        "/relations/0/target_id",
        "/relations/0/description",
    ] {
        for wrong in [json!(7), json!(true), json!(1.5)] {
            cases.push((pointer, wrong, "INVALID_PAYLOAD"));
        }
    }
    for wrong in [json!(7), json!([]), json!({}), json!("rumour"), json!("FINDING")] {
        cases.push(("/type", wrong, "INVALID_TYPE"));
    }
    for wrong in [json!("0.5"), json!([]), json!({}), json!(true), json!(2), json!(-1)] {
        cases.push(("/confidence/score", wrong, "INVALID_CONFIDENCE"));
    }
    for pointer in ["/content", "/intent/purpose", "/relations/0/target_id"] {
        cases.push((pointer, json!({}), "INVALID_PAYLOAD"));
        cases.push((pointer, json!(["x"]), "INVALID_PAYLOAD"));
    }
    cases.push(("/mode", json!("maybe"), "INVALID_PAYLOAD"));
    cases.push(("/relations/0/type", json!("likes"), "INVALID_PAYLOAD"));
    check_types(&mut v, "RECORD", &payload, &cases);
    v.unharmed(1);
}

#[test]
fn an_attune_with_a_value_of_the_wrong_type_is_refused_and_the_field_is_named() {
    let mut v = start();
    let payload = json!({"context_hint": "h", "format": "full", "since_epoch": 0, "scope": {
        "role": "r", "max_units": 1, "since_epoch": 0, "max_tokens": 9, "interests": ["i"],
        "active_task_id": "t", "temporal_layers": ["past"], "relevance_threshold": 0.0,
        "recency_weight": 0.5, "include_own": true, "include_archived": false,
        "exclude_drafts": false, "explain": false}});
    let mut cases = Vec::new();
    for pointer in ["/context_hint", "/format", "/scope/role", "/scope/active_task_id"] {
        cases.extend([json!(7), json!(false), json!({})].map(|wrong| (pointer, wrong)));
    }
    for pointer in ["/scope", "/scope/interests", "/scope/temporal_layers"] {
        cases.extend([json!(7), json!("x")].map(|wrong| (pointer, wrong)));
    }
    for pointer in ["/since_epoch", "/scope/since_epoch", "/scope/max_units", "/scope/max_tokens"] {
        let wrong = [json!("1"), json!(-1), json!(1.5), json!([]), json!(true)];
        cases.extend(wrong.map(|wrong| (pointer, wrong)));
    }
    for pointer in ["/scope/relevance_threshold", "/scope/recency_weight"] {
        let wrong = [json!("1"), json!(-0.1), json!(1.1), json!([])];
        cases.extend(wrong.map(|wrong| (pointer, wrong)));
    }
    for flag in ["include_own", "include_archived", "exclude_drafts", "explain"] {
        let pointer = ["/scope/", flag].concat().leak();
        cases.extend([json!("yes"), json!(1)].map(|wrong| (&*pointer, wrong)));
    }
    cases.push(("/scope/max_units", json!(0)));
    cases.push(("/scope/interests/0", json!(3)));
    cases.push(("/scope/temporal_layers/0", json!("yesterday")));
    cases.push(("/format", json!("everything")));
    let cases: Vec<_> = cases.into_iter().map(|(p, w)| (p, w, "INVALID_PAYLOAD")).collect();
    check_types(&mut v, "ATTUNE", &payload, &cases);
    v.unharmed(1);
}

#[test]
fn the_other_payloads_with_a_value_of_the_wrong_type_are_refused_and_the_field_is_named() {
    let mut v = start();
    let wrong = || [json!(7.5), json!(true), json!({"a": 1})];
    let cases = |pointers: &[&'static str]| -> Vec<(&'static str, Value, &'static str)> {
        let each = pointers.iter().flat_map(|pointer| wrong().map(|wrong| (*pointer, wrong)));
        each.map(|(pointer, wrong)| (pointer, wrong, "INVALID_PAYLOAD")).collect()
    };
    let register = json!({"id": "new", "role": "r", "interests": ["i"],
                          "required_operations": ["RECORD"], "authority_level": 4});
    let pointers = [
        "/id",
        "/role",
        "/interests",
        "/interests/0",
        "/required_operations",
        "/required_operations/0",
        "/authority_level",
    ];
    check_types(&mut v, "REGISTER", &register, &cases(&pointers));
    let above = [("/authority_level", json!(11), "INVALID_PAYLOAD")];
    check_types(&mut v, "REGISTER", &register, &above);
    check_types(&mut v, "DEREGISTER", &json!({"agent_id": "a"}), &cases(&["/agent_id"]));
    let detect = json!({"mode": "list", "target_id": "m", "filter": {
        "status": ["detected"], "types": ["factual"], "involving_agents": ["a"]}});
    let mut pointers = cases(&[
        "/mode",
        "/target_id",
        "/filter/status",
        "/filter/status/0",
        "/filter/types",
        "/filter/types/0",
        "/filter/involving_agents",
        "/filter/involving_agents/0",
    ]);
    pointers.push(("/filter", json!([]), "INVALID_PAYLOAD"));
    check_types(&mut v, "DETECT", &detect, &pointers);
    v.unharmed(1);
}

#[test]
fn what_the_field_assigns_is_ignored_with_a_warning_and_so_is_what_nobody_knows() {
    let mut v = start();
    let answer = v.send(&record_with(|payload| {
        payload["id"] = json!("mem-mine");
        payload["epoch"] = json!(777);
        payload["source"] = json!({"agent_id": "someone", "agent_role": "king"});
        payload["status"] = json!("superseded");
        payload["mood"] = json!("good");
        payload["intent"]["colour"] = json!("red");
    }));
    let body = answer.ok();
    assert_eq!(body["status"], "accepted");
    let warnings: Vec<&str> =
        body["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    for path in ["payload.id", "payload.epoch", "payload.source", "payload.status"] {
        let warned = warnings.iter().any(|text| text.starts_with(path) && text.contains("assigns"));
        assert!(warned, "{path}: {warnings:?}");
    }
    for path in ["payload.mood", "payload.intent.colour"] {
        let warned = warnings.iter().any(|text| text.starts_with(path) && text.contains("unknown"));
        assert!(warned, "{path}: {warnings:?}");
    }
    assert_eq!(warnings.len(), 6, "{warnings:?}");
    assert_ne!(body["memory_unit_id"], "mem-mine");
    assert_ne!(body["epoch"], 777);

    let units = units_of(&v.client.attune("agent", scope(10)));
    let unit = units.iter().find(|unit| unit["content"] == "changed").unwrap();
    assert_eq!(unit["id"], body["memory_unit_id"]);
    assert_eq!(unit["epoch"], body["epoch"]);
    assert_eq!(unit["status"], "active");
    assert_eq!(unit["source"]["agent_id"], "agent");
    assert_eq!(unit["source"]["agent_role"], "tester");

    let mut strange = scope(1);
    strange["mood"] = json!(1);
    let warned = v.client.attune("agent", strange);
    assert_eq!(warned["warnings"][0], "payload.scope.mood was ignored: unknown field");
    v.unharmed(2);
}

#[test]
fn empty_and_blank_texts_are_refused_where_a_text_is_needed() {
    let mut v = start();
    for blank in ["", " ", "\t\n", "\u{2003}"] {
        for (pointer, code) in [
            ("/content", "INVALID_PAYLOAD"),
            ("/intent/purpose", "MISSING_INTENT"),
            ("/confidence/reasoning", "MISSING_CONFIDENCE"),
        ] {
            let message = record_with(|p| *p.pointer_mut(pointer).unwrap() = json!(blank));
            let text = refused(&v.send(&message), 400, code);
            let path = format!("payload{}", pointer.replace('/', "."));
            assert!(text.contains(&path), "{text}");
        }
        let register = json!({"id": "new", "role": blank});
        let answer = v.client.operate("REGISTER", "new", register);
        assert!(refused(&answer, 400, "INVALID_PAYLOAD").contains("payload.role"));
        let answer = v.client.operate("REGISTER", "new", json!({"id": blank, "role": "r"}));
        assert!(refused(&answer, 400, "INVALID_PAYLOAD").contains("payload.id"));
        let answer =
            v.client.operate("ATTUNE", "agent", json!({"scope": {"role": blank, "max_units": 1}}));
        assert!(refused(&answer, 400, "INVALID_PAYLOAD").contains("payload.scope.role"));
    }
    v.unharmed(1);
}

#[test]
fn lists_and_texts_beyond_their_limits_are_refused_and_named() {
    let mut v = start();
    let long = "x".repeat(65 * 1024);
    for (key, value) in [
        ("relations", json!(vec![json!({"type": "informs", "target_id": "m"}); 257])),
        ("intent", json!({"purpose": long})),
        ("intent", json!({"purpose": "p", "question": long})),
        ("confidence", json!({"score": 0.5, "reasoning": long})),
        ("confidence", json!({"score": 0.5, "reasoning": "r", "evidence": vec!["e"; 257]})),
        ("confidence", json!({"score": 0.5, "reasoning": "r", "assumptions": [long]})),
    ] {
        let text = refused(&v.send(&record_with(|p| p[key] = value)), 400, "INVALID_PAYLOAD");
        assert!(text.contains(&format!("payload.{key}")) && text.contains("at most"), "{text}");
    }
    v.unharmed(1);
}
