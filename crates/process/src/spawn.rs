//! Spawning a child: one code path for pipes and terminals.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::child_command::{self, ChildStdio};
use crate::child_mark::ChildMark;
use crate::group_leader::GroupLeader;
use crate::life_stage::{AliveGuard, LifeStage};
use crate::output_source::OutputSource;
use crate::process_group::ProcessGroup;
use crate::stderr_tail::{self, StderrTail};
use crate::stdin::{StdinQueue, StdinWriter};
use crate::supervisor::{Supervisor, TASKS};
use crate::{Error, OutputReader, ProcessControl, ProcessSpec, ProcessStdin, StdoutLines, spawner};

/// A child with a line protocol, split into parts that can have different owners.
#[derive(Debug)]
pub struct LineProcess {
    /// Its stdin; each message becomes a line.
    pub stdin: ProcessStdin,
    /// Its stdout as lines.
    pub stdout: StdoutLines,
    /// Signals, stops and awaits it.
    pub control: ProcessControl,
}

/// A child whose output is read as bytes.
#[derive(Debug)]
pub struct RawProcess {
    /// Its stdin.
    pub stdin: ProcessStdin,
    /// Its stdout and stderr.
    pub outputs: OutputReader,
    /// Signals, stops and awaits it.
    pub control: ProcessControl,
}

/// Starts a child with a line protocol. Its stderr is drained in the background, and the end of it is retained.
///
/// # Errors
/// [`Error::Spawn`] with the reason.
pub async fn spawn(spec: &ProcessSpec) -> Result<LineProcess, Error> {
    spawn_lines(spec).await.map_err(|source| Error::spawn(spec, source))
}

/// Starts a child whose stdout and stderr are read as bytes.
///
/// # Errors
/// [`Error::Spawn`] with the reason.
pub async fn spawn_raw(spec: &ProcessSpec) -> Result<RawProcess, Error> {
    spawn_bytes(spec).await.map_err(|source| Error::spawn(spec, source))
}

async fn spawn_lines(spec: &ProcessSpec) -> io::Result<LineProcess> {
    let mut child = SpawnedChild::spawn(spec, ChildStdio::Pipes).await?;
    let ChildPipes { stdin, stdout, stderr } = child.take_pipes()?;
    let stdout = child.pipe_source(stdout)?;
    let stderr = child.pipe_source(stderr)?;
    let stdout =
        StdoutLines::new(stdout, spec.limits.line_bytes_max, child.life.clone(), Arc::clone(&child.guard));
    let (stdin, control) = child.supervise(spec, InputSink::Lines(stdin), Some(stderr))?;
    Ok(LineProcess { stdin, stdout, control })
}

async fn spawn_bytes(spec: &ProcessSpec) -> io::Result<RawProcess> {
    let mut child = SpawnedChild::spawn(spec, ChildStdio::Pipes).await?;
    let ChildPipes { stdin, stdout, stderr } = child.take_pipes()?;
    let stdout = child.pipe_source(stdout)?;
    let stderr = child.pipe_source(stderr)?;
    let outputs = child.outputs(stdout, Some(stderr));
    let (stdin, control) = child.supervise(spec, InputSink::Bytes(stdin), None)?;
    Ok(RawProcess { stdin, outputs, control })
}

/// The descriptor that the child's input is written to.
pub(crate) enum InputSink {
    Lines(OwnedFd),
    Bytes(OwnedFd),
    Terminal(OwnedFd),
}

/// The parent's ends of a child's pipes.
struct ChildPipes {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// A running child that has no supervisor yet. Dropping it kills the child.
pub(crate) struct SpawnedChild {
    child: spawner::UnsupervisedChild,
    leader: GroupLeader,
    group: Arc<ProcessGroup>,
    stage: watch::Sender<LifeStage>,
    pub(crate) life: watch::Receiver<LifeStage>,
    stderr_tail: Arc<Mutex<StderrTail>>,
    abandoned: CancellationToken,
    guard: AliveGuard,
}

impl SpawnedChild {
    pub(crate) async fn spawn(spec: &ProcessSpec, stdio: ChildStdio) -> io::Result<Self> {
        let mark = ChildMark::new();
        let child = spawner::start(child_command::command(spec, &mark, stdio)?, mark.clone()).await?;
        let (stage, life) = watch::channel(LifeStage::Running);
        let abandoned = CancellationToken::new();
        Ok(Self {
            leader: GroupLeader::new(child.pid())?,
            group: Arc::new(ProcessGroup::new(child.pid(), mark)),
            child,
            stage,
            life,
            stderr_tail: Arc::new(Mutex::new(StderrTail::new(spec.limits.stderr_bytes_max))),
            guard: Arc::new(abandoned.clone().drop_guard()),
            abandoned,
        })
    }

    fn take_pipes(&mut self) -> io::Result<ChildPipes> {
        match self.child.take_pipes() {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok(ChildPipes { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() })
            }
            _ => Err(io::Error::other("the child was started without pipes")),
        }
    }

    fn pipe_source(&self, fd: OwnedFd) -> io::Result<OutputSource> {
        OutputSource::pipe(fd, self.life.clone())
    }

    pub(crate) fn outputs(&self, stdout: OutputSource, stderr: Option<OutputSource>) -> OutputReader {
        let (tail, guard) = (Arc::clone(&self.stderr_tail), Arc::clone(&self.guard));
        OutputReader::new(stdout, stderr, tail, self.life.clone(), guard)
    }

    /// Starts the supervisor, which drains `stderr` if it is given.
    pub(crate) fn supervise(
        self,
        spec: &ProcessSpec,
        sink: InputSink,
        stderr: Option<OutputSource>,
    ) -> io::Result<(ProcessStdin, ProcessControl)> {
        let queue = StdinQueue::new(&spec.limits, matches!(sink, InputSink::Lines(_)));
        let terminal = matches!(sink, InputSink::Terminal(_));
        let (InputSink::Lines(fd) | InputSink::Bytes(fd) | InputSink::Terminal(fd)) = sink;
        let writer = StdinWriter::new(fd, Arc::clone(&queue))?;
        let (stop, stop_requested) = watch::channel(None);
        let collect = |source| TASKS.spawn(stderr_tail::collect(source, Arc::clone(&self.stderr_tail)));
        let supervisor = Supervisor {
            registration: self.child.adopt(),
            leader: self.leader,
            group: Arc::clone(&self.group),
            life: self.stage,
            stop_requested,
            abandoned: self.abandoned,
            queue: Arc::clone(&queue),
            writer: AbortOnDropHandle::new(TASKS.spawn(writer.run())),
            stderr: stderr.map(collect).map(AbortOnDropHandle::new),
            terminal,
        };
        // The supervisor ends by itself when the child is stopped or all its handles are dropped; `wait_for_all` awaits it.
        drop(TASKS.spawn(supervisor.run()));
        let control = ProcessControl {
            group: self.group,
            stderr_tail: self.stderr_tail,
            stop,
            grace: spec.grace,
            life: self.life,
            _guard: Arc::clone(&self.guard),
        };
        Ok((ProcessStdin::new(queue, self.guard), control))
    }
}
