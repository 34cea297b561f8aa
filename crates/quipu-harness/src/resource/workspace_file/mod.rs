//! Files of a Workspace. A file is a path, and an Artifact for each of its versions: nothing is overwritten, and what a
//! version said is read, shown and taken away by the rules of Artifacts.

mod directory;
mod erase;
mod read;
mod write;

pub use read::FileView;
