//! The pushes for one client: a subscription of the host's agent, which lives as long as the client listens.

use std::time::Duration;

use quipu_wire::akashik::{Operation, PushNotification, SubscribeResponse, SubscriptionEvent};
use rmcp::ErrorData;
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    caller::{Caller, PushPosition, Verb},
    invoke::{Invoker, Speaker, refusal_text},
};

/// The pause before a broken stream is opened again.
const PAUSE: Duration = Duration::from_secs(1);

const EVENTS: [SubscriptionEvent; 7] = [
    SubscriptionEvent::MemoryRecorded,
    SubscriptionEvent::MemorySuperseded,
    SubscriptionEvent::MemoryRestored,
    SubscriptionEvent::MemoryContested,
    SubscriptionEvent::ConflictDetected,
    SubscriptionEvent::ConflictResolved,
    SubscriptionEvent::TaskStateChanged,
];

#[derive(Debug)]
pub(crate) struct Feed<'a, C> {
    invoker: Invoker<'a, C>,
    host: Speaker,
    subscription: String,
    /// The cursor of the last push, after which a new stream continues.
    cursor: String,
    pushes: mpsc::Receiver<PushNotification>,
}

impl<'a, C: Caller> Feed<'a, C> {
    /// Subscribes and opens the stream.
    pub(crate) async fn open(invoker: Invoker<'a, C>) -> Result<Self, ErrorData> {
        let host = invoker.host().await;
        let (subscription, cursor) = subscribe(&invoker, &host).await?;
        let pushes = follow(&invoker, &host, &subscription, &cursor).await?;
        Ok(Self { invoker, host, subscription, cursor, pushes })
    }

    /// Waits for the next push. If the stream ends, opens it again at the same cursor, as often as needed.
    pub(crate) async fn next(&mut self) -> PushNotification {
        loop {
            if let Some(push) = self.pushes.recv().await {
                self.cursor.clone_from(&push.cursor);
                return push;
            }
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = self.reopen().await {
                tracing::debug!(%error, "a stream of pushes cannot be opened again yet");
            }
        }
    }

    async fn reopen(&mut self) -> Result<(), ErrorData> {
        let Self { invoker, host, subscription, cursor, .. } = self;
        match follow(invoker, host, subscription, cursor).await {
            Ok(pushes) => self.pushes = pushes,
            // The subscription may be gone: a Field in memory is empty after a restart. So subscribe again.
            Err(_) => {
                let (subscription, cursor) = subscribe(&self.invoker, &self.host).await?;
                self.pushes = follow(&self.invoker, &self.host, &subscription, &cursor).await?;
                (self.subscription, self.cursor) = (subscription, cursor);
            }
        }
        Ok(())
    }

    /// Ends the subscription.
    pub(crate) async fn close(self) {
        let payload = json!({"action": "unsubscribe", "subscription": {"id": self.subscription}});
        let call =
            self.invoker.call(&self.host, None, Verb::Operate(Operation::Subscribe, payload));
        if let Err(error) = self.invoker.caller.call(call).await {
            tracing::warn!(%error, "a subscription could not be ended");
        }
    }
}

async fn subscribe<C: Caller>(
    invoker: &Invoker<'_, C>,
    host: &Speaker,
) -> Result<(String, String), ErrorData> {
    let payload = json!({"action": "subscribe", "subscription": {"events": EVENTS}});
    let session = invoker.presented.session.clone();
    let call = invoker.call(host, session, Verb::Operate(Operation::Subscribe, payload));
    let answer = invoker.as_registered(host, None, call).await?;
    if answer.status != 200 {
        return Err(ErrorData::internal_error(refusal_text(&answer), Some(answer.body)));
    }
    let made: Option<SubscribeResponse> = serde_json::from_value(answer.body).ok();
    let made = made.and_then(|made| made.subscription);
    made.map(|made| (made.id, made.cursor))
        .ok_or_else(|| ErrorData::internal_error("the subscription has no id", None))
}

async fn follow<C: Caller>(
    invoker: &Invoker<'_, C>,
    host: &Speaker,
    subscription: &str,
    cursor: &str,
) -> Result<mpsc::Receiver<PushNotification>, ErrorData> {
    let from = PushPosition { subscription, cursor };
    Ok(invoker.caller.follow(&invoker.presented, host.name(), from).await?)
}
