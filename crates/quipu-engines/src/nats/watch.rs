//! How followers learn of what other nodes append. The stream is the truth and is looked at again and again; what the
//! server says about a stored group says how far a field has come a little sooner.

use std::{sync::Arc, time::Duration};

use async_nats::Client;
use futures_util::{StreamExt, stream};
use quipu_log::FieldName;
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::{engine::States, message::GroupMark, stream::HEADS, tail};
use crate::followers::Followers;

/// How often streams are looked at without a hint.
const POLL: Duration = Duration::from_millis(250);
/// How long one is looked at: where nobody leads it, the others must not wait for that.
const READ_MAX: Duration = Duration::from_secs(1);
/// How many streams are looked at together.
const TOGETHER: usize = 16;
/// The pause before another try to listen.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// The background work of an engine.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) followers: Followers,
    hinted: Notify,
}

/// Looks at the streams that are followed, for ever.
pub(super) async fn poll(watch: Arc<Watch>, states: Arc<States>, client: Client) {
    loop {
        // Side by side: a stream that has no leader for a while holds up the others for a moment only.
        let fields = stream::iter(watch.followers.waited_for());
        let polls = fields
            .for_each_concurrent(TOGETHER, |field| poll_once(&watch, &states, &client, field));
        polls.await;
        tokio::select! {
            () = watch.hinted.notified() => {}
            () = watch.followers.wanted.notified() => {}
            () = sleep(POLL) => {}
        }
    }
}

/// What cannot be read now is read at the next look; a follower reads for itself and is told the error.
async fn poll_once(watch: &Watch, states: &States, client: &Client, field: FieldName) {
    let state = states.of(&field);
    let read = timeout(READ_MAX, tail::find(client, &state.stream, state.remembered_tail()));
    if let Ok(Ok(Some(tail))) = read.await {
        state.learn(tail);
        watch.followers.reached(field.as_str(), tail.head.position);
    }
}

/// Listens to what the server says about stored groups, for ever.
pub(super) async fn listen(watch: Arc<Watch>, client: Client) {
    loop {
        if let Ok(mut heads) = client.subscribe(format!("{HEADS}.*")).await {
            while let Some(hint) = heads.next().await {
                let field = hint.subject.as_str().rsplit('.').next().unwrap_or_default();
                match hint.headers.as_ref().and_then(GroupMark::in_headers) {
                    Some(mark) if mark.is_last_part() => watch.followers.reached(field, mark.last),
                    Some(_) => {}
                    None => watch.hinted.notify_one(),
                }
            }
        }
        sleep(LISTEN_AGAIN).await;
    }
}
