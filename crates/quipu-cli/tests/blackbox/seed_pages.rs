//! The examples and the MUSTs of the published RECORD and ATTUNE pages, over HTTP, and the examples
//! of the REPLAY and COMPACT pages.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Client, Message, Server, Settings, draft, finding, keys_of, refused, relating, units_of,
};

struct Field {
    // Dropped first: the server goes before its directory.
    client: Client,
    _server: Server,
    _data: TempDir,
}

fn start(agents: &[(&str, &str)]) -> Field {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    for (agent, role) in agents {
        client.register(agent, role);
    }
    Field { client, _server: server, _data: data }
}

const RESEARCHER: (&str, &str) = ("researcher-01", "market_researcher");
const STRATEGIST: (&str, &str) = ("strategist-01", "strategist");
const MARKET: &str = "European SaaS market for SMB HR tools is growing at 23% CAGR, expected to \
                      reach $4.2B by 2027.";

fn envelope(id: &str, operation: &str, agent: &str, epoch: u64, payload: Value) -> Message {
    Message::new(operation, agent, payload).with("id", id).with("epoch", epoch)
}

fn record_example() -> Message {
    let payload = json!({
        "mode": "committed",
        "type": "finding",
        "content": MARKET,
        "intent": {
            "purpose": "Validate market size assumption for go-to-market strategy",
            "task_id": "task-market-sizing",
            "question": "Is the European HR SaaS market large enough to justify a dedicated go-to-market?"
        },
        "confidence": {
            "score": 0.82,
            "reasoning": "Based on three independent analyst reports with consistent estimates.",
            "evidence": ["https://example.com/report-a", "https://example.com/report-b"],
            "assumptions": ["EU AI Act enforcement begins Q3 2026"]
        }
    });
    envelope("msg-002", "RECORD", "researcher-01", 1, payload)
}

fn attune_example() -> Message {
    let payload = json!({
        "scope": {"role": "strategist", "max_units": 10},
        "context_hint": "About to draft competitive positioning section"
    });
    envelope("msg-003", "ATTUNE", "strategist-01", 3, payload)
}

#[test]
fn the_record_example_is_accepted_at_epoch_2_with_exactly_the_published_keys() {
    let mut field = start(&[RESEARCHER]);
    let answer = field.client.send(&record_example()).ok();
    assert_eq!(keys_of(&answer), ["conflicts_detected", "epoch", "memory_unit_id", "status"]);
    assert_eq!(answer["status"], "accepted");
    assert_eq!(answer["epoch"], 2);
    assert_eq!(answer["conflicts_detected"], json!([]));
    assert!(answer["memory_unit_id"].as_str().unwrap().starts_with("mem-"), "{answer}");
}

#[test]
fn the_attune_example_shows_the_recorded_unit_with_exactly_the_published_keys() {
    let mut field = start(&[RESEARCHER]);
    let recorded = field.client.send(&record_example()).ok();
    field.client.register(STRATEGIST.0, STRATEGIST.1);
    let answer = field.client.send(&attune_example()).ok();
    assert_eq!(keys_of(&answer), ["conflicts", "context_budget", "epoch", "record", "status"]);
    assert_eq!(answer["status"], "ok");
    assert_eq!(answer["conflicts"], json!([]));
    let budget = json!({"units_returned": 1, "units_available": 1, "tokens_used": null,
                        "tokens_budget": null});
    assert_eq!(answer["context_budget"], budget);
    assert_eq!(answer["epoch"], 4, "one tick beyond the epoch that was sent");

    let entry = &answer["record"][0];
    let keys = ["format", "memory_unit", "relevance_reason", "relevance_score"];
    assert_eq!(keys_of(entry), keys);
    assert_eq!(entry["format"], "full");
    let mut unit = entry["memory_unit"].clone();
    let timestamp = unit["source"]["timestamp"].take();
    assert_eq!(timestamp.as_str().unwrap().as_bytes()[10], b'T', "{timestamp}");
    let sent = record_example().envelope["payload"].clone();
    assert_eq!(
        unit,
        json!({
            "id": recorded["memory_unit_id"], "mode": "committed", "type": "finding",
            "content": MARKET, "intent": sent["intent"], "confidence": sent["confidence"],
            "source": {"agent_id": "researcher-01", "agent_role": "market_researcher",
                       "session_id": null, "timestamp": null},
            "relations": [], "status": "active", "epoch": 2
        })
    );
}

#[test]
fn the_bare_payload_with_headers_does_what_the_envelope_does() {
    let field = start(&[RESEARCHER]);
    let mut bare = field
        .client
        .with_header("akashik-agent", "researcher-01")
        .with_header("akashik-session", "session-q1")
        .with_header("akashik-epoch", "10")
        .with_header("akashik-message-id", "msg-bare");
    let payload = record_example().envelope["payload"].to_string();
    let answer = bare.post("/v1/record", &payload).ok();
    assert_eq!(answer["epoch"], 11);
    assert_eq!(bare.post("/v1/record", &payload).ok(), answer, "the same message id");
    let scope = json!({"scope": {"role": "r", "max_units": 5, "include_own": true}});
    let seen = bare.post("/v1/attune", scope.to_string()).ok();
    assert_eq!(units_of(&seen).len(), 1);
    assert_eq!(units_of(&seen)[0]["source"]["session_id"], "session-q1");
}

/// A unit in a session, recorded at an epoch.
fn reading(session: Value, epoch: u64, payload: Value) -> Message {
    let message = Message::new("RECORD", "researcher-01", payload);
    message.with("epoch", epoch).with("session_id", session)
}

#[test]
fn the_archive_example_takes_out_the_old_superseded_hypotheses_and_nothing_else() {
    let mut field = start(&[RESEARCHER, ("maintenance-01", "maintenance")]);
    let of_type = |kind: &str, number: usize| {
        let mut payload = finding(&format!("{kind} {number} about the market"));
        payload["type"] = json!(kind);
        payload
    };
    let mut kept = Vec::new();
    for (number, kind) in (0..47).zip(["assumption", "observation"].into_iter().cycle()) {
        let old = field.client.record("researcher-01", of_type(kind, number));
        let old = old["memory_unit_id"].as_str().unwrap();
        let newer = relating(&format!("{kind} {number} once more"), "supersedes", old);
        kept.push(field.client.record("researcher-01", newer)["memory_unit_id"].clone());
    }
    // Superseded, but neither a hypothesis nor old enough.
    let decision = field.client.record("researcher-01", of_type("decision", 0));
    let decision = decision["memory_unit_id"].as_str().unwrap();
    field.client.record("researcher-01", relating("better", "supersedes", decision));
    let young = field.client.send(&reading(Value::Null, 190, of_type("assumption", 99))).ok();
    let young = young["memory_unit_id"].as_str().unwrap();
    field.client.record("researcher-01", relating("better still", "supersedes", young));
    let archive = json!({"strategy": "archive", "filter": {
        "max_age_epochs": 100, "status": ["superseded"], "types": ["assumption", "observation"]}});
    let message = envelope("msg-080", "COMPACT", "maintenance-01", 200, archive);
    let expected = json!({"status": "ok", "units_affected": 47, "synthesis_units_created": 0,
                          "storage_reclaimed_bytes": null});
    assert_eq!(field.client.send(&message).ok(), expected);
    let scope = json!({"role": "maintenance", "max_units": 500});
    let seen = field.client.attune("maintenance-01", scope);
    let ids: Vec<Value> = units_of(&seen).into_iter().map(|unit| unit["id"].clone()).collect();
    assert!(kept.iter().all(|unit| ids.contains(unit)), "{seen}");
}

#[test]
fn the_summarize_example_tells_each_task_of_the_session_in_its_own_words() {
    let mut field = start(&[RESEARCHER, ("maintenance-01", "maintenance")]);
    let session = json!("session-q1-2026");
    for task in 0..8 {
        for number in 0..4 {
            let text = format!("Task {task} measured {}% growth in region {number}.", 10 + number);
            let mut payload = finding(&text);
            payload["intent"]["task_id"] = json!(format!("task-{task}"));
            field.client.send(&reading(session.clone(), 0, payload)).ok();
        }
    }
    let summarize = json!({"strategy": "summarize", "filter": {
        "session_id": session, "status": ["active", "superseded"]}});
    let message = envelope("msg-081", "COMPACT", "maintenance-01", 200, summarize);
    let expected = json!({"status": "ok", "units_affected": 32, "synthesis_units_created": 8,
                          "storage_reclaimed_bytes": null});
    let mut answer = field.client.send(&message.with("session_id", "session-q1-2026")).ok();
    let fidelity = answer.as_object_mut().unwrap().remove("fidelity").expect("it is measured");
    assert_eq!(fidelity["numbers"], json!({"of": 68, "kept": 68}), "{fidelity}");
    assert_eq!(answer, expected);
    let attune = json!({"scope": {"role": "researcher", "max_units": 50}});
    let attune = Message::new("ATTUNE", "researcher-01", attune);
    let seen = field.client.send(&attune.with("session_id", "session-q1-2026")).ok();
    let units = units_of(&seen);
    assert_eq!(units.len(), 8, "{seen}");
    for unit in units {
        assert_eq!(unit["type"], "synthesis");
        let relations = unit["relations"].as_array().unwrap();
        let elaborating = relations.iter().filter(|relation| relation["type"] == "elaborates");
        assert_eq!((elaborating.count(), relations.len()), (4, 4), "{unit}");
        let content = unit["content"].as_str().unwrap();
        assert!(content.contains("measured") && content.contains("growth"), "{content}");
        assert!(content.contains("researcher-01: Task "), "says who: {content}");
        assert!(content.chars().count() < 4 * 40, "it is shorter: {content}");
    }
}

/// The situation of the REPLAY page, at its epochs; answers with the ids of the units and the conflict.
fn market_dispute(client: &mut Client) -> (Value, Value, Value) {
    let about = |growth: &str, score: f64| {
        let mut payload = finding(&format!("{growth} CAGR"));
        payload["confidence"]["score"] = json!(score);
        payload
    };
    let mut first = about("23%", 0.82);
    first["intent"]["task_id"] = json!("task-market-sizing");
    let first = client.send(&envelope("m-002", "RECORD", "researcher-01", 1, first)).ok();
    // Registering ticks too: the others come where the page's epochs leave room for it.
    for (agent, role) in
        [("researcher-02", "market_researcher"), STRATEGIST, ("auditor-01", "auditor")]
    {
        client.register(agent, role);
    }
    let mut second = about("14%", 0.75);
    second["relations"] = json!([{"type": "contradicts", "target_id": first["memory_unit_id"]}]);
    let second = client.send(&envelope("m-010", "RECORD", "researcher-02", 10, second)).ok();
    let conflict = second["conflicts_detected"][0].clone();
    let merge = json!({"conflict_id": conflict, "strategy": "confidence_weighted",
        "resolution": {"winner_id": first["memory_unit_id"], "rationale": "Three reports agree"}});
    client.send(&envelope("m-020", "MERGE", "strategist-01", 20, merge)).ok();
    (first["memory_unit_id"].clone(), second["memory_unit_id"].clone(), conflict)
}

#[test]
fn the_replay_example_reads_as_published() {
    let mut field = start(&[RESEARCHER]);
    let (older, newer, conflict) = market_dispute(&mut field.client);
    let replay = json!({"target_type": "conflict", "target_id": conflict, "depth": "detailed"});
    let answer = field.client.send(&envelope("msg-040", "REPLAY", "auditor-01", 40, replay));
    let mut answer = answer.ok();
    for event in answer["timeline"].as_array_mut().unwrap() {
        for ours in ["timestamp", "why"] {
            assert!(event.as_object_mut().unwrap().remove(ours).is_some(), "{event}");
        }
    }
    let event = |epoch: u64, kind: &str, agent: &str, description: &str, unit: &Value| {
        json!({"epoch": epoch, "event_type": kind, "agent_id": agent, "description": description,
               "memory_unit_id": unit, "task_id": null})
    };
    let prevails =
        format!("Resolved via confidence_weighted: {} prevails", older.as_str().unwrap());
    let explicit = "Explicit conflict created from contradicts relation";
    let contradicting = "Recorded contradicting finding: 14% CAGR";
    let mut first = event(2, "RECORD", "researcher-01", "Recorded finding: 23% CAGR", &older);
    first["task_id"] = json!("task-market-sizing");
    assert_eq!(
        answer,
        json!({
            "status": "ok",
            "summary": "Factual conflict between two findings. researcher-01 recorded 23% CAGR; \
                        researcher-02 recorded 14% CAGR with contradicts relation. Resolved by \
                        strategist-01 using confidence_weighted strategy at epoch 21. \
                        \"23% CAGR\" prevails, because: Three reports agree. For \"23% CAGR\": we \
                        wrote it. For \"14% CAGR\": we wrote it.",
            "agents_involved": ["researcher-01", "researcher-02", "strategist-01"],
            "total_events": 4,
            "timeline": [
                first,
                event(11, "RECORD", "researcher-02", contradicting, &newer),
                event(11, "CONFLICT_CREATED", "system", explicit, &Value::Null),
                event(21, "MERGE", "strategist-01", &prevails, &older),
            ],
        })
    );
}

#[test]
fn a_replay_of_nothing_known_is_unit_not_found() {
    let mut field = start(&[("auditor-01", "auditor")]);
    let replay =
        json!({"target_type": "conflict", "target_id": "conflict-001", "depth": "detailed"});
    let answer = field.client.send(&envelope("msg-040", "REPLAY", "auditor-01", 40, replay));
    refused(&answer, 404, "UNIT_NOT_FOUND");
    assert_eq!(answer.json()["recoverable"], false);
}

#[test]
fn record_refuses_each_missing_part_with_the_published_code_and_calls_it_recoverable() {
    let mut field = start(&[RESEARCHER]);
    let remove = |pointer: &str, key: &str| {
        let mut payload = finding("x");
        payload.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key);
        payload
    };
    let set = |pointer: &str, value: Value| {
        let mut payload = finding("x");
        *payload.pointer_mut(pointer).unwrap() = value;
        payload
    };
    for (payload, code) in [
        (remove("", "intent"), "MISSING_INTENT"),
        (remove("/intent", "purpose"), "MISSING_INTENT"),
        (set("/intent/purpose", json!("")), "MISSING_INTENT"),
        (set("/intent/purpose", json!(" \t\n")), "MISSING_INTENT"),
        (remove("", "confidence"), "MISSING_CONFIDENCE"),
        (remove("/confidence", "score"), "MISSING_CONFIDENCE"),
        (remove("/confidence", "reasoning"), "MISSING_CONFIDENCE"),
        (set("/confidence/score", json!(1.5)), "INVALID_CONFIDENCE"),
        (set("/type", json!("rumour")), "INVALID_TYPE"),
        (remove("", "type"), "INVALID_TYPE"),
        (remove("", "content"), "INVALID_PAYLOAD"),
    ] {
        let answer = field.client.operate("RECORD", "researcher-01", payload.clone());
        refused(&answer, 400, code);
        assert_eq!(answer.json()["operation"], "RECORD", "{payload}");
        assert_eq!(answer.json()["recoverable"], true, "{payload}");
    }
    let stranger = field.client.operate("RECORD", "nobody", finding("x"));
    refused(&stranger, 403, "AGENT_NOT_REGISTERED");
    assert_eq!(stranger.json()["recoverable"], true);
    let status = field.client.get("/v1/field/status").ok();
    assert_eq!(status["units"]["total"], 0, "nothing that was refused is in");
}

#[test]
fn record_assigns_id_epoch_source_and_status_itself_and_logs_each_unit_once() {
    let mut field = start(&[RESEARCHER, STRATEGIST]);
    let position =
        |client: &mut Client| client.get("/v1/field/status").ok()["position"].as_u64().unwrap();
    let before = position(&mut field.client);
    let committed = field.client.record("researcher-01", finding("settled"));
    let noted = field.client.record("researcher-01", draft("a thought"));
    assert_eq!(position(&mut field.client), before + 2);

    let seen = field.client.attune("strategist-01", json!({"role": "strategist", "max_units": 9}));
    for (recorded, mode, status) in
        [(&committed, "committed", "active"), (&noted, "draft", "draft")]
    {
        let units = units_of(&seen);
        let unit = units.iter().find(|unit| unit["id"] == recorded["memory_unit_id"]).unwrap();
        assert_eq!(unit["mode"], mode);
        assert_eq!(unit["status"], status);
        assert_eq!(unit["epoch"], recorded["epoch"]);
        assert_eq!(unit["source"]["agent_id"], "researcher-01");
        assert_eq!(unit["source"]["agent_role"], "market_researcher");
    }
    assert!(committed["epoch"].as_u64() < noted["epoch"].as_u64());
}

#[test]
fn record_knows_all_eleven_types_and_all_nine_relations() {
    let mut field = start(&[RESEARCHER]);
    for kind in "finding decision observation intention assumption constraint question \
                 contradiction synthesis correction human_directive"
        .split(' ')
        .filter(|word| !word.is_empty())
    {
        let mut payload = finding(kind);
        payload["type"] = json!(kind);
        assert_eq!(field.client.record("researcher-01", payload)["status"], "accepted", "{kind}");
    }
    for relation in "supports contradicts depends_on supersedes caused_by elaborates answers \
                     blocks informs"
        .split(' ')
        .filter(|word| !word.is_empty())
    {
        let target = field.client.record("researcher-01", finding(relation));
        let target = target["memory_unit_id"].as_str().unwrap();
        let answer = field.client.record("researcher-01", relating("new", relation, target));
        let conflicts = usize::from(relation == "contradicts");
        assert_eq!(answer["conflicts_detected"].as_array().unwrap().len(), conflicts, "{relation}");
    }
}

#[test]
fn a_relation_may_dangle_unless_it_would_change_its_target() {
    let mut field = start(&[RESEARCHER]);
    let answer = field.client.record("researcher-01", relating("so", "answers", "mem-unseen"));
    assert_eq!(answer["status"], "accepted");
    for relation in ["contradicts", "supersedes"] {
        let payload = relating("no", relation, "mem-unseen");
        let answer = field.client.operate("RECORD", "researcher-01", payload);
        let message = refused(&answer, 404, "UNIT_NOT_FOUND");
        assert!(message.contains("payload.relations[0].target_id"), "{message}");
    }
}

#[test]
fn attune_leaves_out_own_units_unless_asked_and_superseded_ones_always() {
    let mut field = start(&[RESEARCHER, STRATEGIST]);
    let old = field.client.record("researcher-01", finding("the old figure"));
    let old = old["memory_unit_id"].as_str().unwrap();
    field.client.record("strategist-01", relating("the new figure", "supersedes", old));
    let mut contents = |agent: &str, own: bool| {
        let scope = json!({"role": "any", "max_units": 9, "include_own": own});
        let seen = field.client.attune(agent, scope);
        let units = units_of(&seen);
        units.iter().map(|unit| unit["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(contents("researcher-01", false), ["the new figure"]);
    assert_eq!(contents("researcher-01", true), ["the new figure"]);
    assert!(contents("strategist-01", false).is_empty());
    assert_eq!(contents("strategist-01", true), ["the new figure"]);
}

#[test]
fn attune_sorts_by_a_score_from_0_to_1_gives_reasons_and_cuts_to_max_units() {
    let mut field = start(&[RESEARCHER, ("r2", "engineer"), STRATEGIST]);
    let kinds = ["finding", "decision", "observation", "question"];
    for (number, kind) in (0..12).zip(kinds.iter().cycle()) {
        let mut payload = finding(&format!("{kind} number {number} about market growth"));
        payload["type"] = json!(kind);
        let agent = if number % 3 == 0 { "r2" } else { "researcher-01" };
        field.client.record(agent, payload);
    }
    for max_units in [1, 5, 12, 50] {
        let scope = json!({"role": "strategist", "max_units": max_units});
        let seen = field.client.attune("strategist-01", scope);
        let entries = seen["record"].as_array().unwrap();
        assert_eq!(entries.len(), max_units.min(12));
        assert_eq!(seen["context_budget"]["units_returned"], entries.len());
        assert_eq!(seen["context_budget"]["units_available"], 12);
        let scores: Vec<f64> =
            entries.iter().map(|entry| entry["relevance_score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
        let reasons = entries.iter().map(|entry| entry["relevance_reason"].as_str().unwrap());
        assert!(reasons.into_iter().all(|reason| reason.len() > 10), "{seen}");
    }
}

#[test]
fn attune_since_an_epoch_includes_it_and_polling_with_the_answer_repeats_nothing() {
    let mut field = start(&[RESEARCHER, STRATEGIST]);
    field.client.record("researcher-01", finding("first"));
    let second = field.client.record("researcher-01", finding("second"));
    let mut since = |epoch: &Value, inside_scope: bool| {
        let mut payload = json!({"scope": {"role": "s", "max_units": 9}});
        let place = if inside_scope { &mut payload["scope"] } else { &mut payload };
        place["since_epoch"] = epoch.clone();
        field.client.operate("ATTUNE", "strategist-01", payload).ok()
    };
    for inside_scope in [true, false] {
        let seen = since(&second["epoch"], inside_scope);
        assert_eq!(units_of(&seen).len(), 1);
        assert_eq!(units_of(&seen)[0]["content"], "second");
        assert!(units_of(&since(&seen["epoch"], inside_scope)).is_empty());
    }
    let polled = since(&json!(0), true)["epoch"].clone();
    field.client.record("researcher-01", finding("third"));
    let mut payload = json!({"scope": {"role": "s", "max_units": 9}});
    payload["since_epoch"] = polled;
    let seen = field.client.operate("ATTUNE", "strategist-01", payload).ok();
    assert_eq!(units_of(&seen).len(), 1);
    assert_eq!(units_of(&seen)[0]["content"], "third");
}

#[test]
fn attune_in_each_format_returns_as_much_as_was_asked_for() {
    let mut field = start(&[RESEARCHER, STRATEGIST]);
    let long = "The market grows. ".repeat(200);
    let recorded = field.client.record("researcher-01", finding(&long));
    let mut entry = |format: &str| {
        let payload = json!({"scope": {"role": "s", "max_units": 9}, "format": format});
        field.client.operate("ATTUNE", "strategist-01", payload).ok()["record"][0].clone()
    };
    assert_eq!(entry("full")["memory_unit"]["content"], long);
    let summary = entry("summary");
    assert_eq!(summary["format"], "summary");
    assert!(summary["memory_unit"]["content"].as_str().unwrap().len() < long.len());
    let id_only = entry("ids_only");
    assert_eq!(id_only["memory_unit"], json!({"id": recorded["memory_unit_id"]}));
    assert!(id_only["relevance_score"].is_number() && id_only["relevance_reason"].is_string());
}

#[test]
fn attune_keeps_within_a_token_budget_and_says_what_it_used() {
    let mut field = start(&[RESEARCHER, STRATEGIST]);
    for number in 0..10 {
        let text = format!("Unit {number}. {}", "The market grows every year. ".repeat(20));
        field.client.record("researcher-01", finding(&text));
    }
    let scope = json!({"role": "s", "max_units": 50, "max_tokens": 600});
    let seen = field.client.attune("strategist-01", scope);
    let budget = &seen["context_budget"];
    assert_eq!(budget["tokens_budget"], 600);
    assert!((1..=600).contains(&budget["tokens_used"].as_u64().unwrap()), "{budget}");
    assert!((1..10).contains(&budget["units_returned"].as_u64().unwrap()), "{budget}");
}

#[test]
fn attune_of_a_stranger_or_without_a_role_is_refused() {
    let mut field = start(&[STRATEGIST]);
    let mut ask =
        |agent: &str, scope: Value| field.client.operate("ATTUNE", agent, json!({"scope": scope}));
    let stranger = ask("nobody", json!({"role": "r", "max_units": 1}));
    refused(&stranger, 403, "AGENT_NOT_REGISTERED");
    assert_eq!(stranger.json()["recoverable"], true);
    for scope in [json!({"max_units": 1}), json!({"role": "", "max_units": 1})] {
        let message = refused(&ask("strategist-01", scope), 400, "INVALID_PAYLOAD");
        assert!(message.contains("payload.scope.role"), "{message}");
    }
}
