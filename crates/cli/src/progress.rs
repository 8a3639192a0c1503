//! Long work, for those who watch: a bar on stderr, if that is a terminal.

use std::{
    collections::BTreeMap,
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use protocol::agents::{InstallPhase, InstallProgress};

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

/// An installation: one bar for each part of it that is not done.
#[derive(Default)]
pub(crate) struct Installation {
    bars: MultiProgress,
    parts: BTreeMap<String, ProgressBar>,
}

impl Installation {
    /// Shows how far a part is.
    pub(crate) fn show(&mut self, progress: &InstallProgress) {
        let part = self.parts.entry(progress.component.clone()).or_insert_with(|| {
            let bar = bar(None, "{spinner} {prefix:16} {msg} {bytes} {elapsed}");
            bar.set_prefix(progress.component.clone());
            self.bars.add(bar)
        });
        if let Some(total) = progress.total_bytes
            && part.length() != Some(total)
        {
            part.set_length(total);
            if let Ok(style) = ProgressStyle::with_template(
                "{spinner} {prefix:16} {msg} {bar:20} {bytes}/{total_bytes} {eta}",
            ) {
                part.set_style(style);
            }
        }
        part.set_position(progress.bytes);
        part.set_message(phase(progress.phase));
        if matches!(progress.phase, InstallPhase::Done | InstallPhase::Failed) {
            part.finish_and_clear();
        }
    }

    /// Takes everything off the screen.
    pub(crate) fn clear(self) {
        self.parts.values().for_each(ProgressBar::finish_and_clear);
    }
}

fn phase(phase: InstallPhase) -> &'static str {
    match phase {
        InstallPhase::Waiting => "waiting",
        InstallPhase::Resolving => "resolving",
        InstallPhase::Downloading => "downloading",
        InstallPhase::Verifying => "verifying",
        InstallPhase::Unpacking => "unpacking",
        InstallPhase::Installing => "installing",
        InstallPhase::Done => "done",
        InstallPhase::Failed => "failed",
    }
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
