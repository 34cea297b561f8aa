//! Names seen in a Field (agents, roles, sessions, tasks, foreign unit ids), each kept once.

use std::{collections::HashMap, sync::Arc};

use serde::{Deserialize, Serialize};

/// A name, by its place in the order of first appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name(u32);

impl Name {
    /// The name as an opaque number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

#[derive(Debug, Clone, Default)]
pub struct Names {
    texts: Vec<Arc<str>>,
    by_text: HashMap<Arc<str>, Name>,
}

impl Names {
    /// The name of a text, made on first use.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.by_text.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.by_text.insert(text, name);
        name
    }

    #[must_use]
    pub fn find(&self, text: &str) -> Option<Name> {
        self.by_text.get(text).copied()
    }

    #[must_use]
    pub fn text(&self, name: Name) -> &str {
        usize::try_from(name.0).ok().and_then(|at| self.texts.get(at)).map_or("", |text| text)
    }
}

impl Serialize for Names {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.texts.iter().map(|text| text.as_ref()))
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut names = Self::default();
        for text in Vec::<String>::deserialize(deserializer)? {
            names.intern(&text);
        }
        Ok(names)
    }
}
