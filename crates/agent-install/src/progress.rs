//! How far an installation is.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use protocol::agents::InstallPhase;
use tokio::sync::watch;

use super::Error;
use agent_catalog::{Found, Version};

/// How often bytes are told while they come; people see no more, and readers have something to do.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// How far the installation of one component is.
#[derive(Debug, Clone)]
pub struct Progress {
    /// What is being done.
    pub phase: InstallPhase,
    /// Where it comes from, once that is known.
    pub source: Option<String>,
    /// How many bytes have come.
    pub bytes: u64,
    /// How many bytes there are, where that is known.
    pub total_bytes: Option<u64>,
    /// What it came to, once it is over.
    pub(crate) outcome: Option<Result<Arc<Installed>, Arc<Error>>>,
}

/// A component that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its version, where that is known.
    pub version: Option<Version>,
    /// Where it is.
    pub found: Found,
    /// Whether it was there before.
    pub already: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self { phase: InstallPhase::Waiting, source: None, bytes: 0, total_bytes: None, outcome: None }
    }
}

/// Tells those who watch how far an installation is. Nobody has to.
#[derive(Debug)]
pub(crate) struct Teller {
    sender: watch::Sender<Progress>,
    told: parking_lot::Mutex<Option<Instant>>,
}

impl Teller {
    pub(crate) fn new() -> (Self, watch::Receiver<Progress>) {
        let (sender, receiver) = watch::channel(Progress::default());
        (Self { sender, told: Default::default() }, receiver)
    }

    /// Tells what is being done from now on.
    pub(crate) fn phase(&self, phase: InstallPhase) {
        self.sender.send_modify(|progress| progress.phase = phase);
    }

    /// Tells where it comes from.
    pub(crate) fn source(&self, source: &str) {
        self.sender.send_modify(|progress| {
            progress.source = Some(source.to_owned());
            (progress.bytes, progress.total_bytes) = (0, None);
        });
    }

    /// Tells how many bytes have come, though not each time.
    pub(crate) fn bytes(&self, bytes: u64, total: Option<u64>) {
        let mut told = self.told.lock();
        if told.is_some_and(|at| at.elapsed() < TOLD_EVERY) && Some(bytes) != total {
            return;
        }
        *told = Some(Instant::now());
        self.sender.send_modify(|progress| (progress.bytes, progress.total_bytes) = (bytes, total));
    }

    /// Tells what it came to.
    pub(crate) fn end(&self, outcome: Result<Arc<Installed>, Arc<Error>>) {
        self.sender.send_modify(|progress| {
            progress.phase = if outcome.is_ok() { InstallPhase::Done } else { InstallPhase::Failed };
            progress.outcome = Some(outcome);
        });
    }
}
