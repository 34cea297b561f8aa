//! What was acknowledged survives `kill -9`: the server is killed under concurrent writes, at random
//! moments, again and again over one data directory.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::Path,
    sync::mpsc::{self, Sender},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Client, Dice, Finished, Message, Server, Settings, finding, quipu, relating, scope, units_of,
    verify_is_green,
};

const ROUNDS: u64 = 50;
const WRITERS: u64 = 8;
const ACKNOWLEDGED_MAX: u64 = 40;

/// What a writer tells: a message before it goes out, and its answer when it came.
enum Told {
    Sending(Message),
    Acknowledged(Message, Value),
}

/// A unit whose every part can be told from its number, so that half of one would show.
fn numbered(round: u64, writer: u64, number: u64) -> Message {
    let name = format!("r{round}-w{writer}-n{number}");
    let mut payload =
        finding(&format!("{name} {}", "knot ".repeat(usize::try_from(number % 40).unwrap())));
    payload["intent"]["purpose"] = json!(format!("purpose of {name}"));
    payload["confidence"]["reasoning"] = json!(format!("reasoning of {name}"));
    Message::new("RECORD", &format!("writer-{writer}"), payload).with("id", name)
}

/// Writes until the server is gone.
fn write(address: SocketAddr, round: u64, writer: u64, tell: &Sender<Told>) {
    let Ok(mut client) = Client::connect(address) else { return };
    for number in 0.. {
        let message = numbered(round, writer, number);
        tell.send(Told::Sending(message.clone())).unwrap();
        let Ok(answer) = client.try_send(&message) else { return };
        tell.send(Told::Acknowledged(message, answer.ok())).unwrap();
    }
}

/// The test's own account of what the Field must hold.
#[derive(Default)]
struct Ledger {
    /// By content: the message and, once there was one, the answer.
    sent: BTreeMap<String, (Message, Option<Value>)>,
    epoch: u64,
}

fn content(message: &Message) -> String {
    message.envelope["payload"]["content"].as_str().unwrap().to_owned()
}

impl Ledger {
    /// Lets eight writers write and ends the server after so many answers.
    fn write_until(&mut self, server: Server, round: u64, after: u64, end: fn(Server) -> Finished) {
        let (tell, told) = mpsc::channel();
        let address = server.address;
        let mut server = Some(server);
        let mut answers = 0;
        std::thread::scope(|threads| {
            for writer in 0..WRITERS {
                let tell = tell.clone();
                threads.spawn(move || write(address, round, writer, &tell));
            }
            drop(tell);
            for told in told {
                let (message, answer) = match told {
                    Told::Sending(message) => (message, None),
                    Told::Acknowledged(message, answer) => (message, Some(answer)),
                };
                answers += u64::from(answer.is_some());
                self.sent.insert(content(&message), (message, answer));
                if answers >= after
                    && let Some(server) = server.take()
                {
                    end(server);
                }
            }
        });
        assert!(answers >= after, "the server ended by itself after {answers} answers");
    }

    /// Checks that the Field holds what it must, once, whole, and nothing else.
    fn check(&mut self, client: &mut Client) {
        let seen = client.attune("reader", scope(10_000));
        let epoch = seen["epoch"].as_u64().unwrap();
        assert!(epoch > self.epoch, "the clock went back from {} to {epoch}", self.epoch);
        self.epoch = epoch;
        let mut found: BTreeMap<String, Value> = BTreeMap::new();
        for unit in units_of(&seen) {
            let content = unit["content"].as_str().unwrap().to_owned();
            let (message, _) =
                self.sent.get(&content).unwrap_or_else(|| panic!("nobody sent {content:?}"));
            let payload = &message.envelope["payload"];
            for part in ["mode", "type", "intent", "confidence"] {
                assert_eq!(unit[part], payload[part], "{unit}");
            }
            assert_eq!(unit["source"]["agent_id"], message.envelope["agent_id"]);
            let twice = found.insert(content, unit);
            assert!(twice.is_none(), "{twice:?} is there twice");
        }
        for (content, (_, answer)) in &self.sent {
            let Some(answer) = answer else { continue };
            let unit = found.get(content).unwrap_or_else(|| panic!("{content:?} is lost"));
            assert_eq!(unit["id"], answer["memory_unit_id"]);
            assert_eq!(unit["epoch"], answer["epoch"]);
        }
    }

    /// Sends again what was never answered, as a client that lost its connection would.
    fn resend(&mut self, client: &mut Client) {
        for (message, answer) in self.sent.values_mut().filter(|(_, answer)| answer.is_none()) {
            *answer = Some(client.send(message).ok());
        }
    }
}

#[test]
fn after_every_crash_each_acknowledged_unit_is_there_exactly_once() {
    let data = TempDir::new().unwrap();
    let settings = Settings::dev(data.path());
    let mut dice = Dice::seeded();
    let mut ledger = Ledger::default();
    let mut server = settings.start();
    let mut client = server.client();
    client.register("reader", "reader");
    for writer in 0..WRITERS {
        client.register(&format!("writer-{writer}"), "writer");
    }
    for round in 1..=ROUNDS {
        ledger.write_until(server, round, dice.between(1, ACKNOWLEDGED_MAX), Server::kill);
        if round % 10 == 0 {
            verify_is_green(data.path());
        }
        server = settings.start();
        let mut client = server.client();
        ledger.check(&mut client);
        ledger.resend(&mut client);
    }
    ledger.check(&mut server.client());
    let units = server.client().get("/v1/field/status").ok()["units"]["total"].clone();
    assert_eq!(units, ledger.sent.len());
    println!("{ROUNDS} crashes, {units} units");
    verify_is_green(data.path());
    server.stop();
    verify_is_green(data.path());
}

#[test]
fn a_server_asked_to_stop_under_load_ends_in_order_and_loses_nothing() {
    let data = TempDir::new().unwrap();
    let settings = Settings::dev(data.path());
    let mut ledger = Ledger::default();
    let mut server = settings.start();
    let mut client = server.client();
    client.register("reader", "reader");
    for writer in 0..WRITERS {
        client.register(&format!("writer-{writer}"), "writer");
    }
    for round in 1..=5 {
        ledger.write_until(server, round, 30, Server::stop);
        verify_is_green(data.path());
        server = settings.start();
        let mut client = server.client();
        ledger.check(&mut client);
        ledger.resend(&mut client);
    }
    ledger.check(&mut server.client());
}

/// Writes so much, over many connections, that the server leaves a snapshot when it stops.
fn fill_until_a_snapshot(settings: &Settings, data: &Path) {
    let server = settings.start();
    let mut client = server.client();
    client.register("reader", "reader");
    for writer in 0..32 {
        client.register(&format!("writer-{writer}"), "writer");
    }
    let address = server.address;
    std::thread::scope(|threads| {
        for writer in 0..32 {
            threads.spawn(move || {
                let mut client = Client::connect(address).unwrap();
                for number in 0..82 {
                    client.send(&numbered(0, writer, number)).ok();
                }
            });
        }
    });
    server.stop();
    assert!(!snapshots(data).is_empty(), "no snapshot was left");
}

fn snapshots(data: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(data.join("fields/default/snapshots"));
    entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

/// Starts the server, asks it, crashes it. The epoch is left out: the clock goes on.
fn answer_after_a_crash(settings: &Settings) -> Value {
    let server = settings.start();
    let mut answer = server.client().attune("reader", scope(10_000));
    answer.as_object_mut().unwrap().remove("epoch");
    server.kill();
    answer
}

#[test]
fn after_a_crash_snapshots_may_be_used_deleted_or_damaged_and_the_answer_is_the_same() {
    let data = TempDir::new().unwrap();
    let settings = Settings::dev(data.path());
    fill_until_a_snapshot(&settings, data.path());
    let server = settings.start();
    let mut client = server.client();
    let first = client.record("writer-1", finding("behind the snapshot"));
    let first = first["memory_unit_id"].as_str().unwrap();
    client.record("writer-2", relating("also behind", "contradicts", first));
    server.kill();

    let with_snapshot = answer_after_a_crash(&settings);
    assert_eq!(units_of(&with_snapshot).len(), 32 * 82 + 2);
    let report = verify_is_green(data.path());
    assert_eq!(report["snapshots"], 1);
    damage_snapshots(data.path());
    let named = quipu(["verify", "--data", data.path().to_str().unwrap()]).failed();
    assert!(named.stdout.contains("snapshots/"), "{}", named.said());
    assert_eq!(answer_after_a_crash(&settings), with_snapshot, "a damaged one is passed over");

    fs::remove_dir_all(data.path().join("fields/default/snapshots")).unwrap();
    let without = verify_is_green(data.path());
    assert_eq!(without["units"], report["units"]);
    assert_eq!(answer_after_a_crash(&settings), with_snapshot, "none is needed");
    verify_is_green(data.path());
}

fn damage_snapshots(data: &Path) {
    for path in snapshots(data) {
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn deleting_the_snapshots_changes_neither_the_head_nor_the_state() {
    let data = TempDir::new().unwrap();
    fill_until_a_snapshot(&Settings::dev(data.path()), data.path());
    let with = verify_is_green(data.path());
    fs::remove_dir_all(data.path().join("fields/default/snapshots")).unwrap();
    let without = verify_is_green(data.path());
    assert_eq!((&with["head"], &with["state"]), (&without["head"], &without["state"]));
    assert!(with["state"].is_string(), "{with}");
}
