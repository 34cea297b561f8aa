//! Proofs about the log on the handle: the tree over its commits, and what it proves.

use std::sync::Arc;

use quipu_log::{TreeHead, proof::ConsistencyProof};

use crate::{base::error::FieldError, field::Field, proof::proofs::CommitProof};

impl Field {
    /// The Merkle tree over the first `size` commits, or over all durable ones.
    pub async fn tree_head(self: &Arc<Self>, size: Option<u64>) -> Result<TreeHead, FieldError> {
        self.blocking(move |field| {
            field.proofs.tree_head(size.unwrap_or_else(|| field.head().position))
        })
        .await
    }

    /// Allows a tree of this Field to be signed. It is refused where another log was signed for before.
    pub async fn vouch(self: &Arc<Self>, head: TreeHead) -> Result<(), FieldError> {
        self.blocking(move |field| field.proofs.vouch(&head, field.head().position)).await
    }

    /// The proof that the log holds the commit at a position.
    pub async fn prove_commit(self: &Arc<Self>, position: u64) -> Result<CommitProof, FieldError> {
        self.blocking(move |field| field.proofs.inclusion(position, field.head().position)).await
    }

    /// The proof that the log only grew between two sizes.
    pub async fn prove_growth(
        self: &Arc<Self>,
        old: u64,
        new: u64,
    ) -> Result<ConsistencyProof, FieldError> {
        self.blocking(move |field| field.proofs.consistency(old, new)).await
    }
}
