//! Owns one term's list of documents as packed bytes: ascending ordinals as deltas, with frequencies.
//! Knows neither the term nor the documents' lengths.
//!
//! An entry is a varint of `delta * 2 + 1` where the term occurs once, else of `delta * 2` followed
//! by a varint of the frequency. The first delta is the ordinal itself.

use std::collections::BTreeSet;

/// The documents that hold one term.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Postings {
    bytes: Vec<u8>,
    last: u32,
    count: u32,
}

/// One document of a list and how often the term occurs in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) ordinal: u32,
    pub(crate) frequency: u32,
}

impl Postings {
    /// Reads a list from stored bytes, or nothing where they are not what [`Self::bytes`] gives for
    /// documents that all are `known`.
    pub(crate) fn from_bytes(bytes: &[u8], known: impl Fn(u32) -> bool) -> Option<Self> {
        let mut list = Self { bytes: Vec::new(), last: 0, count: 0 };
        let mut entries = Entries { bytes, ordinal: None };
        for posting in &mut entries {
            if !known(posting.ordinal) {
                return None;
            }
            list.last = posting.ordinal;
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

    /// The packed form.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes held on the heap.
    pub(crate) const fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// The entries in ascending order of ordinal.
    pub(crate) fn iter(&self) -> Entries<'_> {
        Entries { bytes: &self.bytes, ordinal: None }
    }

    /// Adds a document. At the end this is a push of a few bytes; elsewhere the list is rewritten.
    pub(crate) fn insert(&mut self, posting: Posting) {
        if self.count == 0 || posting.ordinal > self.last {
            self.push(posting);
            return;
        }
        let mut entries: Vec<Posting> =
            self.iter().filter(|entry| entry.ordinal != posting.ordinal).collect();
        let at = entries.partition_point(|entry| entry.ordinal < posting.ordinal);
        entries.insert(at, posting);
        *self = entries.into_iter().collect();
    }

    /// Takes a document out; whether it was there. Rewrites the list.
    pub(crate) fn remove(&mut self, ordinal: u32) -> bool {
        let rest: Self = self.iter().filter(|entry| entry.ordinal != ordinal).collect();
        let found = rest.count < self.count;
        if found {
            *self = rest;
        }
        found
    }

    /// Takes documents out; whether any was there. Rewrites the list only then.
    pub(crate) fn forget(&mut self, ordinals: &BTreeSet<u32>) -> bool {
        if !self.iter().any(|entry| ordinals.contains(&entry.ordinal)) {
            return false;
        }
        *self = self.iter().filter(|entry| !ordinals.contains(&entry.ordinal)).collect();
        true
    }

    fn push(&mut self, Posting { ordinal, frequency }: Posting) {
        let delta = if self.count == 0 { ordinal } else { ordinal - self.last };
        let once = frequency == 1;
        write_varint(&mut self.bytes, u64::from(delta) * 2 + u64::from(once));
        if !once {
            write_varint(&mut self.bytes, u64::from(frequency));
        }
        self.last = ordinal;
        self.count += 1;
    }
}

impl FromIterator<Posting> for Postings {
    /// Packs entries that are already in ascending order.
    fn from_iter<I: IntoIterator<Item = Posting>>(entries: I) -> Self {
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
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        let mut bytes = self.bytes;
        let code = read_varint(&mut bytes)?;
        let delta = u32::try_from(code / 2).ok()?;
        let ordinal = match self.ordinal {
            None => delta,
            Some(_) if delta == 0 => return None,
            Some(previous) => previous.checked_add(delta)?,
        };
        let frequency =
            if code % 2 == 1 { 1 } else { u32::try_from(read_varint(&mut bytes)?).ok()? };
        if frequency == 0 {
            return None;
        }
        self.bytes = bytes;
        self.ordinal = Some(ordinal);
        Some(Posting { ordinal, frequency })
    }
}

fn write_varint(out: &mut Vec<u8>, mut value: u64) {
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

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    // Five groups of seven bits hold every 33-bit code, so a longer one is not ours.
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(u32, u32)]) -> Postings {
        let mut list = Postings::default();
        for &(ordinal, frequency) in entries {
            list.insert(Posting { ordinal, frequency });
        }
        list
    }

    fn entries(list: &Postings) -> Vec<(u32, u32)> {
        list.iter().map(|entry| (entry.ordinal, entry.frequency)).collect()
    }

    #[test]
    fn gives_back_what_was_put_in_whatever_the_order() {
        let all = [(0, 1), (1, 7), (300, 1), (u32::MAX - 1, u32::MAX), (u32::MAX, 1)];
        assert_eq!(entries(&list(&all)), all);
        let shuffled = [all[3], all[0], all[4], all[2], all[1]];
        assert_eq!(list(&shuffled), list(&all));
    }

    #[test]
    fn a_removed_document_leaves_the_list_as_if_it_had_never_been_there() {
        let mut shorter = list(&[(3, 1), (9, 2), (12, 1)]);
        assert!(shorter.remove(9));
        assert!(!shorter.remove(9));
        assert_eq!(shorter, list(&[(3, 1), (12, 1)]));
    }

    #[test]
    fn one_occurrence_in_the_next_document_costs_one_byte() {
        let dense: Vec<_> = (0..1000).map(|ordinal| (ordinal, 1)).collect();
        assert_eq!(list(&dense).bytes().len(), 1000);
    }

    #[test]
    fn refuses_bytes_that_are_not_a_list() {
        let good = list(&[(3, 1), (9, 2)]);
        assert_eq!(Postings::from_bytes(good.bytes(), |_| true), Some(good.clone()));
        assert_eq!(Postings::from_bytes(good.bytes(), |ordinal| ordinal != 9), None);
        for bytes in [&[][..], &[0x80], &[7, 1], &[6, 0], &[0xFF; 12], &[7, 0x02]] {
            assert_eq!(Postings::from_bytes(bytes, |_| true), None, "{bytes:?}");
        }
    }
}
