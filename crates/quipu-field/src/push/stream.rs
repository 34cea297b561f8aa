//! One subscriber's way through the log. It asks for what is next when it has room for it, so a slow
//! one costs no memory: it is merely behind, and reads what it missed from the log.

use quipu_core::cursor::Cursor;
use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use quipu_log::EngineError;
use quipu_recall::Query;
use quipu_wire::akashik::PushNotification;

use super::{
    debounce::{Debounce, is_quiet},
    heads::{Announced, Listening},
    notices::Entity,
    prepared::{Ended, Prepared, PreparedNotice},
    relevance,
    tail::Tail,
};
use crate::base::{
    asker::Asker,
    error::{FieldError, RequestError},
    limits::READ_PAGE,
};
use quipu_core::{ids::SubscriptionId, state::SubscriptionEntry, visibility::Speaker};

#[derive(Debug)]
pub(crate) struct Target {
    pub id: SubscriptionId,
    pub entry: SubscriptionEntry,
    /// The authority of the credential that it is read with.
    pub credential: u8,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Delivery {
    Push(Box<PushNotification>),
    End(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The subscription ended, or its agent left.
    Unsubscribed,
    /// The Field was closed; the stream can be resumed when it is open again.
    Closed,
}

/// One subscriber's way through the log.
#[derive(Debug)]
pub struct PushStream {
    tail: Arc<Tail>,
    target: Target,
    query: Query,
    listening: Listening,
    /// Whose turns it takes to read.
    asker: Asker,
    /// The next commit to look at. It may lie before `from`, to learn what was sent before.
    position: u64,
    /// Nothing before this is delivered.
    from: Cursor,
    /// Everything before this was delivered or was not for this subscriber.
    cursor: Cursor,
    debounce: Option<Debounce>,
    page: VecDeque<Arc<Prepared>>,
    /// The next page, while it is read from the log.
    loading: Option<Loading>,
    /// What comes next, each with the cursor behind it.
    ready: VecDeque<(Cursor, Delivery)>,
}

type Page = Vec<Arc<Prepared>>;

struct Loading(Pin<Box<dyn Future<Output = Result<Page, FieldError>> + Send>>);

impl fmt::Debug for Loading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loading")
    }
}

impl PushStream {
    /// Opens a stream. Without a cursor it begins with what happens from now on.
    pub(crate) async fn open(
        tail: Arc<Tail>,
        target: Target,
        after: Option<Cursor>,
    ) -> Result<Self, FieldError> {
        let listening = tail.listen();
        // Whoever was answered before it opened a stream is not told of that again.
        let now = Cursor::after_commit(tail.durable());
        let begin = Cursor::after_commit(target.entry.position);
        let from = after.unwrap_or(now).max(begin);
        if from > now.max(begin) {
            return Err(RequestError::CursorBeyondLog { cursor: from }.into());
        }
        let debounce = target.entry.debounce_ms.filter(|gap| *gap > 0);
        let position = match debounce {
            None => from.position,
            Some(gap_ms) => {
                let (tail, first, last) = (Arc::clone(&tail), begin.position, from.position);
                let turns = Arc::clone(&tail.turns);
                turns.take(move || last_quiet_position(&tail, first, last, gap_ms)).await??
            }
        };
        let query = relevance::query(&target.entry);
        let asker = Asker::current();
        asker.keep();
        Ok(Self {
            tail,
            query,
            listening,
            asker,
            position,
            from,
            cursor: from,
            debounce: debounce.map(Debounce::new),
            target,
            page: VecDeque::new(),
            loading: None,
            ready: VecDeque::new(),
        })
    }

    /// Whose subscription it serves.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.target.entry.agent
    }

    /// Where to resume: everything before it was delivered or was not for this subscriber.
    #[must_use]
    pub const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Waits for what comes next. Nothing is lost if it is dropped while it waits.
    pub async fn next(&mut self) -> Result<Delivery, FieldError> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Self::next`], for callers that wait for several things.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Delivery, FieldError>> {
        loop {
            if let Some((cursor, delivery)) = self.ready.pop_front() {
                self.cursor = cursor;
                return Poll::Ready(Ok(delivery));
            }
            if let Some(commit) = self.page.pop_front() {
                self.take(&commit);
                continue;
            }
            if let Some(Loading(loading)) = &mut self.loading {
                let page = ready!(loading.as_mut().poll(cx));
                self.loading = None;
                self.turn_to(page?)?;
                continue;
            }
            let Announced { position: head, closed } = self.listening.poll(cx, self.position);
            if self.position <= head {
                self.fetch(head)?;
                continue;
            }
            self.cursor = self.cursor.max(Cursor::after_commit(head));
            // What was held while it was busy is given back before a long wait.
            (self.page, self.ready) = Default::default();
            return if closed {
                Poll::Ready(Ok(Delivery::End(End::Closed)))
            } else {
                Poll::Pending
            };
        }
    }

    fn fetch(&mut self, head: u64) -> Result<(), FieldError> {
        let recent = self.tail.recent(self.position);
        if !recent.is_empty() {
            return self.turn_to(recent);
        }
        let (tail, position) = (Arc::clone(&self.tail), self.position);
        let loading = async move {
            let turns = Arc::clone(&tail.turns);
            Ok(turns.take(move || tail.load(position, head)).await??)
        };
        let loading = self.asker.clone().asks(loading);
        self.loading = Some(Loading(Box::pin(loading)));
        Ok(())
    }

    fn turn_to(&mut self, page: Page) -> Result<(), FieldError> {
        if page.first().is_none_or(|commit| commit.position != self.position) {
            let message = format!("the log has no commit {} to tell of", self.position);
            return Err(FieldError::Internal(message));
        }
        // The tail may be a little ahead of what was announced; all of it is durable.
        self.page = page.into();
        Ok(())
    }

    fn take(&mut self, commit: &Prepared) {
        if let Some(debounce) = &mut self.debounce {
            debounce.reach(commit.time_ms);
        }
        for notice in &commit.notices {
            let place =
                Cursor { position: commit.position, event: notice.event, part: notice.part };
            if let Some(push) = self.notification_for(commit, notice, place) {
                self.ready.push_back((place.next(), Delivery::Push(Box::new(push))));
            }
        }
        let over = commit.ended.iter().any(|ended| match ended {
            Ended::One(id) => *id == self.target.id,
            Ended::AllOf(agent) => *agent == self.target.entry.agent,
        });
        if over {
            let behind = Cursor::after_commit(commit.position);
            self.ready.push_back((behind, Delivery::End(End::Unsubscribed)));
        }
        self.position = commit.position + 1;
        if self.ready.is_empty() {
            self.cursor = self.cursor.max(Cursor::after_commit(commit.position));
        }
    }

    /// The notification, if this subscriber gets one.
    fn notification_for(
        &mut self,
        commit: &Prepared,
        notice: &PreparedNotice,
        place: Cursor,
    ) -> Option<PushNotification> {
        let entry = &self.target.entry;
        let told = &notice.notice;
        let is_for = commit.actor != entry.agent
            && entry.events.contains(&told.event)
            && told.only_for.as_ref().is_none_or(|agent| *agent == entry.agent);
        let speaker = Speaker::through(&entry.agent, self.target.credential);
        if !is_for || !self.tail.may_notify(speaker, notice) {
            return None;
        }
        let relevance_score = relevance::relevance(entry, &self.query, notice);
        if entry.min_relevance.is_some_and(|least| relevance_score < least) {
            return None;
        }
        if self.debounce.as_mut().is_some_and(|debounce| !debounce.admits(&told.entity)) {
            return None;
        }
        if place < self.from {
            return None;
        }
        let unit = || told.units.last().map(ToString::to_string);
        let (memory_unit_id, conflict_id) = match &told.entity {
            Entity::Unit(unit) => (Some(unit.to_string()), None),
            Entity::Conflict(conflict) => (unit(), Some(conflict.to_string())),
            Entity::Agent(_) | Entity::Task(_) | Entity::Session(_) => (None, None),
        };
        Some(PushNotification {
            subscription_id: self.target.id.to_string(),
            event: told.event,
            epoch: commit.epoch,
            relevance_score,
            summary: notice.summary.clone(),
            memory_unit_id,
            conflict_id,
            requires_action: notice.requires_action_of(&self.target.entry.agent),
            cursor: place.next().to_string(),
        })
    }
}

/// The last place at or before `last` where the Field had been quiet for `gap_ms`, or `first`: what was
/// sent before it has no influence on what is sent after it.
fn last_quiet_position(
    tail: &Tail,
    first: u64,
    last: u64,
    gap_ms: u64,
) -> Result<u64, EngineError> {
    let page = u64::try_from(READ_PAGE).unwrap_or(u64::MAX);
    let mut end = last;
    while end > first {
        let start = end.saturating_sub(page).max(first);
        let mut times: Vec<(u64, u64)> = Vec::new();
        let mut next = start;
        // One commit more than the page, so that a gap between two pages is seen too.
        while next <= end {
            let read = tail.times(next, READ_PAGE)?;
            let Some((position, _)) = read.last() else { break };
            next = position + 1;
            times.extend(read.into_iter().filter(|(position, _)| *position <= end));
        }
        let pairs = times.iter().zip(times.iter().skip(1));
        let quiet = pairs.rev().find(|((_, before), (_, after))| is_quiet(*before, *after, gap_ms));
        if let Some((_, (position, _))) = quiet {
            return Ok(*position);
        }
        end = start;
    }
    Ok(first)
}
