//! Starting a child: one path for pipes and terminals.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::birth::{self, Wiring};
use crate::group::Group;
use crate::leader::Leader;
use crate::life::{Hold, Life};
use crate::mark::Mark;
use crate::outlet::Outlet;
use crate::stderr::{self, Ring};
use crate::stdin::{Queue, Writer};
use crate::supervisor::{Supervisor, TASKS};
use crate::{Control, Error, Lines, Outputs, Spec, Stdin, spawner};

/// A child that is spoken to in lines, split so that each part can have its own owner.
#[derive(Debug)]
pub struct Process {
    /// What it reads, line by line.
    pub stdin: Stdin,
    /// What it writes, line by line.
    pub stdout: Lines,
    /// How it is ended, and how it ended.
    pub control: Control,
}

/// A child whose output is taken as it comes.
#[derive(Debug)]
pub struct Raw {
    /// What it reads.
    pub stdin: Stdin,
    /// What it writes to stdout and stderr.
    pub outputs: Outputs,
    /// How it is ended, and how it ended.
    pub control: Control,
}

/// Starts a child that is spoken to in lines. Its stderr is read all the time and its end is kept.
///
/// # Errors
/// [`Error::Spawn`], which says in words what is in the way.
pub async fn spawn(spec: &Spec) -> Result<Process, Error> {
    lines(spec).await.map_err(|source| Error::spawn(spec, source))
}

/// Starts a child whose stdout and stderr are taken as they come.
///
/// # Errors
/// [`Error::Spawn`], which says in words what is in the way.
pub async fn spawn_raw(spec: &Spec) -> Result<Raw, Error> {
    raw(spec).await.map_err(|source| Error::spawn(spec, source))
}

async fn lines(spec: &Spec) -> io::Result<Process> {
    let mut started = Started::new(spec, Wiring::Pipes).await?;
    let (stdin, stdout, stderr) = started.pipes()?;
    let stdout = started.outlet(stdout)?;
    let stderr = started.outlet(stderr)?;
    let stdout =
        Lines::new(stdout, spec.limits.line_bytes_max, started.life.clone(), Arc::clone(&started.hold));
    let (stdin, control) = started.supervise(spec, Inlet::Lines(stdin), Some(stderr))?;
    Ok(Process { stdin, stdout, control })
}

async fn raw(spec: &Spec) -> io::Result<Raw> {
    let mut started = Started::new(spec, Wiring::Pipes).await?;
    let (stdin, stdout, stderr) = started.pipes()?;
    let stdout = started.outlet(stdout)?;
    let stderr = started.outlet(stderr)?;
    let outputs = started.outputs(stdout, Some(stderr));
    let (stdin, control) = started.supervise(spec, Inlet::Bytes(stdin), None)?;
    Ok(Raw { stdin, outputs, control })
}

/// Where the child's input is written to.
pub(crate) enum Inlet {
    Lines(OwnedFd),
    Bytes(OwnedFd),
    Terminal(OwnedFd),
}

/// A child that runs and is not supervised yet: dropping it kills it.
pub(crate) struct Started {
    child: spawner::Newborn,
    leader: Leader,
    group: Arc<Group>,
    tell: watch::Sender<Life>,
    pub(crate) life: watch::Receiver<Life>,
    ring: Arc<Mutex<Ring>>,
    abandoned: CancellationToken,
    hold: Hold,
}

impl Started {
    pub(crate) async fn new(spec: &Spec, wiring: Wiring) -> io::Result<Self> {
        let mark = Mark::new();
        let child = spawner::start(birth::command(spec, &mark, wiring)?, mark.clone()).await?;
        let (tell, life) = watch::channel(Life::Running);
        let abandoned = CancellationToken::new();
        Ok(Self {
            leader: Leader::new(child.pid())?,
            group: Arc::new(Group::new(child.pid(), mark)),
            child,
            tell,
            life,
            ring: Arc::new(Mutex::new(Ring::new(spec.limits.stderr_bytes_max))),
            hold: Arc::new(abandoned.clone().drop_guard()),
            abandoned,
        })
    }

    /// Our ends of its stdin, stdout and stderr.
    fn pipes(&mut self) -> io::Result<(OwnedFd, OwnedFd, OwnedFd)> {
        match self.child.pipes() {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((stdin.into(), stdout.into(), stderr.into())),
            _ => Err(io::Error::other("the child has no pipes")),
        }
    }

    fn outlet(&self, fd: OwnedFd) -> io::Result<Outlet> {
        Outlet::pipe(fd, self.life.clone())
    }

    pub(crate) fn outputs(&self, stdout: Outlet, stderr: Option<Outlet>) -> Outputs {
        let (ring, hold) = (Arc::clone(&self.ring), Arc::clone(&self.hold));
        Outputs::new(stdout, stderr, ring, self.life.clone(), hold)
    }

    /// Hands the child over to its supervisor, who reads `stderr` if it is given.
    pub(crate) fn supervise(
        self,
        spec: &Spec,
        inlet: Inlet,
        stderr: Option<Outlet>,
    ) -> io::Result<(Stdin, Control)> {
        let queue = Queue::new(&spec.limits, matches!(inlet, Inlet::Lines(_)));
        let terminal = matches!(inlet, Inlet::Terminal(_));
        let (Inlet::Lines(fd) | Inlet::Bytes(fd) | Inlet::Terminal(fd)) = inlet;
        let writer = Writer::new(fd, Arc::clone(&queue))?;
        let (stop, asked) = watch::channel(None);
        let collect = |outlet| TASKS.spawn(stderr::collect(outlet, Arc::clone(&self.ring)));
        let supervisor = Supervisor {
            listing: self.child.adopt(),
            leader: self.leader,
            group: Arc::clone(&self.group),
            life: self.tell,
            asked,
            abandoned: self.abandoned,
            queue: Arc::clone(&queue),
            writer: AbortOnDropHandle::new(TASKS.spawn(writer.run())),
            stderr: stderr.map(collect).map(AbortOnDropHandle::new),
            terminal,
        };
        // It ends by itself when the child is stopped or its handles are dropped; `all_gone` waits for it.
        drop(TASKS.spawn(supervisor.run()));
        let control = Control {
            group: self.group,
            ring: self.ring,
            stop,
            grace: spec.grace,
            life: self.life,
            _hold: Arc::clone(&self.hold),
        };
        Ok((Stdin::new(queue, self.hold), control))
    }
}
