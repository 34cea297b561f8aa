//! Labelled data for ranking: units, questions, and which units each question needs. Read by path and
//! never kept here, because most sets may be used for measuring only.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::measure::failure::Failure;

/// A file of corpora.
#[derive(Debug, Deserialize)]
pub(crate) struct Dataset {
    /// The file's name without its endings.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) corpora: Vec<Corpus>,
}

/// One collection of units; one Field.
#[derive(Debug, Deserialize)]
pub(crate) struct Corpus {
    pub(crate) name: String,
    pub(crate) units: Vec<Unit>,
    pub(crate) queries: Vec<Question>,
    #[serde(default)]
    pub(crate) contradictions: Vec<Contradiction>,
}

/// Units that contradict each other: each of `a` each of `b`.
#[derive(Debug, Deserialize)]
pub(crate) struct Contradiction {
    pub(crate) a: Vec<String>,
    pub(crate) b: Vec<String>,
}

/// Something that was said.
#[derive(Debug, Deserialize)]
pub(crate) struct Unit {
    pub(crate) id: String,
    pub(crate) agent: String,
    pub(crate) session: String,
    pub(crate) time: String,
    pub(crate) text: String,
}

/// A question and the units that answer it.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) gold: Vec<String>,
    pub(crate) category: String,
}

/// Reads a `.json` or `.json.gz` file, or all of them in a folder, by name.
pub(crate) fn load(path: &Path) -> Result<Vec<Dataset>, Failure> {
    let failed = |error| Failure::caused(format!("cannot read {}", path.display()), &error);
    if !path.is_dir() {
        return Ok(vec![load_file(path)?]);
    }
    let entries: Result<Vec<_>, _> = std::fs::read_dir(path).map_err(failed)?.collect();
    let mut files: Vec<PathBuf> =
        entries.map_err(failed)?.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| {
        let name = file.to_string_lossy();
        name.ends_with(".json") || name.ends_with(".json.gz")
    });
    files.sort();
    if files.is_empty() {
        return Err(Failure::new(format!("no .json or .json.gz file in {}", path.display())));
    }
    files.iter().map(|file| load_file(file)).collect()
}

fn load_file(path: &Path) -> Result<Dataset, Failure> {
    let failed = |error| Failure::caused(format!("cannot read {}", path.display()), &error);
    let mut file = File::open(path).map_err(failed)?;
    let mut text = Vec::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(file).read_to_end(&mut text).map_err(failed)?;
    } else {
        file.read_to_end(&mut text).map_err(failed)?;
    }
    let mut dataset: Dataset = serde_json::from_slice(&text).map_err(|error| {
        Failure::caused(format!("{} is not in the expected form", path.display()), &error)
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().clone_into(&mut dataset.name);
    Ok(dataset)
}
