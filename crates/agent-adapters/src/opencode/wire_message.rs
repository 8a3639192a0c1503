//! Messages and their parts as the server sends them.

use protocol::message::FileDiff;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::wire_session::OpencodeError;
use crate::lenient;

/// A message without its parts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageInfo {
    pub(super) id: Option<String>,
    pub(super) role: Option<MessageAuthor>,
    /// The user message to which this one responds.
    #[serde(rename = "parentID")]
    pub(super) parent_id: Option<String>,
    /// The changes that the turn of a user message has made, once the turn is over.
    pub(super) summary: Option<IgnoredAny>,
    #[serde(deserialize_with = "lenient::field")]
    time: MessageTimes,
    /// An [`OpencodeError`], or null.
    error: Value,
    /// Why the model stopped.
    pub(super) finish: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum MessageAuthor {
    User,
    Assistant,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageTimes {
    completed: Option<IgnoredAny>,
}

impl MessageInfo {
    /// Whether the message is complete, or has failed.
    pub(super) fn is_closed(&self) -> bool {
        self.time.completed.is_some() || !self.error.is_null()
    }

    pub(super) fn error(&self) -> Option<OpencodeError> {
        (!self.error.is_null()).then(|| lenient::object(&self.error))
    }
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct OpencodePart {
    pub(super) id: Option<String>,
    pub(super) message_id: String,
    pub(super) body: OpencodePartBody,
}

/// The fields of a part that depend on its type.
#[derive(Debug)]
pub(super) enum OpencodePartBody {
    Text {
        text: Option<String>,
    },
    Reasoning {
        text: Option<String>,
    },
    Tool(Box<OpencodeToolPart>),
    File(FilePart),
    StepFinish(StepFinish),
    /// The conversation is being shortened.
    Compaction,
    /// A part that contains nothing a reader needs: the start of a step, the state of the files, an earlier attempt.
    Bookkeeping,
    /// A type that this version does not know.
    Unknown,
}

impl OpencodePart {
    /// Parses a part. None if it names no message or has no type; another field of an unexpected type counts as missing.
    pub(super) fn parse(part: &Value) -> Option<Self> {
        let PartHeader { id, message_id, kind } = lenient::object(part);
        Some(Self { id, message_id: message_id?, body: OpencodePartBody::parse(&kind?, part) })
    }
}

impl OpencodePartBody {
    fn parse(kind: &str, part: &Value) -> Self {
        match kind {
            "text" => Self::Text { text: lenient::object::<TextPart>(part).text },
            "reasoning" => Self::Reasoning { text: lenient::object::<TextPart>(part).text },
            "tool" => Self::Tool(lenient::object(part)),
            "file" => Self::File(lenient::object(part)),
            "step-finish" => Self::StepFinish(lenient::object(part)),
            "compaction" => Self::Compaction,
            "step-start" | "snapshot" | "patch" | "retry" | "agent" | "subtask" => Self::Bookkeeping,
            _ => Self::Unknown,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PartHeader {
    id: Option<String>,
    #[serde(rename = "messageID")]
    message_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TextPart {
    text: Option<String>,
}

/// A file or a picture.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FilePart {
    pub(super) id: Option<String>,
    pub(super) mime: Option<String>,
    pub(super) url: Option<String>,
    pub(super) filename: Option<String>,
}

/// The end of a step, with the tokens that the step used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StepFinish {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) tokens: StepTokens,
    pub(super) cost: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StepTokens {
    pub(super) total: Option<u64>,
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) reasoning: Option<u64>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) cache: CacheTokens,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CacheTokens {
    pub(super) read: Option<u64>,
    pub(super) write: Option<u64>,
}

/// A call of a tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeToolPart {
    #[serde(rename = "callID")]
    pub(super) call_id: Option<String>,
    pub(super) tool: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) state: ToolState,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolState {
    pub(super) status: Option<OpencodeToolStatus>,
    /// The input as the server sent it, which clients see.
    pub(super) input: Value,
    pub(super) title: Option<String>,
    pub(super) output: Option<String>,
    pub(super) error: Option<String>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) metadata: ToolMetadata,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) attachments: Vec<FilePart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum OpencodeToolStatus {
    Pending,
    Running,
    Completed,
    Error,
}

/// Results of a tool besides its output. Each tool has its own fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolMetadata {
    /// The output so far of a running command.
    pub(super) output: Option<String>,
    pub(super) exit: Option<i32>,
    pub(super) interrupted: Option<bool>,
    /// The session of a subagent.
    #[serde(rename = "sessionId")]
    pub(super) session_id: Option<String>,
    /// A [`ToolFileChange`] for each file.
    pub(super) files: Option<Vec<Value>>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) filediff: ToolFileChange,
    pub(super) filepath: Option<String>,
    pub(super) diff: Option<String>,
}

/// The change of one file. The name of a field depends on the tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolFileChange {
    file: Option<String>,
    #[serde(rename = "filePath")]
    file_path: Option<String>,
    patch: Option<String>,
    diff: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

impl ToolFileChange {
    /// The universal diff. None if the change names no file.
    pub(super) fn into_diff(self) -> Option<FileDiff> {
        Some(FileDiff {
            path: self.file.or(self.file_path)?,
            unified: self.patch.or(self.diff),
            old_text: self.before,
            new_text: self.after,
        })
    }
}
