//! The mark of the last acknowledged position, beside the database.
//!
//! SQLite silently drops what follows a damaged frame of its write-ahead log, so an acknowledged tail could vanish
//! unseen. The mark is written after each commit and not synced: it survives the death of the process, and after a
//! power cut it may be older than the log but never newer. Two slots take turns, so one is always whole.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Seek, SeekFrom, Write},
    path::Path,
};

use quipu_wire::hash::Hash;

use super::layout::private_file;
use crate::commit::{Damage, DamageKind, Head};

/// The alignment and size of a slot: one sector, which disks write whole.
const SLOT: usize = 512;

/// An acknowledged position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) position: u64,
    pub(super) hash: Hash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Zero,
    Bad,
    Valid(Mark),
}

/// The two slots as they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slots([Slot; 2]);

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct HeadMark {
    file: File,
    next: u64,
}

fn encode(mark: Mark) -> [u8; SLOT] {
    let mut text =
        format!("quipu-head 1\nposition {}\nhash {}\n", mark.position, mark.hash).into_bytes();
    let check = Hash::of(&text);
    text.extend_from_slice(format!("check {check}\n").as_bytes());
    let mut slot = [0; SLOT];
    for (to, from) in slot.iter_mut().zip(text) {
        *to = from;
    }
    slot
}

// A slot is valid only if encoding it again gives exactly its bytes, so that every bit is covered.
fn decode(bytes: &[u8]) -> Slot {
    if bytes.len() == SLOT && bytes.iter().all(|byte| *byte == 0) {
        return Slot::Zero;
    }
    let parse = || {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines().skip(1);
        let position = lines.next()?.strip_prefix("position ")?.parse().ok()?;
        let hash = lines.next()?.strip_prefix("hash ")?.parse().ok()?;
        Some(Mark { position, hash })
    };
    match parse() {
        Some(mark) if encode(mark) == bytes => Slot::Valid(mark),
        Some(_) | None => Slot::Bad,
    }
}

/// Reads the slots; `None` if there is no such file.
pub(super) fn read(path: &Path) -> io::Result<Option<Slots>> {
    // Read a second time, because a writer in another process may have been in the middle of a slot.
    let slots = read_once(path)?;
    if slots.is_some_and(|slots| slots.any_bad()) { read_once(path) } else { Ok(slots) }
}

fn read_once(path: &Path) -> io::Result<Option<Slots>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let (first, rest) = bytes.split_at_checked(SLOT).unwrap_or((&bytes, &[]));
    Ok(Some(Slots([decode(first), decode(rest)])))
}

impl Slots {
    const fn any_bad(&self) -> bool {
        matches!(self.0, [Slot::Bad, _] | [_, Slot::Bad])
    }

    fn highest_valid(&self) -> Option<Mark> {
        let marks = self.0.iter().filter_map(|slot| match slot {
            Slot::Valid(mark) => Some(*mark),
            Slot::Zero | Slot::Bad => None,
        });
        marks.max_by_key(|mark| mark.position)
    }

    /// The highest mark. One damaged slot is tolerated if the other is valid.
    pub(super) fn highest(&self, path: &Path) -> Result<Option<Mark>, Damage> {
        let highest = self.highest_valid();
        if self.any_bad() {
            if highest.is_none() {
                return Err(unreadable("no slot of it is whole"));
            }
            tracing::warn!(path = %path.display(), "one slot of the head mark is damaged, using the other");
        }
        Ok(highest)
    }

    pub(super) fn check(&self) -> Result<(), Damage> {
        if self.any_bad() { Err(unreadable("a slot of it is damaged")) } else { Ok(()) }
    }
}

fn unreadable(reason: &str) -> Damage {
    Damage::new(0, DamageKind::HeadMarkUnreadable(reason.to_owned()))
}

impl Mark {
    pub(super) const fn of(head: &Head) -> Self {
        Self { position: head.position, hash: head.hash }
    }

    /// Compares the mark with the log: `head` is its end, `hash` the hash of the commit at the mark's position.
    pub(super) fn compare(&self, head: &Head, hash: Option<Hash>) -> Result<(), Damage> {
        if self.position > head.position {
            let (ends_at, acknowledged) = (head.position, self.position);
            let kind = DamageKind::Truncated { ends_at, acknowledged };
            return Err(Damage::new(ends_at.saturating_add(1), kind));
        }
        if hash != Some(self.hash) {
            return Err(Damage::new(self.position, DamageKind::NotAcknowledged));
        }
        Ok(())
    }
}

impl HeadMark {
    /// Opens the file for writing, or creates it. `found` is what was read from it before.
    pub(super) fn open(path: &Path, found: Option<Slots>) -> io::Result<Self> {
        if found.is_none() {
            // Written under another name and then renamed: a partly created file would count as damage.
            let part = path.with_extension("part");
            let options = &mut OpenOptions::new();
            let mut file = private_file(options.write(true).create(true).truncate(true), &part)?;
            file.write_all(&[0; 2 * SLOT])?;
            file.sync_all()?;
            fs::rename(&part, path)?;
        }
        let file = OpenOptions::new().write(true).open(path)?;
        // Never the slot that holds the highest mark.
        let highest = found.and_then(|slots| slots.highest_valid());
        let second_is_highest = match (found, highest) {
            (Some(Slots([_, second])), Some(mark)) => second == Slot::Valid(mark),
            (_, _) => true,
        };
        Ok(Self { file, next: u64::from(!second_is_highest) })
    }

    /// Writes the next slot. Not synced, see the top of this file.
    pub(super) fn write(&mut self, head: &Head) -> io::Result<()> {
        let offset = self.next * 512;
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(&encode(Mark::of(head)))?;
        self.next = 1 - self.next;
        Ok(())
    }
}
