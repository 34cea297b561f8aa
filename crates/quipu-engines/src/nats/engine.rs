//! The NATS engine: turns the blocking calls of [`Engine`] into requests. The requests are in the other files of this
//! folder.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::Client;
use quipu_log::{
    BodyAddress, Commit, Engine, EngineError, Erasure, FieldName, Head, Note, Notes, StoredBodies,
    StoredHeader, engine::check_batch,
};
use serde_json::{Value, json};

use super::{
    address::Address,
    api,
    append::Append,
    erase, fitness,
    locate::Groups,
    message, notes,
    read::{self, Extent},
    stream::Stream,
    tail::{self, Tail},
    turn::{self, Tickets, Turns},
    watch::{self, Watch},
};
use crate::{open_error::OpenError, runtime::Runtime};

/// A stream with fewer messages than this may have no commit at all.
const FEW: u64 = 8;

#[derive(Debug)]
pub struct NatsEngine {
    client: Client,
    states: Arc<States>,
    watch: Arc<Watch>,
    tickets: Arc<Tickets>,
    replicas: usize,
    // Dropped last: the connection runs on its threads.
    runtime: Runtime,
}

#[derive(Debug, Default)]
pub(super) struct States(Mutex<BTreeMap<FieldName, Arc<FieldState>>>);

/// What this node remembers about one field. None of it is authoritative: the stream compares sequences.
#[derive(Debug)]
pub(super) struct FieldState {
    pub(super) stream: Stream,
    pub(super) groups: Groups,
    tail: Mutex<Option<Tail>>,
    /// Appends of this node run one after the other; of two at the same time one would fail.
    turn: tokio::sync::Mutex<()>,
    pub(super) turns: Turns,
}

impl States {
    pub(super) fn find(&self, field: &FieldName) -> Option<Arc<FieldState>> {
        let states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.get(field).map(Arc::clone)
    }

    fn forget(&self, field: &FieldName) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(field);
    }

    pub(super) fn of(&self, field: &FieldName) -> Arc<FieldState> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(states.entry(field.clone()).or_insert_with(|| {
            Arc::new(FieldState {
                stream: Stream::of(field),
                groups: Groups::default(),
                tail: Mutex::default(),
                turn: tokio::sync::Mutex::default(),
                turns: Turns::default(),
            })
        }))
    }
}

impl FieldState {
    pub(super) fn remembered_tail(&self) -> Option<Tail> {
        *self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the tail unless a later one is known.
    pub(super) fn learn(&self, tail: Tail) {
        let mut known = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none_or(|known| known.last_sequence <= tail.last_sequence) {
            *known = Some(tail);
        }
    }

    pub(super) fn forget(&self) {
        *self.tail.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The tail of the log, read from the stream unless the remembered one already reaches `from`.
    async fn reaching(&self, client: &Client, from: u64) -> Result<Tail, EngineError> {
        let known = self.remembered_tail();
        if let Some(tail) = known.filter(|tail| tail.head.position >= from) {
            return Ok(tail);
        }
        let tail = tail::find(client, &self.stream, known).await?;
        let tail = tail.filter(|tail| tail.head != Head::EMPTY);
        let tail =
            tail.ok_or_else(|| EngineError::UnknownField { field: self.stream.field.clone() })?;
        self.learn(tail);
        Ok(tail)
    }
}

impl NatsEngine {
    /// Connects and checks the guarantees of the servers.
    ///
    /// # Errors
    /// If the address cannot be parsed, the servers cannot be reached, or they could lose acknowledged messages.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        let runtime = Runtime::start("quipu-nats")?;
        let address = Address::parse(url)?;
        let server = address.display.clone();
        let opened = runtime.wait(async move {
            let unreachable = |source: async_nats::ConnectError| OpenError::Unreachable {
                server: address.display.clone(),
                source: source.into(),
            };
            let connected = address.options().connect(&address.servers[..]).await;
            let client = connected.map_err(unreachable)?;
            let replicas = fitness::check(&client, &address).await?;
            Ok((client, replicas))
        });
        let (client, replicas) = opened.unwrap_or_else(|| {
            Err(OpenError::Unreachable { server, source: "it could not be asked".into() })
        })?;
        let (watch, states) = (Arc::new(Watch::default()), Arc::new(States::default()));
        let threads = runtime.handle();
        threads.spawn(watch::poll(Arc::clone(&watch), Arc::clone(&states), client.clone()));
        threads.spawn(watch::listen(Arc::clone(&watch), client.clone()));
        threads.spawn(turn::listen(Arc::clone(&states), client.clone()));
        let tickets = Arc::new(Tickets::new(&client));
        Ok(Self { client, states, watch, tickets, replicas, runtime })
    }

    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, EngineError> {
        let panicked = || Err(api::io("work", "a thread of the engine panicked"));
        self.runtime.wait(work).unwrap_or_else(panicked)
    }

    fn write(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
        copied: bool,
    ) -> Result<Head, EngineError> {
        let encoded =
            check_batch(expected, batch).and_then(|end| Ok((end, message::encode(batch)?)));
        let (end, messages) = encoded.inspect_err(|_| self.end_turn(field))?;
        let append = Append { expected: *expected, end, copied, messages };
        let (client, state) = (self.client.clone(), self.states.of(field));
        let (replicas, tickets) = (self.replicas, Arc::clone(&self.tickets));
        let head = self.wait(async move {
            let _turn = state.turn.lock().await;
            turn::let_others_go(&client, &state, &tickets).await;
            let appended = append.run(&client, &state, replicas).await;
            turn::end(&client, &state).await;
            appended
        })?;
        self.watch.followers.reached(field.as_str(), head.position);
        Ok(head)
    }

    fn page(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
        extent: Extent,
    ) -> Result<Vec<Commit>, EngineError> {
        let (client, state) = (self.client.clone(), self.states.of(field));
        self.wait(async move {
            let more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_sub(1);
            let tail = state.reaching(&client, from.max(1).saturating_add(more)).await?;
            let FieldState { stream, groups, .. } = &*state;
            read::page(&client, stream, groups, &tail, from, limit, extent).await
        })
    }
}

impl Engine for NatsEngine {
    fn fields(&self) -> Result<Vec<FieldName>, EngineError> {
        let (client, states) = (self.client.clone(), Arc::clone(&self.states));
        self.wait(async move {
            let mut fields = Vec::new();
            let mut offset = 0;
            loop {
                let wanted = json!({ "offset": offset, "subject": "quipu.>" });
                let page = api::ask(&client, "STREAM.LIST", &wanted).await;
                let page = page.map_err(|e| e.explain("list streams"))?;
                let streams = page.get("streams").and_then(Value::as_array);
                let Some(streams) = streams.filter(|streams| !streams.is_empty()) else { break };
                offset += streams.len();
                for stream in streams {
                    let name = stream.pointer("/config/name").and_then(Value::as_str);
                    let Some(field) = name.and_then(Stream::field_of) else { continue };
                    let last = stream.pointer("/state/last_seq").and_then(Value::as_u64);
                    let is_there = last.is_some_and(|last| last > FEW)
                        || tail::find(&client, &states.of(&field).stream, None)
                            .await?
                            .is_some_and(|tail| tail.head != Head::EMPTY);
                    fields.extend(is_there.then_some(field));
                }
            }
            fields.sort();
            Ok(fields)
        })
    }

    fn head(&self, field: &FieldName) -> Result<Head, EngineError> {
        let (client, state) = (self.client.clone(), self.states.of(field));
        self.wait(async move {
            let tail = tail::find(&client, &state.stream, state.remembered_tail()).await?;
            if let Some(tail) = tail {
                state.learn(tail);
            }
            Ok(tail.map_or(Head::EMPTY, |tail| tail.head))
        })
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        self.write(field, expected, batch, false)
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        self.page(field, from, limit, Extent::Everything)
    }

    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        let page = self.page(field, from, limit, Extent::Headers)?;
        Ok(page.into_iter().map(StoredHeader::from).collect())
    }

    fn read_bodies(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredBodies>, EngineError> {
        let page = self.page(field, from, limit, Extent::Everything)?;
        Ok(page.into_iter().map(StoredBodies::from).collect())
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        self.watch.followers.follow(self, field, from, timeout, limit)
    }

    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        let (client, state, bodies) = (self.client.clone(), self.states.of(field), bodies.to_vec());
        self.wait(async move {
            let tail = state.reaching(&client, u64::MAX).await?;
            erase::erase(&client, &state, &tail, &bodies).await
        })
    }

    fn seal(&self, field: &FieldName) -> Result<Head, EngineError> {
        let (client, state) = (self.client.clone(), self.states.of(field));
        self.wait(async move { erase::seal(&client, &state).await })
    }

    fn is_sealed(&self, field: &FieldName) -> Result<bool, EngineError> {
        let (client, state) = (self.client.clone(), self.states.of(field));
        self.wait(async move {
            let tail = tail::find(&client, &state.stream, state.remembered_tail()).await?;
            Ok(tail.is_some_and(|tail| tail.sealed && tail.head != Head::EMPTY))
        })
    }

    fn receive(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        self.write(field, expected, batch, true)
    }

    fn unseal(&self, field: &FieldName) -> Result<Head, EngineError> {
        let (client, state) = (self.client.clone(), self.states.of(field));
        self.wait(async move { erase::unseal(&client, &state).await })
    }

    fn notes(&self) -> Option<&dyn Notes> {
        Some(self)
    }

    fn release(&self, field: &FieldName) {
        self.states.forget(field);
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn wait_past(
        &self,
        field: &FieldName,
        position: u64,
        timeout: Duration,
    ) -> Result<u64, EngineError> {
        let next = position.saturating_add(1);
        Ok(self.watch.followers.wait(field, next, position, timeout))
    }

    fn take_turn(&self, field: &FieldName, known: &Head) -> Result<Option<Head>, EngineError> {
        let (client, state) = (self.client.clone(), self.states.of(field));
        let (tickets, known) = (Arc::clone(&self.tickets), known.position);
        self.wait(async move { turn::take(&client, &state, &tickets, known).await })
    }

    fn end_turn(&self, field: &FieldName) {
        let (client, state) = (self.client.clone(), self.states.of(field));
        if let Some(ticket) = state.turns.hold(None) {
            let end = async move { turn::pass_on(&client, &state, &ticket).await };
            self.runtime.handle().spawn(end);
        }
    }
}

impl Notes for NatsEngine {
    fn get(&self, name: &str) -> Result<Option<Note>, EngineError> {
        let (client, name) = (self.client.clone(), name.to_owned());
        self.wait(async move { notes::get(&client, &name).await })
    }

    fn put(&self, name: &str, expected: u64, bytes: &[u8]) -> Result<Option<u64>, EngineError> {
        let (client, replicas) = (self.client.clone(), self.replicas);
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        self.wait(async move { notes::put(&client, replicas, &name, expected, bytes).await })
    }
}
