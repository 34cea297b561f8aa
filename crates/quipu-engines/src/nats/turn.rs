//! Turns to append, by messages between nodes. A stream does not make writers wait, so the nodes coordinate: a node
//! that wants to append announces it, and a node that has appended says who is next and where the log ends now. None
//! of it is stored or needed for safety: the stream compares sequences, and a node that receives nothing for a while
//! goes ahead.
//!
//! ```text
//! want TICKET
//! done TICKET NEXT [FIRST SPAN POSITION EPOCH HASH GROUP LAST]      NEXT is - where nobody waits
//! ```

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_nats::{Client, connection::State};
use futures_util::StreamExt;
use quipu_log::{EngineError, FieldName, Head};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::{
    engine::{FieldState, States},
    locate::GroupSpan,
    tail::{self, Tail},
    turn_queue::{Queue, Ticket},
};

/// The subject for messages about turns. Nobody keeps them.
const TURNS: &str = "quipu_turns";
/// How long the node that has the turn may be silent.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many times a node waits that long.
const WAITS: usize = 3;
/// The pause before another try to listen.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// What this node knows about the turns of one field.
#[derive(Debug, Default)]
pub(super) struct Turns {
    queue: Mutex<Queue>,
    changed: Notify,
    /// The turn that this node has.
    held: Mutex<Option<Ticket>>,
}

/// Creates tickets that are unique among all nodes.
#[derive(Debug)]
pub(super) struct Tickets {
    node: String,
    drawn: AtomicU64,
}

impl Tickets {
    pub(super) fn new(client: &Client) -> Self {
        let inbox = client.new_inbox();
        let node = inbox.rsplit('.').next().unwrap_or(&inbox).to_owned();
        Self { node, drawn: AtomicU64::default() }
    }

    /// Whether the ticket belongs to this node. Its own message that it gave one back arrives only after a while.
    fn is_own(&self, ticket: &str) -> bool {
        ticket.strip_prefix(self.node.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }

    fn draw(&self) -> Ticket {
        format!("{}/{}", self.node, self.drawn.fetch_add(1, Ordering::Relaxed))
    }
}

impl Turns {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the turn that this node has and returns the previous one.
    pub(super) fn hold(&self, ticket: Option<Ticket>) -> Option<Ticket> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, ticket)
    }

    fn has_one(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Waits until the ticket has the turn. Returns whether it got it.
    async fn wait_for(&self, ticket: &str) -> bool {
        for _ in 0..WAITS {
            let before = loop {
                let changed = self.changed.notified();
                let changes = {
                    let queue = self.queue();
                    if queue.is_turn_of(ticket) {
                        return true;
                    }
                    queue.changes()
                };
                if timeout(PATIENCE, changed).await.is_err() {
                    break changes;
                }
            };
            let mut queue = self.queue();
            if queue.changes() == before {
                queue.pass_over();
                self.changed.notify_waiters();
            }
        }
        false
    }
}

/// Waits for this node's turn and returns the tail of the log; `None` if the turn never came.
pub(super) async fn take(
    client: &Client,
    state: &FieldState,
    tickets: &Tickets,
    known: u64,
) -> Result<Option<Head>, EngineError> {
    end(client, state).await;
    let ticket = tickets.draw();
    say(client, state, format!("want {ticket}")).await;
    if !state.turns.wait_for(&ticket).await {
        pass_on(client, state, &ticket).await;
        return Ok(None);
    }
    state.turns.hold(Some(ticket));
    match head(client, state, known).await {
        Ok(head) if head.is_some() => Ok(head),
        other => {
            end(client, state).await;
            other
        }
    }
}

async fn head(
    client: &Client,
    state: &FieldState,
    known: u64,
) -> Result<Option<Head>, EngineError> {
    // The previous holder of the turn said where the log ends. If it did not, the tail is read. If it was wrong, the
    // stream refuses the append.
    let tail = match state.remembered_tail() {
        Some(tail) if tail.head.position >= known && tail.group > 0 => tail,
        _ => {
            let Some(tail) = tail::find(client, &state.stream, state.remembered_tail()).await?
            else {
                return Ok(None);
            };
            state.learn(tail);
            tail
        }
    };
    Ok(Some(tail.head))
}

/// Makes a node that would append without a turn join those who wait for theirs: it would always be faster than nodes
/// that first have to read what it wrote.
pub(super) async fn let_others_go(client: &Client, state: &FieldState, tickets: &Tickets) {
    let wanted = state.turns.queue().is_wanted(|ticket| !tickets.is_own(ticket));
    // A disconnected node learns that from the append, not from waiting for others.
    let connected = client.connection_state() == State::Connected;
    if state.turns.has_one() || !wanted || !connected {
        return;
    }
    let ticket = tickets.draw();
    say(client, state, format!("want {ticket}")).await;
    state.turns.wait_for(&ticket).await;
    if let Some(earlier) = state.turns.hold(Some(ticket)) {
        pass_on(client, state, &earlier).await;
    }
}

/// Passes this node's turn on, if it has one.
pub(super) async fn end(client: &Client, state: &FieldState) {
    if let Some(ticket) = state.turns.hold(None) {
        pass_on(client, state, &ticket).await;
    }
}

pub(super) async fn pass_on(client: &Client, state: &FieldState, ticket: &str) {
    let next = state.turns.queue().next().unwrap_or("-").to_owned();
    let end = state.remembered_tail().and_then(|tail| {
        let GroupSpan { first, span, .. } = state.groups.last(tail.head.position)?;
        let Head { position, epoch, hash } = tail.head;
        let (group, last) = (tail.group, tail.last_sequence);
        Some(format!(" {first} {span} {position} {epoch} {hash} {group} {last}"))
    });
    say(client, state, format!("done {ticket} {next}{}", end.unwrap_or_default())).await;
}

/// Publishes a message about a turn. If that fails, the other nodes go ahead after a while.
async fn say(client: &Client, state: &FieldState, what: String) {
    let subject = format!("{TURNS}.{}", state.stream.field);
    if client.publish(subject, what.into()).await.is_err() {
        tracing::debug!(field = %state.stream.field, "the other nodes could not be told about a turn");
    }
}

/// Receives the messages of all nodes, including this one, for ever.
pub(super) async fn listen(states: Arc<States>, client: Client) {
    loop {
        if let Ok(mut said) = client.subscribe(format!("{TURNS}.*")).await {
            while let Some(message) = said.next().await {
                let name = message.subject.as_str().rsplit('.').next().unwrap_or_default();
                let known = FieldName::try_from(name).ok().and_then(|field| states.find(&field));
                if let (Some(state), Ok(text)) = (known, std::str::from_utf8(&message.payload)) {
                    handle_announcement(&state, text);
                }
            }
        }
        sleep(LISTEN_AGAIN).await;
    }
}

fn handle_announcement(state: &FieldState, text: &str) {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        ["want", ticket] => state.turns.queue().want(ticket.to_owned()),
        ["done", ticket, next, ref end @ ..] => {
            if let Some((tail, group)) = read_end(end) {
                state.groups.note(group);
                state.learn(tail);
            }
            state.turns.queue().done(ticket, (next != "-").then_some(next));
        }
        _ => return,
    }
    state.turns.changed.notify_waiters();
}

fn read_end(words: &[&str]) -> Option<(Tail, GroupSpan)> {
    let [first, span, position, epoch, hash, group, last] = words else { return None };
    let head = Head {
        position: position.parse().ok()?,
        epoch: epoch.parse().ok()?,
        hash: hash.parse().ok()?,
    };
    let (group, last_sequence) = (group.parse().ok()?, last.parse().ok()?);
    let tail = Tail { head, group, last_sequence, sealed: false };
    let (first, span) = (first.parse().ok()?, span.parse().ok()?);
    Some((tail, GroupSpan { first, last: head.position, sequence: group, span }))
}
