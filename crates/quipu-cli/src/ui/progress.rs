//! How far a long command has come, on stderr: a bar on a terminal, a line every few seconds elsewhere.
//! Says nothing about commands that are over in a moment.

use std::{
    future::Future,
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{clock, ui::output::thousands};

/// How long a command runs before a bar appears.
const QUIET: Duration = Duration::from_millis(500);
/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
const TURN_EVERY: Duration = Duration::from_millis(120);

/// Progress towards a known or unknown end.
#[derive(Debug)]
pub(crate) struct Progress {
    what: String,
    total: Option<u64>,
    shown: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(what: impl Into<String>, total: Option<u64>) -> Self {
        Self { what: what.into(), total, shown: clock::now(), bar: None }
    }

    /// Says that `done` is reached.
    pub(crate) fn reach(&mut self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            return;
        }
        let terminal = stderr().is_terminal();
        if self.shown.elapsed() < if terminal { QUIET } else { LINE_EVERY } {
            return;
        }
        self.shown = clock::now();
        if terminal {
            self.bar = Some(bar(&self.what, self.total));
        } else {
            let of = self.total.map_or_else(String::new, |all| format!(" of {}", thousands(all)));
            eprintln!("{}: {}{of} commits", self.what, thousands(done));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &str, total: Option<u64>) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = match total {
        Some(_) => "{msg} {wide_bar} {human_pos}/{human_len} commits, {per_sec}, {eta} left",
        None => "{spinner} {msg}: {human_pos} commits, {per_sec}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

/// Waits for `work`, and shows that it goes on when that takes more than a moment.
pub(crate) async fn waiting<T>(what: &str, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let first = if stderr().is_terminal() { QUIET } else { LINE_EVERY };
    if let Ok(done) = tokio::time::timeout(first, &mut work).await {
        return done;
    }
    if stderr().is_terminal() {
        let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
        spinner.enable_steady_tick(TURN_EVERY);
        let done = work.await;
        spinner.finish_and_clear();
        return done;
    }
    loop {
        eprintln!("{what} ...");
        if let Ok(done) = tokio::time::timeout(LINE_EVERY, &mut work).await {
            return done;
        }
    }
}
