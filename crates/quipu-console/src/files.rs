//! The table of all files. A file that is not here is not served.

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../static/", $path)).as_slice())),*]
    };
}

pub(crate) static FILES: &[(&str, &[u8])] = files![
    "api.js",
    "app.js",
    "dom.js",
    "format.js",
    "icon.svg",
    "index.html",
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
    "router.js",
    "sign_in.js",
    "style.css",
    "theme.js",
    "virtual.js",
    "widgets.js",
];
