//! A server that is ill-treated, and the proof that it took no harm.

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, Client, Message, Server, Settings, finding, verify_is_green};

pub(super) struct Victim {
    // Dropped first: the server goes before its directory.
    pub(super) client: Client,
    pub(super) server: Server,
    pub(super) data: TempDir,
}

pub(super) fn start() -> Victim {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    client.register("agent", "tester");
    client.record("agent", finding("before"));
    Victim { client, server, data }
}

impl Victim {
    /// Posts a body on a connection of its own: some answers close it.
    pub(super) fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.server.client().post(path, body)
    }

    pub(super) fn send(&mut self, message: &Message) -> Answer {
        self.client.send(message)
    }

    /// Checks that it still works, that it holds `units` units, and that the log is whole.
    #[track_caller]
    pub(super) fn unharmed(self, units: u64) {
        let mut client = self.server.client();
        assert_eq!(client.record("agent", finding("after"))["status"], "accepted");
        let status = client.get("/v1/field/status").ok();
        assert_eq!(status["units"]["total"], units + 1, "{status}");
        assert_eq!(client.get("/readyz").status, 200);
        self.server.stop();
        verify_is_green(self.data.path());
    }
}

pub(super) fn record_with(change: impl FnOnce(&mut Value)) -> Message {
    let mut payload = finding("changed");
    change(&mut payload);
    Message::new("RECORD", "agent", payload)
}
