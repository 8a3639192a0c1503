//! Adapters between the agents' own protocols and universal events.
//!
//! An [`Adapter`] is a pure state machine for one process of one session: output of the agent goes in and facts come out,
//! commands of the session go in and input for the agent comes out. It does no I/O, keeps no clock and mints no ids, so
//! that a recorded run is a test. The caller carries bytes between adapter and agent, as [`Adapted`] describes.
//!
//! There is one adapter for each [`AgentProtocol`](protocol::agents::AgentProtocol), and none for a name: an agent is a row
//! of the catalog.

mod acp;
mod adapter;
mod adapter_output;
mod agent_input;
mod agent_output;
mod agent_request;
mod agent_update;
#[cfg(test)]
mod altered_run;
mod amp;
mod claude;
mod codex;
mod failure;
mod form;
mod lenient;
mod message_ids;
mod offers;
mod opencode;
mod options;
mod prepared_agent;
#[cfg(test)]
mod replay;
mod stream_json;
mod turn_command;

pub use adapter::Adapter;
pub use adapter_output::Out;
pub use agent_input::{Call, Saying};
pub use agent_output::Heard;
pub use agent_request::{Asking, PermissionAsk, QuestionAsk};
pub use agent_update::Fact;
pub use offers::{Offers, fixed_modes, with_build};
pub use options::Options;
pub use prepared_agent::{Adapted, Transport, adapt};
pub use turn_command::{Order, Prompt, Reply};

use failure::{is_token_error, mcp_unavailable, status_in, unsupported};
