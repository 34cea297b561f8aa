//! Commits that are decided and not yet durable, with everything to be answered once they are. A refusal waits too: it
//! may rest on a commit of the batch, and nobody hears of a commit before its sync.

use quipu_core::Event;
use quipu_log::{Commit, Header};

use crate::{
    base::error::FieldError,
    read::unit_words::CommitWords,
    write::{
        job::{Outcome, Queued},
        publication::Pages,
    },
};

/// Commits that are decided and not yet durable.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) commits: Vec<Commit>,
    pub(crate) headers: Vec<Header<Event>>,
    words: Vec<CommitWords>,
    pub(crate) pending: Vec<Pending>,
}

/// A command whose answer waits for the batch.
pub(crate) struct Pending {
    /// Kept whole, because it may have to be decided again.
    pub(crate) queued: Box<Queued>,
    pub(crate) answer: Answer,
}

/// What to answer once the batch is durable.
pub(crate) enum Answer {
    /// The commit at this place of the batch.
    Committed(usize),
    /// What was done before, or nothing.
    Done(Outcome),
    /// It was refused because of a state that is certain.
    Refused(FieldError),
    /// It was refused because of a state that is certain only once the batch is durable.
    RefusedIfDurable(FieldError),
}

impl Answer {
    /// Whether it rests on nobody having appended anything else.
    fn rests_on_newest_state(&self) -> bool {
        match self {
            Self::Done(outcome) => outcome.position.is_none(),
            Self::Refused(_) | Self::RefusedIfDurable(_) => true,
            Self::Committed(_) => false,
        }
    }
}

impl Batch {
    /// Adds a commit. Answers its place.
    pub(crate) fn add(
        &mut self,
        commit: Commit,
        header: Header<Event>,
        words: CommitWords,
    ) -> usize {
        self.commits.push(commit);
        self.headers.push(header);
        self.words.push(words);
        self.commits.len() - 1
    }

    /// The commit at a position, where the batch follows `last`.
    pub(crate) fn commit_at(&self, position: u64, last: u64) -> Option<&Commit> {
        let place = usize::try_from(position.checked_sub(last + 1)?).ok()?;
        self.commits.get(place)
    }

    pub(crate) fn pages(&self) -> Pages<'_> {
        Pages { commits: &self.commits, headers: &self.headers, words: &self.words }
    }

    /// Whether one of its answers rests on nobody having appended anything else.
    pub(crate) fn rests_on_newest_state(&self) -> bool {
        self.pending.iter().any(|pending| pending.answer.rests_on_newest_state())
    }

    /// Answers everybody, now that the batch is durable or has failed.
    pub(crate) fn answer(self, result: &Result<(), FieldError>) {
        // Each commit answers one command, which takes its header along.
        let mut headers: Vec<_> = self.headers.into_iter().map(Some).collect();
        for Pending { queued, answer } in self.pending {
            let answer = match (result, answer) {
                (_, Answer::Refused(error)) | (Ok(()), Answer::RefusedIfDurable(error)) => {
                    Err(error)
                }
                (Err(error), _) => Err(error.clone()),
                (Ok(()), Answer::Committed(place)) => {
                    let header = headers.get_mut(place).and_then(Option::take);
                    let lost = || FieldError::Internal("an answer was lost".to_owned());
                    header.map(Outcome::of).ok_or_else(lost)
                }
                (Ok(()), Answer::Done(outcome)) => Ok(outcome),
            };
            // Whoever asked may have gone; what happened has happened.
            queued.reply.send(answer).ok();
        }
    }
}
