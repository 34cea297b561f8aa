//! `quipu proof`: fetches a file that proves a commit, to be checked by anyone with
//! `quipu verify --proof`.

use std::path::{Path, PathBuf};

use clap::Args;
use quipu_log::{TlogProof, proof::VerifierKey};

use crate::{
    args::client_args::ServerArgs,
    ui::{
        failure::Failure,
        output::{self, thousands},
    },
};

const ABOUT: &str = "\
Fetch a file that proves that the log holds a commit.

The file has the commit's header, its place in the Merkle tree and a signed checkpoint. Whoever has
the server's verifier key can check it offline, without this server and without its data.

Example:
  quipu proof --position 17 --out commit-17.proof
  quipu proof --show-key
  quipu verify --proof commit-17.proof --checkpoint-key 'quipu.local/default+...'";

/// The arguments of `quipu proof`.
#[derive(Debug, Args)]
#[command(about = "Fetch a file that proves a commit", long_about = ABOUT)]
pub(crate) struct ProofArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The position of the commit
    #[arg(long, value_name = "N", required_unless_present = "show_key")]
    position: Option<u64>,
    /// Where to write the file [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the key that proofs of this field are checked with
    #[arg(long, conflicts_with = "position")]
    show_key: bool,
}

pub(crate) async fn proof(args: ProofArgs) -> Result<(), Failure> {
    let speaker = args.server.connect(None)?;
    let path = match args.position {
        Some(position) => format!("/v1/log/inclusion?position={position}"),
        None => "/v1/log/key".to_owned(),
    };
    let raw = speaker.get(&path).await?;
    match &args.out {
        Some(out) => std::fs::write(out, &raw)
            .map_err(|error| Failure::caused(format!("cannot write {}", out.display()), &error)),
        None => output::print(&String::from_utf8_lossy(&raw)),
    }
}

/// Checks a proof file offline and says what it proves.
pub(crate) fn check(file: &Path, key: &str) -> Result<(), Failure> {
    let named = |what: &str, error: &dyn std::error::Error| {
        Failure::caused(format!("{} {what}", file.display()), error)
    };
    let text = std::fs::read_to_string(file).map_err(|error| named("cannot be read", &error))?;
    // As `--show-key` prints them: one a line, where several nodes share the log.
    let keys: Result<Vec<VerifierKey>, _> = key.split_whitespace().map(str::parse).collect();
    let keys = keys.map_err(|error| Failure::caused("the checkpoint key is not one", &error))?;
    let proof: TlogProof = text.parse().map_err(|error| named("is not a proof", &error))?;
    let (commit, checkpoint) =
        proof.verify(&keys).map_err(|error| named("does not prove what it says", &error))?;
    output::print(&format!(
        "proven: commit {} at position {} is in the log of {} commits that {} signed\n{}\n",
        commit,
        thousands(proof.position()),
        thousands(checkpoint.head.size),
        keys.first().map_or_else(String::new, |key| key.name().to_string()),
        output::harmless(&String::from_utf8_lossy(proof.header().unwrap_or_default())),
    ))
}
