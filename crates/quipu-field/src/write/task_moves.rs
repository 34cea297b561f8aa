//! Wakes whoever works on tasks when one was made or moved. Most commits move none, and then nobody is woken.

use std::sync::Arc;

use quipu_log::Header;
use tokio::sync::watch;

use quipu_core::Event;

#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskMoves {
    /// The last commit that made or moved one.
    pub(crate) position: u64,
    pub(crate) closed: bool,
}

/// The writer's end. Whoever waits is woken when it is dropped.
#[derive(Debug)]
pub(crate) struct TaskMoveFeed(Arc<watch::Sender<TaskMoves>>);

/// Waits for tasks to be made or moved.
#[derive(Debug)]
pub struct TaskMoved {
    moves: watch::Receiver<TaskMoves>,
    position: u64,
}

impl TaskMoved {
    pub(crate) fn from_now(moves: &watch::Sender<TaskMoves>) -> Self {
        let moves = moves.subscribe();
        let position = moves.borrow().position;
        Self { moves, position }
    }

    /// Waits until one was made or moved since, or the Field is closed. Answers whether one was.
    pub async fn wait(mut self) -> bool {
        let since = self.position;
        let moved = self.moves.wait_for(|moves| moves.position > since || moves.closed).await;
        moved.is_ok_and(|moves| moves.position > since)
    }
}

impl TaskMoveFeed {
    /// A feed that starts behind a position, and what is listened to.
    pub(crate) fn new(position: u64) -> (Self, Arc<watch::Sender<TaskMoves>>) {
        let moves = Arc::new(watch::Sender::new(TaskMoves { position, closed: false }));
        (Self(Arc::clone(&moves)), moves)
    }

    pub(crate) fn published(&self, headers: &[Header<Event>]) {
        let moves = |header: &&Header<Event>| {
            header.events.iter().any(|sealed| matches!(sealed.event, Event::TaskChanged { .. }))
        };
        if let Some(last) = headers.iter().rev().find(moves) {
            self.0.send_modify(|moves| moves.position = last.position);
        }
    }
}

impl Drop for TaskMoveFeed {
    fn drop(&mut self) {
        self.0.send_modify(|moves| moves.closed = true);
    }
}
