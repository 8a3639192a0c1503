//! An agent that runs, with its adapter.

use agent_adapters::{Adapter, Call, Heard, Order, Out, Saying};
use agent_server::{DetachReason, ServerAttachment, ServerClient, ServerEvent, ServerEvents};
use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesOrdered};
use process::{FramedLine, ProcessControl, ProcessStdin, Signal, StdinSendError, StdoutLines};
use protocol::sessions::AgentError;
use tracing::warn;

/// An agent that runs, with its adapter.
pub(crate) struct Link {
    adapter: Box<dyn Adapter>,
    wire: Wire,
    /// It can be told things.
    pub(crate) ready: bool,
    /// It has said who it is.
    pub(crate) introduced: bool,
    /// It is about to end by itself.
    pub(crate) leaving: bool,
    /// What it was started without.
    pub(crate) warnings: Vec<AgentError>,
}

/// How bytes reach it.
enum Wire {
    /// A process of its own.
    Lines { stdin: ProcessStdin, lines: StdoutLines, control: ProcessControl },
    /// A server that it shares with others.
    Server {
        events: ServerEvents,
        client: ServerClient,
        asked: FuturesOrdered<BoxFuture<'static, Answered>>,
        gone: Option<DetachReason>,
    },
}

/// A call, with its answer.
struct Answered {
    call: u64,
    status: u16,
    body: Bytes,
}

/// Something that the agent said, and what came of it.
pub(crate) struct Said {
    pub(crate) out: Out,
    pub(crate) raw: Option<Bytes>,
}

impl Link {
    /// A process that is spoken to in lines.
    pub(crate) fn lines(adapter: Box<dyn Adapter>, process: process::LineProcess) -> Self {
        let process::LineProcess { stdin, stdout, control } = process;
        let wire = Wire::Lines { stdin, lines: stdout, control };
        Self::new(adapter, wire)
    }

    /// A server that is shared with others.
    pub(crate) fn server(adapter: Box<dyn Adapter>, attached: ServerAttachment) -> Self {
        let ServerAttachment { events, client, .. } = attached;
        let wire = Wire::Server { events, client, asked: FuturesOrdered::new(), gone: None };
        Self::new(adapter, wire)
    }

    fn new(adapter: Box<dyn Adapter>, wire: Wire) -> Self {
        Self { adapter, wire, ready: false, introduced: false, leaving: false, warnings: Vec::new() }
    }

    /// Notes what it was started without.
    pub(crate) fn with_warnings(self, warnings: Vec<AgentError>) -> Self {
        Self { warnings, ..self }
    }

    /// Whether others use it too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.wire, Wire::Server { .. })
    }

    /// Whether it accepts a message during a turn.
    pub(crate) fn steers(&self) -> bool {
        self.adapter.steers()
    }

    /// What is said to it first.
    pub(crate) fn start(&mut self) -> Out {
        let mut out = Out::default();
        self.adapter.start(&mut out);
        out
    }

    /// Waits for what it says next; nothing when it has ended. Cancel safe.
    pub(crate) async fn hear(&mut self) -> Option<Vec<Said>> {
        let adapter = &mut self.adapter;
        match &mut self.wire {
            Wire::Lines { lines, .. } => {
                let chunk = lines.next().await?;
                let heard = chunk.map(|piece| match piece {
                    FramedLine::Line(line) => Heard::Line(line),
                    FramedLine::TooLong { bytes } => Heard::TooLong { bytes },
                });
                let heard =
                    heard.filter(|heard| !matches!(heard, Heard::Line(line) if line.trim_ascii().is_empty()));
                Some(heard.map(|heard| said(adapter, heard)).collect())
            }
            Wire::Server { events, asked, gone, .. } => tokio::select! {
                // What it told before it answered comes before the answer.
                biased;
                event = events.next() => match event {
                    Ok(ServerEvent::Data(event)) => Some(vec![said(adapter, Heard::Line(&event))]),
                    Ok(ServerEvent::TooLong { bytes }) => Some(vec![said(adapter, Heard::TooLong { bytes })]),
                    Err(why) => {
                        *gone = Some(why);
                        None
                    }
                },
                Some(answered) = asked.next() => {
                    let Answered { call, status, body } = answered;
                    Some(vec![said(adapter, Heard::Answer { call, status, body: &body })])
                }
            },
        }
    }

    /// A turn is about to begin: what is known of what it said before.
    pub(crate) fn turn_begins(&mut self) -> Out {
        let mut out = Out::default();
        self.adapter.turn_begins(&mut out);
        out
    }

    /// Asks something of it: what is to be said and what is known by that.
    pub(crate) fn tell(&mut self, order: Order) -> Out {
        let mut out = Out::default();
        self.adapter.tell(order, &mut out);
        out
    }

    /// Says something to it.
    pub(crate) fn say(&mut self, saying: Saying) {
        match (&mut self.wire, saying) {
            (Wire::Lines { stdin, control, .. }, Saying::Line(line)) => {
                // One that does not read its input for a thousand messages has hung.
                if stdin.try_send(line) == Err(StdinSendError::Full) {
                    warn!("the agent does not read its input; stopping it");
                    let _ = control.signal(Signal::KILL);
                }
            }
            // It may have ended by itself; then its end is told anyway.
            (Wire::Lines { control, .. }, Saying::Interrupt) => drop(control.signal(Signal::INT)),
            (Wire::Lines { stdin, .. }, Saying::Close) => stdin.close(),
            (Wire::Server { client, asked, .. }, Saying::Call(call)) => {
                asked.push_back(Box::pin(ask(client.clone(), call)));
            }
            (Wire::Lines { .. }, Saying::Call(_)) | (Wire::Server { .. }, _) => {
                warn!("an adapter produced output for a transport that its agent does not have");
            }
        }
    }

    /// Waits until it has ended by itself: how.
    pub(crate) async fn gone(self) -> AgentError {
        match self.wire {
            Wire::Lines { control, .. } => {
                let exit = control.wait().await;
                let stderr = control.stderr_tail();
                // The leader is gone; whoever it left behind goes too.
                control.stop().await;
                AgentError::ProcessExited { code: exit.code, signal: exit.signal, stderr }
            }
            Wire::Server { gone: Some(DetachReason::Died { exit, stderr }), .. } => {
                AgentError::ProcessExited { code: exit.code, signal: exit.signal, stderr }
            }
            Wire::Server { .. } => {
                AgentError::Other { message: "the connection to the agent's server was lost".into() }
            }
        }
    }

    /// Ends it and everyone it has started; a server is left to the others.
    pub(crate) async fn stop(self) {
        if let Wire::Lines { control, .. } = self.wire {
            control.stop().await;
        }
    }
}

fn said(adapter: &mut Box<dyn Adapter>, heard: Heard<'_>) -> Said {
    let mut out = Out::default();
    adapter.hear(heard, &mut out);
    let raw = match heard {
        // Only what something came of is worth keeping.
        Heard::Line(line) if !out.facts.is_empty() => Some(Bytes::copy_from_slice(line)),
        _ => None,
    };
    Said { out, raw }
}

async fn ask(client: ServerClient, call: Call) -> Answered {
    let id = call.id;
    let (status, body) = client.call(call).await;
    Answered { call: id, status, body }
}
