//! The vectors of recent queries: agents ask with the same role and the same hint again
//! and again, and the model is slow.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::base::limits::{QUERY_EMBEDS_MAX, QUERY_VECTORS_KEPT_MAX};

/// Recent questions and their vectors, and room for a few new ones at a time.
#[derive(Debug)]
pub(crate) struct QueryVectors {
    generations: Mutex<Generations>,
    places: Arc<Semaphore>,
}

/// When the young generation is full it becomes the old one; what is asked again is young again.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<String, Vec<f32>>,
    old: HashMap<String, Vec<f32>>,
}

impl Generations {
    fn insert(&mut self, text: String, vector: Vec<f32>) {
        if self.young.len() >= QUERY_VECTORS_KEPT_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text, vector);
    }
}

impl Default for QueryVectors {
    fn default() -> Self {
        Self { generations: Mutex::default(), places: Arc::new(Semaphore::new(QUERY_EMBEDS_MAX)) }
    }
}

impl QueryVectors {
    pub(crate) fn get(&self, text: &str) -> Option<Vec<f32>> {
        let mut kept = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.young.get(text) {
            return Some(known.clone());
        }
        let (text, vector) = kept.old.remove_entry(text)?;
        kept.insert(text, vector.clone());
        Some(vector)
    }

    pub(crate) fn remember(&self, text: String, vector: Vec<f32>) {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner).insert(text, vector);
    }

    /// Room to ask the model, if there is some.
    pub(crate) fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_is_asked_again_and_never_more_than_its_bound() {
        let asked = QueryVectors::default();
        asked.remember("often".to_owned(), vec![1.0]);
        for at in 0..QUERY_VECTORS_KEPT_MAX * 3 {
            asked.remember(format!("once {at}"), vec![0.0]);
            assert_eq!(asked.get("often"), Some(vec![1.0]));
        }
        assert_eq!(asked.get("once 0"), None);
        let kept = asked.generations.lock().unwrap();
        assert!(kept.young.len() + kept.old.len() <= QUERY_VECTORS_KEPT_MAX + 1);
    }

    #[test]
    fn only_a_few_may_ask_at_a_time() {
        let asked = QueryVectors::default();
        let places: Vec<_> = std::iter::from_fn(|| asked.permit()).collect();
        assert_eq!(places.len(), QUERY_EMBEDS_MAX);
        drop(places);
        assert!(asked.permit().is_some());
    }
}
