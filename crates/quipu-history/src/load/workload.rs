//! The load of a run: several clients that compete for the same things, all chosen from one seed.

use std::{net::SocketAddr, thread, time::Duration};

use crate::{
    clock::Clock,
    event::Event,
    load::{board::Board, client::Client},
};

/// The settings of a load.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The seed that decides all choices of the clients.
    pub seed: u64,
    /// The Field, a new one for each run.
    pub field: String,
    pub nodes: Vec<SocketAddr>,
    /// How many clients there are.
    pub clients: usize,
    /// How long clients send new requests.
    pub duration: Duration,
    /// The most operations of one client.
    pub operations_max: usize,
    /// How long a client waits for an answer.
    pub patience: Duration,
}

impl Workload {
    /// The default load.
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

    /// Registers the clients. The first registration creates the Field.
    pub(crate) fn enter<'a>(&'a self, board: &'a Board, clock: &'a Clock) -> Vec<Client<'a>> {
        let clients = (0..self.clients).map(|number| Client::new(self, number, board, clock));
        each(clients.collect(), |client| client.enter())
    }

    /// Runs the clients until the time since `began` is up, and returns what they observed, in the order in which the
    /// requests were sent.
    pub(crate) fn work(&self, clients: Vec<Client<'_>>, began: &Clock) -> Vec<Event> {
        let clients = each(clients, |client| client.work(began));
        let mut events: Vec<Event> = clients.into_iter().flat_map(Client::into_events).collect();
        events.sort_by_key(|event| event.invoked_us);
        events
    }
}

/// Runs `what` for all clients at the same time.
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
