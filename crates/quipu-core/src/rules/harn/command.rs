//! What the writer is asked by this protocol, with everything observed already in it.

use quipu_log::Body;
use quipu_wire::Hash;

use super::act::HarnAct;
use crate::{
    event::documents::{DocumentKind, DocumentOwner, IdempotencyMark, Note},
    ids::UnitId,
    message::RoleGrant,
};

#[derive(Debug, Clone, Default)]
pub struct HarnCommand {
    pub mark: Option<IdempotencyMark>,
    pub act: Option<HarnAct>,
    /// What it makes or changes, in order.
    pub documents: Vec<DocumentDraft>,
    /// What it notes about tasks, in order.
    pub notes: Vec<NoteDraft>,
    /// Where the log was when what it puts was read and changed. It is refused where a document that it puts has
    /// changed since, or a receipt that it puts has lost its place in its session's chain, or words were purged since
    /// that a document repeats.
    pub read_at: Option<u64>,
    /// Which roles the actor's credential gives it, should this be the first that the Field hears of it.
    pub roles: RoleGrant,
}

impl HarnCommand {
    /// What its idempotency key means.
    #[must_use]
    pub fn scope(&self) -> Option<&Hash> {
        self.mark.as_ref().map(|mark| &mark.scope)
    }
}

#[derive(Debug, Clone)]
pub struct DocumentDraft {
    pub kind: DocumentKind,
    pub id: String,
    pub owner: DocumentOwner,
    pub expect: Expect,
    /// What it says, sealed with its salt.
    pub body: Option<Body>,
    /// The units whose words it repeats.
    pub quotes: Vec<UnitId>,
}

/// What must be there before a document is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing, ever.
    New,
    /// One that it replaces.
    Known,
    /// One that it replaces, or nothing.
    Any,
    /// One that goes.
    Removal,
}

#[derive(Debug, Clone)]
pub struct NoteDraft {
    pub task: String,
    pub note: Note,
    /// What is to be told of it, sealed with its salt.
    pub body: Option<Body>,
}
