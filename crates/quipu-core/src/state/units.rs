//! The units of a Field without their free text: a few bytes that every scan touches, and the rest.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use quipu_wire::akashik::{MemoryType, Mode, RelationType, UnitStatus};
use serde::{Deserialize, Serialize};

use super::{Name, TypeSet};
use crate::ids::UnitId;

/// What a scan over all units looks at. Kept small: a million of them are eight megabytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnitFlags {
    pub author: Name,
    pub memory_type: MemoryType,
    pub status: UnitStatus,
    /// Whether COMPACT moved it out of sight.
    pub archived: bool,
    /// Whether COMPACT deleted it. Its id stays known, its text is erased.
    pub purged: bool,
}

/// What is only looked at for units that matter to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitDetails {
    pub id: UnitId,
    /// The commit that recorded it, where its body is.
    pub position: u64,
    /// The event within that commit.
    pub event: u32,
    pub epoch: u64,
    pub time_ms: u64,
    pub role: Name,
    pub session: Option<Name>,
    pub task: Option<Name>,
    pub score: Option<f64>,
    pub mode: Mode,
    pub links: Box<[UnitLink]>,
}

impl UnitDetails {
    /// The units that it links to in this way, each once.
    #[must_use]
    pub fn linked(&self, kind: RelationType) -> BTreeSet<u32> {
        let links = self.links.iter().filter(|link| link.kind == kind);
        let units = links.filter_map(|link| match link.target {
            LinkTarget::Unit(target) => Some(target),
            LinkTarget::Foreign(_) => None,
        });
        units.collect()
    }
}

/// A link to a unit, or to an id that is not known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitLink {
    pub kind: RelationType,
    pub target: LinkTarget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkTarget {
    /// A unit of this Field, by ordinal.
    Unit(u32),
    /// An id that this Field did not know when the link was made.
    Foreign(Name),
}

/// All units in the order of recording. A unit's place in it is its ordinal.
#[derive(Debug, Clone, Default)]
pub struct UnitTable {
    flags: Vec<UnitFlags>,
    /// How many units have the same flags. There are few kinds, so who counts need not look at each unit.
    kinds: BTreeMap<UnitFlags, usize>,
    details: Vec<UnitDetails>,
    by_id: HashMap<UnitId, u32>,
    by_task: BTreeMap<Name, Vec<u32>>,
    standing: Vec<u32>,
    supporters: BTreeMap<u32, Vec<u32>>,
    superseders: BTreeMap<u32, Vec<u32>>,
    sessions: Vec<Option<Name>>,
    /// Of syntheses that elaborate other units: the types of these, and its own.
    retold: BTreeMap<u32, TypeSet>,
    /// By ordinal: the units before and after it in its row.
    beside: Vec<[u32; 2]>,
    /// By ordinal: whether it belongs to no session and no task. Apart from the details, because who ranks
    /// asks it of every neighbour.
    loose: Vec<bool>,
    /// The last unit of each row.
    row_ends: BTreeMap<Row, u32>,
}

/// Units that follow each other: those of a session; where there is no session, those of a task; and
/// those of neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Session(Name),
    Task(Name),
    Neither,
}

/// Stands in `beside` for no unit.
const NOBODY: u32 = u32::MAX;

impl UnitTable {
    #[must_use]
    pub fn len(&self) -> usize {
        self.flags.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// The ordinal that the next unit will have.
    #[must_use]
    pub fn next_ordinal(&self) -> u32 {
        u32::try_from(self.flags.len()).unwrap_or(u32::MAX)
    }

    pub fn push(&mut self, flags: UnitFlags, details: UnitDetails) {
        let ordinal = self.next_ordinal();
        self.by_id.insert(details.id, ordinal);
        if let Some(task) = details.task {
            self.by_task.entry(task).or_default().push(ordinal);
        }
        if is_standing(flags.memory_type) {
            self.standing.push(ordinal);
        }
        for target in details.linked(RelationType::Supports) {
            self.supporters.entry(target).or_default().push(ordinal);
        }
        for target in details.linked(RelationType::Supersedes) {
            self.superseders.entry(target).or_default().push(ordinal);
        }
        if flags.memory_type == MemoryType::Synthesis {
            let elaborated = details.linked(RelationType::Elaborates);
            let types = self.types_of_new(flags.memory_type, details.session, elaborated);
            self.retold.insert(ordinal, types);
        }
        let row = details.session.map(Row::Session);
        let row = row.or_else(|| details.task.map(Row::Task)).unwrap_or(Row::Neither);
        self.join_row(ordinal, row);
        self.loose.push(row == Row::Neither);
        self.sessions.push(details.session);
        *self.kinds.entry(flags).or_default() += 1;
        self.flags.push(flags);
        self.details.push(details);
    }

    fn join_row(&mut self, ordinal: u32, row: Row) {
        let before = self.row_ends.insert(row, ordinal).unwrap_or(NOBODY);
        if let Some([_, after]) = self.beside.get_mut(index(before)) {
            *after = ordinal;
        }
        self.beside.push([before, NOBODY]);
    }

    /// The unit before another in its session, else in its task, else among those of neither.
    #[must_use]
    pub fn before(&self, ordinal: u32) -> Option<u32> {
        self.beside.get(index(ordinal)).map(|[before, _]| *before).filter(|at| *at != NOBODY)
    }

    /// The unit after another, likewise.
    #[must_use]
    pub fn after(&self, ordinal: u32) -> Option<u32> {
        self.beside.get(index(ordinal)).map(|[_, after]| *after).filter(|at| *at != NOBODY)
    }

    /// Whether neither a session nor a task says what a unit belongs to.
    #[must_use]
    pub fn is_loose(&self, ordinal: u32) -> bool {
        self.loose.get(index(ordinal)).copied().unwrap_or(false)
    }

    pub fn sessions(&self) -> impl Iterator<Item = Name> {
        self.row_ends.keys().filter_map(|row| match row {
            Row::Session(name) => Some(*name),
            Row::Task(_) | Row::Neither => None,
        })
    }

    /// The ordinal of a unit.
    #[must_use]
    pub fn find(&self, id: UnitId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    #[must_use]
    pub fn flags(&self, ordinal: u32) -> Option<&UnitFlags> {
        self.flags.get(index(ordinal))
    }

    pub fn change(&mut self, ordinal: u32, change: impl FnOnce(&mut UnitFlags)) {
        let Some(flags) = self.flags.get_mut(index(ordinal)) else { return };
        let before = *flags;
        change(flags);
        *self.kinds.entry(*flags).or_default() += 1;
        if let Some(count) = self.kinds.get_mut(&before) {
            *count -= 1;
            if *count == 0 {
                self.kinds.remove(&before);
            }
        }
    }

    /// The kinds of units by their flags, and how many there are of each.
    pub fn kinds(&self) -> impl Iterator<Item = (&UnitFlags, usize)> {
        self.kinds.iter().map(|(flags, count)| (flags, *count))
    }

    #[must_use]
    pub fn details(&self, ordinal: u32) -> Option<&UnitDetails> {
        self.details.get(index(ordinal))
    }

    /// Reads a little of the details of each of some units, so that memory is on its way for all of them at
    /// once: who then looks at one after the other does not wait for each.
    pub fn fetch(&self, ordinals: &[u32]) {
        let details = ordinals.iter().filter_map(|ordinal| self.details(*ordinal));
        let ends = |unit: &UnitDetails| unit.position ^ u64::from(unit.mode == Mode::Draft);
        std::hint::black_box(details.fold(0, |all, unit| all ^ ends(unit)));
    }

    /// The session that a unit was recorded in. Apart from its details, because every read asks.
    #[must_use]
    pub fn session_of(&self, ordinal: u32) -> Option<Name> {
        self.sessions.get(index(ordinal)).copied().flatten()
    }

    /// The types by which the rules of its session show a unit: its own, and of a synthesis also those of the units
    /// of that session which it elaborates, for it tells what they say.
    #[must_use]
    pub fn types_of(&self, ordinal: u32) -> TypeSet {
        let own = || self.flags(ordinal).map(|unit| TypeSet::of(&[unit.memory_type]));
        self.retold.get(&ordinal).copied().or_else(own).unwrap_or(TypeSet::NONE)
    }

    /// The same of a unit that is to be recorded.
    #[must_use]
    pub fn types_of_new(
        &self,
        memory_type: MemoryType,
        session: Option<Name>,
        elaborated: impl IntoIterator<Item = u32>,
    ) -> TypeSet {
        let own = TypeSet::of(&[memory_type]);
        if memory_type != MemoryType::Synthesis {
            return own;
        }
        let beside = elaborated.into_iter().filter(|unit| self.session_of(*unit) == session);
        beside.fold(own, |types, unit| types.or(self.types_of(unit)))
    }

    #[must_use]
    pub fn has_session(&self, session: Name) -> bool {
        self.sessions.contains(&Some(session))
    }

    /// The flags of all units from an ordinal on.
    #[must_use]
    pub fn flags_from(&self, ordinal: u32) -> &[UnitFlags] {
        self.flags.get(index(ordinal)..).unwrap_or_default()
    }

    /// The first unit that was recorded at or after an epoch. Epochs rise with ordinals.
    #[must_use]
    pub fn first_since(&self, epoch: u64) -> u32 {
        u32::try_from(self.details.partition_point(|unit| unit.epoch < epoch)).unwrap_or(u32::MAX)
    }

    /// The first unit that was recorded behind a position. Positions rise with ordinals.
    #[must_use]
    pub fn first_behind(&self, position: u64) -> u32 {
        let first = self.details.partition_point(|unit| unit.position <= position);
        u32::try_from(first).unwrap_or(u32::MAX)
    }

    /// The units of a task, oldest first.
    #[must_use]
    pub fn of_task(&self, task: Name) -> &[u32] {
        self.by_task.get(&task).map_or(&[], Vec::as_slice)
    }

    /// The units that hold until they are replaced (directives, constraints, decisions), oldest first.
    #[must_use]
    pub fn standing(&self) -> &[u32] {
        &self.standing
    }

    /// The units that say they support a unit, each once, oldest first.
    #[must_use]
    pub fn supporters(&self, ordinal: u32) -> &[u32] {
        self.supporters.get(&ordinal).map_or(&[], Vec::as_slice)
    }

    /// The units that say they supersede a unit, each once, oldest first.
    #[must_use]
    pub fn superseders(&self, ordinal: u32) -> &[u32] {
        self.superseders.get(&ordinal).map_or(&[], Vec::as_slice)
    }

    /// The units that a commit recorded. Positions rise with ordinals.
    pub fn recorded_at(&self, position: u64) -> impl Iterator<Item = u32> {
        let first = self.details.partition_point(|unit| unit.position < position);
        let after = self.details.get(first..).unwrap_or_default();
        let count = after.iter().take_while(|unit| unit.position == position).count();
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        (first..).take(count)
    }
}

fn index(ordinal: u32) -> usize {
    usize::try_from(ordinal).unwrap_or(usize::MAX)
}

/// Whether a type holds until it is replaced.
#[must_use]
pub const fn is_standing(memory_type: MemoryType) -> bool {
    match memory_type {
        MemoryType::HumanDirective | MemoryType::Constraint | MemoryType::Decision => true,
        MemoryType::Finding
        | MemoryType::Observation
        | MemoryType::Intention
        | MemoryType::Assumption
        | MemoryType::Question
        | MemoryType::Contradiction
        | MemoryType::Synthesis
        | MemoryType::Correction => false,
    }
}

impl Serialize for UnitTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.flags, &self.details).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for UnitTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (flags, details) = <(Vec<UnitFlags>, Vec<UnitDetails>)>::deserialize(deserializer)?;
        if flags.len() != details.len() {
            return Err(serde::de::Error::custom("as many flags as details"));
        }
        let mut table = Self::default();
        table.flags.reserve_exact(flags.len());
        table.details.reserve_exact(flags.len());
        table.by_id.reserve(flags.len());
        for (flags, details) in flags.into_iter().zip(details) {
            table.push(flags, details);
        }
        Ok(table)
    }
}
