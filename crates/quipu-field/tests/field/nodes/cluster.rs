//! Nodes over one log, each with a way to it that can fail as a network does: an append that did not happen, one
//! that happened and was not answered, and one that may not be known yet. With turns, a node can keep the others waiting.

use std::sync::{
    Arc, Condvar, Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use quipu_core::Origin;
use quipu_field::{Field, FieldOptions, Meter, SystemOrigin};
use quipu_log::{
    BodyAddress, Commit, Engine, EngineError, Erasure, FieldName, Head, MemoryEngine, Salt,
    conformance::Altered,
};

/// How much the clock of each node is behind that of the one before.
const CLOCKS_APART_MS: usize = 3000;

/// A clock that is behind by so many milliseconds.
#[derive(Debug)]
struct Behind(u64);

impl Origin for Behind {
    fn now_ms(&self) -> u64 {
        SystemOrigin.now_ms() - self.0
    }

    fn id_bits(&self) -> u128 {
        SystemOrigin.id_bits()
    }

    fn salt(&self) -> Salt {
        SystemOrigin.salt()
    }
}

/// Numbers that follow from a seed.
#[derive(Debug)]
pub(super) struct Dice(AtomicU64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// A number below `sides`.
    pub(super) fn throw(&self, sides: u64) -> u64 {
        let at = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (at ^ (at >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    holder: Mutex<Option<u64>>,
    ended: Condvar,
}

/// One node's way to the log.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) log: Arc<MemoryEngine>,
    node: u64,
    dice: Dice,
    pub(super) faulty: AtomicBool,
    turns: Option<Arc<Turns>>,
    /// Whether texts can be erased this way.
    pub(super) erases: AtomicBool,
    /// How often this node asked for its turn.
    pub(super) asked: AtomicU64,
}

impl Way {
    pub(super) fn new(log: &Arc<MemoryEngine>, node: u64, turns: Option<&Arc<Turns>>) -> Self {
        Self {
            log: Arc::clone(log),
            node,
            dice: Dice::new(node),
            faulty: AtomicBool::new(false),
            turns: turns.map(Arc::clone),
            erases: AtomicBool::new(true),
            asked: AtomicU64::new(0),
        }
    }

    fn lost(&self) -> EngineError {
        let source = std::io::Error::other(format!("way {} was cut", self.node)).into();
        EngineError::Io { action: "append".to_owned(), source }
    }

    /// Waits until nobody else keeps the head.
    fn wait(&self) -> Option<std::sync::MutexGuard<'_, Option<u64>>> {
        let turns = self.turns.as_ref()?;
        let holder = turns.holder.lock().unwrap();
        let others = |holder: &mut Option<u64>| holder.is_some_and(|node| node != self.node);
        Some(turns.ended.wait_while(holder, others).unwrap())
    }

    fn done(&self, holder: Option<std::sync::MutexGuard<'_, Option<u64>>>) {
        if let (Some(mut holder), Some(turns)) = (holder, &self.turns) {
            *holder = None;
            turns.ended.notify_all();
        }
    }
}

impl Altered for Way {
    fn inner(&self) -> Arc<dyn Engine> {
        Arc::<MemoryEngine>::clone(&self.log)
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        let holder = self.wait();
        let fault = if self.faulty.load(Ordering::Relaxed) { self.dice.throw(8) } else { 7 };
        let answer = match fault {
            0 => Err(self.lost()),
            1 => self.log.append(field, expected, batch).and_then(|_| Err(self.lost())),
            2 => {
                let source = std::io::Error::other("away").into();
                Err(EngineError::Unavailable { action: "append".to_owned(), source })
            }
            _ => self.log.append(field, expected, batch),
        };
        self.done(holder);
        answer
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        if self.faulty.load(Ordering::Relaxed) && self.dice.throw(16) == 0 {
            return Err(self.lost());
        }
        self.log.read(field, from, limit)
    }

    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        if !self.erases.load(Ordering::Relaxed) {
            return Err(self.lost());
        }
        self.log.erase(field, bodies)
    }

    fn take_turn(&self, field: &FieldName, _: &Head) -> Result<Option<Head>, EngineError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let Some(mut holder) = self.wait() else { return Ok(None) };
        let head = self.log.head(field)?;
        *holder = Some(self.node);
        Ok(Some(head))
    }

    fn end_turn(&self, _: &FieldName) {
        let holder = self.wait();
        self.done(holder);
    }
}

/// Nodes of one Field.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) log: Arc<MemoryEngine>,
    pub(super) ways: Vec<Arc<Way>>,
    pub(super) nodes: Vec<Arc<Field>>,
}

impl Cluster {
    /// So many nodes, with turns or without.
    pub(super) fn of(nodes: u64, seed: u64, with_turns: bool) -> Self {
        let log = Arc::new(MemoryEngine::shared());
        let turns = with_turns.then(Arc::default);
        let way = |node| Arc::new(Way::new(&log, seed * 100 + node, turns.as_ref()));
        let ways: Vec<_> = (1..=nodes).map(way).collect();
        let open_on = |(way, behind_ms): (&Arc<Way>, u64)| {
            let engine: Arc<dyn Engine> = Arc::<Way>::clone(way);
            open(engine, Arc::new(Behind(behind_ms)))
        };
        let nodes = ways.iter().zip((0..).step_by(CLOCKS_APART_MS)).map(open_on).collect();
        Self { log, ways, nodes }
    }

    /// Lets the ways fail, or not any more.
    pub(super) fn fail(&self, faulty: bool) {
        self.ways.iter().for_each(|way| way.faulty.store(faulty, Ordering::Relaxed));
    }

    /// Waits until every node knows of everything, and says where that is.
    pub(super) async fn settle(&self) -> Head {
        let head = self.log.head(&FieldName::default_field()).unwrap();
        for node in &self.nodes {
            node.await_position(head.position).await.unwrap();
            assert_eq!(node.head(), head);
        }
        head
    }
}

/// Opens the default Field with a clock of its own.
pub(super) fn open(engine: Arc<dyn Engine>, origin: Arc<dyn Origin>) -> Arc<Field> {
    Field::open(engine, FieldName::default_field(), FieldOptions::new(origin)).unwrap()
}

/// Opens it with somebody who counts.
pub(super) fn open_metered(engine: Arc<dyn Engine>, meter: Arc<dyn Meter>) -> Arc<Field> {
    let options = FieldOptions { meter, ..FieldOptions::new(Arc::new(SystemOrigin)) };
    Field::open(engine, FieldName::default_field(), options).unwrap()
}
