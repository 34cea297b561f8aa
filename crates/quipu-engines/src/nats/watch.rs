//! How followers learn of what other nodes append. The stream is the truth and is looked at again and again; what the
//! server says about a stored group only makes the next look come sooner.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use futures_util::StreamExt;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::engine::States;
use super::stream::HEADS;
use super::tail;
use crate::followers::Followers;

/// How often streams are looked at without a hint.
const LOOK: Duration = Duration::from_millis(250);
/// The pause before another try to listen.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// The background work of an engine.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) followers: Followers,
    hinted: Notify,
}

/// Looks at the streams that are followed, for ever.
pub(super) async fn look(watch: Arc<Watch>, states: Arc<States>, client: Client) {
    loop {
        let fields = watch.followers.waited_for();
        if fields.is_empty() {
            watch.followers.wanted.notified().await;
            continue;
        }
        for field in fields {
            let state = states.of(&field);
            // What cannot be read now is read at the next look; a follower reads for itself and is told the error.
            if let Ok(Some(tail)) = tail::look(&client, &state.stream, state.known()).await {
                state.learn(tail);
                watch.followers.reached(field.as_str(), tail.head.position);
            }
        }
        tokio::select! {
            () = watch.hinted.notified() => {}
            () = watch.followers.wanted.notified() => {}
            () = sleep(LOOK) => {}
        }
    }
}

/// Listens to what the server says about stored groups, for ever.
pub(super) async fn listen(watch: Arc<Watch>, client: Client) {
    loop {
        if let Ok(mut heads) = client.subscribe(format!("{HEADS}.*")).await {
            while heads.next().await.is_some() {
                watch.hinted.notify_one();
            }
        }
        sleep(LISTEN_AGAIN).await;
    }
}
