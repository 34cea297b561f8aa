//! Where a prover gets leaves from. Storing them is the caller's business.

use std::convert::Infallible;

use super::node::LeafHash;

/// The leaves of a log by index, from 0: the commit at position `p` has the index `p - 1`.
///
/// ```text
///   position       1      2      3      4      5
///   index          0      1      2      3      4
///                       +------+------+
///                       |  leaves(1, 2)        answers the leaves of positions 2 and 3
/// ```
///
/// The answer never changes once given. A prover asks for blocks of [`super::BLOCK_LEAVES`] leaves, few for each
/// proof, and checks every answer against what it keeps.
pub trait LeafSource {
    /// Why leaves cannot be read.
    type Error;

    /// The leaves with indices `from .. from + count`, in order and all of them.
    ///
    /// # Errors
    /// If they cannot be read. An answer of another length is refused by the prover.
    fn leaves(&self, from: u64, count: usize) -> Result<Vec<LeafHash>, Self::Error>;
}

/// All leaves at hand. Asked beyond its end it answers what there is, and the prover refuses that.
impl LeafSource for [LeafHash] {
    type Error = Infallible;

    fn leaves(&self, from: u64, count: usize) -> Result<Vec<LeafHash>, Infallible> {
        let skipped = usize::try_from(from).unwrap_or(usize::MAX);
        Ok(self.iter().skip(skipped).take(count).copied().collect())
    }
}
