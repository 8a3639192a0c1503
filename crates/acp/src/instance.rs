//! One instance: what everybody may hold of it. Its process belongs to the bridge.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;
use journal::{Ring, Seq, Start};
use parking_lot::{Mutex, RwLock};
use process::{SendError, Spec, Stdin};
use protocol::{
    AgentName, IdempotencyKey, ServerId,
    acp::{self, AcpInstanceState, AcpProcessExit, EventRange, PrepareInstanceRequest},
};
use tokio::sync::{mpsc, oneshot};

use crate::{
    Answer, Envelope, Error, Listener, Message, Wait,
    attendance::{Attendance, Attending},
    deliveries::{Deliveries, Delivery},
    frame,
    pending::{Outcome, Pending, Refused},
};

/// What the bridge is asked to do.
pub(crate) enum Ask {
    /// Start this process unless one runs.
    Start(Box<Spec>, oneshot::Sender<Result<(), Error>>),
    /// End the process, within this time, and the instance. Answered by the end of the channel.
    Stop(Duration),
}

/// Where an instance is in its life.
pub(crate) enum Phase {
    /// Its process does not run yet.
    Starting,
    Running {
        stdin: Stdin,
        pid: u32,
        started_at: Timestamp,
    },
    Exited {
        started_at: Timestamp,
        exit: Arc<AcpProcessExit>,
    },
}

/// One instance.
pub(crate) struct Instance {
    pub(crate) id: ServerId,
    pub(crate) agent: AgentName,
    pub(crate) ring: Ring,
    pub(crate) pending: Mutex<Pending>,
    /// What was handed to the agent under a key. It outlives the process, as the client that repeats itself does.
    pub(crate) deliveries: Mutex<Deliveries>,
    pub(crate) phase: RwLock<Phase>,
    /// What its process is started with, if somebody said.
    pub(crate) options: Mutex<Option<PrepareInstanceRequest>>,
    pub(crate) bridge: mpsc::Sender<Ask>,
    /// Set if it is deleted once nobody is there for it.
    pub(crate) lingering: Option<Lingering>,
}

/// An instance that outlives whoever is there for it by some time only.
#[derive(Debug)]
pub(crate) struct Lingering {
    pub(crate) attendance: Attendance,
    pub(crate) linger: Duration,
}

impl Instance {
    /// Starts the process unless one runs.
    pub(crate) async fn start(&self, spec: Spec) -> Result<(), Error> {
        if self.is_running() {
            return Ok(());
        }
        let (reply, started) = oneshot::channel();
        self.bridge.send(Ask::Start(Box::new(spec), reply)).await.map_err(|_| self.deleted())?;
        started.await.map_err(|_| self.deleted())?
    }

    /// Ends the process and the instance, and waits until nobody of it is left.
    pub(crate) async fn stop(&self, grace: Duration) {
        // If it cannot be asked, it has been stopped already.
        let _ = self.bridge.send(Ask::Stop(grace)).await;
        self.bridge.closed().await;
    }

    /// Is there for it until that is dropped, so that it is not deleted by itself.
    pub(crate) fn attend(&self) -> Result<Attending, Error> {
        match &self.lingering {
            None => Ok(Attending::default()),
            Some(lingering) => lingering.attendance.attend().ok_or_else(|| self.deleted()),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(*self.phase.read(), Phase::Running { .. })
    }

    /// Hands a message to the agent, and waits for the answer if it is a request and somebody wants to know.
    pub(crate) async fn send(
        &self,
        body: Bytes,
        wait: Wait,
        key: Option<&IdempotencyKey>,
    ) -> Result<Answer, Error> {
        let message = Envelope::of_client(&body)?;
        let handed = match key {
            None => self.hand(message, &body, wait)?,
            Some(key) => {
                // Held until the message is written: of two that race with one key, one is handed over.
                let mut deliveries = self.deliveries.lock();
                if self.repeats(&deliveries, key, &body)? {
                    return Ok(Answer::Accepted);
                }
                let handed = self.hand(message, &body, wait)?;
                deliveries.note(key, &body);
                handed
            }
        };
        match handed {
            None => Ok(Answer::Accepted),
            Some((waiter, outcome, within)) => waiter.answer(outcome, within).await,
        }
    }

    /// Whether this message was handed to the agent before; an error if the key was another message's.
    pub(crate) fn delivered(&self, key: &IdempotencyKey, body: &[u8]) -> Result<bool, Error> {
        self.repeats(&self.deliveries.lock(), key, body)
    }

    fn repeats(&self, deliveries: &Deliveries, key: &IdempotencyKey, body: &[u8]) -> Result<bool, Error> {
        match deliveries.of(key, body) {
            Delivery::New => Ok(false),
            Delivery::Repeated => Ok(true),
            Delivery::Another => Err(Error::KeyReused { instance: self.id.clone(), key: key.clone() }),
        }
    }

    /// Writes a message to the agent; who waits for its answer, if somebody does.
    fn hand<'a>(
        &'a self,
        message: Message<'a>,
        body: &Bytes,
        wait: Wait,
    ) -> Result<Option<(Waiter<'a>, oneshot::Receiver<Outcome>, Duration)>, Error> {
        let line = one_line(body.clone());
        let Message::Request { id } = message else {
            self.write(line)?;
            return Ok(None);
        };
        let Wait::Within(within) = wait else {
            self.pending.lock().note(id).map_err(|refused| self.refused(refused, id))?;
            self.write(line).inspect_err(|_| self.pending.lock().withdraw(id))?;
            return Ok(None);
        };
        let outcome = self.pending.lock().wait(id).map_err(|refused| self.refused(refused, id))?;
        self.write(line).inspect_err(|_| self.pending.lock().withdraw(id))?;
        Ok(Some((Waiter { instance: self, id }, outcome, within)))
    }

    fn write(&self, line: Bytes) -> Result<(), Error> {
        let phase = self.phase.read();
        match &*phase {
            Phase::Running { stdin, .. } => match stdin.try_send(line) {
                Ok(()) => Ok(()),
                Err(SendError::Full) => Err(self.busy("it does not read its input")),
                // The end of the process is about to be told.
                Err(SendError::Closed) => Err(self.deaf()),
            },
            Phase::Exited { exit, .. } => Err(self.exited(exit.clone())),
            Phase::Starting => Err(Error::AgentRequired(self.id.clone())),
        }
    }

    /// A reader of the stream, after `last` or from the oldest event that is kept.
    pub(crate) fn listener(&self, last: Option<Seq>) -> Result<Listener, Error> {
        let _attending = self.attend()?;
        Ok(Listener { reader: self.ring.reader(last.map_or(Start::Oldest, Start::Resume))?, _attending })
    }

    pub(crate) fn describe(&self) -> acp::AcpInstance {
        let (state, pid, started_at, exit) = match &*self.phase.read() {
            Phase::Starting => (AcpInstanceState::Starting, None, None, None),
            Phase::Running { pid, started_at, .. } => {
                (AcpInstanceState::Running, Some(*pid), Some(*started_at), None)
            }
            Phase::Exited { started_at, exit } => {
                (AcpInstanceState::Exited, None, Some(*started_at), Some(AcpProcessExit::clone(exit)))
            }
        };
        let bounds = self.ring.bounds();
        acp::AcpInstance {
            server_id: self.id.clone(),
            agent: self.agent.clone(),
            state,
            pid,
            started_at,
            exit,
            pending_requests: self.pending.lock().len() as u64,
            subscribers: self.ring.readers() as u64,
            linger_ms: self.lingering.as_ref().map(|lingering| lingering.linger.as_millis() as u64),
            events: EventRange {
                oldest: if bounds.events == 0 { 0 } else { bounds.oldest.get() },
                newest: bounds.newest.get(),
            },
        }
    }

    pub(crate) fn exited(&self, exit: Arc<AcpProcessExit>) -> Error {
        Error::Exited { agent: self.agent.clone(), exit }
    }

    fn deaf(&self) -> Error {
        let stderr_tail = "the agent closed its input".into();
        self.exited(Arc::new(AcpProcessExit { code: None, signal: None, stderr_tail }))
    }

    fn busy(&self, what: &'static str) -> Error {
        Error::Busy { agent: self.agent.clone(), what }
    }

    fn deleted(&self) -> Error {
        Error::Deleted(self.id.clone())
    }

    fn refused(&self, refused: Refused, id: &str) -> Error {
        match refused {
            Refused::InFlight => Error::IdInFlight { instance: self.id.clone(), id: id.to_owned() },
            Refused::Full => self.busy("too many requests wait for its answer"),
        }
    }
}

/// A request that waits. Dropped before the answer, by a timeout or a client that left, it leaves its id in flight.
struct Waiter<'a> {
    instance: &'a Instance,
    id: &'a str,
}

impl Waiter<'_> {
    async fn answer(self, outcome: oneshot::Receiver<Outcome>, within: Duration) -> Result<Answer, Error> {
        let agent = &self.instance.agent;
        match tokio::time::timeout(within, outcome).await {
            Ok(Ok(Outcome::Response(seq, body))) => Ok(Answer::Response { seq, body }),
            Ok(Ok(Outcome::Exited(exit))) => Err(self.instance.exited(exit)),
            // The bridge answers everybody before it ends; this is its being dropped with the runtime.
            Ok(Err(_)) => Err(self.instance.deleted()),
            Err(_) => Err(Error::Timeout { agent: agent.clone(), waited: within }),
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.instance.pending.lock().abandon(self.id);
    }
}

/// The message on one line, which is how agents read. A line break in JSON is only ever space between tokens.
fn one_line(body: Bytes) -> Bytes {
    if memchr::memchr2(b'\r', b'\n', &body).is_none() {
        return body;
    }
    let mut line = Vec::from(body);
    frame::blank_line_breaks(&mut line);
    line.into()
}
