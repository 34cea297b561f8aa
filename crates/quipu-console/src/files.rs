//! The table of all files. A file that is not here is not served.

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../static/", $path)).as_slice())),*]
    };
}

pub(crate) static FILES: &[(&str, &[u8])] = files![
    "api.js",
    "app.js",
    "attune/answer.js",
    "attune/form.js",
    "attune/setting.js",
    "commits.js",
    "conflict/list.js",
    "conflict/settle.js",
    "conflict/sides.js",
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
    "pages/memory.js",
    "pages/overview.js",
    "pages/replay.js",
    "pages/tasks.js",
    "plot.js",
    "receipt/canon.js",
    "receipt/schema.js",
    "receipt/signature.js",
    "receipt/strict.js",
    "receipt/verify.js",
    "router.js",
    "sha256.js",
    "sign_in.js",
    "speaker.js",
    "style.css",
    "theme.js",
    "virtual.js",
    "widgets.js",
    "work.css",
];
