//! Trees that are stored and read again, and sources that are slow, short, changed or broken.

use std::cell::Cell;

use quipu_wire::hash::Hash;
use serde_json::json;

use crate::proof::{BLOCK_LEAVES, Frontier, LeafHash, LeafSource, MerkleTree, ProveError};

fn leaf(index: u64) -> LeafHash {
    LeafHash::of_commit(&Hash::of(&index.to_be_bytes()))
}

fn leaves(count: u64) -> Vec<LeafHash> {
    (0..count).map(leaf).collect()
}

/// Counts what is read.
struct Counting {
    read: Cell<usize>,
}

impl LeafSource for Counting {
    type Error = ();

    fn leaves(&self, from: u64, count: usize) -> Result<Vec<LeafHash>, ()> {
        self.read.set(self.read.get() + count);
        Ok((from..).take(count).map(leaf).collect())
    }
}

struct Broken;

impl LeafSource for Broken {
    type Error = &'static str;

    fn leaves(&self, _: u64, _: usize) -> Result<Vec<LeafHash>, &'static str> {
        Err("the disk is gone")
    }
}

#[test]
fn goes_on_after_being_stored_as_if_it_had_not_been() {
    let leaves = leaves(1_100);
    for stored_at in [0, 1, 255, 256, 257, 511, 512, 768, 1_000] {
        let mut tree: MerkleTree = leaves[..stored_at].iter().collect();
        let mut frontier = tree.frontier().clone();
        let json = serde_json::to_string(&tree).unwrap();
        let mut again: MerkleTree = serde_json::from_str(&json).unwrap();
        assert_eq!(again, tree, "stored at {stored_at}");
        let json = serde_json::to_string(&frontier).unwrap();
        frontier = serde_json::from_str(&json).unwrap();
        for leaf in &leaves[stored_at..] {
            tree.append(leaf);
            again.append(leaf);
            frontier.append(leaf);
        }
        assert_eq!(again, tree, "stored at {stored_at}");
        assert_eq!(frontier.head(), tree.head(), "stored at {stored_at}");
    }
}

#[test]
fn is_stored_in_a_form_that_does_not_change() {
    let frontier: Frontier = leaves(3).iter().collect();
    insta::assert_json_snapshot!(frontier, @r#"
    {
      "size": 3,
      "peaks": [
        "839757d78394f8ad59bc4621831d92396f5d3556fe0059846463a32a21dc9e04",
        "31080021493300afc0c17832dd7128ccdd46c9289582e6aa1483be1367a0e859"
      ]
    }
    "#);
}

#[test]
fn refuses_a_stored_tree_that_does_not_hold_together() {
    let tree: MerkleTree = leaves(1_000).iter().collect();
    let form = serde_json::to_value(&tree).unwrap();
    let zero = json!(Hash::ZERO);
    let spoil = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut spoiled = form.clone();
        change(&mut spoiled);
        serde_json::from_value::<MerkleTree>(spoiled).unwrap_err().to_string()
    };
    for (refused, expected) in [
        (
            spoil(&|form| form["frontier"]["size"] = json!(1_001)),
            "frontier of 1001 leaves has 6 peaks, not 7",
        ),
        (
            spoil(&|form| form["frontier"]["size"] = json!(244)),
            "frontier of 244 leaves has 6 peaks, not 5",
        ),
        (
            spoil(&|form| form["blocks"] = json!([zero, zero])),
            "tree of 1000 leaves has 2 blocks, not 3",
        ),
        (
            spoil(&|form| form["blocks"][0] = zero.clone()),
            "blocks under the peak of height 9 give another root than the frontier has",
        ),
        (
            spoil(&|form| form["frontier"]["peaks"][1] = zero.clone()),
            "blocks under the peak of height 8 give another root than the frontier has",
        ),
        (
            spoil(&|form| form["more"] = json!(1)),
            "unknown field `more`, expected `frontier` or `blocks`",
        ),
    ] {
        assert_eq!(refused, expected);
    }
}

#[test]
fn reads_two_blocks_at_most_for_a_proof_in_a_large_tree() {
    let size = 100_001;
    let tree: MerkleTree = leaves(size).iter().collect();
    let most = 2 * usize::try_from(BLOCK_LEAVES).unwrap();
    let source = Counting { read: Cell::new(0) };
    for (at, of) in [(0, size), (70_000, 99_999), (99_998, 99_999), (65_536, 65_537), (5, 77_777)] {
        source.read.set(0);
        let head = tree.root(of, &source).unwrap();
        assert!(source.read.replace(0) <= most, "root of {of}");
        let inclusion = tree.inclusion_proof(at, of, &source).unwrap();
        assert!(source.read.replace(0) <= most, "{at} in {of}");
        assert_eq!(inclusion.verify(&leaf(at), &head), Ok(()));
        let consistency = tree.consistency_proof(at + 1, of, &source).unwrap();
        assert!(source.read.replace(0) <= most, "{at} to {of}");
        let old = tree.root(at + 1, &source).unwrap();
        assert_eq!(consistency.verify(&old, &head), Ok(()));
    }
}

#[test]
fn makes_no_proof_from_leaves_that_were_changed_behind_its_back() {
    let honest = leaves(600);
    let tree: MerkleTree = honest.iter().collect();
    for (changed, from, count) in [(3, 0, 256), (255, 0, 256), (256, 256, 256), (599, 512, 88)] {
        let mut source = honest.clone();
        source[changed] = LeafHash::of_commit(&Hash::ZERO);
        let index = u64::try_from(changed).unwrap() ^ 1;
        let refused = tree.inclusion_proof(index, 600, source.as_slice());
        assert_eq!(refused, Err(ProveError::LeavesChanged { from, count }));
    }
}

#[test]
fn says_what_is_wrong_with_a_source_or_a_question() {
    let honest = leaves(600);
    let tree: MerkleTree = honest.iter().collect();
    let short = &honest[..599];
    assert_eq!(
        tree.inclusion_proof(0, 600, short),
        Err(ProveError::LeafCount { from: 512, expected: 88, found: 87 })
    );
    assert_eq!(
        tree.root(10, &Broken),
        Err(ProveError::Source { from: 0, cause: "the disk is gone" })
    );
    let all = honest.as_slice();
    let beyond = ProveError::SizeBeyondTree { size: 601, tree_size: 600 };
    assert_eq!(tree.root(601, all), Err(beyond.clone()));
    assert_eq!(tree.inclusion_proof(0, 601, all), Err(beyond.clone()));
    assert_eq!(tree.consistency_proof(1, 601, all), Err(beyond));
    for (index, size) in [(0, 0), (600, 600), (u64::MAX, 1)] {
        let outside = ProveError::IndexOutsideTree { index, size };
        assert_eq!(tree.inclusion_proof(index, size, all), Err(outside));
    }
    let reversed = ProveError::SizesReversed { old_size: 5, new_size: 4 };
    assert_eq!(tree.consistency_proof(5, 4, all), Err(reversed));
}

#[test]
fn answers_from_what_it_keeps_without_reading_where_it_can() {
    let tree: MerkleTree = leaves(1_024).iter().collect();
    assert_eq!(tree.root(1_024, &Broken), Ok(tree.head()));
    assert!(tree.root(512, &Broken).is_ok());
    assert!(tree.consistency_proof(512, 1_024, &Broken).is_ok());
}
