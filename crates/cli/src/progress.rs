//! Progress bars on stderr; hidden if stderr is not a terminal.

use std::{
    collections::BTreeMap,
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use protocol::agents::{InstallPhase, InstallProgress};

/// How often a spinner moves while nothing else happens.
const TICK_INTERVAL: Duration = Duration::from_millis(120);

/// A bar for a transfer of `length` bytes; a spinner if the length is unknown.
pub(crate) fn bytes(length: Option<u64>) -> ProgressBar {
    let template = match length {
        Some(_) => "{bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
        None => "{spinner} {bytes} {binary_bytes_per_sec}",
    };
    new_bar(length, template)
}

/// The progress of an installation: one bar per unfinished component.
#[derive(Default)]
pub(crate) struct InstallProgressBars {
    bars: MultiProgress,
    components: BTreeMap<String, ProgressBar>,
}

impl InstallProgressBars {
    /// Updates the bar of a component.
    pub(crate) fn show(&mut self, progress: &InstallProgress) {
        let bar = self.components.entry(progress.component.clone()).or_insert_with(|| {
            let bar = new_bar(None, "{spinner} {prefix:16} {msg} {bytes} {elapsed}");
            bar.set_prefix(progress.component.clone());
            self.bars.add(bar)
        });
        if let Some(total) = progress.total_bytes
            && bar.length() != Some(total)
        {
            bar.set_length(total);
            if let Ok(style) = ProgressStyle::with_template(
                "{spinner} {prefix:16} {msg} {bar:20} {bytes}/{total_bytes} {eta}",
            ) {
                bar.set_style(style);
            }
        }
        bar.set_position(progress.bytes);
        bar.set_message(phase(progress.phase));
        if matches!(progress.phase, InstallPhase::Done | InstallPhase::Failed) {
            bar.finish_and_clear();
        }
    }

    /// Removes all bars from the screen.
    pub(crate) fn clear(self) {
        self.components.values().for_each(ProgressBar::finish_and_clear);
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

fn new_bar(length: Option<u64>, template: &str) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK_INTERVAL);
    bar
}
