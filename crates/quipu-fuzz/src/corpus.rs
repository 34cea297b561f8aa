//! The saved inputs of a target.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use quipu_wire::Hash;

/// The saved inputs of a target.
#[derive(Debug)]
pub struct Corpus {
    folder: PathBuf,
    /// What is saved, by the order of names.
    pub inputs: Vec<Vec<u8>>,
}

impl Corpus {
    /// Reads what is saved for a target.
    ///
    /// # Errors
    /// Where the folder or a file cannot be read.
    pub fn of(target: &str) -> io::Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<_>>()?;
        files.sort();
        let inputs = files.iter().map(fs::read).collect::<io::Result<_>>()?;
        Ok(Self { folder, inputs })
    }

    /// Saves an input that made the target fail, so that it is tried from then on.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn save_crash(&self, input: &[u8]) -> io::Result<PathBuf> {
        let name = Hash::of(input).to_string();
        let path = self.folder.join(format!("crash-{}", name.get(..16).unwrap_or(&name)));
        fs::write(&path, input)?;
        Ok(path)
    }
}
