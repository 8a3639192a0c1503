//! The installation of an agent, as those see it who wait for it.

use std::sync::Arc;

use futures_util::future::select_all;
use protocol::{
    AgentName,
    agents::{InstallPhase, InstallProgress},
};
use tokio::sync::watch;

use super::{Error, Installed, Progress};
use crate::ComponentName;

/// The installation of an agent: of every component that it lacks, side by side.
///
/// Dropping it ends nothing: others may wait too, and whoever comes next finds it done.
#[derive(Debug)]
pub struct Installation {
    agent: AgentName,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    component: ComponentName,
    progress: watch::Receiver<Progress>,
    over: bool,
}

impl Installation {
    pub(super) fn new(agent: AgentName, parts: Vec<(ComponentName, watch::Receiver<Progress>)>) -> Self {
        let part = |(component, mut progress): (_, watch::Receiver<Progress>)| {
            progress.mark_changed(); // how far it is already is worth telling
            Part { component, progress, over: false }
        };
        Self { agent, parts: parts.into_iter().map(part).collect() }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The next thing to tell; `None` once everything is over, or something has failed. Cancel safe: what is missed comes again, as it is then.
    pub async fn next(&mut self) -> Option<InstallProgress> {
        let waiting: Vec<_> = self.parts.iter_mut().enumerate().filter(|(_, part)| !part.over).collect();
        if waiting.is_empty() {
            return None;
        }
        let changes = waiting
            .into_iter()
            .map(|(index, part)| Box::pin(async move { (index, part.progress.changed().await) }));
        let ((index, changed), ..) = select_all(changes).await;
        let part = &mut self.parts[index];
        let progress = part.progress.borrow_and_update().clone();
        let ended = progress.outcome.is_some() || changed.is_err();
        part.over = ended;
        let failed = ended && !matches!(progress.outcome, Some(Ok(_)));
        let phase = if changed.is_err() && progress.outcome.is_none() {
            InstallPhase::Failed
        } else {
            progress.phase
        };
        let told = InstallProgress {
            agent: self.agent.clone(),
            component: part.component.to_string(),
            phase,
            source: progress.source,
            bytes: progress.bytes,
            total_bytes: progress.total_bytes,
        };
        if failed {
            // The rest goes on, but this installation has come to its end.
            self.parts.iter_mut().for_each(|part| part.over = true);
        }
        Some(told)
    }

    /// What it came to: whether anything was installed. The first failure is told at once.
    pub async fn finish(self) -> Result<bool, Arc<Error>> {
        let mut anything = false;
        let mut left: Vec<_> = self
            .parts
            .into_iter()
            .map(|part| Box::pin(async move { outcome(&part.component, part.progress).await }))
            .collect();
        while !left.is_empty() {
            let (outcome, _, rest) = select_all(left).await;
            anything |= !outcome?.already;
            left = rest;
        }
        Ok(anything)
    }
}

/// Waits until the installation of a component is over.
pub(super) async fn outcome(
    component: &ComponentName,
    mut progress: watch::Receiver<Progress>,
) -> Result<Arc<Installed>, Arc<Error>> {
    let over = progress.wait_for(|progress| progress.outcome.is_some()).await;
    let outcome = over.ok().and_then(|progress| progress.outcome.clone());
    // Without an outcome it went down with the daemon.
    outcome.unwrap_or_else(|| Err(Arc::new(Error::Ended(component.clone()))))
}
