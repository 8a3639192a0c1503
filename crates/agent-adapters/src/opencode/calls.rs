//! Requests to the server, and what each of them was for.

use std::{collections::HashMap, path::Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::InputId;
use serde_json::Value;

use super::super::{Call, Out, Saying};

/// What need not be escaped in a query.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// What a request was for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Purpose {
    /// Which modes there are.
    Modes,
    /// Which models there are.
    Models,
    /// What is configured.
    Config,
    /// How its MCP servers are.
    Mcp,
    /// A new session.
    Create,
    /// The earlier session.
    Resume,
    /// Something said to the agent; without a name if we said it.
    Prompt(Option<InputId>),
    /// The text of a plan that the question of this name is about.
    Plan(String),
    /// Anything whose failure is worth telling, and nothing else: a reply, a change of rules, the end of a turn.
    Notice(&'static str),
}

/// The requests that have not been answered.
#[derive(Debug, Default)]
pub(super) struct Calls {
    last: u64,
    open: HashMap<u64, Purpose>,
}

impl Calls {
    pub(super) fn get(&mut self, purpose: Purpose, path: String, out: &mut Out) {
        self.make("GET", purpose, path, None, out);
    }

    pub(super) fn post(&mut self, purpose: Purpose, path: String, body: Option<Value>, out: &mut Out) {
        self.make("POST", purpose, path, body, out);
    }

    pub(super) fn patch(&mut self, purpose: Purpose, path: String, body: Value, out: &mut Out) {
        self.make("PATCH", purpose, path, Some(body), out);
    }

    fn make(
        &mut self,
        method: &'static str,
        purpose: Purpose,
        path: String,
        body: Option<Value>,
        out: &mut Out,
    ) {
        self.last += 1;
        self.open.insert(self.last, purpose);
        out.says.push(Saying::Call(Call { id: self.last, method, path, body }));
    }

    /// What the request was for that is now answered; none if there was no such request.
    pub(super) fn answered(&mut self, call: u64) -> Option<Purpose> {
        self.open.remove(&call)
    }
}

/// The query that names a directory.
pub(super) fn directory(path: &Path) -> String {
    format!("?directory={}", escaped(&path.to_string_lossy()))
}

pub(super) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}
