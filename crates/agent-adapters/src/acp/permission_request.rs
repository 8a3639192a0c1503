//! The agent's request `session/request_permission`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{rpc_message, tool_call_update::AcpToolCallUpdate};
use crate::lenient;

/// The kinds of options that allow or reject a call, in the order in which an answer prefers them.
pub(super) const ALLOW_ONCE: [&str; 2] = ["allow_once", "allow_always"];
pub(super) const ALLOW_ALWAYS: [&str; 2] = ["allow_always", "allow_once"];
pub(super) const REJECT: [&str; 2] = ["reject_once", "reject_always"];

/// The agent's request for permission to execute a tool call, or for the approval of a plan.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AcpPermissionRequest {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) tool_call: AcpToolCallUpdate,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) options: Vec<PermissionOption>,
}

/// A possible answer. Every agent has its own ids and names, but the kinds are those of the protocol.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionOption {
    option_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    kind: String,
}

impl AcpPermissionRequest {
    pub(super) fn from_params(params: &Value) -> Self {
        lenient::object(params)
    }

    /// The names of the options that allow more than this call.
    pub(super) fn always_allows(&self) -> Vec<String> {
        let always = self.options.iter().filter(|option| option.kind == "allow_always");
        always.map(|option| option.name.clone()).collect()
    }
}

/// The response to the request `id` that selects the first option of one of these kinds.
pub(super) fn select(id: &Value, options: &[PermissionOption], kinds: &[&str]) -> Value {
    let option = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    let outcome = match option {
        Some(option) => json!({ "outcome": "selected", "optionId": option.option_id }),
        None => json!({ "outcome": "cancelled" }),
    };
    rpc_message::response(id, &json!({ "outcome": outcome }))
}
