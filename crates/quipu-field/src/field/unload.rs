//! Which Fields are put away while nobody uses them: those that nobody used for a while, and, where more are
//! open than there may be, those that were used longest ago. Nobody is turned away for it: whoever asks for a Field
//! that is being put away waits and gets it anew, and whoever holds one keeps it open.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use quipu_log::FieldName;
use tokio::{sync::OwnedMutexGuard, task::JoinHandle};

use crate::{
    base::limits::{FIELD_IDLE, FIELDS_OPEN},
    field::{
        Field,
        fields::{Fields, Residence, Slot},
    },
    snapshot::depot::{Depot, DepotCounts},
};

/// How many Fields stay open, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keeping {
    /// How many are open at a time, if the others are not in use.
    pub open_max: usize,
    /// How long one stays open that nobody uses.
    pub idle: Duration,
}

impl Default for Keeping {
    fn default() -> Self {
        Self { open_max: FIELDS_OPEN, idle: FIELD_IDLE }
    }
}

/// A Field that was taken out of its place, to be put away.
struct Leaving {
    name: FieldName,
    field: Arc<Field>,
    /// Whoever wants the Field again waits for it.
    gate: OwnedMutexGuard<()>,
}

impl Fields {
    /// Puts away what nobody used for a while, and opens what has something due, or could not be opened before. To be
    /// called now and then.
    pub async fn tend(&self) {
        self.open_failed().await;
        let now_ms = self.template.origin.now_ms();
        let idle_ms = u64::try_from(self.keeping.idle.as_millis()).unwrap_or(u64::MAX);
        let is_idle = |used_ms: u64| now_ms.saturating_sub(used_ms) >= idle_ms;
        while let Some(leaving) = self.take_out(is_idle) {
            self.put_away(leaving).await.ok();
        }
        let is_due = |due_ms: Option<u64>| due_ms.is_some_and(|due_ms| due_ms <= now_ms);
        let due: Vec<FieldName> = {
            let away = self.away();
            let due = away.iter().filter(|(_, parting)| is_due(parting.due_ms));
            due.map(|(name, _)| name.clone()).collect()
        };
        for name in due {
            match self.open(&name).await {
                Ok(field) => field.expire_leases(),
                // It is tried again at the next look.
                Err(error) => tracing::warn!(field = %name, %error, "a lease cannot be ended"),
            }
        }
    }

    /// Puts Fields away until one more may be open. Answers whether there is room; there is none where
    /// too many are in use.
    pub async fn make_room(&self) -> bool {
        while self.open_count() >= self.keeping.open_max {
            let Some(leaving) = self.take_out(|_| true) else { return false };
            self.put_away(leaving).await.ok();
        }
        true
    }

    /// How many are open or being opened.
    #[must_use]
    pub fn open_count(&self) -> usize {
        let is_open = |slot: &Arc<Slot>| slot.field.get().is_some() || Arc::strong_count(slot) > 1;
        self.residences().values().filter(|place| is_open(&place.slot)).count()
    }

    #[must_use]
    pub fn away_count(&self) -> usize {
        self.away().len()
    }

    #[must_use]
    pub fn depot_counts(&self) -> Option<DepotCounts> {
        self.template.depot.as_ref().map(Depot::counts)
    }

    /// Takes out the Field that was used longest ago, of those that may go and that nobody uses.
    fn take_out(&self, may_go: impl Fn(u64) -> bool) -> Option<Leaving> {
        let mut places = self.residences();
        let mut unused: Vec<(u64, FieldName)> = places
            .iter()
            .map(|(name, place)| (place.used_ms.load(Ordering::Relaxed), name, place))
            .filter(|(used_ms, _, place)| may_go(*used_ms) && is_unheld(place))
            .map(|(used_ms, name, _)| (used_ms, name.clone()))
            .collect();
        unused.sort();
        unused.into_iter().find_map(|(_, name)| {
            let place = places.get_mut(&name)?;
            let field = place.slot.field.get().filter(|field| !field.is_at_work())?;
            let field = Arc::clone(field);
            // Nobody else can have it from here on, because nobody holds it and it is not in its place any more.
            let slot = Slot::default();
            let gate = Arc::clone(&slot.gate).try_lock_owned().ok()?;
            place.slot = Arc::new(slot);
            Some(Leaving { name, field, gate })
        })
    }

    /// Closes it, also where whoever asked for that is gone before it is done.
    fn put_away(&self, leaving: Leaving) -> JoinHandle<()> {
        let (engine, away) = (Arc::clone(&self.engine), Arc::clone(&self.away));
        let places = Arc::clone(&self.places);
        tokio::spawn(async move {
            let Leaving { name, field, gate } = leaving;
            let parting = field.put_away().await;
            drop(field);
            let released = name.clone();
            tokio::task::spawn_blocking(move || engine.release(&released)).await.ok();
            away.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), parting);
            tracing::debug!(field = %name, "closed a Field that nobody uses");
            drop(gate);
            let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
            // Unless somebody waits for it already, its place is not needed.
            let is_left =
                |slot: &Arc<Slot>| Arc::strong_count(slot) == 1 && slot.field.get().is_none();
            if places.get(&name).is_some_and(|place| is_left(&place.slot)) {
                places.remove(&name);
            }
        })
    }
}

/// Whether nobody holds the Field of a place, or is about to.
fn is_unheld(place: &Residence) -> bool {
    let field = place.slot.field.get();
    Arc::strong_count(&place.slot) == 1 && field.is_some_and(|field| Arc::strong_count(field) == 1)
}
