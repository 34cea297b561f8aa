//! What a depot has to do, and when it may.

use std::{collections::BTreeMap, time::Duration};

use quipu_log::FieldName;

use crate::snapshot::depot::Offer;

#[derive(Debug, Clone)]
pub(crate) enum Errand {
    Store(Offer),
    /// Take away what is from before a position.
    Discard(FieldName, u64),
}

#[derive(Debug)]
pub(crate) struct Queue {
    interval_ms: u64,
    offers: BTreeMap<FieldName, Offer>,
    /// When a snapshot of a Field was brought there last.
    stored_ms: BTreeMap<FieldName, u64>,
    discards: BTreeMap<FieldName, u64>,
    /// Up to where old snapshots of a Field were taken away.
    discarded: BTreeMap<FieldName, u64>,
    at_work: bool,
    stopped: bool,
}

impl Queue {
    pub(crate) const fn new(interval_ms: u64) -> Self {
        Self {
            interval_ms,
            offers: BTreeMap::new(),
            stored_ms: BTreeMap::new(),
            discards: BTreeMap::new(),
            discarded: BTreeMap::new(),
            at_work: false,
            stopped: false,
        }
    }

    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    pub(crate) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn offer(&mut self, offer: Offer) {
        self.offers.insert(offer.field.clone(), offer);
    }

    /// Notes that something is to be taken away, unless it was. Answers whether it is.
    pub(crate) fn discard(&mut self, field: &FieldName, position: u64) -> bool {
        if self.discarded.get(field).is_some_and(|done| *done >= position) {
            return false;
        }
        let wanted = self.discards.entry(field.clone()).or_default();
        *wanted = position.max(*wanted);
        true
    }

    /// The next that may be done now. What was purged goes first.
    pub(crate) fn next(&mut self, now_ms: u64) -> Option<Errand> {
        let errand = if let Some((field, position)) = self.discards.pop_first() {
            Errand::Discard(field, position)
        } else {
            let field = self.offers.keys().find(|field| self.may_store(field, now_ms))?.clone();
            Errand::Store(self.offers.remove(&field)?)
        };
        self.at_work = true;
        Some(errand)
    }

    fn may_store(&self, field: &FieldName, now_ms: u64) -> bool {
        self.wait_ms(field, now_ms) == 0
    }

    fn wait_ms(&self, field: &FieldName, now_ms: u64) -> u64 {
        let Some(stored_ms) = self.stored_ms.get(field) else { return 0 };
        // A clock that went back does not make the wait longer than the interval.
        self.interval_ms.saturating_sub(now_ms.saturating_sub(*stored_ms))
    }

    /// How long until something may be done; none where nothing waits.
    pub(crate) fn due_in(&self, now_ms: u64) -> Option<Duration> {
        let waits = self.offers.keys().map(|field| self.wait_ms(field, now_ms));
        waits.min().map(|wait_ms| Duration::from_millis(wait_ms.max(1)))
    }

    pub(crate) fn done(&mut self, errand: Errand, now_ms: u64) {
        self.at_work = false;
        match errand {
            Errand::Store(offer) => {
                self.stored_ms.insert(offer.field, now_ms);
            }
            Errand::Discard(field, position) => {
                self.discarded.insert(field, position);
            }
        }
    }

    /// Puts it back, unless something newer came.
    pub(crate) fn failed(&mut self, errand: Errand) {
        self.at_work = false;
        match errand {
            Errand::Store(offer) => {
                self.offers.entry(offer.field.clone()).or_insert(offer);
            }
            Errand::Discard(field, position) => {
                let wanted = self.discards.entry(field).or_default();
                *wanted = position.max(*wanted);
            }
        }
    }

    /// Whether something is done now or could be.
    pub(crate) fn is_busy(&self, now_ms: u64) -> bool {
        let may_store = || self.offers.keys().any(|field| self.may_store(field, now_ms));
        !self.stopped && (self.at_work || !self.discards.is_empty() || may_store())
    }
}
