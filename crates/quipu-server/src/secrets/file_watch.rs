//! Noticing that a file was changed by somebody else, without reading it and without looking at it for every
//! request.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{clock::Stopwatch, limits::KEYS_CHECK_MS};

/// What tells one version of a file from the next without reading it. Whoever replaces a file makes a new
/// one, so the inode tells two writes within one tick of the clock apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    bytes: u64,
    inode: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// The stamp of a file as it is now; that of an absent file is all zeros.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(meta) => Ok(Self {
                bytes: meta.len(),
                inode: meta.ino(),
                seconds: meta.mtime(),
                nanoseconds: meta.mtime_nsec(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }
}

/// Says when it is time to look again.
#[derive(Debug)]
pub(crate) struct Pace {
    since: Stopwatch,
    looked_at_ms: AtomicU64,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { since: Stopwatch::start(), looked_at_ms: AtomicU64::new(0) }
    }

    /// Whether a while has passed since this last said yes.
    pub(crate) fn is_due(&self) -> bool {
        let now = self.since.elapsed_ms();
        let is_due = now.saturating_sub(self.looked_at_ms.load(Ordering::Relaxed)) >= KEYS_CHECK_MS;
        if is_due {
            self.looked_at_ms.store(now, Ordering::Relaxed);
        }
        is_due
    }
}
