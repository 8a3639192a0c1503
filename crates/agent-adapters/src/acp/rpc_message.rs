//! JSON-RPC messages between the adapter and the agent.

use serde_json::{Value, json};

use super::rpc_error::RpcError;

/// The error code of JSON-RPC for an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;

/// A JSON-RPC message of the agent.
pub(super) enum RpcMessage {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Response { id: Value, outcome: Result<Value, RpcError> },
}

impl RpcMessage {
    /// Parses a line.
    ///
    /// # Errors
    /// Why the line is no message.
    pub(super) fn from_line(line: &[u8]) -> Result<Self, String> {
        let Value::Object(mut fields) = serde_json::from_slice(line).map_err(|error| error.to_string())?
        else {
            return Err("it is no message".into());
        };
        let mut take = |name: &str| fields.remove(name).unwrap_or_default();
        let id = take("id");
        match (take("method"), id.is_null()) {
            (Value::String(method), false) => Ok(Self::Request { id, method, params: take("params") }),
            (Value::String(method), true) => Ok(Self::Notification { method, params: take("params") }),
            (_, false) => {
                let outcome = match take("error") {
                    Value::Null => Ok(take("result")),
                    error => Err(RpcError::from_value(&error)),
                };
                Ok(Self::Response { id, outcome })
            }
            (_, true) => Err("it is no message".into()),
        }
    }
}

/// A request of the adapter.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification of the adapter.
pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// The response to the agent's request `id`.
pub(super) fn response(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The response to a request of the agent that the adapter does not know.
pub(super) fn method_not_found(id: &Value, method: &str) -> Value {
    let error = json!({ "code": METHOD_NOT_FOUND, "message": format!("there is no method `{method}`") });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}
