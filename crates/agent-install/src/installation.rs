//! The installation of an agent, as those see it who wait for it.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::select_all;
use protocol::{
    AgentName,
    agents::{InstallPhase, InstallProgress},
};
use tokio::sync::watch;

use super::{Error, Installed, Progress};
use agent_catalog::ComponentName;

/// The installation of an agent: of every component that it lacks, side by side.
///
/// Dropping it ends nothing: others may wait too, and whoever comes next finds it done.
#[derive(Debug)]
pub struct Installation {
    agent: AgentName,
    parts: Vec<Part>,
    /// What the agent needs for each way to start it. A way that works makes it usable.
    ways: Vec<BTreeSet<ComponentName>>,
    /// What could not be installed.
    failed: BTreeSet<ComponentName>,
}

/// What an installation came to.
#[derive(Debug, Default)]
pub struct InstallationOutcome {
    /// Whether anything was installed.
    pub is_new: bool,
    /// What could not be installed, while the agent can be started in another way.
    pub failed: Vec<(ComponentName, Arc<Error>)>,
}

#[derive(Debug)]
struct Part {
    component: ComponentName,
    progress: watch::Receiver<Progress>,
    over: bool,
}

impl Installation {
    pub(super) fn new(
        agent: AgentName,
        ways: Vec<BTreeSet<ComponentName>>,
        parts: Vec<(ComponentName, watch::Receiver<Progress>)>,
    ) -> Self {
        let part = |(component, mut progress): (_, watch::Receiver<Progress>)| {
            progress.mark_changed(); // how far it is already is worth telling
            Part { component, progress, over: false }
        };
        Self { agent, parts: parts.into_iter().map(part).collect(), ways, failed: BTreeSet::new() }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The next thing to tell; `None` once everything is over, or the agent cannot be started in any way. Cancel safe: what is
    /// missed comes again, as it is then.
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
            self.failed.insert(part.component.clone());
        }
        if failed && is_hopeless(&self.ways, &self.failed) {
            // The rest goes on, but this installation has come to its end.
            self.parts.iter_mut().for_each(|part| part.over = true);
        }
        Some(told)
    }

    /// What it came to.
    ///
    /// # Errors
    /// As soon as the agent cannot be started in any way: the failure that came last.
    pub async fn finish(self) -> Result<InstallationOutcome, Arc<Error>> {
        let (mut done, mut failed) = (InstallationOutcome::default(), BTreeSet::new());
        let of_part = |part: Part| {
            Box::pin(async move {
                let outcome = outcome(&part.component, part.progress).await;
                (part.component, outcome)
            })
        };
        let mut left: Vec<_> = self.parts.into_iter().map(of_part).collect();
        while !left.is_empty() {
            let ((component, outcome), _, rest) = select_all(left).await;
            left = rest;
            match outcome {
                Ok(installed) => done.is_new |= !installed.already,
                Err(error) => {
                    failed.insert(component.clone());
                    if is_hopeless(&self.ways, &failed) {
                        return Err(error);
                    }
                    done.failed.push((component, error));
                }
            }
        }
        Ok(done)
    }
}

/// Whether every way to start the agent needs something that failed.
fn is_hopeless(ways: &[BTreeSet<ComponentName>], failed: &BTreeSet<ComponentName>) -> bool {
    ways.iter().all(|needed| !needed.is_disjoint(failed))
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
