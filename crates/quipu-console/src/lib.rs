//! The files of the web console, embedded when the binary is built. They are served as they are written:
//! there is no build step. Knows nothing of HTTP but the names of types.

mod files;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::Write as _,
    sync::{LazyLock, OnceLock},
};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest as _, Sha256};

pub const INDEX: &str = "index.html";

#[derive(Debug)]
pub struct Asset {
    pub content_type: &'static str,
    pub bytes: &'static [u8],
    gzip: OnceLock<Vec<u8>>,
    /// Names its content, in the form of an `ETag`.
    pub etag: String,
}

impl Asset {
    /// The file, compressed when it is first asked for.
    #[must_use]
    pub fn gzip(&self) -> &[u8] {
        self.gzip.get_or_init(|| compressed(self.bytes))
    }
}

static ASSETS: LazyLock<BTreeMap<&'static str, Asset>> = LazyLock::new(|| {
    files::FILES.iter().map(|(path, bytes)| (*path, asset(path, bytes))).collect()
});

/// The file of that path below `/console/`, if there is one.
#[must_use]
pub fn find(path: &str) -> Option<&'static Asset> {
    ASSETS.get(path)
}

fn asset(path: &str, bytes: &'static [u8]) -> Asset {
    let mut etag = String::from("\"");
    for byte in Sha256::digest(bytes).iter().take(12) {
        // Writing to a text cannot fail.
        write!(etag, "{byte:02x}").ok();
    }
    etag.push('"');
    Asset { content_type: content_type(path), bytes, gzip: OnceLock::new(), etag }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    encoder.write_all(bytes).ok();
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        collections::BTreeSet,
        fs,
        path::{Path, PathBuf},
    };

    fn below(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { below(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn every_file_in_static_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("static");
        let mut found = Vec::new();
        below(&root, &mut found);
        let on_disk: BTreeSet<String> = found
            .iter()
            .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
            .collect();
        let embedded: BTreeSet<String> = ASSETS.keys().map(|path| (*path).to_owned()).collect();
        assert_eq!(on_disk, embedded, "list it in src/files.rs");
    }

    #[test]
    fn the_whole_console_is_small_on_the_wire() {
        let sent: usize = ASSETS.values().map(|asset| asset.gzip().len()).sum();
        assert!(sent < 150 * 1024, "{sent} bytes");
    }

    #[test]
    fn no_script_builds_markup_from_text() {
        for (path, asset) in ASSETS.iter().filter(|(path, _)| path.ends_with(".js")) {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]
            {
                assert!(!text.contains(word), "{path} says {word}");
            }
        }
    }

    #[test]
    fn files_are_found_by_path_with_a_type_and_a_name_for_their_content() {
        let index = find(INDEX).unwrap();
        assert_eq!(index.content_type, "text/html; charset=utf-8");
        assert_ne!(index.etag, find("app.js").unwrap().etag);
        assert!(find("../Cargo.toml").is_none());
    }
}
