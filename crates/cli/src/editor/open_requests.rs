//! The editor's requests that have no response yet. When the bridge fails, each of them gets an error response.

use std::collections::BTreeSet;

use acp::JsonRpcMessage;
use serde_json::json;

/// How many are tracked: as many as a daemon accepts.
const REQUESTS_MAX: usize = 4096;

/// JSON-RPC: internal error.
const INTERNAL_ERROR: i32 = -32603;

/// The ids of open requests, as raw JSON: `1`, `1.0` and `"1"` are different ids.
#[derive(Debug, Default)]
pub(super) struct OpenRequests(BTreeSet<Box<str>>);

impl OpenRequests {
    /// Tracks a message from the editor, if it is a request.
    pub(super) fn add(&mut self, message: &[u8]) {
        if let Ok(JsonRpcMessage::Request { id }) = JsonRpcMessage::parse_client(message)
            && self.0.len() < REQUESTS_MAX
        {
            self.0.insert(id.into());
        }
    }

    /// Stops tracking a request if this message from the agent is its response.
    pub(super) fn remove_answered(&mut self, message: &[u8]) {
        if !self.0.is_empty()
            && let Ok(JsonRpcMessage::Response { id }) = JsonRpcMessage::parse_agent(message)
        {
            self.0.remove(id);
        }
    }

    /// Stops tracking a message that the daemon has rejected, and returns the error response for the editor.
    pub(super) fn reject(&mut self, message: &[u8], code: i32, reason: &str) -> Option<String> {
        match JsonRpcMessage::parse_client(message) {
            Ok(JsonRpcMessage::Request { id }) => {
                self.0.remove(id);
                Some(error_response(id, code, reason))
            }
            Ok(_) => None,
            // The message could not be parsed, so its id is unknown. JSON-RPC prescribes `null` then.
            Err(_) => Some(error_response("null", code, reason)),
        }
    }

    /// Error responses for all open requests.
    pub(super) fn error_responses(&self, reason: &str) -> Vec<String> {
        self.0.iter().map(|id| error_response(id, INTERNAL_ERROR, reason)).collect()
    }
}

/// The error response to the request with this id.
pub(super) fn error_response(id: &str, code: i32, reason: &str) -> String {
    // The id is raw JSON and is returned unchanged.
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, json!({ "code": code, "message": reason }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_requests_get_an_error_response_with_their_own_id() {
        let mut open = OpenRequests::default();
        for id in ["1", "\"1\"", "1.0", "\"gr\\u00fcn\""] {
            open.add(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#).as_bytes());
        }
        open.add(br#"{"jsonrpc":"2.0","method":"notification"}"#);
        open.remove_answered(br#"{"jsonrpc":"2.0","id":1,"result":null}"#);
        // A request from the agent may use the same id as one from the editor.
        open.remove_answered(br#"{"jsonrpc":"2.0","id":1.0,"method":"theirs"}"#);
        let responses = open.error_responses("gone");
        assert_eq!(responses.len(), 3);
        for id in ["\"1\"", "1.0", "\"gr\\u00fcn\""] {
            assert!(
                responses.iter().any(|response| response.contains(&format!("\"id\":{id}"))),
                "{responses:?}"
            );
        }
    }

    #[test]
    fn an_unreadable_message_gets_an_error_response_without_an_id() {
        let mut open = OpenRequests::default();
        let response = open.reject(b"garbage", -32700, "no").unwrap();
        assert_eq!(response, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#);
        assert_eq!(open.reject(br#"{"jsonrpc":"2.0","method":"m"}"#, -32600, "no"), None);
    }
}
