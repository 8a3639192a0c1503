//! The files of whoever runs a hub, which can be read again while it serves.

use std::path::PathBuf;

use server::ErrorChain;
use tracing::{error, info};

use crate::app::App;

/// The files of whoever runs a hub.
pub struct Files {
    app: App,
    /// What names runtimes.
    runtimes: Option<PathBuf>,
}

impl Files {
    pub(crate) fn new(app: App, runtimes: Option<PathBuf>) -> Self {
        Self { app, runtimes }
    }

    /// Reads them again: what they say holds at once, also for streams that are open. One that cannot be used changes
    /// nothing.
    pub fn read_again(&self) {
        self.app.access.policy.reload();
        let Some(file) = &self.runtimes else { return };
        match self.app.registry.name(file) {
            Ok(gone) => {
                gone.iter().for_each(|id| self.app.feeds.forget(id));
                info!("reloaded the runtimes file");
            }
            Err(error) => {
                error!(error = %ErrorChain(&error), "could not reload the runtimes file; keeping the previous one")
            }
        }
    }
}
