//! Histories of clients of three servers over one log in memory: a sound log passes, and each kind of broken log is
//! caught by what clients are told over HTTP. Real servers and real faults are in the tests of `quipu-cli`.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quipu_history::{Trial, TrialReport, Workload};
use quipu_log::{Commit, Engine, EngineError, FieldName, Head, MemoryEngine, conformance::Altered};
use quipu_server::HarnOptions;

use crate::support::{Setup, TestServer};

/// After so many appends the log begins to lie.
const SOUND_APPENDS: u64 = 30;
/// All servers tell bodies of messages apart in the same way.
const VAULT_KEY: &str = "YSBrZXkgdGhhdCBhbGwgbm9kZXMgYXJlIHRvbGQgb2Y=";
/// How many appends are shown before they are lost.
const SHOWN_APPENDS: u64 = 4;
/// The node whose way to the log is the broken one, where it is not the log itself.
const DECEIVED: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// It is sound.
    None,
    /// An append is acknowledged and dropped.
    Drops,
    /// What was acknowledged and shown is lost, as by a failover to a copy that did not have it.
    Forgets,
    /// One node goes on with a log of its own, so that two appends to one head win.
    Splits,
    /// One node is shown an old log for ever, and its appends are compared with the real one.
    Stales,
}

/// The log that all ways lead to.
#[derive(Debug)]
struct Store {
    lie: Lie,
    log: Mutex<Arc<MemoryEngine>>,
    copy: Mutex<Option<Arc<MemoryEngine>>>,
    appends: AtomicU64,
}

/// One node's way to the log.
#[derive(Debug)]
struct Way {
    store: Arc<Store>,
    node: usize,
}

impl Way {
    fn log(&self) -> Arc<MemoryEngine> {
        Arc::clone(&self.store.log.lock().unwrap())
    }

    /// What is read on this way.
    fn shown(&self) -> Arc<MemoryEngine> {
        let deceived = matches!(self.store.lie, Lie::Splits | Lie::Stales) && self.node == DECEIVED;
        let copy = self.store.copy.lock().unwrap();
        copy.as_ref().filter(|_| deceived).map_or_else(|| self.log(), Arc::clone)
    }

    fn copy_once(&self) {
        self.store.copy.lock().unwrap().get_or_insert_with(|| copy_of(&self.log()));
    }
}

fn copy_of(log: &MemoryEngine) -> Arc<MemoryEngine> {
    let copy = MemoryEngine::shared();
    for field in log.fields().unwrap() {
        let commits = log.read(&field, 1, usize::MAX).unwrap();
        copy.append(&field, &Head::EMPTY, &commits).unwrap();
    }
    Arc::new(copy)
}

impl Altered for Way {
    fn inner(&self) -> Arc<dyn Engine> {
        self.shown()
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        let count = self.store.appends.fetch_add(1, Ordering::SeqCst);
        if count < SOUND_APPENDS {
            return self.log().append(field, expected, batch);
        }
        self.copy_once();
        match self.store.lie {
            Lie::Drops if count == SOUND_APPENDS => Ok(batch.last().unwrap().head()),
            Lie::Forgets if count == SOUND_APPENDS + SHOWN_APPENDS => {
                let copy = self.store.copy.lock().unwrap().clone().unwrap();
                *self.store.log.lock().unwrap() = copy;
                self.log().append(field, expected, batch)
            }
            Lie::Splits => self.shown().append(field, expected, batch),
            Lie::None | Lie::Drops | Lie::Forgets | Lie::Stales => {
                self.log().append(field, expected, batch)
            }
        }
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        // Not for long: what is shown may become another log meanwhile.
        self.shown().follow(field, from, timeout.min(Duration::from_millis(50)), limit)
    }
}

fn run(lie: Lie, seed: u64) -> TrialReport {
    let store = Arc::new(Store {
        lie,
        log: Mutex::new(Arc::new(MemoryEngine::shared())),
        copy: Mutex::default(),
        appends: AtomicU64::default(),
    });
    let nodes = [0, 1, 2].map(|node| {
        let engine = Arc::new(Way { store: Arc::clone(&store), node });
        let vault_key = Some(VAULT_KEY.parse().unwrap());
        let harn = HarnOptions { vault_key, ..HarnOptions::default() };
        TestServer::with(Setup { dev: true, engine, harn, ..Setup::default() })
    });
    let addresses: Vec<SocketAddr> = nodes.iter().map(|node| node.address).collect();
    let load = Workload {
        // So much is done, however busy the machine is.
        duration: Duration::from_secs(60),
        operations_max: 40,
        patience: Duration::from_secs(20),
        ..Workload::new(seed, "histories", &addresses)
    };
    let trial = Trial {
        load,
        settling: Duration::from_secs(if lie == Lie::None { 60 } else { 3 }),
        again: "cargo nextest run -p quipu-server histor".to_owned(),
    };
    trial.run(|_| {})
}

#[test]
fn a_history_over_a_sound_log_passes() {
    let report = run(Lie::None, 3_000_000);
    let verdict = report.verdict.as_ref().unwrap_or_else(|_| panic!("{}", report.failure()));
    assert!(verdict.commits > 50 && verdict.operations > 150, "{verdict:?}");
    assert_eq!(verdict.unknown, 0, "{:?}", report.events);
}

fn is_caught(lie: Lie, rules: &[&str]) {
    let report = run(lie, 3_000_001);
    let violation = report.verdict.as_ref().expect_err("it is caught");
    assert!(rules.contains(&violation.rule), "{}", report.failure());
    assert!(report.failure().starts_with("seed 3000001: "), "{}", report.failure());
}

#[test]
fn a_log_that_acknowledges_and_drops_is_caught() {
    // What was dropped and is sent again is carried out later than was told.
    is_caught(Lie::Drops, &["lost", "durable", "read", "position"]);
}

#[test]
fn a_log_that_loses_what_it_has_shown_is_caught() {
    is_caught(Lie::Forgets, &["lost", "durable", "read", "position"]);
}

#[test]
fn a_log_in_which_two_appends_win_is_caught() {
    is_caught(Lie::Splits, &["agreement", "lost", "durable"]);
}

#[test]
fn a_log_that_shows_one_node_the_past_for_ever_is_caught() {
    is_caught(Lie::Stales, &["refusal", "read", "healing"]);
}
