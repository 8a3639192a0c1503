//! The one thread that starts children.
//!
//! The kernel sends the parent-death signal when the *thread* that forked ends. A child forked from one of tokio's
//! blocking threads would be killed when that thread has idled for ten seconds. This thread ends with the process.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use std::sync::OnceLock;
use std::thread;

use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions};
use tokio::sync::{mpsc, oneshot};

use crate::mark::Mark;
use crate::orphans::{self, Listing};

/// How many children may wait to be started; whoever comes later waits for a place.
const QUEUE_MAX: usize = 64;

struct Job {
    command: Command,
    mark: Mark,
    reply: oneshot::Sender<io::Result<Newborn>>,
}

/// Starts `command`. When the caller stops waiting, the child is killed.
pub(crate) async fn start(command: Command, mark: Mark) -> io::Result<Newborn> {
    static SPAWNER: OnceLock<mpsc::Sender<Job>> = OnceLock::new();
    let (reply, newborn) = oneshot::channel();
    let spawner = SPAWNER.get_or_init(launch);
    let gone = || io::Error::other("the thread that starts processes could not be started");
    spawner.send(Job { command, mark, reply }).await.map_err(|_| gone())?;
    newborn.await.map_err(|_| gone())?
}

fn launch() -> mpsc::Sender<Job> {
    let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE_MAX);
    let work = move || {
        while let Some(Job { mut command, mark, reply }) = queue.blocking_recv() {
            let born = orphans::born(&mark, || command.spawn());
            let born = born.map(|(child, listing)| Newborn { child, listing: Some(listing) });
            let _ = reply.send(born); // The caller may have gone: dropping a newborn kills it.
        }
    };
    // When there can be no thread, its end of the channel is dropped and `start` says so.
    let _ = thread::Builder::new().name("spawner".to_owned()).spawn(work);
    jobs
}

/// A child that nobody supervises yet, so it is killed when it is dropped.
pub(crate) struct Newborn {
    child: Child,
    /// None once somebody else has it.
    listing: Option<Listing>,
}

impl Newborn {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Takes our ends of its pipes, if it has pipes.
    pub(crate) fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
    }

    /// Leaves the child to someone who will end and reap it.
    pub(crate) fn adopt(mut self) -> Option<Listing> {
        self.listing.take()
    }
}

impl Drop for Newborn {
    fn drop(&mut self) {
        if self.listing.is_some() {
            let _ = process::kill_process_group(self.pid(), Signal::KILL);
            // It was just killed, so this takes no time.
            let _ = process::waitid(WaitId::Pid(self.pid()), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            orphans::reap(self.pid());
        }
    }
}
