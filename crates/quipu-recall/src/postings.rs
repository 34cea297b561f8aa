//! Owns one term's list of documents as packed bytes: a varint for the distance from each ordinal to
//! the next, the first from 0. Knows neither the term nor the documents' lengths.

use std::collections::BTreeSet;

use crate::seen::Seen;

/// The documents that hold one term.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Postings {
    bytes: Vec<u8>,
    last: u32,
    count: u32,
}

impl Postings {
    /// Reads a list from stored bytes, or nothing where they are not what [`Self::bytes`] gives for
    /// documents that all are `known`.
    pub(crate) fn from_bytes(bytes: &[u8], known: impl Fn(u32) -> bool) -> Option<Self> {
        let mut list = Self { bytes: Vec::new(), last: 0, count: 0 };
        let mut entries = Entries { bytes, ordinal: None };
        for ordinal in &mut entries {
            if !known(ordinal) {
                return None;
            }
            list.last = ordinal;
            list.count = list.count.checked_add(1)?;
        }
        if !entries.bytes.is_empty() || list.count == 0 {
            return None;
        }
        list.bytes = bytes.to_vec();
        Some(list)
    }

    /// How many documents the list has.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// How many of them are seen.
    pub(crate) fn count_seen(&self, seen: &Seen) -> u32 {
        if seen.is_all() {
            return self.count;
        }
        let seen = self.iter().filter(|ordinal| seen.has(*ordinal)).count();
        u32::try_from(seen).unwrap_or(u32::MAX)
    }

    /// The packed form.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes held on the heap.
    pub(crate) const fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// The ordinals in ascending order.
    pub(crate) fn iter(&self) -> Entries<'_> {
        Entries { bytes: &self.bytes, ordinal: None }
    }

    /// Adds a document. At the end this is a push of a few bytes; elsewhere the list is rewritten.
    pub(crate) fn insert(&mut self, ordinal: u32) {
        if self.count == 0 || ordinal > self.last {
            self.push(ordinal);
            return;
        }
        let mut entries: Vec<u32> = self.iter().filter(|entry| *entry != ordinal).collect();
        let at = entries.partition_point(|entry| *entry < ordinal);
        entries.insert(at, ordinal);
        *self = entries.into_iter().collect();
    }

    /// Takes a document out; whether it was there. Rewrites the list.
    pub(crate) fn remove(&mut self, ordinal: u32) -> bool {
        let rest: Self = self.iter().filter(|entry| *entry != ordinal).collect();
        let found = rest.count < self.count;
        if found {
            *self = rest;
        }
        found
    }

    /// Takes documents out; whether any was there. Rewrites the list only then.
    pub(crate) fn forget(&mut self, ordinals: &BTreeSet<u32>) -> bool {
        if !self.iter().any(|entry| ordinals.contains(&entry)) {
            return false;
        }
        *self = self.iter().filter(|entry| !ordinals.contains(entry)).collect();
        true
    }

    fn push(&mut self, ordinal: u32) {
        let delta = if self.count == 0 { ordinal } else { ordinal - self.last };
        write_varint(&mut self.bytes, delta);
        self.last = ordinal;
        self.count += 1;
    }
}

impl FromIterator<u32> for Postings {
    /// Packs entries that are already in ascending order.
    fn from_iter<I: IntoIterator<Item = u32>>(entries: I) -> Self {
        let mut list = Self::default();
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

/// Unpacks a list. Ends at the first entry that is not well formed, leaving its bytes unread.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    bytes: &'a [u8],
    ordinal: Option<u32>,
}

impl Iterator for Entries<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut bytes = self.bytes;
        let delta = read_varint(&mut bytes)?;
        let ordinal = match self.ordinal {
            None => delta,
            Some(_) if delta == 0 => return None,
            Some(previous) => previous.checked_add(delta)?,
        };
        self.bytes = bytes;
        self.ordinal = Some(ordinal);
        Some(ordinal)
    }
}

fn write_varint(out: &mut Vec<u8>, mut value: u32) {
    loop {
        let low = value.to_le_bytes()[0] & 0x7F;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

fn read_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    // Five groups of seven bits hold every number of 32 bits; what is more is not ours.
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let group = u32::from(byte & 0x7F);
        if shift == 28 && group > 0xF {
            return None;
        }
        value |= group << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ordinals: &[u32]) -> Postings {
        let mut list = Postings::default();
        ordinals.iter().for_each(|ordinal| list.insert(*ordinal));
        list
    }

    #[test]
    fn gives_back_what_was_put_in_whatever_the_order() {
        let all = [0, 1, 300, 70_000, u32::MAX - 1, u32::MAX];
        assert_eq!(list(&all).iter().collect::<Vec<_>>(), all);
        let shuffled = [all[3], all[0], all[5], all[2], all[4], all[1], all[0]];
        assert_eq!(list(&shuffled), list(&all));
    }

    #[test]
    fn a_removed_document_leaves_the_list_as_if_it_had_never_been_there() {
        let mut shorter = list(&[3, 9, 12]);
        assert!(shorter.remove(9));
        assert!(!shorter.remove(9));
        assert_eq!(shorter, list(&[3, 12]));
    }

    #[test]
    fn counts_only_what_is_seen() {
        let three = list(&[3, 9, 12]);
        assert_eq!(three.count_seen(&Seen::ALL), 3);
        assert_eq!(three.count_seen(&Seen::only(12, |ordinal| ordinal != 3)), 1);
    }

    #[test]
    fn the_next_document_costs_one_byte() {
        let dense: Vec<u32> = (0..1000).collect();
        assert_eq!(list(&dense).bytes().len(), 1000);
    }

    #[test]
    fn refuses_bytes_that_are_not_a_list() {
        let good = list(&[3, 9]);
        assert_eq!(Postings::from_bytes(good.bytes(), |_| true), Some(good.clone()));
        assert_eq!(Postings::from_bytes(good.bytes(), |ordinal| ordinal != 9), None);
        for bytes in [&[][..], &[0x80], &[7, 0], &[0xFF; 12], &[0xFF, 0xFF, 0xFF, 0xFF, 0x1F]] {
            assert_eq!(Postings::from_bytes(bytes, |_| true), None, "{bytes:?}");
        }
    }
}
