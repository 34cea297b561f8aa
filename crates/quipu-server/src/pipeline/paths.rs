//! Which route a path belongs to, for the metrics and for the form of a refusal. All of it is derived from the
//! tables.

use std::collections::{BTreeSet, HashMap};

use quipu_wire::akashik::Operation;

use crate::pipeline::route::Route;

/// A route as the metrics name it: one of ours, or `other`, so that callers cannot add names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) path: &'static str,
    pub(crate) operation: Option<Operation>,
    /// Whether the Harn protocol answers, also where there is no such route.
    pub(crate) is_harn: bool,
}

#[derive(Debug, Default)]
pub(crate) struct RoutePaths {
    fixed: HashMap<&'static str, Label>,
    with_parameters: Vec<Label>,
    /// The words behind `/v1/` that are the Harn protocol's.
    harn_words: BTreeSet<&'static str>,
}

impl RoutePaths {
    pub(crate) fn add(&mut self, routes: &[Route], is_harn: bool) {
        for Route { path, admission, .. } in routes {
            let label = Label { path, operation: admission.operation, is_harn };
            if path.contains('{') {
                self.with_parameters.push(label);
            } else {
                self.fixed.insert(path, label);
            }
            self.harn_words.extend(first_word(path).filter(|_| is_harn));
        }
    }

    /// Adds a path that is in no table.
    pub(crate) fn add_path(&mut self, path: &'static str) {
        self.fixed.insert(path, Label { path, operation: None, is_harn: false });
    }

    /// The route that a request's path is one of. A fixed word wins over an id.
    pub(crate) fn find(&self, path: &str) -> Label {
        let mut patterns = self.with_parameters.iter();
        let found = self.fixed.get(path).or_else(|| patterns.find(|label| fits(label.path, path)));
        found.copied().unwrap_or_else(|| {
            let is_harn = first_word(path).is_some_and(|word| self.harn_words.contains(word));
            Label { path: "other", operation: None, is_harn }
        })
    }
}

/// The word behind `/v1/`, by which the paths of the two protocols differ.
fn first_word(path: &str) -> Option<&str> {
    path.strip_prefix("/v1/")?.split('/').next().filter(|word| !word.is_empty())
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut words, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (words.next(), given.next()) {
            (None, None) => return true,
            (Some(word), Some(_)) if word.starts_with("{*") => return true,
            (Some(word), Some(given)) if word == given => {}
            (Some(word), Some(given)) if word.starts_with('{') && !given.is_empty() => {}
            _ => return false,
        }
    }
}
