//! The thread that forks all children.
//!
//! Children ask the kernel for a parent-death signal. The kernel sends it when the *thread* that forked them ends, not when
//! the process does. A child that was forked on one of tokio's blocking threads would be killed once that thread has been
//! idle for ten seconds. This thread lives as long as the process.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use std::sync::OnceLock;
use std::thread;

use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions};
use tokio::sync::{mpsc, oneshot};

use crate::child_mark::ChildMark;
use crate::orphans::{self, ChildRegistration};

/// The number of spawn requests that may be queued; further callers wait.
const QUEUE_MAX: usize = 64;

struct SpawnJob {
    command: Command,
    mark: ChildMark,
    reply: oneshot::Sender<io::Result<UnsupervisedChild>>,
}

/// Starts `command`. If the caller stops waiting, the child is killed.
pub(crate) async fn start(command: Command, mark: ChildMark) -> io::Result<UnsupervisedChild> {
    static SPAWNER: OnceLock<mpsc::Sender<SpawnJob>> = OnceLock::new();
    let (reply, child) = oneshot::channel();
    let spawner = SPAWNER.get_or_init(start_thread);
    let no_thread = || io::Error::other("the thread that starts processes could not be started");
    spawner.send(SpawnJob { command, mark, reply }).await.map_err(|_| no_thread())?;
    child.await.map_err(|_| no_thread())?
}

fn start_thread() -> mpsc::Sender<SpawnJob> {
    let (jobs, mut queue) = mpsc::channel::<SpawnJob>(QUEUE_MAX);
    let work = move || {
        while let Some(SpawnJob { mut command, mark, reply }) = queue.blocking_recv() {
            let spawned = orphans::spawn_registered(&mark, || command.spawn());
            let spawned = spawned
                .map(|(child, registration)| UnsupervisedChild { child, registration: Some(registration) });
            let _ = reply.send(spawned); // If the caller is gone, dropping the child kills it.
        }
    };
    // If the thread cannot be created, the receiver is dropped, and `start` reports that.
    let _ = thread::Builder::new().name("spawner".to_owned()).spawn(work);
    jobs
}

/// A child without a supervisor. Dropping it kills the child.
pub(crate) struct UnsupervisedChild {
    child: Child,
    /// `None` once a supervisor has adopted the child.
    registration: Option<ChildRegistration>,
}

impl UnsupervisedChild {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Takes the parent's ends of its pipes, if it has pipes.
    pub(crate) fn take_pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
    }

    /// Passes the responsibility to stop and reap the child to the caller.
    pub(crate) fn adopt(mut self) -> Option<ChildRegistration> {
        self.registration.take()
    }
}

impl Drop for UnsupervisedChild {
    fn drop(&mut self) {
        if self.registration.is_some() {
            let _ = process::kill_process_group(self.pid(), Signal::KILL);
            // It was just killed, so this wait is short. `NOWAIT` leaves it a zombie: `reap` also updates the registry.
            let _ = process::waitid(WaitId::Pid(self.pid()), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            orphans::reap(self.pid());
        }
    }
}
