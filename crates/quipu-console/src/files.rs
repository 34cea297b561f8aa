//! The table of all files. A file that is not here is not served.

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../static/", $path)).as_slice())),*]
    };
}

pub(crate) static FILES: &[(&str, &[u8])] = files![
    "api.js",
    "app.js",
    "commits.js",
    "diff.js",
    "dom.js",
    "format.js",
    "icon.svg",
    "index.html",
    "lanes.js",
    "live.js",
    "nav.js",
    "paged.js",
    "pages/attune.js",
    "pages/conflicts.js",
    "pages/log.js",
    "pages/log/commits.js",
    "pages/log/compaction.js",
    "pages/log/keys.js",
    "pages/log/listening.js",
    "pages/log/verify.js",
    "pages/memory.js",
    "pages/overview.js",
    "pages/replay.js",
    "pages/tasks.js",
    "pages/unit.js",
    "plot.js",
    "proof.js",
    "receipt/canon.js",
    "receipt/schema.js",
    "receipt/signature.js",
    "receipt/strict.js",
    "receipt/verify.js",
    "router.js",
    "sha256.js",
    "sign_in.js",
    "style.css",
    "theme.js",
    "virtual.js",
    "widgets.js",
];
