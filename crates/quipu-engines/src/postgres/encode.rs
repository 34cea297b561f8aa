//! Encodes a batch as the array parameters of one statement.

use quipu_log::{BodyContent, Commit, EngineError, Head};

/// The parameters of an append, in columns.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) positions: Vec<i64>,
    pub(super) epochs: Vec<i64>,
    pub(super) prevs: Vec<Vec<u8>>,
    pub(super) hashes: Vec<Vec<u8>>,
    pub(super) headers: Vec<Vec<u8>>,
    pub(super) bytes: Vec<i64>,
    pub(super) body_positions: Vec<i64>,
    pub(super) events: Vec<i32>,
    pub(super) salts: Vec<Option<Vec<u8>>>,
    pub(super) bodies: Vec<Option<Vec<u8>>>,
}

/// A head in the types of the database.
#[derive(Debug, Clone)]
pub(super) struct HeadColumns {
    pub(super) position: i64,
    pub(super) epoch: i64,
    pub(super) hash: Vec<u8>,
}

impl HeadColumns {
    pub(super) fn of(head: &Head) -> Result<Self, EngineError> {
        let whole = |value: u64| signed(head.position, value);
        let (position, epoch) = (whole(head.position)?, whole(head.epoch)?);
        Ok(Self { position, epoch, hash: head.hash.as_bytes().to_vec() })
    }
}

impl Columns {
    pub(super) fn of(batch: &[Commit]) -> Result<Self, EngineError> {
        let mut columns = Self::default();
        for commit in batch {
            columns.add(commit)?;
        }
        Ok(columns)
    }

    fn add(&mut self, commit: &Commit) -> Result<(), EngineError> {
        let position = signed(commit.position, commit.position)?;
        self.positions.push(position);
        self.epochs.push(signed(commit.position, commit.epoch)?);
        self.prevs.push(commit.prev.as_bytes().to_vec());
        self.hashes.push(commit.hash.as_bytes().to_vec());
        self.headers.push(commit.header.to_vec());
        self.bytes.push(i64::try_from(commit.stored_bytes()).unwrap_or(i64::MAX));
        for stored in &commit.bodies {
            self.body_positions.push(position);
            let event = i32::try_from(stored.event).map_err(|_| too_large(commit.position))?;
            self.events.push(event);
            let (salt, body) = match &stored.content {
                BodyContent::Present(body) => {
                    (Some(body.salt.as_bytes().to_vec()), Some(body.json.clone()))
                }
                BodyContent::Erased => (None, None),
            };
            self.salts.push(salt);
            self.bodies.push(body);
        }
        Ok(())
    }
}

fn signed(position: u64, value: u64) -> Result<i64, EngineError> {
    i64::try_from(value).map_err(|_| too_large(position))
}

fn too_large(position: u64) -> EngineError {
    let reason = "its position, its epoch or an event of it has too large a number".to_owned();
    EngineError::InvalidBatch { position, reason }
}
