//! Owns one term's list of documents as packed bytes: a varint for the distance from each ordinal to
//! the next, the first from 0. Knows neither the term nor the documents' lengths.

use std::collections::BTreeSet;

use crate::index::{lexical::slot, seen::Seen};

/// The documents that hold one term.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Postings {
    bytes: Vec<u8>,
    /// Every so many documents: the last ordinal before, and where the next entry begins.
    skips: Vec<Skip>,
    /// One bit for each ordinal, where the list has so many that this costs little: who asks about some
    /// documents then reads those bits and nothing else.
    bits: Vec<u64>,
    last: u32,
    count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Skip {
    ordinal: u32,
    at: u32,
}

/// Documents between two skips.
const STRIDE: u32 = 128;
/// A list has bits if at least one document in so many is in it, and loses them below half of that.
const DENSE: u32 = 16;

impl Postings {
    /// Reads a list from stored bytes, or nothing where they are not what [`Self::bytes`] gives for
    /// documents that all are `known`.
    pub(crate) fn from_bytes(bytes: &[u8], known: impl Fn(u32) -> bool) -> Option<Self> {
        let mut list = Self { bytes: Vec::with_capacity(bytes.len()), ..Self::default() };
        for ordinal in unpack(bytes) {
            if !known(ordinal) {
                return None;
            }
            list.push(ordinal);
        }
        // A number can be written in more bytes than it needs; then it was not written here.
        (list.bytes == bytes && list.count > 0).then_some(list)
    }

    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

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

    /// Adds the packed form of the list from an ordinal on, if it has any of those; whether it has.
    pub(crate) fn pack_from(&self, first: u32, packed: &mut Vec<u8>) -> bool {
        if self.count == 0 || self.last < first {
            return false;
        }
        let mut entries = self.iter();
        entries.skip_to(first);
        let Some(next) = entries.find(|ordinal| *ordinal >= first) else { return false };
        write_varint(packed, next);
        packed.extend_from_slice(entries.bytes);
        true
    }

    pub(crate) const fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.skips.capacity() * size_of::<Skip>()
            + self.bits.capacity() * size_of::<u64>()
    }

    /// The ordinals in ascending order.
    pub(crate) fn iter(&self) -> Entries<'_> {
        Entries { all: &self.bytes, bytes: &self.bytes, skips: &self.skips, ordinal: None }
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

    /// One bit for each ordinal, where the list has them.
    pub(crate) fn bits(&self) -> Option<&[u64]> {
        (!self.bits.is_empty()).then_some(&self.bits)
    }

    /// Whether the list has an ordinal, where that is quickly said of any.
    pub(crate) fn marks(&self) -> Option<impl Fn(u32) -> bool> {
        (!self.bits.is_empty()).then_some(|ordinal: u32| {
            let word = self.bits.get(slot(ordinal / 64)).copied().unwrap_or(0);
            word >> (ordinal % 64) & 1 == 1
        })
    }

    /// Calls `found` with the place in `wanted` of each ordinal that the list has. `wanted` is in
    /// ascending order. Stretches of the list in which nothing is wanted are not read.
    pub(crate) fn for_each_of(&self, wanted: &[u32], mut found: impl FnMut(usize)) {
        if let Some(has) = self.marks() {
            let places = wanted.iter().enumerate().filter(|(_, ordinal)| has(**ordinal));
            return places.for_each(|(place, _)| found(place));
        }
        let mut entries = self.iter();
        let mut current = None;
        for (place, ordinal) in wanted.iter().enumerate() {
            while current.is_none_or(|at| at < *ordinal) {
                if current.is_some() || entries.ordinal.is_none() {
                    entries.skip_to(*ordinal);
                }
                current = entries.next();
                if current.is_none() {
                    return;
                }
            }
            if current == Some(*ordinal) {
                found(place);
            }
        }
    }

    fn push(&mut self, ordinal: u32) {
        if self.count > 0 && self.count.is_multiple_of(STRIDE) {
            // A list of 4 GiB would be of more documents than there can be.
            let at = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
            self.skips.push(Skip { ordinal: self.last, at });
        }
        let delta = if self.count == 0 { ordinal } else { ordinal - self.last };
        write_varint(&mut self.bytes, delta);
        self.last = ordinal;
        self.count += 1;
        self.mark(ordinal);
    }

    /// Keeps the bits, which depend on nothing but the documents in their order.
    fn mark(&mut self, ordinal: u32) {
        let per_bit = ordinal / self.count;
        if self.bits.is_empty() {
            if per_bit < DENSE && self.count.is_multiple_of(STRIDE) {
                let mut bits = vec![0; slot(ordinal / 64) + 1];
                self.iter().for_each(|at| bits[slot(at / 64)] |= 1 << (at % 64));
                self.bits = bits;
            }
        } else if per_bit < 2 * DENSE {
            let words = self.bits.len().max(slot(ordinal / 64) + 1);
            self.bits.resize(words, 0);
            self.bits[slot(ordinal / 64)] |= 1 << (ordinal % 64);
        } else {
            self.bits = Vec::new();
        }
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

pub(crate) const fn unpack(bytes: &[u8]) -> Entries<'_> {
    Entries { all: bytes, bytes, skips: &[], ordinal: None }
}

/// Unpacks a list. Ends at the first entry that is not well formed, leaving its bytes unread.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    all: &'a [u8],
    bytes: &'a [u8],
    skips: &'a [Skip],
    ordinal: Option<u32>,
}

impl Entries<'_> {
    /// Moves ahead to the last skip before `target`, if that is further than here.
    fn skip_to(&mut self, target: u32) {
        let Some(next) = self.skips.first() else { return };
        if next.ordinal >= target {
            return;
        }
        let passed = self.skips.partition_point(|skip| skip.ordinal < target);
        let (passed, ahead) = self.skips.split_at(passed);
        self.skips = ahead;
        if let Some(skip) =
            passed.last().filter(|skip| self.ordinal.is_none_or(|at| at < skip.ordinal))
        {
            self.ordinal = Some(skip.ordinal);
            let at = usize::try_from(skip.at).unwrap_or(usize::MAX);
            self.bytes = self.all.get(at..).unwrap_or_default();
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut bytes = self.bytes;
        // Most distances are below 128.
        let delta = match bytes.split_first() {
            Some((byte, rest)) if *byte < 0x80 => {
                bytes = rest;
                u32::from(*byte)
            }
            _ => read_varint(&mut bytes)?,
        };
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
    fn finds_what_is_wanted_and_skips_the_rest() {
        let all: Vec<u32> = (0..5000).map(|at| at * 3).collect();
        let list = list(&all);
        let found = |wanted: &[u32]| {
            let mut places = Vec::new();
            list.for_each_of(wanted, |place| places.push(wanted[place]));
            places
        };
        assert_eq!(found(&[]), [0; 0]);
        assert_eq!(
            found(&[0, 1, 3, 4, 9000, 14_996, 14_997, 14_998, 99_999]),
            [0, 3, 9000, 14_997]
        );
        assert_eq!(found(&[384, 387, 768, 769]), [384, 387, 768]);
        assert_eq!(found(&all), all);
        let everything: Vec<u32> = (0..15_010).collect();
        assert_eq!(found(&everything), all);
    }

    #[test]
    fn finds_the_same_in_a_list_that_was_dense_for_a_while() {
        for (step, far) in [(1, 3000), (15, 70_000), (15, 9_000_000), (17, 70_000)] {
            let mut all: Vec<u32> = (0..1000).map(|at| at * step).collect();
            all.extend([far * 2, far * 2 + 1, u32::MAX]);
            let list = list(&all);
            let mut found = Vec::new();
            let wanted: Vec<u32> = (0..40_000).chain([far * 2, far * 3, u32::MAX]).collect();
            list.for_each_of(&wanted, |place| found.push(wanted[place]));
            all.retain(|at| wanted.contains(at));
            assert_eq!(found, all, "{step} {far}");
        }
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
