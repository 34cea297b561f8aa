//! Published values: the roots of the reference implementation of RFC 6962, and the drawn example of its
//! section 2.1.3.

use quipu_wire::hash::Hash;

use crate::proof::{LeafHash, MerkleTree, TreeHead};

const ENTRIES: [&[u8]; 8] = [
    b"",
    &[0x00],
    &[0x10],
    &[0x20, 0x21],
    &[0x30, 0x31],
    &[0x40, 0x41, 0x42, 0x43],
    &[0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
    b"`abcdefghijklmno",
];

const ROOTS: [&str; 9] = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn leaves() -> Vec<LeafHash> {
    ENTRIES.into_iter().map(LeafHash::of_entry).collect()
}

/// A node of the RFC's drawing, from its definition alone.
fn node(left: Hash, right: Hash) -> Hash {
    Hash::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

#[test]
fn gives_the_published_roots() {
    let leaves = leaves();
    let whole: MerkleTree = leaves.iter().collect();
    for (size, root) in (0_u64..).zip(ROOTS) {
        let expected = TreeHead { size, root: root.parse().unwrap() };
        assert_eq!(whole.root(size, leaves.as_slice()), Ok(expected));
        let count = usize::try_from(size).unwrap();
        let grown: MerkleTree = leaves[..count].iter().collect();
        assert_eq!(grown.head(), expected);
    }
    assert_eq!(TreeHead::empty().root.to_string(), ROOTS[0]);
}

#[test]
fn gives_the_paths_that_the_rfc_draws() {
    let leaves = leaves();
    let tree: MerkleTree = leaves.iter().collect();
    let [a, b, c, d, e, f, j, _] = leaves.clone().try_into().unwrap();
    let [a, b, c, d, e, f, j]: [Hash; 7] = [a, b, c, d, e, f, j].map(|leaf| *leaf.as_hash());
    let (g, h, i) = (node(a, b), node(c, d), node(e, f));
    let (k, l) = (node(g, h), node(i, j));

    for (index, path) in
        [(0, vec![b, h, l]), (3, vec![c, g, l]), (4, vec![f, j, k]), (6, vec![i, k])]
    {
        let proof = tree.inclusion_proof(index, 7, leaves.as_slice()).unwrap();
        assert_eq!(proof.path, path, "inclusion of {index}");
    }
    for (old, path) in [(3, vec![c, d, g, l]), (4, vec![l]), (6, vec![i, j, k])] {
        let proof = tree.consistency_proof(old, 7, leaves.as_slice()).unwrap();
        assert_eq!(proof.path, path, "consistency from {old}");
    }
}

#[test]
fn hashes_a_commit_as_an_entry_of_32_bytes() {
    let commit = Hash::of(b"commit");
    let by_hand = Hash::of_parts(&[&[0], commit.as_bytes()]);
    assert_eq!(*LeafHash::of_commit(&commit).as_hash(), by_hand);
    assert_eq!(LeafHash::of_commit(&commit), LeafHash::of_entry(commit.as_bytes()));
}
