//! The tree against two others: the definitions of RFC 6962 written down as they stand, and `ct-merkle`.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use proptest::prelude::*;
use quipu_wire::hash::Hash;
use sha2::Sha256;

use crate::proof::{
    ConsistencyError, ConsistencyProof, InclusionError, InclusionProof, LeafHash, MerkleTree,
    TreeHead,
};

const ALL_SIZES_TO: u64 = 130;

fn commit(index: u64) -> Hash {
    Hash::of(&index.to_be_bytes())
}

fn leaves(count: u64) -> Vec<LeafHash> {
    (0..count).map(|index| LeafHash::of_commit(&commit(index))).collect()
}

fn count(size: u64) -> usize {
    usize::try_from(size).unwrap()
}

/// The definitions of sections 2.1, 2.1.1 and 2.1.2.
mod definition {
    use super::*;

    fn half(leaves: &[LeafHash]) -> usize {
        let mut k = 1;
        while k * 2 < leaves.len() {
            k *= 2;
        }
        k
    }

    pub(super) fn root(leaves: &[LeafHash]) -> Hash {
        match leaves {
            [] => Hash::of(b""),
            [leaf] => *leaf.as_hash(),
            _ => {
                let (left, right) = leaves.split_at(half(leaves));
                Hash::of_parts(&[&[1], root(left).as_bytes(), root(right).as_bytes()])
            }
        }
    }

    pub(super) fn path(index: usize, leaves: &[LeafHash]) -> Vec<Hash> {
        if leaves.len() == 1 {
            return vec![];
        }
        let k = half(leaves);
        let (left, right) = leaves.split_at(k);
        let (mut below, beside) = if index < k {
            (path(index, left), root(right))
        } else {
            (path(index - k, right), root(left))
        };
        below.push(beside);
        below
    }

    pub(super) fn subproof(old: usize, leaves: &[LeafHash], whole: bool) -> Vec<Hash> {
        if old == leaves.len() {
            return if whole { vec![] } else { vec![root(leaves)] };
        }
        let k = half(leaves);
        let (left, right) = leaves.split_at(k);
        let (mut below, beside) = if old <= k {
            (subproof(old, left, whole), root(right))
        } else {
            (subproof(old - k, right, false), root(left))
        };
        below.push(beside);
        below
    }
}

fn ct_tree(size: u64) -> MemoryBackedTree<Sha256, Vec<u8>> {
    let mut tree = MemoryBackedTree::new();
    (0..size).for_each(|index| tree.push(commit(index).as_bytes().to_vec()));
    tree
}

fn bytes(path: &[Hash]) -> Vec<u8> {
    path.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

/// Everything about the proofs of one size, made by a tree that is larger.
fn check_size(tree: &MerkleTree, leaves: &[LeafHash], heads: &[TreeHead], size: u64) {
    let part = &leaves[..count(size)];
    let head = heads[count(size)];
    assert_eq!(tree.root(size, leaves), Ok(head));
    for index in 0..size {
        let proof = tree.inclusion_proof(index, size, leaves).unwrap();
        assert_eq!(proof.path, definition::path(count(index), part), "{index} in {size}");
        assert_eq!(proof.verify(&leaves[count(index)], &head), Ok(()), "{index} in {size}");
    }
    for old_size in 1..=size {
        let proof = tree.consistency_proof(old_size, size, leaves).unwrap();
        let expected = definition::subproof(count(old_size), part, true);
        assert_eq!(proof.path, expected, "{old_size} to {size}");
        let old = &heads[count(old_size)];
        assert_eq!(proof.verify(old, &head), Ok(()), "{old_size} to {size}");
    }
}

#[test]
fn agrees_with_the_definitions_for_all_small_sizes() {
    let leaves = leaves(ALL_SIZES_TO);
    let tree: MerkleTree = leaves.iter().collect();
    let heads: Vec<_> = (0..=ALL_SIZES_TO)
        .map(|size| TreeHead { size, root: definition::root(&leaves[..count(size)]) })
        .collect();
    (0..=ALL_SIZES_TO).for_each(|size| check_size(&tree, &leaves, &heads, size));
}

#[test]
fn agrees_with_ct_merkle_for_all_small_sizes() {
    let leaves = leaves(ALL_SIZES_TO);
    let tree: MerkleTree = leaves.iter().collect();
    for size in 1..=ALL_SIZES_TO {
        let oracle = ct_tree(size);
        let head = tree.root(size, leaves.as_slice()).unwrap();
        assert_eq!(head.root.as_bytes().as_slice(), oracle.root().as_bytes().as_slice());
        for index in 0..size {
            let ours = tree.inclusion_proof(index, size, leaves.as_slice()).unwrap();
            let theirs = oracle.prove_inclusion(count(index));
            assert_eq!(bytes(&ours.path), theirs.as_bytes(), "{index} in {size}");
        }
        for old in 1..=size {
            let ours = tree.consistency_proof(old, size, leaves.as_slice()).unwrap();
            let theirs = oracle.prove_consistency(count(size - old));
            assert_eq!(bytes(&ours.path), theirs.as_bytes(), "{old} to {size}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn agrees_with_ct_merkle_across_blocks(
        tree_size in 1_u64..2_200,
        size in any::<prop::sample::Index>(),
        index in any::<prop::sample::Index>(),
        old in any::<prop::sample::Index>(),
    ) {
        let leaves = leaves(tree_size);
        let tree: MerkleTree = leaves.iter().collect();
        let size = 1 + u64::try_from(size.index(count(tree_size))).unwrap();
        let index = u64::try_from(index.index(count(size))).unwrap();
        let old = 1 + u64::try_from(old.index(count(size))).unwrap();
        let oracle = ct_tree(size);

        let head = tree.root(size, leaves.as_slice()).unwrap();
        let root = oracle.root();
        prop_assert_eq!(head.root.as_bytes().as_slice(), root.as_bytes().as_slice());
        let inclusion = tree.inclusion_proof(index, size, leaves.as_slice()).unwrap();
        let theirs = oracle.prove_inclusion(count(index));
        prop_assert_eq!(bytes(&inclusion.path), theirs.as_bytes());
        prop_assert_eq!(inclusion.verify(&leaves[count(index)], &head), Ok(()));
        let consistency = tree.consistency_proof(old, size, leaves.as_slice()).unwrap();
        let theirs = oracle.prove_consistency(count(size - old));
        prop_assert_eq!(bytes(&consistency.path), theirs.as_bytes());
        let old_head = tree.root(old, leaves.as_slice()).unwrap();
        prop_assert_eq!(consistency.verify(&old_head, &head), Ok(()));
    }

    #[test]
    fn never_panics_on_proofs_that_anyone_could_send(
        (index, size) in any::<(u64, u64)>(),
        path in prop::collection::vec(any::<[u8; 32]>().prop_map(Hash::from_bytes), 0..70),
    ) {
        let head = TreeHead { size, root: Hash::ZERO };
        let leaf = LeafHash::of_commit(&Hash::ZERO);
        let proof = InclusionProof { index, size, path: path.clone() };
        prop_assert!(proof.verify(&leaf, &head).is_err());
        let old = TreeHead { size: index, root: Hash::ZERO };
        let proof = ConsistencyProof { old_size: index, new_size: size, path };
        prop_assert!(index == size || proof.verify(&old, &head).is_err());
    }
}

fn spoiled(path: &[Hash]) -> Vec<Vec<Hash>> {
    let mut paths = Vec::new();
    let mut longer = path.to_vec();
    longer.push(Hash::ZERO);
    paths.push(longer);
    let mut before = vec![Hash::ZERO];
    before.extend(path);
    paths.push(before);
    for at in 0..path.len() {
        let mut shorter = path.to_vec();
        shorter.remove(at);
        paths.push(shorter);
        let mut other = path.to_vec();
        other[at] = Hash::ZERO;
        paths.push(other);
        let mut swapped = path.to_vec();
        swapped.swap(at, (at + 1) % path.len());
        paths.extend((swapped != path).then_some(swapped));
    }
    paths
}

#[test]
fn refuses_inclusion_with_another_path_index_size_leaf_or_root() {
    let leaves = leaves(20);
    let tree: MerkleTree = leaves.iter().collect();
    for size in 1..=20 {
        let head = tree.root(size, leaves.as_slice()).unwrap();
        for index in 0..size {
            let proof = tree.inclusion_proof(index, size, leaves.as_slice()).unwrap();
            let leaf = &leaves[count(index)];
            for path in spoiled(&proof.path) {
                let spoiled = InclusionProof { path, ..proof.clone() };
                assert!(spoiled.verify(leaf, &head).is_err(), "{spoiled:?}");
            }
            for other in (0..=size).filter(|other| *other != index) {
                let moved = InclusionProof { index: other, ..proof.clone() };
                assert!(moved.verify(leaf, &head).is_err(), "{moved:?}");
            }
            for other in (1..=20).filter(|other| *other != size) {
                let other = tree.root(other, leaves.as_slice()).unwrap();
                let resized = InclusionProof { size: other.size, ..proof.clone() };
                assert!(resized.verify(leaf, &other).is_err(), "{resized:?}");
            }
            let stranger = LeafHash::of_commit(&Hash::ZERO);
            let refused = proof.verify(&stranger, &head);
            assert!(matches!(refused, Err(InclusionError::RootMismatch { .. })), "{refused:?}");
        }
    }
}

#[test]
fn refuses_consistency_with_another_path_or_root() {
    let leaves = leaves(20);
    let tree: MerkleTree = leaves.iter().collect();
    for new_size in 1..=20 {
        let new = tree.root(new_size, leaves.as_slice()).unwrap();
        for old_size in 1..=new_size {
            let old = tree.root(old_size, leaves.as_slice()).unwrap();
            let proof = tree.consistency_proof(old_size, new_size, leaves.as_slice()).unwrap();
            for path in spoiled(&proof.path) {
                let spoiled = ConsistencyProof { path, ..proof.clone() };
                assert!(spoiled.verify(&old, &new).is_err(), "{spoiled:?}");
            }
            let other = TreeHead { root: Hash::ZERO, ..old };
            assert!(proof.verify(&other, &new).is_err(), "{proof:?}");
            let other = TreeHead { root: Hash::ZERO, ..new };
            assert!(proof.verify(&old, &other).is_err(), "{proof:?}");
        }
    }
}

#[test]
fn refuses_a_history_that_was_rewritten() {
    let honest = leaves(600);
    let mut rewritten = honest.clone();
    rewritten[100] = LeafHash::of_commit(&Hash::of(b"never happened"));
    let old = honest[..300].iter().collect::<MerkleTree>().head();
    let tree: MerkleTree = rewritten.iter().collect();
    let proof = tree.consistency_proof(300, 600, rewritten.as_slice()).unwrap();
    let refused = proof.verify(&old, &tree.head());
    assert!(matches!(refused, Err(ConsistencyError::OldRootMismatch { .. })), "{refused:?}");
}

#[test]
fn takes_the_empty_tree_for_the_beginning_of_every_tree() {
    let leaves = leaves(5);
    let tree: MerkleTree = leaves.iter().collect();
    let proof = tree.consistency_proof(0, 5, leaves.as_slice()).unwrap();
    assert_eq!(proof.path, []);
    assert_eq!(proof.verify(&TreeHead::empty(), &tree.head()), Ok(()));
    let other = TreeHead { size: 0, root: Hash::ZERO };
    let refused = proof.verify(&other, &tree.head());
    assert!(matches!(refused, Err(ConsistencyError::OldRootMismatch { .. })), "{refused:?}");
    let padded = ConsistencyProof { path: vec![Hash::ZERO], ..proof };
    let refused = padded.verify(&TreeHead::empty(), &tree.head());
    assert!(matches!(refused, Err(ConsistencyError::PathLength { found: 1, .. })), "{refused:?}");
}

#[test]
fn refuses_proofs_for_other_sizes_than_the_heads_have() {
    let leaves = leaves(8);
    let tree: MerkleTree = leaves.iter().collect();
    let five = tree.root(5, leaves.as_slice()).unwrap();
    let inclusion = tree.inclusion_proof(2, 8, leaves.as_slice()).unwrap();
    let expected = InclusionError::SizeMismatch { proof_size: 8, head_size: 5 };
    assert_eq!(inclusion.verify(&leaves[2], &five), Err(expected));
    let consistency = tree.consistency_proof(5, 8, leaves.as_slice()).unwrap();
    let expected = ConsistencyError::SizeMismatch { proof_old: 5, proof_new: 8, old: 8, new: 5 };
    assert_eq!(consistency.verify(&tree.head(), &five), Err(expected));
    let reversed = ConsistencyProof { old_size: 8, new_size: 5, path: vec![] };
    let expected = ConsistencyError::SizesReversed { old_size: 8, new_size: 5 };
    assert_eq!(reversed.verify(&tree.head(), &five), Err(expected));
}
