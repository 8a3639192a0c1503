//! Notifications of the app server.

use protocol::event::PlanStepState;
use serde::Deserialize;
use serde_json::Value;

use super::thread_item::CodexThreadItem;
use crate::lenient;

/// Notifications without anything that a session needs, or that repeat what another message contains.
const IGNORED: &[&str] = &[
    "account/gatewayOAuth/changed",
    "account/login/completed",
    "account/rateLimits/updated",
    "account/updated",
    "app/list/updated",
    // For authors of clients.
    "deprecationNotice",
    "fs/changed",
    "hook/completed",
    "hook/started",
    "item/autoApprovalReview/completed",
    "item/autoApprovalReview/started",
    "item/commandExecution/terminalInteraction",
    // The completed item contains all of it.
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/reasoning/summaryPartAdded",
    "mcpServer/oauthLogin/completed",
    "model/safetyBuffering/updated",
    "model/verification",
    "modelProvider/authRecoveryCompleted",
    "modelProvider/authRecoveryStarted",
    "project/changed",
    "rawResponse/completed",
    "rawResponseItem/completed",
    "remoteControl/status/changed",
    "skills/changed",
    // A compaction is an item too.
    "thread/compacted",
    "thread/environment/connected",
    "thread/goal/cleared",
    "thread/goal/updated",
    "thread/name/updated",
    "thread/prediction/updated",
    "thread/project/updated",
    "thread/queue/changed",
    "thread/readState/changed",
    "thread/settings/updated",
    // The response to our request contains the same.
    "thread/started",
    // Requests and errors are messages of their own.
    "thread/status/changed",
    // The items contain the changes by file.
    "turn/diff/updated",
    "turn/moderationMetadata",
];

/// A notification of the app server.
#[derive(Debug)]
pub(super) struct CodexNotification {
    /// The thread that it is about, if it is about one.
    pub(super) thread_id: Option<String>,
    pub(super) body: CodexNotificationBody,
}

/// The part of a notification that depends on its method.
#[derive(Debug)]
pub(super) enum CodexNotificationBody {
    ItemStarted(CodexThreadItem),
    ItemCompleted(CodexThreadItem),
    ItemDelta(CodexItemDelta),
    TurnStarted(CodexTurnState),
    TurnCompleted(CodexTurnState),
    PlanUpdated(Vec<CodexPlanStep>),
    TokenUsageUpdated(TokenUsageUpdate),
    Error(CodexErrorNotice),
    RequestResolved {
        /// The id of Codex's request.
        request_id: Value,
    },
    McpServerStatus(CodexMcpServerStatus),
    ModelRerouted(ModelRerouting),
    /// A text for people.
    Status(String),
    Ignored,
    /// A method that this version does not know.
    Unknown,
}

impl CodexNotification {
    /// Parses a notification. A field of an unexpected type counts as missing.
    pub(super) fn parse(method: &str, params: &Value) -> Self {
        let NotificationScope { thread_id } = lenient::object(params);
        Self { thread_id, body: CodexNotificationBody::parse(method, params) }
    }
}

impl CodexNotificationBody {
    fn parse(method: &str, params: &Value) -> Self {
        match method {
            "item/started" => Self::ItemStarted(item(params)),
            "item/completed" => Self::ItemCompleted(item(params)),
            "item/agentMessage/delta" | "item/plan/delta" => delta(DeltaTarget::Text, params),
            "item/reasoning/summaryTextDelta" => delta(DeltaTarget::Summary, params),
            "item/reasoning/textDelta" => delta(DeltaTarget::Thoughts, params),
            "item/commandExecution/outputDelta" => delta(DeltaTarget::CommandOutput, params),
            "turn/started" => Self::TurnStarted(lenient::object::<TurnNotice>(params).turn),
            "turn/completed" => Self::TurnCompleted(lenient::object::<TurnNotice>(params).turn),
            "turn/plan/updated" => Self::PlanUpdated(lenient::object::<PlanNotice>(params).plan),
            "thread/tokenUsage/updated" => Self::TokenUsageUpdated(lenient::object(params)),
            "error" => Self::Error(lenient::object(params)),
            "serverRequest/resolved" => {
                Self::RequestResolved { request_id: lenient::object::<ResolvedNotice>(params).request_id }
            }
            "mcpServer/startupStatus/updated" => Self::McpServerStatus(lenient::object(params)),
            "model/rerouted" => Self::ModelRerouted(lenient::object(params)),
            "warning"
            | "guardianWarning"
            | "configWarning"
            | "item/mcpToolCall/progress"
            | "autoApprovalReview/strictReviewRequired"
            | "thread/environment/disconnected" => {
                let StatusNotice { message, summary } = lenient::object(params);
                Self::Status(message.or(summary).unwrap_or_else(|| method.to_owned()))
            }
            _ if IGNORED.contains(&method) => Self::Ignored,
            _ => Self::Unknown,
        }
    }
}

fn item(params: &Value) -> CodexThreadItem {
    CodexThreadItem::parse(&lenient::object::<ItemNotice>(params).item)
}

fn delta(target: DeltaTarget, params: &Value) -> CodexNotificationBody {
    CodexNotificationBody::ItemDelta(CodexItemDelta { target, ..lenient::object(params) })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NotificationScope {
    thread_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ItemNotice {
    item: Value,
}

/// More of an item.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CodexItemDelta {
    #[serde(skip)]
    pub(super) target: DeltaTarget,
    pub(super) item_id: Option<String>,
    pub(super) delta: Option<String>,
    /// The section of the summary.
    pub(super) summary_index: Option<u64>,
    /// The section of the thoughts.
    pub(super) content_index: Option<u64>,
}

/// The part of an item that grows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeltaTarget {
    #[default]
    Text,
    Summary,
    Thoughts,
    CommandOutput,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TurnNotice {
    #[serde(deserialize_with = "lenient::field")]
    turn: CodexTurnState,
}

/// One of Codex's turns.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexTurnState {
    pub(super) id: Option<String>,
    pub(super) status: Option<CodexTurnStatus>,
    /// A [`CodexTurnError`](super::turn_error::CodexTurnError), or null.
    pub(super) error: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexTurnStatus {
    Completed,
    Interrupted,
    Failed,
    /// Running, or a status that this version does not know.
    #[serde(other)]
    Other,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanNotice {
    #[serde(deserialize_with = "lenient::list")]
    plan: Vec<CodexPlanStep>,
}

#[derive(Debug, Deserialize)]
#[serde(from = "Value")]
pub(super) struct CodexPlanStep {
    pub(super) text: String,
    pub(super) state: PlanStepState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlanStepFields {
    step: Option<String>,
    status: Option<PlanStepState>,
}

impl From<Value> for CodexPlanStep {
    fn from(step: Value) -> Self {
        let PlanStepFields { step, status } = lenient::object(&step);
        Self { text: step.unwrap_or_default(), state: status.unwrap_or(PlanStepState::Other) }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TokenUsageUpdate {
    pub(super) turn_id: Option<String>,
    /// A [`ThreadTokenUsage`](super::token_meter::ThreadTokenUsage).
    pub(super) token_usage: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CodexErrorNotice {
    /// A [`CodexTurnError`](super::turn_error::CodexTurnError).
    pub(super) error: Value,
    pub(super) will_retry: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResolvedNotice {
    request_id: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexMcpServerStatus {
    pub(super) name: Option<String>,
    pub(super) status: Option<McpStartupStatus>,
    pub(super) error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum McpStartupStatus {
    Starting,
    Failed,
    /// Ready, cancelled, or a status that this version does not know.
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelRerouting {
    pub(super) from_model: Option<String>,
    pub(super) to_model: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StatusNotice {
    message: Option<String>,
    summary: Option<String>,
}
