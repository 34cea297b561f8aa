//! Which resources each client listens to. In the generation 2025-11-25 a client subscribes to resources one by one
//! and gets notifications on its session's stream; in 2026-07-28 it opens one stream for all of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use quipu_wire::akashik::{PushNotification, SubscriptionEvent};
use rmcp::{
    ErrorData, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{Peer, RequestContext, SubscriptionContext, SubscriptionSendError},
};
use tokio::sync::watch;

use super::feed::Feed;
use crate::{caller::Caller, shared::Shared, uri::ResourceUri};

/// How many resources one client may listen to.
const RESOURCES_MAX: usize = 1024;

/// The resources to which a client of 2025-11-25 listens. Dropping this ends the feed.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(Mutex<Option<FeedHandle>>);

#[derive(Debug)]
struct FeedHandle {
    wanted: Arc<Mutex<Wanted>>,
    /// The receiver is dropped when the feed has ended. Dropping this sender ends the feed.
    stop: watch::Sender<()>,
}

/// The resources by the URI that the client wrote, which may be spelled differently from ours.
type Wanted = BTreeMap<String, ResourceUri>;

impl Subscriptions {
    /// Adds a resource, and opens the feed for the first one.
    pub(crate) async fn add<C: Caller>(
        &self,
        shared: &Arc<Shared<C>>,
        uri: String,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(parsed) = ResourceUri::parse(&uri) else {
            let problem = format!("Resource not found: {uri}: no such kind");
            return Err(ErrorData::resource_not_found(problem, None));
        };
        let (wanted, stopped) = {
            let mut listening = locked(&self.0);
            if let Some(listening) = listening.as_ref().filter(|held| !held.stop.is_closed()) {
                return want(&listening.wanted, uri, parsed);
            }
            let (stop, stopped) = watch::channel(());
            let wanted = Arc::default();
            want(&wanted, uri, parsed)?;
            *listening = Some(FeedHandle { wanted: Arc::clone(&wanted), stop });
            (wanted, stopped)
        };
        notify_until_stopped(Arc::clone(shared), context, wanted, stopped).await
    }

    /// Removes a resource, and ends the feed with the last one.
    pub(crate) fn remove(&self, uri: &str) {
        let mut listening = locked(&self.0);
        let Some(held) = listening.as_ref() else { return };
        let is_last = {
            let mut wanted = locked(&held.wanted);
            wanted.remove(uri);
            wanted.is_empty()
        };
        if is_last {
            *listening = None;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn want(wanted: &Mutex<Wanted>, uri: String, parsed: ResourceUri) -> Result<(), ErrorData> {
    let mut wanted = locked(wanted);
    if wanted.len() >= RESOURCES_MAX && !wanted.contains_key(&uri) {
        let problem = format!("{RESOURCES_MAX} resources are subscribed to already");
        return Err(ErrorData::invalid_params(problem, None));
    }
    wanted.insert(uri, parsed);
    Ok(())
}

/// Opens the feed and starts a task that notifies the client until it is stopped.
async fn notify_until_stopped<C: Caller>(
    shared: Arc<Shared<C>>,
    context: RequestContext<RoleServer>,
    wanted: Arc<Mutex<Wanted>>,
    mut stopped: watch::Receiver<()>,
) -> Result<(), ErrorData> {
    // The feed borrows from the task that reads it, so that task has to open it.
    let (opened, opening) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let _listens = shared.listeners.subscribe();
        let mut feed = match Feed::open(shared.invoker(&context)).await {
            Ok(feed) => feed,
            Err(error) => {
                opened.send(Err(error)).ok();
                return;
            }
        };
        opened.send(Ok(())).ok();
        loop {
            tokio::select! {
                // Nothing is ever sent on this channel: it changes when the sender is dropped.
                _ = stopped.changed() => break,
                push = feed.next() => if notify_client(&context.peer, &wanted, &push).await.is_err() { break },
            }
        }
        feed.close().await;
    });
    let gone = || ErrorData::internal_error("the subscription ended at once", None);
    opening.await.unwrap_or_else(|_| Err(gone()))
}

async fn notify_client(
    peer: &Peer<RoleServer>,
    wanted: &Mutex<Wanted>,
    push: &PushNotification,
) -> Result<(), rmcp::ServiceError> {
    let touched: Vec<String> = {
        let wanted = locked(wanted);
        let touched = wanted.iter().filter(|(_, resource)| touches(push, resource));
        touched.map(|(uri, _)| uri.clone()).collect()
    };
    for uri in touched {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    if changes_list(push) {
        peer.notify_resource_list_changed().await?;
    }
    Ok(())
}

fn touches(push: &PushNotification, resource: &ResourceUri) -> bool {
    resource.is_touched(push.memory_unit_id.as_deref(), push.conflict_id.as_deref())
}

fn changes_list(push: &PushNotification) -> bool {
    matches!(
        push.event,
        SubscriptionEvent::MemoryRecorded
            | SubscriptionEvent::ConflictDetected
            | SubscriptionEvent::ConflictResolved
    )
}

/// The part of a client's filter (2026-07-28) that this server can serve.
pub(crate) fn accepted_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|uris| {
        let known = uris.iter().filter(|uri| ResourceUri::parse(uri).is_some());
        known.take(RESOURCES_MAX).cloned().collect()
    });
    accepted
}

/// Notifies a client of 2026-07-28 about the resources that it listens to, until it stops.
///
/// The client was acknowledged before the feed opens. Once it is open, the client is notified of every resource: by
/// reading them again it cannot miss a change in between.
pub(crate) async fn listen<C: Caller>(
    shared: &Shared<C>,
    context: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let _listens = shared.listeners.subscribe();
    let mut feed = Feed::open(shared.invoker(context.request_context())).await?;
    let listener = Listener::of(context);
    let mut sent = listener.notify(|_| true, true).await;
    while sent.is_ok() {
        let push = tokio::select! {
            () = context.cancelled() => break,
            push = feed.next() => push,
        };
        sent = listener.notify(|resource| touches(&push, resource), changes_list(&push)).await;
    }
    feed.close().await;
    Ok(())
}

/// The stream of one client of 2026-07-28.
struct Listener<'a> {
    context: &'a SubscriptionContext,
    wanted: Vec<(String, ResourceUri)>,
}

impl<'a> Listener<'a> {
    fn of(context: &'a SubscriptionContext) -> Self {
        let uris = context.accepted().resource_subscriptions.iter().flatten();
        let wanted = uris.filter_map(|uri| Some((uri.clone(), ResourceUri::parse(uri)?)));
        Self { context, wanted: wanted.collect() }
    }

    /// Notifies the client of the resources that changed, and of a changed list if it listens to the list.
    async fn notify(
        &self,
        is_changed: impl Fn(&ResourceUri) -> bool,
        list_changed: bool,
    ) -> Result<(), SubscriptionSendError> {
        let sink = self.context.sink();
        for (uri, _) in self.wanted.iter().filter(|(_, resource)| is_changed(resource)) {
            sink.notify_resource_updated(uri).await?;
        }
        if list_changed && self.context.accepted().resources_list_changed == Some(true) {
            sink.notify_resource_list_changed().await?;
        }
        Ok(())
    }
}
