//! Requests to the server without an answer.

use std::{collections::HashMap, path::Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::InputId;
use serde_json::Value;

use crate::{Call, Out, Saying};

/// The characters to escape in a query.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// The purpose of a request, which determines how its answer is handled.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallPurpose {
    ListModes,
    ListModels,
    ReadConfig,
    ReadMcpStatus,
    CreateSession,
    ResumeSession,
    /// Sends a prompt: a client's input, or a message of the adapter's own.
    Prompt(Option<InputId>),
    /// Reads the plan for the question with this key.
    ReadPlan(String),
    /// Any request of which only a failure matters: a reply, a change of rules, an interrupt. The text completes
    /// "could not …".
    Notice(&'static str),
}

/// The requests without an answer.
#[derive(Debug, Default)]
pub(super) struct OpencodeCalls {
    last: u64,
    open: HashMap<u64, CallPurpose>,
}

impl OpencodeCalls {
    pub(super) fn get(&mut self, purpose: CallPurpose, path: String, out: &mut Out) {
        self.send("GET", purpose, path, None, out);
    }

    pub(super) fn post(&mut self, purpose: CallPurpose, path: String, body: Option<Value>, out: &mut Out) {
        self.send("POST", purpose, path, body, out);
    }

    pub(super) fn patch(&mut self, purpose: CallPurpose, path: String, body: Value, out: &mut Out) {
        self.send("PATCH", purpose, path, Some(body), out);
    }

    fn send(
        &mut self,
        method: &'static str,
        purpose: CallPurpose,
        path: String,
        body: Option<Value>,
        out: &mut Out,
    ) {
        self.last += 1;
        self.open.insert(self.last, purpose);
        out.says.push(Saying::Call(Call { id: self.last, method, path, body }));
    }

    /// Removes the request that is now answered. None if there was no such request.
    pub(super) fn take_answered(&mut self, call: u64) -> Option<CallPurpose> {
        self.open.remove(&call)
    }
}

/// The query that names a directory.
pub(super) fn directory_query(path: &Path) -> String {
    format!("?directory={}", escaped(&path.to_string_lossy()))
}

pub(super) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}
