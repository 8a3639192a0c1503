//! The agent's notification `session/update`.

use protocol::event::{AgentCommand, AgentPlan, CommandsUpdated, PlanStep, PlanStepState};
use serde::Deserialize;
use serde_json::Value;

use super::{content_block::ContentBlock, tool_call_update::AcpToolCallUpdate};
use crate::lenient;

/// An update of the session.
pub(super) enum SessionUpdate {
    MessageChunk(ContentBlock),
    ThoughtChunk(ContentBlock),
    ToolCall(Box<AcpToolCallUpdate>),
    Plan(AgentPlan),
    Commands(CommandsUpdated),
    Usage(UsageUpdate),
    /// Title and time of the session, which Tombolo keeps itself.
    SessionInfo,
    /// An update that repeats what the adapter sent.
    Echo,
    /// An update of a kind that the adapter does not know.
    Unknown(String),
}

/// How full the model's context is.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct UsageUpdate {
    pub(super) used: Option<u64>,
    pub(super) size: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionNotification {
    update: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UpdateKind {
    session_update: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContentChunk {
    content: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanUpdate {
    #[serde(deserialize_with = "lenient::list")]
    entries: Vec<PlanEntry>,
}

#[derive(Deserialize)]
struct PlanEntry {
    content: String,
    #[serde(default)]
    status: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AvailableCommandsUpdate {
    #[serde(deserialize_with = "lenient::list")]
    available_commands: Vec<AvailableCommand>,
}

#[derive(Deserialize)]
struct AvailableCommand {
    name: String,
    description: Option<String>,
    #[serde(default, deserialize_with = "lenient::field")]
    input: AvailableCommandInput,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AvailableCommandInput {
    hint: Option<String>,
}

impl SessionUpdate {
    /// Parses the parameters of `session/update`.
    pub(super) fn from_params(params: &Value) -> Self {
        let SessionNotification { update } = lenient::object(params);
        let UpdateKind { session_update: kind } = lenient::object(&update);
        let content = || {
            let ContentChunk { content } = lenient::object(&update);
            ContentBlock::from_value(content)
        };
        match kind.as_str() {
            "agent_message_chunk" => Self::MessageChunk(content()),
            "agent_thought_chunk" => Self::ThoughtChunk(content()),
            "tool_call" | "tool_call_update" => Self::ToolCall(Box::new(lenient::object(&update))),
            "plan" => Self::Plan(lenient::object::<PlanUpdate>(&update).into()),
            "available_commands_update" => {
                Self::Commands(lenient::object::<AvailableCommandsUpdate>(&update).into())
            }
            "usage_update" => Self::Usage(lenient::object(&update)),
            "session_info_update" => Self::SessionInfo,
            "user_message_chunk" | "current_mode_update" | "config_option_update" => Self::Echo,
            _ => Self::Unknown(kind),
        }
    }

    /// Whether the update shows that the agent works on its prompt. Agents send the others at any time.
    pub(super) fn shows_work(&self) -> bool {
        !matches!(self, Self::Commands(_) | Self::SessionInfo)
    }
}

impl From<PlanUpdate> for AgentPlan {
    fn from(update: PlanUpdate) -> Self {
        let step = |entry: PlanEntry| PlanStep {
            text: entry.content,
            state: match entry.status.as_str() {
                "completed" => PlanStepState::Completed,
                "in_progress" => PlanStepState::InProgress,
                _ => PlanStepState::Pending,
            },
        };
        Self { steps: update.entries.into_iter().map(step).collect() }
    }
}

impl From<AvailableCommandsUpdate> for CommandsUpdated {
    fn from(update: AvailableCommandsUpdate) -> Self {
        let command = |AvailableCommand { name, description, input }: AvailableCommand| AgentCommand {
            name,
            description,
            hint: input.hint,
        };
        Self { commands: update.available_commands.into_iter().map(command).collect() }
    }
}
