//! Facts about an agent, from which the worker makes events.

use protocol::{
    Event, InputId,
    event::{AgentStarted, TokenUsage, TurnEndReason},
    sessions::AgentError,
};

use crate::{Asking, Offers};

/// A new fact about an agent.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fact {
    /// The agent accepts commands.
    Ready,
    /// The agent has opened its session. Reported once for each process, as soon as the session's name is known.
    Started {
        /// The agent's own name of the session, with which a later process can resume it.
        agent_session_id: Option<String>,
        /// Further details.
        started: AgentStarted,
    },
    /// Modes and models that the agent offers. Comes before [`Fact::Ready`].
    Offers(Offers),
    /// An event that is published as it is: a message, a delta, a status, a plan, commands, an error.
    Event(Event),
    /// The agent works without something that the session is configured with.
    Warning(AgentError),
    /// The agent has begun a turn without a prompt.
    TurnStarted,
    /// The agent has begun to work on an input.
    Consumed(InputId),
    /// The agent did not accept an input.
    Refused {
        /// The input.
        input: InputId,
        /// The agent's reason.
        reason: String,
    },
    /// The agent waits for the answer to a request.
    Asked {
        /// The key with which [`Order::Answer`](crate::Order::Answer) refers to the request.
        key: String,
        /// The request.
        asking: Asking,
    },
    /// The agent no longer waits for an answer.
    Withdrawn {
        /// The key of its request.
        key: String,
    },
    /// The turn has ended, and with it everything in it that is still open.
    TurnEnded {
        /// Why it ended.
        reason: TurnEndReason,
        /// The tokens that it used.
        usage: Option<TokenUsage>,
        /// The error that ended it.
        error: Option<AgentError>,
    },
    /// The agent cannot be used with these options. Comes instead of [`Fact::Ready`].
    Failed(AgentError),
    /// The process is about to exit by itself, which is no failure.
    Leaving,
}
