//! A session as the protocol shows it: first what the state knows, then its free text.

use quipu_wire::akashik::Session;

use super::{ERASED, Texts};
use crate::{event::coordination::SessionBody, state::SessionEntry};

/// A session without its free text, and where that is.
#[derive(Debug)]
pub struct SessionOutline {
    session: Session,
    position: u64,
    event: u32,
}

impl SessionOutline {
    /// Takes everything about a session that the state knows.
    #[must_use]
    pub fn of(id: &str, entry: &SessionEntry) -> Self {
        let session = Session {
            id: id.to_owned(),
            goal: String::new(),
            status: entry.status,
            creator: entry.creator.clone(),
            members: entry.members.iter().cloned().collect(),
            policy: entry.policy.clone(),
            epoch_created: entry.epoch_created,
            epoch_ended: entry.epoch_ended,
        };
        Self { session, position: entry.position, event: entry.event }
    }

    pub fn complete<T: Texts>(self, texts: &T) -> Result<Session, T::Error> {
        let mut session = self.session;
        let body = texts.load::<SessionBody>(self.position, self.event)?;
        session.goal = body.map_or_else(|| ERASED.to_owned(), |body| body.goal);
        Ok(session)
    }
}
