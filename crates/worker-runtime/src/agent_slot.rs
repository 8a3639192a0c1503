//! The place of a session's agent: empty, starting or occupied by a running agent.

use std::time::Duration;

use agent_adapters::{Order, Out, Saying};
use futures_util::future::BoxFuture;
use protocol::sessions::AgentError;
use tokio::time::Instant;

use crate::{
    agent_link::{AgentLink, AgentOutput},
    worker::sleep_until,
};

/// The place of a session's agent.
pub(crate) enum AgentSlot {
    Absent,
    Starting(BoxFuture<'static, Result<AgentLink, AgentError>>),
    Running { link: Box<AgentLink>, handshake_deadline: Instant },
}

/// How far an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentPhase {
    Absent,
    /// It is being installed or started, or has not finished its handshake.
    Starting,
    /// It accepts prompts.
    Ready,
}

/// Something that happened to the agent.
pub(crate) enum AgentStep {
    Started(Result<Box<AgentLink>, AgentError>),
    Output(Vec<AgentOutput>),
    Ended,
    HandshakeTimedOut,
}

impl AgentSlot {
    /// Waits for the next thing that happens to the agent. Cancel safe.
    pub(crate) async fn next_step(&mut self) -> AgentStep {
        match self {
            Self::Absent => std::future::pending().await,
            Self::Starting(start) => AgentStep::Started(start.await.map(Box::new)),
            Self::Running { link, handshake_deadline } => {
                let handshake = (!link.is_ready()).then_some(*handshake_deadline);
                tokio::select! {
                    output = link.next_output() => output.map_or(AgentStep::Ended, AgentStep::Output),
                    () = sleep_until(handshake) => AgentStep::HandshakeTimedOut,
                }
            }
        }
    }

    pub(crate) fn phase(&self) -> AgentPhase {
        match self {
            Self::Absent => AgentPhase::Absent,
            Self::Running { link, .. } if link.is_ready() => AgentPhase::Ready,
            Self::Starting(_) | Self::Running { .. } => AgentPhase::Starting,
        }
    }

    pub(crate) fn is_absent(&self) -> bool {
        self.phase() == AgentPhase::Absent
    }

    /// The running agent.
    pub(crate) fn link(&self) -> Option<&AgentLink> {
        if let Self::Running { link, .. } = self { Some(link) } else { None }
    }

    /// The running agent.
    pub(crate) fn link_mut(&mut self) -> Option<&mut AgentLink> {
        if let Self::Running { link, .. } = self { Some(link) } else { None }
    }

    /// Occupies the slot with an agent that has been started, and begins its handshake, which must end within `limit`.
    pub(crate) fn begin_handshake(&mut self, mut link: Box<AgentLink>, limit: Duration) -> Out {
        let output = link.start();
        *self = Self::Running { link, handshake_deadline: Instant::now() + limit };
        output
    }

    /// Gives an order to the agent's adapter; `None` without a running agent.
    pub(crate) fn order(&mut self, order: Order) -> Option<Out> {
        self.link_mut().map(|link| link.order(order))
    }

    /// Sends the messages to the agent. Without a running agent they are dropped.
    pub(crate) fn send(&mut self, messages: &mut Vec<Saying>) {
        if let Some(link) = self.link_mut() {
            messages.drain(..).for_each(|message| link.send(message));
        }
        messages.clear();
    }

    /// Empties the slot and returns the running agent.
    pub(crate) fn vacate(&mut self) -> Option<Box<AgentLink>> {
        match std::mem::replace(self, Self::Absent) {
            Self::Running { link, .. } => Some(link),
            Self::Absent | Self::Starting(_) => None,
        }
    }

    /// Stops the agent and empties the slot.
    pub(crate) async fn stop(&mut self) {
        if let Some(link) = self.vacate() {
            link.stop().await;
        }
    }
}
