//! One instance, as request handlers share it. Its process belongs to the [`ProcessBridge`](crate::process_bridge).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;
use journal::{RingJournal, Seq, StartPosition};
use parking_lot::{Mutex, RwLock};
use process::{ProcessSpec, ProcessStdin, StdinSendError};
use protocol::{
    AgentName, IdempotencyKey, ServerId,
    acp::{self, AcpInstanceState, AcpProcessExit, EventRange},
};
use subscribers::{SubscriberCount, Subscription};
use tokio::sync::{mpsc, oneshot};

use crate::{
    Error, InstanceReader, JsonRpcMessage, ResponseMode, SendOutcome,
    delivered_keys::{DeliveredKeys, KeyStatus},
    launch_options::LaunchOptions,
    pending_requests::{PendingRequests, RegisterError, RequestOutcome},
    sse_frame,
};

/// A command to the bridge that owns the process.
pub(crate) enum BridgeCommand {
    /// Start this process unless one runs.
    Start { spec: Box<ProcessSpec>, reply: oneshot::Sender<Result<(), Error>> },
    /// Stop the process within `grace` and end the bridge. Completion is visible as the end of the command channel.
    Stop { grace: Duration },
}

/// The process of an instance, from the point of view of requests.
enum AgentProcess {
    NotStarted,
    Running { stdin: ProcessStdin, pid: u32, started_at: Timestamp },
    Exited { started_at: Timestamp, exit: Arc<AcpProcessExit> },
}

/// One agent process behind `/v1/acp/{server_id}`.
pub(crate) struct Instance {
    id: ServerId,
    agent: AgentName,
    events: RingJournal,
    pending: Mutex<PendingRequests>,
    /// Outlives the process: a client may repeat a message after the agent exited, and that must not start it again.
    delivered: Mutex<DeliveredKeys>,
    process: RwLock<AgentProcess>,
    launch_options: Mutex<LaunchOptions>,
    bridge: mpsc::Sender<BridgeCommand>,
    linger: Option<Linger>,
}

/// Lets an instance be deleted after a time without readers and messages in progress.
#[derive(Debug)]
struct Linger {
    subscribers: SubscriberCount,
    time: Duration,
}

impl Instance {
    /// An instance without a process. `bridge` leads to the task that will start one.
    pub(crate) fn new(
        id: ServerId,
        agent: AgentName,
        events: RingJournal,
        bridge: mpsc::Sender<BridgeCommand>,
    ) -> Self {
        Self {
            id,
            agent,
            events,
            pending: Mutex::default(),
            delivered: Mutex::default(),
            process: RwLock::new(AgentProcess::NotStarted),
            launch_options: Mutex::default(),
            bridge,
            linger: None,
        }
    }

    /// Deletes the instance after `time` without readers and messages in progress.
    pub(crate) fn with_linger(mut self, time: Option<Duration>) -> Self {
        self.linger = time.map(|time| Linger { subscribers: SubscriberCount::default(), time });
        self
    }

    pub(crate) fn id(&self) -> &ServerId {
        &self.id
    }

    pub(crate) fn agent(&self) -> &AgentName {
        &self.agent
    }

    pub(crate) fn launch_options(&self) -> LaunchOptions {
        self.launch_options.lock().clone()
    }

    /// Replaces the options for the next start of the process.
    pub(crate) fn set_launch_options(&self, options: LaunchOptions) {
        *self.launch_options.lock() = options;
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(*self.process.read(), AgentProcess::Running { .. })
    }

    /// The exit of the last process, if it exited and was not started again.
    pub(crate) fn last_exit(&self) -> Option<Arc<AcpProcessExit>> {
        match &*self.process.read() {
            AgentProcess::Exited { exit, .. } => Some(exit.clone()),
            AgentProcess::NotStarted | AgentProcess::Running { .. } => None,
        }
    }

    /// Starts the process unless one runs.
    pub(crate) async fn start(&self, spec: ProcessSpec) -> Result<(), Error> {
        if self.is_running() {
            return Ok(());
        }
        let (reply, started) = oneshot::channel();
        let command = BridgeCommand::Start { spec: Box::new(spec), reply };
        self.bridge.send(command).await.map_err(|_| self.deleted())?;
        started.await.map_err(|_| self.deleted())?
    }

    /// Stops the process and the bridge, and waits until no process of the instance is left.
    pub(crate) async fn stop(&self, grace: Duration) {
        // A send error means that the bridge has ended already.
        let _ = self.bridge.send(BridgeCommand::Stop { grace }).await;
        self.bridge.closed().await;
    }

    /// Keeps the instance from being deleted by its linger time until the guard is dropped.
    /// `None` if it has no linger time.
    pub(crate) fn subscribe(&self) -> Result<Option<Subscription>, Error> {
        let Some(linger) = &self.linger else { return Ok(None) };
        linger.subscribers.subscribe().map(Some).ok_or_else(|| self.deleted())
    }

    /// Waits until the instance was unused for its linger time, which it returns; `None` if the instance was deleted
    /// before, or has no linger time.
    pub(crate) async fn wait_unused(&self) -> Option<Duration> {
        let Linger { subscribers, time } = self.linger.as_ref()?;
        tokio::select! {
            () = self.bridge.closed() => None,
            () = subscribers.close_when_idle(*time) => Some(*time),
        }
    }

    /// Writes a message to the agent. If it is a request, waits for the response as `response_mode` says.
    pub(crate) async fn send(
        &self,
        body: Bytes,
        response_mode: ResponseMode,
        key: Option<&IdempotencyKey>,
    ) -> Result<SendOutcome, Error> {
        let message = JsonRpcMessage::parse_client(&body)?;
        let waiter = match key {
            None => self.write_message(message, &body, response_mode)?,
            Some(key) => {
                // Hold the lock until the message is written: of two requests that race with one key, only the first
                // may reach the agent.
                let mut delivered = self.delivered.lock();
                if self.is_repeated(&delivered, key, &body)? {
                    return Ok(SendOutcome::Accepted);
                }
                let waiter = self.write_message(message, &body, response_mode)?;
                delivered.insert(key, &body);
                waiter
            }
        };
        match waiter {
            None => Ok(SendOutcome::Accepted),
            Some(waiter) => waiter.wait().await,
        }
    }

    /// Whether this message was already written to the agent under `key`. Fails if the key belongs to another message.
    pub(crate) fn was_delivered(&self, key: &IdempotencyKey, body: &[u8]) -> Result<bool, Error> {
        self.is_repeated(&self.delivered.lock(), key, body)
    }

    fn is_repeated(
        &self,
        delivered: &DeliveredKeys,
        key: &IdempotencyKey,
        body: &[u8],
    ) -> Result<bool, Error> {
        match delivered.status(key, body) {
            KeyStatus::New => Ok(false),
            KeyStatus::SameMessage => Ok(true),
            KeyStatus::OtherMessage => Err(Error::KeyReused { instance: self.id.clone(), key: key.clone() }),
        }
    }

    /// Writes a message to the agent; returns a waiter if the caller wants the response.
    fn write_message<'a>(
        &'a self,
        message: JsonRpcMessage<'a>,
        body: &Bytes,
        response_mode: ResponseMode,
    ) -> Result<Option<ResponseWaiter<'a>>, Error> {
        let line = one_line(body.clone());
        let JsonRpcMessage::Request { id } = message else {
            self.write_line(line)?;
            return Ok(None);
        };
        // Register before writing: the agent may respond before the write returns.
        let rejected = |error| self.rejected(error, id);
        let waiter = match response_mode {
            ResponseMode::Async => {
                self.pending.lock().register_detached(id).map_err(rejected)?;
                None
            }
            ResponseMode::Wait(timeout) => {
                let outcome = self.pending.lock().register(id).map_err(rejected)?;
                Some(ResponseWaiter { instance: self, id, outcome, timeout })
            }
        };
        match self.write_line(line) {
            Ok(()) => Ok(waiter),
            Err(error) => {
                // Before the withdrawal, which frees the id: dropped later, the waiter could abandon another request.
                drop(waiter);
                self.pending.lock().withdraw(id);
                Err(error)
            }
        }
    }

    fn write_line(&self, line: Bytes) -> Result<(), Error> {
        let process = self.process.read();
        match &*process {
            AgentProcess::Running { stdin, .. } => match stdin.try_send(line) {
                Ok(()) => Ok(()),
                Err(StdinSendError::Full) => Err(self.busy("the agent does not read its input fast enough")),
                // The process usually exits right after it closed its input, but its exit is not known yet.
                Err(StdinSendError::Closed) => Err(Error::InputClosed { agent: self.agent.clone() }),
            },
            AgentProcess::Exited { exit, .. } => Err(self.exited(exit.clone())),
            AgentProcess::NotStarted => Err(Error::AgentRequired(self.id.clone())),
        }
    }

    /// Opens the event stream after `last`, or at the oldest retained event.
    pub(crate) fn reader(&self, last: Option<Seq>) -> Result<InstanceReader, Error> {
        let _subscription = self.subscribe()?;
        Ok(InstanceReader {
            reader: self.events.reader(last.map_or(StartPosition::Oldest, StartPosition::Resume))?,
            _subscription,
        })
    }

    pub(crate) fn describe(&self) -> acp::AcpInstance {
        let bounds = self.events.bounds();
        let mut description = acp::AcpInstance {
            server_id: self.id.clone(),
            agent: self.agent.clone(),
            state: AcpInstanceState::Starting,
            pid: None,
            started_at: None,
            exit: None,
            pending_requests: self.pending.lock().len() as u64,
            subscribers: self.events.readers() as u64,
            linger_ms: self.linger.as_ref().map(|linger| linger.time.as_millis() as u64),
            events: EventRange {
                oldest: if bounds.events == 0 { 0 } else { bounds.oldest.get() },
                newest: bounds.newest.get(),
            },
        };
        match &*self.process.read() {
            AgentProcess::NotStarted => {}
            AgentProcess::Running { pid, started_at, .. } => {
                description.state = AcpInstanceState::Running;
                description.pid = Some(*pid);
                description.started_at = Some(*started_at);
            }
            AgentProcess::Exited { started_at, exit } => {
                description.state = AcpInstanceState::Exited;
                description.started_at = Some(*started_at);
                description.exit = Some(AcpProcessExit::clone(exit));
            }
        }
        description
    }

    /// The bridge started a process.
    pub(crate) fn set_running(&self, stdin: ProcessStdin, pid: u32) {
        *self.process.write() = AgentProcess::Running { stdin, pid, started_at: Timestamp::now() };
    }

    /// The bridge's process exited: fails every pending request.
    pub(crate) fn set_exited(&self, exit: AcpProcessExit) {
        let exit = Arc::new(exit);
        {
            let mut process = self.process.write();
            let started_at = match &*process {
                AgentProcess::Running { started_at, .. } | AgentProcess::Exited { started_at, .. } => {
                    *started_at
                }
                AgentProcess::NotStarted => Timestamp::now(),
            };
            *process = AgentProcess::Exited { started_at, exit: exit.clone() };
        }
        // Only after the state has changed: a request that arrives from now on is rejected by the state, and every
        // earlier one is among the pending requests. In the other order a request could slip in between and wait in vain.
        let waiters = self.pending.lock().take_all();
        for waiter in waiters {
            let _ = waiter.send(RequestOutcome::Exited(exit.clone()));
        }
    }

    /// The agent responded to request `id`: the caller that waits for it, unless it left or does not want the response.
    pub(crate) fn take_waiter(&self, id: &str) -> Option<oneshot::Sender<RequestOutcome>> {
        self.pending.lock().complete(id)
    }

    pub(crate) fn exited(&self, exit: Arc<AcpProcessExit>) -> Error {
        Error::Exited { agent: self.agent.clone(), exit }
    }

    fn busy(&self, reason: &'static str) -> Error {
        Error::Busy { agent: self.agent.clone(), reason }
    }

    fn deleted(&self) -> Error {
        Error::Deleted(self.id.clone())
    }

    fn rejected(&self, error: RegisterError, id: &str) -> Error {
        match error {
            RegisterError::InFlight => Error::IdInFlight { instance: self.id.clone(), id: id.to_owned() },
            RegisterError::Full => self.busy("too many requests wait for its response"),
        }
    }
}

/// A caller that waits for the response to its request. If it is dropped early, because of a timeout or because the
/// client disconnected, the id of the request stays in flight until the agent responds.
struct ResponseWaiter<'a> {
    instance: &'a Instance,
    id: &'a str,
    outcome: oneshot::Receiver<RequestOutcome>,
    timeout: Duration,
}

impl ResponseWaiter<'_> {
    async fn wait(mut self) -> Result<SendOutcome, Error> {
        match tokio::time::timeout(self.timeout, &mut self.outcome).await {
            Ok(Ok(RequestOutcome::Response { seq, body })) => Ok(SendOutcome::Response { seq, body }),
            Ok(Ok(RequestOutcome::Exited(exit))) => Err(self.instance.exited(exit)),
            // The bridge answers every waiter before it ends, unless it is dropped together with the tokio runtime.
            Ok(Err(_)) => Err(self.instance.deleted()),
            Err(_) => {
                let agent = self.instance.agent.clone();
                Err(Error::Timeout { agent, waited: self.timeout })
            }
        }
    }
}

impl Drop for ResponseWaiter<'_> {
    fn drop(&mut self) {
        self.instance.pending.lock().abandon(self.id);
    }
}

/// Puts the message on one line, as agents read it. A raw line break in JSON can only be white space between tokens.
fn one_line(body: Bytes) -> Bytes {
    if memchr::memchr2(b'\r', b'\n', &body).is_none() {
        return body;
    }
    let mut line = Vec::from(body);
    sse_frame::blank_line_breaks(&mut line);
    line.into()
}
