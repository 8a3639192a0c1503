//! An agent that runs, with its adapter.

use agents::adapter::{Adapter, Heard, Order, Out, Saying};
use bytes::Bytes;
use process::{Control, Lines, Piece, SendError, Signal, Stdin};
use protocol::sessions::AgentError;
use tracing::warn;

/// An agent that runs, with its adapter.
pub(crate) struct Link {
    adapter: Box<dyn Adapter>,
    wire: Wire,
    /// It can be told things.
    pub(crate) ready: bool,
    /// It is about to end by itself.
    pub(crate) leaving: bool,
}

/// How bytes reach it.
enum Wire {
    Lines { stdin: Stdin, lines: Lines, control: Control },
}

/// Something that the agent said, and what came of it.
pub(crate) struct Said {
    pub(crate) out: Out,
    pub(crate) raw: Option<Bytes>,
}

/// How an agent ended.
pub(crate) struct Gone {
    pub(crate) error: AgentError,
}

impl Link {
    /// A process that is spoken to in lines.
    pub(crate) fn lines(adapter: Box<dyn Adapter>, process: process::Process) -> Self {
        let process::Process { stdin, stdout, control } = process;
        let wire = Wire::Lines { stdin, lines: stdout, control };
        Self { adapter, wire, ready: false, leaving: false }
    }

    /// What is said to it first.
    pub(crate) fn start(&mut self) -> Out {
        let mut out = Out::default();
        self.adapter.start(&mut out);
        out
    }

    /// Waits for what it says next; nothing when it has ended. Cancel safe.
    pub(crate) async fn hear(&mut self) -> Option<Vec<Said>> {
        let Wire::Lines { lines, .. } = &mut self.wire;
        let chunk = lines.next().await?;
        let mut said = Vec::new();
        for piece in chunk {
            let mut out = Out::default();
            let raw = match piece {
                Piece::Line(line) if line.trim_ascii().is_empty() => continue,
                Piece::Line(line) => {
                    self.adapter.hear(Heard::Line(line), &mut out);
                    Some(Bytes::copy_from_slice(line))
                }
                Piece::TooLong { bytes } => {
                    self.adapter.hear(Heard::TooLong { bytes }, &mut out);
                    None
                }
            };
            said.push(Said { out, raw });
        }
        Some(said)
    }

    /// Asks something of it: what is to be said and what is known by that.
    pub(crate) fn tell(&mut self, order: Order) -> Out {
        let mut out = Out::default();
        self.adapter.tell(order, &mut out);
        out
    }

    /// Says something to it.
    pub(crate) fn say(&mut self, saying: Saying) {
        let Wire::Lines { stdin, control, .. } = &mut self.wire;
        let failed = match saying {
            Saying::Line(line) => stdin.try_send(line).err(),
            Saying::Interrupt => {
                // It may have ended by itself; then its end is told anyway.
                let _ = control.signal(Signal::INT);
                None
            }
            Saying::Close => {
                stdin.close();
                None
            }
            Saying::Call(call) => {
                warn!(path = call.path, "an agent without a server was to be called");
                None
            }
        };
        // One that does not read its input for a thousand messages has hung.
        if failed == Some(SendError::Full) {
            warn!("the agent does not read its input; it is ended");
            let _ = control.signal(Signal::KILL);
        }
    }

    /// Waits until it has ended by itself: how.
    pub(crate) async fn gone(self) -> Gone {
        let Wire::Lines { control, .. } = self.wire;
        let exit = control.wait().await;
        let error =
            AgentError::ProcessExited { code: exit.code, signal: exit.signal, stderr: control.stderr_tail() };
        // The leader is gone; whoever it left behind goes too.
        control.stop().await;
        Gone { error }
    }

    /// Ends it and everyone it has started.
    pub(crate) async fn stop(self) {
        let Wire::Lines { control, .. } = self.wire;
        control.stop().await;
    }
}
