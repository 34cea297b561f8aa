//! How followers learn of what other nodes append. The head rows are the truth and are looked at again and again;
//! a notification only makes the next look come sooner. Behind a pooler that gives every transaction another
//! session no notification ever arrives; then the looks come more often.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_postgres::AsyncMessage;
use tokio_postgres::types::{ToSql, Type};

use super::pool::Pool;
use crate::followers::Followers;

/// How often the heads are looked at while notifications arrive.
const LOOK_RARELY: Duration = Duration::from_millis(250);
/// How often they are looked at while none do.
const LOOK_OFTEN: Duration = Duration::from_millis(10);
/// How long our own notification may take to come back.
const ECHO: Duration = Duration::from_secs(2);
/// How long a statement may take before its connection counts as lost: one that is half dead must not be kept.
const STATEMENT: Duration = Duration::from_secs(20);
/// The pause before another try to listen.
const LISTEN_AGAIN: Duration = Duration::from_secs(30);
/// Notifications closer together than this are one: a commit that notifies waits for all others that do.
const GATHER: Duration = Duration::from_millis(2);

const HEADS: &str = "SELECT name, position FROM quipu.fields WHERE name = ANY($1)";
const LISTEN: &str = "LISTEN quipu_heads";
/// A commit of its own after the append, and nobody waits until it is on disk.
const NOTIFY: &str = "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY quipu_heads; COMMIT";

/// The background work of an engine.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) followers: Followers,
    appended: Notify,
    hinted: Notify,
    listening: AtomicBool,
}

impl Watch {
    /// Says that this node appended: others are told.
    pub(super) fn appended(&self) {
        self.appended.notify_one();
    }
}

/// Looks at the heads of the fields that are followed, for ever.
pub(super) async fn look(watch: Arc<Watch>, pool: Arc<Pool>) {
    loop {
        let names = watch.followers.waited_for();
        if names.is_empty() {
            watch.followers.wanted.notified().await;
            continue;
        }
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        // What cannot be read now is read at the next look; a follower reads for itself and is told the error.
        if let Ok(client) = pool.lease().await {
            let asked: [(&(dyn ToSql + Sync), Type); 1] = [(&names, Type::TEXT_ARRAY)];
            match timeout(STATEMENT, client.query_typed(HEADS, &asked)).await {
                Ok(Ok(rows)) => {
                    for row in rows {
                        let position = u64::try_from(row.get::<_, i64>(1)).unwrap_or_default();
                        watch.followers.reached(row.get(0), position);
                    }
                }
                Ok(Err(_)) | Err(_) => client.give_up(),
            }
        }
        let listening = watch.listening.load(Ordering::Relaxed);
        let pause = if listening { LOOK_RARELY } else { LOOK_OFTEN };
        tokio::select! {
            () = watch.hinted.notified() => {}
            () = watch.followers.wanted.notified() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Tells other nodes of what was appended, for ever.
pub(super) async fn tell(watch: Arc<Watch>, pool: Arc<Pool>) {
    loop {
        watch.appended.notified().await;
        if let Ok(client) = pool.lease().await {
            let told = timeout(STATEMENT, client.batch_execute(NOTIFY)).await;
            if !matches!(told, Ok(Ok(()))) {
                tracing::debug!("other nodes were not notified; they look by themselves");
                client.give_up();
            }
        }
        sleep(GATHER).await;
    }
}

/// Listens on a connection of its own, for ever.
pub(super) async fn listen(watch: Arc<Watch>, pool: Arc<Pool>) {
    loop {
        if let Err(error) = listen_once(&watch, &pool).await {
            tracing::debug!(%error, "not listening to other nodes");
        }
        watch.listening.store(false, Ordering::Relaxed);
        sleep(LISTEN_AGAIN).await;
    }
}

async fn listen_once(watch: &Watch, pool: &Arc<Pool>) -> Result<(), tokio_postgres::Error> {
    let (client, mut driver) = pool.listener().await?;
    let (heard, mut hears) = mpsc::channel::<()>(1);
    let driving = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| driver.poll_message(cx)).await {
            if let AsyncMessage::Notification(_) = message {
                // One that waits already says as much as two.
                heard.try_send(()).ok();
            }
        }
    });
    client.batch_execute(LISTEN).await?;
    // Told through another session: behind a pooler it does not come back.
    watch.appended();
    if timeout(ECHO, hears.recv()).await.is_ok_and(|heard| heard.is_some()) {
        watch.listening.store(true, Ordering::Relaxed);
        while hears.recv().await.is_some() {
            watch.hinted.notify_one();
        }
    } else {
        tracing::info!("the database's notifications do not arrive here: looking at it more often");
    }
    driving.abort();
    drop(client);
    Ok(())
}
