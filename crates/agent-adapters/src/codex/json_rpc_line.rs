//! JSON-RPC messages of the app server, one in each line and without the member `jsonrpc`.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use crate::lenient;

/// JSON-RPC's number for a method that does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// One message of the app server.
pub(super) enum CodexLine {
    /// The response to one of our requests: its result, or the message of its error.
    Response { id: u64, outcome: Result<Value, String> },
    /// A request, which wants a response. Its ids are Codex's own and independent of ours.
    Request { id: Value, method: String, params: Value },
    /// A notification, which wants none.
    Notification { method: String, params: Value },
}

#[derive(Deserialize)]
struct LineFields {
    id: Option<Value>,
    method: Option<Value>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorFields {
    message: Option<String>,
}

impl CodexLine {
    /// Parses a line. The error describes why it is no message.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let not_json = |error: serde_json::Error| format!("not JSON: {error}");
        if line.trim_ascii_start().first() != Some(&b'{') {
            serde_json::from_slice::<IgnoredAny>(line).map_err(not_json)?;
            return Err("not an object".into());
        }
        let LineFields { id, method, params, result, error } =
            serde_json::from_slice(line).map_err(not_json)?;
        match (method, id) {
            (Some(Value::String(method)), None) => Ok(Self::Notification { method, params }),
            (Some(Value::String(method)), Some(id)) => Ok(Self::Request { id, method, params }),
            (None, Some(id)) => {
                let id = id.as_u64().ok_or("a response to an unknown request")?;
                Ok(Self::Response {
                    id,
                    outcome: error.map_or(Ok(result), |error| Err(error_message(&error))),
                })
            }
            _ => Err("neither a request nor a response".into()),
        }
    }
}

fn error_message(error: &Value) -> String {
    lenient::object::<ErrorFields>(error).message.unwrap_or_else(|| error.to_string())
}

/// A response with a result.
pub(super) fn result_response(id: &Value, result: &Value) -> Value {
    json!({ "id": id, "result": result })
}

/// A response that rejects the request.
pub(super) fn error_response(id: &Value, message: &str) -> Value {
    json!({ "id": id, "error": { "code": METHOD_NOT_FOUND, "message": message } })
}
