//! A running agent and its adapter.

use agent_adapters::{Adapter, Call, Heard, Order, Out, Saying};
use agent_server::{DetachReason, ServerAttachment, ServerClient, ServerEvent, ServerEvents};
use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesOrdered};
use process::{FramedLine, ProcessControl, ProcessStdin, Signal, StdinSendError, StdoutLines};
use protocol::sessions::AgentError;
use tokio::time::Instant;
use tracing::warn;

/// A running agent and its adapter.
///
/// Output of the agent goes through the adapter here. Messages to the agent are returned instead of being sent, because the worker
/// sends them only after it has stored the events that led to them.
pub(crate) struct AgentLink {
    adapter: Box<dyn Adapter>,
    transport: AgentTransport,
    /// Since when it accepts prompts.
    ready_since: Option<Instant>,
    /// Whether it has reported its session.
    pub(crate) is_introduced: bool,
    /// Whether it has announced that it will exit.
    pub(crate) is_leaving: bool,
    /// The MCP servers and skills that it was started without.
    pub(crate) warnings: Vec<AgentError>,
}

/// The connection to an agent.
enum AgentTransport {
    /// A process of its own, which exchanges lines.
    Lines { stdin: ProcessStdin, lines: StdoutLines, control: ProcessControl },
    /// A session on a server that other sessions use too.
    Server {
        events: ServerEvents,
        client: ServerClient,
        responses: FuturesOrdered<BoxFuture<'static, CallResponse>>,
        gone: Option<DetachReason>,
    },
}

/// The response to a call of an agent's server.
struct CallResponse {
    call: u64,
    status: u16,
    body: Bytes,
}

/// One message of an agent.
pub(crate) struct AgentOutput {
    /// The adapter's interpretation.
    pub(crate) out: Out,
    /// The message as it was received, if it led to any fact.
    pub(crate) raw: Option<Bytes>,
}

impl AgentLink {
    /// Connects to an agent that is a process of its own.
    pub(crate) fn lines(adapter: Box<dyn Adapter>, process: process::LineProcess) -> Self {
        let process::LineProcess { stdin, stdout, control } = process;
        Self::new(adapter, AgentTransport::Lines { stdin, lines: stdout, control })
    }

    /// Connects to an agent that is a session on a shared server.
    pub(crate) fn server(adapter: Box<dyn Adapter>, attached: ServerAttachment) -> Self {
        let ServerAttachment { events, client, .. } = attached;
        let responses = FuturesOrdered::new();
        Self::new(adapter, AgentTransport::Server { events, client, responses, gone: None })
    }

    fn new(adapter: Box<dyn Adapter>, transport: AgentTransport) -> Self {
        Self {
            adapter,
            transport,
            ready_since: None,
            is_introduced: false,
            is_leaving: false,
            warnings: Vec::new(),
        }
    }

    /// Adds the MCP servers and skills that the agent was started without.
    pub(crate) fn with_warnings(self, warnings: Vec<AgentError>) -> Self {
        Self { warnings, ..self }
    }

    /// Whether the process of the agent serves other sessions too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.transport, AgentTransport::Server { .. })
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready_since.is_some()
    }

    /// Since when the agent accepts prompts.
    pub(crate) fn ready_since(&self) -> Option<Instant> {
        self.ready_since
    }

    pub(crate) fn mark_ready(&mut self) {
        self.ready_since = Some(Instant::now());
    }

    /// Whether it accepts a message during a turn.
    pub(crate) fn steers(&self) -> bool {
        self.adapter.steers()
    }

    /// Begins the handshake.
    pub(crate) fn start(&mut self) -> Out {
        let mut out = Out::default();
        self.adapter.start(&mut out);
        out
    }

    /// Waits for the next output; `None` when the agent has ended. Cancel safe.
    pub(crate) async fn next_output(&mut self) -> Option<Vec<AgentOutput>> {
        let adapter = &mut self.adapter;
        match &mut self.transport {
            AgentTransport::Lines { lines, .. } => {
                let chunk = lines.next().await?;
                let heard = chunk.map(|piece| match piece {
                    FramedLine::Line(line) => Heard::Line(line),
                    FramedLine::TooLong { bytes } => Heard::TooLong { bytes },
                });
                let heard =
                    heard.filter(|heard| !matches!(heard, Heard::Line(line) if line.trim_ascii().is_empty()));
                Some(heard.map(|heard| interpret(adapter, heard)).collect())
            }
            AgentTransport::Server { events, responses, gone, .. } => tokio::select! {
                // Events that the server sent before a response are handled before it.
                biased;
                event = events.next() => match event {
                    Ok(ServerEvent::Data(event)) => Some(vec![interpret(adapter, Heard::Line(&event))]),
                    Ok(ServerEvent::TooLong { bytes }) => {
                        Some(vec![interpret(adapter, Heard::TooLong { bytes })])
                    }
                    Err(why) => {
                        *gone = Some(why);
                        None
                    }
                },
                Some(response) = responses.next() => {
                    let CallResponse { call, status, body } = response;
                    Some(vec![interpret(adapter, Heard::Answer { call, status, body: &body })])
                }
            },
        }
    }

    /// Completes the output that the agent sent before a turn, so that it does not count as part of the turn.
    pub(crate) fn prepare_turn(&mut self) -> Out {
        let mut out = Out::default();
        self.adapter.turn_begins(&mut out);
        out
    }

    /// Gives an order to the adapter.
    pub(crate) fn order(&mut self, order: Order) -> Out {
        let mut out = Out::default();
        self.adapter.tell(order, &mut out);
        out
    }

    /// Sends a message to the agent.
    pub(crate) fn send(&mut self, message: Saying) {
        match (&mut self.transport, message) {
            (AgentTransport::Lines { stdin, control, .. }, Saying::Line(line)) => {
                // An agent that has not read the last thousand messages hangs.
                if stdin.try_send(line) == Err(StdinSendError::Full) {
                    warn!("the agent does not read its input; stopping it");
                    let _ = control.signal(Signal::KILL);
                }
            }
            // The signal fails if the process has exited, and its end is reported anyway.
            (AgentTransport::Lines { control, .. }, Saying::Interrupt) => drop(control.signal(Signal::INT)),
            (AgentTransport::Lines { stdin, .. }, Saying::Close) => stdin.close(),
            (AgentTransport::Server { client, responses, .. }, Saying::Call(call)) => {
                responses.push_back(Box::pin(perform(client.clone(), call)));
            }
            (AgentTransport::Lines { .. }, Saying::Call(_)) | (AgentTransport::Server { .. }, _) => {
                warn!("an adapter produced output for a transport that its agent does not have");
            }
        }
    }

    /// Waits for the exit of an agent whose output has ended, and describes it.
    pub(crate) async fn wait_for_exit(self) -> AgentError {
        match self.transport {
            AgentTransport::Lines { control, .. } => {
                let exit = control.wait().await;
                let stderr = control.stderr_tail();
                // The process has exited; stop what it left behind in its process group.
                control.stop().await;
                AgentError::ProcessExited { code: exit.code, signal: exit.signal, stderr }
            }
            AgentTransport::Server { gone: Some(DetachReason::Died { exit, stderr }), .. } => {
                AgentError::ProcessExited { code: exit.code, signal: exit.signal, stderr }
            }
            AgentTransport::Server { .. } => {
                AgentError::Other { message: "the connection to the agent's server was lost".into() }
            }
        }
    }

    /// Stops the agent and all processes that it started. A shared server keeps running for other sessions.
    pub(crate) async fn stop(self) {
        if let AgentTransport::Lines { control, .. } = self.transport {
            control.stop().await;
        }
    }
}

fn interpret(adapter: &mut Box<dyn Adapter>, heard: Heard<'_>) -> AgentOutput {
    let mut out = Out::default();
    adapter.hear(heard, &mut out);
    let raw = match heard {
        Heard::Line(line) if !out.facts.is_empty() => Some(Bytes::copy_from_slice(line)),
        _ => None,
    };
    AgentOutput { out, raw }
}

async fn perform(client: ServerClient, call: Call) -> CallResponse {
    let id = call.id;
    let (status, body) = client.call(call).await;
    CallResponse { call: id, status, body }
}
