//! The lines of the app server.

use serde_json::{Value, json};

/// What one line says.
pub(super) enum Said {
    /// The answer to a request of ours, or what was wrong with it.
    Answer { id: u64, outcome: Result<Value, String> },
    /// Something that wants an answer. Its ids are Codex's own and mean nothing among ours.
    Request { id: Value, method: String, params: Value },
    /// Something that does not.
    Notice { method: String, params: Value },
}

/// Reads a line; why it says nothing otherwise.
pub(super) fn read(line: &[u8]) -> Result<Said, String> {
    let mut said: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    let Some(said) = said.as_object_mut() else { return Err("not an object".into()) };
    let params = said.remove("params").unwrap_or_default();
    match (said.remove("method"), said.remove("id")) {
        (Some(Value::String(method)), None) => Ok(Said::Notice { method, params }),
        (Some(Value::String(method)), Some(id)) => Ok(Said::Request { id, method, params }),
        (None, Some(id)) => {
            let Some(id) = id.as_u64() else { return Err("a response to an unknown request".into()) };
            let outcome = match said.remove("error") {
                Some(error) => {
                    Err(error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned))
                }
                None => Ok(said.remove("result").unwrap_or_default()),
            };
            Ok(Said::Answer { id, outcome })
        }
        _ => Err("neither a request nor a response".into()),
    }
}

/// An answer.
pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({ "id": id, "result": result })
}

/// An answer that says that there is none.
pub(super) fn error(id: &Value, message: &str) -> Value {
    // JSON-RPC's number for a method that does not exist.
    json!({ "id": id, "error": { "code": -32601, "message": message } })
}
