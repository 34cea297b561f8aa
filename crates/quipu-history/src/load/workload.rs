//! A run's load: several clients that get in each other's way, all from one seed.

use std::{net::SocketAddr, thread, time::Duration};

use crate::{
    clock::Clock,
    event::Event,
    load::{board::Board, client::Client},
};

/// What is done in a run.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Decides what each client does, and where.
    pub seed: u64,
    /// The Field, a new one for each run.
    pub field: String,
    /// The nodes.
    pub nodes: Vec<SocketAddr>,
    /// How many clients there are.
    pub clients: usize,
    /// For how long they begin something new.
    pub duration: Duration,
    /// How many operations a client does at most.
    pub operations_max: usize,
    /// How long a client waits for an answer.
    pub patience: Duration,
}

impl Workload {
    /// A run of the usual size.
    #[must_use]
    pub fn new(seed: u64, field: &str, nodes: &[SocketAddr]) -> Self {
        Self {
            seed,
            field: field.to_owned(),
            nodes: nodes.to_owned(),
            clients: 4,
            duration: Duration::from_millis(1_500),
            operations_max: 60,
            patience: Duration::from_millis(3_000),
        }
    }

    /// Lets the clients take part in the Field, which is made by the first of them.
    pub(crate) fn enter<'a>(&'a self, board: &'a Board, clock: &'a Clock) -> Vec<Client<'a>> {
        let clients = (0..self.clients).map(|number| Client::new(self, number, board, clock));
        each(clients.collect(), |client| client.enter())
    }

    /// Lets the clients work, and gives what they saw, in the order in which they asked. `began` says when that was.
    pub(crate) fn work(&self, clients: Vec<Client<'_>>, began: &Clock) -> Vec<Event> {
        let clients = each(clients, |client| client.work(began));
        let mut events: Vec<Event> = clients.into_iter().flat_map(Client::into_events).collect();
        events.sort_by_key(|event| event.invoked_us);
        events
    }
}

/// Has all of them do something at the same time.
fn each<'a>(
    mut clients: Vec<Client<'a>>,
    what: impl Fn(&mut Client<'a>) + Sync,
) -> Vec<Client<'a>> {
    thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(|| what(client));
        }
    });
    clients
}
