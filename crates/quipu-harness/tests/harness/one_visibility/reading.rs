//! What an agent reads by each protocol, side by side.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::{Message, Reader};
use quipu_harness::{Caller, EventScope, MemoryFilter, Page, TaskFilter};
use quipu_wire::{
    akashik::{CoordinatePayload, ReplayPayload, SessionPayload, UnitQuery},
    harn::{Event, ResourceKind},
};
use serde_json::{Value, json};

use super::world::{World, name};

type Ids = BTreeSet<String>;

/// An agent that reads.
struct Onlooker<'w> {
    world: &'w World,
    agent: String,
    key: u8,
    /// What it has through its key.
    authority: u8,
    /// What the Akashik Protocol shows it: the units of each place, and which sessions it reads in.
    units_in: BTreeMap<Option<&'static str>, Ids>,
    reads_in: BTreeSet<&'static str>,
}

/// Everything that one agent can read, asked of both.
pub(super) async fn compare(world: &World, index: usize) {
    let onlooker = Onlooker::new(world, index).await;
    onlooker.units().await;
    onlooker.conflicts().await;
    let agents = world.field().agents().agents;
    if agents.iter().any(|agent| agent.id == onlooker.agent) {
        onlooker.sessions().await;
        onlooker.tasks().await;
        onlooker.documents().await;
        onlooker.events().await;
    }
}

fn named(label: Option<&str>) -> Option<String> {
    label.map(str::to_owned)
}

impl<'w> Onlooker<'w> {
    /// Asks the Akashik side.
    async fn new(world: &'w World, index: usize) -> Self {
        let (member, agent) = (&world.members[index], name(index));
        let authority = member.own.min(member.key);
        let (units_in, reads_in) = (BTreeMap::new(), BTreeSet::new());
        let mut onlooker = Self { world, agent, key: member.key, authority, units_in, reads_in };
        for place in [None].into_iter().chain(world.places().map(Some)) {
            let units = onlooker.read_units_in(place).await;
            onlooker.units_in.insert(place, units);
        }
        for session in world.sessions() {
            if onlooker.replays(session).await {
                onlooker.reads_in.insert(session);
            }
        }
        onlooker
    }

    fn reader(&self, session: Option<&str>) -> Reader {
        let (agent, session) = (Some(self.agent.clone()), named(session));
        Reader { agent, session, authority: self.key, everywhere: false }
    }

    fn caller(&self, session: Option<&str>) -> Caller {
        Caller { session: named(session), ..Caller::new(self.agent.as_str(), self.key) }
    }

    fn message(&self, session: Option<&str>) -> Message {
        Message {
            id: "read".to_owned(),
            agent: self.agent.clone(),
            session: named(session),
            epoch: 0,
            own_key: true,
            key: None,
            authority: self.key,
        }
    }

    async fn read_units_in(&self, place: Option<&str>) -> Ids {
        let query = UnitQuery { limit: 500, ..UnitQuery::default() };
        let list = self.world.field().units(self.reader(place), query).await.unwrap();
        list.units.into_iter().map(|unit| unit.id).collect()
    }

    /// What the Akashik Protocol shows in all places that are to be asked for at once: every session, and the label that
    /// is named. From the human operator no label is hidden.
    fn units_anywhere(&self, label: Option<&'static str>) -> Ids {
        let sessions = self.world.sessions().map(Some).chain([label]);
        let labels = self.world.labels().filter(|_| self.authority == 10);
        let places = sessions.chain(labels.map(Some));
        places.flat_map(|place| &self.units_in[&place]).cloned().collect()
    }

    async fn units(&self) {
        let harness = &self.world.harness;
        let page = Page { limit: 500, ..Page::first(ResourceKind::Memory) };
        for label in [None].into_iter().chain(self.world.labels().map(Some)) {
            let (caller, expected) = (self.caller(label), self.units_anywhere(label));
            let mut found = Ids::new();
            for unit in &self.world.units {
                if harness.memory(&caller, unit).await.is_ok() {
                    found.insert(unit.clone());
                }
            }
            assert_eq!(found, expected, "units that {} reads, naming {label:?}", self.agent);
            let filter = MemoryFilter { session: named(label), workspace: None };
            let listed = harness.memories(&caller, page, filter).await.unwrap().data;
            let listed: Ids = listed.into_iter().map(|memory| memory.envelope.id).collect();
            assert!(listed.is_subset(&expected), "{} lists {listed:?}", self.agent);
        }
        let everything = harness.memories(&self.caller(None), page, MemoryFilter::default()).await;
        let listed: Ids = everything.unwrap().data.into_iter().map(|it| it.envelope.id).collect();
        let sessions = self.world.sessions().map(Some).chain([None]);
        let expected: Ids = sessions.flat_map(|place| &self.units_in[&place]).cloned().collect();
        assert_eq!(listed, expected, "what {} lists", self.agent);
    }

    /// A conflict is shown where both of its units are.
    async fn conflicts(&self) {
        let field = self.world.field();
        for session in [None].into_iter().chain(self.world.sessions().map(Some)) {
            let seen = &self.units_in[&session];
            let shown = field.conflicts_for(self.reader(session)).await.unwrap().conflicts;
            let shown: Ids = shown.into_iter().map(|conflict| conflict.id).collect();
            let both = self
                .world
                .conflicts
                .iter()
                .filter(|it| seen.contains(&it.unit_a) && seen.contains(&it.unit_b));
            let expected: Ids = both.map(|conflict| conflict.id.clone()).collect();
            assert_eq!(shown, expected, "conflicts that {} sees in {session:?}", self.agent);
        }
    }

    /// Whether the Akashik Protocol lets it read in a session: its history can be replayed.
    async fn replays(&self, session: &str) -> bool {
        let payload = json!({"target_type": "session", "target_id": session, "depth": "summary"});
        let (payload, _) = ReplayPayload::parse(payload).unwrap();
        let replayed = self.world.field().replay(self.message(None), payload).await;
        // Of the history alone the Akashik Protocol tells an auditor; everything else needs an observer.
        replayed.is_ok() && self.authority >= 2
    }

    fn reaches(&self, owner: Option<&str>, label: Option<&str>) -> bool {
        match owner {
            None => self.authority >= 2,
            Some(owner) if !self.world.opened.contains(owner) => {
                self.authority >= 2 && label == Some(owner) || self.authority == 10
            }
            Some(owner) => self.reads_in.contains(owner),
        }
    }

    async fn sessions(&self) {
        let harness = &self.world.harness;
        for session in self.world.sessions() {
            let payload = json!({"action": "get", "session_id": session});
            let (payload, _) = SessionPayload::parse(payload).unwrap();
            let known = self.world.field().session(self.message(None), payload).await.is_ok();
            let caller = self.caller(None);
            let shown = harness.session(&caller, session).await.is_ok();
            assert_eq!(shown, known, "whether {} knows of {session}", self.agent);
            let page = Page::first(ResourceKind::Session);
            let listed = harness.sessions(&caller, page, None).await.unwrap().data;
            let listed = listed.iter().any(|it| it.envelope.id == session);
            assert_eq!(listed, known, "whether {session} is listed for {}", self.agent);
            let page = Page::first(ResourceKind::Message);
            let read = harness.messages(&caller, session, page).await.is_ok();
            let member = self.reads_in.contains(session);
            assert_eq!(read, member, "whether {} reads the transcript of {session}", self.agent);
        }
    }

    async fn tasks(&self) {
        let harness = &self.world.harness;
        for label in [None].into_iter().chain(self.world.labels().map(Some)) {
            let (caller, mut expected) = (self.caller(label), Ids::new());
            for (task, _) in &self.world.tasks {
                let (get, _) =
                    CoordinatePayload::parse(json!({"action": "get", "task_id": task})).unwrap();
                let known = self.world.field().coordinate(self.message(label), get).await.is_ok();
                let shown = harness.task(&caller, task).await.is_ok();
                assert_eq!(shown, known, "whether {} knows of {task} naming {label:?}", self.agent);
                expected.extend(known.then(|| task.clone()));
            }
            let page = Page { limit: 500, ..Page::first(ResourceKind::Task) };
            let listed = harness.tasks(&caller, page, TaskFilter::default()).await.unwrap().data;
            let listed: Ids = listed.into_iter().map(|task| task.envelope.id).collect();
            assert_eq!(listed, expected, "the tasks that {} lists naming {label:?}", self.agent);
        }
    }

    /// What the Harn Protocol alone keeps is read by who may read where it is kept.
    async fn documents(&self) {
        let (harness, caller) = (&self.world.harness, self.caller(None));
        for (id, owner) in &self.world.messages {
            let expected = self.reaches(owner.as_deref(), None);
            let shown = harness.message(&caller, id).await.is_ok();
            assert_eq!(shown, expected, "whether {} reads {id} of {owner:?}", self.agent);
        }
        for (id, owner) in &self.world.artifacts {
            let expected = self.reaches(owner.as_deref(), None);
            let shown = harness.artifact(&caller, id).await.is_ok();
            assert_eq!(shown, expected, "whether {} reads {id} of {owner:?}", self.agent);
        }
        for (task, owner) in &self.world.ended {
            let expected = self.reaches(owner.as_deref(), None);
            let page = Page::first(ResourceKind::Receipt);
            let receipts = harness.task_receipts(&caller, task, page).await;
            assert_eq!(receipts.is_ok(), expected, "receipts of {task} for {}", self.agent);
            let page = Page::first(ResourceKind::Outcome);
            let outcomes = harness.outcomes(&caller, page, Some(task)).await.unwrap().data;
            assert_eq!(!outcomes.is_empty(), expected, "the outcome of {task} for {}", self.agent);
            for outcome in &outcomes {
                assert!(harness.outcome(&caller, &outcome.envelope.id).await.is_ok());
            }
        }
    }

    async fn events(&self) {
        let harness = &self.world.harness;
        for label in [None].into_iter().chain(self.world.labels().map(Some)) {
            let caller = self.caller(label);
            let units = self.units_anywhere(label);
            let all = self.world.events.iter();
            let expected: Vec<_> = all
                .filter(|event| self.may_be_told(event, label, &units))
                .map(|event| event.envelope.id.as_str())
                .collect();
            let told = harness.events(&caller, EventScope::default(), None, 10_000).await.unwrap();
            let told: Vec<_> = told.data.iter().map(|event| event.envelope.id.as_str()).collect();
            assert_eq!(told, expected, "what {} is told, naming {label:?}", self.agent);
        }
    }

    fn may_be_told(&self, event: &Event, label: Option<&str>, units: &Ids) -> bool {
        let within = event.session_id.as_deref().filter(|id| *id != quipu_harness::SESSION_DEFAULT);
        if !self.reaches(within, label) {
            return false;
        }
        let about = |member: &str| event.payload.get(member).and_then(Value::as_str);
        if let Some(unit) = about("memory_id") {
            return units.contains(unit);
        }
        let Some(handoff) = about("handoff_id") else { return true };
        let mut known = self.world.handoffs.iter();
        let owner = known.find(|(id, _)| id == handoff).and_then(|(_, owner)| owner.as_deref());
        self.reaches(owner, label)
    }
}
