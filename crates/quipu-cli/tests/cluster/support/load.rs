//! Writers that go on whatever happens: what is not acknowledged is sent again, under the same id, to the next node.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use quipu_testbed::{Client, Cluster, Message, Node, wait_until};

use super::nodes::{agree, finding, register, units};

const PAUSE: Duration = Duration::from_millis(20);
/// Attempts at one message; more than any fault of ours lasts.
const ATTEMPTS: usize = 3000;

/// What a writer is told to do.
#[derive(Debug)]
struct Orders {
    addresses: Vec<SocketAddr>,
    field: String,
    stop: AtomicBool,
    acknowledged: AtomicUsize,
}

/// What writers achieved.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The units that were acknowledged.
    pub(crate) units: BTreeSet<String>,
    /// How often each answer came that was none: `503 FIELD_UNAVAILABLE: …`, or `lost` for a connection.
    pub(crate) refusals: BTreeMap<String, usize>,
}

/// Running writers.
#[derive(Debug)]
pub(crate) struct Load {
    orders: Arc<Orders>,
    writers: Vec<JoinHandle<Written>>,
}

impl Load {
    /// Starts so many writers, one after another at another node.
    pub(crate) fn start(cluster: &Cluster, field: &str, writers: usize) -> Self {
        let orders = Arc::new(Orders {
            addresses: cluster.nodes.iter().map(Node::address).collect(),
            field: field.to_owned(),
            stop: AtomicBool::default(),
            acknowledged: AtomicUsize::default(),
        });
        for writer in 0..writers {
            register(cluster, 0, field, &format!("w{writer}"));
        }
        let begin = |writer| {
            let orders = Arc::clone(&orders);
            thread::spawn(move || write(&orders, writer))
        };
        let writers = (0..writers).map(begin).collect();
        Self { orders, writers }
    }

    /// Waits until so many more messages were acknowledged.
    pub(crate) fn await_more(&self, count: usize) {
        let until = self.orders.acknowledged.load(Ordering::SeqCst) + count;
        wait_until(90, "more is acknowledged", || {
            (self.orders.acknowledged.load(Ordering::SeqCst) >= until).then_some(())
        });
    }

    /// Lets every writer finish the message that it is at.
    pub(crate) fn end(self) -> Written {
        self.orders.stop.store(true, Ordering::SeqCst);
        let mut all = Written::default();
        for writer in self.writers {
            let written = writer.join().unwrap();
            all.units.extend(written.units);
            for (refusal, count) in written.refusals {
                *all.refusals.entry(refusal).or_default() += count;
            }
        }
        all
    }
}

impl Written {
    /// Checks that nodes and log agree, and that what was acknowledged is there, once, and nothing else.
    #[track_caller]
    pub(crate) fn is_there(&self, cluster: &Cluster, field: &str) {
        agree(cluster, field);
        assert_eq!(units(cluster, 0, field), self.units, "acknowledged, and told now");
    }

    /// Whether somebody was told this.
    pub(crate) fn was_told(&self, text: &str) -> bool {
        self.refusals.keys().any(|refusal| refusal.contains(text))
    }
}

fn write(orders: &Orders, writer: usize) -> Written {
    let mut written = Written::default();
    let (mut node, mut client) = (writer, None);
    for number in 0.. {
        if orders.stop.load(Ordering::SeqCst) {
            break;
        }
        let payload = finding(&format!("finding {number} of writer {writer}"));
        let message = Message::new("RECORD", &format!("w{writer}"), payload);
        // Ids of messages are drawn anew in each process, and nothing else speaks in this Field.
        let message = message.with("id", format!("w{writer}-{number}"));
        let unit = deliver(orders, &message, &mut node, &mut client, &mut written.refusals);
        assert!(written.units.insert(unit), "two messages have made one unit");
        orders.acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    written
}

/// Sends a message until a node has acknowledged it; gives the unit.
fn deliver(
    orders: &Orders,
    message: &Message,
    node: &mut usize,
    client: &mut Option<Client>,
    refusals: &mut BTreeMap<String, usize>,
) -> String {
    for _ in 0..ATTEMPTS {
        let address = orders.addresses[*node % orders.addresses.len()];
        let speaking = match client.take() {
            Some(client) => Ok(client),
            None => Client::connect(address)
                .map(|client| client.with_header("quipu-field", &orders.field)),
        };
        let answer = speaking.and_then(|mut speaking| {
            let answer = speaking.try_send(message)?;
            *client = Some(speaking);
            Ok(answer)
        });
        let refusal = match answer {
            Ok(answer) if answer.status == 200 => {
                return answer.json()["memory_unit_id"].as_str().unwrap().to_owned();
            }
            Ok(answer) => {
                let told = answer.json();
                let refusal = format!("{} {}: {}", answer.status, told["code"], told["message"]);
                assert!(answer.status >= 500 || answer.status == 429, "{refusal}");
                refusal
            }
            Err(_) => "lost".to_owned(),
        };
        *refusals.entry(refusal).or_default() += 1;
        *client = None;
        *node += 1;
        thread::park_timeout(PAUSE);
    }
    panic!("never acknowledged: {refusals:#?}");
}
