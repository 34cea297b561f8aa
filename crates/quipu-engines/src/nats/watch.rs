//! How followers learn about appends of other nodes. The streams are polled, and that is what counts; the server's
//! announcements of stored groups only make it faster.

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

/// How often streams are polled if no announcement comes.
const POLL: Duration = Duration::from_millis(250);
/// How long reading one stream may take. A stream without a leader must not hold up the others.
const READ_MAX: Duration = Duration::from_secs(1);
/// How many streams are read at the same time.
const TOGETHER: usize = 16;
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) followers: Followers,
    hinted: Notify,
}

/// Polls the streams that are followed, for ever.
pub(super) async fn poll(watch: Arc<Watch>, states: Arc<States>, client: Client) {
    loop {
        // Concurrently: a stream without a leader holds up the others only for a moment.
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

/// A tail that cannot be read now is read the next time. A follower reads for itself and gets the error.
async fn poll_once(watch: &Watch, states: &States, client: &Client, field: FieldName) {
    let state = states.of(&field);
    let read = timeout(READ_MAX, tail::find(client, &state.stream, state.remembered_tail()));
    if let Ok(Ok(Some(tail))) = read.await {
        state.learn(tail);
        watch.followers.reached(field.as_str(), tail.head.position);
    }
}

/// Listens to the servers' announcements of stored groups, for ever.
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
