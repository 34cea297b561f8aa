//! Subscriptions and their streams of notifications.

use serde_json::{Value, json};

use crate::{
    actors::{
        agent::Agent,
        check::{Checked, Failed, ensure, wrong},
        json::{JsonAccess, with},
    },
    http::{EventStream, StreamEvent},
    limits::{PUSH_EVENTS_MAX, QUIET_WAIT},
};

/// A subscription with an open stream.
#[derive(Debug)]
pub(crate) struct Subscription {
    agent: Agent,
    pub(crate) id: String,
    pub(crate) link: String,
    stream: EventStream,
    /// The cursor of the last event that was read.
    pub(crate) cursor: Option<String>,
}

impl Agent {
    /// Subscribes to these events and opens the stream.
    pub(crate) fn subscribe(&self, events: &[&str]) -> Checked<Subscription> {
        self.subscribe_with(events, json!({}))
    }

    /// Subscribes with more keys in `subscription`.
    pub(crate) fn subscribe_with(&self, events: &[&str], more: Value) -> Checked<Subscription> {
        let wanted = with(json!({"events": events}), more);
        let answer =
            self.ok("SUBSCRIBE", json!({"action": "subscribe", "subscription": wanted}))?;
        let id = answer.text("/subscription/id")?.to_owned();
        let link = answer.text("/sse_url")?.to_owned();
        let stream = self.open(&link, None)?;
        Ok(Subscription { agent: self.clone(), id, link, stream, cursor: None })
    }

    fn open(&self, link: &str, cursor: Option<&str>) -> Checked<EventStream> {
        let stream = self.field.client.stream(link, self.key.as_deref(), cursor);
        stream.map_err(|error| Failed::Wrong(format!("the event stream {link}: {error}")))
    }
}

impl Subscription {
    /// Reads until a notification meets the condition and returns it.
    pub(crate) fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Checked<Value> {
        for _ in 0..PUSH_EVENTS_MAX {
            let event = self.stream.next_within(self.agent.field.push_wait);
            let event = event.map_err(|error| Failed::Wrong(format!("push: {error}")))?;
            let Some(event) = event else { return wrong("the expected notification did not come") };
            let notification = self.take(event)?;
            if fits(&notification) {
                return Ok(notification);
            }
        }
        wrong(format!("{PUSH_EVENTS_MAX} notifications came, but not the expected one"))
    }

    /// Reads until a notification of this event about this unit.
    pub(crate) fn until_unit(&mut self, event: &str, unit: &str) -> Checked<Value> {
        let about = json!(unit);
        self.until(|got| got["event"] == event && got["memory_unit_id"] == about)
    }

    /// Reads until a notification of this event.
    pub(crate) fn until_event(&mut self, event: &str) -> Checked<Value> {
        self.until(|got| got["event"] == event)
    }

    /// Watches the stream for a while and fails if a notification meets the condition.
    pub(crate) fn stays_without(mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Checked {
        for _ in 0..PUSH_EVENTS_MAX {
            let event = self.stream.next_within(QUIET_WAIT);
            let event = event.map_err(|error| Failed::Wrong(format!("push: {error}")))?;
            let Some(event) = event else { return Ok(()) };
            let notification = self.take(event)?;
            ensure(!fits(&notification), format!("{what}: {notification}"))?;
        }
        Ok(())
    }

    /// As [`Self::stays_without`], for a stream that may also end.
    pub(crate) fn ends_without(mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Checked {
        for _ in 0..PUSH_EVENTS_MAX {
            let Ok(Some(event)) = self.stream.next_within(QUIET_WAIT) else { return Ok(()) };
            let notification = self.take(event)?;
            ensure(!fits(&notification), format!("{what}: {notification}"))?;
        }
        Ok(())
    }

    /// Closes the stream and resumes it after the last event that was read.
    pub(crate) fn resume(self) -> Checked<Self> {
        let Some(cursor) = self.cursor else { return wrong("the events of the stream have no id") };
        drop(self.stream);
        let stream = self.agent.open(&self.link, Some(&cursor))?;
        Ok(Self { agent: self.agent, id: self.id, link: self.link, stream, cursor: Some(cursor) })
    }

    fn take(&mut self, event: StreamEvent) -> Checked<Value> {
        if event.id.is_some() {
            self.cursor = event.id;
        }
        let parsed: Result<Value, _> = serde_json::from_str(&event.data);
        let value = parsed.map_err(|_| Failed::Wrong(format!("not JSON: {:?}", event.data)))?;
        Ok(match value.get("payload") {
            Some(payload) if value.get("protocol").is_some() => payload.clone(),
            _ => value,
        })
    }
}
