//! The task that owns one server.

use std::{future, time::Duration};

use process::ProcessSpec;
use sse::SseParser;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::{
    DetachReason, Error, ServerAttachment, ServerEvent, ServerEvents,
    attachment::AttachRequest,
    running_server::{RunningServer, next_output},
};

/// How many events may wait for one attachment. Every attachment gets the events of all sessions; a session that is this far
/// behind does not read.
const EVENTS_MAX: usize = 16 << 10;

/// Owns one server: starts it, passes on its events and stops it.
pub(crate) struct ServerOwner {
    spec: ProcessSpec,
    /// How long the server runs without attachments.
    grace: Duration,
    requests: mpsc::Receiver<AttachRequest>,
    stop: CancellationToken,
    attached: Vec<AttachedSession>,
    last_id: u64,
    /// A task for each attachment, which returns its id when its receiver is dropped.
    detached: JoinSet<u64>,
}

/// The owner's side of an attachment.
struct AttachedSession {
    id: u64,
    events: mpsc::Sender<ServerEvent>,
    detach: oneshot::Sender<DetachReason>,
}

/// Why the owner stops serving.
enum ServerEnd {
    Died,
    Stopped,
    Unused,
}

impl ServerOwner {
    pub(crate) fn new(
        spec: ProcessSpec,
        grace: Duration,
        requests: mpsc::Receiver<AttachRequest>,
        stop: CancellationToken,
    ) -> Self {
        Self { spec, grace, requests, stop, attached: Vec::new(), last_id: 0, detached: JoinSet::new() }
    }

    /// Runs the server until it exits, is stopped or is no longer used.
    pub(crate) async fn run(mut self) {
        let started = tokio::select! {
            () = self.stop.cancelled() => return, // Dropping the start kills the process.
            started = RunningServer::start(self.spec.clone()) => started,
        };
        let mut server = match started {
            Ok(server) => server,
            Err(error) => return self.reject(error),
        };
        info!(pid = server.control.pid(), "agent server started");
        let end = self.serve(&mut server).await;
        // From now on, requests get another server.
        self.requests.close();
        let exit = server.control.stop().await;
        let reason = match end {
            ServerEnd::Died => DetachReason::Died { exit, stderr: server.control.stderr_tail() },
            ServerEnd::Stopped | ServerEnd::Unused => DetachReason::Stopped,
        };
        info!(%exit, attachments = self.attached.len(), "agent server exited");
        for session in self.attached {
            let _ = session.detach.send(reason.clone());
        }
    }

    /// Answers the first request with the error. The other sessions see the queue close and try again.
    fn reject(&mut self, error: Error) {
        self.requests.close();
        if let Ok(request) = self.requests.try_recv() {
            let _ = request.send(Err(error));
        }
    }

    async fn serve(&mut self, server: &mut RunningServer) -> ServerEnd {
        let mut parser = SseParser::default();
        let mut unused_until = Some(Instant::now() + self.grace);
        let control = server.control.clone();
        let exited = control.wait();
        tokio::pin!(exited);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return ServerEnd::Stopped,
                _exit = &mut exited => return ServerEnd::Died,
                piece = server.events.chunk() => match piece {
                    Ok(Some(piece)) => {
                        parser.push(&piece);
                        while let Some(frame) = parser.pop() {
                            self.publish(&ServerEvent::from(frame));
                        }
                    }
                    end => {
                        // Without its events a server is of no use. If it is dying, its exit explains more.
                        warn!(error = ?end.err().map(reqwest::Error::without_url), "the event stream of an agent server ended");
                        return ServerEnd::Died;
                    }
                },
                request = self.requests.recv() => match request {
                    Some(request) => {
                        self.attach(request, server);
                        unused_until = None;
                    }
                    None => return ServerEnd::Stopped,
                },
                Some(detached) = self.detached.join_next() => {
                    let id = detached.unwrap_or_default();
                    self.attached.retain(|session| session.id != id);
                    if self.attached.is_empty() {
                        unused_until = Some(Instant::now() + self.grace);
                    }
                }
                () = sleep_until_some(unused_until) => return ServerEnd::Unused,
                output = next_output(&mut server.stdout) => debug!(output, "server"),
            }
        }
    }

    fn attach(&mut self, request: AttachRequest, server: &RunningServer) {
        self.last_id += 1;
        let (queue, receiver) = mpsc::channel(EVENTS_MAX);
        let (detach, detached) = oneshot::channel();
        let (id, receiver_dropped) = (self.last_id, queue.clone());
        self.detached.spawn(async move {
            receiver_dropped.closed().await;
            id
        });
        self.attached.push(AttachedSession { id, events: queue, detach });
        // If the session no longer waits, the attachment is dropped here and thereby detached.
        let _ = request.send(Ok(ServerAttachment {
            events: ServerEvents::new(receiver, detached),
            client: server.client.clone(),
            pid: server.control.pid(),
        }));
    }

    /// Passes an event to all attachments, and detaches those whose queue is full.
    fn publish(&mut self, event: &ServerEvent) {
        let is_full = |session: &mut AttachedSession| {
            matches!(session.events.try_send(event.clone()), Err(mpsc::error::TrySendError::Full(_)))
        };
        for session in self.attached.extract_if(.., is_full) {
            warn!("a session is too slow to read its agent server's events; disconnecting it");
            let _ = session.detach.send(DetachReason::Behind);
        }
    }
}

async fn sleep_until_some(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => future::pending().await,
    }
}
