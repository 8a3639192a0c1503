//! The owner of a child: it tells how far its life has come, and sees to it that nobody is left in the end.

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

use crate::group::{Group, Left};
use crate::leader::Leader;
use crate::life::{Exit, Life};
use crate::orphans::Listing;
use crate::stdin::Queue;

/// How long a child is given to end because its stdin was closed; a quarter of its grace if that is less.
// Programs that heed the end of their input are gone in a few milliseconds; the others need the time after TERM.
const EOF_WAIT_MAX: Duration = Duration::from_millis(500);

/// How long the killing may take.
// `stop` promises grace + 500 ms. A kill takes effect in a few milliseconds unless the machine is starved.
const KILL_WAIT_MAX: Duration = Duration::from_millis(400);

/// Between two looks at who is left: first, and at most.
const LOOK_EVERY: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// All tasks of this crate.
pub(crate) static TASKS: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// Waits until every child of this process is gone, for the end of `main`: first stop them or drop their handles, for a
/// child that is still held is waited for as long as it is.
pub async fn all_gone() {
    TASKS.close();
    TASKS.wait().await;
}

pub(crate) struct Supervisor {
    /// Held until nobody is left.
    pub(crate) listing: Option<Listing>,
    pub(crate) leader: Leader,
    pub(crate) group: Arc<Group>,
    pub(crate) life: watch::Sender<Life>,
    /// Within which time the child is to end, once it is.
    pub(crate) asked: watch::Receiver<Option<Duration>>,
    /// Cancelled when nobody outside has a use for the child any more.
    pub(crate) abandoned: CancellationToken,
    pub(crate) queue: Arc<Queue>,
    pub(crate) writer: AbortOnDropHandle<()>,
    /// Reads stderr, if that is ours to read. Finished when the tail is complete.
    pub(crate) stderr: Option<AbortOnDropHandle<()>>,
    /// Whether the child has a terminal, which is hung up rather than closed.
    pub(crate) terminal: bool,
}

impl Supervisor {
    pub(crate) async fn run(mut self) {
        let asked = self.asked.clone();
        let abandoned = self.abandoned.clone();
        let grace = tokio::select! {
            never = self.live() => match never {},
            grace = stopped(asked) => Some(grace),
            () = abandoned.cancelled() => None,
        };
        if let Some(listing) = &self.listing {
            listing.ends();
        }
        if let Some(grace) = grace {
            self.ask(grace).await;
        }
        self.kill().await;
    }

    /// Tells the child's end when it comes, and then waits to be told to clean up. Cancel safe.
    async fn live(&mut self) -> Infallible {
        loop {
            self.step().await;
        }
    }

    /// Waits for the next stage of the child's life. Cancel safe.
    async fn step(&mut self) {
        let life = *self.life.borrow();
        match life {
            Life::Running => {
                let exit = self.leader.exited().await;
                self.queue.shut();
                self.writer.abort();
                self.life.send_replace(Life::Exited(exit));
            }
            Life::Exited(exit) => {
                if let Some(stderr) = &mut self.stderr {
                    let _ = stderr.await;
                    self.stderr = None;
                }
                self.life.send_replace(Life::Told(exit));
            }
            Life::Told(_) => {
                // Whoever is left may be meant to stay; without anyone there is no reason to keep a zombie.
                if !self.has_others().await {
                    self.group.release();
                }
                future::pending::<()>().await;
            }
            Life::Gone(_) => future::pending().await,
        }
    }

    /// Asks the group to end, first by the end of its input and then by TERM, until its grace has passed.
    async fn ask(&mut self, grace: Duration) {
        let start = Instant::now();
        self.learn().await;
        if self.terminal {
            self.signal(Signal::HUP).await;
        } else {
            self.queue.close();
        }
        if self.ends_by(start + EOF_WAIT_MAX.min(grace / 4)).await && !self.has_others().await {
            return;
        }
        if self.terminal {
            // A shell that was hung up between its prompt and its wait for a line has not noticed.
            self.signal(Signal::HUP).await;
        }
        self.signal(Signal::TERM).await;
        // Someone who was stopped hears of TERM only when continued.
        self.signal(Signal::CONT).await;
        let deadline = start + grace;
        if !self.ends_by(deadline).await {
            return;
        }
        let mut looks = looks();
        while self.has_others().await && Instant::now() < deadline {
            let pause = looks.next().unwrap_or(LOOK_EVERY.1);
            sleep(pause.min(deadline - Instant::now())).await;
        }
    }

    /// Kills who is left, in the group or out of it, and tells that all are gone.
    async fn kill(&mut self) {
        let deadline = Instant::now() + KILL_WAIT_MAX;
        let mut before = Left::Nobody;
        let mut looks = looks();
        loop {
            let group = Arc::clone(&self.group);
            let left = task::spawn_blocking(move || group.sweep()).await.unwrap_or(Left::Nobody);
            // Someone seen in the middle of `exec` has no environment, so after a find we look twice.
            if left == Left::Nobody && before == left {
                break;
            }
            if left == Left::Somebodys && before == left || Instant::now() >= deadline {
                warn!(pid = self.group.id().as_raw_pid(), ?left, "processes may have survived");
                self.group.has_survived();
                break;
            }
            before = left;
            sleep(looks.next().unwrap_or(LOOK_EVERY.1)).await;
        }
        let told = timeout_at(deadline, async {
            while self.life.borrow().told().is_none() {
                self.step().await;
            }
        });
        let _ = told.await;
        self.group.release();
        self.listing = None;
        let exit = self.life.borrow().told().unwrap_or(Exit::UNKNOWN);
        self.life.send_replace(Life::Gone(exit));
    }

    /// Whether the leader has ended by then.
    async fn ends_by(&mut self, deadline: Instant) -> bool {
        let ended = timeout_at(deadline, async {
            while !self.life.borrow().has_exited() {
                self.step().await;
            }
        });
        ended.await.is_ok()
    }

    /// Gets to know those whose parents are about to end.
    async fn learn(&self) {
        let group = Arc::clone(&self.group);
        let _ = task::spawn_blocking(move || group.learn()).await;
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

/// Growing pauses between looks.
fn looks() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(LOOK_EVERY.0), |pause| Some((*pause * 2).min(LOOK_EVERY.1)))
}

/// The runtime is going down before the child was ended, so there is nobody to wait: kill, and leave the rest to init.
impl Drop for Supervisor {
    fn drop(&mut self) {
        if self.life.borrow().gone().is_none() {
            self.group.sweep();
            self.group.release();
        }
    }
}

/// Waits until the child is to end, and tells within which time.
async fn stopped(mut asked: watch::Receiver<Option<Duration>>) -> Duration {
    let asked = asked.wait_for(Option::is_some).await.map(|grace| *grace);
    match asked {
        Ok(Some(grace)) => grace,
        // Nobody is left who could stop it.
        _ => future::pending().await,
    }
}
