//! One server and its owner.

use std::{future, time::Duration};

use process::{ChildExit, FramedLine, LineProcess, ProcessControl, ProcessSpec, StdoutLines};
use reqwest::Response;
use secrecy::{ExposeSecret, SecretString};
use sse::SseParser;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};
use uuid::Uuid;

use super::{Attached, Calls, Error, Events, Gone, Said, servers::Attach};

/// How long a server may take to say where it listens. A cold start of a large program on a busy machine takes a while.
const READY_MAX: Duration = Duration::from_secs(60);

/// How many events may wait for one user. They are shared by all users, and most of them are about somebody else; a user
/// that is this far behind does not read.
const EVENTS_MAX: usize = 16 << 10;

/// What stands before the address in what a server says first.
const LISTENING: &str = "listening on ";

/// The variable that holds the password of a server.
const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

/// The owner of a server.
pub(super) struct Server {
    spec: ProcessSpec,
    grace: Duration,
    asked: mpsc::Receiver<Attach>,
    stop: CancellationToken,
    users: Vec<User>,
    last: u64,
    /// Ends for each user who has left.
    leaving: JoinSet<u64>,
}

struct User {
    id: u64,
    queue: mpsc::Sender<Said>,
    gone: oneshot::Sender<Gone>,
}

/// A server that can be used.
struct Running {
    stdout: StdoutLines,
    control: ProcessControl,
    calls: Calls,
    events: Response,
}

/// Why a server is no longer used.
enum End {
    Died,
    Stopped,
    Unused,
}

impl Server {
    pub(super) fn new(
        spec: ProcessSpec,
        grace: Duration,
        asked: mpsc::Receiver<Attach>,
        stop: CancellationToken,
    ) -> Self {
        Self { spec, grace, asked, stop, users: Vec::new(), last: 0, leaving: JoinSet::new() }
    }

    pub(super) async fn run(mut self) {
        let running = tokio::select! {
            () = self.stop.cancelled() => return, // Dropping what was begun kills it.
            running = start(self.spec.clone()) => running,
        };
        let mut running = match running {
            Ok(running) => running,
            Err(error) => return self.fail(error),
        };
        info!(pid = running.control.pid(), "agent server started");
        let end = self.serve(&mut running).await;
        // Whoever asks from now on gets another server.
        self.asked.close();
        let exit = running.control.stop().await;
        let gone = match end {
            End::Died => Gone::Died { exit, stderr: running.control.stderr_tail() },
            End::Stopped | End::Unused => Gone::Stopped,
        };
        info!(%exit, users = self.users.len(), "agent server exited");
        for user in self.users {
            let _ = user.gone.send(gone.clone());
        }
    }

    /// The first who asked is told why; the others ask again.
    fn fail(&mut self, error: Error) {
        self.asked.close();
        if let Ok(reply) = self.asked.try_recv() {
            let _ = reply.send(Err(error));
        }
    }

    async fn serve(&mut self, running: &mut Running) -> End {
        let mut parser = SseParser::default();
        let mut unused = Some(Instant::now() + self.grace);
        let control = running.control.clone();
        let ended = control.wait();
        tokio::pin!(ended);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return End::Stopped,
                _exit = &mut ended => return End::Died,
                piece = running.events.chunk() => match piece {
                    Ok(Some(piece)) => {
                        parser.push(&piece);
                        while let Some(frame) = parser.pop() {
                            self.tell(&Said::from(frame));
                        }
                    }
                    end => {
                        // Without its events a server is of no use. If it is dying, its end says more.
                        warn!(error = ?end.err().map(reqwest::Error::without_url), "the event stream of an agent server ended");
                        return End::Died;
                    }
                },
                reply = self.asked.recv() => match reply {
                    Some(reply) => {
                        self.attach(reply, running);
                        unused = None;
                    }
                    None => return End::Stopped,
                },
                Some(left) = self.leaving.join_next() => {
                    let id = left.unwrap_or_default();
                    self.users.retain(|user| user.id != id);
                    if self.users.is_empty() {
                        unused = Some(Instant::now() + self.grace);
                    }
                }
                () = until(unused) => return End::Unused,
                line = next_line(&mut running.stdout) => debug!(line, "server"),
            }
        }
    }

    fn attach(&mut self, reply: Attach, running: &Running) {
        self.last += 1;
        let (queue, events) = mpsc::channel(EVENTS_MAX);
        let (gone, why) = oneshot::channel();
        let (id, leaving) = (self.last, queue.clone());
        self.leaving.spawn(async move {
            leaving.closed().await;
            id
        });
        self.users.push(User { id, queue, gone });
        let events = Events { queue: events, gone: why, why: None };
        // Somebody who no longer waits has left by this.
        let _ = reply.send(Ok(Attached { events, calls: running.calls.clone(), pid: running.control.pid() }));
    }

    fn tell(&mut self, said: &Said) {
        let full = |user: &mut User| {
            matches!(user.queue.try_send(said.clone()), Err(mpsc::error::TrySendError::Full(_)))
        };
        for user in self.users.extract_if(.., full) {
            warn!("a session is too slow to read its agent server's events; disconnecting it");
            let _ = user.gone.send(Gone::Behind);
        }
    }
}

async fn start(spec: ProcessSpec) -> Result<Running, Error> {
    let password = SecretString::from(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()));
    let LineProcess { stdin, mut stdout, control } =
        process::spawn(&spec.env(PASSWORD, password.expose_secret())).await?;
    drop(stdin);
    let address = match timeout(READY_MAX, address(&mut stdout)).await {
        Ok(Some(address)) => address,
        Ok(None) => {
            let exit: ChildExit = control.stop().await;
            return Err(Error::Exited { exit, stderr: control.stderr_tail() });
        }
        Err(_) => {
            control.stop().await;
            return Err(Error::Silent { waited: READY_MAX, stderr: control.stderr_tail() });
        }
    };
    let calls = Calls::new(address, password).map_err(Error::Stream)?;
    let events = calls.events().await.map_err(Error::Stream)?;
    Ok(Running { stdout, control, calls, events })
}

/// Where it listens; none if it ended without saying so.
async fn address(stdout: &mut StdoutLines) -> Option<String> {
    while let Some(lines) = stdout.next().await {
        for line in lines {
            let FramedLine::Line(line) = line else { continue };
            let line = String::from_utf8_lossy(line);
            if let Some((_, address)) = line.split_once(LISTENING) {
                return Some(address.trim().trim_end_matches('/').to_owned());
            }
        }
    }
    None
}

/// What it says besides; it would stop if nobody read it.
async fn next_line(stdout: &mut StdoutLines) -> String {
    match stdout.next().await {
        Some(lines) => {
            let texts = lines.map(|line| match line {
                FramedLine::Line(line) => String::from_utf8_lossy(line).into_owned(),
                FramedLine::TooLong { bytes } => format!("a line of {bytes} bytes"),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        None => future::pending().await, // Its end is told by the process.
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => future::pending().await,
    }
}
