//! Long work, for those who watch: a bar on stderr, if that is a terminal.

use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a bar that is not moved shows that it is alive.
const TICK: Duration = Duration::from_millis(120);

/// A bar of bytes out of `length`, or of bytes so far.
pub(crate) fn bytes(length: Option<u64>) -> ProgressBar {
    let template = match length {
        Some(_) => "{bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
        None => "{spinner} {bytes} {binary_bytes_per_sec}",
    };
    bar(length, template)
}

/// A sign of life beside `message`.
pub(crate) fn spinner(message: String) -> ProgressBar {
    let bar = bar(None, "{spinner} {msg} {elapsed}");
    bar.set_message(message);
    bar
}

fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}
