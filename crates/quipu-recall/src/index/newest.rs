//! Owns what one index hands to another that has all documents before: its newest documents, as they were found when they
//! were inserted. No text is looked at again. They are taken a few at a time, so that whoever uses the first index meanwhile
//! waits for no more than those, and may add further documents, which are left out.

use std::ops::Range;

use crate::index::{
    lexical::{ABSENT, slot},
    postings::unpack,
    search_index::Index,
    vectors::Vectors,
};

/// How many documents are taken, or terms looked at, at a time.
const AT_A_TIME: u32 = 1_024;

/// Some documents of an index, on their way into another one.
#[derive(Debug, Clone)]
pub struct Newest {
    documents: Range<u32>,
    at_a_time: u32,
    /// What is left to take: documents, and terms by id.
    to_take: (Range<u32>, Range<u32>),
    lengths: Vec<u32>,
    /// By how far a document is from the first.
    vectors: Vectors,
    rules: Vec<u32>,
    lists: Lists,
}

/// Terms with their documents, in one string and one row of bytes.
#[derive(Debug, Clone, Default)]
struct Lists {
    text: String,
    packed: Vec<u8>,
    /// Where the term and the list of each end.
    ends: Vec<(usize, usize)>,
}

impl Newest {
    /// The documents that an index has now from an ordinal on. None of them is taken yet.
    pub fn of(index: &Index, first: u32) -> Self {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let documents = first..number(index.lexical.ordinals()).max(first);
        // Terms that are added from now on are of later documents.
        let terms = 0..number(index.lexical.ids());
        Self {
            to_take: (documents.clone(), terms),
            documents,
            at_a_time: AT_A_TIME,
            lengths: Vec::new(),
            vectors: Vectors::new(index.vectors.space().clone()),
            rules: Vec::new(),
            lists: Lists::default(),
        }
    }

    /// Takes some more from the same index; whether there is more to take. It must not have forgotten any of them. What a
    /// second model said of them is left out.
    pub fn take_some(&mut self, index: &Index) -> bool {
        let some = first_of(&mut self.to_take.0, self.at_a_time);
        if some.is_empty() {
            self.take_terms(index);
        } else {
            self.take_documents(index, some);
        }
        !self.to_take.0.is_empty() || !self.to_take.1.is_empty()
    }

    fn take_documents(&mut self, index: &Index, some: Range<u32>) {
        self.rules.extend(index.rules.range(some.clone()));
        for ordinal in some {
            self.lengths.push(index.lexical.length_of(ordinal).unwrap_or(ABSENT));
            self.vectors.copy(ordinal - self.documents.start, &index.vectors, ordinal);
        }
    }

    fn take_terms(&mut self, index: &Index) {
        for id in first_of(&mut self.to_take.1, self.at_a_time) {
            if index.lexical.list(id).pack_from(self.documents.start, &mut self.lists.packed) {
                self.lists.end(index.lexical.term(id));
            }
        }
    }
}

impl Index {
    /// Adds documents that were taken from another index; `false`, and no change, where this one has documents from there on
    /// or some are still to be taken.
    pub fn append(&mut self, newest: &Newest) -> bool {
        let Range { start, end } = newest.documents;
        let taken = newest.to_take.0.is_empty() && newest.to_take.1.is_empty();
        if !taken || self.lexical.ordinals() > slot(start) {
            return false;
        }
        for (at, (ordinal, length)) in (0..).zip((start..end).zip(&newest.lengths)) {
            self.lexical.place(ordinal, *length);
            self.vectors.copy(ordinal, &newest.vectors, at);
        }
        self.rules.extend(&newest.rules);
        for (term, packed) in newest.lists.iter() {
            let mut documents = unpack(packed).take_while(|ordinal| *ordinal < end).peekable();
            // A term that has none is not known.
            if documents.peek().is_some() {
                let list = self.lexical.list_mut(term);
                documents.for_each(|ordinal| list.insert(ordinal));
            }
        }
        true
    }
}

impl Lists {
    /// Ends a list, whose documents are packed already.
    fn end(&mut self, term: &str) {
        self.text.push_str(term);
        self.ends.push((self.text.len(), self.packed.len()));
    }

    /// The terms, each with its packed list.
    fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let (mut term, mut list) = (0, 0);
        self.ends.iter().map(move |&(term_end, list_end)| {
            let text = self.text.get(term..term_end).unwrap_or_default();
            let packed = self.packed.get(list..list_end).unwrap_or_default();
            (term, list) = (term_end, list_end);
            (text, packed)
        })
    }
}

/// Takes the first numbers off a range.
fn first_of(range: &mut Range<u32>, count: u32) -> Range<u32> {
    let middle = range.start.saturating_add(count).min(range.end);
    let some = range.start..middle;
    range.start = middle;
    some
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::analyze;

    fn stored(index: &Index) -> Vec<u8> {
        let mut bytes = Vec::new();
        index.write_to(&mut bytes).unwrap();
        bytes
    }

    /// Every third says that it is so from now on.
    fn text(ordinal: u32) -> String {
        let rule = if ordinal.is_multiple_of(3) { "From now on always" } else { "Once they" };
        format!("{rule} count the ships, harbour {} and anchor {ordinal}", ordinal % 7)
    }

    #[test]
    fn what_is_taken_in_many_parts_from_an_index_that_grows_is_whole() {
        for at_a_time in [1, 3, 64] {
            let mut live = Index::new();
            (0..50).for_each(|at| assert!(live.insert(at, &analyze(&text(at)))));
            let expected = stored(&live);
            let mut grown = Index::new();
            (0..20).for_each(|at| assert!(grown.insert(at, &analyze(&text(at)))));
            let mut newest = Newest { at_a_time, ..Newest::of(&live, 20) };
            let mut later = 50;
            while newest.take_some(&live) {
                assert!(live.insert(later, &analyze(&text(later))));
                later += 1;
            }
            assert!(later > 50, "it has grown meanwhile");
            assert!(grown.append(&newest));
            assert_eq!(stored(&grown), expected, "{at_a_time} at a time");
        }
    }
}
