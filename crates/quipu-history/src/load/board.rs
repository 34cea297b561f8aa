//! The ids that the clients of a run share: units, tasks and documents that exist, so that several clients work on
//! the same ones.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::load::dice::Dice;

/// Clients choose among this many of the newest ids: few, so that several clients choose the same.
const NEWEST: usize = 3;

/// Shared ids, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Board {
    units: Mutex<Vec<String>>,
    tasks: Mutex<Vec<String>>,
    documents: Mutex<Vec<String>>,
}

impl Board {
    pub(crate) fn add_unit(&self, unit: &str) {
        add(&self.units, unit);
    }

    pub(crate) fn add_task(&self, task: &str) {
        add(&self.tasks, task);
    }

    pub(crate) fn add_document(&self, document: &str) {
        add(&self.documents, document);
    }

    pub(crate) fn document(&self, dice: &mut Dice) -> Option<String> {
        draw(&self.documents, dice)
    }

    pub(crate) fn unit(&self, dice: &mut Dice) -> Option<String> {
        draw(&self.units, dice)
    }

    pub(crate) fn task(&self, dice: &mut Dice) -> Option<String> {
        draw(&self.tasks, dice)
    }
}

fn add(list: &Mutex<Vec<String>>, one: &str) {
    let mut list = lock(list);
    if !list.iter().any(|listed| listed == one) {
        list.push(one.to_owned());
    }
}

fn draw(list: &Mutex<Vec<String>>, dice: &mut Dice) -> Option<String> {
    let list = lock(list);
    let newest = list.get(list.len().saturating_sub(NEWEST)..)?;
    newest.get(dice.index(newest.len())).cloned()
}

fn lock(list: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
