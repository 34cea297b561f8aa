//! SUBSCRIBE, its three actions and the push behind it: section 3.7 and PUSH-1 of the catalogue.
//! All but one case read server-sent events; a Field that pushes by WebSocket alone cannot be tried.

use serde_json::json;

use crate::{
    actors::{
        case::Case,
        check::{Checked, Failed, ensure, same, wrong},
        json::JsonAccess,
        unit::{finding, relation},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l2_subscribe_01_pushes_a_notification,
        "SUB-1 PUSH-1 L2-7",
        "What happens is pushed, not polled."
    ),
    rule!(
        Must,
        l2_subscribe_02_a_notification_has_its_shape,
        "SUB-1",
        "A notification has all eight keys with their types."
    ),
    rule!(
        Must,
        l2_subscribe_03_suppresses_what_is_below_min_relevance,
        "SUB-3",
        "No notification scores below min_relevance."
    ),
    rule!(
        Reading,
        l2_subscribe_04_debounces_per_entity,
        "SUB-4",
        "Within debounce_ms the same entity is not notified of twice."
    ),
    rule!(
        Must,
        l2_subscribe_05_lists_subscriptions,
        "SUB-5",
        "list has the agent's own subscription, with its events."
    ),
    rule!(
        Reading,
        l2_subscribe_06_answers_with_links,
        "A-16 PUSH-2",
        "The answer has the subscription, websocket_url and sse_url."
    ),
    rule!(
        Reading,
        l2_subscribe_07_unsubscribes,
        "A-16",
        "After unsubscribe the subscription is not listed, and nothing is pushed."
    ),
    rule!(
        Reading,
        l2_subscribe_08_unsubscribe_of_an_unknown_one_is_not_found,
        "A-16",
        "An unknown subscription answers not_found."
    ),
    rule!(
        Must,
        l2_subscribe_09_refuses_bad_requests,
        "SUB-1",
        "Unknown actions and events, no events, a relevance above 1 are refused."
    ),
    rule!(
        Reading,
        l2_subscribe_10_resumes_after_the_last_event,
        "A-16",
        "A stream that was cut resumes by Last-Event-ID without gap or repetition."
    ),
    rule!(
        Must,
        l2_subscribe_11_only_subscribed_events_come,
        "SUB-1",
        "Events that were not asked for do not come."
    ),
    rule!(
        Must,
        l2_subscribe_12_the_id_is_the_fields,
        "SUB-1",
        "Two subscriptions have different ids."
    ),
    rule!(Must, l2_subscribe_13_refuses_a_stranger, "ENV-7", "An unregistered agent is refused."),
    rule!(
        Reading,
        l2_subscribe_14_lists_only_the_agents_own,
        "SUB-5",
        "Another agent's subscriptions are not listed."
    ),
    rule!(Must, l3_subscribe_15_observers_may_subscribe, "SUB-6", "Authority 2 may subscribe."),
    rule!(
        Reading,
        l2_subscribe_16_a_websocket_tells_each_event_once,
        "PUSH-2 A-16",
        "websocket_url pushes the same notifications, in order, each once."
    ),
];

fn l2_subscribe_01_pushes_a_notification(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let mut push = reader.subscribe(&["memory.recorded"])?;
    for _ in 0..3 {
        let unit = author.record(finding(case.words("Bells rang")))?;
        push.until_unit("memory.recorded", &unit.id)?;
    }
    Ok(())
}

fn l2_subscribe_02_a_notification_has_its_shape(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let mut push = reader.subscribe(&["memory.recorded"])?;
    let unit = author.record(finding(case.words("Bells rang")))?;
    let got = push.until_unit("memory.recorded", &unit.id)?;
    same("subscription_id", got.text("/subscription_id")?, push.id.as_str())?;
    same("epoch", got.integer("/epoch")?, unit.epoch)?;
    let score = got.number("/relevance_score")?;
    ensure((0.0..=1.0).contains(&score), format!("a score of {score}"))?;
    ensure(!got.text("/summary")?.is_empty(), "the summary is empty")?;
    got.flag("/requires_action")?;
    got.has_keys("the notification", &["memory_unit_id", "conflict_id"])?;
    ensure(got.is_nothing("/conflict_id"), "a unit's notification has a conflict")
}

fn l2_subscribe_03_suppresses_what_is_below_min_relevance(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let mut all = reader.subscribe(&["memory.recorded"])?;
    let picky = reader.subscribe_with(&["memory.recorded"], json!({"min_relevance": 1.0}))?;
    let unit = author.record(finding(case.words("Bells rang")))?;
    let score = all.until_unit("memory.recorded", &unit.id)?.number("/relevance_score")?;
    ensure(score < 1.0, "an arbitrary unit scores 1.0, so that nothing can be below")?;
    let below = |got: &serde_json::Value| got["relevance_score"].as_f64().is_none_or(|s| s < 1.0);
    picky.stays_without("a notification below min_relevance", below)
}

fn l2_subscribe_04_debounces_per_entity(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let events = ["memory.recorded", "memory.superseded"];
    let slow = json!({"debounce_ms": 600_000});
    let (mut quick, mut slow) = (reader.subscribe(&events)?, reader.subscribe_with(&events, slow)?);
    let old = author.record(finding(case.words("Bells rang")))?;
    slow.until_unit("memory.recorded", &old.id)?;
    let new = finding(case.words("Bells are silent"));
    let new = author.record(crate::actors::json::with(new, relation("supersedes", &old.id)))?;
    quick.until_unit("memory.superseded", &old.id)?;
    slow.until_unit("memory.recorded", &new.id)?;
    let again = |got: &serde_json::Value| got["memory_unit_id"] == old.id.as_str();
    slow.stays_without("a second notification within debounce_ms", again)
}

fn l2_subscribe_05_lists_subscriptions(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let push = agent.subscribe(&["memory.recorded", "conflict.detected"])?;
    let answer = agent.ok("SUBSCRIBE", json!({"action": "list"}))?;
    let found = answer.list("/subscriptions")?.iter().find(|s| s["id"] == push.id.as_str());
    let mut events = found.cloned().unwrap_or_default().texts("/events")?;
    events.sort();
    same("events", events, vec!["conflict.detected".to_owned(), "memory.recorded".to_owned()])
}

fn l2_subscribe_06_answers_with_links(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let wanted = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let answer = agent.ok("SUBSCRIBE", wanted)?;
    same("status", answer.text("/status")?, "ok")?;
    ensure(!answer.text("/subscription/id")?.is_empty(), "the id is empty")?;
    answer.text("/sse_url")?;
    answer.text("/websocket_url").map(drop)
}

fn l2_subscribe_07_unsubscribes(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let push = agent.subscribe(&["memory.recorded"])?;
    let gone = json!({"action": "unsubscribe", "subscription": {"id": push.id}});
    same("status", agent.ok("SUBSCRIBE", gone)?.text("/status")?, "ok")?;
    let answer = agent.ok("SUBSCRIBE", json!({"action": "list"}))?;
    let listed = answer.list("/subscriptions")?.iter().any(|s| s["id"] == push.id.as_str());
    ensure(!listed, "the subscription is still listed")?;
    let unit = case.agent("scribe")?.record(finding(case.words("Bells rang")))?;
    let told = |got: &serde_json::Value| got["memory_unit_id"] == unit.id.as_str();
    push.ends_without("a notification after unsubscribe", told)
}

fn l2_subscribe_08_unsubscribe_of_an_unknown_one_is_not_found(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let payload =
        json!({"action": "unsubscribe", "subscription": {"id": format!("sub-{}", case.token)}});
    same("status", agent.ok("SUBSCRIBE", payload)?.text("/status")?, "not_found")
}

fn l2_subscribe_09_refuses_bad_requests(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let bad = [
        json!({"action": "shout"}),
        json!({"subscription": {"events": ["memory.recorded"]}}),
        json!({"action": "subscribe"}),
        json!({"action": "subscribe", "subscription": {"events": []}}),
        json!({"action": "subscribe", "subscription": {"events": ["memory.dreamt"]}}),
        json!({"action": "subscribe",
               "subscription": {"events": ["memory.recorded"], "min_relevance": 1.5}}),
        json!({"action": "subscribe",
               "subscription": {"events": ["memory.recorded"], "debounce_ms": -1}}),
        json!({"action": "unsubscribe"}),
    ];
    for payload in bad {
        agent.refused_somehow("SUBSCRIBE", payload)?;
    }
    Ok(())
}

fn l2_subscribe_10_resumes_after_the_last_event(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let mut push = reader.subscribe(&["memory.recorded"])?;
    let mut units = Vec::new();
    for _ in 0..2 {
        units.push(author.record(finding(case.words("Bells rang")))?);
    }
    push.until_unit("memory.recorded", &units[0].id)?;
    for _ in 0..2 {
        units.push(author.record(finding(case.words("Bells rang")))?);
    }
    let mut push = push.resume()?;
    for unit in &units[1..] {
        let ours =
            |got: &serde_json::Value| units.iter().any(|u| got["memory_unit_id"] == u.id.as_str());
        let got = push.until(ours)?;
        same("the next unit after the cut", got.text("/memory_unit_id")?, unit.id.as_str())?;
    }
    Ok(())
}

fn l2_subscribe_11_only_subscribed_events_come(case: &mut Case) -> Checked {
    let reader = case.agent("analyst")?;
    let mut push = reader.subscribe(&["conflict.detected"])?;
    let dispute = case.dispute()?;
    let got = push.until(|got| {
        got["conflict_id"] == dispute.id.as_str()
            || got["memory_unit_id"] == dispute.older.id.as_str()
                && got["event"] != "conflict.detected"
    })?;
    same("event", got.text("/event")?, "conflict.detected")
}

fn l2_subscribe_12_the_id_is_the_fields(case: &mut Case) -> Checked {
    let agent = case.agent("analyst")?;
    let (first, second) =
        (agent.subscribe(&["memory.recorded"])?, agent.subscribe(&["memory.recorded"])?);
    ensure(first.id != second.id, format!("both are {}", first.id))
}

fn l2_subscribe_13_refuses_a_stranger(case: &mut Case) -> Checked {
    let stranger = case.stranger();
    let payload = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    stranger.refused("SUBSCRIBE", payload, "AGENT_NOT_REGISTERED").map(drop)
}

fn l2_subscribe_14_lists_only_the_agents_own(case: &mut Case) -> Checked {
    let (agent, other) = (case.agent("analyst")?, case.agent("analyst")?);
    let push = agent.subscribe(&["memory.recorded"])?;
    let answer = other.ok("SUBSCRIBE", json!({"action": "list"}))?;
    let listed = answer.list("/subscriptions")?.iter().any(|s| s["id"] == push.id.as_str());
    ensure(!listed, "another agent's subscription is listed")
}

fn l2_subscribe_16_a_websocket_tells_each_event_once(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let wanted = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let answer = reader.ok("SUBSCRIBE", wanted)?;
    let link = answer.text("/websocket_url")?;
    let failed = |error: std::io::Error| Failed::Wrong(format!("the WebSocket {link}: {error}"));
    let mut socket = case.field.client.websocket(link, reader.key.as_deref()).map_err(failed)?;
    let mut units = Vec::new();
    for _ in 0..3 {
        units.push(author.record(finding(case.words("Bells rang")))?);
    }
    let mut next = units.iter();
    while let Some(unit) = next.as_slice().first() {
        let text = socket.next_within(case.field.push_wait).map_err(failed)?;
        let Some(text) = text else { return wrong("the expected notification did not come") };
        let got: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let about = got.text("/memory_unit_id")?;
        if units.iter().any(|other| other.id == about) {
            same("the next unit", about, unit.id.as_str())?;
            same("subscription_id", got.at("/subscription_id")?, answer.at("/subscription/id")?)?;
            next.next();
        }
    }
    Ok(())
}

fn l3_subscribe_15_observers_may_subscribe(case: &mut Case) -> Checked {
    case.agent_of(2)?.subscribe(&["memory.recorded"]).map(drop)
}
