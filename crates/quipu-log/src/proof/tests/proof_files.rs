//! Proof files: a golden one, the commits of a real chain, and every way to spoil one.

use quipu_wire::hash::Hash;

use crate::{
    commit::Commit,
    conformance::Chain,
    proof::{
        CheckpointError, InclusionError, InclusionProof, LeafHash, MerkleTree, NoteError,
        SignedCheckpoint, SigningKey, TlogProof, TlogProofError, VerifierKey,
    },
};

const GOLDEN: &str = "\
c2sp.org/tlog-proof@v1
index 2
fIEom8MhELBVay5sdIrTROHvK+xyO7aZ/q9558UiWmE=
uROLmR3/AmAuGUJJKD3NgyDOcvQO/WdgRyAgQa6KHVk=
5cTy10jKAsgngteT61wexBdcxV5TcWBq5QFjpTq1h5g=

quipu.example/default
5
PLsu7yjik5i5UodNsLH+ezDFl81KykwyF+rocngwutE=

\u{2014} quipu.example/default IKccoR9L3JNhtic8V7qxBz1YhU+c5rD9GUF+dIL8DxVIv4/gmyrZbzXCaWEIl2wcYrmZ/WSBaMZcoLZz3uOaGNDHbwQ=
";

struct Log {
    key: SigningKey,
    commits: Vec<Commit>,
    leaves: Vec<LeafHash>,
    tree: MerkleTree,
}

impl Log {
    fn new(name: &str, seed: u8, count: usize) -> Self {
        let key = SigningKey::from_seed(name.parse().unwrap(), &[seed; 32]);
        let commits = Chain::new(seed).take(count);
        let leaves: Vec<_> =
            commits.iter().map(|commit| LeafHash::of_commit(&commit.hash)).collect();
        let tree = leaves.iter().collect();
        Self { key, commits, leaves, tree }
    }

    fn trusted(&self) -> Vec<VerifierKey> {
        vec![self.key.verifier().clone()]
    }

    fn inclusion(&self, index: usize) -> InclusionProof {
        let index = u64::try_from(index).unwrap();
        self.tree.inclusion_proof(index, self.tree.size(), self.leaves.as_slice()).unwrap()
    }

    fn checkpoint(&self) -> SignedCheckpoint {
        SignedCheckpoint::sign(self.tree.head(), &self.key)
    }

    fn proof(&self, index: usize) -> TlogProof {
        let Commit { hash, header, .. } = &self.commits[index];
        TlogProof::new(hash, Some(header.clone()), self.inclusion(index), self.checkpoint())
            .unwrap()
    }
}

#[test]
fn writes_and_verifies_the_golden_file() {
    let commits: Vec<_> = (1..=5).map(|n| Hash::of(format!("commit {n}").as_bytes())).collect();
    let leaves: Vec<_> = commits.iter().map(LeafHash::of_commit).collect();
    let tree: MerkleTree = leaves.iter().collect();
    let seed: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let key = SigningKey::from_seed("quipu.example/default".parse().unwrap(), &seed);
    let inclusion = tree.inclusion_proof(2, 5, leaves.as_slice()).unwrap();
    let checkpoint = SignedCheckpoint::sign(tree.head(), &key);
    let proof = TlogProof::new(&commits[2], None, inclusion, checkpoint).unwrap();
    assert_eq!(proof.to_string(), GOLDEN);

    let read: TlogProof = GOLDEN.parse().unwrap();
    let trusted = [key.verifier().clone()];
    let said = read.verify_commit(&commits[2], &trusted).unwrap();
    assert_eq!(said.head, tree.head());
    assert_eq!(read.position(), 3);
    let refused = read.verify_commit(&commits[3], &trusted);
    assert!(matches!(refused, Err(TlogProofError::Inclusion { index: 2, .. })), "{refused:?}");
    assert_eq!(read.verify(&trusted), Err(TlogProofError::NoHeader));
}

#[test]
fn proves_every_commit_of_a_log_with_what_it_said() {
    for count in [1, 2, 3, 7, 8, 300] {
        let log = Log::new("quipu.example/team", 9, count);
        for index in [0, count / 2, count - 1] {
            let text = log.proof(index).to_string();
            let read: TlogProof = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            let (commit, checkpoint) = read.verify(&log.trusted()).unwrap();
            assert_eq!(commit, log.commits[index].hash);
            assert_eq!(checkpoint.head, log.tree.head());
            assert_eq!(read.header(), Some(&*log.commits[index].header));
        }
    }
}

/// Whether the text of a file proves what it should have proven.
fn holds(bytes: &[u8], trusted: &[VerifierKey]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.parse::<TlogProof>().is_ok_and(|proof| proof.verify(trusted).is_ok())
}

#[test]
fn refuses_a_file_with_any_bit_changed() {
    let log = Log::new("quipu.example/team", 9, 11);
    let (file, trusted) = (log.proof(6).to_string().into_bytes(), log.trusted());
    assert!(holds(&file, &trusted));
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[at] ^= 1 << bit;
            assert!(!holds(&changed, &trusted), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn refuses_a_file_with_any_byte_replaced_left_out_doubled_or_put_in() {
    let log = Log::new("quipu.example/team", 9, 11);
    let (file, trusted) = (log.proof(6).to_string().into_bytes(), log.trusted());
    for at in 0..file.len() {
        let mut shorter = file.clone();
        let byte = shorter.remove(at);
        assert!(!holds(&shorter, &trusted), "byte {at} left out");
        assert!(!holds(&file[..at], &trusted), "cut at {at}");
        for other in [b'\n', b' ', b'=', b'0', b'A', b'+', byte] {
            let mut longer = file.clone();
            longer.insert(at, other);
            assert!(!holds(&longer, &trusted), "{other} put in at {at}");
            let mut changed = file.clone();
            changed[at] = other;
            assert!(other == byte || !holds(&changed, &trusted), "{other} at {at}");
        }
    }
    for more in ["\n", " ", "x", "\n\n"] {
        let longer = [&file, more.as_bytes()].concat();
        assert!(!holds(&longer, &trusted), "{more:?} at the end");
    }
}

#[test]
fn refuses_a_line_left_out_doubled_or_swapped() {
    let log = Log::new("quipu.example/team", 9, 11);
    let (file, trusted) = (log.proof(6).to_string(), log.trusted());
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    for at in 0..lines.len() {
        let mut shorter = lines.clone();
        let line = shorter.remove(at);
        assert!(!holds(shorter.concat().as_bytes(), &trusted), "line {at} left out");
        let mut longer = lines.clone();
        longer.insert(at, line);
        assert!(!holds(longer.concat().as_bytes(), &trusted), "line {at} doubled");
        let mut swapped = lines.clone();
        swapped.swap(at, (at + 1) % lines.len());
        assert!(!holds(swapped.concat().as_bytes(), &trusted), "line {at} swapped");
    }
}

#[test]
fn refuses_to_believe_another_log_or_another_key() {
    let (ours, other) = (Log::new("quipu.example/a", 1, 5), Log::new("quipu.example/b", 2, 5));
    let proof = other.proof(3);
    let untrusted = CheckpointError::Note(NoteError::NotTrusted { trusted: 1 });
    assert_eq!(proof.verify(&ours.trusted()), Err(TlogProofError::Checkpoint(untrusted)));
    let namesake = Log::new("quipu.example/b", 3, 5);
    assert!(proof.verify(&namesake.trusted()).is_err());
}

#[test]
fn refuses_to_put_together_what_does_not_prove() {
    let (log, other) = (Log::new("quipu.example/a", 1, 5), Log::new("quipu.example/b", 2, 6));
    let Commit { hash, header, .. } = &log.commits[2];
    let make = |commit: &Hash, header: &[u8], inclusion, checkpoint| {
        TlogProof::new(commit, Some(header.into()), inclusion, checkpoint).unwrap_err()
    };
    let refused = make(hash, header, log.inclusion(2), other.checkpoint());
    let cause = InclusionError::SizeMismatch { proof_size: 5, head_size: 6 };
    assert_eq!(refused, TlogProofError::Inclusion { commit: *hash, index: 2, cause });
    let refused = make(hash, header, log.inclusion(1), log.checkpoint());
    assert!(matches!(refused, TlogProofError::Inclusion { index: 1, .. }), "{refused:?}");
    let found = log.commits[3].hash;
    let refused = make(hash, &log.commits[3].header, log.inclusion(2), log.checkpoint());
    assert_eq!(refused, TlogProofError::HeaderMismatch { commit: *hash, found });
}

#[test]
fn refuses_a_header_that_stands_at_another_position_than_it_says() {
    let mut log = Log::new("quipu.example/a", 1, 3);
    // The log itself put its commits into the tree in the wrong order.
    log.leaves.swap(0, 1);
    log.commits.swap(0, 1);
    log.tree = log.leaves.iter().collect();
    let Commit { hash, header, .. } = &log.commits[0];
    let refused = TlogProof::new(hash, Some(header.clone()), log.inclusion(0), log.checkpoint());
    assert_eq!(refused, Err(TlogProofError::HeaderPosition { index: 0 }));
}

#[test]
fn says_what_is_wrong_with_a_file() {
    let hash = "fIEom8MhELBVay5sdIrTROHvK+xyO7aZ/q9558UiWmE=\n";
    let deep = GOLDEN.replacen(hash, &hash.repeat(63), 1);
    for (text, expected) in [
        (String::new(), TlogProofError::FirstLine),
        (GOLDEN.replacen("v1", "v2", 1), TlogProofError::FirstLine),
        ("c2sp.org/tlog-proof@v1\nindex 2\n".to_owned(), TlogProofError::NoCheckpoint),
        (GOLDEN.replacen("index", "extra !\nindex", 1), TlogProofError::Extra),
        (GOLDEN.replacen("index", "extra \nindex", 1), TlogProofError::Extra),
        (
            GOLDEN.replacen("index 2", "index 02", 1),
            TlogProofError::Index { line: "index 02".to_owned() },
        ),
        (
            GOLDEN.replacen("index 2\n", "", 1),
            TlogProofError::Index { line: hash.trim_end().to_owned() },
        ),
        (GOLDEN.replacen(hash, "fIEo\n", 1), TlogProofError::PathHash { text: "fIEo".to_owned() }),
        (deep, TlogProofError::PathTooLong),
        (
            GOLDEN.replacen("\n5\n", "\n05\n", 1),
            TlogProofError::Checkpoint(CheckpointError::Size { text: "05".to_owned() }),
        ),
    ] {
        assert_eq!(text.parse::<TlogProof>(), Err(expected), "{text:?}");
    }
}
