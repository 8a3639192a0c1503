//! The owner of a child: it publishes the child's life stages, and makes sure that no descendant survives.

use std::convert::Infallible;
use std::future;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::watch;
use tokio::task;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::warn;

use crate::group_leader::GroupLeader;
use crate::kill_progress::{KillProgress, KillStep};
use crate::life_stage::{ChildExit, LifeStage};
use crate::orphans::ChildRegistration;
use crate::process_group::{ProcessGroup, SweepResult};
use crate::stdin::StdinQueue;

/// How long a child may take to exit after its stdin was closed; a quarter of its grace period if that is less.
// Programs that exit at the end of their input do so in a few milliseconds; the others need the time after SIGTERM.
const EOF_WAIT_MAX: Duration = Duration::from_millis(500);

/// The minimum time for a killed leader's exit to be reported, also after slow scans.
const REPORT_WAIT_MIN: Duration = Duration::from_millis(50);

/// The first and the longest pause between two scans for remaining processes.
const SCAN_PAUSE_MIN: Duration = Duration::from_millis(2);
const SCAN_PAUSE_MAX: Duration = Duration::from_millis(50);

/// All tasks of this crate.
pub(crate) static TASKS: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// Waits until all children of this process are gone; for the end of `main`. Stop the children or drop their handles first:
/// it waits as long as a handle is held.
pub async fn wait_for_all() {
    TASKS.close();
    TASKS.wait().await;
}

pub(crate) struct Supervisor {
    /// Dropped when no descendant is left.
    pub(crate) registration: Option<ChildRegistration>,
    pub(crate) leader: GroupLeader,
    pub(crate) group: Arc<ProcessGroup>,
    pub(crate) life: watch::Sender<LifeStage>,
    /// The grace period, once a stop was requested.
    pub(crate) stop_requested: watch::Receiver<Option<Duration>>,
    /// Cancelled when the last handle was dropped.
    pub(crate) abandoned: CancellationToken,
    pub(crate) queue: Arc<StdinQueue>,
    pub(crate) writer: AbortOnDropHandle<()>,
    /// The task that drains stderr, for children with lines. It finishes when the tail is complete.
    pub(crate) stderr: Option<AbortOnDropHandle<()>>,
    /// Whether the child is on a terminal; then it is stopped with SIGHUP instead of closing its stdin.
    pub(crate) terminal: bool,
}

impl Supervisor {
    pub(crate) async fn run(mut self) {
        let stop_requested = self.stop_requested.clone();
        let abandoned = self.abandoned.clone();
        let grace = tokio::select! {
            never = self.observe() => match never {},
            grace = wait_for_stop(stop_requested) => Some(grace),
            () = abandoned.cancelled() => None,
        };
        if let Some(registration) = &self.registration {
            registration.mark_ending();
        }
        if let Some(grace) = grace {
            self.terminate(grace).await;
        }
        self.kill().await;
    }

    /// Publishes the life stages until it is cancelled. Cancel safe.
    async fn observe(&mut self) -> Infallible {
        loop {
            self.next_stage().await;
        }
    }

    /// Waits for the next life stage and publishes it. Cancel safe.
    async fn next_stage(&mut self) {
        let life = *self.life.borrow();
        match life {
            LifeStage::Running => {
                let exit = self.leader.exited().await;
                self.queue.discard();
                self.writer.abort();
                self.life.send_replace(LifeStage::Exited(exit));
            }
            LifeStage::Exited(exit) => {
                if let Some(stderr) = &mut self.stderr {
                    let _ = stderr.await;
                    self.stderr = None;
                }
                self.life.send_replace(LifeStage::Reported(exit));
            }
            LifeStage::Reported(_) => {
                // Other processes of the group may be intended to stay, and the zombie keeps the group id reserved for them.
                // Without them there is no reason to keep the zombie.
                if !self.has_others().await {
                    self.group.release();
                }
                future::pending::<()>().await;
            }
            LifeStage::Gone(_) => future::pending().await,
        }
    }

    /// Asks the group to exit, first by closing stdin and then with SIGTERM, until the grace period has passed.
    async fn terminate(&mut self, grace: Duration) {
        let start = Instant::now();
        self.record_descendants().await;
        if self.terminal {
            self.signal(Signal::HUP).await;
        } else {
            self.queue.close();
        }
        if self.exits_by(start + EOF_WAIT_MAX.min(grace / 4)).await && !self.has_others().await {
            return;
        }
        if self.terminal {
            // Bash misses a SIGHUP that arrives between printing its prompt and waiting for a line; send another.
            self.signal(Signal::HUP).await;
        }
        self.signal(Signal::TERM).await;
        // A suspended process handles SIGTERM only after SIGCONT.
        self.signal(Signal::CONT).await;
        let deadline = start + grace;
        if !self.exits_by(deadline).await {
            return;
        }
        let mut pauses = scan_pauses();
        while self.has_others().await && Instant::now() < deadline {
            let pause = pauses.next().unwrap_or(SCAN_PAUSE_MAX);
            sleep(pause.min(deadline - Instant::now())).await;
        }
    }

    /// Kills all remaining processes, in the group or outside of it, and publishes that they are gone.
    async fn kill(&mut self) {
        let mut progress = KillProgress::start(Instant::now());
        let mut pauses = scan_pauses();
        loop {
            let group = Arc::clone(&self.group);
            let found = task::spawn_blocking(move || group.sweep()).await.unwrap_or(SweepResult::Empty);
            match progress.after_scan(found, Instant::now()) {
                KillStep::ScanAgain => sleep(pauses.next().unwrap_or(SCAN_PAUSE_MAX)).await,
                KillStep::AllGone => break,
                KillStep::Survivors => {
                    warn!(
                        pid = self.group.id().as_raw_pid(),
                        ?found,
                        "some processes of a stopped child may still be running"
                    );
                    self.group.set_survivors();
                    break;
                }
            }
        }
        // Slow scans may have used up the time, but the leader's exit and the rest of stderr only have to be read.
        let deadline = progress.deadline().max(Instant::now() + REPORT_WAIT_MIN);
        let reported = timeout_at(deadline, async {
            while self.life.borrow().reported_exit().is_none() {
                self.next_stage().await;
            }
        });
        let _ = reported.await;
        self.group.release();
        self.registration = None;
        let exit = self.life.borrow().known_exit().unwrap_or(ChildExit::UNKNOWN);
        self.life.send_replace(LifeStage::Gone(exit));
    }

    /// Whether the leader exits before the deadline.
    async fn exits_by(&mut self, deadline: Instant) -> bool {
        let exited = timeout_at(deadline, async {
            while !self.life.borrow().has_exited() {
                self.next_stage().await;
            }
        });
        exited.await.is_ok()
    }

    /// Records the descendants whose parents are about to exit.
    async fn record_descendants(&self) {
        let group = Arc::clone(&self.group);
        let _ = task::spawn_blocking(move || group.record_descendants()).await;
    }

    async fn has_others(&self) -> bool {
        let group = Arc::clone(&self.group);
        task::spawn_blocking(move || group.has_others()).await.unwrap_or(false)
    }

    async fn signal(&self, signal: Signal) {
        if !self.terminal {
            let _ = self.group.signal(signal);
            return;
        }
        let group = Arc::clone(&self.group);
        let _ = task::spawn_blocking(move || group.signal_session(signal)).await;
    }
}

/// Doubling pauses between scans.
fn scan_pauses() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(SCAN_PAUSE_MIN), |pause| Some((*pause * 2).min(SCAN_PAUSE_MAX)))
}

/// The runtime shuts down before the child was stopped, so nothing can be awaited: kill, and leave the reaping to init.
impl Drop for Supervisor {
    fn drop(&mut self) {
        if self.life.borrow().gone_exit().is_none() {
            self.group.sweep();
            self.group.release();
        }
    }
}

/// Waits until a stop is requested and returns its grace period.
async fn wait_for_stop(mut stop_requested: watch::Receiver<Option<Duration>>) -> Duration {
    let grace = stop_requested.wait_for(Option::is_some).await.map(|grace| *grace);
    match grace {
        Ok(Some(grace)) => grace,
        // All handles are gone, so no stop can be requested any more; `abandoned` ends the child.
        _ => future::pending().await,
    }
}
