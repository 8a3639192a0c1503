//! Permissions and questions as the server sends them.

use protocol::wait::{QuestionItem, QuestionOption};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PermissionAsked {
    pub(super) id: Option<String>,
    /// The kind of action: `bash`, `edit`, …
    pub(super) permission: Option<String>,
    /// The commands or files of the action.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) patterns: Vec<String>,
    /// The patterns that the answer `always` allows.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) always: Vec<String>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) tool: RequestingCall,
    /// Details of the action, which clients see as its input.
    pub(super) metadata: Map<String, Value>,
}

/// The call that waits for the answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RequestingCall {
    #[serde(rename = "callID")]
    pub(super) call_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct QuestionAsked {
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) questions: Vec<OpencodeQuestion>,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) tool: RequestingCall,
}

/// A question. Answers refer to it by its position, so that one with unexpected fields keeps its place.
#[derive(Debug, Deserialize)]
#[serde(from = "Value")]
pub(super) struct OpencodeQuestion(pub(super) QuestionItem);

#[derive(Default, Deserialize)]
#[serde(default)]
struct QuestionFields {
    question: Option<String>,
    header: Option<String>,
    /// An [`OptionFields`] for each option.
    #[serde(deserialize_with = "lenient::list")]
    options: Vec<Value>,
    multiple: Option<bool>,
    custom: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OptionFields {
    label: Option<String>,
    description: Option<String>,
}

impl From<Value> for OpencodeQuestion {
    fn from(question: Value) -> Self {
        let fields: QuestionFields = lenient::object(&question);
        let option = |option: &Value| {
            let OptionFields { label, description } = lenient::object(option);
            Some(QuestionOption { label: label?, description })
        };
        Self(QuestionItem {
            question: fields.question.unwrap_or_default(),
            header: fields.header,
            options: fields.options.iter().filter_map(option).collect(),
            allows_multiple: fields.multiple == Some(true),
            // The server accepts any other text too unless the question forbids it.
            allows_custom: fields.custom != Some(false),
            ..QuestionItem::default()
        })
    }
}
