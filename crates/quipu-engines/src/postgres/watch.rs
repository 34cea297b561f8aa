//! How followers learn about appends of other nodes. The head rows are polled, and that is what counts; notifications
//! only make it faster. Behind a pooler in transaction mode notifications never arrive, so polling is more frequent.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use quipu_log::FieldName;
use tokio::{
    sync::{Notify, mpsc},
    time::{sleep, timeout},
};
use tokio_postgres::{
    AsyncMessage,
    types::{ToSql, Type},
};

use super::pool::Pool;
use crate::followers::Followers;

/// How often the heads are polled while notifications arrive.
const POLL_RARELY: Duration = Duration::from_millis(250);
/// How often they are polled while none arrive.
const POLL_OFTEN: Duration = Duration::from_millis(10);
/// How long this node's own notification may take to come back.
const ECHO: Duration = Duration::from_secs(2);
/// How long a statement may take before its connection counts as lost: a connection that is half dead must not be
/// kept.
const STATEMENT: Duration = Duration::from_secs(20);
const LISTEN_AGAIN: Duration = Duration::from_secs(30);
/// Appends within this time are notified together: each commit that notifies waits for all others that do.
const GATHER: Duration = Duration::from_millis(2);

const HEADS: &str = "SELECT name, position FROM quipu.fields WHERE name = ANY($1)";
const LISTEN: &str = "LISTEN quipu_heads";
/// The most fields that one notification names. The others are found by polling.
const NAMED: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) followers: Followers,
    appended: Notify,
    /// Positions that this node appended and has not announced yet.
    unannounced: Mutex<BTreeMap<FieldName, u64>>,
    hinted: Notify,
    listening: AtomicBool,
}

impl Watch {
    /// Records an append of this node, which is then announced to the others.
    pub(super) fn appended(&self, field: &FieldName, position: u64) {
        self.followers.reached(field.as_str(), position);
        self.unannounced().insert(field.clone(), position);
        self.appended.notify_one();
    }

    fn unannounced(&self) -> MutexGuard<'_, BTreeMap<FieldName, u64>> {
        self.unannounced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a notification: how far a field has grown, or only that something has.
    fn heed(&self, payload: &str) {
        let named = payload.split_once(' ').and_then(|(name, at)| Some((name, at.parse().ok()?)));
        match named {
            Some((name, position)) => self.followers.reached(name, position),
            None => self.hinted.notify_one(),
        }
    }
}

/// Polls the heads of the fields that are followed, for ever.
pub(super) async fn poll(watch: Arc<Watch>, pool: Arc<Pool>) {
    loop {
        let names = watch.followers.waited_for();
        if !names.is_empty() {
            poll_once(&watch, &pool, &names).await;
        }
        let listening = watch.listening.load(Ordering::Relaxed);
        let pause = if listening { POLL_RARELY } else { POLL_OFTEN };
        tokio::select! {
            () = watch.hinted.notified() => {}
            () = watch.followers.wanted.notified() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Heads that cannot be read now are read the next time. A follower reads for itself and gets the error.
async fn poll_once(watch: &Watch, pool: &Arc<Pool>, names: &[FieldName]) {
    let Ok(client) = pool.lease().await else { return };
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let parameters: [(&(dyn ToSql + Sync), Type); 1] = [(&names, Type::TEXT_ARRAY)];
    match timeout(STATEMENT, client.query_typed(HEADS, &parameters)).await {
        Ok(Ok(rows)) => {
            for row in rows {
                let position = u64::try_from(row.get::<_, i64>(1)).unwrap_or_default();
                watch.followers.reached(row.get(0), position);
            }
        }
        Ok(Err(_)) | Err(_) => client.give_up(),
    }
}

/// Notifies other nodes of appends, for ever.
pub(super) async fn notify_others(watch: Arc<Watch>, pool: Arc<Pool>) {
    loop {
        watch.appended.notified().await;
        if let Ok(client) = pool.lease().await {
            let news = notification(&std::mem::take(&mut *watch.unannounced()));
            let sent = timeout(STATEMENT, client.batch_execute(&news)).await;
            if !matches!(sent, Ok(Ok(()))) {
                tracing::debug!("other nodes were not notified; they look by themselves");
                client.give_up();
            }
        }
        sleep(GATHER).await;
    }
}

/// The SQL of a notification: a transaction of its own after the append, whose commit nobody waits for.
fn notification(news: &BTreeMap<FieldName, u64>) -> String {
    let mut sql = "BEGIN; SET LOCAL synchronous_commit = off; ".to_owned();
    for (name, position) in news.iter().take(NAMED) {
        // Field names need no quoting.
        sql.push_str(&format!("NOTIFY quipu_heads, '{name} {position}'; "));
    }
    if news.is_empty() || news.len() > NAMED {
        sql.push_str("NOTIFY quipu_heads; ");
    }
    sql + "COMMIT"
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
    let (heard, mut hears) = mpsc::unbounded_channel::<String>();
    let driving = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| driver.poll_message(cx)).await {
            if let AsyncMessage::Notification(said) = message {
                heard.send(said.payload().to_owned()).ok();
            }
        }
    });
    client.batch_execute(LISTEN).await?;
    // The notification is sent through another session. Behind a pooler it does not come back.
    watch.appended.notify_one();
    if timeout(ECHO, hears.recv()).await.is_ok_and(|heard| heard.is_some()) {
        watch.listening.store(true, Ordering::Relaxed);
        while let Some(said) = hears.recv().await {
            watch.heed(&said);
        }
    } else {
        tracing::info!("the database's notifications do not arrive here: looking at it more often");
    }
    driving.abort();
    drop(client);
    Ok(())
}
