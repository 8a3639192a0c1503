//! Input for an agent, as an adapter produces it.

use bytes::Bytes;
use serde_json::Value;

/// One input for an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Saying {
    /// A line to its standard input, without the line end.
    Line(Bytes),
    /// A request to its server.
    Call(Call),
    /// A SIGINT to its process.
    Interrupt,
    /// The end of its standard input.
    Close,
}

/// An HTTP request to an agent's server.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The id to which the response refers.
    pub id: u64,
    /// The method: `GET`, `POST`, …
    pub method: &'static str,
    /// The path with its query.
    pub path: String,
    /// The body, if there is one.
    pub body: Option<Value>,
}
