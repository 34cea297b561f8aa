//! Servers that push too much, too little, or the wrong thing.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use serde_json::{Value, json};

use super::{
    tamper::{
        Pushed, Tamper, after, asks, before, pretends, pushes, put, refuses, strip, swallows, tells,
    },
    trial::{Variant, all_are_caught, variant},
};

const KINDS: [(&str, &str); 12] = [
    ("memory.recorded", "l2_event_01"),
    ("memory.superseded", "l2_event_02"),
    ("memory.contested", "l2_event_03"),
    ("conflict.detected", "l2_event_04"),
    ("conflict.resolved", "l2_event_05"),
    ("agent.joined", "l2_event_06"),
    ("handoff.incoming", "l2_event_07"),
    ("task.state_changed", "l3_event_08"),
    ("task.assigned", "l3_event_09"),
    ("task.completed", "l3_event_10"),
    ("session.paused", "l3_event_11"),
    ("session.ended", "l3_event_12"),
];

#[test]
fn every_wrong_subscription_is_caught() {
    all_are_caught("subscribe", [actions(), wishes(), links()].into_iter().flatten().collect());
}

#[test]
fn every_wrong_push_is_caught() {
    let all = [kinds(), notifications(), streams(), websockets()];
    all_are_caught("push", all.into_iter().flatten().collect());
}

fn kinds() -> Vec<Variant> {
    let more = ["l2_merge_15", "l2_record_43", "l2_subscribe_01"];
    let silent = |kind: &'static str| {
        pushes(move |pushed| if pushed.data["event"] == kind { vec![] } else { vec![pushed] })
    };
    KINDS
        .iter()
        .map(|(kind, case)| {
            let cases: &[&str] = match *kind {
                "memory.recorded" => &[case, more[1], more[2]],
                "conflict.resolved" => &[case, more[0]],
                _ => &[case],
            };
            let name = format!("push_without_{}", kind.replace('.', "_"));
            variant(
                &name,
                &format!("`{kind}` is never pushed").replace('`', ""),
                cases,
                silent(kind),
            )
        })
        .collect()
}

fn notifications() -> Vec<Variant> {
    let cases = &["l2_subscribe_02", "l2_event_04", "l2_event_07"];
    let change = |change: fn(&mut Value)| {
        pushes(move |mut pushed| {
            change(&mut pushed.data);
            vec![pushed]
        })
    };
    vec![
        variant(
            "push_without_summary",
            "A notification says nothing in words",
            cases,
            change(|data| strip(data, "/summary")),
        ),
        variant(
            "push_without_keys",
            "conflict_id is left out where there is none",
            cases,
            change(|data| strip(data, "/conflict_id")),
        ),
        variant(
            "push_of_another_subscription",
            "subscription_id is that of another subscription",
            cases,
            change(|data| put(data, "/subscription_id", &json!("sub-0"))),
        ),
        variant(
            "push_of_another_epoch",
            "The epoch of a notification is not that of the event",
            cases,
            change(|data| put(data, "/epoch", &json!(1))),
        ),
        variant(
            "push_requires_nothing",
            "No notification requires action",
            cases,
            change(|data| put(data, "/requires_action", &json!(false))),
        ),
        variant(
            "push_scores_in_percent",
            "relevance_score goes up to 100",
            cases,
            change(|data| put(data, "/relevance_score", &json!(70))),
        ),
    ]
}

fn streams() -> Vec<Variant> {
    let cases = &["l2_subscribe_01", "l2_subscribe_10", "l2_security_08"];
    let count = AtomicUsize::new(0);
    let same = |pushed: &Pushed| pushed.clone();
    vec![
        variant(
            "push_everything_twice",
            "Each notification comes twice",
            cases,
            pushes(move |pushed| vec![same(&pushed), pushed]),
        ),
        variant(
            "push_leaves_gaps",
            "Every third notification is lost",
            cases,
            pushes(move |pushed| {
                let lost = count.fetch_add(1, Ordering::Relaxed) % 3 == 2;
                if lost { vec![] } else { vec![pushed] }
            }),
        ),
        variant(
            "push_resumes_from_the_start",
            "A stream that resumes begins anew",
            cases,
            before("*", |asked, _| {
                asked.head.remove("last-event-id");
                None
            }),
        ),
        variant(
            "push_forgets_what_was_missed",
            "A stream that resumes leaves out the first event that was missed",
            &["l2_subscribe_10"],
            forgets_the_second(),
        ),
        variant(
            "push_without_cursors",
            "The events of a stream have no id",
            cases,
            pushes(|pushed| vec![Pushed { id: String::new(), ..pushed }]),
        ),
    ]
}

/// After a stream was resumed, the second of all events comes no more.
fn forgets_the_second() -> Tamper {
    let resumed = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&resumed);
    let seen: Mutex<Vec<Value>> = Mutex::default();
    before("*", move |asked, _| {
        let again = asked.head.header("last-event-id").is_some();
        noted.fetch_or(again, Ordering::Relaxed);
        None
    })
    .and(pushes(move |pushed| {
        let mut seen = seen.lock().unwrap();
        let epoch = &pushed.data["epoch"];
        if !seen.contains(epoch) {
            seen.push(epoch.clone());
        }
        let lost = resumed.load(Ordering::Relaxed) && seen.get(1) == Some(epoch);
        if lost { vec![] } else { vec![pushed] }
    }))
}

fn websockets() -> Vec<Variant> {
    let cases = &["l2_subscribe_16", "l2_subscribe_01"];
    let count = AtomicUsize::new(0);
    vec![
        variant(
            "push_websocket_silent",
            "Nothing comes over the WebSocket",
            cases,
            pushes(|pushed| if pushed.framed { vec![] } else { vec![pushed] }),
        ),
        variant(
            "push_websocket_twice",
            "Each notification comes twice over the WebSocket",
            cases,
            pushes(
                |pushed| {
                    if pushed.framed { vec![pushed.clone(), pushed] } else { vec![pushed] }
                },
            ),
        ),
        variant(
            "push_websocket_gaps",
            "The second notification over the WebSocket is lost",
            cases,
            pushes(move |pushed| {
                let lost = pushed.framed && count.fetch_add(1, Ordering::Relaxed) == 1;
                if lost { vec![] } else { vec![pushed] }
            }),
        ),
        variant(
            "push_websocket_missing",
            "websocket_url leads nowhere",
            cases,
            before("*", |asked, _| {
                asked.head.remove("upgrade");
                None
            }),
        ),
    ]
}

fn actions() -> Vec<Variant> {
    let cases = &["_subscribe_"];
    let list = |change: fn(&mut Value)| {
        tells("SUBSCRIBE", move |body| {
            if body["subscriptions"].is_array() {
                change(body);
            }
        })
    };
    vec![
        variant(
            "subscribe_lists_nothing",
            "list is always empty",
            cases,
            list(|body| put(body, "/subscriptions", &json!([]))),
        ),
        variant(
            "subscribe_lists_without_events",
            "list does not tell the events",
            cases,
            list(|body| strip(body, "/subscriptions/*/events")),
        ),
        variant(
            "subscribe_lists_everybodys",
            "list has the subscriptions of others",
            cases,
            after("SUBSCRIBE", |_, answered, past| {
                let made = past
                    .of("SUBSCRIBE")
                    .into_iter()
                    .map(|past| past.answer["subscription"].clone());
                if let Some(list) = answered.body["subscriptions"].as_array_mut() {
                    list.extend(made.filter(Value::is_object));
                }
            }),
        ),
        variant(
            "subscribe_for_ever",
            "unsubscribe is acknowledged and swallowed",
            cases,
            swallows("SUBSCRIBE", |payload| {
                payload["action"] == "unsubscribe" && payload["subscription"]["id"].is_string()
            }),
        ),
        variant(
            "subscribe_takes_bad_requests",
            "Bad requests are acknowledged",
            cases,
            pretends("SUBSCRIBE", &["INVALID_PAYLOAD"]),
        ),
        variant(
            "subscribe_needs_authority_4",
            "Observers cannot subscribe",
            cases,
            before("SUBSCRIBE", |asked, past| {
                let agent = asked.message["agent_id"].as_str().unwrap_or_default();
                let refusal =
                    super::tamper::Answered::refusal(403, "INSUFFICIENT_AUTHORITY", "SUBSCRIBE");
                past.authority(agent).is_some_and(|level| level < 4).then_some(refusal)
            }),
        ),
        variant(
            "subscribe_refuses_unknown_ids",
            "unsubscribe of an unknown id is an error",
            cases,
            refuses("SUBSCRIBE", 404, "UNIT_NOT_FOUND", |payload| {
                payload["action"] == "unsubscribe"
            }),
        ),
    ]
}

fn wishes() -> Vec<Variant> {
    let cases = &["l2_subscribe_03", "l2_subscribe_04", "l2_subscribe_11"];
    let ignores = |key: &'static str| -> Tamper {
        asks("SUBSCRIBE", move |payload| strip(&mut payload["subscription"], key))
    };
    vec![
        variant(
            "subscribe_ignores_min_relevance",
            "min_relevance is not looked at",
            cases,
            ignores("/min_relevance"),
        ),
        variant(
            "subscribe_ignores_debounce",
            "debounce_ms is not looked at",
            cases,
            ignores("/debounce_ms"),
        ),
        variant(
            "subscribe_to_everything",
            "Whatever happens is pushed to everybody",
            cases,
            asks("SUBSCRIBE", |payload| {
                if payload["subscription"]["events"].is_array() {
                    let all: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
                    payload["subscription"]["events"] = json!(all);
                }
            }),
        ),
    ]
}

fn links() -> Vec<Variant> {
    let cases = &["l2_subscribe_06", "l2_subscribe_12"];
    vec![
        variant(
            "subscribe_without_websocket",
            "There is no websocket_url",
            cases,
            tells("SUBSCRIBE", |body| strip(body, "/websocket_url")),
        ),
        variant(
            "subscribe_one_id_for_all",
            "Every subscription has the same id",
            cases,
            tells("SUBSCRIBE", |body| put(body, "/subscription/id", &json!("sub-0"))),
        ),
    ]
}
