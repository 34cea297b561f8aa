//! The contract that every engine keeps.
//! Holds no engine: see `memory`, `sqlite` and the crate `quipu-engines`; the suite that checks the contract is `conformance`.

use std::{fmt, time::Duration};

use super::{error::EngineError, notes::Notes};
use crate::{
    commit::{Commit, Head, StoredBodies, StoredHeader},
    field_name::FieldName,
};

/// The size of the commits after which a read ends, however many were asked for: a page of large bodies must not
/// become a gigabyte in memory.
pub const READ_BYTES_MAX: usize = 16 * 1024 * 1024;

/// An ordered, append-only log for each field.
///
/// ```text
///   position        1     2     3     4     5
///                 +-----+-----+-----+-----+-----+
///   Head::EMPTY   |  A  |  B  |  C  |  D  |  E  |   head() = 5, hash of E
///   (0, ZERO)     +-----+-----+-----+-----+-----+
///                             ^                 ^
///                  read(from = 3, limit = 2)    append(expected = head, [F, G])
///                  answers C, D                 writes 6 and 7, or nothing
/// ```
///
/// **Durability.** When `append`, `erase` or `seal` answers `Ok`, the change is on stable storage. No `head`, `read`
/// or `follow` shows a commit before that. (The memory engine has no stable storage and says so.)
///
/// **Ordering.** Positions of a field start at 1 and are dense. A batch is written whole or not at all. Of several
/// appends with the same expected head exactly one succeeds; the others get [`EngineError::HeadMoved`].
/// An engine never sends again what may have happened. Fields are independent of each other.
///
/// **Idempotency.** `head`, `read`, `follow` and `fields` change nothing. `erase`, `seal` and `unseal` may be repeated.
/// A repeated `append` is refused with `HeadMoved`; after an error of kind [`EngineError::Io`] or
/// [`EngineError::Poisoned`] the outcome of that append is unknown until the engine is opened again.
///
/// **Trust.** An engine compares positions and links, and does not hash: whoever reads verifies
/// (see [`crate::verify_chain`]).
///
/// All methods block. An engine over an asynchronous client owns a runtime inside.
pub trait Engine: Send + Sync + fmt::Debug + 'static {
    /// The fields that exist, in order of their names.
    ///
    /// # Errors
    /// `Io` if the list cannot be read.
    fn fields(&self) -> Result<Vec<FieldName>, EngineError>;

    /// The last durable commit of a field, [`Head::EMPTY`] if the field does not exist.
    ///
    /// # Errors
    /// `Damaged` or `Io` if the field cannot be opened.
    fn head(&self, field: &FieldName) -> Result<Head, EngineError>;

    /// Appends a batch that is a chain from `expected`, atomically and synced. The first batch creates the field.
    ///
    /// # Errors
    /// `InvalidBatch` for an empty batch or one that is no chain from `expected`; `Poisoned`; `Sealed`; `HeadMoved`
    /// if the field's head is another one; `Full` if there is no room; `Unavailable` if the storage cannot be reached.
    /// None of these writes anything, then or later.
    /// `Io` leaves the outcome unknown.
    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError>;

    /// The commits at positions `>= from`, in order, at most `limit` of them, and no more once they are together
    /// larger than [`READ_BYTES_MAX`]. An empty answer means that the log ended before `from` at that moment.
    ///
    /// # Errors
    /// `UnknownField`; `Damaged` naming the first commit that cannot be read; `Io`.
    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError>;

    /// Like [`Engine::read`], but the headers alone. An engine that keeps bodies apart need not touch them.
    ///
    /// # Errors
    /// As `read`.
    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        Ok(self.read(field, from, limit)?.into_iter().map(StoredHeader::from).collect())
    }

    /// Like [`Engine::read`], but the bodies alone.
    ///
    /// # Errors
    /// As `read`.
    fn read_bodies(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredBodies>, EngineError> {
        Ok(self.read(field, from, limit)?.into_iter().map(StoredBodies::from).collect())
    }

    /// Like [`Engine::read`], but waits until there is at least one commit to answer or `timeout` has passed;
    /// then the answer is empty.
    ///
    /// # Errors
    /// As `read`.
    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError>;

    /// Erases bodies for good: afterwards their text and salt are in none of the engine's files, and reads say
    /// `Erased`. Headers stay, so the chain still verifies. An address without a body, or whose body is erased
    /// already, is passed over and not counted. Works on a sealed field.
    ///
    /// # Errors
    /// `UnknownField`; `Poisoned`; `Damaged`; `Full`; `Io`. After an error the call may be repeated.
    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError>;

    /// Refuses every later append to this field. Answers the final head. Only `unseal` ends it.
    ///
    /// # Errors
    /// `UnknownField`; `Poisoned`; `Full`; `Io`.
    fn seal(&self, field: &FieldName) -> Result<Head, EngineError>;

    /// Whether the field is sealed; a field that does not exist is not.
    ///
    /// # Errors
    /// `Damaged`; `Io`.
    fn is_sealed(&self, _field: &FieldName) -> Result<bool, EngineError> {
        Err(no_copies())
    }

    /// Appends to a sealed field what was copied from another log. A field that does not exist is made, and is sealed
    /// from the first: so nobody else writes to a copy before it is whole. Otherwise as [`Engine::append`].
    ///
    /// # Errors
    /// As `append`, without `Sealed`; `InvalidBatch` for a field that takes appends of its own.
    fn receive(
        &self,
        _field: &FieldName,
        _expected: &Head,
        _batch: &[Commit],
    ) -> Result<Head, EngineError> {
        Err(no_copies())
    }

    /// Lets a sealed field take appends again. For a copy that was found whole, and for nothing else: of a log and its
    /// copy only one may grow. May be repeated.
    ///
    /// # Errors
    /// `UnknownField`; `Poisoned`; `Full`; `Io`.
    fn unseal(&self, _field: &FieldName) -> Result<Head, EngineError> {
        Err(no_copies())
    }

    /// The notes that all nodes share; none from an engine that is one process's own.
    fn notes(&self) -> Option<&dyn Notes> {
        None
    }

    /// Whether other processes may append to the same fields. If so, whoever holds a state made from a field follows
    /// it, and an append that was refused with `HeadMoved` is an everyday thing.
    fn is_shared(&self) -> bool {
        false
    }

    /// Waits until the log is likely to have come past `position`, or `timeout` has passed, and answers how far it has
    /// come. Only a hint, which may be wrong both ways: positions are read. What this engine appended counts too.
    ///
    /// # Errors
    /// As `read`.
    fn wait_past(
        &self,
        field: &FieldName,
        position: u64,
        timeout: Duration,
    ) -> Result<u64, EngineError> {
        let page = self.follow(field, position.saturating_add(1), timeout, 1)?;
        Ok(page.last().map_or(position, |commit| commit.position))
    }

    /// Waits for the right to append next, about in the order of asking, and answers the head as far as the engine
    /// knows it. Until the next `append` to the field through this engine, whatever comes of it, or until `end_turn`,
    /// whoever takes turns too does not move that head. An engine may take the turn back after a while, and some can
    /// only ask others to wait: the append may still be refused, as any other. None from an engine that keeps nobody
    /// waiting, or not now: then whoever appends first wins.
    ///
    /// # Errors
    /// `Unavailable`; `Damaged`; `Io`. Then there is no turn.
    fn take_turn(&self, _field: &FieldName, _known: &Head) -> Result<Option<Head>, EngineError> {
        Ok(None)
    }

    /// Gives a turn back that was not used.
    fn end_turn(&self, _field: &FieldName) {}

    /// Says that nobody uses a field for now: what is kept open or remembered for it may be given back. The next
    /// call for it works as ever.
    fn release(&self, _field: &FieldName) {}
}

/// Where a body is: the commit's position and the index of the event in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyAddress {
    pub position: u64,
    /// The event in it, from 0.
    pub event: u32,
}

/// What an `erase` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erasure {
    /// How many bodies this call erased.
    pub bodies_erased: u64,
    /// How many bytes of body text they had. An engine need not give the space back to the file system.
    pub bytes_reclaimed: u64,
}

fn no_copies() -> EngineError {
    EngineError::io("take a copy", "this engine takes none")
}
