//! The requests of the editor that wait for an answer, so that none is left hanging.

use std::collections::BTreeSet;

use acp::JsonRpcMessage;
use serde_json::json;

/// How many are remembered; as many as a daemon lets wait.
const REQUESTS_MAX: usize = 4096;

/// An error that is nobody's but ours (JSON-RPC: internal error).
const INTERNAL: i32 = -32603;

/// The ids of requests that wait, as they were written.
#[derive(Debug, Default)]
pub(super) struct Pending(BTreeSet<Box<str>>);

impl Pending {
    /// The editor sends this; a request waits from now on.
    pub(super) fn asked(&mut self, message: &[u8]) {
        if let Ok(JsonRpcMessage::Request { id }) = JsonRpcMessage::parse_client(message)
            && self.0.len() < REQUESTS_MAX
        {
            self.0.insert(id.into());
        }
    }

    /// The agent says this; a response ends the wait.
    pub(super) fn heard(&mut self, message: &[u8]) {
        if !self.0.is_empty()
            && let Ok(JsonRpcMessage::Response { id }) = JsonRpcMessage::parse_agent(message)
        {
            self.0.remove(id);
        }
    }

    /// The daemon does not take this message: the answer that the editor gets.
    pub(super) fn refused(&mut self, message: &[u8], code: i32, reason: &str) -> Option<String> {
        match JsonRpcMessage::parse_client(message) {
            Ok(JsonRpcMessage::Request { id }) => {
                self.0.remove(id);
                Some(refusal(id, code, reason))
            }
            Ok(_) => None,
            // Who cannot read a request cannot name it.
            Err(_) => Some(refusal("null", code, reason)),
        }
    }

    /// Nothing will be answered any more: the answers that the editor gets instead.
    pub(super) fn refusals(&self, reason: &str) -> Vec<String> {
        self.0.iter().map(|id| refusal(id, INTERNAL, reason)).collect()
    }
}

/// The error response to the request with this id.
pub(super) fn refusal(id: &str, code: i32, reason: &str) -> String {
    // The id is JSON already, and goes back as it came.
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, json!({ "code": code, "message": reason }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_answered_is_refused_with_its_own_id() {
        let mut pending = Pending::default();
        for id in ["1", "\"1\"", "1.0", "\"gr\\u00fcn\""] {
            pending.asked(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#).as_bytes());
        }
        pending.asked(br#"{"jsonrpc":"2.0","method":"notification"}"#);
        pending.heard(br#"{"jsonrpc":"2.0","id":1,"result":null}"#);
        // A request of the agent may have the id of one of ours.
        pending.heard(br#"{"jsonrpc":"2.0","id":1.0,"method":"theirs"}"#);
        let refusals = pending.refusals("gone");
        assert_eq!(refusals.len(), 3);
        for id in ["\"1\"", "1.0", "\"gr\\u00fcn\""] {
            assert!(refusals.iter().any(|refusal| refusal.contains(&format!("\"id\":{id}"))), "{refusals:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_an_id() {
        let mut pending = Pending::default();
        let refusal = pending.refused(b"garbage", -32700, "no").unwrap();
        assert_eq!(refusal, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#);
        assert_eq!(pending.refused(br#"{"jsonrpc":"2.0","method":"m"}"#, -32600, "no"), None);
    }
}
