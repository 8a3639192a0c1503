//! All commands: those that run, and for a while those that have ended.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, atomic::AtomicU64},
    time::Instant,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::relay::RelayError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Limits,
    chunk::Chunk,
    command::Command,
    owner::{Circumstances, Owner, Sink},
    plan::Plan,
    refusal,
    ring::Ring,
    scratch::{Lease, Scratch},
    spawn::Spawned,
};

/// How many pieces of output wait for whoever follows a command: nothing is read ahead of them.
const CHUNKS_MAX: usize = 1;

/// All commands of a device.
pub(super) struct Commands {
    limits: Limits,
    running: Arc<Semaphore>,
    scratch: Arc<Scratch>,
    table: Mutex<Table>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Table {
    commands: HashMap<String, Arc<Command>>,
    /// Those that have ended, in that order.
    ended: VecDeque<String>,
}

/// A place among those that run.
pub(super) struct Running {
    /// What there is for it to keep files in.
    pub(super) scratch: Lease,
    _permit: OwnedSemaphorePermit,
}

impl Commands {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        let running = Arc::new(Semaphore::new(limits.running_max));
        let scratch = Scratch::new(limits.scratch_bytes_max, limits.running_max);
        Arc::new(Self { limits, running, scratch, table: Mutex::default(), tasks: TaskTracker::new() })
    }

    /// A place for one more.
    pub(super) fn place(&self) -> Result<Running, RelayError> {
        let full = |_| {
            refusal::busy("too many commands are running; stop one first")
                .with("limit", self.limits.running_max)
        };
        let _permit = self.running.clone().try_acquire_owned().map_err(full)?;
        Ok(Running { scratch: self.scratch.lease(), _permit })
    }

    /// Returns when none runs.
    pub(super) async fn gone(&self) {
        // It is never closed.
        let _ = self.running.acquire_many(u32::try_from(self.limits.running_max).unwrap_or(u32::MAX)).await;
    }

    /// A command that was started for this session.
    pub(super) fn find(&self, id: &str, session: Option<&str>) -> Result<Arc<Command>, RelayError> {
        let found = self.table.lock().commands.get(id).cloned();
        found
            .filter(|command| command.session.as_deref() == session)
            .ok_or_else(|| refusal::missing(id, "unknown", "there is no such command"))
    }

    /// Runs a command whose output somebody follows.
    pub(super) fn follow(
        self: &Arc<Self>,
        spawned: Spawned,
        session: Option<String>,
        running: Running,
        plan: &Plan,
        circumstances: Circumstances,
    ) -> (Arc<Command>, mpsc::Receiver<Chunk>) {
        let (sender, chunks) = mpsc::channel(CHUNKS_MAX);
        (self.run(spawned, session, running, plan, circumstances, Sink::Follower(sender)), chunks)
    }

    /// Runs a command whose output is kept.
    pub(super) fn keep(
        self: &Arc<Self>,
        spawned: Spawned,
        session: Option<String>,
        running: Running,
        plan: &Plan,
        circumstances: Circumstances,
    ) -> Arc<Command> {
        self.run(spawned, session, running, plan, circumstances, Sink::Ring)
    }

    fn run(
        self: &Arc<Self>,
        spawned: Spawned,
        session: Option<String>,
        running: Running,
        plan: &Plan,
        circumstances: Circumstances,
        sink: Sink,
    ) -> Arc<Command> {
        let Spawned { stdin, outputs, control, screen, report, proxy } = spawned;
        let command = Arc::new(Command {
            id: format!("cmd_{}", uuid::Uuid::new_v4().simple()),
            session,
            stdin,
            screen,
            control,
            runtime_max: plan.runtime_max,
            started_at: Timestamp::now(),
            started: Instant::now(),
            unwanted: CancellationToken::new(),
            cut: CancellationToken::new(),
            ring: Mutex::new(Ring::new(self.limits.ring_bytes_max)),
            seen: AtomicU64::new(0),
            passed: AtomicU64::new(0),
            end: watch::Sender::new(None),
        });
        circumstances.lasting.note("command_id", command.id.as_str());
        self.table.lock().commands.insert(command.id.clone(), command.clone());
        let owner = Owner::new(command.clone(), outputs, report, sink, plan.output_max, circumstances);
        let (commands, id, ending) = (self.clone(), command.id.clone(), owner.ending());
        // It ends with its command, which is bounded in time, and is forgotten a while later.
        self.tasks.spawn(async move {
            owner.run().await;
            drop((running, proxy));
            commands.has_ended(&id);
            let _ = ending.run_until_cancelled(tokio::time::sleep(commands.limits.retention)).await;
            commands.forget(&id);
        });
        command
    }

    fn has_ended(&self, id: &str) {
        let mut table = self.table.lock();
        table.ended.push_back(id.to_owned());
        while table.ended.len() > self.limits.ended_max
            && let Some(oldest) = table.ended.pop_front()
        {
            table.commands.remove(&oldest);
        }
    }

    fn forget(&self, id: &str) {
        let mut table = self.table.lock();
        table.ended.retain(|ended| ended != id);
        table.commands.remove(id);
    }
}
